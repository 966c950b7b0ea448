/*
 * A heat map: time by value, shaded by count. counts[i * rows + r] belongs to the i-th
 * step of time and the r-th row from below; rows cut low..high evenly on a log scale.
 */
#ifndef TUI_HEAT_H
#define TUI_HEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/scale.h"

struct heat {
    const char *title;
    enum quantity quantity;
    double low, high;
    size_t rows;
    const double *counts; /* borrowed; steps * rows */
    size_t steps;
    double start_s, step_s, from_s, to_s;
    const char *empty; /* what stands in the frame without counts; as in a chart */
    bool focused;
};

void heat_draw(struct canvas *c, struct area a, const struct heat *heat);

#endif
