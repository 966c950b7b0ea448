/*
 * Roles http-client and topper-client: load on an HTTP server or on a Topper service.
 * The options are those of http_plan.h.
 *
 * A message of the pacer is a request. It is taken when a connection has room, pushed
 * onto that connection and from then on counted as attempted; it ends as succeeded
 * (a status below 400), failed, timed out or unfinished, each exactly once. Without a
 * rate a message is always due, so every connection keeps `pipelining` requests in
 * flight; with a rate connections without work wait in a list. With connection_rate
 * each connection has every count-th message of one schedule for its own.
 *
 * All that may end a run or find work is in `work`, called at the end of every event.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/http/http_conn.h"
#include "protocols/http/http_plan.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"
#include "protocols/resolve.h"
#include "protocols/role.h"

#define BATCH 64u           /* requests offered in one go, before replies are read */
#define BUFFER_BYTES 65536u /* a reply's body is read in pieces of this size */
#define STREAM_BYTES 65536u /* of repeated requests, for pipelining */
#define BACKOFF_FIRST_NS (10 * NS_PER_MS)
#define BACKOFF_STEPS 7u /* doubled each time, so up to 1.28 s */
#define GIVE_UP 3u       /* attempts a connection before the server is not there */
#define NOTES_MAX 3u
#define NO_TYPE "the requests have a body and no Content-Type; many servers refuse that"

/* Where results go: the meter, or one that is thrown away during the warm-up. */
struct sink {
    struct meter *meter;
    unsigned status; /* the last one seen, and its row */
    struct tally_row *row;
};

struct flow {
    struct flow_env *env;
    struct http_plan plan;
    struct http_shared shared;
    struct sink result, warmup;
    struct http_conn **conns;
    size_t count;                   /* of conns that are not retired: the first ones */
    size_t size;                    /* of conns */
    struct http_conn *first, *last; /* connections with room */

    struct pacer pacer;
    struct pacer_timer timer;
    struct event *deadline, *measure, *expiry, *drain;
    uint64_t left; /* requests of the amount not taken; UINT64_MAX: no limit */
    uint64_t in_flight;
    uint64_t measure_from_ns, end_ns, paused_ns;
    uint64_t turn;   /* connection_rate: whose message the next is */
    uint64_t queued; /* connection_rate: messages taken and not pushed */

    uint64_t connect_failures;
    uint64_t unasked;
    int connect_err;
    unsigned notes;
    bool is_started, is_paused, is_stopping, is_finished, was_connected;
    enum outcome outcome; /* while stopping */
};

static void work(struct flow *f, uint64_t at_ns);

static bool is_paced(const struct flow *f)
{
    return f->plan.rate > 0;
}

/* Connections with room: a list, the longest waiting first. */

static bool has_room(const struct flow *f, const struct http_conn *c)
{
    return !c->is_retired && !c->is_waiting && c->in_flight < f->plan.depth;
}

static void unlist(struct flow *f, struct http_conn *c)
{
    if (!c->is_listed)
        return;
    *(c->previous ? &c->previous->next : &f->first) = c->next;
    *(c->next ? &c->next->previous : &f->last) = c->previous;
    c->is_listed = false;
}

static void list(struct flow *f, struct http_conn *c)
{
    if (c->is_listed || !has_room(f, c))
        return;
    c->next = NULL;
    c->previous = f->last;
    *(f->last ? &f->last->next : &f->first) = c;
    f->last = c;
    c->is_listed = true;
}

/* Counting. */

static struct sink *sink_of(struct flow *f, uint64_t start_ns)
{
    return start_ns < f->measure_from_ns ? &f->warmup : &f->result;
}

static void count_status(struct sink *s, unsigned status)
{
    char name[12];

    if (s->status != status) {
        snprintf(name, sizeof(name), "%u", status);
        s->row = tally_add(&s->meter->status, name, 0);
        s->status = status;
    }
    s->row->count++;
}

/* The latency of a request: from when it should have gone out, where that is known. */
static uint64_t latency_ns(const struct flow *f, const struct http_slot *s,
                           uint64_t at_ns)
{
    uint64_t from_ns = is_paced(f) ? s->intended_ns : s->start_ns;

    return at_ns > from_ns ? at_ns - from_ns : 0;
}

static void count_good(struct flow *f, struct meter *m, const struct http_slot *slot,
                       uint64_t at_ns)
{
    m->counters.succeeded++;
    meter_record(m, METER_HIST_latency, latency_ns(f, slot, at_ns));
}

