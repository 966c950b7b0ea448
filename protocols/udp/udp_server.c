/*
 * The role "udp-server": counts datagrams, and says of each message that is missing
 * whether the kernel dropped it at this socket.
 *
 * Options
 *   host, port      where to listen (127.0.0.1, 8123); port 0 takes a free one
 *   receive_buffer  bytes for SO_RCVBUF; 0 leaves the system's default
 *   multicast       a group to receive from (protocols/udp/udp_group.h)
 *   receivers       sockets that join it, each with a buffer and counts of its own (1)
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
 * Facts: receive_buffer_bytes and receive_buffer_limit_bytes as the kernel counts them,
 * receive_buffer_fullest_bytes the most that was seen in it (all of it where something
 * was dropped), overflow_confirmed, nth_seconds; of several receivers lost_by_receiver
 * and dropped_by_receiver. What the meter counts is the sum over them.
 *
 * How it receives
 *   Up to INBOX datagrams a system call, straight into the counters. While datagrams
 *   keep coming it waits for the next one in that call, for WAIT at most, and goes
 *   back to the event loop only when it is due there: that saves the two further
 *   calls that each turn of the loop costs. Of several receivers none waits, or the
 *   buffers of the others would fill meanwhile.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/event.h"
#include "protocols/role.h"
#include "protocols/udp/udp_count.h"
#include "protocols/udp/udp_drops.h"
#include "protocols/udp/udp_group.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define DEFAULT_PORT 8123
#define INBOX 64
#define BUFFER_BYTES 65536
/* Not a power of two apart, or all buffers would compete for the same cache lines. */
#define BUFFER_STEP (BUFFER_BYTES + 192)
#define CONTROL_BYTES (CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(int)))

#define WAIT_NS (2 * NS_PER_MS) /* for the next datagram, in the receiving call */
#define TURN_NS (5 * NS_PER_MS) /* away from the event loop */
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

struct receiver {
    struct flow *flow; /* borrowed */
    struct event *readable;
    int fd;
    uint32_t attached; /* the latest count of drops that came with a datagram */
    uint64_t queued_bytes, fullest_bytes;
    struct udp_count count;
};

struct flow {
    struct flow_env *env;
    struct event *timer;
    enum phase phase;

    bool gro;
    struct udp_group group;
    uint64_t drain_ns;
    uint64_t accepted; /* by the senders' kernels; 0: unknown */
    uint64_t stopped_ns;
    size_t receiver_count;
    struct receiver *receivers; /* owned */
    struct inbox inbox;
};

/* Receiving. */

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
        /* The first one brings the drop count; the segment size comes with each. */
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

static void take_message(struct receiver *r, const struct mmsghdr *m, uint64_t now)
{
    size_t len = m->msg_len;

    udp_count_take(&r->count, m->msg_hdr.msg_iov->iov_base, len,
                   r->flow->gro ? segment_bytes(&m->msg_hdr, len) : len, now);
}

/* One system call's worth of datagrams. 0 when there were none, or -errno. */
static int receive(struct receiver *r, int flags, uint64_t *now)
{
    struct flow *f = r->flow;
    struct mmsghdr *messages = f->inbox.messages;
    int n;

    for (size_t i = 0; i < (f->gro ? INBOX : 1); i++)
        messages[i].msg_hdr.msg_controllen = CONTROL_BYTES;
    n = recvmmsg(r->fd, messages, INBOX, flags, NULL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    *now = now_ns();
    for (int i = 0; i < n; i++)
        take_message(r, &messages[i], *now);
    if (n > 0 && udp_drops_attached(&messages[0].msg_hdr, &r->attached) == 0)
        udp_count_drops(&r->count, r->attached);
    return n;
}

static void check_missing(struct flow *f);
static void ask_drops(struct receiver *r);

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct receiver *r = arg;
    struct flow *f = r->flow;
    uint64_t begin = now_ns(), now = begin;
    int flags = f->receiver_count > 1 ? MSG_DONTWAIT : MSG_WAITFORONE;
    int n = receive(r, MSG_DONTWAIT, &now);

    (void)fd;
    (void)what;
    if (n == INBOX) /* more may be waiting: how much? */
        ask_drops(r);
    while (n > 0 && now - begin < TURN_NS)
        n = receive(r, flags, &now);
    if (n < 0)
        tally_errno(&f->env->meter->errors, "receive", -n);
    if (n <= 0)
        check_missing(f);
}

/* The end. */

static int buffer_bytes(int fd)
{
    int bytes = 0;
    socklen_t len = sizeof(bytes);

    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len);
    return bytes;
}

