/*
 * Roles http-client and topper-client: load on an HTTP server or on a Topper service.
 * The options are those of http_plan.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/http/http_load.h"
#include "protocols/resolve.h"
#include "protocols/schedule.h"

#define BUFFER_BYTES 65536u /* a reply's body is read in pieces of this size */
#define STREAM_BYTES 65536u /* of repeated requests, for pipelining */
#define NO_TYPE "the requests have a body and no Content-Type; many servers refuse that"

/* Ending. */

static void close_all(struct flow *f)
{
    for (size_t i = 0; i < f->size; i++) {
        evtimer_del(&f->conns[i]->retry);
        http_load_unlist(f, f->conns[i]);
        http_conn_close(f->conns[i]);
    }
}

static uint64_t backlog(struct flow *f)
{
    uint64_t at_ns = now_ns();
    uint64_t waiting;

    if (!http_load_is_paced(f) || !f->is_started)
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

void http_load_finish(struct flow *f, enum outcome outcome, const char *reason)
{
    char where[160];
    char unreached[240];

    f->is_finished = true;
    f->outcome = outcome;
    http_offer_end(f, now_ns());
    pacer_timer_rest(&f->timer);
    event_del(f->deadline);
    event_del(f->measure);
    event_del(f->expiry);
    event_del(f->drain);
    close_all(f);
    http_result_unfinished(f);
    http_offer_give_up(f);
    tell_facts(f);
    if (reason || f->was_connected || f->connect_failures == 0) {
        f->env->finished(f->env, outcome, reason);
        return;
    }
    endpoint_format(&f->plan.endpoint, where, sizeof(where));
    snprintf(unreached, sizeof(unreached), "no connection to %s could be set up: %s",
             where, strerror(f->connect_err));
    f->env->finished(f->env, OUTCOME_FAILED, unreached);
}

/* No more load; what is in flight has the drain time left. */
static void wind_down(struct flow *f, enum outcome outcome)
{
    struct timeval wait = timeval_from_ns(f->plan.drain_ns);

    if (f->is_stopping || f->is_finished)
        return;
    f->is_stopping = true;
    f->outcome = outcome;
    http_offer_end(f, outcome == OUTCOME_COMPLETED ? f->end_ns : now_ns());
    pacer_timer_rest(&f->timer);
    evtimer_add(f->drain, &wait);
}

/* Timeouts: one timer for all, set to the earliest request's. */

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
            http_result_expire(f, f->conns[i]);
        else if (since_ns < first_ns)
            first_ns = since_ns;
    }
    http_offer_work(f, at_ns);
    if (f->is_finished)
        return;
    /* A bound on how often all connections are looked at. */
    next_ns = first_ns + f->plan.timeout_ns;
    arm_at(f->expiry, next_ns > at_ns + pause_ns ? next_ns : at_ns + pause_ns);
}

/* Other timers. */

static void on_due(void *arg)
{
    http_offer_work(arg, now_ns());
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
    http_load_check_end(f);
}

static void on_drained(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    if (!f->is_finished)
        http_load_finish(f, f->outcome, NULL);
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
        evtimer_assign(&c->retry, f->env->base, http_result_retry, c);
        f->conns[f->size++] = c;
    }
    return 0;
}

static int prepare_meter(struct meter *m, bool is_paced)
{
    int err = meter_use(m, METER_HIST_latency) | meter_use(m, METER_HIST_failure) |
              meter_use(m, METER_HIST_connect) | meter_use(m, METER_HIST_first_byte) |
              meter_use(m, METER_HIST_unfinished);

    if (is_paced)
        err |= meter_use(m, METER_HIST_service) | schedule_use(m);
    return err ? -ENOMEM : 0;
}

static int prepare_meters(struct flow *f)
{
    f->result.meter = f->env->meter;
    f->shared.meter = f->env->meter;
    if (prepare_meter(f->env->meter, http_load_is_paced(f)) < 0)
        return -ENOMEM;
    if (!f->plan.warmup_ns)
        return 0;
    f->warmup.meter = meter_new();
    f->shared.meter = f->warmup.meter;
    return f->warmup.meter ? prepare_meter(f->warmup.meter, http_load_is_paced(f))
                           : -ENOMEM;
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
    s->opened = http_offer_opened;
    s->replied = http_result_replied;
    s->idle = http_offer_idle;
    s->lost = http_result_lost;
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
    const char *url = options_text(o, OPTION_url, "");
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
    schedule_start(&f->pacer, start_ns, f->plan.rate, f->plan.rate_per_ns,
                   f->env->options);
    f->lots = options_number(f->env->options, OPTION_arrivals_seed, 0);
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
        if (http_load_is_paced(f) && !f->plan.request.close)
            http_conn_send(f->conns[i], now_ns());
        else
            http_load_list(f, f->conns[i]);
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
    err = http_load_is_paced(f) ? 0 : begin_pacing(f);
    if (err < 0)
        return err;
    f->plan.rate = rate;
    if (f->is_started) {
        pacer_set_rate(&f->pacer, rate, f->plan.rate_per_ns, now_ns());
        http_offer_work(f, now_ns());
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
        http_offer_relist(f, f->conns[i]);
    }
    http_offer_work(f, now_ns());
    return 0;
}

static int load_set(struct flow *f, enum option option, uint64_t value)
{
    if (f->is_finished || f->is_stopping)
        return -EINVAL;
    if (option == OPTION_connections)
        return set_connections(f, value);
    if (option == OPTION_rate && !f->plan.is_per_connection)
        return set_rate(f, value);
    if (option == OPTION_connection_rate && f->plan.is_per_connection)
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
        http_offer_due(f, f->conns[i]);
    http_offer_work(f, at_ns);
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
    http_load_check_end(f);
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
