/* The limits of this machine that would distort a run: need, have, cure. */
#ifndef TUI_SCREEN_LIMITS_H
#define TUI_SCREEN_LIMITS_H

#include "engine/scenario.h"
#include "tui/screen.h"

/* The argument: a scenario with its values, or NULL for the machine in general. */
struct limits_request {
    const struct scenario *scenario;
    const struct options *values;
};

extern const struct screen screen_limits;

#endif
