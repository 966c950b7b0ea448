/*
 * Requests of one process: a new connection for each (client=connection), or one
 * connection for each slot that is kept (client=persistent).
 *
 * The message is written as soon as connect(2) has returned, without waiting for an
 * event: on loopback the connection is there by then, and elsewhere the write says
 * EAGAIN and is repeated when the socket is writable.
 */
#include <errno.h>
#include <event2/event.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/stream/requests.h"

static bool is_persistent(const struct slot *s)
{
    return s->requests->kind == &request_persistent;
}

static void drop(struct slot *s)
{
    if (s->watched) {
        event_del(&s->in);
        event_del(&s->out);
    }
    s->watched = s->out_added = s->again = false;
    if (!s->conn.transport)
        return;
    conn_close(&s->conn);
    request_connection_closed(s->requests);
}

static void fails(struct slot *s, const char *phase, int err)
{
    if (!s->connected_ns)
        phase = "connect";
    drop(s);
    request_failed(s, phase, err);
}

static void fails_word(struct slot *s, const char *word)
{
    drop(s);
    request_failed_word(s, word);
}

static void succeeds(struct slot *s)
{
    struct meter *m = s->requests->env->meter;
    uint64_t now = now_ns();
    uint64_t from_ns = s->connected_ns > s->begun_ns ? s->connected_ns : s->begun_ns;

    if (!is_persistent(s))
        drop(s);
    m->counters.received_messages++;
    meter_record(m, METER_HIST_exchange, now - from_ns);
    request_succeeded(s, now);
}

static void connected(struct slot *s, uint64_t at_ns)
{
    s->connected_ns = at_ns;
    meter_record(s->requests->env->meter, METER_HIST_connect, at_ns - s->begun_ns);
}

/* A kept connection has no end of sending; a pipe not open yet has it later. */
static int finish(struct slot *s)
{
    int err = is_persistent(s) ? 0 : s->conn.transport->finish(&s->conn);

    if (!err)
        s->sent = true;
    return err == -EAGAIN ? 0 : err;
}

static int write_message(struct slot *s)
{
    const struct request_message *m = &s->requests->message;
    struct meter_counters *counters = &s->requests->env->meter->counters;
    ssize_t n;

    while (s->sent_bytes < m->len_bytes) {
        n = write(s->conn.out, m->bytes + s->sent_bytes, m->len_bytes - s->sent_bytes);
        if (n < 0)
            return errno == EINTR ? -EAGAIN : -errno;
        s->sent_bytes += (size_t)n;
        counters->sent_bytes += (uint64_t)n;
    }
    counters->sent_messages++;
    return finish(s);
}

static void watch_out(struct slot *s, bool wanted)
{
    if (s->out_added == wanted)
        return;
    s->out_added = wanted;
    if (wanted)
        event_add(&s->out, NULL);
    else
        event_del(&s->out);
}

/* Send; at_ns is when the connection is known to be there if sending succeeds. */
static void send_message(struct slot *s, uint64_t at_ns)
{
    int err = write_message(s);

    if (err && err != -EAGAIN) {
        fails(s, "send", err);
        return;
    }
    if (!s->connected_ns && s->sent_bytes > 0)
        connected(s, at_ns);
    watch_out(s, err == -EAGAIN);
    if (s->received && s->sent)
        succeeds(s);
}

/* The kept connection ended while nothing was asked: the next request makes another. */
static void ended_early(struct slot *s, int err)
{
    if (!s->busy)
        drop(s);
    else if (err)
        fails(s, "receive", err);
    else
        fails_word(s, "receive closed");
}

static void receive_kept(struct slot *s)
{
    struct requests *r = s->requests;
    ssize_t n = read(s->conn.in, r->received, REQUEST_CHUNK);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        ended_early(s, n < 0 ? -errno : 0);
        return;
    }
    s->received_bytes += (size_t)n;
    r->env->meter->counters.received_bytes += (uint64_t)n;
    if (!s->busy)
        drop(s); /* it spoke unasked: no reply could be told from another */
    else if (s->received_bytes > r->message.len_bytes)
        fails_word(s, "receive excess");
    else if (s->received_bytes == r->message.len_bytes)
        succeeds(s);
}

/* The server, which does not wait for the message, was faster than the client. */
static void reply_before_message(struct slot *s)
{
    s->received = true;
    event_del(&s->in);
}

static void receive_to_end(struct slot *s)
{
    struct requests *r = s->requests;
    const char *fault;
    ssize_t n;

    while ((n = read(s->conn.in, r->received, REQUEST_CHUNK)) > 0) {
        s->received_bytes += (size_t)n;
        r->env->meter->counters.received_bytes += (uint64_t)n;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    fault = request_reply_fault(r, s->received_bytes);
    if (n < 0)
        fails(s, "receive", -errno);
    else if (fault)
        fails_word(s, fault);
    else if (s->sent)
        succeeds(s);
    else
        reply_before_message(s);
}

static void in_ready(evutil_socket_t fd, short what, void *arg)
{
    struct slot *s = arg;
    int err = 0;

    (void)fd;
    (void)what;
    s->conn.unopened = false;
    if (s->busy && !s->sent && s->sent_bytes == s->requests->message.len_bytes)
        err = finish(s);
    if (err)
        fails(s, "send", err);
    else if (is_persistent(s))
        receive_kept(s);
    else
        receive_to_end(s);
}

static void out_ready(evutil_socket_t fd, short what, void *arg)
{
    struct slot *s = arg;
    int err = s->connected_ns ? 0 : s->conn.transport->connected(&s->conn);

    (void)fd;
    (void)what;
    if (err && err != -EAGAIN)
        fails(s, "connect", err);
    else
        send_message(s, now_ns());
}

static void watch(struct slot *s)
{
    struct event_base *base = s->requests->env->base;

    event_assign(&s->in, base, s->conn.in, EV_READ | EV_PERSIST, in_ready, s);
    event_assign(&s->out, base, s->conn.out, EV_WRITE | EV_PERSIST, out_ready, s);
    s->watched = true;
    event_add(&s->in, NULL);
}

static void open_and_send(struct slot *s)
{
    struct requests *r = s->requests;
    int err = r->target.transport->connect(&r->target, &s->conn);

    if (err == -EAGAIN) {
        s->again = true;
        request_again(s);
        return;
    }
    if (err) {
        conn_init(&s->conn);
        fails(s, "connect", err);
        return;
    }
    request_connection_opened(r);
    watch(s);
    send_message(s, now_ns());
}

static void begin(struct slot *s)
{
    s->sent = s->received = false;
    s->sent_bytes = s->received_bytes = 0;
    if (s->conn.transport) {
        send_message(s, s->begun_ns);
        return;
    }
    s->connected_ns = 0;
    open_and_send(s);
}

static void again(struct slot *s)
{
    s->again = false;
    open_and_send(s);
}

static int prepare(struct requests *r, struct fail *fail)
{
    if (meter_use(r->env->meter, METER_HIST_connect) < 0 ||
        meter_use(r->env->meter, METER_HIST_exchange) < 0)
        return fail_set(fail, ENOMEM, "prepare", "the client cannot be made");
    return 0;
}

const struct request_kind request_connection = {
    .name = "connection",
    .prepare = prepare,
    .begin = begin,
    .abandon = drop,
    .again = again,
};

const struct request_kind request_persistent = {
    .name = "persistent",
    .prepare = prepare,
    .begin = begin,
    .abandon = drop,
    .again = again,
};
