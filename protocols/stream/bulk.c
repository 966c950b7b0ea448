/*
 * Bulk: one connection carries a content of known size each way at once (transfer.h
 * does the carrying). Options:
 *
 *   size        bytes each way (1 GiB); a `file` brings its own size: fact "file_bytes"
 *   direction   both, up (client to server), down
 *   method      auto and zero-copy: the transport's own; copy: read and write. A method
 *               that the kernel refuses becomes copy; facts "method", "method_refused"
 *   block       bytes asked of the kernel in one call (256 KiB)
 *   verify      1: facts "sent_crc32" and "received_crc32", zlib's CRC-32 in hex, each
 *               where that end sends or receives; a server's received_crc32 is the sum
 *               (modulo 2^32) over its clients, or with `foreign` the last client's
 *   foreign     1: the other end is not plimsoll's, or has its own content: what
 *               arrives is reported and not compared with what is sent
 *   timeout     ns without a byte at either end after which the client gives up (10 s);
 *               `received`, set while it runs, tells it that the server received some
 *   drain       ns a stopped server leaves to open connections (1 s)
 *   file, content: content.h; transport, host, port, path, congestion: transport.h
 *
 * The client counts one operation, the transfer: `latency` is its duration, from
 * before connect until both directions have ended. The receivers' end is the end: the
 * server ends its sending when it has received all, unless the client is foreign and may
 * wait for that to end its own. The server serves any number of clients, one after the
 * other or at once, and survives those that vanish.
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/acceptor.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/role.h"
#include "protocols/stream/block.h"
#include "protocols/stream/content.h"
#include "protocols/stream/transfer.h"

#define BLOCK_MAX (1u << 30)
#define BLOCK_DEFAULT (256u << 10)
#define RETRY_NS (5 * NS_PER_MS)

/* What server and client have in common. */
struct bulk {
    struct flow_env *env; /* borrowed */
    struct content content;
    struct transfer_plan plan;
    uint64_t expected_bytes; /* from the other side */
    bool sends, receives;
    bool foreign;
};

struct peer {
    struct transfer transfer;
    struct flow *flow;
    unsigned number;
    struct peer *next;
};

struct flow {
    struct bulk bulk;

    /* Server. */
    struct acceptor *acceptor;
    struct peer *peers;
    unsigned accepted;
    uint32_t received_crc32; /* see above: `verify` */
    char mismatch[200]; /* the first exchange that was complete and of the wrong size */

    /* Client. */
    struct target target;
    struct transfer transfer;
    uint64_t begun_ns, moved_ns;
    uint64_t moved_bytes;
    uint64_t timeout_ns;
    bool running;

    struct event *timer; /* start, then retry of connect; server: the drain */
    struct event *watch; /* client: is anything moving? */
    bool stopping;
    bool finished;
};

static void finish(struct flow *f, enum outcome outcome, const char *reason)
{
    struct flow_env *env = f->bulk.env;

    if (f->finished)
        return;
    f->finished = true;
    env->finished(env, outcome, reason);
}

static void set_timer(struct event *timer, uint64_t span_ns)
{
    struct timeval span = timeval_from_ns(span_ns);

    event_add(timer, &span);
}

/* Common. */

static void fact_crc32(struct flow_env *env, const char *name, uint32_t crc)
{
    char text[16];

    snprintf(text, sizeof(text), "%08" PRIx32, crc);
    env->fact(env, name, text);
}

static void fact_method(struct bulk *b)
{
    struct flow_env *env = b->env;

    if (b->plan.send_bytes == 0)
        return;
    env->fact(env, "method", transfer_method(&b->plan));
    if (b->plan.refused)
        env->fact(env, "method_refused", strerror(b->plan.refused));
}

