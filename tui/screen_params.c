#include "tui/screens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/recording.h"
#include "tui/app.h"
#include "tui/last_runs.h"
#include "tui/lineedit.h"
#include "tui/param_view.h"
#include "tui/text.h"

#define ROWS_MAX 64
#define NAME_COLUMNS 18

struct screen_params {
    struct app *app; /* borrowed */
    struct params_request request;
    struct options defaults, documented; /* of the scenario: what rows are set beside */
    size_t count;
    const struct param *rows[ROWS_MAX]; /* borrowed: the table's */
    size_t selected;
    int offset;
    int list_top; /* where the rows were drawn, for the mouse */
    bool editing;
    struct lineedit edit;
    struct fail refusal; /* of what is typed; err 0: it is allowed */
};

/* Life. */

static void screen_params_free(void *self)
{
    struct screen_params *f = self;

    options_done(&f->defaults);
    options_done(&f->documented);
    free(f);
}

static void *screen_params_init(struct app *app, const void *argument)
{
    struct screen_params *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->app = app;
    f->request = *(const struct params_request *)argument;
    if (scenario_defaults(f->request.scenario, &f->defaults) < 0 ||
        scenario_defaults(f->request.scenario, &f->documented) < 0 ||
        scenario_as_documented(f->request.scenario, &f->documented) < 0) {
        app_warn(app, "There is no memory for the values.");
        screen_params_free(f);
        return NULL;
    }
    for (const struct param *p = param_table(); p->name; p++)
        if (scenario_has(f->request.scenario, p) && f->count < ROWS_MAX)
            f->rows[f->count++] = p;
    return f;
}

static const struct param *selected_param(const struct screen_params *f)
{
    return f->rows[f->selected];
}

/* Values. */

/* Check a typed text and store it. 0 or -EINVAL with the reason. */
static int set_value(struct options *values, const struct param *p, const char *text,
                     struct fail *fail)
{
    char copy[LINEEDIT_BYTES], *rest = copy, *mark;
    int rc;

    if (!(p->flags & PARAM_REPEAT))
        return param_set(values, p, text, fail);
    snprintf(copy, sizeof(copy), "%s", text);
    rc = options_set_text(values, p->option, "");
    while (rc == 0 && rest && *rest != '\0') {
        mark = strstr(rest, PARAM_VIEW_BREAK);
        if (mark)
            *mark = '\0';
        rc = param_set(values, p, rest, fail);
        rest = mark ? mark + strlen(PARAM_VIEW_BREAK) : NULL;
    }
    return rc;
}

/* Try what is typed on a set of its own. */
static void screen_params_check(struct screen_params *f)
{
    struct options scratch = {0};

    f->refusal = (struct fail){0};
    set_value(&scratch, selected_param(f), f->edit.text, &f->refusal);
    options_done(&scratch);
}

/* Keys. */

static void screen_params_move_selection(void *self, uint32_t press)
{
    struct screen_params *f = self;
    int step = press == PRESS_PAGE_UP || press == PRESS_PAGE_DOWN ? 8
               : press == PRESS_HOME || press == PRESS_END        ? ROWS_MAX
                                                                  : 1;
    bool up = press == PRESS_UP || press == 'k' || press == PRESS_PAGE_UP ||
              press == PRESS_HOME;

    for (; step > 0; step--)
        if (up ? f->selected > 0 : f->selected + 1 < f->count)
            f->selected += up ? (size_t)-1 : 1;
}

static void begin_edit(struct screen_params *f)
{
    char text[LINEEDIT_BYTES];

    param_view_text(f->request.values, selected_param(f), text, sizeof(text));
    lineedit_set(&f->edit, text);
    f->editing = true;
    screen_params_check(f);
}

/* The choice after or before the present one, round and round. */
static void next_choice(struct screen_params *f, int step)
{
    char copy[256], now[256], *words[16], *rest = copy;
    size_t n = 0, at = 0;

    snprintf(copy, sizeof(copy), "%s", selected_param(f)->choices);
    param_view_text(f->request.values, selected_param(f), now, sizeof(now));
    while (n < 16 && (words[n] = strsep(&rest, "|"))) {
        if (strcmp(words[n], now) == 0)
            at = n;
        n++;
    }
    if (n > 0)
        param_set(f->request.values, selected_param(f),
                  words[(at + n + (size_t)step) % n], NULL);
}

static void change(void *self, uint32_t press)
{
    struct screen_params *f = self;
    const struct param *p = selected_param(f);

    if (p->type == PARAM_FLAG)
        param_set(f->request.values, p,
                  options_number(f->request.values, p->option, 0) ? "off" : "on", NULL);
    else if (p->type == PARAM_CHOICE)
        next_choice(f, press == PRESS_LEFT ? -1 : 1);
    else if (press == PRESS_ENTER)
        begin_edit(f);
}

