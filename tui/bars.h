/* A list of bars, each with its label before and its figure behind it. */
#ifndef TUI_BARS_H
#define TUI_BARS_H

#include <stddef.h>

#include "tui/canvas.h"

struct bar {
    const char *label;
    const char *figure;
    double value; /* NaN: unknown, no bar */
    enum paint paint;
};

/* `top` is the value of a full bar; 0: the largest value's. One row a bar. */
void bars_draw(struct canvas *c, struct area a, const struct bar *bars, size_t count,
               double top);

#endif