static int bulk_check(const struct options *o, struct fail *fail)
{
    const char *direction = options_text(o, OPTION_direction, "both");
    const char *method = options_text(o, OPTION_method, "auto");
    uint64_t block_bytes = options_number(o, OPTION_block, BLOCK_DEFAULT);

    if (strcmp(direction, "both") != 0 && strcmp(direction, "up") != 0 &&
        strcmp(direction, "down") != 0)
        return fail_usage(fail, "direction",
                          "\"%s\" is not a direction: both, up or down", direction);
    if (strcmp(method, "auto") != 0 && strcmp(method, "copy") != 0 &&
        strcmp(method, "zero-copy") != 0)
        return fail_usage(fail, "method",
                          "\"%s\" is not a method: auto, copy or zero-copy", method);
    if (block_bytes == 0 || block_bytes > BLOCK_MAX)
        return fail_usage(fail, "block", "--block must be from 1 byte to %u bytes",
                          BLOCK_MAX);
    return 0;
}

/* The content, and its checksum for the side that sends. */
static int prepare_content(struct bulk *b, struct fail *fail)
{
    char text[24];
    uint32_t crc;
    int err = content_open(&b->content, b->env->options, fail);

    if (err)
        return err;
    if (*options_text(b->env->options, OPTION_file, "")) {
        snprintf(text, sizeof(text), "%" PRIu64, b->content.size_bytes);
        b->env->fact(b->env, "file_bytes", text);
    }
    b->plan.file = b->content.fd;
    b->plan.send_bytes = b->content.size_bytes;
    if (!b->plan.checksum || !b->sends)
        return 0;
    err = content_crc32(&b->content, &crc, fail);
    if (!err)
        fact_crc32(b->env, "sent_crc32", crc);
    return err;
}

static int prepare_bulk(struct bulk *b, struct flow_env *env, bool is_server,
                        const struct transport *transport, struct fail *fail)
{
    const struct options *o = env->options;
    int err = bulk_check(o, fail);

    if (err)
        return err;
    b->sends = !options_is(o, OPTION_direction, is_server ? "up" : "down");
    b->receives = !options_is(o, OPTION_direction, is_server ? "down" : "up");
    b->foreign = options_number(o, OPTION_foreign, 0);
    b->plan.meter = env->meter;
    b->plan.zero_copy =
        options_is(o, OPTION_method, "copy") ? NULL : transport->zero_copy;
    b->plan.checksum = options_number(o, OPTION_verify, 0);
    b->plan.ends_last = is_server && !b->foreign;
    b->plan.block_bytes = (size_t)options_number(o, OPTION_block, BLOCK_DEFAULT);
    b->plan.received = block_new(b->plan.block_bytes);
    if (!b->plan.received)
        return fail_set(fail, ENOMEM, "block", "there is no memory for a block");
    /* Both ends send the same size; a side that only receives knows it as well. */
    if (b->sends || *options_text(o, OPTION_file, ""))
        err = prepare_content(b, fail);
    b->expected_bytes = b->content.size_bytes;
    if (!b->sends) {
        b->plan.send_bytes = 0;
        if (!b->expected_bytes)
            b->expected_bytes = options_number(o, OPTION_size, 1ull << 30);
    }
    if (!b->receives)
        b->expected_bytes = 0;
    return err;
}

static void bulk_done(struct bulk *b)
{
    content_close(&b->content);
    free(b->plan.received);
}

static struct flow *flow_new(struct flow_env *env)
{
    struct flow *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->bulk.env = env;
    f->bulk.content.fd = -1;
    return f;
}

/* Server. */

static void peer_free(struct peer *p)
{
    struct flow *f = p->flow;
    struct peer **at = &f->peers;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    transfer_done(&p->transfer);
    free(p);
    acceptor_closed(f->acceptor);
}

static void server_finish(struct flow *f)
{
    const char *exhausted = acceptor_exhausted(f->acceptor);

    fact_method(&f->bulk);
    if (f->mismatch[0])
        finish(f, OUTCOME_FAILED, f->mismatch);
    else if (exhausted)
        finish(f, OUTCOME_EXHAUSTED, exhausted);
    else
        finish(f, OUTCOME_COMPLETED, NULL);
}

