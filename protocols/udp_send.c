/*
 * The role "udp-client": sends datagrams by one of four strategies.
 *
 * Options
 *   socket         "fresh": a socket made, used once and closed for each message;
 *                  "cached": one socket for all
 *   dispatch       "series": the next message starts when the last has been accepted by
 *                  the kernel; "parallel": all are handed over without waiting
 *   messages       to send in all (100,000); 0: until the duration is over
 *   duration       ns; 0: until all are sent
 *   rate           messages a second by schedule; 0: as fast as it goes
 *   size           bytes of payload; 0: label and stamp alone
 *   payload        "stamped" or "plain"; label, run_id, sender: what the stamp says
 *   senders        client processes of the run; their schedules are interleaved
 *   window         fresh in parallel: sockets open at once; 0: no limit, so that all
 *                  are opened before the first is used
 *   batch          cached in parallel: messages in one sendmmsg(2)
 *   gso            1, cached in parallel: messages in one send that the kernel cuts
 *                  (UDP_SEGMENT); with batch 1 as many as fit
 *   connected      1: connect(2) the socket
 *   resolve        "each": look the name of the target up for every message
 *   host           the name for that, if it is not the endpoint's
 *   send_buffer    bytes for SO_SNDBUF; 0: the system's default
 *
 * What is counted
 *   A message is *attempted* when it is handed over, *sent* when the kernel accepted it
 *   and *refused* when the kernel did not, by errno in the tally of errors. A full send
 *   buffer is neither: the message waits until there is room, and is backlog as long.
 *   At the end attempted = sent + refused + unfinished. Sequence numbers are given to
 *   accepted messages only, so a refused one is no gap at the receiver.
 *
 *   METER_HIST_service is the sending call, for each message of a batch the whole call;
 *   METER_HIST_connect the making of a fresh socket, with its name lookup;
 *   METER_HIST_pacing how much later than scheduled a send began. The clock is read
 *   once a call: the end of one send is the start of the next.
 *
 * The stamp's time is the intended time where there is a rate, and the start of the send
 * elsewhere.
 *
 * How it works: the slice() sends for SLICE_NS at most, then other events have their
 * turn. `handed` counts messages handed over, `settled` those accepted or refused.
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/datagram.h"
#include "protocols/endpoint.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"
#include "protocols/role.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define SLICE_NS (2 * NS_PER_MS)
#define BATCH_MAX 1024
#define TAKE_MAX                                                           \
    1024 /* messages taken from the schedule at one go; BATCH_MAX at least \
          */
#define SEGMENTS_MAX 64   /* of one segmented send: UDP_MAX_SEGMENTS of older kernels */
#define CLOSE_AT_ONCE 512 /* sockets closed between two turns of the event loop */

/* What a strategy's step came to. */
enum step {
    STEP_ON,    /* go on */
    STEP_FULL,  /* the send buffer is full: wait for room */
    STEP_ENDED, /* the flow is ending */
};

struct flow {
    struct flow_env *env;
    struct meter *meter;
    enum step (*send)(struct flow *f, uint64_t upto); /* the strategy */
    bool is_fresh, is_parallel, connected, resolve_each, gso;
    uint64_t messages; /* UINT64_MAX: no limit */
    uint64_t duration_ns;
    uint64_t batch;
    uint64_t window;
    int send_buffer_bytes;

    struct endpoint name; /* of the target, as it is to be looked up */
    struct sockaddr_storage target;
    socklen_t target_len;
    struct datagram_form form;

    uint64_t handed, settled;
    uint64_t sequence; /* of the next message: how many were accepted */
    uint64_t counted_handed;
    uint64_t start_ns, deadline_ns, paused_ns;
    uint64_t clock_ns;     /* the latest reading */
    uint64_t slice_end_ns; /* when to give other events their turn */
    bool is_over, is_paused;

    struct pacer pacer;
    struct pacer_timer timer;
    uint64_t rate;
    uint64_t intended_ns[TAKE_MAX]; /* of messages taken from the pacer */
    size_t taken, taken_at;         /* those from taken_at on are not settled */

    int fd; /* the cached socket; -1: none */
    struct event *writable, *closing;
    unsigned char *payloads; /* owned: `batch` payloads, one after the other */
    struct mmsghdr *calls;   /* owned, for sendmmsg */
    struct iovec *vectors;

