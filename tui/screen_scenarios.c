#include "tui/screens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/event.h>

#include "engine/scenario.h"
#include "protocols/array.h"
#include "protocols/event.h"
#include "tui/app.h"
#include "tui/last_runs.h"
#include "tui/lineedit.h"
#include "tui/scenario_panel.h"
#include "tui/text.h"

/* A scenario with the values that it will be run with. */
struct choice {
    const struct scenario *scenario; /* borrowed: the table's */
    struct options values;
    bool marked;
    int row; /* on the screen when last drawn, -1 if not shown */
};

struct screen_scenarios {
    struct app *app; /* borrowed */
    size_t count;
    struct choice *choices;
    size_t selected;
    int offset;      /* lines of the list scrolled past */
    bool has_titles; /* the list, as it is drawn */
    bool filtering;
    struct lineedit filter;
    struct run_request request;
    struct params_request params;
    struct limits_request limits;
    struct last_runs saved;
    struct event *read_saved; /* after the first frame: the store may be large */
    struct options preset;    /* the values of a run by a preset, until it has begun */
};

/* Life. */

static void screen_scenarios_free(void *self)
{
    struct screen_scenarios *k = self;

    for (size_t i = 0; i < k->count; i++)
        options_done(&k->choices[i].values);
    options_done(&k->preset);
    last_runs_done(&k->saved);
    event_drop(k->read_saved);
    free(k->choices);
    free(k);
}

static void on_read_saved(evutil_socket_t fd, short what, void *arg)
{
    struct screen_scenarios *k = arg;

    (void)fd;
    (void)what;
    /* A store that cannot be read shows no last runs; the history says why. */
    last_runs_read(&k->saved, NULL);
    app_dirty(k->app);
}

static void screen_scenarios_shown(void *self)
{
    struct screen_scenarios *k = self;
    const struct timeval soon = {0, 60000};

    if (k->read_saved)
        event_add(k->read_saved, &soon);
}

static void *screen_scenarios_init(struct app *app, const void *argument)
{
    struct screen_scenarios *k = calloc(1, sizeof(*k));
    const struct scenario *table;

    (void)argument;
    if (!k)
        return NULL;
    k->app = app;
    table = scenario_table(&k->count);
    k->choices = calloc(k->count, sizeof(*k->choices));
    if (!k->choices) {
        free(k);
        return NULL;
    }
    for (size_t i = 0; i < k->count; i++) {
        k->choices[i].scenario = &table[i];
        if (scenario_defaults(&table[i], &k->choices[i].values) < 0) {
            screen_scenarios_free(k);
            return NULL;
        }
    }
    k->read_saved = event_new(app_base(app), -1, 0, on_read_saved, k);
    screen_scenarios_shown(k);
    return k;
}

/* Choosing. */