static void compare(struct flow *f, const struct peer *p)
{
    const struct transfer *t = &p->transfer;

    if (f->bulk.foreign || t->received_bytes == f->bulk.expected_bytes || f->mismatch[0])
        return;
    snprintf(f->mismatch, sizeof(f->mismatch),
             "the server received %" PRIu64 " of %" PRIu64 " bytes from client %u",
             t->received_bytes, f->bulk.expected_bytes, p->number);
}

static void peer_ended(struct transfer *t, int err, const char *phase)
{
    struct peer *p = t->owner;
    struct flow *f = p->flow;
    struct flow_env *env = f->bulk.env;

    if (err) {
        tally_errno(&env->meter->errors, phase, -err);
        env->note(env,
                  "client %u: sent %" PRIu64 " bytes, received %" PRIu64 " bytes, %s: %s",
                  p->number, t->sent_bytes, t->received_bytes, phase, strerror(-err));
    } else {
        env->note(env, "client %u: sent %" PRIu64 " bytes, received %" PRIu64 " bytes",
                  p->number, t->sent_bytes, t->received_bytes);
        f->received_crc32 = t->received_crc32 + (f->bulk.foreign ? 0 : f->received_crc32);
        if (f->bulk.plan.checksum && f->bulk.receives)
            fact_crc32(env, "received_crc32", f->received_crc32);
        compare(f, p);
    }
    peer_free(p);
    if (f->stopping && !f->peers)
        server_finish(f);
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
    p->flow = f;
    p->number = ++f->accepted;
    p->next = f->peers;
    f->peers = p;
    if (transfer_init(&p->transfer, &f->bulk.plan, conn, f->bulk.env->base) < 0) {
        peer_free(p);
        return;
    }
    p->transfer.ended = peer_ended;
    p->transfer.owner = p;
}

/* The drain is over: whoever is still connected is cut off. */
static void server_cut(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    while (f->peers) {
        f->bulk.env->note(f->bulk.env,
                          "client %u: cut off after %" PRIu64 " bytes sent, %" PRIu64
                          " bytes received",
                          f->peers->number, f->peers->transfer.sent_bytes,
                          f->peers->transfer.received_bytes);
        peer_free(f->peers);
    }
    server_finish(f);
}

static void server_free(struct flow *f)
{
    if (!f)
        return;
    while (f->peers)
        peer_free(f->peers);
    acceptor_free(f->acceptor);
    event_drop(f->timer);
    bulk_done(&f->bulk);
    free(f);
}

static int server_prepare(struct flow_env *env, struct flow **out, struct fail *fail)
{
    struct flow *f = flow_new(env);
    int err;

    *out = NULL;
    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the server cannot be made");
    f->timer = evtimer_new(env->base, server_cut, f);
    err = f->timer ? acceptor_new(&f->acceptor, env, server_accepted, f, fail)
                   : fail_set(fail, ENOMEM, "prepare", "the server cannot be made");
    if (!err) /* last, since making a content takes a while */
        err = prepare_bulk(&f->bulk, env, true, acceptor_transport(f->acceptor), fail);
    if (err)
        server_free(f);
    else
        *out = f;
    return err;
}

static int server_check(const struct options *o, struct fail *fail)
{
    int err = bulk_check(o, fail);

    return err ? err : listener_check(o, fail);
}

static void server_start(struct flow *f, uint64_t start_ns)
{
    (void)f;
    (void)start_ns;
}

static void server_stop(struct flow *f)
{
    if (f->stopping)
        return;
    f->stopping = true;
    acceptor_shut(f->acceptor);
    if (f->peers)
        set_timer(f->timer, options_number(f->bulk.env->options, OPTION_drain, NS_PER_S));
    else
        server_finish(f);
}

/* Client. */

