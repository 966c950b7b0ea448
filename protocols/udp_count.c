/*
 * The role "udp-server": counts datagrams, and says of each message that is missing
 * whether the kernel dropped it at this socket.
 *
 * Options
 *   host, port      where to listen (127.0.0.1, 8123); port 0 takes a free one
 *   receive_buffer  bytes for SO_RCVBUF; 0 leaves the system's default
 *   gro             1: datagrams that came as one segmented send are read at one go
 *   run_id          the run to count; 0 counts all there is (`plimsoll serve udp`)
 *   payload, label, size  with run_id: "plain" expects this label, without a stamp
 *   shared_clock    1: the senders read the same monotonic clock, so the one-way
 *                   latency has a meaning. Jitter needs no shared clock.
 *   nth             note the time from the first to the nth message of each label
 *   drain           ns of quiet after which a stopped server takes nothing more in
 *   expect          messages that the senders' kernels will have accepted; 0: unknown.
 *                   set(flow, "accepted", n) says it when it is known
 *
 * What is counted
 *   A datagram is the run's or foreign. One of the run is new or a duplicate; a new
 *   one is `unique`, or `late` if it comes after the drain. So at the end
 *
 *       received_messages = unique + duplicate + late
 *       accepted          = unique + lost,  lost = overflow + unexplained
 *
 *   where accepted is the senders' count and a late message is among the unexplained.
 *   The kernel's overflow includes foreign datagrams and duplicates, so the part of it
 *   that explains loss is at most what is lost. With gro the kernel drops, and counts,
 *   what would have been read at one go: then overflow is that count times the most
 *   messages read at one go, but not more than are missing.
 *
 * How it receives
 *   Up to INBOX datagrams a system call, straight into the counters. While datagrams
 *   keep coming it waits for the next one in that call, for WAIT at most, and goes
 *   back to the event loop only when it is due there: that saves the two further
 *   calls that each turn of the loop costs.
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/datagram.h"
#include "protocols/endpoint.h"
#include "protocols/role.h"
#include "protocols/udp_drops.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define DEFAULT_PORT 8123
#define INBOX 64
#define BUFFER_BYTES 65536
/* Not a power of two apart, or all buffers would compete for the same cache lines. */
#define BUFFER_STEP (BUFFER_BYTES + 192)
#define CONTROL_BYTES (CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(int)))

#define WAIT_NS (2 * NS_PER_MS)      /* for the next datagram, in the receiving call */
#define TURN_NS (5 * NS_PER_MS)      /* away from the event loop */
#define PRINT_GAP_NS (NS_PER_S / 10) /* between two full prints on demand */
#define DRAIN_NS (200 * NS_PER_MS)
#define DRAINS_MAX 20 /* a drain ends after so many times its quiet at the latest */

enum phase {
    PHASE_SERVING,
    PHASE_DRAINING,  /* stopped: waits for quiet, or until nothing is missing */
    PHASE_LINGERING, /* the drain is over and something is missing: is it late? */
    PHASE_OVER,
};

struct inbox {
    struct mmsghdr messages[INBOX];
    struct iovec vectors[INBOX];
    size_t control[INBOX][CONTROL_BYTES / sizeof(size_t)]; /* aligned for cmsghdr */
    unsigned char *buffers;                                /* owned */
};

struct flow {
    struct flow_env *env;
    struct meter_counters *counters; /* borrowed: the meter's */
    struct event *readable, *timer;
    int fd;
    enum phase phase;

    uint64_t run;
    bool plain; /* the run's messages have no stamps */
    const char *label;
    size_t label_bytes;
    bool gro, shared_clock;
    uint64_t nth;
    uint64_t drain_ns;
    uint64_t accepted; /* by the senders' kernels; 0: unknown */

    uint64_t unique, expected, overflow; /* since the start, as in the meter */
    uint64_t arrival_ns;                 /* of the run's latest datagram */
    uint64_t stopped_ns;
    uint64_t printed_ns;
    struct udp_drops drops;
    uint32_t attached;   /* the latest count that came with a datagram */
    size_t segments_max; /* most messages that were read as one datagram */

    struct tally_row *rows[DATAGRAM_LABELS]; /* by row of streams.labels */
    struct datagram_label *plain_label;      /* of the latest plain datagram */
    struct inbox inbox;
    struct datagram_streams streams;
};