    int *sockets; /* owned, fresh in parallel: a ring of those that are open */
    size_t room, open, oldest;
    uint64_t waits; /* times that the send buffer was full */
    enum outcome outcome;
    char reason[160];
};

/* ---- ending ---- */

/* Close a few of the open sockets, and the rest after other events had their turn. */
static bool close_some(struct flow *f)
{
    for (int n = 0; f->open && n < CLOSE_AT_ONCE; n++) {
        close(f->sockets[f->oldest]);
        f->oldest = (f->oldest + 1) % f->room;
        f->open--;
    }
    return f->open > 0;
}

static void count_handed(struct flow *f)
{
    f->meter->counters.attempted += f->handed - f->counted_handed;
    f->counted_handed = f->handed;
}

static void on_closing(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once;
    struct flow *f = arg;

    (void)fd;
    (void)what;
    if (close_some(f)) {
        event_add(f->closing, &at_once);
        return;
    }
    f->env->finished(f->env, f->outcome, *f->reason ? f->reason : NULL);
}

static void tell_waits(struct flow *f)
{
    char text[32];

    if (!f->waits)
        return;
    snprintf(text, sizeof(text), "%" PRIu64, f->waits);
    f->env->fact(f->env, "send_buffer_full", text);
}

static enum step end(struct flow *f, enum outcome outcome, const char *reason)
{
    if (f->is_over)
        return STEP_ENDED;
    f->is_over = true;
    f->outcome = outcome;
    snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "");
    pacer_timer_rest(&f->timer);
    count_handed(f);
    f->meter->counters.unfinished += f->handed - f->settled;
    tell_waits(f);
    event_del(f->writable);
    on_closing(-1, 0, f);
    return STEP_ENDED;
}

/* ---- counting ---- */

static uint64_t intended_ns(const struct flow *f, size_t i)
{
    return f->rate ? f->intended_ns[f->taken_at + i] : f->clock_ns;
}

static void settle(struct flow *f, size_t n)
{
    f->settled += n;
    if (f->rate)
        f->taken_at += n;
    if (f->handed < f->settled)
        f->handed = f->settled;
}

/* n messages were accepted by one call, which took from f->clock_ns to now. */
static void accept_sent(struct flow *f, size_t n, uint64_t now)
{
    struct meter_counters *c = &f->meter->counters;
    uint64_t span_ns = now - f->clock_ns;

    c->sent_messages += n;
    c->succeeded += n;
    c->sent_bytes += n * f->form.size_bytes;
    c->sent_wire_bytes += n * f->form.size_bytes;
    hist_record_n(f->meter->hists[METER_HIST_service], span_ns, n);
    for (size_t i = 0; f->rate && i < n; i++)
        meter_record(f->meter, METER_HIST_pacing, f->clock_ns - intended_ns(f, i));
    f->sequence += n;
    settle(f, n);
}

/* Errors after which no other message would be accepted either. */
static bool is_lasting(int err)
{
    return err == EMSGSIZE || err == EINVAL || err == EACCES || err == EAFNOSUPPORT ||
           err == EDESTADDRREQ || err == ENOTSOCK || err == EBADF || err == EOPNOTSUPP;
}

static enum step end_refused(struct flow *f, const char *phase, int err)
{
    char reason[160];

    if (f->gso && (err == EMSGSIZE || err == EINVAL))
        snprintf(reason, sizeof(reason),
                 "datagrams of %zu bytes cannot be sent by gso: each must fit the link "
                 "whole, and all of a send into %d bytes",
                 f->form.size_bytes, DATAGRAM_MAX_IPV4);
    else if (err == EMSGSIZE)
        snprintf(
            reason, sizeof(reason),
            "datagrams of %zu bytes cannot be sent to this target: %s (UDP over IPv4 "
            "carries at most %d)",
            f->form.size_bytes, strerror(err), DATAGRAM_MAX_IPV4);
    else
        snprintf(reason, sizeof(reason), "%s failed: %s", phase, strerror(err));
    return end(f, OUTCOME_FAILED, reason);
}

/* One message was refused in a step of it that began at f->clock_ns. */
static enum step refuse(struct flow *f, const char *phase, int err, uint64_t now)
{
    tally_errno(&f->meter->errors, phase, err);
    f->meter->counters.refused++;
    f->meter->counters.failed++;
    meter_record(f->meter, METER_HIST_failure, now - f->clock_ns);
    settle(f, 1);
    return is_lasting(err) ? end_refused(f, phase, err) : STEP_ON;
}

