#include "protocols/hist.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void mark_empty(struct hist *h)
{
    h->count = 0;
    h->saturated = 0;
    h->min = UINT64_MAX;
    h->max = 0;
    h->sum = 0;
    h->sum_squares = 0;
    h->low = HIST_BUCKETS;
    h->high = 0;
}

struct hist *hist_new(void)
{
    struct hist *h = calloc(1, sizeof(*h));

    if (h)
        mark_empty(h);
    return h;
}

void hist_free(struct hist *h)
{
    free(h);
}

void hist_reset(struct hist *h)
{
    if (h->count)
        memset(&h->buckets[h->low], 0, (h->high - h->low + 1) * sizeof(h->buckets[0]));
    mark_empty(h);
}

/* log2 of a bucket's width: see the layout at the top of the header. */
static uint32_t bucket_shift(uint32_t index)
{
    return index < 2 * HIST_HALF ? 0 : (index >> HIST_HALF_BITS) - 1;
}

uint64_t hist_bucket_low(uint32_t index)
{
    uint32_t shift = bucket_shift(index);

    return (uint64_t)(index - (shift << HIST_HALF_BITS)) << shift;
}

uint64_t hist_bucket_width(uint32_t index)
{
    return 1ull << bucket_shift(index);
}

static uint64_t bucket_high(uint32_t index)
{
    return hist_bucket_low(index) + hist_bucket_width(index) - 1;
}

/* A histogram without its buckets. */
struct head {
    uint64_t count, saturated, min, max;
    double sum, sum_squares;
    uint32_t low, high;
};

static void add_head(struct hist *into, const struct head *from)
{
    into->count += from->count;
    into->saturated += from->saturated;
    into->sum += from->sum;
    into->sum_squares += from->sum_squares;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    if (from->low < into->low)
        into->low = from->low;
    if (from->high > into->high)
        into->high = from->high;
}

void hist_merge(struct hist *into, const struct hist *from)
{
    struct head head = {
        .count = from->count,
        .saturated = from->saturated,
        .min = from->min,
        .max = from->max,
        .sum = from->sum,
        .sum_squares = from->sum_squares,
        .low = from->low,
        .high = from->high,
    };

    for (uint32_t i = from->low; i <= from->high; i++)
        into->buckets[i] += from->buckets[i];
    add_head(into, &head);
}

/*
 * ceil(q * count), 1..count. q is taken one step of the floating point down, since
 * 0.07 * 100 is 7.000000000000001 and must not ask for the 8th value.
 */
static uint64_t rank_of(double q, uint64_t count)
{
    double rank = ceil(nextafter(q, 0) * (double)count);

    if (!(rank >= 1))
        return 1;
    return rank >= (double)count ? count : (uint64_t)rank;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
    uint64_t rank, seen = 0;

    if (h->count == 0)
        return 0;
    if (!(q > 0))
        return h->min;
    rank = q >= 1 ? h->count : rank_of(q, h->count);
    if (rank > h->count - h->saturated)
        return h->max;
    for (uint32_t i = h->low; i <= h->high; i++) {
        seen += h->buckets[i];
        if (seen >= rank)
            return bucket_high(i) < h->max ? bucket_high(i) : h->max;
    }
    return h->max;
}

double hist_mean(const struct hist *h)
{
    double mean;

    if (h->count == 0)
        return (double)NAN;
    /* The rounding of the sum must not lead out of min..max. */
    mean = h->sum / (double)h->count;
    return fmin(fmax(mean, (double)h->min), (double)h->max);
}

double hist_stdev(const struct hist *h)
{
    double mean, variance, half_range;

    if (h->count == 0)
        return (double)NAN;
    mean = h->sum / (double)h->count;
    variance = h->sum_squares / (double)h->count - mean * mean;
    /*
     * The difference cancels where the spread is tiny beside the mean. No set of
     * values deviates by more than half its range (Popoviciu's inequality), so what
     * rounding leaves is bounded; for equal values the result is 0.
     */
    half_range = (double)(h->max - h->min) / 2;
    return variance > 0 ? fmin(sqrt(variance), half_range) : 0;
}

uint64_t hist_count_at_or_below(const struct hist *h, uint64_t value)
{
    uint32_t last = hist_index(value);
    uint64_t sum = 0;

    if (value >= h->max)
        return h->count;
    if (value < h->min)
        return 0;
    for (uint32_t i = h->low; i <= h->high && i <= last; i++)
        sum += h->buckets[i];
    /* Saturated values stand in the last bucket, but they are higher than it. */
    return last >= h->high ? sum - h->saturated : sum;
}

/* The text form: writing. */

struct writer {
    char *text;
    size_t size;
    size_t len; /* of the whole text, also where it does not fit */
};

static void put_char(struct writer *w, char c)
{
    if (w->len + 1 < w->size)
        w->text[w->len] = c;
    w->len++;
}

static void put_digits(struct writer *w, uint64_t n, unsigned base)
{
    char digits[20];
    int len = 0;

    do {
        digits[len++] = "0123456789abcdef"[n % base];
        n /= base;
    } while (n);
    while (len)
        put_char(w, digits[--len]);
}

static void put_number(struct writer *w, uint64_t n, char end)
{
    put_digits(w, n, 10);
    put_char(w, end);
}

/* A double that is a natural number, as both sums are: an odd mantissa and 2^n. */
static void put_double(struct writer *w, double value, char end)
{
    int exponent = 0;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);

    exponent -= 53;
    while (mantissa && !(mantissa & 1)) {
        mantissa >>= 1;
        exponent++;
    }
    put_char(w, '0');
    put_char(w, 'x');
    put_digits(w, mantissa, 16);
    put_char(w, 'p');
    put_number(w, mantissa ? (uint64_t)exponent : 0, end);
}

