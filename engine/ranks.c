#include "engine/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/statistics.h"

#define HALF_ALPHA 0.025
#define Z 1.959964 /* the normal quantile of 1 - HALF_ALPHA */

/*
 * Twice the rank of each of `values` among them, ties sharing the mean of theirs, so
 * that all are whole. `sorted` is scratch of the same size. Returns the sum of t^3 - t
 * over groups of t ties, which the normal approximation needs.
 */
static double double_ranks(const double *values, double *sorted, size_t n,
                           uint32_t *ranks)
{
    double ties = 0;

    for (size_t i = 0; i < n; i++)
        sorted[i] = values[i];
    statistics_sort(sorted, n);
    for (size_t i = 0; i < n; i++) {
        size_t first = 0, last;

        while (sorted[first] < values[i])
            first++;
        for (last = first; last + 1 < n && sorted[last + 1] <= values[i];)
            last++;
        ranks[i] = (uint32_t)(first + last + 2);
        ties += pow((double)(last - first + 1), 2) - 1; /* t^3 - t over its t members */
    }
    return ties;
}

/* P(|Z| >= z) of the standard normal distribution. */
static double normal_tails(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

/* The share of the `total` ways whose sum is at least as far from the middle. */
static double tails(const double *ways, size_t sums, double middle, double seen)
{
    double far = 0, total = 0;

    for (size_t s = 0; s < sums; s++) {
        total += ways[s];
        if (fabs((double)s - middle) >= fabs(seen - middle) - 1e-9)
            far += ways[s];
    }
    return far / total;
}

/* Two independent sets. */

/*
 * How many of the choices of n among the ranks have each sum: the table's last row is
 * that of n. Each rank is either chosen or not, so counts of k follow from those of
 * k - 1 without it; going down in k uses each rank once.
 */
static double *ways_of_choosing(const uint32_t *ranks, size_t count, size_t n,
                                size_t *sums)
{
    double *table;
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += ranks[i];
    *sums = total + 1;
    table = calloc((n + 1) * *sums, sizeof(*table));
    if (!table)
        return NULL;
    table[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = n; k >= 1; k--)
            for (size_t s = ranks[i]; s < *sums; s++)
                table[k * *sums + s] += table[(k - 1) * *sums + s - ranks[i]];
    return table;
}

static int unpaired_p(const uint32_t *ranks, size_t n, size_t m, double ties, double *p)
{
    size_t count = n + m, sums;
    double seen = 0, middle = (double)(n * (count + 1)); /* both of doubled ranks */
    double *table;

    for (size_t i = 0; i < n; i++)
        seen += ranks[i];
    if (count > RANKS_EXACT) {
        double big = (double)count;
        double variance =
            (double)n * (double)m / 12 * (big + 1 - ties / (big * (big - 1)));

        /* Half a rank is a whole one here, doubled: the correction for steps. */
        *p = variance > 0
                 ? normal_tails(fmax(0, fabs(seen - middle) / 2 - 0.5) / sqrt(variance))
                 : 1;
        return 0;
    }
    table = ways_of_choosing(ranks, count, n, &sums);
    if (!table)
        return -ENOMEM;
    *p = tails(table + n * sums, sums, middle, seen);
    free(table);
    return 0;
}

/*
 * How many of the sorted differences lie outside the interval at each end, from 1 (the
 * outermost one bounds it); 0 when there is no interval. By the distribution of U, which
 * is that of the sum of untied ranks less its least value n (n + 1) / 2.
 */
static int unpaired_bound(size_t n, size_t m, size_t *bound)
{
    uint32_t ranks[RANKS_EXACT];
    double below = 0, total = 0;
    size_t sums, least = n * (n + 1) / 2;
    double *table;

    *bound = 0;
    if (n + m > RANKS_EXACT) {
        double deviation = sqrt((double)n * (double)m * (double)(n + m + 1) / 12);
        double k = floor((double)n * (double)m / 2 - Z * deviation);

        *bound = k >= 1 ? (size_t)k : 0;
        return 0;
    }
    for (size_t i = 0; i < n + m; i++)
        ranks[i] = (uint32_t)i + 1;
    table = ways_of_choosing(ranks, n + m, n, &sums);
    if (!table)
        return -ENOMEM;
    for (size_t s = 0; s < sums; s++)
        total += table[n * sums + s];
    for (size_t u = 0; u <= n * m; u++) {
        below += table[n * sums + least + u];
        if (below / total > HALF_ALPHA)
            break;
        *bound = u + 1;
    }
    free(table);
    return 0;
}

/* Estimate and interval from the sorted differences. */
static void take_interval(const double *sorted, size_t count, size_t bound,
                          struct shift *shift)
{
    shift->estimate = statistics_median(sorted, count);
    if (!bound || 2 * bound > count)
        return;
    shift->low = sorted[bound - 1];
    shift->high = sorted[count - bound];
}

int ranks_unpaired(const double *a, size_t n, const double *b, size_t m,
                   struct shift *shift)
{
    size_t count = n + m, bound;
    double *pool = calloc(2 * count + n * m + 1, sizeof(*pool));
    double *sorted = pool + count, *differences = pool + 2 * count;
    uint32_t *ranks = calloc(count + 1, sizeof(*ranks));
    double ties;
    int rc = pool && ranks ? 0 : -ENOMEM;

    *shift = (struct shift){(double)NAN, (double)NAN, (double)NAN, 1};
    if (rc == 0 && n && m) {
        for (size_t i = 0; i < count; i++)
            pool[i] = i < n ? a[i] : b[i - n];
        ties = double_ranks(pool, sorted, count, ranks);
        for (size_t i = 0; i < n * m; i++)
            differences[i] = b[i % m] - a[i / m];
        statistics_sort(differences, n * m);
        rc = unpaired_p(ranks, n, m, ties, &shift->p);
        if (rc == 0)
            rc = unpaired_bound(n, m, &bound);
        if (rc == 0)
            take_interval(differences, n * m, bound, shift);
    }
    free(ranks);
    free(pool);
    return rc;
}

/* Pairs. */

/* How many of the 2^n choices of signs give each sum of the ranks that are positive. */
static double *ways_of_signs(const uint32_t *ranks, size_t n, size_t *sums)
{
    size_t total = 0;
    double *ways;

    for (size_t i = 0; i < n; i++)
        total += ranks[i];
    *sums = total + 1;
    ways = calloc(*sums, sizeof(*ways));
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t s = *sums - 1; s + 1 > ranks[i]; s--)
            ways[s] += ways[s - ranks[i]];
    return ways;
}