static void count_bad(struct flow *f, struct meter *m, const struct http_slot *slot,
                      const char *what, uint64_t at_ns)
{
    m->counters.failed++;
    tally_add(&m->errors, what, 1);
    meter_record(m, METER_HIST_failure, latency_ns(f, slot, at_ns));
}

/* HTTP: a status of 400 or more is a failure. Topper: an error line is. */
static void count_replied(struct flow *f, const struct http_conn *c,
                          const struct http_slot *slot, uint64_t at_ns)
{
    struct sink *s = sink_of(f, slot->start_ns);
    struct meter *m = s->meter;
    char what[24] = "reply is an error";
    bool bad = c->parse.status >= 400;

    meter_record(m, METER_HIST_first_byte, slot->first_ns - slot->sent_ns);
    if (is_paced(f))
        meter_record(m, METER_HIST_service, at_ns - slot->start_ns);
    if (f->plan.is_text)
        bad = topper_reply_is_error(&c->line);
    else
        count_status(s, c->parse.status);
    if (bad && !f->plan.is_text)
        snprintf(what, sizeof(what), "status %u", c->parse.status);
    if (bad)
        count_bad(f, m, slot, what, at_ns);
    else
        count_good(f, m, slot, at_ns);
}

static void count_failed(struct flow *f, const struct http_slot *slot, const char *what,
                         int err)
{
    struct meter *m = sink_of(f, slot->start_ns)->meter;

    m->counters.failed++;
    if (err)
        tally_errno(&m->errors, what, err);
    else
        tally_add(&m->errors, what, 1);
    meter_record(m, METER_HIST_failure, latency_ns(f, slot, now_ns()));
}

static void count_timed_out(struct flow *f, const struct http_slot *slot)
{
    struct meter *m = sink_of(f, slot->start_ns)->meter;

    m->counters.timed_out++;
    meter_record(m, METER_HIST_failure, latency_ns(f, slot, now_ns()));
}

/* Ending. */

static void close_all(struct flow *f)
{
    for (size_t i = 0; i < f->size; i++) {
        evtimer_del(&f->conns[i]->retry);
        unlist(f, f->conns[i]);
        http_conn_close(f->conns[i]);
    }
}

/* What is still in flight is unfinished, and how long it has been is told. */
static void count_unfinished(struct flow *f)
{
    uint64_t at_ns = now_ns();
    uint64_t oldest_ns = 0;
    uint64_t n = 0;
    char text[80];

    for (size_t i = 0; i < f->size; i++) {
        while (f->conns[i]->in_flight) {
            struct http_slot slot = http_conn_pop(f->conns[i]);

            sink_of(f, slot.start_ns)->meter->counters.unfinished++;
            if (at_ns - slot.start_ns > oldest_ns)
                oldest_ns = at_ns - slot.start_ns;
            n++;
        }
    }
    f->in_flight = 0;
    if (n == 0)
        return;
    snprintf(text, sizeof(text), "%llu requests, the oldest open for %.3f s",
             (unsigned long long)n, (double)oldest_ns / 1e9);
    f->env->fact(f->env, "unfinished", text);
}

static uint64_t backlog(const struct flow *f)
{
    uint64_t at_ns = now_ns();
    uint64_t waiting;

    if (!is_paced(f) || !f->is_started)
        return 0;
    /* What is due at the very end, or behind it, is not asked for. */
    waiting = pacer_backlog(&f->pacer, at_ns < f->end_ns ? at_ns : f->end_ns - 1);
    waiting += f->queued;
    return waiting < f->left ? waiting : f->left;
}

static void tell_facts(struct flow *f)
{
    char text[32];

    if (f->unasked) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)f->unasked);
        f->env->fact(f->env, "replies_unasked", text);
    }
    if (!f->was_connected)
        return;
    if (f->left == 0)
        f->env->fact(f->env, "ended_by", "amount");
    else if (f->outcome == OUTCOME_COMPLETED)
        f->env->fact(f->env, "ended_by", "duration");
}