/* ---- one cached socket ---- */

/* The kernel's report of a refused port comes with the next send, and is queued too. */
static void drop_error_queue(int fd)
{
    struct msghdr m = {0};

    for (int i = 0; i < 64; i++)
        if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return;
}

static enum step not_sent(struct flow *f, int err, uint64_t now)
{
    enum step step;

    if (err == EINTR)
        return STEP_ON;
    if (err == EAGAIN || err == EWOULDBLOCK) {
        f->waits++;
        if (f->handed == f->settled)
            f->handed++; /* it has begun */
        return STEP_FULL;
    }
    step = refuse(f, "send", err, now);
    if (err == ECONNREFUSED)
        drop_error_queue(f->fd);
    return step;
}

static int look_up(struct flow *f)
{
    struct fail ignored = {0};

    return f->resolve_each
               ? endpoint_address(&f->name, &f->target, &f->target_len, &ignored)
               : 0;
}

static ssize_t send_bytes(const struct flow *f, int fd, size_t len)
{
    if (f->connected)
        return send(fd, f->payloads, len, MSG_DONTWAIT);
    return sendto(fd, f->payloads, len, MSG_DONTWAIT, (const struct sockaddr *)&f->target,
                  f->target_len);
}

static enum step send_single(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        int err = look_up(f);
        uint64_t now;
        ssize_t n;

        if (err < 0) {
            now = now_ns();
            step = refuse(f, "lookup", -err, now);
            f->clock_ns = now;
            continue;
        }
        datagram_stamp(&f->form, f->payloads, f->sequence, intended_ns(f, 0));
        n = send_bytes(f, f->fd, f->form.size_bytes);
        err = errno;
        now = now_ns();
        if (n >= 0)
            accept_sent(f, 1, now);
        else
            step = not_sent(f, err, now);
        f->clock_ns = now;
    }
    return step;
}

/* Stamp the next messages, up to `batch` of them; returns how many. */
static size_t stamp_batch(struct flow *f, uint64_t upto)
{
    uint64_t left = upto - f->settled;
    size_t n = left < f->batch ? (size_t)left : (size_t)f->batch;

    if (!f->rate) {
        datagram_stamp_run(&f->form, f->payloads, n, f->sequence, f->clock_ns);
        return n;
    }
    for (size_t i = 0; i < n; i++)
        datagram_stamp(&f->form, f->payloads + i * f->form.size_bytes, f->sequence + i,
                       intended_ns(f, i));
    return n;
}

/* Returns how many of n stamped messages the kernel accepted, or -1 and errno. */
static ssize_t send_stamped(struct flow *f, size_t n)
{
    if (f->gso)
        return send_bytes(f, f->fd, n * f->form.size_bytes) < 0 ? -1 : (ssize_t)n;
    return sendmmsg(f->fd, f->calls, (unsigned)n, MSG_DONTWAIT);
}

static enum step send_batch(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        size_t n = stamp_batch(f, upto);
        ssize_t accepted = send_stamped(f, n);
        int err = errno;
        uint64_t now = now_ns();

        if (accepted >= 0)
            accept_sent(f, (size_t)accepted, now);
        else
            step = not_sent(f, err, now);
        f->clock_ns = now;
    }
    return step;
}

/* ---- a fresh socket for each message ---- */

static int set_send_buffer(const struct flow *f, int fd)
{
    int bytes = f->send_buffer_bytes;

    return bytes ? setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)) : 0;
}