static void ask_drops(struct receiver *r)
{
    uint32_t count;

    if (udp_drops_ask(r->fd, &count, &r->queued_bytes) < 0)
        return;
    udp_count_drops(&r->count, count);
    if (r->queued_bytes > r->fullest_bytes)
        r->fullest_bytes = r->queued_bytes;
}

static void ask_all_drops(struct flow *f)
{
    uint64_t queued_bytes = 0;

    for (size_t i = 0; i < f->receiver_count; i++) {
        ask_drops(&f->receivers[i]);
        queued_bytes += f->receivers[i].queued_bytes;
    }
    f->env->meter->gauges.receive_queue_bytes = queued_bytes;
}

/* A buffer that dropped was full, whenever it was looked at. */
static void tell_fullest(struct flow *f)
{
    uint64_t most = 0;
    char text[32];

    for (size_t i = 0; i < f->receiver_count; i++) {
        const struct receiver *r = &f->receivers[i];
        uint64_t bytes =
            r->count.drops.total ? (uint64_t)buffer_bytes(r->fd) : r->fullest_bytes;

        if (bytes > most)
            most = bytes;
    }
    snprintf(text, sizeof(text), "%" PRIu64, most);
    f->env->fact(f->env, "receive_buffer_fullest_bytes", text);
}

/* The kernel's count by each of the ways to ask for it. */
static void tell_drops(struct flow *f)
{
    uint64_t listed = 0, total = 0, attached = 0;
    char text[200];

    for (size_t i = 0; i < f->receiver_count; i++) {
        const struct receiver *r = &f->receivers[i];
        uint64_t drops;

        if (udp_drops_listed(r->fd, &drops) < 0) {
            f->env->fact(f->env, "overflow_confirmed",
                         "unknown: the socket is not listed in "
                         "/proc/net/udp");
            return;
        }
        listed += (uint32_t)drops;
        total += r->count.drops.total;
        attached += r->attached;
    }
    snprintf(text, sizeof(text),
             "%s: SO_MEMINFO %" PRIu64 ", /proc/net/udp %" PRIu64
             ", SO_RXQ_OVFL with the last datagram %" PRIu64 "%s",
             (uint32_t)listed == (uint32_t)total ? "yes" : "no", total, listed, attached,
             f->gro ? "; each may hold several messages" : "");
    f->env->fact(f->env, "overflow_confirmed", text);
}

/* Of several receivers what each has lost, in the order in which they joined. */
static void tell_receivers(struct flow *f)
{
    char lost[160] = "", dropped[160] = "";
    int lost_len = 0, dropped_len = 0;

    if (f->receiver_count == 1)
        return;
    for (size_t i = 0; i < f->receiver_count; i++) {
        const struct udp_count *c = &f->receivers[i].count;
        const char *comma = i ? ", " : "";

        lost_len += snprintf(lost + lost_len, sizeof(lost) - (size_t)lost_len,
                             "%s%" PRIu64, comma, udp_count_missing(c, f->accepted));
        dropped_len +=
            snprintf(dropped + dropped_len, sizeof(dropped) - (size_t)dropped_len,
                     "%s%" PRIu64, comma, c->drops.total);
        if (lost_len >= (int)sizeof(lost) || dropped_len >= (int)sizeof(dropped))
            break;
    }
    f->env->fact(f->env, "lost_by_receiver", lost);
    f->env->fact(f->env, "dropped_by_receiver", dropped);
}

static void end(struct flow *f)
{
    f->phase = PHASE_OVER;
    event_del(f->timer);
    ask_all_drops(f);
    for (size_t i = 0; i < f->receiver_count; i++) {
        event_del(f->receivers[i].readable);
        udp_count_close(&f->receivers[i].count, f->accepted);
    }
    tell_drops(f);
    tell_fullest(f);
    tell_receivers(f);
    f->env->finished(f->env, OUTCOME_COMPLETED, NULL);
}

static bool is_explained(const struct flow *f)
{
    for (size_t i = 0; i < f->receiver_count; i++)
        if (!udp_count_is_explained(&f->receivers[i].count, f->accepted))
            return false;
    return true;
}

/*
 * While draining, with nothing left to read just now: is every message accounted for?
 * Then there is nothing to wait for.
 */
static void check_missing(struct flow *f)
{
    if (f->phase != PHASE_DRAINING || !f->accepted)
        return;
    if (!is_explained(f))
        ask_all_drops(f);
    if (is_explained(f))
        end(f);
}

static void arm(struct flow *f, uint64_t span_ns)
{
    struct timeval tv = timeval_from_ns(span_ns);

    event_add(f->timer, &tv);
}