static void reset_one(void *self, uint32_t press)
{
    struct screen_params *f = self;
    char text[LINEEDIT_BYTES];

    (void)press;
    param_view_text(&f->defaults, selected_param(f), text, sizeof(text));
    set_value(f->request.values, selected_param(f), text, NULL);
}

/* The defaults, and on top of them what `more` sets unless it is NULL. */
static void preset(struct screen_params *f, preset_values *more, const char *said)
{
    char url[LINEEDIT_BYTES];
    int rc;

    /* Whose server it is stays; no preset knows it. */
    snprintf(url, sizeof(url), "%s", options_text(f->request.values, OPTION_url, ""));
    rc = scenario_defaults(f->request.scenario, f->request.values);
    if (rc == 0 && url[0] != '\0')
        rc = options_set_text(f->request.values, OPTION_url, url);
    if (rc == 0 && more)
        rc = more(f->request.scenario, f->request.values);
    if (rc < 0)
        app_warn(f->app, "There is no memory for the values.");
    else
        app_say(f->app, "%s", said);
}

static void reset_all(void *self, uint32_t press)
{
    (void)press;
    preset(self, NULL, "The default values are set.");
}

static void set_documented(void *self, uint32_t press)
{
    const struct screen_params *f = self;

    (void)press;
    preset(self, scenario_as_documented,
           f->request.scenario->documented[0] != '\0'
               ? "The documented values are set."
               : "The default values are set: nothing is documented of it.");
}

static void make_quick(void *self, uint32_t press)
{
    (void)press;
    preset(self, scenario_quick, "The values of a quick first look are set.");
}

/* The newest recording of the scenario that is in the store. False: there is none. */
static bool find_last(const struct screen_params *f, char *path, size_t size,
                      time_t *begun)
{
    struct last_runs saved = {0};
    bool found = false;

    if (last_runs_read(&saved, NULL) < 0)
        return false;
    for (size_t i = 0; !found && i < saved.count; i++) {
        const struct store_entry *e = &saved.entries[i];

        if (e->problem[0] != '\0' || strcmp(e->scenario, f->request.scenario->name) != 0)
            continue;
        *begun = e->started;
        found = store_find(e->id, path, size, NULL) == 0;
    }
    last_runs_done(&saved);
    return found;
}

/* The values of a recording, as far as the form shows them. */
static int screen_params_take_values(struct screen_params *f, const char *path,
                                     struct fail *fail)
{
    struct recording *rec = recording_open(path, fail);
    int rc = 0;

    if (!rec)
        return -EINVAL;
    for (size_t i = 0; rc == 0 && i < f->count; i++) {
        char text[LINEEDIT_BYTES];

        param_view_text(&recording_run(rec)->values, f->rows[i], text, sizeof(text));
        rc = set_value(f->request.values, f->rows[i], text, fail);
    }
    recording_free(rec);
    return rc;
}

static void use_last(void *self, uint32_t press)
{
    struct screen_params *f = self;
    char path[4096], age[32];
    struct fail fail = {0};
    time_t begun;

    (void)press;
    if (!find_last(f, path, sizeof(path), &begun)) {
        app_say(f->app, "No run of %s has been saved yet.", f->request.scenario->name);
        return;
    }
    if (screen_params_take_values(f, path, &fail) < 0) {
        app_warn(f->app, "Not all values of the last run could be set: %s.",
                 fail.sentence);
        return;
    }
    last_runs_age(begun, time(NULL), age, sizeof(age));
    app_say(f->app, "The values of the last run, %s, are set.", age);
}

static void screen_params_go_back(void *self, uint32_t press)
{
    struct screen_params *f = self;

    (void)press;
    app_pop(f->app);
}

static void run_now(void *self, uint32_t press)
{
    struct screen_params *f = self;

    (void)press;
    app_pop(f->app);
    f->request.run(f->request.owner);
}

static void commit(struct screen_params *f)
{
    struct fail fail = {0};

    if (set_value(f->request.values, selected_param(f), f->edit.text, &fail) == 0)
        f->editing = false;
    else
        f->refusal = fail;
}

static bool screen_params_type(void *self, uint32_t press)
{
    struct screen_params *f = self;

    if (!f->editing)
        return false;
    if (press == PRESS_ESC) {
        f->editing = false;
    } else if (press == PRESS_ENTER || press == PRESS_UP || press == PRESS_DOWN ||
               press == PRESS_TAB) {
        commit(f);
        if (!f->editing && press != PRESS_ENTER)
            screen_params_move_selection(f, press == PRESS_UP ? PRESS_UP : PRESS_DOWN);
    } else if (lineedit_press(&f->edit, press)) {
        screen_params_check(f);
    }
    return true;
}