static void client_over(struct flow *f, enum outcome outcome, const char *reason)
{
    f->running = false;
    event_del(f->watch);
    event_del(f->timer);
    f->bulk.env->meter->gauges.open_connections = 0;
    f->bulk.env->meter->gauges.in_flight = 0;
    transfer_done(&f->transfer);
    finish(f, outcome, reason);
}

static void client_failed(struct flow *f, int err, const char *phase)
{
    struct meter *m = f->bulk.env->meter;
    uint64_t timeout_ms = f->timeout_ns / NS_PER_MS;
    char reason[320];

    if (f->transfer.send_done && err == -ETIMEDOUT &&
        f->transfer.received_bytes == f->bulk.expected_bytes)
        snprintf(reason, sizeof(reason),
                 "all bytes were sent, but for %" PRIu64
                 " ms the server neither received any nor said that it has all",
                 timeout_ms);
    else if (strcmp(phase, "connect") == 0)
        target_explain(&f->target, err, reason, sizeof(reason));
    else if (err == -ENODATA)
        snprintf(reason, sizeof(reason), "the file became shorter while it was sent");
    else
        snprintf(reason, sizeof(reason),
                 "the connection failed (%s: %s) after %" PRIu64 " of %" PRIu64
                 " bytes sent and %" PRIu64 " of %" PRIu64 " received",
                 phase, strerror(-err), f->transfer.sent_bytes, f->bulk.plan.send_bytes,
                 f->transfer.received_bytes, f->bulk.expected_bytes);
    if (err == -ETIMEDOUT) {
        m->counters.timed_out++;
    } else {
        m->counters.failed++;
        tally_errno(&m->errors, phase, -err);
    }
    client_over(f, OUTCOME_FAILED, reason);
}

static void client_succeeded(struct flow *f)
{
    struct flow_env *env = f->bulk.env;
    const struct transfer *t = &f->transfer;

    env->meter->counters.succeeded++;
    meter_record(env->meter, METER_HIST_latency, now_ns() - f->begun_ns);
    if (t->connected_ns)
        meter_record(env->meter, METER_HIST_connect, t->connected_ns - f->begun_ns);
    client_over(f, OUTCOME_COMPLETED, NULL);
}

static void client_short(struct flow *f)
{
    char reason[160];

    snprintf(reason, sizeof(reason),
             "the client received %" PRIu64 " of %" PRIu64
             " bytes before the server ended",
             f->transfer.received_bytes, f->bulk.expected_bytes);
    f->bulk.env->meter->counters.failed++;
    tally_add(&f->bulk.env->meter->errors, "receive short", 1);
    client_over(f, OUTCOME_FAILED, reason);
}

static void transfer_ended(struct transfer *t, int err, const char *phase)
{
    struct flow *f = t->owner;
    struct flow_env *env = f->bulk.env;

    fact_method(&f->bulk);
    env->note(env, "sent %" PRIu64 " bytes, received %" PRIu64 " bytes", t->sent_bytes,
              t->received_bytes);
    if (f->bulk.plan.checksum && f->bulk.receives && !err)
        fact_crc32(env, "received_crc32", t->received_crc32);
    if (err)
        client_failed(f, err, phase);
    else if (!f->bulk.foreign && t->received_bytes != f->bulk.expected_bytes)
        client_short(f);
    else
        client_succeeded(f);
}

/* What the client has sent moves on where it cannot see it. */
static int client_set(struct flow *f, enum option option, uint64_t value)
{
    (void)value;
    if (option != OPTION_received)
        return -ENOTSUP;
    f->moved_ns = now_ns();
    return 0;
}

/* Give up when no byte has moved for the timeout; look four times in it. */
static void client_watch(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;
    uint64_t moved = f->transfer.sent_bytes + f->transfer.received_bytes;

    (void)fd;
    (void)what;
    if (moved != f->moved_bytes) {
        f->moved_bytes = moved;
        f->moved_ns = now_ns();
    }
    if (now_ns() - f->moved_ns >= f->timeout_ns)
        client_failed(f, -ETIMEDOUT, f->transfer.connected_ns ? "receive" : "connect");
    else
        set_timer(f->watch, f->timeout_ns / 4);
}

