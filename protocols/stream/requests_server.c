/*
 * The server of small requests. Two protocols:
 *
 *   one message a connection (the documented one): the server sends its message as
 *   soon as a client connects and ends its sending; what the client sends is counted,
 *   until the client ends its own
 *
 *   `persistent` 1: for each message's length of bytes that a client sends, the server
 *   sends its message, which has the same length; the connection stays until the
 *   client ends
 *
 * Options: persistent (0), message, message_size (requests.h), foreign (1: a line in
 * the log for each client), drain (ns a stopped server leaves to open connections,
 * 1 s), and those of listener_open.
 */
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocols/acceptor.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/role.h"
#include "protocols/stream/block.h"
#include "protocols/stream/requests.h"

/* A client that asks and does not read is not read from either beyond this. */
#define OWED_MAX_BYTES (1u << 20)

struct peer {
    struct flow *flow; /* borrowed */
    struct conn conn;
    struct event in;
    struct event out;
    bool watched;        /* the events are assigned */
    bool in_ended;       /* the client has ended its sending */
    bool out_ended;      /* the server has */
    uint64_t owed_bytes; /* due to the client and not sent */
    uint64_t sent_bytes; /* position in the message: modulo its length */
    uint64_t received_bytes;
    unsigned number;
    struct peer *next, *previous;
};

struct flow {
    struct flow_env *env; /* borrowed */
    struct request_message message;
    bool persistent;
    bool foreign;
    struct acceptor *acceptor;
    struct peer *peers;
    unsigned accepted;
    struct event *drain;
    char *received; /* REQUEST_CHUNK bytes, overwritten by every read */
    bool stopping;
    bool finished;
};

static void server_finish(struct flow *f)
{
    const char *exhausted = acceptor_exhausted(f->acceptor);

    if (f->finished)
        return;
    f->finished = true;
    f->env->finished(f->env, exhausted ? OUTCOME_EXHAUSTED : OUTCOME_COMPLETED,
                     exhausted);
}

static void peer_free(struct peer *p)
{
    struct flow *f = p->flow;

    if (p->watched) {
        event_del(&p->in);
        event_del(&p->out);
    }
    conn_close(&p->conn);
    if (p->next)
        p->next->previous = p->previous;
    if (p->previous)
        p->previous->next = p->next;
    else
        f->peers = p->next;
    free(p);
    acceptor_closed(f->acceptor);
}

static void peer_end(struct peer *p, const char *phase, int err)
{
    struct flow *f = p->flow;

    if (err)
        tally_errno(&f->env->meter->errors, phase, -err);
    if (f->foreign)
        f->env->note(f->env,
                     "client %u: sent %" PRIu64 " bytes, received %" PRIu64 " bytes%s%s",
                     p->number, p->sent_bytes, p->received_bytes, err ? ", " : "",
                     err ? strerror(-err) : "");
    peer_free(p);
    if (f->stopping && !f->peers)
        server_finish(f);
}

/* Send what is owed. 0, -EAGAIN when the kernel takes no more, or why it failed. */
static int peer_send(struct peer *p)
{
    const struct request_message *m = &p->flow->message;
    struct meter_counters *counters = &p->flow->env->meter->counters;

    while (p->owed_bytes > 0) {
        size_t at = (size_t)(p->sent_bytes % m->len_bytes);
        size_t len = m->len_bytes - at;
        ssize_t n = write(p->conn.out, m->bytes + at, len);

        if (n < 0)
            return errno == EINTR ? -EAGAIN : -errno;
        p->sent_bytes += (uint64_t)n;
        p->owed_bytes -= (uint64_t)n;
        counters->sent_bytes += (uint64_t)n;
        if ((size_t)n == len)
            counters->sent_messages++;
    }
    return 0;
}

static void count_received(struct peer *p, size_t n)
{
    const struct flow *f = p->flow;
    uint64_t before = p->received_bytes / f->message.len_bytes;
    uint64_t messages;

    p->received_bytes += n;
    f->env->meter->counters.received_bytes += n;
    meter_span_reach(&f->env->meter->received, now_ns());
    messages = p->received_bytes / f->message.len_bytes - before;
    f->env->meter->counters.received_messages += messages;
    if (f->persistent)
        p->owed_bytes += messages * f->message.len_bytes;
}

/* Read what is there. 0 when the client has ended, -EAGAIN, or why it failed. */
static int peer_receive(struct peer *p)
{
    for (;;) {
        ssize_t n = read(p->conn.in, p->flow->received, REQUEST_CHUNK);

        if (n < 0)
            return errno == EINTR ? -EAGAIN : -errno;
        if (n == 0)
            return 0;
        p->conn.unopened = false;
        count_received(p, (size_t)n);
        if (p->flow->persistent)
            return -EAGAIN; /* answer first; the event comes again */
    }
}