static bool contains(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

static bool screen_scenarios_is_shown(const struct screen_scenarios *k, size_t i)
{
    const struct scenario *s = k->choices[i].scenario;
    const char *part = k->filter.text;

    return part[0] == '\0' || contains(s->name, part) || contains(s->title, part) ||
           contains(s->group, part);
}

static struct choice *selected(const struct screen_scenarios *k)
{
    return &k->choices[k->selected];
}

/* Move by one to the next that the filter shows, `step` -1 or 1; stays at the ends. */
static void screen_scenarios_move_one(struct screen_scenarios *k, int step)
{
    for (size_t i = k->selected; step < 0 ? i > 0 : i + 1 < k->count;) {
        i = step < 0 ? i - 1 : i + 1;
        if (screen_scenarios_is_shown(k, i)) {
            k->selected = i;
            return;
        }
    }
}

/* After the filter has changed: stay, or go to the first that is shown. */
static void keep_shown(struct screen_scenarios *k)
{
    if (screen_scenarios_is_shown(k, k->selected))
        return;
    for (size_t i = 0; i < k->count; i++)
        if (screen_scenarios_is_shown(k, i)) {
            k->selected = i;
            return;
        }
}

static void screen_scenarios_move_selection(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;
    int steps = press == PRESS_PAGE_UP || press == PRESS_PAGE_DOWN ? 6 : 1;
    bool up = press == PRESS_UP || press == 'k' || press == PRESS_PAGE_UP ||
              press == PRESS_HOME;

    if (press == PRESS_HOME || press == PRESS_END)
        steps = (int)k->count;
    for (int i = 0; i < steps; i++)
        screen_scenarios_move_one(k, up ? -1 : 1);
}

/* The key shown beside a scenario: a number for the first nine, a letter for each. */
static void select_by_key(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    for (size_t i = 0; i < k->count; i++)
        if ((press >= '1' && press <= '9' && i == press - '1') ||
            (uint32_t)(unsigned char)k->choices[i].scenario->letter == press) {
            lineedit_set(&k->filter, "");
            k->selected = i;
            return;
        }
}

/* Running and editing. */

static void add_run(struct run_request *r, const struct scenario *s,
                    const struct options *values)
{
    if (r->count < RUN_QUEUE_MAX) {
        r->runs[r->count].scenario = s;
        r->runs[r->count].values = values;
        r->count++;
    }
}

static void edit(void *self, uint32_t press);

/* A load on a server of one's own needs its address: the form asks for it. */
static bool ask_for_server(struct screen_scenarios *k)
{
    const struct choice *choice = selected(k);

    if (!choice->scenario->family->url ||
        options_text(&choice->values, OPTION_url, "")[0] != '\0')
        return false;
    edit(k, PRESS_NONE);
    app_say(k->app, "First the address of your server, as http://HOST:PORT/PATH: Enter "
                    "to type it, then r runs.");
    return true;
}

static void run_chosen(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    k->request.count = 0;
    for (size_t i = 0; i < k->count; i++)
        if (k->choices[i].marked)
            add_run(&k->request, k->choices[i].scenario, &k->choices[i].values);
    if (k->request.count == 0) {
        if (ask_for_server(k))
            return;
        add_run(&k->request, selected(k)->scenario, &selected(k)->values);
    }
    app_push(k->app, &screen_run, &k->request);
}

/* Run the chosen scenario once with other values than its present ones. */
static void run_preset(struct screen_scenarios *k, preset_values *more)
{
    const struct choice *choice = selected(k);

    if (ask_for_server(k))
        return;
    options_done(&k->preset);
    k->preset = (struct options){0};
    if (scenario_defaults(choice->scenario, &k->preset) < 0 ||
        more(choice->scenario, &k->preset) < 0) {
        app_warn(k->app, "There is no memory for another run.");
        return;
    }
    /* Whose server it is does not change with how much it is asked. */
    if (choice->scenario->family->url)
        options_set_text(&k->preset, OPTION_url,
                         options_text(&choice->values, OPTION_url, ""));
    k->request.count = 0;
    add_run(&k->request, choice->scenario, &k->preset);
    app_push(k->app, &screen_run, &k->request);
}

static void run_quick(void *self, uint32_t press)
{
    (void)press;
    run_preset(self, scenario_quick);
}

static void run_as_documented(void *self, uint32_t press)
{
    (void)press;
    run_preset(self, scenario_as_documented);
}

static void run_from_params(void *owner)
{
    struct screen_scenarios *k = owner;

    k->request.count = 0;
    add_run(&k->request, selected(k)->scenario, &selected(k)->values);
    app_push(k->app, &screen_run, &k->request);
}

static void edit(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    k->params = (struct params_request){selected(k)->scenario, &selected(k)->values,
                                        run_from_params, k};
    app_push(k->app, &screen_params, &k->params);
}

static void screen_scenarios_mark(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    selected(k)->marked = !selected(k)->marked;
    screen_scenarios_move_one(k, 1);
}

static void screen_scenarios_begin_filter(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    k->filtering = true;
}

static void show_history(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    app_push(k->app, &screen_history, NULL);
}

static void show_limits(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    k->limits = (struct limits_request){selected(k)->scenario, &selected(k)->values};
    app_push(k->app, &screen_limits, &k->limits);
}

static bool has_filter(const void *self)
{
    const struct screen_scenarios *k = self;

    return !k->filtering && k->filter.len > 0;
}

static void end_filter(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    lineedit_set(&k->filter, "");
}

static bool has_marks(const void *self)
{
    const struct screen_scenarios *k = self;

    for (size_t i = 0; i < k->count; i++)
        if (k->choices[i].marked)
            return !k->filtering && k->filter.len == 0;
    return false;
}

static void unmark_all(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    for (size_t i = 0; i < k->count; i++)
        k->choices[i].marked = false;
}

static void quit(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    (void)press;
    app_quit(k->app, 0);
}

/* Typing into the filter. Enter and Esc leave it; arrows go on moving. */
static bool screen_scenarios_type(void *self, uint32_t press)
{
    struct screen_scenarios *k = self;

    if (!k->filtering)
        return false;
    if (press == PRESS_ENTER || press == PRESS_ESC) {
        k->filtering = false;
        if (press == PRESS_ESC)
            lineedit_set(&k->filter, "");
        return true;
    }
    if (press == PRESS_UP || press == PRESS_DOWN)
        return false;
    lineedit_press(&k->filter, press);
    keep_shown(k);
    return true;
}

static bool is_number(const void *self, uint32_t press)
{
    const struct screen_scenarios *k = self;

    return press >= '1' && press <= '9' && press - '1' < k->count;
}

static bool is_letter(const void *self, uint32_t press)
{
    const struct screen_scenarios *k = self;

    for (size_t i = 0; i < k->count; i++)
        if ((uint32_t)(unsigned char)k->choices[i].scenario->letter == press)
            return true;
    return false;
}

static bool screen_scenarios_is_filtering(const void *self)
{
    return ((const struct screen_scenarios *)self)->filtering;
}

static bool screen_scenarios_is_choosing(const void *self)
{
    return !screen_scenarios_is_filtering(self);
}

static bool is_documented(const void *self)
{
    const struct screen_scenarios *k = self;

    return screen_scenarios_is_choosing(k) &&
           selected(k)->scenario->documented[0] != '\0';
}

/* While the filter is typed screen_scenarios_type takes the presses: to be read only. */
static void screen_scenarios_typed(void *self, uint32_t press)
{
    screen_scenarios_type(self, press);
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ENTER}, "Enter", "keep",
     "While a filter is typed: keep it and go to the list",
     screen_scenarios_typed, screen_scenarios_is_filtering, NULL},
    {{PRESS_ESC}, "Esc", "all",
     "While a filter is typed: show all scenarios again",
     screen_scenarios_typed, screen_scenarios_is_filtering, NULL},
    {{PRESS_ENTER}, "Enter", "run",
     "Run the scenario, or all that are marked one after the other",
     run_chosen, screen_scenarios_is_choosing, NULL},
    {{'e'}, "e", "edit", "Edit the parameters of the scenario",
     edit, screen_scenarios_is_choosing, NULL},
    {{'Q'}, "Q", "quick",
     "Run a smaller version of the scenario, for a first look",
     run_quick, screen_scenarios_is_choosing, NULL},
    {{' '}, "Space", "mark",
     "Mark the scenario; marked ones run in sequence",
     screen_scenarios_mark, screen_scenarios_is_choosing, NULL},
    {{'H'}, "H", "history", "Show the saved runs",
     show_history, screen_scenarios_is_choosing, NULL},
    {{'L'}, "L", "limits",
     "Show what of this machine would distort this scenario",
     show_limits, screen_scenarios_is_choosing, NULL},
    {{'/'}, "/", "filter",
     "Show only scenarios whose name, group or title has a text",
     screen_scenarios_begin_filter, screen_scenarios_is_choosing, NULL},
    {{PRESS_ESC}, "Esc", "all", "Show all scenarios again", end_filter, has_filter, NULL},
    {{PRESS_ESC}, "Esc", "unmark",
     "Take all marks away", unmark_all, has_marks, NULL},
    {{'q'}, "q", "quit", "Leave plimsoll", quit, screen_scenarios_is_choosing, NULL},
    {{'D'}, "D", "documented",
     "Run the scenario with the document's own values",
     run_as_documented, is_documented, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j'}, "\xe2\x86\x91\xe2\x86\x93 j k", NULL,
     "Choose another scenario", screen_scenarios_move_selection, NULL, NULL},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END}, "PgUp PgDn", NULL,
     "Choose six further up or down; Home and End the first and last",
     screen_scenarios_move_selection, NULL, NULL},
    {{0}, "1 to 9", NULL,
     "Choose the scenario with this number", select_by_key, NULL, is_number},
    {{0}, "letters", NULL,
     "Choose the scenario with this letter; it stands beside each",
     select_by_key, NULL, is_letter},
    {.label = NULL},
};
/* clang-format on */

