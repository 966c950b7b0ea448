#include "tui/screens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/recording.h"
#include "engine/report/export.h"
#include "engine/run.h"
#include "tui/app.h"
#include "tui/last_runs.h"
#include "tui/lineedit.h"
#include "tui/page.h"
#include "tui/summary.h"

struct screen_summary {
    struct app *app; /* borrowed */
    size_t count, at;
    struct run *runs[RUN_QUEUE_MAX]; /* owned */
    struct last_runs saved;
    struct compare_request compare;
    int offset, offset_max;
    bool exporting;
    size_t format;
    struct lineedit path;
    struct run_request again;
};

/* Life. */

static void *screen_summary_init(struct app *app, const void *argument)
{
    const struct summary_request *request = argument;
    struct screen_summary *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->app = app;
    for (; m->count < request->count; m->count++) {
        m->runs[m->count] = *request->runs[m->count];
        *request->runs[m->count] = NULL;
    }
    m->at = m->count - 1;
    /* Without a store there is no run before this one; the history says why. */
    last_runs_read(&m->saved, NULL);
    return m;
}

static void screen_summary_free(void *self)
{
    struct screen_summary *m = self;

    for (size_t i = 0; i < m->count; i++)
        run_free(m->runs[i]);
    last_runs_done(&m->saved);
    run_free(m->compare.base);
    run_free(m->compare.other);
    free(m);
}

static const struct run *shown(const struct screen_summary *m)
{
    return m->runs[m->at];
}

/*
 * The saved run of the same scenario before this one, of those that have something to
 * stand beside it; NULL when there is none.
 */
static const struct store_entry *run_before(const struct screen_summary *m)
{
    const struct run *r = shown(m);

    for (size_t i = 0; i < m->saved.count; i++) {
        const struct store_entry *e = &m->saved.entries[i];

        if (e->problem[0] == '\0' && e->state == STORE_ENDED &&
            e->outcome != OUTCOME_FAILED && e->started <= r->started &&
            strcmp(e->id, r->id) != 0 && strcmp(e->scenario, r->scenario->name) == 0)
            return e;
    }
    return NULL;
}

/* Drawing. */

/* Whether a load was begun at all; if not the outcome says it all. */
static bool has_measured(const struct run *r)
{
    return r->first_ns != 0;
}

static void draw_left(struct page *p, const struct screen_summary *m)
{
    const struct run *r = shown(m);

    summary_draw_outcome(p, r);
    if (!has_measured(r)) {
        page_text(
            p, style(PAINT_TEXT),
            "Nothing was measured. Back among the scenarios e edits the values, and "
            "L shows what this machine lacks; r tries the same again.");
        return;
    }
    summary_draw_thresholds(p, r);
    summary_draw_documented(p, r, run_before(m));
    summary_draw_trials(p, r);
    summary_draw_segments(p, r->series);
    summary_draw_statistics(p, r);
}

static void draw_right(struct page *p, const struct run *r)
{
    summary_draw_spectrum(p, r);
    summary_draw_times(p, r);
    summary_draw_loss(p, r);
    summary_draw_checks(p, r);
    summary_draw_counts(p, r);
}

static struct area padded_box(struct canvas *c, struct area a, const char *title,
                              bool focused)
{
    canvas_box(c, a, title, focused);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    return a;
}

static int draw_two(struct screen_summary *m, struct canvas *c, struct area a)
{
    struct area left = area_take_left(&a, a.width * 58 / 100);
    struct page p =
        page_begin(c, padded_box(c, left, shown(m)->scenario->name, true), m->offset);
    int over_left, over_right;

    draw_left(&p, m);
    over_left = page_end(&p);
    p = page_begin(c, padded_box(c, a, "in detail", false), m->offset);
    draw_right(&p, shown(m));
    over_right = page_end(&p);
    return over_left > over_right ? over_left : over_right;
}

