/* Values of parameters as the screens show and edit them: one line of text each. */
#ifndef TUI_PARAM_VIEW_H
#define TUI_PARAM_VIEW_H

#include <stddef.h>

#include "engine/param.h"

#define PARAM_VIEW_BREAK " | " /* between the lines of a value that may be repeated */

/* The value as one line that param_set reads back piece by piece; "" when not set. */
void param_view_text(const struct options *values, const struct param *p, char *out,
                     size_t size);

#endif
