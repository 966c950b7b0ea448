#include "tui/app.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/clock.h"
#include "tui/screens.h"
#include "tui/text.h"

#define STACK_MAX 8
#define PENDING_MAX 8
#define MESSAGES_MAX 4

struct app_layer {
    const struct screen *screen;
    void *self;
};

/* A change of the stack that waits for app_turn. */
struct app_change {
    bool pops;
    const struct screen *push; /* NULL: only pops */
    const void *argument;
};

struct app_message {
    char text[512];
    bool is_warning;
    uint64_t shown_ns; /* 0: not yet */
};

struct app {
    struct event_base *base;
    const struct glyph_set *glyphs;
    const struct theme *theme;
    struct app_hooks hooks;
    struct app_layer stack[STACK_MAX];
    size_t depth;
    struct app_change pending[PENDING_MAX];
    size_t pending_count;
    struct app_message messages[MESSAGES_MAX];
    size_t message_count;
    size_t messages_lost;
    struct area status_row; /* where the hints were drawn, for the mouse */
    struct help_subject help;
    bool dirty;
    bool ended;
    int status;
};

/* Global keys. */

static struct app_layer *top(struct app *app)
{
    return app->depth > 0 ? &app->stack[app->depth - 1] : NULL;
}

static void show_help(void *self, uint32_t press)
{
    struct app *app = self;
    const struct app_layer *layer = top(app);

    (void)press;
    if (!layer || layer->screen == &screen_help)
        return;
    app->help = (struct help_subject){layer->screen, layer->self};
    app_push(app, &screen_help, &app->help);
}

/* Where a text is typed "?" is a letter. */
static bool keys_are_keys(const void *self)
{
    const struct app *app = self;
    const struct app_layer *layer = app->depth > 0 ? &app->stack[app->depth - 1] : NULL;

    return !layer || !layer->screen->is_typing || !layer->screen->is_typing(layer->self);
}

static void next_theme(void *self, uint32_t press)
{
    struct app *app = self;

    (void)press;
    app->theme = theme_next(app->theme);
    app_dirty(app);
}

static void save_picture(void *self, uint32_t press)
{
    struct app *app = self;

    (void)press;
    if (app->hooks.save_picture)
        app->hooks.save_picture(app->hooks.owner);
}

static void redraw(void *self, uint32_t press)
{
    struct app *app = self;

    (void)press;
    if (app->hooks.redraw)
        app->hooks.redraw(app->hooks.owner);
    app_dirty(app);
}

/* A screen's own rows come first, so it may give these keys another meaning. */
/* clang-format off */
static const struct key keys[] = {
    {{'?', PRESS_F1}, "?", "help",
     "Show the keys of this screen and what they do", show_help, keys_are_keys, NULL},
    {{'T', 't'}, "T", NULL,
     "Change the theme: dark, light, without colour", next_theme, NULL, NULL},
    {{'S'}, "S", NULL,
     "Save the screen as a picture (SVG) and as text", save_picture, NULL, NULL},
    {{PRESS_CTRL('L')}, "Ctrl-L", NULL, "Draw the whole screen anew", redraw, NULL, NULL},
    {.label = NULL},
};
/* clang-format on */

const struct key *app_keys(void)
{
    return keys;
}

/* Life. */

struct app *app_new(struct event_base *base, const struct glyph_set *glyphs,
                    const struct theme *theme, const struct app_hooks *hooks)
{
    struct app *app = calloc(1, sizeof(*app));

    if (!app)
        return NULL;
    app->base = base;
    app->glyphs = glyphs;
    app->theme = theme;
    if (hooks)
        app->hooks = *hooks;
    return app;
}

static void drop_top(struct app *app)
{
    struct app_layer layer = app->stack[--app->depth];

    layer.screen->free(layer.self);
}

void app_free(struct app *app)
{
    if (!app)
        return;
    while (app->depth > 0)
        drop_top(app);
    free(app);
}

static void changed(struct app *app)
{
    if (app->hooks.changed)
        app->hooks.changed(app->hooks.owner);
}

/* A new screen is made before the old one goes: it may take things over from it. */
static void app_carry_out(struct app *app, const struct app_change *change)
{
    void *made = NULL;

    if (change->push && app->depth == STACK_MAX && !change->pops) {
        app_warn(app, "Too many screens are open; go back first.");
        return;
    }
    if (change->push)
        made = change->push->init(app, change->argument);
    if (change->pops && app->depth > 0)
        drop_top(app);
    /* What was said of the old screen says nothing of the one that takes its place. */
    if (made && change->pops && app->message_count > 0 &&
        !app->messages[app->message_count - 1].is_warning)
        app->message_count--;
    if (made)
        app->stack[app->depth++] = (struct app_layer){change->push, made};
    else if (app->depth > 0 && top(app)->screen->shown)
        top(app)->screen->shown(top(app)->self);
}