/* Pairs without a difference say nothing and are left out. */
static int paired_p(const double *differences, size_t n, double *p)
{
    double *sizes = calloc(2 * n + 1, sizeof(*sizes));
    uint32_t *ranks = calloc(n + 1, sizeof(*ranks));
    double *signs = calloc(n + 1, sizeof(*signs));
    double seen = 0, middle = 0, squares = 0;
    double *ways = NULL;
    size_t count = 0, sums;
    int rc = sizes && ranks && signs ? 0 : -ENOMEM;

    *p = 1;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (differences[i] != 0) {
            signs[count] = differences[i];
            sizes[count++] = fabs(differences[i]);
        }
    if (rc == 0 && count) {
        double_ranks(sizes, sizes + n, count, ranks);
        for (size_t i = 0; i < count; i++) {
            seen += signs[i] > 0 ? ranks[i] : 0;
            middle += ranks[i] / 2.0;
            squares += (double)ranks[i] * ranks[i];
        }
        if (count > RANKS_EXACT)
            *p = normal_tails(fmax(0, fabs(seen - middle) - 1) / sqrt(squares / 4));
        else if (!(ways = ways_of_signs(ranks, count, &sums)))
            rc = -ENOMEM;
        else
            *p = tails(ways, sums, middle, seen);
    }
    free(ways);
    free(signs);
    free(ranks);
    free(sizes);
    return rc;
}

/* As unpaired_bound, of the sorted Walsh averages. */
static int paired_bound(size_t n, size_t *bound)
{
    uint32_t ranks[RANKS_EXACT];
    double below = 0;
    double *ways;
    size_t sums;

    *bound = 0;
    if (n > RANKS_EXACT) {
        double big = (double)n;
        double k =
            floor(big * (big + 1) / 4 - Z * sqrt(big * (big + 1) * (2 * big + 1) / 24));

        *bound = k >= 1 ? (size_t)k : 0;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        ranks[i] = (uint32_t)i + 1;
    ways = ways_of_signs(ranks, n, &sums);
    if (!ways)
        return -ENOMEM;
    for (size_t s = 0; s < sums; s++) {
        below += ways[s] / exp2((double)n);
        if (below > HALF_ALPHA)
            break;
        *bound = s + 1;
    }
    free(ways);
    return 0;
}

int ranks_paired(const double *a, const double *b, size_t n, struct shift *shift)
{
    size_t walsh_count = n * (n + 1) / 2, k = 0, bound = 0;
    double *differences = calloc(n + walsh_count + 1, sizeof(*differences));
    double *walsh = differences + n;
    int rc = differences ? 0 : -ENOMEM;

    *shift = (struct shift){(double)NAN, (double)NAN, (double)NAN, 1};
    if (rc == 0 && n) {
        for (size_t i = 0; i < n; i++)
            differences[i] = b[i] - a[i];
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++)
                walsh[k++] = (differences[i] + differences[j]) / 2;
        statistics_sort(walsh, walsh_count);
        rc = paired_p(differences, n, &shift->p);
        if (rc == 0)
            rc = paired_bound(n, &bound);
        if (rc == 0)
            take_interval(walsh, walsh_count, bound, shift);
    }
    free(differences);
    return rc;
}

/* The smallest is multiplied by n, the next by n - 1, and none falls below one before. */
void ranks_holm(double *p, size_t n)
{
    double largest = 0;
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        left += !isnan(p[i]);
    /* Those that are done are kept as 2 + p until the end, out of the search's way. */
    for (; left; left--) {
        size_t least = n;

        for (size_t i = 0; i < n; i++)
            if (p[i] < 2 && (least == n || p[i] < p[least]))
                least = i;
        largest = fmax(largest, fmin(1, p[least] * (double)left));
        p[least] = 2 + largest;
    }
    for (size_t i = 0; i < n; i++)
        p[i] -= isnan(p[i]) ? 0 : 2;
}
