/*
 * Role topper: the Topper microservice (topper.h). Options, besides those of
 * listener_open:
 *
 *   task   multi (Ping, Sum, Avg), echo or greeting
 *
 * Each connection has its own bytes, splitter and replies. A sender that has fallen
 * silent within a message gets its answer as topper.h says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "protocols/acceptor.h"
#include "protocols/buffer.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/role.h"
#include "protocols/topper.h"

#define READ_BYTES 16384u
#define OWED_MAX (1024u * 1024u) /* bytes of replies; beyond it nothing more is read */

struct peer {
    struct flow *flow;
    struct peer *next, *previous;
    struct conn conn;
    struct event *readable, *writable, *silent;
    struct topper_split split;
    char *in; /* bytes that are not used yet */
    size_t in_len, in_size;
    struct evbuffer *out;
    bool is_patient; /* the quiet time is over, and there was nothing to answer */
    bool has_ended;  /* it sends no more; it may still read */
    bool is_held;    /* not read from */
};

struct flow {
    struct flow_env *env;
    enum topper_mode mode;
    struct acceptor *acceptor;
    struct peer *peers;
    struct evbuffer *trial; /* for a reply that may have to be thrown away */
    bool is_finished;
};

static void peer_free(struct peer *p)
{
    struct flow *f = p->flow;

    *(p->previous ? &p->previous->next : &f->peers) = p->next;
    if (p->next)
        p->next->previous = p->previous;
    event_drop(p->readable);
    event_drop(p->writable);
    event_drop(p->silent);
    if (p->out)
        evbuffer_free(p->out);
    conn_close(&p->conn);
    free(p->in);
    free(p);
    acceptor_closed(f->acceptor);
}

/* A client that asks and does not read is not read from either. */
static void hold(struct peer *p, bool held)
{
    if (p->is_held == held || p->has_ended)
        return;
    p->is_held = held;
    if (held)
        event_del(p->readable);
    else
        event_add(p->readable, NULL);
}

/* Send what is owed; false when the peer is gone. */
static bool flush(struct peer *p)
{
    struct meter_counters *m = &p->flow->env->meter->counters;

    while (evbuffer_get_length(p->out)) {
        int n = evbuffer_write(p->out, p->conn.out);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            peer_free(p);
            return false;
        }
        if (n <= 0) {
            event_add(p->writable, NULL);
            break;
        }
        m->sent_bytes += (uint64_t)n;
        m->sent_wire_bytes += (uint64_t)n;
    }
    hold(p, evbuffer_get_length(p->out) > OWED_MAX);
    if (p->has_ended && evbuffer_get_length(p->out) == 0) {
        peer_free(p);
        return false;
    }
    return true;
}

static void count_answer(struct flow *f, size_t message_len, int result)
{
    struct meter *m = f->env->meter;

    m->counters.received_messages++;
    m->counters.received_bytes += message_len;
    m->counters.sent_messages++;
    if (result < 0)
        tally_add(&m->errors, "message refused", 1);
}

/* All whole messages among the bytes at hand. */
static void answer_all(struct peer *p)
{
    struct flow *f = p->flow;
    struct topper_message m;
    enum topper_step step;
    size_t at = 0;

    do {
        size_t used;

        step = topper_split_next(&p->split, p->in + at, p->in_len - at, &used, &m);
        if (step == TOPPER_MESSAGE)
            count_answer(f, m.len, topper_answer(f->mode, &m, p->out));
        if (step == TOPPER_TOO_LONG) {
            topper_answer_too_long(p->out);
            count_answer(f, used, -EMSGSIZE);
        }
        at += used;
    } while (step != TOPPER_MORE);
    p->in_len -= at;
    memmove(p->in, p->in + at, p->in_len);
}

/* The bytes at hand are all there will be of this message: forget them. */
static void forget(struct peer *p)
{
    p->in_len = 0;
    topper_split_init(&p->split, p->flow->mode);
}

/* Answer what is there as a message, whatever comes of it. */
static void answer_rest(struct peer *p)
{
    struct topper_message m;

    if (topper_split_rest(&p->split, p->in, p->in_len, &m))
        count_answer(p->flow, m.len, topper_answer(p->flow->mode, &m, p->out));
    forget(p);
}

/* Answer what is there if it can be answered without an error. */
static bool answer_if_good(struct peer *p)
{
    struct flow *f = p->flow;
    struct topper_message m;
    int result;

    if (!topper_split_rest(&p->split, p->in, p->in_len, &m)) {
        forget(p);
        return true;
    }
    result = topper_answer(f->mode, &m, f->trial);
    if (result < 0) {
        evbuffer_drain(f->trial, evbuffer_get_length(f->trial));
        return false;
    }
    evbuffer_add_buffer(p->out, f->trial);
    count_answer(f, m.len, result);
    forget(p);
    return true;
}