/* Drawing. */

static const char *group_title(const char *group)
{
    static const char *const rows[][2] = {
        {"stream", "Streams: TCP, Unix, named pipes"},
        {"udp", "UDP: four strategies of sending"},
        {"service", "Services: API and microservice"},
        {"own", "Your own server"},
    };

    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        if (strcmp(rows[i][0], group) == 0)
            return rows[i][1];
    return group;
}

static void draw_choice(struct canvas *c, struct area row,
                        const struct screen_scenarios *k, size_t i)
{
    const struct choice *choice = &k->choices[i];
    bool is_selected = i == k->selected;
    enum paint ground = is_selected ? PAINT_SELECTION : PAINT_GROUND;
    struct style name = style_on(is_selected ? PAINT_SELECTED : PAINT_TEXT, ground);
    struct style accent = style_on(is_selected ? PAINT_SELECTED : PAINT_ACCENT, ground);
    struct style dim = style_on(is_selected ? PAINT_SELECTED : PAINT_DIM, ground);
    int x = row.x;

    canvas_fill(c, row, ' ', name);
    canvas_put(c, x, row.y, is_selected ? c->glyphs->pointer : ' ', accent);
    canvas_put(c, x + 1, row.y, choice->marked ? c->glyphs->check : ' ', accent);
    if (i < 9)
        canvas_put(c, x + 3, row.y, '1' + (uint32_t)i, accent);
    canvas_put(c, x + 5, row.y, (uint32_t)(unsigned char)choice->scenario->letter,
               accent);
    x += 8;
    name.attributes |= is_selected ? ATTR_BOLD : 0;
    canvas_text(c, x, row.y, 20, name, choice->scenario->name);
    x += 20;
    if (k->has_titles && row.x + row.width - x >= 14)
        canvas_text(c, x, row.y, row.x + row.width - x, dim, choice->scenario->title);
}

