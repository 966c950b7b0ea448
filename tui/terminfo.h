/*
 * What terminfo says of a terminal. Apart from the display, because the header of
 * terminfo takes every short word there is ("lines", "columns") as a macro.
 */
#ifndef TUI_TERMINFO_H
#define TUI_TERMINFO_H

#include "protocols/fail.h"

/*
 * The type to drive a terminal by whose TERM is `term` (NULL: not set). NULL with a
 * failure for one that cannot show a screen at all. A type that is not known is driven
 * as an xterm, and `advice` says so (else it is empty).
 */
const char *terminfo_choose(const char *term, const char **advice, struct fail *fail);

/* A capability of the current terminal by its terminfo name; NULL when it has none. */
const char *terminfo_string(const char *name);

#endif
