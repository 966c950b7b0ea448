#include "tui/screens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/recording.h"
#include "protocols/array.h"
#include "tui/app.h"
#include "tui/figure.h"
#include "tui/last_runs.h"
#include "tui/lineedit.h"

struct screen_history {
    struct app *app; /* borrowed */
    struct last_runs runs;
    size_t selected; /* index into the listing */
    int offset;
    int list_top;                  /* where the rows were drawn, for the mouse */
    char marked[STORE_ID_LEN + 1]; /* the run to compare with; "" none */
    char doomed[STORE_ID_LEN + 1]; /* the run that the next d deletes */
    bool filtering;
    struct lineedit filter;
    struct run *opened; /* until the summary has taken it over */
    struct summary_request summary;
    struct compare_request compare;
    struct replay_request replay;
};

/* Life. */

static void read_store(struct screen_history *h)
{
    struct fail fail = {0};

    if (last_runs_read(&h->runs, &fail) < 0)
        app_warn(h->app, "The saved runs cannot be read: %s.", fail.sentence);
    if (h->selected >= h->runs.count)
        h->selected = h->runs.count > 0 ? h->runs.count - 1 : 0;
}

static void *screen_history_init(struct app *app, const void *argument)
{
    struct screen_history *h = calloc(1, sizeof(*h));

    (void)argument;
    if (!h)
        return NULL;
    h->app = app;
    read_store(h);
    return h;
}

static void screen_history_free(void *self)
{
    struct screen_history *h = self;

    last_runs_done(&h->runs);
    run_free(h->opened);
    run_free(h->compare.base);
    run_free(h->compare.other);
    free(h);
}

static void screen_history_shown(void *self)
{
    read_store(self);
}

/* The list. */

static const struct store_entry *screen_history_entry(const struct screen_history *h,
                                                      size_t i)
{
    return &h->runs.entries[i];
}

static bool screen_history_is_shown(const struct screen_history *h, size_t i)
{
    const struct store_entry *e = screen_history_entry(h, i);

    return h->filter.len == 0 || strstr(e->scenario, h->filter.text) ||
           strstr(store_outcome(e), h->filter.text) ||
           strncmp(e->id, h->filter.text, strlen(h->filter.text)) == 0;
}

static bool has_runs(const void *self)
{
    const struct screen_history *h = self;

    return !h->filtering && h->runs.count > 0 &&
           screen_history_entry(h, h->selected)->problem[0] == '\0';
}

static void screen_history_move_one(struct screen_history *h, int step)
{
    for (size_t i = h->selected; step < 0 ? i > 0 : i + 1 < h->runs.count;) {
        i = step < 0 ? i - 1 : i + 1;
        if (screen_history_is_shown(h, i)) {
            h->selected = i;
            return;
        }
    }
}

static void screen_history_move_selection(void *self, uint32_t press)
{
    struct screen_history *h = self;
    int steps = press == PRESS_PAGE_UP || press == PRESS_PAGE_DOWN ? 10
                : press == PRESS_HOME || press == PRESS_END        ? (int)h->runs.count
                                                                   : 1;
    bool up = press == PRESS_UP || press == 'k' || press == PRESS_PAGE_UP ||
              press == PRESS_HOME;

    h->doomed[0] = '\0';
    for (int i = 0; i < steps; i++)
        screen_history_move_one(h, up ? -1 : 1);
}

/* Opening, comparing, deleting. */

static struct run *screen_history_load(struct screen_history *h, const char *id)
{
    char path[4096];
    struct fail fail = {0};
    struct run *run = NULL;

    if (store_find(id, path, sizeof(path), &fail) == 0)
        run = recording_load(path, &fail);
    if (!run)
        app_warn(h->app, "The run cannot be shown: %s.", fail.sentence);
    return run;
}

static void open_run(void *self, uint32_t press)
{
    struct screen_history *h = self;

    (void)press;
    run_free(h->opened);
    h->opened = screen_history_load(h, screen_history_entry(h, h->selected)->id);
    if (!h->opened)
        return;
    h->summary = (struct summary_request){.count = 1, .runs = {&h->opened}};
    app_push(h->app, &screen_summary, &h->summary);
}