static void drain(struct flow *f, uint64_t now)
{
    uint64_t since_ns = f->stopped_ns, quiet_ns;

    for (size_t i = 0; i < f->receiver_count; i++)
        if (f->receivers[i].count.arrival_ns > since_ns)
            since_ns = f->receivers[i].count.arrival_ns;
    quiet_ns = now > since_ns ? now - since_ns : 0;
    if (quiet_ns < f->drain_ns && now - f->stopped_ns < DRAINS_MAX * f->drain_ns) {
        arm(f, f->drain_ns - quiet_ns);
        return;
    }
    ask_all_drops(f);
    if (is_explained(f)) {
        end(f);
        return;
    }
    f->phase = PHASE_LINGERING;
    for (size_t i = 0; i < f->receiver_count; i++)
        f->receivers[i].count.is_late = true;
    arm(f, f->drain_ns);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;
    uint64_t begin = now_ns(), now = begin;

    (void)fd;
    (void)what;
    if (f->phase == PHASE_DRAINING)
        drain(f, now);
    else if (f->phase == PHASE_LINGERING) {
        /* What came in time waits in the buffer if this process had to wait itself. */
        for (size_t i = 0; i < f->receiver_count; i++, begin = now)
            while (receive(&f->receivers[i], MSG_DONTWAIT, &now) > 0 &&
                   now - begin < TURN_NS)
                continue;
        end(f);
    }
}

static void server_stop(struct flow *f)
{
    uint64_t now;
    bool is_empty = true;

    if (f->phase != PHASE_SERVING)
        return;
    f->phase = PHASE_DRAINING;
    f->stopped_ns = now_ns();
    for (size_t i = 0; i < f->receiver_count; i++)
        is_empty &= receive(&f->receivers[i], MSG_DONTWAIT, &now) <= 0;
    if (is_empty)
        check_missing(f);
    if (f->phase == PHASE_DRAINING)
        arm(f, f->drain_ns);
}

/* The beginning. */

/* 0: not known, as in the network namespaces of older kernels. */
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

/* The kernel doubles what is asked for, and cuts it at rmem_max unless forced. */
static void set_receive_buffer(int fd, int bytes)
{
    if (!bytes)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    if (buffer_bytes(fd) < 2 * bytes)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
}

static int wanted_buffer_bytes(const struct flow *f)
{
    uint64_t asked_bytes = options_number(f->env->options, OPTION_receive_buffer, 0);

    return asked_bytes > INT_MAX / 2 ? INT_MAX / 2 : (int)asked_bytes;
}

static void tell_receive_buffer(struct flow *f)
{
    int wanted = wanted_buffer_bytes(f), bytes = buffer_bytes(f->receivers[0].fd);
    uint64_t limit = receive_buffer_limit();
    char text[32];

    snprintf(text, sizeof(text), "%d", bytes);
    f->env->fact(f->env, "receive_buffer_bytes", text);
    snprintf(text, sizeof(text), "%" PRIu64, limit);
    if (limit)
        f->env->fact(f->env, "receive_buffer_limit_bytes", text);
    if (wanted && bytes < 2 * wanted)
        f->env->note(f->env,
                     "the receive buffer asked for is %d bytes; the system gives %d "
                     "(net.core.rmem_max is %" PRIu64 ")",
                     wanted, bytes / 2, limit);
}

static void set_socket_options(struct flow *f, int fd)
{
    struct timeval wait = timeval_from_ns(WAIT_NS);
    int one = 1;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof(one));
    set_receive_buffer(fd, wanted_buffer_bytes(f));
    if (f->gro && setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) < 0) {
        f->env->note(f->env, "this kernel has no UDP_GRO; datagrams are read one by one");
        f->gro = false;
    }
}

static int wanted_endpoint(struct endpoint *e, const struct options *o, struct fail *fail)
{
    memset(e, 0, sizeof(*e));
    e->kind = ENDPOINT_UDP;
    e->port = (unsigned)options_number(o, OPTION_port, DEFAULT_PORT);
    return endpoint_set_host(e, options_text(o, OPTION_host, "127.0.0.1"), fail);
}

static int server_check(const struct options *o, struct fail *fail)
{
    struct udp_group group;
    struct endpoint e;
    int err = wanted_endpoint(&e, o, fail);

    return err < 0 ? err : udp_group_read(&group, o, fail);
}

/* Where to listen: at the group's address if there is one. */
static int wanted_address(struct flow *f, struct endpoint *e,
                          struct sockaddr_storage *address, socklen_t *len,
                          struct fail *fail)
{
    int err = wanted_endpoint(e, f->env->options, fail);