static int draw_one(struct screen_summary *m, struct canvas *c, struct area a)
{
    struct page p =
        page_begin(c, padded_box(c, a, shown(m)->scenario->name, true), m->offset);

    draw_left(&p, m);
    if (has_measured(shown(m)))
        draw_right(&p, shown(m));
    return page_end(&p);
}

static void draw_export(const struct screen_summary *m, struct canvas *c, struct area row)
{
    const struct export_format *f = export_table()[m->format];
    int x = row.x + 1;

    canvas_fill(c, row, ' ', style(PAINT_TEXT));
    x += canvas_print(c, x, row.y, row.width - 2, style(PAINT_ACCENT),
                      "export as %s to: ", f->name);
    lineedit_draw(&m->path, c, x, row.y, row.x + row.width - x - 1, style(PAINT_STRONG),
                  true);
}

static void screen_summary_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_summary *m = self;
    struct area prompt = area_take_bottom(&a, m->exporting ? 1 : 0);

    m->offset_max =
        a.width >= 116 && has_measured(shown(m)) ? draw_two(m, c, a) : draw_one(m, c, a);
    m->offset = page_scroll(m->offset, m->offset_max, PRESS_NONE);
    if (prompt.height > 0)
        draw_export(m, c, prompt);
}

static void screen_summary_header(void *self, struct canvas *c, struct area a)
{
    const struct screen_summary *m = self;
    char text[120] = "";

    if (m->count > 1)
        snprintf(text, sizeof(text), "run %zu of %zu: %s", m->at + 1, m->count,
                 shown(m)->scenario->name);
    canvas_text_right(c, a.x, a.y, a.width, style_on(PAINT_HEADER, PAINT_BAR), text);
}

/* Keys. */

static void screen_summary_go_back(void *self, uint32_t press)
{
    struct screen_summary *m = self;

    (void)press;
    app_pop(m->app);
}

static void screen_summary_scroll(void *self, uint32_t press)
{
    struct screen_summary *m = self;

    m->offset = page_scroll(m->offset, m->offset_max, press);
}

static bool screen_summary_is_long(const void *self)
{
    const struct screen_summary *m = self;

    return !m->exporting && m->offset_max > 0;
}

static bool has_several(const void *self)
{
    const struct screen_summary *m = self;

    return !m->exporting && m->count > 1;
}

static void turn(void *self, uint32_t press)
{
    struct screen_summary *m = self;

    m->at = (m->at + (press == PRESS_LEFT ? m->count - 1 : 1)) % m->count;
    m->offset = 0;
}

static void run_again(void *self, uint32_t press)
{
    struct screen_summary *m = self;

    (void)press;
    m->again.count = 1;
    m->again.runs[0].scenario = shown(m)->scenario;
    m->again.runs[0].values = &shown(m)->values;
    app_replace(m->app, &screen_run, &m->again);
}

static struct run *screen_summary_load(struct screen_summary *m, const char *id)
{
    char path[4096];
    struct fail fail = {0};
    struct run *run = NULL;

    if (store_find(id, path, sizeof(path), &fail) == 0)
        run = recording_load(path, &fail);
    if (!run)
        app_warn(m->app, "The run cannot be compared: %s.", fail.sentence);
    return run;
}

static bool has_before(const void *self)
{
    const struct screen_summary *m = self;

    return !m->exporting && shown(m)->id[0] != '\0' && run_before(m);
}

/* With the run before: both from the store, since the comparison owns what it shows. */
static void screen_summary_compare(void *self, uint32_t press)
{
    struct screen_summary *m = self;

    (void)press;
    run_free(m->compare.base);
    run_free(m->compare.other);
    m->compare.other = NULL;
    m->compare.base = screen_summary_load(m, run_before(m)->id);
    if (m->compare.base)
        m->compare.other = screen_summary_load(m, shown(m)->id);
    if (m->compare.other)
        app_push(m->app, &screen_compare, &m->compare);
}

