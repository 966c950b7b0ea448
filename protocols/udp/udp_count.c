#include "protocols/udp/udp_count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocols/clock.h"

#define DAY_TEXT 24
#define PRINT_GAP_NS (NS_PER_S / 10) /* between two full prints on demand */

static void read_options(struct udp_count *c, const struct options *o)
{
    size_t size_bytes = options_number(o, OPTION_size, 0);

    c->run = options_number(o, OPTION_run_id, 0);
    c->plain = options_is(o, OPTION_payload, "plain");
    c->label = options_text(o, OPTION_label, "");
    c->label_bytes = strlen(c->label);
    if (size_bytes && size_bytes < c->label_bytes)
        c->label_bytes = size_bytes;
    c->shared_clock = options_number(o, OPTION_shared_clock, 0);
    c->nth = options_number(o, OPTION_nth, 100000);
}

int udp_count_init(struct udp_count *c, struct flow_env *env, bool coalesced)
{
    int err;

    memset(c, 0, sizeof(*c));
    c->env = env;
    c->counters = &env->meter->counters;
    c->coalesced = coalesced;
    datagram_streams_init(&c->streams);
    read_options(c, env->options);
    err = meter_use(env->meter, METER_HIST_jitter);
    return err < 0 || !c->shared_clock ? err : meter_use(env->meter, METER_HIST_latency);
}

void udp_count_done(struct udp_count *c)
{
    datagram_streams_done(&c->streams);
}

/* One datagram. */

static void note_nth(struct udp_count *c, struct datagram_label *label)
{
    uint64_t us = (label->nth_ns - label->first_ns) / NS_PER_US;
    char name[TALLY_NAME_MAX + 16], text[32];

    c->env->note(c->env,
                 "%s: message %" PRIu64 " came %" PRIu64 ".%06" PRIu64
                 " s after the first",
                 label->name, c->nth, us / 1000000, us % 1000000);
    snprintf(name, sizeof(name), "nth_seconds %s", label->name);
    snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
    c->env->fact(c->env, name, text);
}

/* n messages of a label; more than one only if the nth is not among them. */
static inline void count_label(struct udp_count *c, struct datagram_label *label,
                               uint64_t n, uint64_t now)
{
    struct tally_row **row = &c->rows[label - c->streams.labels.rows];

    if (!*row) {
        *row = tally_add(&c->env->meter->labels, label->name, 0);
        label->first_ns = now;
    }
    (*row)->count += n;
    label->count += n;
    label->last_ns = now;
    c->arrival_ns = now;
    if (label->count == c->nth) {
        label->nth_ns = now;
        note_nth(c, label);
    }
}

static inline void count_new(struct udp_count *c, uint64_t n)
{
    if (c->is_late) {
        c->counters->late += n;
        return;
    }
    c->counters->unique += n;
    c->unique += n;
    meter_span_reach(&c->env->meter->received, c->arrival_ns);
}

static inline void count_received(struct udp_count *c, uint64_t n, size_t len)
{
    c->counters->received_messages += n;
    c->counters->received_bytes += n * len;
    c->counters->received_wire_bytes += n * len;
}

static inline void count_expected(struct udp_count *c, uint64_t n)
{
    c->counters->expected += n;
    c->expected += n;
}

/*
 * Latency where the clocks are one; its change from message to message in any case. n
 * messages of the same time and arrival.
 */
static inline void count_time(struct udp_count *c, struct datagram_stream *stream,
                              uint64_t n, uint64_t time_ns, uint64_t now)
{
    uint64_t transit_ns = now - time_ns; /* modulo 2^64: the clocks may differ */
    uint64_t change_ns = transit_ns - stream->transit_ns;

    if (c->shared_clock && time_ns <= now)
        hist_record_n(c->env->meter->hists[METER_HIST_latency], transit_ns, n);
    if (change_ns > INT64_MAX)
        change_ns = 0 - change_ns;
    if (stream->arrival_ns)
        meter_record(c->env->meter, METER_HIST_jitter, change_ns);
    if (n > 1)
        hist_record_n(c->env->meter->hists[METER_HIST_jitter], 0, n - 1);
    stream->transit_ns = transit_ns;
    stream->arrival_ns = now;
}