/* Whether there is room for a blank line between groups. */
static bool has_gaps(const struct screen_scenarios *k, int height)
{
    const char *group = NULL;
    int lines = 0;

    for (size_t i = 0; i < k->count; i++) {
        const char *own = k->choices[i].scenario->group;

        if (!screen_scenarios_is_shown(k, i))
            continue;
        if (!group || strcmp(group, own) != 0)
            lines += group ? 2 : 1;
        group = own;
        lines++;
    }
    return lines <= height;
}

/* The list as lines; those from k->offset on are drawn. Returns how many there are. */
static int draw_lines(struct screen_scenarios *k, struct canvas *c, struct area a)
{
    const char *group = NULL;
    bool with_gaps = has_gaps(k, a.height);
    int line = 0;

    for (size_t i = 0; i < k->count; i++) {
        const struct scenario *s = k->choices[i].scenario;
        struct area row = {a.x, a.y + line - k->offset, a.width, 1};

        k->choices[i].row = -1;
        if (!screen_scenarios_is_shown(k, i))
            continue;
        if (!group || strcmp(group, s->group) != 0) {
            struct style heading = style(PAINT_DIM);

            heading.attributes = ATTR_BOLD;
            line += group && with_gaps;
            row.y = a.y + line - k->offset;
            canvas_text(c, a.x + 1, row.y, a.width - 1, heading, group_title(s->group));
            line++;
            row.y++;
        }
        group = s->group;
        k->choices[i].row = line;
        draw_choice(c, row, k, i);
        line++;
    }
    return line;
}