static void finish(struct flow *f, enum outcome outcome)
{
    char where[160];
    char reason[240];

    f->is_finished = true;
    f->outcome = outcome;
    pacer_timer_rest(&f->timer);
    event_del(f->deadline);
    event_del(f->measure);
    event_del(f->expiry);
    event_del(f->drain);
    close_all(f);
    count_unfinished(f);
    tell_facts(f);
    if (f->was_connected || f->connect_failures == 0) {
        f->env->finished(f->env, outcome, NULL);
        return;
    }
    endpoint_format(&f->plan.endpoint, where, sizeof(where));
    snprintf(reason, sizeof(reason), "no connection to %s could be set up: %s", where,
             strerror(f->connect_err));
    f->env->finished(f->env, OUTCOME_FAILED, reason);
}

/* No more load; what is in flight has the drain time left. */
static void wind_down(struct flow *f, enum outcome outcome)
{
    struct timeval wait = timeval_from_ns(f->plan.drain_ns);
    char text[32];

    if (f->is_stopping || f->is_finished)
        return;
    f->is_stopping = true;
    f->outcome = outcome;
    pacer_timer_rest(&f->timer);
    if (backlog(f)) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)backlog(f));
        f->env->fact(f->env, "due_never_sent", text);
    }
    evtimer_add(f->drain, &wait);
}

/* Whether the run is over, and if so, end it. */
static void check_end(struct flow *f)
{
    if (f->is_finished || !f->is_started)
        return;
    if (!f->was_connected && f->connect_failures >= GIVE_UP * (uint64_t)f->count)
        finish(f, OUTCOME_FAILED);
    else if (f->in_flight == 0 && (f->is_stopping || f->left == 0))
        finish(f, f->left == 0 ? OUTCOME_COMPLETED : f->outcome);
}

/* Offering load. */

/* Take the next request, if there is one to take. */
static bool take(struct flow *f, uint64_t at_ns, uint64_t *intended_ns)
{
    return f->left > f->queued && !f->is_stopping && !f->is_finished &&
           at_ns < f->end_ns && pacer_take(&f->pacer, at_ns, intended_ns, 1) == 1;
}

static void push(struct flow *f, struct http_conn *c, uint64_t intended_ns,
                 uint64_t at_ns)
{
    struct meter *m = sink_of(f, at_ns)->meter;

    m->counters.attempted++;
    if (f->left != UINT64_MAX && at_ns >= f->measure_from_ns)
        f->left--;
    if (is_paced(f))
        meter_record(m, METER_HIST_pacing, at_ns - intended_ns);
    f->in_flight++;
    http_conn_push(c, intended_ns, at_ns);
}

/* Requests for one connection: with a rate one, else all that it has room for. */
static unsigned offer_to(struct flow *f, struct http_conn *c, uint64_t at_ns)
{
    unsigned max = is_paced(f) ? 1 : f->plan.depth - c->in_flight;
    uint64_t intended_ns;
    unsigned n = 0;

    while (n < max && take(f, at_ns, &intended_ns)) {
        push(f, c, intended_ns, at_ns);
        n++;
    }
    if (n == 0)
        return 0;
    unlist(f, c);
    list(f, c);
    http_conn_send(c, at_ns);
    return n;
}

static void offer(struct flow *f, uint64_t at_ns)
{
    for (unsigned n = 0; n < BATCH && f->first; n++) {
        if (n)
            at_ns = now_ns();
        if (offer_to(f, f->first, at_ns) == 0)
            break;
    }
    if (f->first && f->left && !f->is_stopping && !f->is_finished && !f->is_paused)
        pacer_timer_arm(&f->timer);
}

/* With connection_rate: a message waits for its own connection, in its queue. */

