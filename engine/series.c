#include "engine/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct series *series_new(void)
{
    struct series *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->step_ns = SAMPLE_STEP_NS;
    s->slots = calloc(SERIES_SLOTS, sizeof(*s->slots));
    s->segments = calloc(SERIES_MARKS + 1, sizeof(*s->segments));
    s->intervals = intervals_new();
    if (s->slots && s->segments && s->intervals)
        return s;
    series_free(s);
    return NULL;
}

void series_free(struct series *s)
{
    if (!s)
        return;
    free(s->slots);
    free(s->segments);
    intervals_free(s->intervals);
    free(s);
}

void series_place_add(struct series_place *into, const struct series_place *later)
{
    if (!later->samples)
        return;
#define X(name, unit, help) into->counters.name += later->counters.name;
    METER_COUNTERS(X)
#undef X
    into->gauges = later->gauges;
    process_use_add(&into->use, &later->use);
    into->use.open_descriptors = later->use.open_descriptors;
    into->span_ns += later->span_ns;
    into->until_ns = later->until_ns;
    into->samples += later->samples;
}

static void add_slot(struct series_slot *into, const struct series_slot *from)
{
    for (int p = 0; p < PLACE_COUNT; p++)
        series_place_add(&into->places[p], &from->places[p]);
    for (int i = 0; i < SERIES_LABELS; i++)
        into->labels[i] += from->labels[i];
    for (int i = 0; i < SERIES_BUCKETS; i++)
        into->latency[i] += from->latency[i];
    into->latency_count += from->latency_count;
    if (from->latency_max_ns > into->latency_max_ns)
        into->latency_max_ns = from->latency_max_ns;
}

static void double_step(struct series *s)
{
    for (size_t i = 0; i < SERIES_SLOTS; i += 2) {
        struct series_slot pair = s->slots[i];

        add_slot(&pair, &s->slots[i + 1]);
        s->slots[i / 2] = pair;
    }
    memset(&s->slots[SERIES_SLOTS / 2], 0, SERIES_SLOTS / 2 * sizeof(*s->slots));
    s->used = (s->used + 1) / 2;
    s->step_ns *= 2;
}

static size_t bucket_of(uint64_t ns)
{
    unsigned octave;

    if (ns < SERIES_SUB)
        return 0;
    octave = 63u - (unsigned)__builtin_clzll(ns);
    if (octave >= SERIES_OCTAVES)
        return SERIES_BUCKETS - 1;
    return octave * SERIES_SUB + ((ns >> (octave - 3)) & (SERIES_SUB - 1));
}

double series_bucket_ns(size_t bucket)
{
    return ldexp(1.0 + (double)(bucket % SERIES_SUB) / SERIES_SUB,
                 (int)(bucket / SERIES_SUB));
}

static void add_latency(struct series_slot *slot, const struct hist *h)
{
    if (!h || !h->count)
        return;
    for (uint32_t i = h->low; i <= h->high; i++)
        if (h->buckets[i])
            slot->latency[bucket_of(hist_bucket_low(i))] += (uint32_t)h->buckets[i];
    slot->latency_count += (uint32_t)h->count;
    if (h->max > slot->latency_max_ns)
        slot->latency_max_ns = h->max;
}

/* The place of a label; labels past the last one share it, under TALLY_OTHER. */
static size_t label_index(struct series *s, const char *name)
{
    for (size_t i = 0; i < s->label_count; i++)
        if (strcmp(s->labels[i], name) == 0)
            return i;
    if (s->label_count == SERIES_LABELS)
        return SERIES_LABELS - 1;
    if (s->label_count == SERIES_LABELS - 1)
        name = TALLY_OTHER;
    snprintf(s->labels[s->label_count], TALLY_NAME_MAX, "%s", name);
    return s->label_count++;
}

/*
 * Processes of a place cover the same time, and after the step has doubled one process
 * has several samples in a slot: only what was not covered yet adds to the span.
 * Returns whether time went on, so that the sample is the first of a new round.
 */
static bool cover(struct series_place *p, uint64_t begin_ns, uint64_t end_ns)
{
    bool on = !p->samples || end_ns > p->until_ns + (end_ns - begin_ns) / 2;

    if (p->samples && begin_ns < p->until_ns)
        begin_ns = p->until_ns;
    if (end_ns > begin_ns) {
        p->span_ns += end_ns - begin_ns;
        p->until_ns = end_ns;
    }
    return on;
}

/* What is counted adds up; what is a state is that of all processes in one round. */
static void add_sample(struct series_place *p, const struct sample *sample, bool first)
{
#define X(name, unit, help) p->counters.name += sample->meter->counters.name;
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) \
    p->gauges.name = (first ? 0 : p->gauges.name) + sample->meter->gauges.name;
    METER_GAUGES(X)
