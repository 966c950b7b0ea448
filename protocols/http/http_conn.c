#include "protocols/http/http_conn.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/congestion.h"

#define ONE_SEGMENT 1400u

static void on_readable(evutil_socket_t fd, short what, void *arg);
static void on_writable(evutil_socket_t fd, short what, void *arg);

struct http_conn *http_conn_new(struct http_shared *shared, void *owner)
{
    struct http_conn *c = calloc(1, sizeof(*c) + shared->depth * sizeof(c->slots[0]));

    if (!c)
        return NULL;
    c->shared = shared;
    c->owner = owner;
    c->fd = -1;
    return c;
}

void http_conn_free(struct http_conn *c)
{
    if (!c)
        return;
    http_conn_close(c);
    free(c);
}

void http_conn_close(struct http_conn *c)
{
    if (c->fd < 0)
        return;
    event_del(&c->readable);
    event_del(&c->writable);
    close(c->fd);
    c->fd = -1;
    c->state = HTTP_CLOSED;
    c->write_err = 0;
    c->is_blocked = false;
    c->pending = 0;
    c->offset = 0;
}

static void lose(struct http_conn *c, const char *what, int err)
{
    http_conn_close(c);
    c->pending = 0;
    c->shared->lost(c, what, err);
}

struct http_slot http_conn_pop(struct http_conn *c)
{
    struct http_slot slot = c->slots[c->head];

    assert(c->in_flight > 0);
    c->head = (c->head + 1) % c->shared->depth;
    c->in_flight--;
    return slot;
}

void http_conn_push(struct http_conn *c, uint64_t intended_ns, uint64_t now_ns)
{
    struct http_slot *slot;

    assert(c->in_flight < c->shared->depth);
    slot = &c->slots[(c->head + c->in_flight) % c->shared->depth];
    *slot = (struct http_slot){.intended_ns = intended_ns, .start_ns = now_ns};
    if (c->state == HTTP_OPEN)
        slot->sent_ns = now_ns;
    c->in_flight++;
    c->pending += c->shared->request->len;
}

/* Body bytes among the first n bytes of a request. */
static size_t body_within(const struct http_request *r, size_t n)
{
    return n > r->head_len ? n - r->head_len : 0;
}

/* n bytes of the stream of requests have been accepted by the kernel. */
static void count_sent(struct http_conn *c, size_t n)
{
    const struct http_request *r = c->shared->request;
    struct meter_counters *m = &c->shared->meter->counters;
    size_t end = c->offset + n;
    size_t whole = end / r->len;

    m->sent_wire_bytes += n;
    m->sent_messages += whole;
    m->sent_bytes += whole * (r->len - r->head_len) + body_within(r, end % r->len) -
                     body_within(r, c->offset);
    c->offset = end % r->len;
    c->pending -= n;
}

/*
 * Send what is pending. 0, -EAGAIN when the socket is full, or another negative errno.
 */
static int push_bytes(struct http_conn *c)
{
    const struct http_shared *shared = c->shared;
    size_t run = (size_t)shared->copies * shared->request->len;

    while (c->pending) {
        size_t len = run - c->offset < c->pending ? run - c->offset : c->pending;
        ssize_t n = send(c->fd, shared->stream + c->offset, len, MSG_NOSIGNAL);

        if (n < 0)
            return errno == EINTR ? -EAGAIN : -errno;
        count_sent(c, (size_t)n);
    }
    return 0;
}

/*
 * What a send came to. A server may refuse a request while it is being sent, and say
 * why before it closes: so a failed send only ends the sending, and reading decides.
 */
static void sent(struct http_conn *c, int err)
{
    if (err == -EAGAIN) {
        c->is_blocked = true;
        event_add(&c->writable, NULL);
    } else if (err) {
        c->write_err = -err;
        c->pending = 0;
    }
}

/* The connection stands; bytes may have gone out already. */
static void established(struct http_conn *c, uint64_t now_ns)
{
    struct meter *m = c->shared->meter;

    c->state = HTTP_OPEN;
    c->replies = 0;
    m->counters.connections++;
    meter_record(m, METER_HIST_connect, now_ns - c->connect_ns);
    for (unsigned i = 0; i < c->in_flight; i++)
        c->slots[(c->head + i) % c->shared->depth].sent_ns = now_ns;
    http_parse_init(&c->parse, c->shared->no_body, &c->shared->seen);
    memset(&c->line, 0, sizeof(c->line));
    event_add(&c->readable, NULL);
    c->shared->opened(c, now_ns);
}

/* For one short segment, neither Nagle nor congestion control has anything to decide. */
static int new_socket(const struct http_shared *shared)
{
    int family = shared->address.ss_family;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0)
        return -errno;
    if (family == AF_UNIX ||
        (shared->request->close && shared->request->len <= ONE_SEGMENT))
        return fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    congestion_set(fd, shared->congestion);
    return fd;
}

/*
 * On loopback a connection stands when connect returns, though it says EINPROGRESS; a
 * send right away then saves a turn of the loop.
 */
static void connect_now(struct http_conn *c, uint64_t at_ns)
{
    const struct http_shared *shared = c->shared;
    int fd = new_socket(shared);
    size_t before;
    int err;

    if (fd < 0) {
        lose(c, "socket", -fd);
        return;
    }
    c->fd = fd;
    c->replies = 0;
    c->connect_ns = at_ns;
    c->state = HTTP_CONNECTING;
    event_assign(&c->readable, shared->base, fd, shared->read_events, on_readable, c);
    event_assign(&c->writable, shared->base, fd, EV_WRITE, on_writable, c);
    if (connect(fd, (const struct sockaddr *)&shared->address, shared->address_len) < 0 &&
        errno != EINPROGRESS && errno != EINTR) {
        lose(c, "connect", errno);
        return;
    }
    before = c->pending;
    err = push_bytes(c);
    if (c->pending < before) {
        established(c, now_ns());
        sent(c, err);
    } else if (err == 0 || err == -EAGAIN) {
        event_add(&c->writable, NULL);
    } else {
        lose(c, "connect", -err);
    }
}