static int queue(struct http_conn *c, uint64_t intended_ns)
{
    if (c->due_count == c->due_size) {
        size_t size = c->due_size ? 2 * c->due_size : 8;
        uint64_t *grown = malloc(size * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        for (size_t i = 0; i < c->due_count; i++)
            grown[i] = c->due[(c->due_first + i) % c->due_size];
        free(c->due);
        c->due = grown;
        c->due_first = 0;
        c->due_size = size;
    }
    c->due[(c->due_first + c->due_count++) % c->due_size] = intended_ns;
    return 0;
}

static void send_queued(struct flow *f, struct http_conn *c)
{
    uint64_t at_ns = now_ns();
    bool any = false;

    while (c->due_count && has_room(f, c) && !f->is_paused && !f->is_stopping) {
        uint64_t intended_ns = c->due[c->due_first];

        c->due_first = (c->due_first + 1) % c->due_size;
        c->due_count--;
        f->queued--;
        push(f, c, intended_ns, at_ns);
        any = true;
    }
    if (any)
        http_conn_send(c, at_ns);
}

static void offer_in_turn(struct flow *f)
{
    uint64_t intended_ns;

    for (unsigned n = 0; n < BATCH && take(f, now_ns(), &intended_ns); n++) {
        struct http_conn *c = f->conns[f->turn++ % f->count];

        if (queue(c, intended_ns) < 0) {
            finish(f, OUTCOME_FAILED);
            return;
        }
        f->queued++;
        send_queued(f, c);
    }
    if (f->left > f->queued && !f->is_stopping && !f->is_finished && !f->is_paused)
        pacer_timer_arm(&f->timer);
}

static void work(struct flow *f, uint64_t at_ns)
{
    if (f->is_finished || !f->is_started)
        return;
    if (f->plan.is_per_connection)
        offer_in_turn(f);
    else
        offer(f, at_ns);
    check_end(f);
}

/* What connections tell. */

static void on_opened(struct http_conn *c, uint64_t at_ns)
{
    struct flow *f = c->owner;

    (void)at_ns;
    f->was_connected = true;
    list(f, c);
}

/* Listed while it has room; a retired one closes once its last request is over. */
static void relist(struct flow *f, struct http_conn *c)
{
    if (c->is_retired && c->in_flight == 0)
        http_conn_close(c);
    if (!has_room(f, c))
        unlist(f, c);
    list(f, c);
}

static void on_replied(struct http_conn *c, const struct http_slot *slot, uint64_t at_ns)
{
    struct flow *f = c->owner;

    f->in_flight--;
    c->failures = 0;
    count_replied(f, c, slot, at_ns);
    list(f, c);
}

static void on_idle(struct http_conn *c, uint64_t at_ns)
{
    struct flow *f = c->owner;

    if (f->is_finished)
        return;
    if (c->is_retired)
        relist(f, c);
    if (c->due_count)
        send_queued(f, c);
    work(f, at_ns);
}

static void back_off(struct http_conn *c)
{
    unsigned steps = c->failures < BACKOFF_STEPS ? c->failures : BACKOFF_STEPS;
    struct timeval wait = timeval_from_ns(BACKOFF_FIRST_NS << steps);

    c->failures++;
    c->is_waiting = true;
    evtimer_add(&c->retry, &wait);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    struct http_conn *c = arg;
    struct flow *f = c->owner;

    (void)fd;
    (void)what;
    c->is_waiting = false;
    list(f, c);
    on_idle(c, now_ns());
}

static void note_loss(struct flow *f, const struct http_conn *c, const char *what)
{
    if (f->notes >= NOTES_MAX)
        return;
    if (strcmp(what, "reply malformed") == 0)
        f->env->note(f->env, "a reply is not valid HTTP: %s", c->parse.reason);
    else if (strcmp(what, "reply unasked") == 0)
        f->env->note(f->env, "the server sent something that no request asked for");
    else
        return;
    f->notes++;
}

/*
 * Requests in flight fail. A connection that has never replied waits before the next
 * attempt, so that a server that is down, or closes at once, does not cost a core.
 */
static void on_lost(struct http_conn *c, const char *what, int err)
{
    struct flow *f = c->owner;

    if (f->is_finished)
        return;
    note_loss(f, c, what);
    if (strcmp(what, "reply unasked") == 0)
        f->unasked++;
    if (strcmp(what, "connect") == 0 || strcmp(what, "socket") == 0) {
        f->connect_failures++;
        f->connect_err = err;
    }
    for (; c->in_flight; f->in_flight--) {
        struct http_slot slot = http_conn_pop(c);

        count_failed(f, &slot, what, err);
    }
    if (c->replies == 0 && strcmp(what, "closed idle") != 0)
        back_off(c);
    relist(f, c);
}

/* Timeouts: one timer for all, set to the earliest request's. */

/* The first request on a connection has waited too long, and those behind it with it. */
static void expire(struct flow *f, struct http_conn *c)
{
    bool was_connecting = c->state == HTTP_CONNECTING;

    http_conn_close(c);
    if (was_connecting) {
        c->replies = 0;
        on_lost(c, "connect", ETIMEDOUT);
        return;
    }
    for (bool first = true; c->in_flight; first = false, f->in_flight--) {
        struct http_slot slot = http_conn_pop(c);

        if (first)
            count_timed_out(f, &slot);
        else
            count_failed(f, &slot, "pipelined behind a timeout", 0);
    }
    relist(f, c);
}

/* When what a connection waits for has begun; UINT64_MAX when it waits for nothing. */
static uint64_t waits_since_ns(const struct http_conn *c)
{
    const struct http_slot *slot = http_conn_oldest(c);

    if (c->state == HTTP_CONNECTING)
        return c->connect_ns;
    return slot ? slot->start_ns : UINT64_MAX;
}

static void arm_at(struct event *event, uint64_t at_ns)
{
    uint64_t now = now_ns();
    struct timeval wait = timeval_from_ns(at_ns > now ? at_ns - now : 0);

    evtimer_add(event, &wait);
}

static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;
    uint64_t at_ns = now_ns();
    uint64_t first_ns = at_ns;
    uint64_t next_ns, pause_ns = f->plan.timeout_ns / 64 + NS_PER_MS;

    (void)fd;
    (void)what;
    for (size_t i = 0; i < f->size && !f->is_finished; i++) {
        uint64_t since_ns = waits_since_ns(f->conns[i]);

        if (since_ns <= at_ns && at_ns - since_ns >= f->plan.timeout_ns)
            expire(f, f->conns[i]);
        else if (since_ns < first_ns)
            first_ns = since_ns;
    }
    work(f, at_ns);
    if (f->is_finished)
        return;
    /* A bound on how often all connections are looked at. */
    next_ns = first_ns + f->plan.timeout_ns;
    arm_at(f->expiry, next_ns > at_ns + pause_ns ? next_ns : at_ns + pause_ns);
}

