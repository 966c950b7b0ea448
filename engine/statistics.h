/*
 * Statistics of a few values, such as one metric over the trials of a run
 * (run_statistics). The values are finite: NaN has no place in an order.
 */
#ifndef ENGINE_STATISTICS_H
#define ENGINE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The standard deviation is that of a sample (n - 1). The interval is of the mean,
 * Student's t, two-sided 95 %. NaN: all but n for no values, and these for a single one.
 */
struct statistics {
    size_t n;
    double median, mean, stdev, min, max, ci95_low, ci95_high;
    bool is_bound; /* run_statistics: median, mean and max are at least that */
};

/* In any order. Without memory for a copy of them, all but n is NaN. */
void statistics_of(const double *values, size_t n, struct statistics *s);

/* Ascending, in place. */
void statistics_sort(double *values, size_t n);

/* Of sorted values: the middle one, or the mean of the middle two. NaN for none. */
double statistics_median(const double *sorted, size_t n);

#endif