static void screen_history_play(void *self, uint32_t press)
{
    struct screen_history *h = self;
    struct fail fail = {0};

    (void)press;
    if (store_find(screen_history_entry(h, h->selected)->id, h->replay.path,
                   sizeof(h->replay.path), &fail) < 0)
        app_warn(h->app, "The run cannot be played: %s.", fail.sentence);
    else
        app_push(h->app, &screen_replay, &h->replay);
}

static void screen_history_mark(void *self, uint32_t press)
{
    struct screen_history *h = self;
    const char *id = screen_history_entry(h, h->selected)->id;

    (void)press;
    if (strcmp(h->marked, id) == 0)
        h->marked[0] = '\0';
    else
        snprintf(h->marked, sizeof(h->marked), "%s", id);
}

static void screen_history_compare(void *self, uint32_t press)
{
    struct screen_history *h = self;
    const char *id = screen_history_entry(h, h->selected)->id;

    (void)press;
    if (h->marked[0] == '\0' || strcmp(h->marked, id) == 0) {
        app_say(h->app, "Mark one run with Space, choose another, and press c.");
        return;
    }
    run_free(h->compare.base);
    run_free(h->compare.other);
    h->compare.other = NULL;
    h->compare.base = screen_history_load(h, h->marked);
    if (h->compare.base)
        h->compare.other = screen_history_load(h, id);
    if (h->compare.other)
        app_push(h->app, &screen_compare, &h->compare);
}

static void delete_run(void *self, uint32_t press)
{
    struct screen_history *h = self;
    const char *id = screen_history_entry(h, h->selected)->id;
    char path[4096];
    struct fail fail = {0};

    (void)press;
    if (strcmp(h->doomed, id) != 0) {
        snprintf(h->doomed, sizeof(h->doomed), "%s", id);
        app_say(h->app, "d again deletes the run %s for good; any other key keeps it.",
                screen_history_entry(h, h->selected)->shown);
        return;
    }
    h->doomed[0] = '\0';
    if (store_find(id, path, sizeof(path), &fail) < 0 || store_delete(path, &fail) < 0)
        app_warn(h->app, "Not deleted: %s.", fail.sentence);
    read_store(h);
}

static void screen_history_begin_filter(void *self, uint32_t press)
{
    struct screen_history *h = self;

    (void)press;
    h->filtering = true;
}

static void screen_history_go_back(void *self, uint32_t press)
{
    struct screen_history *h = self;

    (void)press;
    if (h->filter.len > 0)
        lineedit_set(&h->filter, "");
    else
        app_pop(h->app);
}

static bool is_delete(uint32_t press)
{
    return press == 'd' || press == PRESS_DELETE;
}

static bool screen_history_type(void *self, uint32_t press)
{
    struct screen_history *h = self;

    if (!is_delete(press) || h->filtering)
        h->doomed[0] = '\0'; /* any other key is a no */
    if (!h->filtering)
        return false;
    if (press == PRESS_ENTER || press == PRESS_ESC)
        h->filtering = false;
    if (press == PRESS_ESC)
        lineedit_set(&h->filter, "");
    else
        lineedit_press(&h->filter, press);
    if (h->runs.count > 0 && !screen_history_is_shown(h, h->selected)) {
        h->selected = 0;
        if (!screen_history_is_shown(h, 0))
            screen_history_move_one(h, 1);
    }
    return true;
}

static bool screen_history_is_filtering(const void *self)
{
    return ((const struct screen_history *)self)->filtering;
}

static bool screen_history_is_choosing(const void *self)
{
    return !screen_history_is_filtering(self);
}

/* While the filter is typed screen_history_type takes the presses: to be read only. */
static void screen_history_typed(void *self, uint32_t press)
{
    screen_history_type(self, press);
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ENTER}, "Enter", "keep",
     "While a filter is typed: keep it and go to the list",
     screen_history_typed, screen_history_is_filtering, NULL},
    {{PRESS_ESC}, "Esc", "all",
     "While a filter is typed: show all runs again",
     screen_history_typed, screen_history_is_filtering, NULL},
    {{PRESS_ENTER}, "Enter", "open",
     "Show the summary of the run", open_run, has_runs, NULL},
    {{'p'}, "p", "play", "Play the run again as it went, at any speed",
     screen_history_play, has_runs, NULL},
    {{' '}, "Space", "mark",
     "Mark the run that others are compared with", screen_history_mark, has_runs, NULL},
    {{'c'}, "c", "compare",
     "Compare the marked run with the chosen one",
     screen_history_compare, has_runs, NULL},
    {{'d', PRESS_DELETE}, "d", "delete",
     "Delete the run; asks once", delete_run, has_runs, NULL},
    {{'/'}, "/", "filter",
     "Show only runs of a scenario, an outcome or an id",
     screen_history_begin_filter, screen_history_is_choosing, NULL},
    {{PRESS_ESC, 'q'}, "Esc", "back", "Go back to the scenarios",
     screen_history_go_back, screen_history_is_choosing, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END}, "\xe2\x86\x91\xe2\x86\x93 j k", NULL,
     "Choose another run", screen_history_move_selection, NULL, NULL},
    {.label = NULL},
};
/* clang-format on */

