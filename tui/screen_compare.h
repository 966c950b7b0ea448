/*
 * Two runs beside each other: what differs metric by metric, with a verdict that says
 * when the difference proves nothing, and their courses laid over each other.
 */
#ifndef TUI_SCREEN_COMPARE_H
#define TUI_SCREEN_COMPARE_H

#include "tui/screen.h"

struct run;

/* The argument. The screen takes both runs over; the pointers are NULL then. */
struct compare_request {
    struct run *base;  /* what is compared with */
    struct run *other; /* what is compared */
};

extern const struct screen screen_compare;

#endif