/* A socket ready to send. Returns it, or -errno. */
static int open_socket(const struct flow *f)
{
    int fd = socket(f->target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int err;

    if (fd < 0)
        return -errno;
    if (set_send_buffer(f, fd) == 0 &&
        (!f->connected ||
         connect(fd, (const struct sockaddr *)&f->target, f->target_len) == 0))
        return fd;
    err = errno;
    close(fd);
    return -err;
}

static uint64_t descriptor_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

static enum step end_exhausted(struct flow *f, int err)
{
    char reason[120];

    if (err == EMFILE)
        snprintf(reason, sizeof(reason),
                 "out of file handles after %zu sockets (limit %" PRIu64 ")", f->open,
                 descriptor_limit());
    else
        snprintf(reason, sizeof(reason),
                 "out of file handles after %zu sockets (the limit of the whole system)",
                 f->open);
    return end(f, OUTCOME_EXHAUSTED, reason);
}

/* A socket for the next message, by its name if it is to be looked up; or -errno. */
static int next_socket(struct flow *f, enum step *step)
{
    int err = look_up(f);
    int fd = err < 0 ? err : open_socket(f);
    uint64_t now = now_ns();

    if (fd >= 0) {
        meter_record(f->meter, METER_HIST_connect, now - f->clock_ns);
    } else {
        *step = refuse(f, err < 0 ? "lookup" : "socket", -fd, now);
        if (fd == -EMFILE || fd == -ENFILE)
            *step = end_exhausted(f, -fd);
    }
    f->clock_ns = now;
    return fd;
}

/* The one message of a fresh socket, which is closed with it. */
static enum step use_socket(struct flow *f, int fd)
{
    enum step step = STEP_ON;
    ssize_t n;
    int err;
    uint64_t now;

    datagram_stamp(&f->form, f->payloads, f->sequence, intended_ns(f, 0));
    do
        n = send_bytes(f, fd, f->form.size_bytes);
    while (n < 0 && errno == EINTR);
    err = errno;
    now = now_ns();
    /* A new socket has an empty send buffer: EAGAIN means that no port is left. */
    if (n >= 0)
        accept_sent(f, 1, now);
    else
        step = refuse(f, "send", err, now);
    close(fd);
    f->clock_ns = now_ns();
    return step;
}

static enum step send_fresh_series(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        int fd = next_socket(f, &step);

        if (fd >= 0)
            step = use_socket(f, fd);
    }
    return step;
}

/* Room for one more in the ring of open sockets. */
static bool make_room(struct flow *f)
{
    size_t room = f->room ? 2 * f->room : 1024;
    int *grown;

    if (f->open < f->room)
        return true;
    grown = malloc(room * sizeof(*grown));
    if (!grown)
        return false;
    for (size_t i = 0; i < f->open; i++)
        grown[i] = f->sockets[(f->oldest + i) % f->room];
    free(f->sockets);
    f->sockets = grown;
    f->oldest = 0;
    f->room = room;
    return true;
}

static enum step open_one(struct flow *f)
{
    enum step step = STEP_ON;
    int fd;

    if (!make_room(f))
        return end(f, OUTCOME_FAILED, "out of memory for the open sockets");
    f->handed++;
    fd = next_socket(f, &step);
    if (fd < 0)
        return step;
    f->sockets[(f->oldest + f->open) % f->room] = fd;
    f->open++;
    return step;
}

static enum step use_oldest(struct flow *f)
{
    int fd = f->sockets[f->oldest];

    f->oldest = (f->oldest + 1) % f->room;
    f->open--;
    return use_socket(f, fd);
}

/* Opens as many as the window and the messages allow, then uses the oldest, and so on. */
static enum step send_fresh_parallel(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        if (f->handed < upto && f->open < f->window)
            step = open_one(f);
        else
            step = use_oldest(f);
    }
    return step;
}

/* ---- the run of it ---- */

/* Take what is due by the schedule; returns up to which message that is. */
static uint64_t take_due(struct flow *f)
{
    size_t have = f->taken - f->taken_at;
    uint64_t left = f->messages - f->settled - have;
    size_t max = left < TAKE_MAX - have ? (size_t)left : TAKE_MAX - have;

    memmove(f->intended_ns, f->intended_ns + f->taken_at,
            have * sizeof(f->intended_ns[0]));
    f->taken_at = 0;
    f->taken = have + pacer_take(&f->pacer, f->clock_ns, f->intended_ns + have, max);
    return f->settled + f->taken;
}

/* Send what may be sent now, as long as the slice lasts. */
static enum step send_some(struct flow *f)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->clock_ns < f->slice_end_ns) {
        uint64_t upto = f->rate ? take_due(f) : f->messages;

        if (upto == f->settled)
            break;
        if (f->is_parallel && !f->is_fresh && upto != UINT64_MAX && upto > f->handed)
            f->handed = upto;
        step = f->send(f, upto);
    }
    return step;
}

static void wait_for_room(struct flow *f)
{
    uint64_t left_ns = f->deadline_ns - f->clock_ns;
    struct timeval tv = timeval_from_ns(left_ns < NS_PER_S ? left_ns : NS_PER_S);

    event_add(f->writable, &tv);
}

