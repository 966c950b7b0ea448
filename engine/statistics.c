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

/*
 * Student's t for a two-sided 95 % interval: the tabled values for few degrees of
 * freedom, and beyond them the expansion of Abramowitz & Stegun 26.7.5 about the
 * normal quantile 1.959964, all four terms of it, which is right to four decimals there.
 */
static double t_quantile(size_t freedom)
{
    static const double table[] = {
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    };
    const double z = 1.959964;
    double n = (double)freedom;
    double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;

    if (freedom <= NUMBER_OF(table))
        return table[freedom - 1];
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * pow(n, 2)) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * pow(n, 3)) +
           (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * pow(n, 4));
}

void statistics_of(const double *values, size_t n, struct statistics *s)
{
    double *sorted = malloc((n ? n : 1) * sizeof(*sorted));
    double squares = 0;
    double half;

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
        half = t_quantile(n - 1) * s->stdev / sqrt((double)n);
        s->ci95_low = s->mean - half;
        s->ci95_high = s->mean + half;
    }
    free(sorted);
}
