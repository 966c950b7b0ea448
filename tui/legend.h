/*
 * The legend of a chart, in the upper border of its frame: of each line a bullet in its
 * colour, its name, and the figure of now.
 */
#ifndef TUI_LEGEND_H
#define TUI_LEGEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/chart.h"

#define LEGEND_MAX 8 /* lines that are named */

/* What stands for a line: in ASCII it is also the character the line is made of. */
uint32_t legend_bullet(const struct canvas *c, size_t index);

/*
 * Drawn as far as there is room: with names, without, or not at all. True when it names
 * the lines.
 */
bool legend_draw(struct canvas *c, struct area frame, const struct chart *chart);

#endif