/* Drawing. */

static enum paint screen_history_outcome_paint(const struct store_entry *e)
{
    if (e->state == STORE_RUNNING)
        return PAINT_ACCENT;
    if (e->state == STORE_INTERRUPTED)
        return PAINT_WARN;
    return e->outcome == OUTCOME_COMPLETED ? PAINT_GOOD
           : e->outcome == OUTCOME_FAILED  ? PAINT_BAD
                                           : PAINT_WARN;
}

/* The columns of the table; those at the right are left out where there is no room. */
enum {
    AT_WHEN = 3,
    AT_SCENARIO = 20,
    AT_OUTCOME = 41,
    AT_FIGURE = 54,
    AT_P99 = 68,
    AT_TIME = 79,
    AT_ID = 92
};

static void screen_history_draw_titles(struct canvas *c, struct area row)
{
    static const struct {
        int at, width;
        const char *title;
    } columns[] = {
        {AT_WHEN, 16, "begun"},
        {AT_SCENARIO, 20, "scenario"},
        {AT_OUTCOME, 12, "outcome"},
        {AT_FIGURE, 13, "headline"},
        {AT_P99, 10, "p99"},
        {AT_TIME, 11, "seconds"},
        {AT_ID, 8, "id"},
    };
    struct style s = style(PAINT_DIM);

    s.attributes = ATTR_BOLD;
    for (size_t i = 0; i < NUMBER_OF(columns); i++) {
        if (columns[i].at + columns[i].width > row.width)
            return;
        if (columns[i].at >= AT_FIGURE && columns[i].at < AT_ID)
            canvas_text_right(c, row.x + columns[i].at, row.y, columns[i].width, s,
                              columns[i].title);
        else
            canvas_text(c, row.x + columns[i].at, row.y, columns[i].width, s,
                        columns[i].title);
    }
}

static void screen_history_draw_figures(struct canvas *c, struct area row,
                                        const struct store_entry *e, struct style s)
{
    const struct scenario *scenario = scenario_find(e->scenario);
    enum metric m = scenario ? scenario->family->headlines[0] : METRIC_throughput;
    const struct {
        int at, width;
        enum metric metric;
    } columns[] = {{AT_FIGURE, 13, m},
                   {AT_P99, 10, METRIC_latency_p99_ns},
                   {AT_TIME, 11, METRIC_seconds}};

    for (size_t i = 0; i < 3; i++) {
        char text[40];

        if (columns[i].at + columns[i].width > row.width)
            return;
        figure_metric(columns[i].metric,
                      e->state == STORE_ENDED ? e->medians[columns[i].metric]
                                              : (double)NAN,
                      text, sizeof(text));
        canvas_text_right(c, row.x + columns[i].at, row.y, columns[i].width, s, text);
    }
}

static void screen_history_draw_row(const struct screen_history *h, struct canvas *c,
                                    struct area row, size_t i)
{
    const struct store_entry *e = screen_history_entry(h, i);
    bool is_selected = i == h->selected;
    enum paint ground = is_selected ? PAINT_SELECTION : PAINT_GROUND;
    struct style text = style_on(is_selected ? PAINT_SELECTED : PAINT_TEXT, ground);
    struct style outcome =
        style_on(is_selected ? PAINT_SELECTED : screen_history_outcome_paint(e), ground);
    char age[32];

