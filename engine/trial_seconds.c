/* What a trial keeps by the second: declared in engine/trial.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/trial_parts.h"
#include "protocols/clock.h"

/* What one sample gives to the quantities that are kept by the second. */
static struct second quantities(const struct trial *t, enum place place,
                                const struct meter_counters *c)
{
    struct second s = {0};
    const struct family *family = t->scenario->family;

    s.throughput_bytes = (double)c->received_bytes;
    if (place == PLACE_ENDPOINT)
        s.throughput_bytes = 0;
    if (place == PLACE_SERVER)
        s.up_bytes = (double)c->received_bytes;
    if (place == (family->one_way ? PLACE_SERVER : PLACE_CLIENT))
        s.received_messages = (double)family_received(family, c);
    if (place == PLACE_CLIENT) {
        s.requests = (double)c->succeeded;
        s.read_bytes =
            (double)(c->received_wire_bytes ? c->received_wire_bytes : c->received_bytes);
    }
    return s;
}

static int make_seconds(struct trial *t, size_t seconds)
{
    struct second *grown;

    if (seconds <= t->second_room)
        return 0;
    grown = realloc(t->seconds_list, 2 * seconds * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    memset(grown + t->second_room, 0, (2 * seconds - t->second_room) * sizeof(*grown));
    t->seconds_list = grown;
    t->second_room = 2 * seconds;
    return 0;
}

#define TENTH_NS (NS_PER_S / 10)

/* What of a sample lies in each of `count` steps from 0 is added to it, by time. */
static void share_out(struct second *steps, size_t count, uint64_t step_ns,
                      const struct sample *sample, const struct second *q)
{
    uint64_t end = sample->at_ns;
    uint64_t begin = end > sample->span_ns ? end - sample->span_ns : 0;

    for (size_t i = (size_t)(begin / step_ns); i < count && i * step_ns < end; i++) {
        uint64_t from = i * step_ns > begin ? i * step_ns : begin;
        uint64_t to = (i + 1) * step_ns < end ? (i + 1) * step_ns : end;
        double share = (double)(to - from) / (double)(end - begin);

#define X(name) steps[i].name += q->name * share;
        SECOND_QUANTITIES(X)
#undef X
        /* Of a longer span it is not known how the tenths differed. */
        if (step_ns == TENTH_NS && end - begin > 2 * TENTH_NS)
            steps[i].paused = true;
    }
}

int trial_add_seconds(struct trial *t, enum place place, const struct sample *sample)
{
    struct second q = quantities(t, place, &sample->meter->counters);
    size_t last = (size_t)(sample->at_ns / NS_PER_S);

    if (make_seconds(t, last + 1) < 0)
        return -ENOMEM;
    if (last + 1 > t->second_count)
        t->second_count = last + 1;
    share_out(t->seconds_list, last + 1, NS_PER_S, sample, &q);
    share_out(t->tenths, TRIAL_TENTHS, TENTH_NS, sample, &q);
    return 0;
}

int trial_pause_second(struct trial *t, size_t second)
{
    if (make_seconds(t, second + 1) < 0)
        return -ENOMEM;
    t->seconds_list[second].paused = true;
    return 0;
}

static double second_quantity(const struct second *s, size_t offset)
{
    double value;

    memcpy(&value, (const char *)s + offset, sizeof(value));
    return value;
}

/* The time of receipt, in seconds from the common start: NaN where it is not known. */
static void find_receipt(const struct trial *t, double *begin, double *end)
{
    *begin = fmax(t->spans.begin, (double)t->warmup_ns / 1e9);
    *end = *begin + trial_received_seconds(t) + (double)t->paused_ns / 1e9;
}

/* Whether a step from 0 lies within the time of receipt. */
static bool is_measured(const struct trial *t, size_t step, uint64_t step_ns)
{
    double begin, end;

    find_receipt(t, &begin, &end);
    /* A step in whose first tenth that begins is as good as whole. */
    return (double)(step * step_ns + step_ns / 10) / 1e9 >= begin &&
           (double)((step + 1) * step_ns) / 1e9 <= end;
}

void trial_seconds_sum(const struct trial *t, size_t offset, double *within, double *all)
{
    double begin, end;

    find_receipt(t, &begin, &end);
    *within = *all = 0;
    for (size_t i = 0; i < t->second_count; i++) {
        double v = second_quantity(&t->seconds_list[i], offset);

        *all += v;
        if ((double)(i + 1) > begin && (double)i < end)
            *within += v;
    }
}

bool trial_second_counts(const struct trial *t, size_t second)
{
    return second < t->second_count && is_measured(t, second, NS_PER_S) &&
           !t->seconds_list[second].paused;
}

bool trial_tenth_counts(const struct trial *t, size_t tenth)
{
    size_t second = tenth / 10;

    return second < t->second_count && is_measured(t, tenth, TENTH_NS) &&
           !t->tenths[tenth].paused && !t->seconds_list[second].paused;
}

static void add_value(struct second_summary *s, double *sum, double *squares, double v)
{
    s->count++;
    *sum += v;
    *squares += v * v;
    if (!(v <= s->max))
        s->max = v;
}

static void summarise(struct second_summary *s, double sum, double squares)
{
    if (s->count)
        s->mean = sum / (double)s->count;
    if (s->count > 1)
        s->stdev = sqrt(fmax(0, squares / (double)s->count - s->mean * s->mean));
}

void trial_seconds(const struct trial *t, size_t offset, struct second_summary *s)
{
    double sum = 0, squares = 0;

    *s = (struct second_summary){0, 1, (double)NAN, (double)NAN, (double)NAN};
    for (size_t i = 0; i < t->second_count; i++)
        if (trial_second_counts(t, i))
            add_value(s, &sum, &squares, second_quantity(&t->seconds_list[i], offset));
    summarise(s, sum, squares);
}

void trial_tenths(const struct trial *t, size_t offset, struct second_summary *s)
{
    double sum = 0, squares = 0;

    *s = (struct second_summary){0, 0.1, (double)NAN, (double)NAN, (double)NAN};
    for (size_t i = 0; i < TRIAL_TENTHS; i++)
        if (trial_tenth_counts(t, i))
            add_value(s, &sum, &squares, 10 * second_quantity(&t->tenths[i], offset));
    summarise(s, sum, squares);
}

void trial_rates(const struct trial *t, size_t offset, struct second_summary *s)
{
    trial_seconds(t, offset, s);
    if (s->count < 2)
        trial_tenths(t, offset, s);
}