static inline void take_stamped(struct udp_count *c, struct datagram_stream *stream,
                                size_t len, uint64_t sequence, uint64_t time_ns,
                                uint64_t now)
{
    uint64_t next = stream->window.next;

    count_received(c, 1, len);
    count_label(c, stream->label, 1, now);
    switch (datagram_window_add(&stream->window, sequence, &c->streams.budget)) {
    case DATAGRAM_NEXT:
        count_expected(c, stream->window.next - next);
        count_new(c, 1);
        break;
    case DATAGRAM_OUT_OF_ORDER:
        c->counters->out_of_order++;
        count_new(c, 1);
        break;
    case DATAGRAM_DUPLICATE:
        c->counters->duplicate++;
        c->is_mixed = true;
        return; /* its time says nothing of the path that the message took */
    }
    count_time(c, stream, 1, time_ns, now);
}

/* An instant of now_ns as local time, "14:03:05.123456": a label. */
static void time_of_day(uint64_t instant_ns, char text[DAY_TEXT])
{
    uint64_t ago_ns = now_ns() - instant_ns, ns;
    struct timespec wall;
    struct tm day;

    clock_gettime(CLOCK_REALTIME, &wall);
    ns = (uint64_t)wall.tv_sec * NS_PER_S + (uint64_t)wall.tv_nsec - ago_ns;
    wall.tv_sec = (time_t)(ns / NS_PER_S);
    localtime_r(&wall.tv_sec, &day);
    snprintf(text, DAY_TEXT, "%02u:%02u:%02u.%06u", (unsigned)day.tm_hour % 24,
             (unsigned)day.tm_min % 60, (unsigned)day.tm_sec % 61,
             (unsigned)(ns % NS_PER_S / NS_PER_US));
}

/* Its start and end, which the document's server prints as well. */
static void print_label(const struct udp_count *c, const struct datagram_label *label)
{
    uint64_t us = (label->last_ns - label->first_ns) / NS_PER_US;
    char first[DAY_TEXT], last[DAY_TEXT];

    time_of_day(label->first_ns, first);
    time_of_day(label->last_ns, last);
    c->env->note(c->env,
                 "%s: %" PRIu64 " received, from %s to %s, %" PRIu64 ".%06" PRIu64 " s",
                 label->name, label->count, first, last, us / 1000000, us % 1000000);
}

static void print_counts(struct udp_count *c, uint64_t now)
{
    const struct datagram_labels *labels = &c->streams.labels;

    if (c->printed_ns && now - c->printed_ns < PRINT_GAP_NS)
        return;
    c->printed_ns = now;
    for (size_t i = 0; i < labels->used; i++)
        print_label(c, &labels->rows[i]);
    c->env->note(c->env,
                 "%zu labels, %" PRIu64 " messages, %" PRIu64
                 " dropped at the receive buffer",
                 labels->used, c->unique, c->drops.total);
}

/* Of a run without stamps: the run's own label, as far as the size let it be sent. */
static bool is_own_label(const struct udp_count *c, const struct datagram *d)
{
    return c->plain && d->label_bytes == c->label_bytes &&
           memcmp(d->label, c->label, c->label_bytes) == 0;
}

/* Without padding only: a padded one might be a stamped one of the same label. */
static inline bool is_plain_label(const struct datagram_label *label,
                                  const unsigned char *bytes, size_t len)
{
    return label && len == label->label_bytes && memcmp(bytes, label->label, len) == 0;
}

static void take_plain(struct udp_count *c, struct datagram_label *label, size_t len,
                       uint64_t now)
{
    count_received(c, 1, len);
    count_label(c, label, 1, now);
    count_new(c, 1);
    c->plain_label = label->label_bytes <= DATAGRAM_LABEL_MAX ? label : NULL;
}

/* Anything but the next datagram of the latest stream or label. */
static void take_other(struct udp_count *c, const unsigned char *bytes, size_t len,
                       uint64_t now)
{
    struct datagram_stream *stream = NULL;
    struct datagram d;

    if (len == strlen(DATAGRAM_FULL_PRINT) &&
        memcmp(bytes, DATAGRAM_FULL_PRINT, len) == 0) {
        print_counts(c, now);
        return;
    }
    datagram_read(&d, bytes, len);
    if (d.kind == DATAGRAM_STAMPED && (!c->run || d.run == c->run))
        stream = datagram_stream_find(&c->streams, &d, bytes, len);
    if (stream)
        take_stamped(c, stream, len, d.sequence, d.time_ns, now);
    else if (d.kind == DATAGRAM_PLAIN && (!c->run || is_own_label(c, &d)))
        take_plain(c, datagram_label_find(&c->streams.labels, d.label, d.label_bytes),
                   len, now);
    else {
        c->counters->foreign++;
        c->is_mixed = true;
    }
}

