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

struct caller {
    struct flow *flow;
    struct caller *next, *previous;
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
    struct caller *first;
    struct evbuffer *trial; /* for a reply that may have to be thrown away */
    bool is_finished;
};

static void drop(struct caller *c)
{
    struct flow *f = c->flow;

    *(c->previous ? &c->previous->next : &f->first) = c->next;
    if (c->next)
        c->next->previous = c->previous;
    event_drop(c->readable);
    event_drop(c->writable);
    event_drop(c->silent);
    if (c->out)
        evbuffer_free(c->out);
    conn_close(&c->conn);
    free(c->in);
    free(c);
    acceptor_closed(f->acceptor);
}

/* A caller that asks and does not read is not read from either. */
static void hold(struct caller *c, bool held)
{
    if (c->is_held == held || c->has_ended)
        return;
    c->is_held = held;
    if (held)
        event_del(c->readable);
    else
        event_add(c->readable, NULL);
}

/* Send what is owed; false when the caller is gone. */
static bool flush(struct caller *c)
{
    struct meter_counters *m = &c->flow->env->meter->counters;

    while (evbuffer_get_length(c->out)) {
        int n = evbuffer_write(c->out, c->conn.out);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            drop(c);
            return false;
        }
        if (n <= 0) {
            event_add(c->writable, NULL);
            break;
        }
        m->sent_bytes += (uint64_t)n;
        m->sent_wire_bytes += (uint64_t)n;
    }
    hold(c, evbuffer_get_length(c->out) > OWED_MAX);
    if (c->has_ended && evbuffer_get_length(c->out) == 0) {
        drop(c);
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
static void answer_all(struct caller *c)
{
    struct flow *f = c->flow;
    struct topper_message m;
    enum topper_step step;
    size_t at = 0;

    do {
        size_t used;

        step = topper_split_next(&c->split, c->in + at, c->in_len - at, &used, &m);
        if (step == TOPPER_MESSAGE)
            count_answer(f, m.len, topper_answer(f->mode, &m, c->out));
        if (step == TOPPER_TOO_LONG) {
            topper_answer_too_long(c->out);
            count_answer(f, used, -EMSGSIZE);
        }
        at += used;
    } while (step != TOPPER_MORE);
    c->in_len -= at;
    memmove(c->in, c->in + at, c->in_len);
}

/* The bytes at hand are all there will be of this message: forget them. */
static void forget(struct caller *c)
{
    c->in_len = 0;
    topper_split_init(&c->split, c->flow->mode);
}

/* Answer what is there as a message, whatever comes of it. */
static void answer_rest(struct caller *c)
{
    struct topper_message m;

    if (topper_split_rest(&c->split, c->in, c->in_len, &m))
        count_answer(c->flow, m.len, topper_answer(c->flow->mode, &m, c->out));
    forget(c);
}

/* Answer what is there if it can be answered without an error. */
static bool answer_if_good(struct caller *c)
{
    struct flow *f = c->flow;
    struct topper_message m;
    int result;

    if (!topper_split_rest(&c->split, c->in, c->in_len, &m)) {
        forget(c);
        return true;
    }
    result = topper_answer(f->mode, &m, f->trial);
    if (result < 0) {
        evbuffer_drain(f->trial, evbuffer_get_length(f->trial));
        return false;
    }
    evbuffer_add_buffer(c->out, f->trial);
    count_answer(f, m.len, result);
    forget(c);
    return true;
}

static void wait_for_silence(struct caller *c, uint64_t span_ns)
{
    struct timeval span = timeval_from_ns(span_ns);

    evtimer_add(c->silent, &span);
}

static void on_silent(evutil_socket_t fd, short what, void *arg)
{
    struct caller *c = arg;

    (void)fd;
    (void)what;
    if (c->is_patient) {
        answer_rest(c);
    } else if (!answer_if_good(c)) {
        c->is_patient = true;
        wait_for_silence(c, TOPPER_PATIENCE_NS - TOPPER_QUIET_NS);
        return;
    }
    flush(c);
}

static void take(struct caller *c, size_t n)
{
    struct flow *f = c->flow;
    uint64_t read_ns = now_ns();

    c->in_len += n;
    f->env->meter->counters.received_wire_bytes += n;
    answer_all(c);
    c->is_patient = false;
    /* What a splitter skips has no bytes left here, and must end by silence too. */
    if (c->in_len || !topper_split_is_between(&c->split))
        wait_for_silence(c, TOPPER_QUIET_NS);
    else
        evtimer_del(c->silent);
    if (evbuffer_get_length(c->out) && flush(c))
        meter_record(f->env->meter, METER_HIST_service, now_ns() - read_ns);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct caller *c = arg;
    ssize_t n;

    (void)what;
    if (buffer_reserve(&c->in, &c->in_size, c->in_len + READ_BYTES) < 0) {
        drop(c);
        return;
    }
    n = read((int)fd, c->in + c->in_len, c->in_size - c->in_len);
    if (n > 0) {
        take(c, (size_t)n);
    } else if (n == 0) {
        c->has_ended = true;
        event_del(c->readable);
        evtimer_del(c->silent);
        answer_rest(c);
        flush(c);
    } else if (errno != EAGAIN && errno != EINTR) {
        drop(c);
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
    struct caller *c = calloc(1, sizeof(*c));
    struct conn refused = *conn;

    if (!c) {
        conn_close(&refused);
        acceptor_closed(f->acceptor);
        return;
    }
    c->flow = f;
    c->conn = *conn;
    c->next = f->first;
    if (c->next)
        c->next->previous = c;
    f->first = c;
    topper_split_init(&c->split, f->mode);
    c->out = evbuffer_new();
    c->readable = event_new(f->env->base, conn->in, EV_READ | EV_PERSIST, on_readable, c);
    c->writable = event_new(f->env->base, conn->out, EV_WRITE, on_writable, c);
    c->silent = evtimer_new(f->env->base, on_silent, c);
    if (!c->out || !c->readable || !c->writable || !c->silent ||
        event_add(c->readable, NULL) < 0)
        drop(c);
}

static void topper_free(struct flow *f)
{
    while (f->first)
        drop(f->first);
    acceptor_free(f->acceptor);
    if (f->trial)
        evbuffer_free(f->trial);
    free(f);
}

static int topper_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    const char *task = options_text(env->options, "task", "multi");
    struct flow *f = calloc(1, sizeof(*f));
    int err = 0;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "no memory for the Topper service");
    f->env = env;
    f->trial = evbuffer_new();
    if (topper_mode_find(task, &f->mode) < 0)
        err = fail_set(fail, EINVAL, "task",
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
