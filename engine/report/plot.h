/*
 * Charts as SVG within HTML: a <figure> with a caption, a legend and one drawing that
 * scales with the page. Lines are told apart by colour and by their dashes. A value that
 * is not a number is a gap in its line.
 */
#ifndef ENGINE_REPORT_PLOT_H
#define ENGINE_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PLOT_LINES 6

struct plot_line {
    const char *name;
    size_t count;
    const double *x, *y; /* borrowed; x ascends */
    const double *low;   /* not NULL: a band from low to high around the line */
    const double *high;
};

/* A vertical line with a text, for what happened at an x. */
struct plot_mark {
    double x;
    const char *text;
};

struct plot {
    const char *title;
    const char *note;      /* beside the title: "log scale"; "" */
    bool log_x, log_y;     /* otherwise y begins at 0 */
    bool filled;           /* the area below the first line */
    bool dots;             /* each point is drawn: for few of them */
    double x_max;          /* NaN: the data's */
    const double *x_ticks; /* NULL: round numbers */
    size_t x_tick_count;
    /* A tick's text. */
    void (*x_text)(double value, char *text, size_t size);
    void (*y_text)(double value, char *text, size_t size);
    size_t line_count;
    struct plot_line lines[PLOT_LINES];
    size_t mark_count;
    const struct plot_mark *marks;
};

/* Nothing is drawn, and false returned, when no line has two values. */
bool plot_figure(FILE *f, const struct plot *p);

/*
 * Round ticks for low..high: at most `most` of them, in steps of 1, 2 or 5 times a power
 * of ten; on a log scale decades, and 2 and 5 between them where few decades are shown.
 * Returns how many.
 */
size_t plot_ticks(double low, double high, bool log_scale, double *ticks, size_t most);

#endif