static void slice(void *arg)
{
    struct flow *f = arg;
    enum step step;

    if (f->is_over || f->is_paused)
        return;
    f->clock_ns = now_ns();
    if (f->clock_ns >= f->deadline_ns) {
        end(f, OUTCOME_COMPLETED, NULL);
        return;
    }
    f->slice_end_ns = f->clock_ns + SLICE_NS;
    if (f->slice_end_ns > f->deadline_ns)
        f->slice_end_ns = f->deadline_ns;
    step = send_some(f);
    count_handed(f);
    if (step == STEP_ENDED)
        return;
    if (f->settled == f->messages)
        end(f, OUTCOME_COMPLETED, NULL);
    else if (step == STEP_FULL)
        wait_for_room(f);
    else
        pacer_timer_arm(&f->timer);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    slice(arg);
}

/* ---- the beginning ---- */

static int read_strategy(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;

    f->is_fresh = options_is(o, "socket", "fresh");
    f->is_parallel = options_is(o, "dispatch", "parallel");
    f->gso = options_number(o, "gso", 0);
    f->batch = options_number(o, "batch", 1);
    f->resolve_each = options_is(o, "resolve", "each");
    f->connected = options_number(o, "connected", 0);
    f->window = options_number(o, "window", 0);
    if (f->batch < 1 || f->batch > BATCH_MAX)
        return fail_set(fail, EINVAL, "batch", "a batch has 1 to %d messages", BATCH_MAX);
    if ((f->batch > 1 || f->gso) && (f->is_fresh || !f->is_parallel || f->resolve_each))
        return fail_set(
            fail, EINVAL, "batch",
            "batch and gso hand several messages over in one call, which only "
            "one cached socket in parallel can do, with a name looked up once");
    if (!f->window)
        f->window = UINT64_MAX;
    if (f->is_fresh)
        f->send = f->is_parallel ? send_fresh_parallel : send_fresh_series;
    else
        f->send = f->batch > 1 || f->gso ? send_batch : send_single;
    return 0;
}

static int read_amounts(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;
    uint64_t buffer_bytes = options_number(o, "send_buffer", 0);

    f->messages = options_number(o, "messages", 100000);
    f->duration_ns = options_number(o, "duration", 0);
    f->rate = options_number(o, "rate", 0);
    f->send_buffer_bytes = buffer_bytes > INT_MAX / 2 ? INT_MAX / 2 : (int)buffer_bytes;
    if (!f->messages)
        f->messages = UINT64_MAX;
    if (f->messages > DATAGRAM_SEQUENCE_MAX && f->messages != UINT64_MAX)
        return fail_set(fail, EINVAL, "messages",
                        "there are too many messages to number");
    return 0;
}

static int read_payload(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;
    const char *label = options_text(o, "label", "PLIMSOLL");
    uint64_t size_bytes = options_number(o, "size", 0);

    if (size_bytes > UINT16_MAX)
        return fail_set(fail, EMSGSIZE, "size",
                        "a datagram of %" PRIu64 " bytes cannot be", size_bytes);
    if (options_is(o, "payload", "plain"))
        return datagram_form_plain(&f->form, label, (size_t)size_bytes, fail);
    return datagram_form_stamped(&f->form, label, (size_t)size_bytes,
                                 options_number(o, "run_id", 0),
                                 (uint32_t)options_number(o, "sender", 0), fail);
}

static bool is_numeric(const char *host)
{
    return strspn(host, "0123456789.") == strlen(host) || strchr(host, ':');
}

/*
 * The name to look up for each message. The endpoint of a server started for the run is
 * an address; then it is the name that the server was told to listen on, or "localhost".
 */
static void choose_name(struct flow *f)
{
    const char *host = options_text(f->env->options, "host", "");
    const char *target = options_text(f->env->options, "target", "");

    if (!f->resolve_each)
        return;
    if (!*target && *host)
        snprintf(f->name.host, sizeof(f->name.host), "%s", host);
    if (is_numeric(f->name.host) && endpoint_is_loopback(&f->name, &f->target))
        snprintf(f->name.host, sizeof(f->name.host), "localhost");
    f->env->note(f->env, "The name \"%s\" is looked up for every message", f->name.host);
}

static int read_target(struct flow *f, struct fail *fail)
{
    int err = endpoint_parse(&f->name, f->env->endpoint, fail);

    if (err < 0)
        return err;
    if (f->name.kind != ENDPOINT_UDP)
        return fail_set(fail, EINVAL, "target", "\"%s\" is not a UDP endpoint",
                        f->env->endpoint);
    err = endpoint_address(&f->name, &f->target, &f->target_len, fail);
    if (err < 0)
        return err;
    choose_name(f);
    return 0;
}