/* ---- one datagram ---- */

static void note_nth(struct flow *f, struct datagram_label *label)
{
    uint64_t us = (label->nth_ns - label->first_ns) / NS_PER_US;
    char name[TALLY_NAME_MAX + 16], text[32];

    f->env->note(f->env,
                 "%s: %" PRIu64 ". message %" PRIu64 ".%06" PRIu64 " s after the first",
                 label->name, f->nth, us / 1000000, us % 1000000);
    snprintf(name, sizeof(name), "nth_seconds %s", label->name);
    snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
    f->env->fact(f->env, name, text);
}

/* n messages of a label; more than one only if the nth is not among them. */
static inline void count_label(struct flow *f, struct datagram_label *label, uint64_t n,
                               uint64_t now)
{
    struct tally_row **row = &f->rows[label - f->streams.labels.rows];

    if (!*row) {
        *row = tally_add(&f->env->meter->labels, label->name, 0);
        label->first_ns = now;
    }
    (*row)->count += n;
    label->count += n;
    if (label->count == f->nth) {
        label->nth_ns = now;
        note_nth(f, label);
    }
}

static inline void count_new(struct flow *f, uint64_t n)
{
    if (f->phase == PHASE_LINGERING) {
        f->counters->late += n;
        return;
    }
    f->counters->unique += n;
    f->unique += n;
}

static inline void count_received(struct flow *f, uint64_t n, size_t len)
{
    f->counters->received_messages += n;
    f->counters->received_bytes += n * len;
    f->counters->received_wire_bytes += n * len;
}

static inline void count_expected(struct flow *f, uint64_t n)
{
    f->counters->expected += n;
    f->expected += n;
}

/*
 * Latency where the clocks are one; its change from message to message in any case. n
 * messages of the same time and arrival.
 */
static inline void count_time(struct flow *f, struct datagram_stream *stream, uint64_t n,
                              uint64_t time_ns, uint64_t now)
{
    uint64_t transit_ns = now - time_ns; /* modulo 2^64: the clocks may differ */
    uint64_t change_ns = transit_ns - stream->transit_ns;

    if (f->shared_clock && time_ns <= now)
        hist_record_n(f->env->meter->hists[METER_HIST_latency], transit_ns, n);
    if (change_ns > INT64_MAX)
        change_ns = 0 - change_ns;
    if (stream->arrival_ns)
        meter_record(f->env->meter, METER_HIST_jitter, change_ns);
    if (n > 1)
        hist_record_n(f->env->meter->hists[METER_HIST_jitter], 0, n - 1);
    stream->transit_ns = transit_ns;
    stream->arrival_ns = now;
}

static inline void take_stamped(struct flow *f, struct datagram_stream *stream,
                                size_t len, uint64_t sequence, uint64_t time_ns,
                                uint64_t now)
{
    uint64_t next = stream->window.next;

    count_received(f, 1, len);
    count_label(f, stream->label, 1, now);
    switch (datagram_window_add(&stream->window, sequence, &f->streams.budget)) {
    case DATAGRAM_NEXT:
        count_expected(f, stream->window.next - next);
        count_new(f, 1);
        break;
    case DATAGRAM_OUT_OF_ORDER:
        f->counters->out_of_order++;
        count_new(f, 1);
        break;
    case DATAGRAM_DUPLICATE:
        f->counters->duplicate++;
        return; /* its time says nothing of the path that the message took */
    }
    count_time(f, stream, 1, time_ns, now);
}

static void print_counts(struct flow *f, uint64_t now)
{
    const struct datagram_labels *labels = &f->streams.labels;

    if (f->printed_ns && now - f->printed_ns < PRINT_GAP_NS)
        return;
    f->printed_ns = now;
    for (size_t i = 0; i < labels->used; i++)
        f->env->note(f->env, "%s: %" PRIu64 " received", labels->rows[i].name,
                     labels->rows[i].count);
    f->env->note(f->env,
                 "%zu labels, %" PRIu64 " messages, %" PRIu64
                 " dropped at the receive buffer",
                 labels->used, f->unique, f->drops.total);
}

