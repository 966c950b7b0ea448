/*
 * The marks of a chart: what happened at a moment, as a vertical line with a label. The
 * label stands where it hides the fewest values, so marks are drawn last.
 *
 * Of several marks at one place only the last is named: it is what holds from there on.
 */
#ifndef TUI_MARKS_H
#define TUI_MARKS_H

#include <stddef.h>

#include "tui/axes.h"
#include "tui/chart.h"

/* Ascending by time; those outside the span are left out. */
void marks_draw(struct canvas *c, const struct axes *ax, const struct chart_mark *marks,
                size_t count);

#endif