/* The MTU of the way to the target, 0 when it cannot be told. */
static int path_mtu_bytes(const struct flow *f)
{
    bool is_v6 = f->target.ss_family == AF_INET6;
    int fd = socket(f->target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int bytes = 0;
    socklen_t len = sizeof(bytes);

    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)&f->target, f->target_len) < 0 ||
        getsockopt(fd, is_v6 ? IPPROTO_IPV6 : IPPROTO_IP, is_v6 ? IPV6_MTU : IP_MTU,
                   &bytes, &len) < 0)
        bytes = 0;
    close(fd);
    return bytes;
}

/* A datagram over the MTU goes in fragments, and is lost when one of them is. */
static int tell_fragments(struct flow *f, struct fail *fail)
{
    size_t headers_bytes = (f->target.ss_family == AF_INET6 ? 40 : 20) + 8;
    int mtu_bytes = path_mtu_bytes(f);
    char text[80];

    (void)fail;
    if (!mtu_bytes || f->form.size_bytes + headers_bytes <= (size_t)mtu_bytes)
        return 0;
    snprintf(text, sizeof(text), "yes: %zu bytes with headers, and the MTU is %d",
             f->form.size_bytes + headers_bytes, mtu_bytes);
    f->env->fact(f->env, "fragmented", text);
    return 0;
}

/* As many messages as one segmented send carries. */
static int size_segments(struct flow *f, struct fail *fail)
{
    size_t most;

    if (!f->gso)
        return 0;
    if (!f->form.size_bytes)
        return fail_set(fail, EINVAL, "gso", "empty datagrams cannot be sent by gso");
    most = DATAGRAM_MAX_IPV4 / f->form.size_bytes;
    if (f->batch == 1)
        f->batch = SEGMENTS_MAX;
    if (f->batch > most)
        f->batch = most ? most : 1;
    return 0;
}

static int make_payloads(struct flow *f, struct fail *fail)
{
    size_t size_bytes = f->form.size_bytes;

    f->payloads = malloc((size_t)f->batch * size_bytes + 1);
    f->calls = calloc((size_t)f->batch, sizeof(*f->calls));
    f->vectors = calloc((size_t)f->batch, sizeof(*f->vectors));
    if (!f->payloads || !f->calls || !f->vectors)
        return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    for (size_t i = 0; i < f->batch; i++) {
        struct msghdr *m = &f->calls[i].msg_hdr;

        datagram_fill(&f->form, f->payloads + i * size_bytes);
        f->vectors[i].iov_base = f->payloads + i * size_bytes;
        f->vectors[i].iov_len = size_bytes;
        m->msg_iov = &f->vectors[i];
        m->msg_iovlen = 1;
        m->msg_name = f->connected ? NULL : &f->target;
        m->msg_namelen = f->connected ? 0 : f->target_len;
    }
    return 0;
}

static int set_segments(const struct flow *f, struct fail *fail)
{
    int bytes = (int)f->form.size_bytes;

    if (f->gso && setsockopt(f->fd, IPPROTO_UDP, UDP_SEGMENT, &bytes, sizeof(bytes)) < 0)
        return fail_set(fail, errno, "gso", "this kernel cannot segment UDP sends");
    return 0;
}

/*
 * The one socket of the cached strategies. An unconnected one hears of a closed port
 * only with IP_RECVERR.
 */
static int make_cached_socket(struct flow *f, struct fail *fail)
{
    bool is_v6 = f->target.ss_family == AF_INET6;
    int one = 1;

    if (f->is_fresh)
        return 0;
    if (f->resolve_each)
        f->connected = false; /* it is sent to the address found each time */
    f->fd = open_socket(f);
    if (f->fd < 0)
        return fail_set(fail, -f->fd, "socket", "no socket to %s can be made",
                        f->env->endpoint);
    setsockopt(f->fd, is_v6 ? IPPROTO_IPV6 : IPPROTO_IP,
               is_v6 ? IPV6_RECVERR : IP_RECVERR, &one, sizeof(one));
    return set_segments(f, fail);
}