#undef X
    if (first)
        p->use.open_descriptors = 0;
    process_use_add(&p->use, &sample->use);
    p->samples++;
}

/* The segment that a sample lies in whole, NULL where it touches a mark. */
static struct series_slot *segment_of(const struct series *s, uint64_t begin_ns,
                                      uint64_t end_ns)
{
    size_t i = s->mark_count;

    while (i && s->marks[i - 1].at_ns >= end_ns)
        i--;
    if (i && begin_ns < s->marks[i - 1].at_ns + SERIES_EDGE_NS)
        return NULL;
    return &s->segments[i];
}

/* When it closed, and the time it covers, in the series' time. */
struct stretch {
    uint64_t begin_ns, end_ns;
};

static void add_to_slot(struct series *s, struct series_slot *slot, enum place place,
                        const struct stretch *at, const struct sample *sample,
                        bool headline)
{
    struct series_place *p = &slot->places[place];

    add_sample(p, sample, cover(p, at->begin_ns, at->end_ns));
    for (size_t r = 0; r < sample->meter->labels.used; r++) {
        const struct tally_row *row = &sample->meter->labels.rows[r];

        slot->labels[label_index(s, row->name)] += row->count;
    }
    if (headline)
        add_latency(slot, sample->meter->hists[METER_HIST_latency]);
}

/* The last slot up to `i` with a sample of the place, not before `first`; else `i`. */
static size_t slot_up_to(const struct series *s, size_t i, enum place place, size_t first)
{
    for (size_t k = i + 1; k > first; k--)
        if (s->slots[k - 1].places[place].samples)
            return k - 1;
    return i;
}

void series_add(struct series *s, enum place place, uint64_t origin_ns,
                const struct sample *sample, bool headline)
{
    uint64_t span = sample->span_ns < sample->at_ns ? sample->span_ns : sample->at_ns;
    uint64_t end = origin_ns + sample->at_ns;
    uint64_t middle = end - span / 2;
    struct stretch at = {end - span, end};
    struct series_slot *segment = segment_of(s, at.begin_ns, at.end_ns);
    size_t i;

    while (middle / s->step_ns >= SERIES_SLOTS)
        double_step(s);
    i = (size_t)(middle / s->step_ns);
    /* What is left over at the end has no rate of its own. */
    if (span < SAMPLE_STEP_NS / 2)
        i = slot_up_to(s, i, place, (size_t)(origin_ns / s->step_ns));
    if (i >= s->used)
        s->used = i + 1;
    add_to_slot(s, &s->slots[i], place, &at, sample, headline);
    if (segment)
        add_to_slot(s, segment, place, &at, sample, headline);
    if (headline)
        intervals_add(s->intervals, middle, sample->meter->hists[METER_HIST_latency]);
}

void series_mark(struct series *s, uint64_t at_ns, const char *text)
{
    if (s->mark_count == SERIES_MARKS) {
        add_slot(&s->segments[0], &s->segments[1]);
        memmove(s->segments + 1, s->segments + 2,
                (SERIES_MARKS - 1) * sizeof(s->segments[0]));
        memmove(s->marks, s->marks + 1, (SERIES_MARKS - 1) * sizeof(s->marks[0]));
        s->mark_count--;
    }
    s->marks[s->mark_count].at_ns = at_ns;
    snprintf(s->marks[s->mark_count].text, sizeof(s->marks[0].text), "%s", text);
    s->mark_count++;
    s->marks_ever++;
    memset(&s->segments[s->mark_count], 0, sizeof(s->segments[0]));
}

void series_segment(const struct series *s, size_t i, struct series_segment *segment)
{
    segment->from_ns = i ? s->marks[i - 1].at_ns : 0;
    segment->to_ns = i < s->mark_count ? s->marks[i].at_ns : s->used * s->step_ns;
    segment->text = i ? s->marks[i - 1].text : "";
    segment->sum = s->segments[i];
}

double series_rate(const struct series_place *p, uint64_t counter)
{
    if (!p->samples || !p->span_ns)
        return (double)NAN;
    return (double)counter * 1e9 / (double)p->span_ns;
}

double series_cpu(const struct series_place *p)
{
    return series_rate(p, p->use.cpu_user_us + p->use.cpu_system_us) / 1e6;
}

double series_latency_ns(const struct series_slot *slot, double q)
{
    double want = q * slot->latency_count;
    double seen = 0;

    if (!slot->latency_count)
        return (double)NAN;
    if (q >= 1)
        return (double)slot->latency_max_ns;
    for (size_t i = 0; i < SERIES_BUCKETS; i++) {
        seen += slot->latency[i];
        if (slot->latency[i] && seen >= want) {
            double middle = (series_bucket_ns(i) + series_bucket_ns(i + 1)) / 2;

            return fmin(middle, (double)slot->latency_max_ns);
        }
    }
    return (double)slot->latency_max_ns;
}
