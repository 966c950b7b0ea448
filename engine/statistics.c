#include "engine/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "protocols/array.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t n)
{
    if (n)
        qsort(values, n, sizeof(*values), ascending);
}

double statistics_median(const double *sorted, size_t n)
{
    return n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : (double)NAN;
}

#define ORDER_LEAST 6 /* values whose extremes hold the median with 95 % at least */

/* Student's t for a two-sided 95 % interval, by degrees of freedom from 1. */
static const double t_quantiles[ORDER_LEAST - 2] = {12.7062, 4.3027, 3.1824, 2.7764};

/*
 * The k-th lowest and the k-th highest value hold the median but for twice the chance
 * that fewer than k of n tosses of a coin are heads. Returns the largest k for which that
 * is 5 % at most.
 */
static size_t order_of(size_t n)
{
    double log_chance = -(double)n * M_LN2; /* of k heads */
    double below = 0;
    size_t k = 0;

    while (k < n / 2 && below + exp(log_chance) <= 0.025) {
        below += exp(log_chance);
        log_chance += log((double)(n - k) / (double)(k + 1));
        k++;
    }
    return k;
}

static void interval_of_orders(struct statistics *s, const double *sorted)
{
    size_t k = order_of(s->n);

    s->ci95_low = sorted[k - 1];
    s->ci95_high = sorted[s->n - k];
}

/* The mean of the logarithms is that of the median, in a log-normal distribution. */
static void interval_of_logarithms(struct statistics *s, const double *sorted)
{
    double n = (double)s->n;
    double mean = 0, squares = 0, half;

    for (size_t i = 0; i < s->n; i++)
        mean += log(sorted[i]) / n;
    for (size_t i = 0; i < s->n; i++)
        squares += pow(log(sorted[i]) - mean, 2);
    half = t_quantiles[s->n - 2] * sqrt(squares / (n - 1) / n);
    s->ci95_low = exp(mean - half);
    s->ci95_high = exp(mean + half);
}

static void find_interval(struct statistics *s, const double *sorted)
{
    if (s->n >= ORDER_LEAST) {
        interval_of_orders(s, sorted);
    } else if (s->min == s->max) {
        s->ci95_low = s->ci95_high = s->median;
    } else if (s->min > 0) {
        interval_of_logarithms(s, sorted);
    }
}

const char *statistics_method(const struct statistics *s)
{
    return isnan(s->ci95_low)    ? ""
           : s->n >= ORDER_LEAST ? "order statistics"
                                 : "Student's t on the logarithms";
}

void statistics_of(const double *values, size_t n, struct statistics *s)
{
    double *sorted = malloc((n ? n : 1) * sizeof(*sorted));
    double squares = 0;

    *s = (struct statistics){n,           (double)NAN, (double)NAN,
                             (double)NAN, (double)NAN, (double)NAN,
                             (double)NAN, (double)NAN, false};
    if (!sorted)
        return;
    if (!n) {
        free(sorted);
        return;
    }
    s->mean = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = values[i];
        s->mean += values[i] / (double)n;
    }
    statistics_sort(sorted, n);
    s->min = sorted[0];
    s->max = sorted[n - 1];
    s->median = statistics_median(sorted, n);
    for (size_t i = 0; i < n; i++)
        squares += pow(values[i] - s->mean, 2);
    if (n > 1) {
        s->stdev = sqrt(squares / (double)(n - 1));
        find_interval(s, sorted);
    }
    free(sorted);
}