/* Other timers. */

static void on_due(void *arg)
{
    work(arg, now_ns());
}

static void on_measure(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    f->shared.meter = f->env->meter;
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    wind_down(f, OUTCOME_COMPLETED);
    check_end(f);
}

static void on_drained(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    if (!f->is_finished)
        finish(f, f->outcome);
}

/* The role. */

static int grow(struct flow *f, size_t size)
{
    struct http_conn **conns = realloc(f->conns, size * sizeof(*conns));

    if (!conns)
        return -ENOMEM;
    f->conns = conns;
    while (f->size < size) {
        struct http_conn *c = http_conn_new(&f->shared, f);

        if (!c)
            return -ENOMEM;
        evtimer_assign(&c->retry, f->env->base, on_retry, c);
        f->conns[f->size++] = c;
    }
    return 0;
}

static int prepare_meter(struct meter *m, bool is_paced)
{
    int err = meter_use(m, METER_HIST_latency) | meter_use(m, METER_HIST_failure) |
              meter_use(m, METER_HIST_connect) | meter_use(m, METER_HIST_first_byte);

    if (is_paced)
        err |= meter_use(m, METER_HIST_service) | meter_use(m, METER_HIST_pacing);
    return err ? -ENOMEM : 0;
}

static int prepare_meters(struct flow *f)
{
    f->result.meter = f->env->meter;
    f->shared.meter = f->env->meter;
    if (prepare_meter(f->env->meter, is_paced(f)) < 0)
        return -ENOMEM;
    if (!f->plan.warmup_ns)
        return 0;
    f->warmup.meter = meter_new();
    f->shared.meter = f->warmup.meter;
    return f->warmup.meter ? prepare_meter(f->warmup.meter, is_paced(f)) : -ENOMEM;
}

static int prepare_shared(struct flow *f)
{
    struct http_shared *s = &f->shared;
    size_t len = f->plan.request.len;
    size_t copies =
        STREAM_BYTES / len < f->plan.depth ? STREAM_BYTES / len : f->plan.depth;

    s->base = f->env->base;
    s->address = f->plan.address;
    s->address_len = f->plan.address_len;
    s->congestion = f->plan.setup.congestion;
    s->request = &f->plan.request;
    s->depth = f->plan.depth;
    s->no_body = f->plan.is_head;
    s->is_text = f->plan.is_text;
    s->read_events = EV_READ | EV_PERSIST;
    if (event_base_get_features(f->env->base) & EV_FEATURE_EARLY_CLOSE)
        s->read_events |= EV_CLOSED;
    s->opened = on_opened;
    s->replied = on_replied;
    s->idle = on_idle;
    s->lost = on_lost;
    s->copies = copies ? (unsigned)copies : 1;
    s->stream = malloc(s->copies * len);
    s->buffer = malloc(BUFFER_BYTES);
    s->buffer_size = BUFFER_BYTES;
    if (!s->stream || !s->buffer)
        return -ENOMEM;
    for (unsigned i = 0; i < s->copies; i++)
        memcpy(s->stream + i * len, f->plan.request.bytes, len);
    return 0;
}

