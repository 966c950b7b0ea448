/*
 * The run screen: runs one scenario, or several one after the other, and shows what is
 * measured while it is measured. When the last has ended its place is taken by the
 * summary of all of them.
 */
#ifndef TUI_SCREEN_RUN_H
#define TUI_SCREEN_RUN_H

#include <stddef.h>

#include "engine/scenario.h"
#include "tui/screen.h"

#define RUN_QUEUE_MAX 16

/* The argument: what to run. All borrowed; values are copied when the screen is made. */
struct run_request {
    size_t count;
    struct {
        const struct scenario *scenario;
        const struct options *values;
    } runs[RUN_QUEUE_MAX];
};

extern const struct screen screen_run;

#endif