/* Of a run without stamps: the run's own label, as far as the size let it be sent. */
static bool is_own_label(const struct flow *f, const struct datagram *d)
{
    return f->plain && d->label_bytes == f->label_bytes &&
           memcmp(d->label, f->label, f->label_bytes) == 0;
}

/* Without padding only: a padded one might be a stamped one of the same label. */
static inline bool is_plain_label(const struct datagram_label *label,
                                  const unsigned char *bytes, size_t len)
{
    return label && len == label->label_bytes && memcmp(bytes, label->label, len) == 0;
}

static void take_plain(struct flow *f, struct datagram_label *label, size_t len,
                       uint64_t now)
{
    count_received(f, 1, len);
    count_label(f, label, 1, now);
    count_new(f, 1);
    f->plain_label = label->label_bytes <= DATAGRAM_LABEL_MAX ? label : NULL;
}

/* Anything but the next datagram of the latest stream or label. */
static void take_other(struct flow *f, const unsigned char *bytes, size_t len,
                       uint64_t now)
{
    struct datagram_stream *stream = NULL;
    struct datagram d;

    if (len == strlen(DATAGRAM_FULL_PRINT) &&
        memcmp(bytes, DATAGRAM_FULL_PRINT, len) == 0) {
        print_counts(f, now);
        return;
    }
    datagram_read(&d, bytes, len);
    if (d.kind == DATAGRAM_STAMPED && (!f->run || d.run == f->run))
        stream = datagram_stream_find(&f->streams, &d, bytes, len);
    if (stream)
        take_stamped(f, stream, len, d.sequence, d.time_ns, now);
    else if (d.kind == DATAGRAM_PLAIN && (!f->run || is_own_label(f, &d)))
        take_plain(f, datagram_label_find(&f->streams.labels, d.label, d.label_bytes),
                   len, now);
    else
        f->counters->foreign++;
}

static inline void take(struct flow *f, const unsigned char *bytes, size_t len,
                        uint64_t now)
{
    uint64_t sequence, time_ns;
    struct datagram_stream *stream;

    stream = datagram_same_stream(&f->streams, bytes, len, &sequence, &time_ns);
    if (stream)
        take_stamped(f, stream, len, sequence, time_ns, now);
    else if (is_plain_label(f->plain_label, bytes, len))
        take_plain(f, f->plain_label, len, now);
    else
        take_other(f, bytes, len, now);
}

/* ---- receiving ---- */

static int inbox_init(struct inbox *in, bool gro)
{
    in->buffers = malloc((size_t)INBOX * BUFFER_STEP);
    if (!in->buffers)
        return -ENOMEM;
    for (size_t i = 0; i < INBOX; i++) {
        struct msghdr *m = &in->messages[i].msg_hdr;

        in->vectors[i].iov_base = in->buffers + i * BUFFER_STEP;
        in->vectors[i].iov_len = BUFFER_BYTES;
        m->msg_iov = &in->vectors[i];
        m->msg_iovlen = 1;
        /* The first one brings the drop count; segments are told for each. */
        m->msg_control = i == 0 || gro ? in->control[i] : NULL;
    }
    return 0;
}

/* The bytes of one segment where several came at once, or `len`. */
static size_t segment_bytes(const struct msghdr *message, size_t len)
{
    struct msghdr *m = (struct msghdr *)message;
    int bytes;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
            memcpy(&bytes, CMSG_DATA(c), sizeof(bytes));
            return bytes > 0 ? (size_t)bytes : len;
        }
    return len;
}

/*
 * The messages that one segmented send left behind: the next ones of the latest stream,
 * sent at the same time. Counted together, which a receiver of millions a second needs.
 * Returns how many there are; 0 if the first is none of them.
 */
static uint64_t take_run(struct flow *f, const unsigned char *bytes, size_t len,
                         size_t step, uint64_t now)
{
    uint64_t first, first_ns, sequence, time_ns, n = 1;
    struct datagram_stream *stream;

    stream = datagram_same_stream(&f->streams, bytes, step, &first, &first_ns);
    if (!stream)
        return 0;
    while (
        (n + 1) * step <= len &&
        datagram_same_stream(&f->streams, bytes + n * step, step, &sequence, &time_ns) &&
        sequence == first + n && time_ns == first_ns)
        n++;
    if (f->nth - stream->label->count - 1 < n ||
        !datagram_window_add_run(&stream->window, first, n))
        return 0;
    count_received(f, n, step);
    count_label(f, stream->label, n, now);
    count_expected(f, n);
    count_new(f, n);
    count_time(f, stream, n, first_ns, now);
    return n;
}