    if (err == 0)
        err = udp_group_read(&f->group, f->env->options, fail);
    if (err == 0 && f->group.is_set)
        inet_ntop(AF_INET, &f->group.address, e->host, sizeof(e->host));
    return err < 0 ? err : endpoint_address(e, address, len, fail);
}

/* One more socket at the address, which has its port afterwards. */
static int listen_at(struct receiver *r, const struct endpoint *e,
                     struct sockaddr_storage *address, socklen_t *len, struct fail *fail)
{
    struct flow *f = r->flow;
    int err;

    r->fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (r->fd < 0)
        return fail_set(fail, errno, "socket", "no UDP socket could be made");
    set_socket_options(f, r->fd);
    err = f->group.is_set ? udp_group_join(&f->group, r->fd) : 0;
    if (err < 0)
        return fail_set(fail, -err, "multicast", "the group %s cannot be joined",
                        e->host);
    if (bind(r->fd, (struct sockaddr *)address, *len) < 0)
        return fail_set(fail, errno, "listen", "UDP port %u of %s cannot be listened on",
                        e->port, e->host);
    *len = sizeof(*address);
    if (getsockname(r->fd, (struct sockaddr *)address, len) < 0)
        return fail_set(fail, errno, "listen", "the address of the socket is not known");
    return 0;
}

static int make_receivers(struct flow *f, struct fail *fail)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    struct endpoint e;
    int err = wanted_address(f, &e, &address, &len, fail);

    for (size_t i = 0; err == 0 && i < f->receiver_count; i++)
        err = listen_at(&f->receivers[i], &e, &address, &len, fail);
    if (err < 0)
        return err;
    tell_receive_buffer(f);
    endpoint_from_address(&e, ENDPOINT_UDP, &address);
    endpoint_format(&e, f->env->endpoint, sizeof(f->env->endpoint));
    return 0;
}

static int make_events(struct flow *f)
{
    struct event_base *base = f->env->base;

    f->timer = event_new(base, -1, 0, on_timer, f);
    for (size_t i = 0; i < f->receiver_count; i++) {
        struct receiver *r = &f->receivers[i];

        if (udp_count_init(&r->count, f->env, f->gro) < 0)
            return -ENOMEM;
        r->readable = event_new(base, r->fd, EV_READ | EV_PERSIST, on_readable, r);
        if (!r->readable || event_add(r->readable, NULL) < 0)
            return -ENOMEM;
    }
    return f->timer ? inbox_init(&f->inbox, f->gro) : -ENOMEM;
}

static void server_free(struct flow *f)
{
    for (size_t i = 0; f->receivers && i < f->receiver_count; i++) {
        struct receiver *r = &f->receivers[i];

        event_drop(r->readable);
        if (r->fd >= 0)
            close(r->fd);
        udp_count_done(&r->count);
    }
    event_drop(f->timer);
    free(f->receivers);
    free(f->inbox.buffers);
    free(f);
}

static struct flow *flow_new(struct flow_env *env)
{
    const struct options *o = env->options;
    struct flow *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->env = env;
    f->gro = options_number(o, OPTION_gro, 0);
    f->drain_ns = options_number(o, OPTION_drain, DRAIN_NS);
    f->accepted = options_number(o, OPTION_expect, 0);
    f->receiver_count = options_number(o, OPTION_receivers, 1);
    if (f->receiver_count < 1 || f->receiver_count > UDP_RECEIVERS_MAX)
        f->receiver_count = 1;
    f->receivers = calloc(f->receiver_count, sizeof(*f->receivers));
    for (size_t i = 0; f->receivers && i < f->receiver_count; i++)
        f->receivers[i] = (struct receiver){.flow = f, .fd = -1};
    if (f->receivers)
        return f;
    server_free(f);
    return NULL;
}

static int server_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    struct flow *f = flow_new(env);
    int err;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the UDP server cannot start");
    err = make_receivers(f, fail);
    if (err == 0 && make_events(f) < 0)
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

static int server_set(struct flow *f, enum option option, uint64_t value)
{
    if (option == OPTION_accepted)
        f->accepted = value;
    else if (option != OPTION_shared_clock)
        return -ENOTSUP;
    else /* its histogram is made beforehand */
        for (size_t i = 0; i < f->receiver_count; i++)
            f->receivers[i].count.shared_clock &= value != 0;
    return 0;
}

const struct role role_udp_server = {
    .name = "udp-server",
    .check = server_check,
    .prepare = server_prepare,
    .start = server_start,
    .set = server_set,
    .gauge = ask_all_drops,
    .stop = server_stop,
    .free = server_free,
};
