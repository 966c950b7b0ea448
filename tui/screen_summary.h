/*
 * The summary screen: what a finished run says, outcome first; beside it what was
 * documented. Several runs of a sequence are turned over with left and right.
 */
#ifndef TUI_SCREEN_SUMMARY_H
#define TUI_SCREEN_SUMMARY_H

#include <stddef.h>

#include "tui/screen.h"
#include "tui/screen_run.h"

struct run;

/*
 * The argument. The screen takes the runs over when it is made: what the pointers point
 * to is NULL then.
 */
struct summary_request {
    size_t count;
    struct run **runs[RUN_QUEUE_MAX];
};

extern const struct screen screen_summary;

#endif