static void take_message(struct flow *f, const struct mmsghdr *m, uint64_t now)
{
    const unsigned char *bytes = m->msg_hdr.msg_iov->iov_base;
    size_t len = m->msg_len;
    size_t step = f->gro ? segment_bytes(&m->msg_hdr, len) : len;
    size_t segments = len > step ? take_run(f, bytes, len, step, now) : 0;
    size_t at = segments * step;

    while (segments == 0 || at < len) { /* an empty datagram is one, too */
        take(f, bytes + at, step < len - at ? step : len - at, now);
        at += step;
        segments++;
    }
    if (segments > f->segments_max)
        f->segments_max = segments;
}

/* The kernel's drops explain so many of `missing` messages. */
static uint64_t explained(const struct flow *f, uint64_t missing)
{
    uint64_t most = f->drops.total * f->segments_max;

    if (!f->gro)
        return f->drops.total;
    return most < missing ? most : missing;
}

static void count_overflow(struct flow *f, uint64_t missing)
{
    uint64_t overflow = explained(f, missing);

    if (overflow > f->overflow) {
        f->counters->overflow += overflow - f->overflow;
        f->overflow = overflow;
    }
}

static void count_drops(struct flow *f, uint32_t count)
{
    if (udp_drops_advance(&f->drops, count) || f->gro)
        count_overflow(f, f->expected > f->unique ? f->expected - f->unique : 0);
}

static uint64_t missing_of_accepted(const struct flow *f)
{
    return f->accepted > f->unique ? f->accepted - f->unique : 0;
}

/* One system call's worth of datagrams. 0 when there were none, or -errno. */
static int receive(struct flow *f, int flags, uint64_t *now)
{
    struct mmsghdr *messages = f->inbox.messages;
    uint64_t before = f->counters->received_messages;
    int n;

    for (size_t i = 0; i < (f->gro ? INBOX : 1); i++)
        messages[i].msg_hdr.msg_controllen = CONTROL_BYTES;
    n = recvmmsg(f->fd, messages, INBOX, flags, NULL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    *now = now_ns();
    for (int i = 0; i < n; i++)
        take_message(f, &messages[i], *now);
    if (n > 0 && udp_drops_attached(&messages[0].msg_hdr, &f->attached) == 0)
        count_drops(f, f->attached);
    if (f->counters->received_messages != before)
        f->arrival_ns = *now;
    return n;
}

static void check_missing(struct flow *f);

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;
    uint64_t begin = now_ns(), now = begin;
    int n = receive(f, MSG_DONTWAIT, &now);

    (void)fd;
    (void)what;
    while (n > 0 && now - begin < TURN_NS)
        n = receive(f, MSG_WAITFORONE, &now);
    if (n < 0)
        tally_errno(&f->env->meter->errors, "receive", -n);
    if (n <= 0)
        check_missing(f);
}

/* ---- the end ---- */

static void ask_drops(struct flow *f)
{
    uint64_t queued_bytes;
    uint32_t count;

    if (udp_drops_ask(f->fd, &count, &queued_bytes) < 0)
        return;
    count_drops(f, count);
    f->env->meter->gauges.receive_queue_bytes = queued_bytes;
}

/* The kernel's count by each of the ways to ask for it. */
static void tell_drops(struct flow *f)
{
    uint64_t listed;
    char text[200];
    int err = udp_drops_listed(f->fd, &listed);

    if (err < 0) {
        f->env->fact(f->env, "overflow_confirmed",
                     "unknown: the socket is not listed in "
                     "/proc/net/udp");
        return;
    }
    snprintf(text, sizeof(text),
             "%s: SO_MEMINFO %" PRIu64 ", /proc/net/udp %" PRIu64
             ", SO_RXQ_OVFL with the last datagram %" PRIu32 "%s",
             (uint32_t)listed == (uint32_t)f->drops.total ? "yes" : "no", f->drops.total,
             listed, f->attached, f->gro ? "; each may hold several messages" : "");
    f->env->fact(f->env, "overflow_confirmed", text);
}