static void wait_for_silence(struct peer *p, uint64_t span_ns)
{
    struct timeval span = timeval_from_ns(span_ns);

    evtimer_add(p->silent, &span);
}

static void on_silent(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;

    (void)fd;
    (void)what;
    if (p->is_patient) {
        answer_rest(p);
    } else if (!answer_if_good(p)) {
        p->is_patient = true;
        wait_for_silence(p, TOPPER_PATIENCE_NS - TOPPER_QUIET_NS);
        return;
    }
    flush(p);
}

static void take(struct peer *p, size_t n)
{
    struct flow *f = p->flow;
    uint64_t read_ns = now_ns();

    p->in_len += n;
    f->env->meter->counters.received_wire_bytes += n;
    answer_all(p);
    p->is_patient = false;
    /* What a splitter skips has no bytes left here, and must end by silence too. */
    if (p->in_len || !topper_split_is_between(&p->split))
        wait_for_silence(p, TOPPER_QUIET_NS);
    else
        evtimer_del(p->silent);
    if (evbuffer_get_length(p->out) && flush(p))
        meter_record(f->env->meter, METER_HIST_service, now_ns() - read_ns);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;
    ssize_t n;

    (void)what;
    if (buffer_reserve(&p->in, &p->in_size, p->in_len + READ_BYTES) < 0) {
        peer_free(p);
        return;
    }
    n = read((int)fd, p->in + p->in_len, p->in_size - p->in_len);
    if (n > 0) {
        take(p, (size_t)n);
    } else if (n == 0) {
        p->has_ended = true;
        event_del(p->readable);
        evtimer_del(p->silent);
        answer_rest(p);
        flush(p);
    } else if (errno != EAGAIN && errno != EINTR) {
        peer_free(p);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    flush(arg);
}

static void on_accepted(void *owner, const struct conn *conn)
{
    struct flow *f = owner;
    struct peer *p = calloc(1, sizeof(*p));
    struct conn refused = *conn;

    if (!p) {
        conn_close(&refused);
        acceptor_closed(f->acceptor);
        return;
    }
    p->flow = f;
    p->conn = *conn;
    p->next = f->peers;
    if (p->next)
        p->next->previous = p;
    f->peers = p;
    topper_split_init(&p->split, f->mode);
    p->out = evbuffer_new();
    p->readable = event_new(f->env->base, conn->in, EV_READ | EV_PERSIST, on_readable, p);
    p->writable = event_new(f->env->base, conn->out, EV_WRITE, on_writable, p);
    p->silent = evtimer_new(f->env->base, on_silent, p);
    if (!p->out || !p->readable || !p->writable || !p->silent ||
        event_add(p->readable, NULL) < 0)
        peer_free(p);
}

static void topper_free(struct flow *f)
{
    while (f->peers)
        peer_free(f->peers);
    acceptor_free(f->acceptor);
    if (f->trial)
        evbuffer_free(f->trial);
    free(f);
}

static int topper_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    const char *task = options_text(env->options, OPTION_task, "multi");
    struct flow *f = calloc(1, sizeof(*f));
    int err = 0;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "no memory for the Topper service");
    f->env = env;
    f->trial = evbuffer_new();
    if (topper_mode_find(task, &f->mode) < 0)
        err = fail_usage(fail, "task",
                         "there is no Topper task '%.40s'; it is multi, echo or greeting",
                         task);
    else if (!f->trial || meter_use(env->meter, METER_HIST_service) < 0)
        err = fail_set(fail, ENOMEM, "prepare", "no memory for the Topper service");
    else
        err = acceptor_new(&f->acceptor, env, on_accepted, f, fail);
    if (err) {
        topper_free(f);
        return err;
    }
    *flow = f;
    return 0;
}

static void topper_start(struct flow *f, uint64_t start_ns)
{
    (void)f;
    (void)start_ns;
}

/* Every message has had its answer, so there is nothing to wait for. */
static void topper_stop(struct flow *f)
{
    const char *exhausted;

    if (f->is_finished)
        return;
    f->is_finished = true;
    acceptor_shut(f->acceptor);
    exhausted = acceptor_exhausted(f->acceptor);
    f->env->finished(f->env, exhausted ? OUTCOME_EXHAUSTED : OUTCOME_COMPLETED,
                     exhausted);
}

const struct role role_topper = {
    .name = "topper",
    .check = listener_check,
    .prepare = topper_prepare,
    .start = topper_start,
    .stop = topper_stop,
    .free = topper_free,
};
