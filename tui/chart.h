/*
 * Charts on a canvas. A chart borrows arrays of doubles, one value a step of time, and
 * draws them into an area; it changes nothing and keeps nothing. NaN is a gap: a value
 * that is not known is not drawn, and never as zero. An area of any size is fine: what
 * does not fit (legend, axes, in the end the plot) is left out.
 *
 * Time runs from left to right, from_s to to_s. Where several values fall on one column
 * of dots they are *reduced* (to their mean, or to the extreme that matters); where a
 * value covers several columns the picture runs straight from one to the next.
 *
 * Forms:
 *   area     the first line, filled down to the axis, coloured by height along a ramp
 *   mirror   the first line above the middle, the second below it, both filled
 *   lines    any number of lines; each is named at its right end
 *   stack    the lines on top of each other, each filled
 */
#ifndef TUI_CHART_H
#define TUI_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/scale.h"

enum chart_form { CHART_AREA, CHART_MIRROR, CHART_LINES, CHART_STACK };
enum chart_reduce { REDUCE_MEAN, REDUCE_MAX };

struct chart_line {
    const char *name;     /* for the legend; as short as "p99" */
    const double *values; /* borrowed */
    size_t count;
    enum paint paint;
    enum chart_reduce reduce;
    double now; /* the figure that the legend shows; NaN: "-" */
};

/* Something that happened: a vertical line with a letter or a word on top. */
struct chart_mark {
    double at_s;
    const char *label;
};

struct chart {
    const char *title;
    enum chart_form form;
    enum quantity quantity;
    const char *per; /* after a figure: "/s", or "" */
    bool is_log;     /* lines only */
    enum ramp ramp, ramp_below;
    double start_s, step_s; /* the time of values[0], and from one to the next */
    double from_s, to_s;    /* what the picture shows */
    double least_top;       /* the axis reaches at least here; 0: as far as values go */
    const struct chart_line *lines;
    size_t line_count;
    const struct chart_mark *marks;
    size_t mark_count;
    const char *empty; /* what stands in the plot without values; NULL: "no data yet" */
    bool focused;      /* the chart that is chosen */
};

void chart_draw(struct canvas *c, struct area a, const struct chart *chart);

/*
 * A span of time that shows `seconds` and is round, so that the picture does not change
 * its scale with every step: 5, 10, 20, 30, 60, 120, 300 s and so on.
 */
double chart_span(double seconds);

#endif