static void tell_stale(struct flow *f)
{
    uint64_t stale = 0;
    char text[120];

    for (size_t i = 0; i < f->streams.used; i++)
        stale += f->streams.rows[i]->window.stale;
    if (!stale)
        return;
    snprintf(text, sizeof(text),
             "%" PRIu64 " messages came too far behind to tell new from "
             "duplicate, and are counted as duplicates",
             stale);
    f->env->fact(f->env, "stale", text);
}

static void end(struct flow *f)
{
    f->phase = PHASE_OVER;
    event_del(f->readable);
    event_del(f->timer);
    ask_drops(f);
    count_overflow(f, missing_of_accepted(f));
    tell_drops(f);
    tell_stale(f);
    f->env->finished(f->env, OUTCOME_COMPLETED, NULL);
}

/*
 * While draining, with nothing left to read just now: is every message accounted for?
 * Then there is nothing to wait for.
 */
static void check_missing(struct flow *f)
{
    if (f->phase != PHASE_DRAINING || !f->accepted)
        return;
    if (f->unique < f->accepted)
        ask_drops(f);
    if (explained(f, missing_of_accepted(f)) >= missing_of_accepted(f))
        end(f);
}

static void arm(struct flow *f, uint64_t span_ns)
{
    struct timeval tv = timeval_from_ns(span_ns);

    event_add(f->timer, &tv);
}

static void drain(struct flow *f, uint64_t now)
{
    uint64_t since_ns = f->arrival_ns > f->stopped_ns ? f->arrival_ns : f->stopped_ns;
    uint64_t quiet_ns = now > since_ns ? now - since_ns : 0;

    if (quiet_ns < f->drain_ns && now - f->stopped_ns < DRAINS_MAX * f->drain_ns) {
        arm(f, f->drain_ns - quiet_ns);
        return;
    }
    ask_drops(f);
    if (explained(f, missing_of_accepted(f)) >= missing_of_accepted(f)) {
        end(f);
        return;
    }
    f->phase = PHASE_LINGERING;
    arm(f, f->drain_ns);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    if (f->phase == PHASE_DRAINING)
        drain(f, now_ns());
    else if (f->phase == PHASE_LINGERING)
        end(f);
}

static void server_stop(struct flow *f)
{
    uint64_t now;

    if (f->phase != PHASE_SERVING)
        return;
    f->phase = PHASE_DRAINING;
    f->stopped_ns = now_ns();
    if (receive(f, MSG_DONTWAIT, &now) <= 0)
        check_missing(f);
    if (f->phase == PHASE_DRAINING)
        arm(f, f->drain_ns);
}

/* ---- the beginning ---- */

static uint64_t receive_buffer_limit(void)
{
    FILE *file = fopen("/proc/sys/net/core/rmem_max", "re");
    uint64_t bytes = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%" SCNu64, &bytes) != 1)
        bytes = 0;
    fclose(file);
    return bytes;
}

static int buffer_bytes(int fd)
{
    int bytes = 0;
    socklen_t len = sizeof(bytes);

    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len);
    return bytes;
}