void http_conn_send(struct http_conn *c, uint64_t at_ns)
{
    if (c->state == HTTP_CLOSED)
        connect_now(c, at_ns);
    else if (c->state == HTTP_OPEN && !c->is_blocked)
        sent(c, push_bytes(c));
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct http_conn *c = arg;
    socklen_t len = sizeof(int);
    int err = 0;

    (void)what;
    if (c->state == HTTP_CONNECTING) {
        if (getsockopt((int)fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
            err = errno;
        if (err) {
            lose(c, "connect", err);
            c->shared->idle(c, now_ns());
            return;
        }
        established(c, now_ns());
    }
    c->is_blocked = false;
    sent(c, push_bytes(c));
    c->shared->idle(c, now_ns());
}

/*
 * The reply has ended the connection in the orderly way. What is in flight behind it
 * was not processed and goes out again.
 */
static void reconnect(struct http_conn *c, uint64_t at_ns)
{
    http_conn_close(c);
    c->pending = (size_t)c->in_flight * c->shared->request->len;
    if (c->in_flight)
        connect_now(c, at_ns);
}

/* Whether the request that has just been replied to was sent to its end. */
static bool sent_whole(const struct http_conn *c)
{
    return !c->write_err && c->pending <= (size_t)c->in_flight * c->shared->request->len;
}

/* A reply is complete. True when the connection goes on. */
static bool replied(struct http_conn *c, uint64_t at_ns)
{
    struct http_slot slot = http_conn_pop(c);
    bool reuse = c->parse.keep_alive && !c->shared->request->close && sent_whole(c);

    c->shared->meter->counters.received_messages++;
    c->shared->meter->counters.received_bytes += c->parse.body_bytes;
    meter_span_reach(&c->shared->meter->received, at_ns);
    c->replies++;
    c->shared->replied(c, &slot, at_ns);
    if (!reuse)
        reconnect(c, at_ns);
    return reuse;
}

static enum http_step feed_line(struct http_conn *c, const char *bytes, size_t n,
                                size_t *used)
{
    if (c->line.is_complete)
        memset(&c->line, 0, sizeof(c->line));
    *used = topper_reply_feed(&c->line, bytes, n);
    if (!c->line.is_complete)
        return HTTP_MORE;
    c->parse.keep_alive = true;
    c->parse.body_bytes = c->line.len + 1;
    return HTTP_DONE;
}

static enum http_step feed(struct http_conn *c, const char *bytes, size_t n, size_t *used)
{
    return c->shared->is_text ? feed_line(c, bytes, n, used)
                              : http_parse_feed(&c->parse, bytes, n, used);
}

/* The end of the connection may be that of the reply. */
static enum http_step feed_end(struct http_conn *c)
{
    if (!c->shared->is_text)
        return http_parse_end(&c->parse);
    c->parse.body_bytes = c->line.len;
    return c->line.len && !c->line.is_complete ? HTTP_DONE : HTTP_BAD;
}

/* Empty lines behind a reply do no harm; anything else was not asked for. */
static bool is_stray_text(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != '\r' && bytes[i] != '\n')
            return true;
    return false;
}

/* Parse n bytes. False when the connection has been closed or lost. */
static bool take(struct http_conn *c, const char *bytes, size_t n, uint64_t at_ns)
{
    size_t at = 0;

    while (at < n && c->in_flight) {
        struct http_slot *slot = &c->slots[c->head];
        enum http_step step;
        size_t used;

        if (!slot->first_ns)
            slot->first_ns = at_ns;
        step = feed(c, bytes + at, n - at, &used);
        at += used;
        if (step == HTTP_BAD) {
            lose(c, "reply malformed", 0);
            return false;
        }
        if (step == HTTP_DONE && !replied(c, at_ns))
            return false;
    }
    if (is_stray_text(bytes + at, n - at)) {
        lose(c, "reply unasked", 0);
        return false;
    }
    return true;
}

/* The server has closed. */
static void ended(struct http_conn *c, uint64_t at_ns)
{
    if (c->in_flight == 0) {
        lose(c, "closed idle", 0);
        return;
    }
    if (feed_end(c) == HTTP_DONE) {
        c->parse.keep_alive = false;
        replied(c, at_ns);
        return;
    }
    if (c->write_err)
        lose(c, "write", c->write_err);
    else if (c->slots[c->head].first_ns)
        lose(c, "closed before the end of the reply", 0);
    else
        lose(c, "closed before the reply", 0);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct http_conn *c = arg;
    struct http_shared *shared = c->shared;
    ssize_t n = recv((int)fd, shared->buffer, shared->buffer_size, 0);
    uint64_t at_ns = now_ns();

    if (n < 0) {
        if (errno == EAGAIN || errno == EINTR)
            return;
        lose(c, c->in_flight ? "read" : "closed idle", errno);
    } else if (n == 0) {
        ended(c, at_ns);
    } else {
        shared->meter->counters.received_wire_bytes += (uint64_t)n;
        /* A server that closes without saying so: the next request goes elsewhere. */
        if (take(c, shared->buffer, (size_t)n, at_ns) && (what & EV_CLOSED) &&
            c->in_flight == 0 && (size_t)n < shared->buffer_size)
            http_conn_close(c);
    }
    shared->idle(c, at_ns);
}