    canvas_fill(c, row, ' ', text);
    canvas_put(c, row.x, row.y, is_selected ? c->glyphs->pointer : ' ', text);
    if (e->problem[0] != '\0') {
        canvas_text(c, row.x + AT_WHEN, row.y, row.width - AT_WHEN,
                    style_on(is_selected ? PAINT_SELECTED : PAINT_UNKNOWN, ground),
                    e->problem);
        return;
    }
    if (strcmp(e->id, h->marked) == 0 && h->marked[0] != '\0')
        canvas_put(c, row.x + 1, row.y, c->glyphs->check, text);
    last_runs_age(e->started, time(NULL), age, sizeof(age));
    canvas_text(c, row.x + AT_WHEN, row.y, AT_SCENARIO - AT_WHEN - 1, text, age);
    canvas_text(c, row.x + AT_SCENARIO, row.y, AT_OUTCOME - AT_SCENARIO - 1, text,
                e->scenario);
    canvas_text(c, row.x + AT_OUTCOME, row.y, AT_FIGURE - AT_OUTCOME - 1, outcome,
                store_outcome(e));
    screen_history_draw_figures(c, row, e, text);
    if (AT_ID + STORE_ID_LEN <= row.width)
        canvas_text(c, row.x + AT_ID, row.y, STORE_ID_LEN, text, e->shown);
}

static void draw_rows(struct screen_history *h, struct canvas *c, struct area a)
{
    size_t above = 0, line = 0;

    for (size_t i = 0; i < h->selected && i < h->runs.count; i++)
        above += screen_history_is_shown(h, i);
    if ((int)above < h->offset)
        h->offset = (int)above;
    if ((int)above >= h->offset + a.height)
        h->offset = (int)above - a.height + 1;
    h->list_top = a.y;
    for (size_t i = 0; i < h->runs.count; i++) {
        int y = a.y + (int)line - h->offset;

        if (!screen_history_is_shown(h, i))
            continue;
        line++;
        if (y >= a.y && y < a.y + a.height)
            screen_history_draw_row(h, c, (struct area){a.x, y, a.width, 1}, i);
    }
    canvas_more(c, a, false, (int)line - h->offset > a.height);
}

static void screen_history_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_history *h = self;

    canvas_box(c, a, "saved runs", true);
    a = area_inside(a);
    if (h->filtering || h->filter.len > 0) {
        struct area row = area_take_top(&a, 1);
        int used = canvas_text(c, row.x + 3, row.y, 9, style(PAINT_ACCENT), "filter: ");

        lineedit_draw(&h->filter, c, row.x + 3 + used, row.y, row.width - used - 4,
                      style(PAINT_STRONG), h->filtering);
    }
    if (h->runs.count == 0) {
        canvas_text(c, a.x + 3, a.y + 1, a.width - 3, style(PAINT_UNKNOWN),
                    "no run is saved yet; each run is, from its first moment on");
        return;
    }
    screen_history_draw_titles(c, area_take_top(&a, 1));
    draw_rows(h, c, a);
}

static void screen_history_header(void *self, struct canvas *c, struct area a)
{
    const struct screen_history *h = self;
    char text[64];

    snprintf(text, sizeof(text), "%zu run%s", h->runs.count,
             h->runs.count == 1 ? "" : "s");
    canvas_text_right(c, a.x, a.y, a.width, style_on(PAINT_HEADER, PAINT_BAR), text);
}

static void screen_history_mouse(void *self, const struct mouse *m)
{
    struct screen_history *h = self;
    int wanted = m->y - h->list_top + h->offset, line = 0;

    if (m->kind == POINT_WHEEL_UP || m->kind == POINT_WHEEL_DOWN) {
        screen_history_move_one(h, m->kind == POINT_WHEEL_UP ? -1 : 1);
        return;
    }
    for (size_t i = 0; i < h->runs.count; i++) {
        if (!screen_history_is_shown(h, i))
            continue;
        if (line++ != wanted || m->y < h->list_top)
            continue;
        if (i == h->selected && has_runs(h))
            open_run(h, PRESS_ENTER);
        h->selected = i;
        return;
    }
}

const struct screen screen_history = {
    .name = "history",
    .keys = keys,
    .init = screen_history_init,
    .draw = screen_history_draw,
    .header = screen_history_header,
    .type = screen_history_type,
    .is_typing = screen_history_is_filtering,
    .mouse = screen_history_mouse,
    .shown = screen_history_shown,
    .free = screen_history_free,
};
