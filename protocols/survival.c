#include "protocols/survival.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double quantiles[] = {
#define X(name, q) q,
    QUANTILES(X)
#undef X
};

#define COUNT (sizeof(quantiles) / sizeof(quantiles[0]))

/* The two together, walked from the shortest time to the longest. */
struct walk {
    const struct hist *ended, *open;
    uint64_t gone; /* as ended or as open, at shorter times */
    double surviving;
    double sum, squares;    /* of the times, each with its share */
    uint64_t values[COUNT]; /* of the quantiles that were reached */
    size_t reached;
};

static uint64_t total(const struct walk *w)
{
    return w->ended->count + w->open->count;
}

static uint64_t longest(const struct walk *w)
{
    return w->ended->max > w->open->max ? w->ended->max : w->open->max;
}

static uint64_t bucket_high(uint32_t index, uint64_t max)
{
    uint64_t high = hist_bucket_low(index) + hist_bucket_width(index) - 1;

    return high < max ? high : max;
}

/* What ends here is a part of those that have been watched for so long. */
static void take_bucket(struct walk *w, uint32_t index)
{
    uint64_t ended = w->ended->buckets[index];
    double left = (double)(total(w) - w->gone);
    double middle =
        (double)hist_bucket_low(index) + (double)(hist_bucket_width(index) - 1) / 2;
    double share = ended ? w->surviving * (double)ended / left : 0;

    w->sum += share * middle;
    w->squares += share * middle * middle;
    w->surviving = ended == total(w) - w->gone ? 0 : w->surviving - share;
    w->gone += ended + w->open->buckets[index];
    while (ended && w->reached < COUNT &&
           1 - w->surviving >= quantiles[w->reached] * (1 - 1e-12))
        w->values[w->reached++] = bucket_high(index, w->ended->max);
}

/* The least that the time at a rank can be, from the shortest: its bucket's begin. */
static uint64_t least_at(const struct walk *w, double q)
{
    uint64_t rank = (uint64_t)ceil(q * (double)total(w) * (1 - 1e-12)), seen = 0;

    for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
        seen += w->ended->buckets[i] + w->open->buckets[i];
        if (seen >= rank && seen)
            return hist_bucket_low(i);
    }
    return longest(w);
}

static void fill_bounds(struct walk *w)
{
    uint64_t floor = w->ended->count ? w->ended->max : w->open->min;

    for (size_t i = w->reached; i < COUNT; i++) {
        uint64_t least = least_at(w, quantiles[i]);

        w->values[i] = least > floor ? least : floor;
    }
}

static void fill(struct hist_summary *s, const struct walk *w)
{
    double rest = (double)longest(w);
    double mean = w->sum + w->surviving * rest;
    double squares = w->squares + w->surviving * rest * rest;
    size_t i = 0;

    s->open = w->open->count;
    s->known = 1 - w->surviving;
    s->count = w->ended->count;
    s->min = s->count ? w->ended->min : w->open->min;
    s->max = longest(w);
    s->mean = fmin(fmax(mean, (double)s->min), (double)s->max);
    s->stdev = sqrt(fmax(0, squares - mean * mean));
#define X(name, q) s->name = w->values[i++];
    QUANTILES(X)
#undef X
}

void survival_summarise(struct hist_summary *s, const struct hist *ended,
                        const struct hist *open)
{
    static const struct hist nothing = {.min = UINT64_MAX, .low = 1};
    struct walk w = {.ended = ended ? ended : &nothing, .open = open, .surviving = 1};

    hist_summarise(s, ended);
    if (!open || !open->count)
        return;
    for (uint32_t i = 0; i < HIST_BUCKETS; i++)
        if (w.ended->buckets[i] || open->buckets[i])
            take_bucket(&w, i);
    fill_bounds(&w);
    fill(s, &w);
}

uint64_t survival_overdue(const struct hist *ended, const struct hist *open)
{
    uint64_t young_ns = SURVIVAL_YOUNG_NS;

    if (!open || !open->count)
        return 0;
    if (ended && ended->count && 2 * hist_quantile(ended, 0.99) > young_ns)
        young_ns = 2 * hist_quantile(ended, 0.99);
    return open->count - hist_count_at_or_below(open, young_ns);
}
