/*
 * The samples of a run as a series of equal steps, for the charts: what the console
 * draws and what the exports list. It has SERIES_SLOTS slots; when a run outgrows them,
 * neighbours are added together and the step doubles, so a series covers its whole run
 * in constant memory, however long it is. A slot that no sample fell into is a gap,
 * never a zero.
 */
#ifndef ENGINE_SERIES_H
#define ENGINE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/intervals.h"
#include "engine/place.h"
#include "engine/sample.h"

#define SERIES_SLOTS 2048
#define SERIES_LABELS 8 /* labels told apart; the last one collects the rest */
#define SERIES_OCTAVES 43
#define SERIES_SUB 8 /* latency buckets in a power of two: 12 % wide at most */
#define SERIES_BUCKETS (SERIES_OCTAVES * SERIES_SUB)
#define SERIES_MARKS 64
#define SERIES_EDGE_NS (SAMPLE_STEP_NS / 2) /* after a mark, until a worker has heard */

/* The samples of one place in one slot. */
struct series_place {
    uint64_t span_ns;  /* time covered, once however many processes cover it */
    uint64_t until_ns; /* the end of what is covered, in the series' time */
    uint32_t samples;  /* 0: a gap */
    struct meter_counters counters;
    struct meter_gauges gauges; /* the last known */
    struct process_use use;
};

struct series_slot {
    struct series_place places[PLACE_COUNT];
    uint64_t labels[SERIES_LABELS]; /* messages received, by label */
    uint64_t latency_max_ns;
    uint32_t latency_count;
    uint32_t latency[SERIES_BUCKETS]; /* of the place that records the headline */
};

/* Something that happened, for the charts: a live change, a pause, a user's mark. */
struct series_mark {
    uint64_t at_ns;
    char text[48];
};

struct series {
    uint64_t step_ns;
    size_t used; /* slots from 0 that may hold something */
    size_t label_count;
    char labels[SERIES_LABELS][TALLY_NAME_MAX];
    uint64_t marks_ever; /* with those that gave way */
    size_t mark_count;
    struct series_mark marks[SERIES_MARKS];
    struct series_slot *slots;
    struct series_slot *segments; /* one more than there are marks */
    struct intervals *intervals;  /* the headline latencies, whole */
};

struct series *series_new(void); /* NULL when out of memory */
void series_free(struct series *s);

/*
 * Add a sample of a process at `place`, whose clock zero lies at origin_ns of the
 * series' time. It goes into the slot in which the middle of its span lies, whole; a
 * short one, which is what is left over at the end, into the slot of the one before.
 * `headline` says whether this place records the headline latency.
 */
void series_add(struct series *s, enum place place, uint64_t origin_ns,
                const struct sample *sample, bool headline);

/*
 * Add what came after: counts and spans add up, and what is a state (gauges, open
 * descriptors) becomes the later one. A gap changes nothing.
 */
void series_place_add(struct series_place *into, const struct series_place *later);

/*
 * A mark, before the samples of what follows it. The oldest one gives way when there are
 * SERIES_MARKS of them.
 */
void series_mark(struct series *s, uint64_t at_ns, const char *text);

/*
 * A segment: what lies between two marks, or between a mark and an end of the series.
 * There is one more than there are marks. Its sum is that of the samples that lie in it
 * whole: one that a mark falls into, or that begins within SERIES_EDGE_NS of it, shows
 * both sides of a change and counts for neither. The sum of a short segment may be a gap.
 */
struct series_segment {
    uint64_t from_ns, to_ns;
    const char *text; /* of the mark that it begins with, borrowed; "" for the first */
    struct series_slot sum;
};

/* Fill in segment `i`, 0 to s->mark_count. */
void series_segment(const struct series *s, size_t i, struct series_segment *segment);

/* Per second, NaN in a gap: counter / time covered. */
double series_rate(const struct series_place *p, uint64_t counter);

/* The latency at quantile q of a slot, to bucket resolution; NaN without one. */
double series_latency_ns(const struct series_slot *slot, double q);

/* The lowest latency of a bucket; bucket SERIES_BUCKETS gives the end of the last. */
double series_bucket_ns(size_t bucket);

/* CPU seconds used per second at a place, NaN in a gap: 1 is one core busy. */
double series_cpu(const struct series_place *p);

#endif