/* Watch for what is still to come, and only for that. */
static void peer_watch(struct peer *p)
{
    if (p->in_ended || p->owed_bytes > OWED_MAX_BYTES)
        event_del(&p->in);
    else
        event_add(&p->in, NULL);
    if (p->owed_bytes > 0)
        event_add(&p->out, NULL);
    else
        event_del(&p->out);
}

/*
 * Send, and end the sending when nothing more is owed: at once, or on a kept
 * connection after the client has ended. Returns as peer_send does.
 */
static int peer_flush(struct peer *p)
{
    int err = peer_send(p);

    if (err || p->out_ended || (p->flow->persistent && !p->in_ended))
        return err;
    p->out_ended = true;
    return p->conn.transport->finish(&p->conn);
}

/*
 * Sending comes first: a client waits for it, and has mostly ended its own sending by
 * the time it is done, so that the connection needs no event at all.
 */
static void peer_pump(struct peer *p)
{
    const char *phase = "send";
    int err = peer_flush(p);

    if ((!err || err == -EAGAIN) && !p->in_ended && !p->conn.unopened) {
        phase = "receive";
        err = peer_receive(p);
        p->in_ended = err == 0;
        if (!err || err == -EAGAIN) {
            phase = "send";
            err = peer_flush(p);
        }
    }
    if (err && err != -EAGAIN)
        peer_end(p, phase, err);
    else if (p->in_ended && p->out_ended)
        peer_end(p, NULL, 0);
    else
        peer_watch(p);
}

static void peer_in(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;

    (void)fd;
    (void)what;
    p->conn.unopened = false;
    peer_pump(p);
}

static void peer_out(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    peer_pump(arg);
}

static void peer_link(struct flow *f, struct peer *p, const struct conn *c)
{
    p->flow = f;
    p->conn = *c;
    p->number = ++f->accepted;
    p->next = f->peers;
    if (f->peers)
        f->peers->previous = p;
    f->peers = p;
}

static void server_accepted(void *owner, const struct conn *conn)
{
    struct flow *f = owner;
    struct peer *p = calloc(1, sizeof(*p));
    struct conn copy = *conn;

    if (!p) {
        conn_close(&copy);
        acceptor_closed(f->acceptor);
        return;
    }
    peer_link(f, p, conn);
    if (!f->persistent)
        p->owed_bytes = f->message.len_bytes;
    event_assign(&p->in, f->env->base, p->conn.in, EV_READ | EV_PERSIST, peer_in, p);
    event_assign(&p->out, f->env->base, p->conn.out, EV_WRITE | EV_PERSIST, peer_out, p);
    p->watched = true;
    peer_pump(p);
}

static void server_cut(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    while (f->peers)
        peer_free(f->peers);
    server_finish(f);
}

static void server_free(struct flow *f)
{
    if (!f)
        return;
    while (f->peers)
        peer_free(f->peers);
    acceptor_free(f->acceptor);
    event_drop(f->drain);
    request_message_done(&f->message);
    free(f->received);
    free(f);
}

static int server_prepare(struct flow_env *env, struct flow **out, struct fail *fail)
{
    struct flow *f = calloc(1, sizeof(*f));
    int err;

    *out = NULL;
    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the server cannot be made");
    f->env = env;
    f->persistent = options_number(env->options, OPTION_persistent, 0);
    f->foreign = options_number(env->options, OPTION_foreign, 0);
    f->received = block_new(REQUEST_CHUNK);
    f->drain = evtimer_new(env->base, server_cut, f);
    err = f->received && f->drain
              ? request_message_init(&f->message, env->options, fail)
              : fail_set(fail, ENOMEM, "prepare", "the server cannot be made");
    if (!err)
        err = acceptor_new(&f->acceptor, env, server_accepted, f, fail);
    if (err)
        server_free(f);
    else
        *out = f;
    return err;
}

static int server_check(const struct options *o, struct fail *fail)
{
    int err = request_message_check(o, fail);

    return err ? err : listener_check(o, fail);
}

static void server_start(struct flow *f, uint64_t start_ns)
{
    (void)f;
    (void)start_ns;
}

static void server_stop(struct flow *f)
{
    struct timeval span =
        timeval_from_ns(options_number(f->env->options, OPTION_drain, NS_PER_S));

    if (f->stopping)
        return;
    f->stopping = true;
    acceptor_shut(f->acceptor);
    if (f->peers)
        event_add(f->drain, &span);
    else
        server_finish(f);
}

const struct role role_requests_server = {
    .name = "requests-server",
    .check = server_check,
    .prepare = server_prepare,
    .start = server_start,
    .stop = server_stop,
    .free = server_free,
};