static void default_path(const struct screen_summary *m, char *out, size_t size)
{
    char stamp[32];
    time_t at = shown(m)->started;
    struct tm local;

    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&at, &local));
    snprintf(out, size, "%s-%s%s", shown(m)->scenario->name, stamp,
             export_table()[m->format]->extension);
}

static void begin_export(void *self, uint32_t press)
{
    struct screen_summary *m = self;
    char path[256];

    (void)press;
    default_path(m, path, sizeof(path));
    lineedit_set(&m->path, path);
    m->exporting = true;
}

static void do_export(struct screen_summary *m)
{
    struct fail fail = {0};

    if (export_to_file(export_table()[m->format], shown(m), m->path.text, 0, &fail) < 0) {
        app_warn(m->app, "Not exported: %s.", fail.sentence);
        return;
    }
    app_say(m->app, "Exported to %s.", m->path.text);
    m->exporting = false;
}

static void next_format(struct screen_summary *m)
{
    char path[256];

    m->format++;
    if (!export_table()[m->format])
        m->format = 0;
    default_path(m, path, sizeof(path));
    lineedit_set(&m->path, path);
}

/* While a path is typed: Enter writes, Tab takes the next format, Esc gives up. */
static bool screen_summary_type(void *self, uint32_t press)
{
    struct screen_summary *m = self;

    if (!m->exporting)
        return false;
    if (press == PRESS_ENTER)
        do_export(m);
    else if (press == PRESS_ESC)
        m->exporting = false;
    else if (press == PRESS_TAB)
        next_format(m);
    else
        lineedit_press(&m->path, press);
    return true;
}

static void screen_summary_mouse(void *self, const struct mouse *mouse)
{
    if (mouse->kind == POINT_WHEEL_UP)
        screen_summary_scroll(self, PRESS_UP);
    else if (mouse->kind == POINT_WHEEL_DOWN)
        screen_summary_scroll(self, PRESS_DOWN);
}

static bool is_exporting(const void *self)
{
    return ((const struct screen_summary *)self)->exporting;
}

static bool is_reading(const void *self)
{
    return !is_exporting(self);
}

/* While the name is typed screen_summary_type takes the presses: these rows are to be
 * read. */
static void screen_summary_typed(void *self, uint32_t press)
{
    screen_summary_type(self, press);
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ENTER}, "Enter", "write",
     "While a file's name is typed: write the file",
     screen_summary_typed, is_exporting, NULL},
    {{PRESS_TAB}, "Tab", "format",
     "While a file's name is typed: the next format",
     screen_summary_typed, is_exporting, NULL},
    {{PRESS_ESC}, "Esc", "leave it",
     "While a file's name is typed: write nothing",
     screen_summary_typed, is_exporting, NULL},
    {{PRESS_ESC, 'q', PRESS_ENTER}, "Esc", "back",
     "Go back to the scenarios", screen_summary_go_back, is_reading, NULL},
    {{'r'}, "r", "run again",
     "Run the same again, with the same values", run_again, is_reading, NULL},
    {{'x'}, "x", "export",
     "Write the result to a file; Tab chooses the format",
     begin_export, is_reading, NULL},
    {{'c'}, "c", "compare",
     "Compare with the run of the scenario before this one",
     screen_summary_compare, has_before, NULL},
    {{PRESS_LEFT, PRESS_RIGHT}, "\xe2\x86\x90 \xe2\x86\x92", "other run",
     "Show the other runs of the sequence", turn, has_several, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END, ' '}, "\xe2\x86\x91\xe2\x86\x93", "scroll",
     "Scroll the page", screen_summary_scroll, screen_summary_is_long, NULL},
    {.label = NULL},
};
/* clang-format on */

const struct screen screen_summary = {
    .name = "summary",
    .keys = keys,
    .init = screen_summary_init,
    .draw = screen_summary_draw,
    .header = screen_summary_header,
    .type = screen_summary_type,
    .is_typing = is_exporting,
    .mouse = screen_summary_mouse,
    .free = screen_summary_free,
};