/* The kernel doubles what is asked for, and cuts it at rmem_max unless forced. */
static void set_receive_buffer(struct flow *f, uint64_t asked_bytes)
{
    int bytes = asked_bytes > INT_MAX / 2 ? INT_MAX / 2 : (int)asked_bytes;
    char text[160];

    if (bytes) {
        setsockopt(f->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        if (buffer_bytes(f->fd) < 2 * bytes)
            setsockopt(f->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
    }
    snprintf(text, sizeof(text), "%d", buffer_bytes(f->fd));
    f->env->fact(f->env, "receive_buffer_bytes", text);
    snprintf(text, sizeof(text), "%" PRIu64, receive_buffer_limit());
    f->env->fact(f->env, "receive_buffer_limit_bytes", text);
    if (bytes && buffer_bytes(f->fd) < 2 * bytes)
        f->env->note(f->env,
                     "The receive buffer asked for is %d bytes; the system gives %d "
                     "(net.core.rmem_max is %" PRIu64 ")",
                     bytes, buffer_bytes(f->fd) / 2, receive_buffer_limit());
}

static void set_socket_options(struct flow *f)
{
    struct timeval wait = timeval_from_ns(WAIT_NS);
    int one = 1;

    setsockopt(f->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(f->fd, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof(one));
    set_receive_buffer(f, options_number(f->env->options, "receive_buffer", 0));
    if (f->gro && setsockopt(f->fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) < 0) {
        f->env->note(f->env, "This kernel has no UDP_GRO; datagrams are read one by one");
        f->gro = false;
    }
}

static int listen_at(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;
    struct endpoint e = {.kind = ENDPOINT_UDP};
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    int err;

    snprintf(e.host, sizeof(e.host), "%s", options_text(o, "host", "127.0.0.1"));
    e.port = (unsigned)options_number(o, "port", DEFAULT_PORT);
    err = endpoint_address(&e, &address, &len, fail);
    if (err < 0)
        return err;
    f->fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (f->fd < 0)
        return fail_set(fail, errno, "socket", "no UDP socket could be made");
    set_socket_options(f);
    if (bind(f->fd, (struct sockaddr *)&address, len) < 0)
        return fail_set(fail, errno, "listen", "UDP port %u of %s cannot be listened on",
                        e.port, e.host);
    len = sizeof(address);
    if (getsockname(f->fd, (struct sockaddr *)&address, &len) < 0)
        return fail_set(fail, errno, "listen", "the address of the socket is not known");
    endpoint_from_address(&e, ENDPOINT_UDP, &address);
    endpoint_format(&e, f->env->endpoint, sizeof(f->env->endpoint));
    return 0;
}

static int make_events(struct flow *f)
{
    struct event_base *base = f->env->base;

    f->readable = event_new(base, f->fd, EV_READ | EV_PERSIST, on_readable, f);
    f->timer = event_new(base, -1, 0, on_timer, f);
    return f->readable && f->timer ? event_add(f->readable, NULL) : -ENOMEM;
}

static void read_options(struct flow *f)
{
    const struct options *o = f->env->options;
    size_t size_bytes = options_number(o, "size", 0);

    f->run = options_number(o, "run_id", 0);
    f->plain = options_is(o, "payload", "plain");
    f->label = options_text(o, "label", "");
    f->label_bytes = strlen(f->label);
    if (size_bytes && size_bytes < f->label_bytes)
        f->label_bytes = size_bytes;
    f->gro = options_number(o, "gro", 0);
    f->shared_clock = options_number(o, "shared_clock", 0);
    f->nth = options_number(o, "nth", 100000);
    f->drain_ns = options_number(o, "drain", DRAIN_NS);
    f->accepted = options_number(o, "expect", 0);
}

static int use_histograms(struct flow *f)
{
    int err = meter_use(f->env->meter, METER_HIST_jitter);

    return err < 0 || !f->shared_clock ? err
                                       : meter_use(f->env->meter, METER_HIST_latency);
}

static void server_free(struct flow *f)
{
    if (f->readable)
        event_free(f->readable);
    if (f->timer)
        event_free(f->timer);
    if (f->fd >= 0)
        close(f->fd);
    datagram_streams_done(&f->streams);
    free(f->inbox.buffers);
    free(f);
}

static int server_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    struct flow *f = calloc(1, sizeof(*f));
    int err;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the UDP server cannot start");
    f->env = env;
    f->counters = &env->meter->counters;
    f->fd = -1;
    f->segments_max = 1;
    datagram_streams_init(&f->streams);
    read_options(f);
    err = listen_at(f, fail);
    if (err == 0 && (inbox_init(&f->inbox, f->gro) < 0 || use_histograms(f) < 0 ||
                     make_events(f) < 0))
        err = fail_set(fail, ENOMEM, "prepare", "the UDP server cannot start");
    if (err < 0) {
        server_free(f);
        return err;
    }
    *flow = f;
    return 0;
}

static void server_start(struct flow *f, uint64_t start_ns)
{
    (void)f;
    (void)start_ns;
}

static int server_set(struct flow *f, const char *name, uint64_t value)
{
    if (strcmp(name, "accepted") != 0)
        return -ENOTSUP;
    f->accepted = value;
    return 0;
}

const struct role role_udp_server = {
    .name = "udp-server",
    .is_server = true,
    .prepare = server_prepare,
    .start = server_start,
    .set = server_set,
    .gauge = ask_drops,
    .stop = server_stop,
    .free = server_free,
};