static bool is_editing(const void *self)
{
    return ((const struct screen_params *)self)->editing;
}

static bool screen_params_is_choosing(const void *self)
{
    return !is_editing(self);
}

static bool has_choices(const void *self)
{
    const struct screen_params *f = self;

    return !f->editing && (selected_param(f)->type == PARAM_CHOICE ||
                           selected_param(f)->type == PARAM_FLAG);
}

/* While a value is typed screen_params_type takes every press: those rows are there to be
 * read. */
static void screen_params_typed(void *self, uint32_t press)
{
    screen_params_type(self, press);
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ENTER}, "Enter", "store",
     "While a value is typed: store it, if it is allowed",
     screen_params_typed, is_editing, NULL},
    {{PRESS_ESC}, "Esc", "leave it",
     "While a value is typed: leave it as it was", screen_params_typed, is_editing, NULL},
    {{PRESS_CTRL('U')}, "Ctrl-U", "empty",
     "While a value is typed: empty the field", screen_params_typed, is_editing, NULL},
    {{PRESS_ENTER}, "Enter", "change",
     "Edit the value, or take its next choice", change, screen_params_is_choosing, NULL},
    {{' ', PRESS_RIGHT, PRESS_LEFT}, "Space", "next",
     "The next choice of a value that has choices; so do \xe2\x86\x90 and \xe2\x86\x92",
     change, has_choices, NULL},
    {{'r', PRESS_CTRL('R')}, "r", "run",
     "Run the scenario with these values", run_now, screen_params_is_choosing, NULL},
    {{'d'}, "d", "default",
     "Set this value to its default",
     reset_one, screen_params_is_choosing, NULL},
    {{'D'}, "D", "documented",
     "Set all values to the document's own, also where the defaults measure more",
     set_documented, screen_params_is_choosing, NULL},
    {{'a'}, "a", "all default",
     "Set all values to their defaults", reset_all, screen_params_is_choosing, NULL},
    {{'Q'}, "Q", "quick",
     "Set the values of a smaller run, for a first look",
     make_quick, screen_params_is_choosing, NULL},
    {{'u'}, "u", "last used",
     "Set the values of the last saved run of this scenario",
     use_last, screen_params_is_choosing, NULL},
    {{PRESS_ESC, 'q'}, "Esc", "back",
     "Go back to the scenarios; the values stay",
     screen_params_go_back, screen_params_is_choosing, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j'}, "\xe2\x86\x91\xe2\x86\x93 j k", NULL,
     "Choose another value", screen_params_move_selection, NULL, NULL},
    {{PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END}, "PgUp PgDn", NULL,
     "Choose eight further up or down; Home and End the first and last",
     screen_params_move_selection, NULL, NULL},
    {.label = NULL},
};
/* clang-format on */

/* Drawing. */

static void screen_params_draw_row(const struct screen_params *f, struct canvas *c,
                                   struct area a, size_t i)
{
    const struct param *p = f->rows[i];
    bool is_selected = i == f->selected;
    enum paint ground = is_selected ? PAINT_SELECTION : PAINT_GROUND;
    char text[LINEEDIT_BYTES], standard[LINEEDIT_BYTES];
    struct style name = style_on(is_selected ? PAINT_SELECTED : PAINT_TEXT, ground);
    struct style value = name;
    bool differs;
    int room = a.width - NAME_COLUMNS - 4;

    param_view_text(f->request.values, p, text, sizeof(text));
    param_view_text(&f->defaults, p, standard, sizeof(standard));
    differs = strcmp(text, standard) != 0;
    canvas_fill(c, a, ' ', name);
    canvas_put(c, a.x, a.y, is_selected ? c->glyphs->pointer : ' ', name);
    canvas_text(c, a.x + 2, a.y, NAME_COLUMNS - 1, name, p->name);
    if (differs) {
        canvas_put(c, a.x + 1 + NAME_COLUMNS, a.y, '*',
                   style_on(is_selected ? PAINT_SELECTED : PAINT_ACCENT, ground));
        value.attributes |= ATTR_BOLD;
    }
    if (is_selected && f->editing) {
        lineedit_draw(
            &f->edit, c, a.x + 3 + NAME_COLUMNS, a.y, room,
            style_on(f->refusal.err != 0 ? PAINT_BAD : PAINT_STRONG, PAINT_GROUND), true);
        return;
    }
    if (text[0] == '\0')
        canvas_text(c, a.x + 3 + NAME_COLUMNS, a.y, room,
                    style_on(is_selected ? PAINT_SELECTED : PAINT_UNKNOWN, ground),
                    "none");
    else if (strcmp(text, "0") == 0 && p->zero)
        canvas_print(c, a.x + 3 + NAME_COLUMNS, a.y, room, value, "0  %s", p->zero);
    else
        canvas_text(c, a.x + 3 + NAME_COLUMNS, a.y, room, value, text);
}

