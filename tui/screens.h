/*
 * The screens, and what each takes as its argument: any may lead to any other, so all
 * stand here. One more is a file tui/screen_NAME.c and a line.
 */
#ifndef TUI_SCREENS_H
#define TUI_SCREENS_H

#include <stddef.h>

#include "engine/scenario.h"
#include "tui/screen_ops.h"

struct run;

#define RUN_QUEUE_MAX 16

/* The first screen: all scenarios, and what the chosen one does. No argument. */
extern const struct screen screen_scenarios;

/*
 * The parameter form of one scenario, made from the parameter table: each value with its
 * range, default and help. What is typed is checked as it is typed; a value that is not
 * allowed is refused with the reason and cannot be left in the form.
 */
extern const struct screen screen_params;

/* Its argument. The values are edited in place; both outlive the screen. */
struct params_request {
    const struct scenario *scenario;
    struct options *values;
    void (*run)(void *owner); /* Ctrl-R: run with these; called after the form is left */
    void *owner;
};

/*
 * The run screen: runs one scenario, or several one after the other, and shows what is
 * measured while it is measured. When the last has ended its place is taken by the
 * summary of all of them.
 */
extern const struct screen screen_run;

/* Its argument. All borrowed; values are copied when the screen is made. */
struct run_request {
    size_t count;
    struct {
        const struct scenario *scenario;
        const struct options *values;
    } runs[RUN_QUEUE_MAX];
};

/*
 * The summary screen: what a finished run says, outcome first; beside it what was
 * documented. Several runs of a sequence are turned over with left and right.
 */
extern const struct screen screen_summary;

/*
 * Its argument. The screen takes the runs over when it is made: what the pointers point
 * to is NULL then.
 */
struct summary_request {
    size_t count;
    struct run **runs[RUN_QUEUE_MAX];
};

/* The history: the saved runs, to be looked at again, compared or deleted. No argument.
 */
extern const struct screen screen_history;

/*
 * Two runs beside each other: what differs metric by metric, with a verdict that says
 * when the difference proves nothing, and their courses laid over each other.
 */
extern const struct screen screen_compare;

/* Its argument. The screen takes both runs over; the pointers are NULL then. */
struct compare_request {
    struct run *base;  /* what is compared with */
    struct run *other; /* what is compared */
};

/*
 * The replay: a saved run played on the board of the run screen, at any speed, held,
 * and scrubbed through.
 */
extern const struct screen screen_replay;

/* Its argument: the path of the recording, copied when the screen is made. */
struct replay_request {
    char path[4096];
};

/* The limits of this machine that would distort a run: need, have, cure. */
extern const struct screen screen_limits;

/* Its argument: a scenario with its values, or NULL for the machine in general. */
struct limits_request {
    const struct scenario *scenario;
    const struct options *values;
};

/* The help screen: the keys of the screen it was called from, made from its table. */
extern const struct screen screen_help;

/* Its argument. Borrowed; the subject stays below on the stack. */
struct help_subject {
    const struct screen *screen;
    const void *self;
};

#endif
