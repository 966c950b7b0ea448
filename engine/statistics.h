/*
 * Statistics of a few values, such as one metric over the trials of a run
 * (run_statistics). The values are finite: NaN has no place in an order.
 */
#ifndef ENGINE_STATISTICS_H
#define ENGINE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The standard deviation is that of a sample (n - 1). The interval is of the median, 95 %
 * two-sided, and within what the values can be: from six values on it is that of their
 * order statistics, which is true of any distribution; of two to five, too few for that,
 * Student's t on the logarithms, which supposes that they are log-normal. Values below
 * six of which some are zero have none. NaN: all but n for no values, and these for a
 * single one.
 */
struct statistics {
    size_t n;
    double median, mean, stdev, min, max, ci95_low, ci95_high;
    bool is_bound; /* run_statistics: median, mean and max are at least that */
};

/* How the interval was found, in few words; "" where there is none. */
const char *statistics_method(const struct statistics *s);

/* The same in a sentence for all that stand beside a table of intervals. */
#define STATISTICS_METHOD                                                     \
    "The 95 % interval is of the median: by order statistics from six trials" \
    " on, of fewer by Student's t on the logarithms"

/* From so many values on it is shown: of two it spans more than ten times their ratio. */
#define STATISTICS_INTERVAL_LEAST 3

/* In any order. Without memory for a copy of them, all but n is NaN. */
void statistics_of(const double *values, size_t n, struct statistics *s);

/* Ascending, in place. */
void statistics_sort(double *values, size_t n);

/* Of sorted values: the middle one, or the mean of the middle two. NaN for none. */
double statistics_median(const double *sorted, size_t n);

#endif