/* "documented 1GiB", "default stamped, documented plain"; "default" if nothing is. */
static void standard_text(const struct screen_params *f, const struct param *p,
                          char *text, size_t size)
{
    char value[LINEEDIT_BYTES], documented[LINEEDIT_BYTES];
    bool same;

    param_view_text(&f->defaults, p, value, sizeof(value));
    param_view_text(&f->documented, p, documented, sizeof(documented));
    same = strcmp(value, documented) == 0;
    snprintf(text, size, "%s %s%s%s",
             same && f->request.scenario->documented[0] ? "documented" : "default",
             value[0] ? value : "none", same ? "" : ", documented ",
             same            ? ""
             : documented[0] ? documented
                             : "none");
}

/* What the chosen value means, what is allowed, and what is wrong with what is typed. */
static void draw_notes(const struct screen_params *f, struct canvas *c, struct area a)
{
    const struct param *p = selected_param(f);
    char range[128], standard[2 * LINEEDIT_BYTES + 24], option[48];
    struct area line = area_take_top(&a, 1);

    param_range(p, range, sizeof(range));
    param_option(p, option, sizeof(option));
    standard_text(f, p, standard, sizeof(standard));
    canvas_text(c, line.x, line.y, line.width, style(PAINT_STRONG), p->help);
    line = area_take_top(&a, 1);
    canvas_print(
        c, line.x, line.y, line.width, style(PAINT_DIM),
        "allowed %s%s%s%s%s%s   %s   --%s%s", range,
        p->type == PARAM_COUNT && p->unit[0] ? " " : "",
        p->type == PARAM_COUNT ? p->unit : "", p->zero ? ", 0: " : "",
        p->zero ? p->zero : "", p->flags & PARAM_REPEAT ? ", \" | \" between lines" : "",
        standard, option,
        strcmp(p->name, "rate") == 0 ? "   - and + change it while it runs" : "");
    line = area_take_top(&a, 1);
    if (f->editing && f->refusal.err != 0)
        canvas_print(c, line.x, line.y, line.width, style(PAINT_BAD), "not allowed: %s",
                     f->refusal.sentence);
    else if (f->editing)
        canvas_text(c, line.x, line.y, line.width, style(PAINT_GOOD),
                    "allowed; Enter stores it, Esc leaves it as it was");
}

static void screen_params_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_params *f = self;
    struct area notes;

    canvas_box(c, a, f->request.scenario->name, true);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    notes = area_take_bottom(&a, 3);
    canvas_rule(c, a.x - 2, a.y + a.height - 1, a.width + 4, style(PAINT_FOCUS));
    area_take_bottom(&a, 1);
    if ((int)f->selected < f->offset)
        f->offset = (int)f->selected;
    if ((int)f->selected >= f->offset + a.height)
        f->offset = (int)f->selected - a.height + 1;
    f->list_top = a.y;
    for (int i = 0; i < a.height && (size_t)(i + f->offset) < f->count; i++)
        screen_params_draw_row(f, c, (struct area){a.x, a.y + i, a.width, 1},
                               (size_t)(i + f->offset));
    canvas_more(c, a, f->offset > 0, f->offset + a.height < (int)f->count);
    draw_notes(f, c, notes);
}

static void screen_params_header(void *self, struct canvas *c, struct area a)
{
    const struct screen_params *f = self;

    canvas_text_right(c, a.x, a.y, a.width, style_on(PAINT_HEADER, PAINT_BAR),
                      f->request.scenario->title);
}

static void screen_params_mouse(void *self, const struct mouse *m)
{
    struct screen_params *f = self;
    int i = m->y - f->list_top + f->offset;

    if (f->editing)
        return;
    if (m->kind == POINT_WHEEL_UP || m->kind == POINT_WHEEL_DOWN) {
        screen_params_move_selection(f,
                                     m->kind == POINT_WHEEL_UP ? PRESS_UP : PRESS_DOWN);
    } else if (m->y >= f->list_top && i >= 0 && (size_t)i < f->count) {
        bool again = f->selected == (size_t)i;

        f->selected = (size_t)i;
        if (again)
            change(f, PRESS_ENTER);
    }
}

const struct screen screen_params = {
    .name = "parameters",
    .keys = keys,
    .init = screen_params_init,
    .draw = screen_params_draw,
    .header = screen_params_header,
    .type = screen_params_type,
    .is_typing = is_editing,
    .mouse = screen_params_mouse,
    .free = screen_params_free,
};
