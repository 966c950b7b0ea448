/*
 * The parameter form of one scenario, made from the parameter table: each value with its
 * range, default and help. What is typed is checked as it is typed; a value that is not
 * allowed is refused with the reason and cannot be left in the form.
 */
#ifndef TUI_SCREEN_PARAMS_H
#define TUI_SCREEN_PARAMS_H

#include "engine/scenario.h"
#include "tui/screen.h"

/* The argument. The values are edited in place; both outlive the screen. */
struct params_request {
    const struct scenario *scenario;
    struct options *values;
    void (*run)(void *owner); /* Ctrl-R: run with these; called after the form is left */
    void *owner;
};

extern const struct screen screen_params;

#endif
