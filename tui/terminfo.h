/*
 * What terminfo says of a terminal. Apart from the display, because the header of
 * terminfo takes every short word there is ("lines", "columns") as a macro.
 */
#ifndef TUI_TERMINFO_H
#define TUI_TERMINFO_H

#include <stdbool.h>

/* Whether the type is known; *can_place: whether it can move its cursor about. */
bool terminfo_is_known(const char *term, bool *can_place);

/* A capability of the current terminal by its terminfo name; NULL when it has none. */
const char *terminfo_string(const char *name);

#endif