/* Sockets in parallel may be many: this process may have as many as it is allowed. */
static void raise_descriptor_limit(const struct flow *f)
{
    struct rlimit limit;

    if (!f->is_fresh || !f->is_parallel || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int use_histograms(struct flow *f, struct fail *fail)
{
    static const enum meter_hist used[] = {METER_HIST_service, METER_HIST_failure,
                                           METER_HIST_connect, METER_HIST_pacing};

    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        if (meter_use(f->meter, used[i]) < 0)
            return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    return 0;
}

static int make_events(struct flow *f, struct fail *fail)
{
    struct event_base *base = f->env->base;

    pacer_start(&f->pacer, now_ns(), f->rate, NS_PER_S);
    f->writable = event_new(base, f->fd, f->fd < 0 ? 0 : EV_WRITE, on_writable, f);
    f->closing = event_new(base, -1, 0, on_closing, f);
    if (!f->writable || !f->closing ||
        pacer_timer_init(&f->timer, base, &f->pacer, slice, f) < 0)
        return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    return 0;
}

static void client_free(struct flow *f)
{
    pacer_timer_done(&f->timer);
    if (f->writable)
        event_free(f->writable);
    if (f->closing)
        event_free(f->closing);
    while (close_some(f))
        continue;
    if (f->fd >= 0)
        close(f->fd);
    free(f->sockets);
    free(f->vectors);
    free(f->calls);
    free(f->payloads);
    free(f);
}

static int client_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    static int (*const steps[])(struct flow * f, struct fail * fail) = {
        read_strategy,  read_amounts,       read_payload,  size_segments,  read_target,
        tell_fragments, make_cached_socket, make_payloads, use_histograms, make_events,
    };
    struct flow *f = calloc(1, sizeof(*f));
    int err = 0;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    f->env = env;
    f->meter = env->meter;
    f->fd = -1;
    for (size_t i = 0; err == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
        err = steps[i](f, fail);
    if (err < 0) {
        client_free(f);
        return err;
    }
    raise_descriptor_limit(f);
    *flow = f;
    return 0;
}

/* The schedules of several client processes are interleaved evenly. */
static uint64_t schedule_base_ns(const struct flow *f)
{
    uint64_t sender = options_number(f->env->options, "sender", 0);
    uint64_t senders = options_number(f->env->options, "senders", 1);

    if (!f->rate || sender >= senders)
        return f->start_ns;
    return f->start_ns + NS_PER_S / f->rate * sender / senders;
}

static void client_start(struct flow *f, uint64_t start_ns)
{
    f->clock_ns = now_ns();
    f->start_ns = start_ns > f->clock_ns ? start_ns : f->clock_ns;
    f->deadline_ns = f->duration_ns ? f->start_ns + f->duration_ns : UINT64_MAX;
    pacer_start(&f->pacer, schedule_base_ns(f), f->rate, NS_PER_S);
    pacer_timer_arm(&f->timer);
}

static int client_set(struct flow *f, const char *name, uint64_t value)
{
    if (strcmp(name, "rate") != 0)
        return -ENOTSUP;
    if (f->is_over)
        return 0;
    if (!value != !f->rate) /* what was taken by the schedule keeps no intended time */
        f->taken = f->taken_at = 0;
    f->rate = value;
    pacer_set_rate(&f->pacer, value, NS_PER_S, now_ns());
    if (!f->is_paused && f->start_ns)
        pacer_timer_arm(&f->timer);
    return 0;
}

static void client_pause(struct flow *f, bool paused)
{
    uint64_t now = now_ns();

    if (paused == f->is_paused || f->is_over)
        return;
    f->is_paused = paused;
    if (paused) {
        f->paused_ns = now;
        pacer_pause(&f->pacer, now);
        pacer_timer_rest(&f->timer);
        event_del(f->writable);
        return;
    }
    pacer_resume(&f->pacer, now);
    if (f->duration_ns)
        f->deadline_ns += now - f->paused_ns;
    slice(f);
}

static void client_gauge(struct flow *f)
{
    struct meter_gauges *g = &f->meter->gauges;

    g->backlog = f->handed - f->settled;
    if (f->rate && !f->is_over)
        g->backlog += pacer_backlog(&f->pacer, now_ns());
    g->open_connections = f->open + (f->fd >= 0);
}

static void client_stop(struct flow *f)
{
    end(f, OUTCOME_STOPPED, NULL);
}

const struct role role_udp_client = {
    .name = "udp-client",
    .prepare = client_prepare,
    .start = client_start,
    .set = client_set,
    .pause = client_pause,
    .gauge = client_gauge,
    .stop = client_stop,
    .free = client_free,
};