bool app_turn(struct app *app)
{
    /* A screen's init may itself push: the list may grow while it is carried out. */
    for (size_t i = 0; i < app->pending_count; i++) {
        struct app_change change = app->pending[i];

        app_carry_out(app, &change);
        app->dirty = true;
    }
    app->pending_count = 0;
    if (app->depth == 0)
        app->ended = true;
    return !app->ended;
}

static void ask(struct app *app, struct app_change change)
{
    /* More than a few at once would be a screen that pushes in a loop. */
    assert(app->pending_count < PENDING_MAX);
    app->pending[app->pending_count++] = change;
    app_dirty(app);
}

void app_push(struct app *app, const struct screen *screen, const void *argument)
{
    ask(app, (struct app_change){false, screen, argument});
}

void app_pop(struct app *app)
{
    ask(app, (struct app_change){true, NULL, NULL});
}

void app_replace(struct app *app, const struct screen *screen, const void *argument)
{
    ask(app, (struct app_change){true, screen, argument});
}

bool app_is_top(const struct app *app, const void *self)
{
    return app->depth > 0 && app->stack[app->depth - 1].self == self;
}

void app_quit(struct app *app, int status)
{
    app->ended = true;
    app->status = status;
    changed(app);
}

bool app_has_ended(const struct app *app, int *status)
{
    *status = app->status;
    return app->ended;
}

struct event_base *app_base(struct app *app)
{
    return app->base;
}

const struct theme *app_theme(const struct app *app)
{
    return app->theme;
}

void app_dirty(struct app *app)
{
    app->dirty = true;
    changed(app);
}

bool app_is_dirty(const struct app *app)
{
    return app->dirty;
}

/* Messages. */

static void add_message(struct app *app, bool is_warning, const char *format,
                        va_list args) __attribute__((format(printf, 3, 0)));

static void add_message(struct app *app, bool is_warning, const char *format,
                        va_list args)
{
    struct app_message *m;

    /* A plain message is the answer to a key: the next answer takes its place at once. */
    if (app->message_count > 0 && !app->messages[app->message_count - 1].is_warning)
        app->message_count--;
    if (app->message_count == MESSAGES_MAX) {
        app->messages_lost++;
        return;
    }
    m = &app->messages[app->message_count++];
    *m = (struct app_message){.is_warning = is_warning};
    vsnprintf(m->text, sizeof(m->text), format, args);
    app_dirty(app);
}

void app_say(struct app *app, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_message(app, false, format, args);
    va_end(args);
}

void app_warn(struct app *app, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_message(app, true, format, args);
    va_end(args);
}

/* A key was pressed: the message may go if it has been seen long enough. */
static void age_message(struct app *app)
{
    const struct app_message *first = &app->messages[0];

    if (app->message_count == 0 || first->shown_ns == 0 ||
        now_ns() - first->shown_ns < APP_MESSAGE_MS * NS_PER_MS)
        return;
    app->message_count--;
    memmove(app->messages, app->messages + 1, app->message_count * sizeof(*first));
    app_dirty(app);
}

/* Input. */

void app_press(struct app *app, uint32_t press)
{
    struct app_layer *layer = top(app);
    const struct key *row;

    age_message(app);
    if (!layer)
        return;
    app_dirty(app);
    if (layer->screen->type && layer->screen->type(layer->self, press))
        return;
    row = keys_find(layer->screen->keys, layer->self, press);
    if (row) {
        row->act(layer->self, press);
        return;
    }
    row = keys_find(keys, app, press);
    if (row)
        row->act(app, press);
}

void app_paste(struct app *app, uint32_t press)
{
    struct app_layer *layer = top(app);

    /* An Enter in a paste would submit: fields take the characters only. */
    if (!layer || !layer->screen->type || press < ' ' || press >= PRESS_UP)
        return;
    if (layer->screen->type(layer->self, press))
        app_dirty(app);
}

void app_mouse(struct app *app, const struct mouse *mouse)
{
    struct app_layer *layer = top(app);
    uint32_t press;

    if (!layer)
        return;
    if (mouse->kind == POINT_CLICK && mouse->y == app->status_row.y) {
        press = keys_hint_at(app->status_row, mouse->x, layer->screen->keys, layer->self,
                             keys, app);
        if (press != PRESS_NONE)
            app_press(app, press);
        return;
    }
    age_message(app);
    if (layer->screen->mouse)
        layer->screen->mouse(layer->self, mouse);
    app_dirty(app);
}