static void draw_list(struct screen_scenarios *k, struct canvas *c, struct area a)
{
    struct area inner = area_inside(a), before;
    int lines, row;

    canvas_box(c, a, "scenarios", true);
    if (k->filtering || k->filter.len > 0) {
        struct area line = area_take_top(&inner, 1);
        int used = canvas_text(c, line.x + 1, line.y, 9, style(PAINT_ACCENT), "filter: ");

        lineedit_draw(&k->filter, c, line.x + 1 + used, line.y, line.width - used - 2,
                      style(PAINT_STRONG), k->filtering);
    }
    before = canvas_clip(c, inner);
    lines = draw_lines(k, c, inner);
    row = selected(k)->row;
    /* Scroll so that the selection, and the heading above the first, are seen. */
    if (row >= 0 && (row - k->offset >= inner.height || row - 1 < k->offset)) {
        k->offset =
            row - 1 < k->offset ? (row > 1 ? row - 1 : 0) : row - inner.height + 1;
        canvas_fill(c, inner, ' ', style(PAINT_TEXT));
        lines = draw_lines(k, c, inner);
    }
    if (lines == 0)
        canvas_text(c, inner.x + 1, inner.y + 1, inner.width - 2, style(PAINT_UNKNOWN),
                    "no scenario has this text");
    canvas_unclip(c, before);
    canvas_more(c, area_inside(a), k->offset > 0, lines - k->offset > inner.height);
}

static void screen_scenarios_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_scenarios *k = self;
    int width = a.width >= 190 ? a.width / 2 : a.width >= 110 ? 46 : 34;
    struct area list = area_take_left(&a, a.width >= 76 ? width : a.width);

    /* Beside the panel, which has the chosen one's, only where all of them fit. */
    k->has_titles = a.width == 0 || list.width >= 95;
    draw_list(k, c, list);
    if (a.width < 20)
        return;
    canvas_box(c, a, selected(k)->scenario->name, false);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    scenario_panel_draw(c, a, selected(k)->scenario, &selected(k)->values, &k->saved);
}

static void screen_scenarios_header(void *self, struct canvas *c, struct area a)
{
    const struct screen_scenarios *k = self;
    size_t marked = 0;
    char text[80];

    for (size_t i = 0; i < k->count; i++)
        marked += k->choices[i].marked;
    if (marked > 0)
        snprintf(text, sizeof(text),
                 "%zu marked, Enter runs them in sequence, Esc unmarks", marked);
    else
        snprintf(text, sizeof(text), "choose by number, letter or arrows; / filters");
    canvas_text_right(c, a.x, a.y, a.width, style_on(PAINT_HEADER, PAINT_BAR), text);
}

static void screen_scenarios_mouse(void *self, const struct mouse *m)
{
    struct screen_scenarios *k = self;
    int top = k->filtering || k->filter.len > 0 ? 3 : 2; /* header, border, filter */

    if (m->kind == POINT_WHEEL_UP || m->kind == POINT_WHEEL_DOWN) {
        screen_scenarios_move_one(k, m->kind == POINT_WHEEL_UP ? -1 : 1);
        return;
    }
    for (size_t i = 0; i < k->count; i++)
        if (k->choices[i].row >= 0 && k->choices[i].row - k->offset + top == m->y) {
            bool again = m->kind == POINT_DOUBLE || i == k->selected;

            k->selected = i;
            if (again)
                run_chosen(k, PRESS_ENTER);
            return;
        }
}

const struct screen screen_scenarios = {
    .name = "scenarios",
    .keys = keys,
    .init = screen_scenarios_init,
    .draw = screen_scenarios_draw,
    .header = screen_scenarios_header,
    .type = screen_scenarios_type,
    .is_typing = screen_scenarios_is_filtering,
    .mouse = screen_scenarios_mouse,
    .shown = screen_scenarios_shown,
    .free = screen_scenarios_free,
};
