/*
 * What stands around values over time: the frame, the figures of the values at its left
 * and those of the time below. Charts and heat maps are drawn within.
 *
 * An area of any size is fine; what has no room is left out. Who draws begins the axes,
 * takes from `cells` what it needs itself, measures them, and chooses the scale.
 */
#ifndef TUI_AXES_H
#define TUI_AXES_H

#include <stdbool.h>

#include "tui/canvas.h"
#include "tui/scale.h"

struct axes {
    struct area inner;          /* within the frame */
    struct area cells;          /* where the values are drawn */
    bool is_labelled, is_timed; /* there is room for figures at the left, below */
    int wide, high;             /* of the cells, in dots */
    double from_s, to_s, dot_s; /* what is shown, and the time of a column of dots */
    enum quantity quantity;
    const char *per;    /* after a figure: "/s", or "" */
    struct scale scale; /* of the values */
    bool is_mirror;     /* values stand above and below the middle */
    int middle;         /* mirror: the row of cells of zero */
};

/* Draw the frame, if there is room for one; quantity and scale are the owner's to set. */
struct axes axes_begin(struct canvas *c, struct area a, const char *title, bool focused);

/* The cells are what they are to be: set the span and work out the dots. */
void axes_measure(struct axes *ax, const struct canvas *c, double from_s, double to_s);

void axes_draw_values(struct canvas *c, const struct axes *ax);
void axes_draw_time(struct canvas *c, const struct axes *ax);

/* What stands in the frame without values; NULL: "no data yet". */
void axes_draw_empty(struct canvas *c, const struct axes *ax, const char *empty);

#endif
