/*
 * The terminal, through curses: what a canvas shows goes out, presses come in. The only
 * file that knows curses is display.c; its calls are the wide-character ones, which
 * PDCurses has too.
 *
 * There is one terminal, so there is one display at a time. From display_open to
 * display_close the terminal is restored whatever ends the process, abort and fatal
 * signals included: their handlers only write prepared bytes and reset the line.
 */
#ifndef TUI_DISPLAY_H
#define TUI_DISPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/fail.h"
#include "tui/canvas.h"
#include "tui/picture.h"
#include "tui/screen_ops.h"

struct display;

enum input_kind {
    INPUT_NONE,
    INPUT_PRESS,
    INPUT_MOUSE,
    INPUT_PASTE_BEGIN,
    INPUT_PASTE_END
};

struct input {
    enum input_kind kind;
    uint32_t press;
    struct mouse mouse;
};

/*
 * Take the terminal of standard input and output. 0, or a negative errno with advice in
 * *fail: -ENOTTY where there is none, -ENOTSUP for one that cannot place its cursor. A
 * TERM that terminfo does not know is driven as an xterm, and `advice` says so (else it
 * is empty).
 */
int display_open(struct display **d, const char **advice, struct fail *fail);

/* Restore the terminal and free. NULL is fine. */
void display_close(struct display *d);

/* Colours that the terminal has: 256, 16, 8, or 0. */
int display_colours(const struct display *d);

/* TERM as it is driven. */
const char *display_term(const struct display *d);

/* Ask the system for the size and follow it; at least 1 x 1. True if it has changed. */
bool display_measure(struct display *d, int *width, int *height);

/* Show a canvas; only what differs from what is shown is written. */
void display_show(struct display *d, const struct canvas *c, const struct theme *theme);

/* Write everything at the next display_show. */
void display_forget(struct display *d);

/* The next input; INPUT_NONE when there is none now. Never blocks (an escape: 25 ms). */
struct input display_read(struct display *d);

/* After a wake-up without input: whether the terminal has gone. */
bool display_is_gone(const struct display *d);

/* Give the terminal back for a while, as for a suspend, and take it again. */
void display_leave(struct display *d);
void display_enter(struct display *d);

/*
 * Read the cells that curses shows back into a picture. 0 or -ENOMEM. The picture has
 * the theme's idea of the terminal's own colours.
 */
int display_picture(const struct display *d, const struct theme *theme,
                    struct picture *p);

#endif