size_t hist_encode(const struct hist *h, char *text, size_t size)
{
    struct writer w = {.text = text, .size = size};
    uint32_t previous = 0;

    if (h->count) {
        put_number(&w, h->min, ' ');
        put_number(&w, h->max, ' ');
        put_number(&w, h->saturated, ' ');
        put_double(&w, h->sum, ' ');
        put_double(&w, h->sum_squares, ';');
        for (uint32_t i = h->low; i <= h->high; i++) {
            if (!h->buckets[i])
                continue;
            put_number(&w, i - previous, ' ');
            put_digits(&w, h->buckets[i], 10);
            if (i != h->high)
                put_char(&w, ' ');
            previous = i;
        }
    }
    if (size)
        text[w.len < size ? w.len : size - 1] = '\0';
    return w.len;
}

/* The text form: reading. Each get_ moves *text on, or returns false. */

static bool get_char(const char **text, char c)
{
    if (**text != c)
        return false;
    ++*text;
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return 16;
}

/* Only as put_digits writes it: no sign, no space, no leading zero. */
static bool get_digits(const char **text, unsigned base, uint64_t *n)
{
    const char *start = *text;

    *n = 0;
    for (int d; (d = digit_of(**text)) < (int)base; ++*text)
        if (__builtin_mul_overflow(*n, base, n) || __builtin_add_overflow(*n, d, n))
            return false;
    return *text > start && (*start != '0' || *text == start + 1);
}

static bool get_number(const char **text, uint64_t *n, char end)
{
    return get_digits(text, 10, n) && get_char(text, end);
}

static bool get_double(const char **text, double *value, char end)
{
    uint64_t mantissa, exponent;

    if (!get_char(text, '0') || !get_char(text, 'x') ||
        !get_digits(text, 16, &mantissa) || !get_char(text, 'p') ||
        !get_number(text, &exponent, end))
        return false;
    if (mantissa >> 53 || exponent > 255)
        return false;
    if (mantissa ? !(mantissa & 1) : exponent != 0)
        return false;
    *value = ldexp((double)mantissa, (int)exponent);
    return true;
}

static bool get_head(const char **text, struct head *h)
{
    return get_number(text, &h->min, ' ') && get_number(text, &h->max, ' ') &&
           get_number(text, &h->saturated, ' ') && get_double(text, &h->sum, ' ') &&
           get_double(text, &h->sum_squares, ';');
}

struct pair {
    uint32_t index; /* of the previous pair before, of this one after get_pair */
    uint64_t count;
    bool is_last;
};

static bool get_pair(const char **text, struct pair *p, bool is_first)
{
    uint64_t step;

    if (!get_number(text, &step, ' ') || !get_digits(text, 10, &p->count))
        return false;
    if ((step == 0 && !is_first) || step > hist_index(HIST_MAX_NS) - p->index)
        return false;
    p->index += (uint32_t)step;
    p->is_last = **text == '\0';
    return p->count > 0 && (p->is_last || get_char(text, ' '));
}

/* A sum of `count` values in low..high, with room for rounding. */
static bool is_plausible(double sum, double low, double high, uint64_t count)
{
    return sum >= 0.999 * low * (double)count && sum <= 1.001 * high * (double)count;
}

/* Whether the head agrees with the buckets; `last` is the last pair's count. */
static bool is_consistent(const struct head *head, uint64_t last)
{
    double min = (double)head->min, max = (double)head->max;

    if (head->min > head->max || hist_index(head->min) != head->low ||
        hist_index(head->max) != head->high)
        return false;
    if (head->saturated > last || (head->max > HIST_MAX_NS) != (head->saturated > 0) ||
        (head->min > HIST_MAX_NS) != (head->saturated == head->count))
        return false;
    return is_plausible(head->sum, min, max, head->count) &&
           is_plausible(head->sum_squares, min * min, max * max, head->count);
}

/* Read the whole text without keeping the buckets; fill the head. */
static bool check_text(const char *text, struct head *head)
{
    struct pair p = {0};

    if (!get_head(&text, head))
        return false;
    for (bool is_first = true; !p.is_last; is_first = false) {
        if (!get_pair(&text, &p, is_first) ||
            __builtin_add_overflow(head->count, p.count, &head->count))
            return false;
        if (is_first)
            head->low = p.index;
    }
    head->high = p.index;
    return is_consistent(head, p.count);
}

int hist_decode(struct hist *h, const char *text)
{
    struct head head = {0};
    struct pair p = {0};
    uint64_t sum;

    if (*text == '\0')
        return 0;
    if (!check_text(text, &head) || __builtin_add_overflow(h->count, head.count, &sum))
        return -EINVAL;
    text = strchr(text, ';') + 1;
    for (bool is_first = true; !p.is_last; is_first = false) {
        get_pair(&text, &p, is_first);
        h->buckets[p.index] += p.count;
    }
    add_head(h, &head);
    return 0;
}

void hist_summarise(struct hist_summary *summary, const struct hist *h)
{
    memset(summary, 0, sizeof(*summary));
    if (!h || !h->count)
        return;
    summary->count = h->count;
    summary->sum = h->sum;
    summary->mean = hist_mean(h);
    summary->stdev = hist_stdev(h);
    summary->min = h->min;
    summary->max = h->max;
#define X(name, q) summary->name = hist_quantile(h, q);
    QUANTILES(X)
#undef X
}
