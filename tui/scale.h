/*
 * The axes of charts: round ticks (1, 2 or 5 times a power of ten) and labels with
 * units that fit a narrow column. A *scale* maps values to 0..1 between its two ends,
 * which are ticks themselves.
 */
#ifndef TUI_SCALE_H
#define TUI_SCALE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* A value that is not known. (NAN alone is a float.) */
#define UNKNOWN ((double)NAN)

/* What a value is, for its label. */
enum quantity {
    QUANTITY_COUNT,    /* 12k */
    QUANTITY_BYTES,    /* 1.5 GB */
    QUANTITY_DURATION, /* in ns: 250 µs */
    QUANTITY_SECONDS,  /* in s: 90 s, 2:30 from a hundred on */
    QUANTITY_PERCENT,  /* 40 % */
};

#define SCALE_TICKS 12
#define SCALE_LABEL 16 /* bytes that hold any label */

struct scale {
    bool is_log;
    double low, high; /* high > low; low > 0 on a log scale */
    size_t ticks;
    double tick[SCALE_TICKS]; /* ascending, within low..high */
};

/*
 * A linear scale from 0 to at least `high`, with at most `ticks` ticks (2 or more).
 * high of 0 or less, or NaN, gives 0..1.
 */
struct scale scale_linear(double high, size_t ticks);

/* A scale of time: from low to high exactly, ticks only where they are round. */
struct scale scale_span(double low, double high, size_t ticks);

/* A log scale that holds low..high and spans a factor of ten at least. */
struct scale scale_log(double low, double high, size_t ticks);

/* 0 at low, 1 at high; outside values are not clamped; NaN stays NaN. */
double scale_place(const struct scale *s, double value);

/* At most three significant digits: "1.5 GB", "250 µs", "12k". NaN gives "-". */
void scale_label(enum quantity q, double value, char out[SCALE_LABEL]);

#endif