/* Help that lies over a run does not take Ctrl-C away from it. */
void app_interrupt(struct app *app)
{
    app_dirty(app);
    for (size_t i = app->depth; i-- > 0;) {
        const struct app_layer *layer = &app->stack[i];

        if (!layer->screen->interrupt)
            continue;
        if (layer->screen->interrupt(layer->self))
            return;
        break;
    }
    app_quit(app, 130);
}

/* Drawing. */

static void draw_header(struct canvas *c, struct area row, const struct app_layer *layer)
{
    struct style plain = style_on(PAINT_HEADER, PAINT_BAR), bold = plain;

    bold.attributes = ATTR_BOLD;
    canvas_fill(c, row, ' ', plain);
    area_take_left(&row, 1);
    area_take_left(&row, canvas_text(c, row.x, row.y, row.width, bold, "plimsoll"));
    area_take_left(
        &row, 1 + canvas_text(c, row.x + 1, row.y, row.width, plain, "\xc2\xb7") + 1);
    area_take_left(&row,
                   canvas_text(c, row.x, row.y, row.width, plain, layer->screen->name));
    area_take_left(&row, 2);
    area_take_right(&row, 1);
    if (layer->screen->header)
        layer->screen->header(layer->self, c, row);
}

/* Where the text of a message stands in its rows: after the sign, before the note. */
static struct area message_text(struct app *app, struct area rows, char note[32])
{
    size_t more = app->message_count - 1 + app->messages_lost;

    note[0] = '\0';
    if (more > 0)
        snprintf(note, 32, " (%zu more)", more);
    area_take_left(&rows, 3);
    area_take_right(&rows, text_columns(note) + 1);
    return rows;
}

/* As many rows as the message needs: half a sentence is no message. */
static int message_rows(struct app *app, struct canvas *c)
{
    struct area none = {0, 0, c->width, 0};
    int most = c->height / 4, needed;
    char note[32];

    if (app->message_count == 0)
        return 0;
    needed = canvas_paragraph(c, message_text(app, none, note), style(PAINT_STRONG),
                              app->messages[0].text);
    return needed < 1 ? 1 : needed > most ? most : needed;
}

static void draw_message(struct app *app, struct canvas *c, struct area rows)
{
    struct app_message *m = &app->messages[0];
    char note[32];
    struct area text = message_text(app, rows, note);

    if (m->shown_ns == 0)
        m->shown_ns = now_ns();
    canvas_text(c, rows.x + 1, rows.y, 1, style(m->is_warning ? PAINT_WARN : PAINT_GOOD),
                m->is_warning ? "!" : "\xc2\xb7");
    canvas_text_right(c, rows.x, rows.y, rows.width, style(PAINT_DIM), note);
    canvas_paragraph(c, text, style(PAINT_STRONG), m->text);
}

static void draw_too_small(struct canvas *c)
{
    char lines[3][64];
    int y = c->height > 3 ? (c->height - 3) / 2 : 0;

    snprintf(lines[0], sizeof(lines[0]), "plimsoll needs %d x %d,", APP_LEAST_WIDTH,
             APP_LEAST_HEIGHT);
    snprintf(lines[1], sizeof(lines[1]), "this is %d x %d.", c->width, c->height);
    snprintf(lines[2], sizeof(lines[2]), "Make it larger.");
    for (int i = 0; i < 3; i++) {
        int columns = text_columns(lines[i]);
        int x = c->width > columns ? (c->width - columns) / 2 : 0;

        canvas_text(c, x, y + i, c->width - x, style(i == 0 ? PAINT_STRONG : PAINT_TEXT),
                    lines[i]);
    }
}

static void app_draw_frame(struct app *app, struct canvas *c,
                           const struct app_layer *layer)
{
    struct area rest = canvas_area(c), header, message;

    header = area_take_top(&rest, 1);
    app->status_row = area_take_bottom(&rest, 1);
    message = area_take_bottom(&rest, message_rows(app, c));
    draw_header(c, header, layer);
    if (message.height > 0)
        draw_message(app, c, message);
    layer->screen->draw(layer->self, c, rest);
    /* After the screen: which keys work may follow from what it has drawn. */
    keys_draw_hints(c, app->status_row, layer->screen->keys, layer->self, keys, app);
}

void app_draw(struct app *app, struct canvas *c)
{
    const struct app_layer *layer = top(app);

    app->dirty = false;
    canvas_clear(c);
    if (!layer)
        return;
    if (c->width < APP_LEAST_WIDTH || c->height < APP_LEAST_HEIGHT)
        draw_too_small(c);
    else
        app_draw_frame(app, c, layer);
}
