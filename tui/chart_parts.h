/*
 * What the files of a chart share: chart.c draws the lines, chart_legend.c names them,
 * chart_marks.c marks what happened.
 */
#ifndef TUI_CHART_PARTS_H
#define TUI_CHART_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/axes.h"
#include "tui/chart.h"

#define LEGEND_MAX 8 /* lines that are named */

/* What stands for a line: in ASCII it is also the character the line is made of. */
uint32_t chart_legend_bullet(const struct canvas *c, size_t index);

/*
 * The legend, in the upper border of a chart's frame: of each line a bullet in its
 * colour, its name, and the figure of now. Drawn as far as there is room: with names,
 * without, or not at all. True when it names the lines.
 */
bool chart_legend_draw(struct canvas *c, struct area frame, const struct chart *chart);

/*
 * The marks: what happened at a moment, as a vertical line with a label. The label stands
 * where it hides the fewest values, so marks are drawn last. Of several marks at one
 * place only the last is named: it is what holds from there on. Ascending by time; those
 * outside the span are left out.
 */
void chart_marks_draw(struct canvas *c, const struct axes *ax,
                      const struct chart_mark *marks, size_t count);

#endif
