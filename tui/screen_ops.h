/*
 * A screen is a const table of functions; its state is its own and is made by init.
 * Screens lie on a stack: the app shows the top one and gives it the keys. They draw on
 * a canvas and never see the terminal, so a test can draw them without one.
 *
 * Life of a screen: init, then draw, key and the others in any order, then free. Pushing
 * and popping take effect after the call that asked for it has returned, so a screen may
 * pop itself from anywhere.
 */
#ifndef TUI_SCREEN_OPS_H
#define TUI_SCREEN_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/keys.h"

struct app;

enum mouse_kind { POINT_CLICK, POINT_DOUBLE, POINT_WHEEL_UP, POINT_WHEEL_DOWN };

struct mouse {
    enum mouse_kind kind;
    int x, y;
};

struct screen {
    const char *name; /* "scenarios": in the header and on top of its help */
    const struct key *keys;

    /* Required. NULL when it cannot be shown; say why by app_say. */
    void *(*init)(struct app *app, const void *argument);

    /* Required. The area is the canvas without header, message and status line. */
    void (*draw)(void *self, struct canvas *c, struct area a);

    /* The part of the header bar right of the name. Not required. */
    void (*header)(void *self, struct canvas *c, struct area a);

    /* Text input: takes a press before the keys do. True if it took it. Not required. */
    bool (*type)(void *self, uint32_t press);

    /* Whether a text is being typed: the keys of every screen are letters then. */
    bool (*is_typing)(const void *self);

    /* Not required. */
    void (*mouse)(void *self, const struct mouse *m);

    /* It is on top again, after another screen was popped. Not required. */
    void (*shown)(void *self);

    /* Ctrl-C, also while it is covered. False, or not there: the console ends. */
    bool (*interrupt)(void *self);

    /* Required. */
    void (*free)(void *self);
};

#endif
