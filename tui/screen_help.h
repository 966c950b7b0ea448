/* The help screen: the keys of the screen it was called from, made from its table. */
#ifndef TUI_SCREEN_HELP_H
#define TUI_SCREEN_HELP_H

#include "tui/screen.h"

/* The argument of the screen. Borrowed; the subject stays below on the stack. */
struct help_subject {
    const struct screen *screen;
    const void *self;
};

extern const struct screen screen_help;

#endif