static inline void take(struct udp_count *c, const unsigned char *bytes, size_t len,
                        uint64_t now)
{
    uint64_t sequence, time_ns;
    struct datagram_stream *stream;

    stream = datagram_same_stream(&c->streams, bytes, len, &sequence, &time_ns);
    if (stream)
        take_stamped(c, stream, len, sequence, time_ns, now);
    else if (is_plain_label(c->plain_label, bytes, len))
        take_plain(c, c->plain_label, len, now);
    else
        take_other(c, bytes, len, now);
}

/*
 * The messages that one segmented send left behind: the next ones of the latest stream,
 * sent at the same time. Counted together, which a receiver of millions a second needs.
 * Returns how many there are; 0 if the first is none of them.
 */
static uint64_t take_run(struct udp_count *c, const unsigned char *bytes, size_t len,
                         size_t step, uint64_t now)
{
    uint64_t first, first_ns, sequence, time_ns, n = 1;
    struct datagram_stream *stream;

    stream = datagram_same_stream(&c->streams, bytes, step, &first, &first_ns);
    if (!stream)
        return 0;
    while (
        (n + 1) * step <= len &&
        datagram_same_stream(&c->streams, bytes + n * step, step, &sequence, &time_ns) &&
        sequence == first + n && time_ns == first_ns)
        n++;
    if (c->nth - stream->label->count - 1 < n ||
        !datagram_window_add_run(&stream->window, first, n))
        return 0;
    count_received(c, n, step);
    count_label(c, stream->label, n, now);
    count_expected(c, n);
    count_new(c, n);
    count_time(c, stream, n, first_ns, now);
    return n;
}

void udp_count_take(struct udp_count *c, const unsigned char *bytes, size_t len,
                    size_t step, uint64_t now_ns)
{
    size_t segments = len > step ? take_run(c, bytes, len, step, now_ns) : 0;
    size_t at = segments * step;

    while (segments == 0 || at < len) { /* an empty datagram is one, too */
        take(c, bytes + at, step < len - at ? step : len - at, now_ns);
        at += step;
        segments++;
    }
}

/* What is missing. */

/* How many of `missing` messages the kernel's drops may explain. */
static uint64_t explained(const struct udp_count *c, uint64_t missing)
{
    uint64_t most = c->drops.total * UDP_COUNT_SEGMENTS;

    if (!c->coalesced)
        return c->drops.total;
    return most < missing ? most : missing;
}

static void count_overflow(struct udp_count *c, uint64_t missing)
{
    uint64_t overflow = explained(c, missing);

    c->counters->drops += c->drops.total - c->drops_told;
    c->drops_told = c->drops.total;
    if (overflow > c->overflow) {
        c->counters->overflow += overflow - c->overflow;
        c->overflow = overflow;
    }
}

void udp_count_drops(struct udp_count *c, uint32_t count)
{
    if (udp_drops_advance(&c->drops, count) || c->coalesced)
        count_overflow(c, udp_count_missing(c, c->expected));
}

uint64_t udp_count_missing(const struct udp_count *c, uint64_t accepted)
{
    return accepted > c->unique ? accepted - c->unique : 0;
}

bool udp_count_is_explained(const struct udp_count *c, uint64_t accepted)
{
    uint64_t missing = udp_count_missing(c, accepted);

    return !missing || (!c->is_mixed && c->drops.total == missing);
}

void udp_count_close(struct udp_count *c, uint64_t accepted)
{
    uint64_t stale = 0;
    char text[120];

    count_overflow(c, udp_count_missing(c, accepted));
    for (size_t i = 0; i < c->streams.used; i++)
        stale += c->streams.rows[i]->window.stale;
    if (!stale)
        return;
    snprintf(text, sizeof(text),
             "%" PRIu64
             " messages came too far behind to tell new from duplicate, and are "
             "counted as duplicates",
             stale);
    c->env->fact(c->env, "stale", text);
}