static void client_connect(struct flow *f)
{
    struct flow_env *env = f->bulk.env;
    struct conn conn;
    int err = f->target.transport->connect(&f->target, &conn);

    if (err == -EAGAIN) {
        set_timer(f->timer, RETRY_NS); /* a full queue; the watch bounds it */
        return;
    }
    if (!err) {
        env->meter->counters.connections++;
        env->meter->gauges.open_connections = 1;
        err = transfer_init(&f->transfer, &f->bulk.plan, &conn, env->base);
    }
    f->transfer.ended = transfer_ended;
    f->transfer.owner = f;
    if (err)
        client_failed(f, err, "connect");
}

static void client_timer(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    if (!f->running) {
        f->running = true;
        f->begun_ns = f->moved_ns = now_ns();
        f->bulk.env->meter->counters.attempted++;
        f->bulk.env->meter->gauges.in_flight = 1;
        set_timer(f->watch, f->timeout_ns / 4);
    }
    client_connect(f);
}

static void client_free(struct flow *f)
{
    if (!f)
        return;
    transfer_done(&f->transfer);
    event_drop(f->timer);
    event_drop(f->watch);
    bulk_done(&f->bulk);
    free(f);
}

static int client_allocate(struct flow *f, struct fail *fail)
{
    struct flow_env *env = f->bulk.env;

    f->timer = evtimer_new(env->base, client_timer, f);
    f->watch = evtimer_new(env->base, client_watch, f);
    if (!f->timer || !f->watch || meter_use(env->meter, METER_HIST_latency) < 0 ||
        meter_use(env->meter, METER_HIST_connect) < 0)
        return fail_set(fail, ENOMEM, "prepare", "the client cannot be made");
    return 0;
}

static int client_prepare(struct flow_env *env, struct flow **out, struct fail *fail)
{
    struct flow *f = flow_new(env);
    int err;

    *out = NULL;
    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the client cannot be made");
    f->timeout_ns = options_number(env->options, OPTION_timeout, 10 * NS_PER_S);
    err = client_allocate(f, fail);
    if (!err)
        err = target_init(&f->target, env->endpoint, env->options, fail);
    if (!err)
        err = prepare_bulk(&f->bulk, env, false, f->target.transport, fail);
    if (err) {
        client_free(f);
        return err;
    }
    if (f->target.setup.in_force[0])
        env->fact(env, "congestion", f->target.setup.in_force);
    *out = f;
    return 0;
}

static void client_start(struct flow *f, uint64_t start_ns)
{
    uint64_t now = now_ns();

    set_timer(f->timer, start_ns > now ? start_ns - now : 0);
}

static void client_pause(struct flow *f, bool paused)
{
    if (!f->running)
        return;
    transfer_pause(&f->transfer, paused);
    f->moved_ns = now_ns();
    if (paused)
        event_del(f->watch);
    else
        set_timer(f->watch, f->timeout_ns / 4);
}

static void client_stop(struct flow *f)
{
    if (f->finished)
        return;
    if (f->running) {
        f->bulk.env->meter->counters.unfinished++;
        fact_method(&f->bulk);
    }
    client_over(f, OUTCOME_STOPPED, "stopped before the transfer was complete");
}

const struct role role_bulk_server = {
    .name = "bulk-server",
    .check = server_check,
    .prepare = server_prepare,
    .start = server_start,
    .stop = server_stop,
    .free = server_free,
};

const struct role role_bulk_client = {
    .name = "bulk-client",
    .check = bulk_check,
    .prepare = client_prepare,
    .start = client_start,
    .set = client_set,
    .pause = client_pause,
    .stop = client_stop,
    .free = client_free,
};
