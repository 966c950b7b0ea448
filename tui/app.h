/*
 * The console without its terminal: a stack of screens, the message line, and the frame
 * around them. Presses and the mouse go in, a picture on a canvas comes out; tui/console
 * connects it to a terminal, a test connects it to nothing.
 *
 * The frame: a header bar on top (the screen's name, and what it says of itself), the
 * screen, a message if there is one, and the status line with the keys that work. Below
 * APP_LEAST_WIDTH x APP_LEAST_HEIGHT only a sentence says what size is needed.
 */
#ifndef TUI_APP_H
#define TUI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/screen_ops.h"
#include "tui/theme.h"

#define APP_LEAST_WIDTH 60
#define APP_LEAST_HEIGHT 16
#define APP_MESSAGE_MS 1000 /* a message stays at least so long, whatever is pressed */

struct app;
struct event_base;

/* What the app asks of whoever connects it; each may be NULL. */
struct app_hooks {
    void (*changed)(void *owner); /* something is to be drawn or to be turned over */
    void (*save_picture)(void *owner);
    void (*redraw)(void *owner); /* the terminal shows rubbish: all of it anew */
    void *owner;
};

/* NULL when out of memory. The base is lent to the screens; both outlive the app. */
struct app *app_new(struct event_base *base, const struct glyph_set *glyphs,
                    const struct theme *theme, const struct app_hooks *hooks);

/* Frees the screens from the top down. NULL is fine. */
void app_free(struct app *app);

/* What happens. Presses that no row of keys knows are ignored. */
void app_press(struct app *app, uint32_t press);
void app_mouse(struct app *app, const struct mouse *mouse);

/* A character out of a paste: goes to a text field, never to the keys. */
void app_paste(struct app *app, uint32_t press);

/* Ctrl-C: for the uppermost screen that knows it, be it covered by others. */
void app_interrupt(struct app *app);

/*
 * Carry out the pushes and pops asked for so far. To be called after each event, from
 * the loop and not from a screen. True while there is a screen left to show.
 */
bool app_turn(struct app *app);

/* Draw everything; the canvas may have any size. Clears the mark that app_dirty set. */
void app_draw(struct app *app, struct canvas *c);
bool app_is_dirty(const struct app *app);

/* Whether the program is to end, and with which exit status. */
bool app_has_ended(const struct app *app, int *status);

const struct theme *app_theme(const struct app *app);

/* For screens. */

struct event_base *app_base(struct app *app);

/* The picture is out of date. */
void app_dirty(struct app *app);

/*
 * `argument` is borrowed until the screen's init has returned, which is in the next
 * app_turn: it must not stand on the caller's stack.
 */
void app_push(struct app *app, const struct screen *screen, const void *argument);
void app_pop(struct app *app);

/*
 * Pop and push in one, so that the screen below is not shown in between. The new screen
 * is made before the old one is freed, so the argument may belong to the old one.
 */
void app_replace(struct app *app, const struct screen *screen, const void *argument);

/*
 * Whether the screen with this state is the one that is shown. Pops and replacements
 * concern the top, so a screen that acts on anything but its keys asks first: help may
 * lie over it by then.
 */
bool app_is_top(const struct app *app, const void *self);

void app_quit(struct app *app, int status);

/*
 * A message, shown above the status line, in as many rows as it needs (a quarter of the
 * screen at most), until a key is pressed after it has been on
 * the screen for APP_MESSAGE_MS. A plain one gives way to the next message at once; a
 * warning says that it is one and is never covered: what comes after it waits.
 */
void app_say(struct app *app, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void app_warn(struct app *app, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The keys that work on every screen, for the help screen. */
const struct key *app_keys(void);

#endif
