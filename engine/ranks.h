/*
 * How far apart two sets of values are, without assuming how they are distributed: the
 * rank tests of Mann and Whitney (1947) for two independent sets and of Wilcoxon (1945)
 * for pairs, each with the estimate and the interval of Hodges and Lehmann (1963).
 *
 *   unpaired   estimate: the median of all differences b[j] - a[i]
 *   paired     estimate: the median of the means of two differences b[i] - a[i], each
 *              with itself as well (Walsh averages)
 *
 * The probability is exact, ties among the values included, up to RANKS_EXACT values;
 * beyond, it is that of the normal approximation. So are the ranks that bound the
 * interval; its coverage is at least 95 %. Few values have no such interval at all: four
 * on each side, or six pairs, are the least.
 */
#ifndef ENGINE_RANKS_H
#define ENGINE_RANKS_H

#include <stddef.h>

#define RANKS_EXACT 60 /* values in all, or pairs */

struct shift {
    double estimate;  /* of b less a, in the values' unit; NaN without values */
    double low, high; /* the 95 % interval; NaN where there are too few values for one */
    double p;         /* two-sided: so far apart by chance alone; 1 without values */
};

/* 0 or -ENOMEM. */
int ranks_unpaired(const double *a, size_t n, const double *b, size_t m,
                   struct shift *shift);
int ranks_paired(const double *a, const double *b, size_t n, struct shift *shift);

/*
 * Adjust probabilities for being the smallest of several (Holm, 1979): the chance of any
 * false finding among them is kept. In place; NaN ones are left out.
 */
void ranks_holm(double *p, size_t n);

#endif