static int prepare_timers(struct flow *f)
{
    struct event_base *base = f->env->base;

    f->deadline = evtimer_new(base, on_deadline, f);
    f->measure = evtimer_new(base, on_measure, f);
    f->expiry = evtimer_new(base, on_expiry, f);
    f->drain = evtimer_new(base, on_drained, f);
    if (!f->deadline || !f->measure || !f->expiry || !f->drain)
        return -ENOMEM;
    return pacer_timer_init(&f->timer, base, &f->pacer, on_due, f);
}

static void load_free(struct flow *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->size; i++) {
        evtimer_del(&f->conns[i]->retry);
        free(f->conns[i]->due);
        http_conn_free(f->conns[i]);
    }
    free(f->conns);
    event_drop(f->deadline);
    event_drop(f->measure);
    event_drop(f->expiry);
    event_drop(f->drain);
    if (f->timer.event)
        pacer_timer_done(&f->timer);
    free(f->shared.stream);
    free(f->shared.buffer);
    meter_free(f->warmup.meter);
    http_plan_done(&f->plan);
    free(f);
}

typedef int plan_reader(struct http_plan *p, const struct options *o,
                        const char *endpoint, struct fail *fail);

static int prepare(struct flow_env *env, struct flow **flow, plan_reader *read,
                   struct fail *fail)
{
    struct flow *f = calloc(1, sizeof(*f));
    int err;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "no memory for the load client");
    f->env = env;
    err = read(&f->plan, env->options, env->endpoint, fail);
    if (!err)
        err = resolve_address(&f->plan.endpoint, &f->plan.address, &f->plan.address_len,
                              fail);
    if (!err)
        err = http_plan_open_files(f->plan.connections, fail);
    if (!err && (prepare_meters(f) < 0 || prepare_shared(f) < 0 ||
                 prepare_timers(f) < 0 || grow(f, f->plan.connections) < 0))
        err = fail_set(fail, ENOMEM, "prepare", "no memory for the load client");
    if (err) {
        load_free(f);
        return err;
    }
    f->count = f->size;
    f->left = f->plan.amount;
    if (f->plan.no_type) {
        env->note(env, NO_TYPE);
        env->fact(env, "warning", NO_TYPE);
    }
    *flow = f;
    return 0;
}

/* Where the server will be is not known yet, nor does it matter here. */
static int check(const struct options *o, plan_reader *read, struct fail *fail)
{
    const char *url = options_text(o, "url", "");
    struct http_plan plan;
    int err = read(&plan, o, *url ? "" : "tcp:127.0.0.1:1", fail);

    if (err == 0)
        http_plan_done(&plan);
    return err;
}

static int http_check(const struct options *o, struct fail *fail)
{
    return check(o, http_plan_read, fail);
}

static int topper_check(const struct options *o, struct fail *fail)
{
    return check(o, http_plan_read_topper, fail);
}

static int http_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    return prepare(env, flow, http_plan_read, fail);
}

static int topper_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    return prepare(env, flow, http_plan_read_topper, fail);
}

static void load_start(struct flow *f, uint64_t start_ns)
{
    f->is_started = true;
    f->measure_from_ns = start_ns + f->plan.warmup_ns;
    pacer_start(&f->pacer, start_ns + f->plan.phase_ns, f->plan.rate,
                f->plan.rate_per_ns);
    if (f->plan.warmup_ns)
        arm_at(f->measure, f->measure_from_ns);
    f->end_ns = UINT64_MAX;
    if (f->plan.duration_ns) {
        f->end_ns = f->measure_from_ns + f->plan.duration_ns;
        arm_at(f->deadline, f->end_ns);
    }
    arm_at(f->expiry, start_ns + f->plan.timeout_ns);
    /*
     * With a rate connections are set up before the first request is due, so that the
     * set-up is not part of its latency. They are listed when they stand.
     */
    for (size_t i = 0; i < f->count; i++) {
        if (is_paced(f) && !f->plan.request.close)
            http_conn_send(f->conns[i], now_ns());
        else
            list(f, f->conns[i]);
    }
    pacer_timer_arm(&f->timer);
}

