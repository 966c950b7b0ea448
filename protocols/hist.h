/*
 * A log-linear latency histogram in the scheme of HdrHistogram (Gil Tene,
 * http://hdrhistogram.org): three significant decimal digits over 1 ns to 1 h,
 * constant memory, no sampling, no cap on the count.
 *
 * Values below 2048 have a bucket each. Above, each power of two is cut into 1024
 * equal buckets, so a bucket is never wider than 1/1024 of the values in it: the
 * relative error of a quantile is below 0.1 %. The layout is HdrHistogram's own
 * for (lowest 1, highest 3,600,000,000,000, 3 digits): index i here is index i
 * there, which is what the exports rely on.
 *
 * A value above the range is counted in the bucket of HIST_MAX_NS and in `saturated`;
 * `max` stays exact. 0 is a value like any other and has a bucket of its own.
 */
#ifndef PROTOCOLS_HIST_H
#define PROTOCOLS_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_HALF_BITS 10
#define HIST_HALF (1u << HIST_HALF_BITS) /* buckets in a power of two */
#define HIST_MAX_NS 3600000000000ull     /* 1 h */
#define HIST_BUCKETS (33u * HIST_HALF)   /* 33,792: 264 KiB of counters */

struct hist {
    uint64_t count;
    uint64_t saturated; /* values over HIST_MAX_NS, in that value's bucket */
    uint64_t min;       /* exact; UINT64_MAX while count is 0 */
    uint64_t max;       /* exact; 0 while count is 0 */
    double sum;         /* of the exact values, for the mean */
    double sum_squares; /* for the standard deviation */
    uint32_t low, high; /* the first and last used bucket; low > high while count is 0 */
    uint64_t buckets[HIST_BUCKETS];
};

/* The bucket of a value; that of HIST_MAX_NS for values above the range. */
static inline uint32_t hist_index(uint64_t value)
{
    uint32_t shift;

    if (value < 2 * HIST_HALF)
        return (uint32_t)value;
    if (value > HIST_MAX_NS)
        value = HIST_MAX_NS;
    shift = 63u - (uint32_t)__builtin_clzll(value) - HIST_HALF_BITS;
    return (shift << HIST_HALF_BITS) + (uint32_t)(value >> shift);
}

/* The lowest value that a bucket holds, and how many values it holds. */
uint64_t hist_bucket_low(uint32_t index);
uint64_t hist_bucket_width(uint32_t index);

/* An empty histogram on the heap; NULL when out of memory. hist_free(NULL) is fine. */
struct hist *hist_new(void);
void hist_free(struct hist *h);
void hist_reset(struct hist *h);

/* Record one value n times, n at least 1: what one call did for n messages. */
static inline void hist_record_n(struct hist *h, uint64_t value, uint64_t n)
{
    uint32_t i = hist_index(value);

    h->buckets[i] += n;
    h->count += n;
    h->sum += (double)value * (double)n;
    h->sum_squares += (double)value * (double)value * (double)n;
    if (value > HIST_MAX_NS)
        h->saturated += n;
    if (value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
    if (i < h->low)
        h->low = i;
    if (i > h->high)
        h->high = i;
}

/* Record one value. Defined here: it is on every workload's hot path. */
static inline void hist_record(struct hist *h, uint64_t value)
{
    hist_record_n(h, value, 1);
}

/*
 * Add `from` to `into`: the same as recording every value into one, exactly for all
 * but the two sums, which may be rounded differently.
 */
void hist_merge(struct hist *into, const struct hist *from);

/*
 * The value at quantile q (0..1, others are taken as the nearer end): the highest
 * value of the bucket in which the ceil(q * count)-th smallest value lies, but never
 * above `max`; `min` for q = 0. So it is never below the exact quantile, and above it
 * by less than 1/1024 of it. Where that rank falls on a saturated value, nothing is
 * known but `max`, and this is what it returns. 0 when the histogram is empty: ask
 * `count` first.
 */
uint64_t hist_quantile(const struct hist *h, double q);

/*
 * From the exact values, not from the buckets. NaN when the histogram is empty. The
 * standard deviation is the population's (divided by count).
 */
double hist_mean(const struct hist *h);
double hist_stdev(const struct hist *h);

/*
 * How many recorded values are at or below `value`, to bucket resolution: all values
 * in its bucket count as at or below. Saturated ones count from `max` on.
 */
uint64_t hist_count_at_or_below(const struct hist *h, uint64_t value);

/* The quantiles that a summary holds. X(name, q) */
#define QUANTILES(X) \
    X(p50, 0.5)      \
    X(p75, 0.75) X(p90, 0.9) X(p95, 0.95) X(p99, 0.99) X(p99_9, 0.999) X(p99_99, 0.9999)

/*
 * What is kept of a histogram whose buckets are let go: all zero when it was empty, so
 * ask `count` first.
 */
struct hist_summary {
    uint64_t count;
    uint64_t
        open;     /* beside these: taken in as having no end yet (protocols/survival.h) */
    double known; /* with such: quantiles above this one are bounds from below */
    double sum;   /* of what is counted */
    double mean, stdev;
    uint64_t min, max;
#define X(name, q) uint64_t name;
    QUANTILES(X)
#undef X
};

/* NULL is taken for an empty one. */
void hist_summarise(struct hist_summary *summary, const struct hist *h);

/*
 * The sparse text form, used on the channel and in recordings:
 *
 *   MIN MAX SATURATED SUM SUMSQUARES;STEP COUNT STEP COUNT ...
 *
 * one pair for each used bucket in order, STEP the distance from the previous used
 * bucket (from bucket 0 for the first). The sums are exact, as hexadecimal floats
 * without a radix point ("0x1a3p7" is 0x1a3 * 2^7; the mantissa is odd, or zero), so
 * that the text does not depend on the locale. All other numbers are decimal. An
 * empty histogram is the empty text. There is one text for each histogram.
 *
 * hist_encode writes at most `size` bytes with the final NUL and returns the
 * length that was needed without it, as snprintf(3) does. hist_decode ADDS what the
 * text says to `h`; it returns 0, or -EINVAL on a text that hist_encode cannot
 * have written or that would overflow the count, in which case h is unchanged.
 */
size_t hist_encode(const struct hist *h, char *text, size_t size);
int hist_decode(struct hist *h, const char *text);

#endif