/* What only a schedule has: it may begin under way. */
static int begin_pacing(struct flow *f)
{
    if (prepare_meter(f->result.meter, true) < 0)
        return -ENOMEM;
    return f->warmup.meter ? prepare_meter(f->warmup.meter, true) : 0;
}

static int set_rate(struct flow *f, uint64_t rate)
{
    int err;

    if (rate == 0 || rate > PACER_RATE_MAX)
        return -EINVAL;
    err = is_paced(f) ? 0 : begin_pacing(f);
    if (err < 0)
        return err;
    f->plan.rate = rate;
    if (f->is_started) {
        pacer_set_rate(&f->pacer, rate, f->plan.rate_per_ns, now_ns());
        work(f, now_ns());
    }
    return 0;
}

static int set_connections(struct flow *f, uint64_t count)
{
    if (f->plan.is_per_connection)
        return -ENOTSUP;
    if (count < 1 || count > UINT32_MAX)
        return -EINVAL;
    if (count > f->size && http_plan_open_files((unsigned)count, NULL) < 0)
        return -EMFILE;
    if (count > f->size && grow(f, count) < 0)
        return -ENOMEM;
    f->count = count;
    for (size_t i = 0; i < f->size; i++) {
        f->conns[i]->is_retired = i >= count;
        relist(f, f->conns[i]);
    }
    work(f, now_ns());
    return 0;
}

static int load_set(struct flow *f, const char *name, uint64_t value)
{
    if (f->is_finished || f->is_stopping)
        return -EINVAL;
    if (strcmp(name, "connections") == 0)
        return set_connections(f, value);
    if (strcmp(name, "rate") == 0 && !f->plan.is_per_connection)
        return set_rate(f, value);
    if (strcmp(name, "connection_rate") == 0 && f->plan.is_per_connection)
        return set_rate(f, value * f->count);
    return -ENOTSUP;
}

/* The deadline, and what waits for its connection, come later by the pause. */
static void shift(struct flow *f, uint64_t span_ns)
{
    if (f->paused_ns < f->measure_from_ns) {
        f->measure_from_ns += span_ns;
        arm_at(f->measure, f->measure_from_ns);
    }
    if (f->plan.duration_ns) {
        f->end_ns += span_ns;
        arm_at(f->deadline, f->end_ns);
    }
    for (size_t i = 0; i < f->size; i++)
        for (size_t k = 0; k < f->conns[i]->due_count; k++)
            f->conns[i]->due[(f->conns[i]->due_first + k) % f->conns[i]->due_size] +=
                span_ns;
}

static void load_pause(struct flow *f, bool paused)
{
    uint64_t at_ns = now_ns();

    if (f->is_paused == paused || !f->is_started || f->is_finished || f->is_stopping)
        return;
    f->is_paused = paused;
    if (paused) {
        pacer_pause(&f->pacer, at_ns);
        pacer_timer_rest(&f->timer);
        event_del(f->deadline);
        event_del(f->measure);
        f->paused_ns = at_ns;
        return;
    }
    pacer_resume(&f->pacer, at_ns);
    shift(f, at_ns - f->paused_ns);
    for (size_t i = 0; i < f->size && f->queued; i++)
        send_queued(f, f->conns[i]);
    work(f, at_ns);
}

static void load_gauge(struct flow *f)
{
    struct meter_gauges *g = &f->env->meter->gauges;

    g->open_connections = 0;
    for (size_t i = 0; i < f->size; i++)
        g->open_connections += f->conns[i]->state == HTTP_OPEN;
    g->in_flight = f->in_flight;
    g->backlog = f->is_stopping || f->is_finished ? 0 : backlog(f);
}

static void load_stop(struct flow *f)
{
    f->is_started = true; /* stopped before it began: there is nothing to wait for */
    wind_down(f, OUTCOME_STOPPED);
    check_end(f);
}

const struct role role_http_client = {
    .name = "http-client",
    .check = http_check,
    .prepare = http_prepare,
    .start = load_start,
    .set = load_set,
    .pause = load_pause,
    .gauge = load_gauge,
    .stop = load_stop,
    .free = load_free,
};

const struct role role_topper_client = {
    .name = "topper-client",
    .check = topper_check,
    .prepare = topper_prepare,
    .start = load_start,
    .set = load_set,
    .pause = load_pause,
    .gauge = load_gauge,
    .stop = load_stop,
    .free = load_free,
};
