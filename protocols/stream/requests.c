/*
 * The client of small requests: exactly `requests` of them, or as many as a duration
 * allows, `concurrency` at once, each by the kind of client that was asked for. Options:
 *
 *   client        process, connection, persistent (connection)
 *   requests      how many in all; 0: no bound but the duration (100)
 *   concurrency   how many at once, 1 to 65536 (1)
 *   rate          per second, 0: the next begins when one has ended (0); live
 *   arrivals, arrivals_seed, sender, senders   protocols/schedule.h
 *   duration      ns after which no more begin, pauses apart; 0: no bound (0)
 *   timeout       ns after which a request is given up; 0: never (10 s)
 *   drain         ns that open requests have after the duration or a stop (2 s)
 *   message, message_size   requests.h
 *   foreign       1: the server is somebody else's, its message may have any length
 *   oneshot_program         kind process: the path of plimsoll-once
 *   congestion    transport.h
 *
 * `latency` is from the intended time to the end with a rate, from the beginning
 * without; `service` is from the beginning, `pacing` the beginning less the intended
 * time. `connect` and `exchange` (and `spawn`, of a process) are its parts; the first
 * request on a kept connection has the connecting in its latency. The first bound that is
 * reached ends the run; the fact "ended_by" says which.
 */
#include "protocols/stream/requests.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"
#include "protocols/schedule.h"
#include "protocols/stream/block.h"

#define CONCURRENCY_MAX 65536u
#define BATCH 64 /* requests begun in one go; then those that are open have a turn */
#define AGAIN_NS NS_PER_MS
#define SWEEP_MIN_NS NS_PER_MS
#define SWEEP_MAX_NS (100 * NS_PER_MS)

struct flow {
    struct requests shared; /* what the kinds see; first, so that they lead back here */

    struct slot **slots; /* room for `concurrency`; every slot that was ever needed */
    size_t slot_count;
    size_t concurrency; /* how many may be busy */
    size_t busy;
    uint64_t room_ns; /* with a rate: since when one is free */
    struct schedule_away away;
    struct slot *free_slots;

    struct pacer pacer;
    struct pacer_timer timer;
    bool has_rate;
    bool offering; /* inside offer: ended requests must not call it again */

    uint64_t wanted; /* UINT64_MAX: no bound */
    uint64_t begun, succeeded, failed;
    uint64_t duration_ns, timeout_ns, drain_ns;
    uint64_t start_ns;
    uint64_t end_ns;     /* no request begins then or later; UINT64_MAX: no such bound */
    uint64_t offered_ns; /* load was offered until then */
    uint64_t paused_ns;

    struct event *start, *end, *drain, *sweep, *again;
    const char *ended_by; /* NULL while requests may begin */
    bool started;
    bool is_offered; /* no more requests begin */
    bool paused;
    bool stopped; /* by the engine, not by a bound of its own */
    bool finished;
    char first_failure[320];
};

static struct flow *flow_of(struct requests *r)
{
    return (struct flow *)r;
}

static void set_timer(struct event *timer, uint64_t span_ns)
{
    struct timeval span = timeval_from_ns(span_ns);

    event_add(timer, &span);
}

const char *request_reply_fault(const struct requests *r, uint64_t len_bytes)
{
    if (len_bytes == 0)
        return "receive nothing";
    return r->foreign || len_bytes == r->message.len_bytes ? NULL : "receive short";
}

/* The end. */

/*
 * Whoever is still open did not finish in time. No latency has it, so how long it has
 * been open is reported.
 */
static void abandon_all(struct flow *f)
{
    struct meter *m = f->shared.env->meter;
    uint64_t now = now_ns(), oldest_ns = now;
    char text[80];

    for (size_t i = 0; i < f->slot_count; i++) {
        struct slot *s = f->slots[i];

        f->shared.kind->abandon(s);
        if (s->busy)
            meter_record(m, METER_HIST_unfinished, now - s->intended_ns);
        if (s->busy && s->intended_ns < oldest_ns)
            oldest_ns = s->intended_ns;
        s->busy = false;
    }
    m->counters.unfinished += f->busy;
    if (f->busy) {
        snprintf(text, sizeof(text), "%zu requests, the oldest open for %.3f s", f->busy,
                 (double)(now - oldest_ns) / 1e9);
        f->shared.env->fact(f->shared.env, "unfinished", text);
    }
    f->busy = 0;
    m->gauges.in_flight = 0;
    m->gauges.open_connections = 0;
}

/* A schedule lasts until a request more would be due. */
static uint64_t offered_until_ns(const struct flow *f)
{
    uint64_t now = now_ns(), next_ns = pacer_next_ns(&f->pacer);

    if (now >= f->end_ns)
        return f->end_ns;
    return f->has_rate && f->begun >= f->wanted && next_ns > now ? next_ns : now;
}

static void note_offered(struct flow *f)
{
    struct meter_span *offered = &f->shared.env->meter->offered;

    if (!f->started || f->is_offered)
        return;
    f->is_offered = true;
    *offered = (struct meter_span){f->start_ns, offered_until_ns(f)};
    f->offered_ns = offered->last_ns;
}

static void finish(struct flow *f, enum outcome outcome, const char *reason)
{
    struct flow_env *env = f->shared.env;
    struct event *timers[] = {f->start, f->end, f->drain, f->sweep, f->again};

    if (f->finished)
        return;
    f->finished = true;
    note_offered(f);
    pacer_timer_rest(&f->timer);
    for (size_t i = 0; i < NUMBER_OF(timers); i++)
        event_del(timers[i]);
    abandon_all(f);
    if (f->is_offered)
        schedule_end(&f->pacer, f->offered_ns, f->wanted - f->begun, env->meter);
    if (f->ended_by)
        env->fact(env, "ended_by", f->ended_by);
    if (f->first_failure[0])
        env->fact(env, "first_failure", f->first_failure);
    env->finished(env, outcome, reason);
}

static void finish_by_result(struct flow *f)
{
    char reason[400];

    if (f->stopped) {
        finish(f, OUTCOME_STOPPED, "stopped before all requests were done");
    } else if (f->failed > 0 && f->succeeded == 0) {
        snprintf(reason, sizeof(reason),
                 "none of %" PRIu64 " requests succeeded; the first failed so: %s",
                 f->begun, f->first_failure);
        finish(f, OUTCOME_FAILED, reason);
    } else {
        finish(f, OUTCOME_COMPLETED, NULL);
    }
}

/* No more requests begin; the open ones have the drain time. */
static void end_offering(struct flow *f, const char *by)
{
    if (f->ended_by || f->finished)
        return;
    f->ended_by = by;
    note_offered(f);
    pacer_timer_rest(&f->timer);
    event_del(f->end);
    if (f->busy == 0)
        finish_by_result(f);
    else if (f->begun < f->wanted)
        set_timer(f->drain, f->drain_ns);
}

/* Offering load. */

static struct slot *new_slot(struct flow *f)
{
    struct slot *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->requests = &f->shared;
    s->alive_fd = -1;
    s->number = f->slot_count;
    conn_init(&s->conn);
    f->slots[f->slot_count++] = s;
    return s;
}

static struct slot *take_slot(struct flow *f)
{
    struct slot *s = f->free_slots;

    if (!s)
        return new_slot(f);
    f->free_slots = s->next_free;
    return s;
}

static void begin(struct flow *f, struct slot *s, uint64_t intended_ns)
{
    struct meter *m = f->shared.env->meter;

    s->busy = true;
    s->begun_ns = now_ns();
    s->intended_ns = f->has_rate ? intended_ns : s->begun_ns;
    if (f->has_rate)
        schedule_note(m, &f->away, intended_ns, f->room_ns, s->begun_ns);
    f->busy++;
    f->begun++;
    m->counters.attempted++;
    m->gauges.in_flight = f->busy;
    f->shared.kind->begin(s);
}

static bool has_room(const struct flow *f)
{
    return !f->ended_by && !f->finished && f->busy < f->concurrency &&
           f->begun < f->wanted;
}

/* Begin what is due, as far as slots are free; what is left is called for again. */
static void offer(void *arg)
{
    struct flow *f = arg;
    uint64_t intended_ns, now = 0;
    struct slot *s;

    if (f->offering || f->paused)
        return;
    f->offering = true;
    for (int i = 0; i < BATCH && has_room(f); i++) {
        now = now_ns();
        if (now >= f->end_ns || pacer_take(&f->pacer, now, &intended_ns, 1) == 0)
            break;
        s = take_slot(f);
        if (!s) {
            f->offering = false;
            finish(f, OUTCOME_FAILED, "there is no memory for another request");
            return;
        }
        begin(f, s, intended_ns);
    }
    f->offering = false;
    if (f->begun >= f->wanted)
        end_offering(f, "requests");
    else if (now >= f->end_ns)
        end_offering(f, "duration"); /* the timer for it may be a little late */
    else if (has_room(f))
        pacer_timer_arm(&f->timer);
}

/* How requests end. */

static void give_back(struct slot *s)
{
    struct flow *f = flow_of(s->requests);

    assert(s->busy);
    s->busy = false;
    s->next_free = f->free_slots;
    f->free_slots = s;
    if (f->has_rate && f->busy == f->concurrency)
        f->room_ns = now_ns();
    f->busy--;
    f->shared.env->meter->gauges.in_flight = f->busy;
    if (f->ended_by && f->busy == 0)
        finish_by_result(f);
    else if (has_room(f))
        offer(f);
}

void request_succeeded(struct slot *s, uint64_t ended_ns)
{
    struct flow *f = flow_of(s->requests);
    struct meter *m = f->shared.env->meter;

    f->succeeded++;
    m->counters.succeeded++;
    m->counters.drained += f->is_offered && ended_ns > f->offered_ns;
    meter_span_reach(&m->received, ended_ns);
    meter_record(m, METER_HIST_latency, ended_ns - s->intended_ns);
    if (f->has_rate)
        meter_record(m, METER_HIST_service, ended_ns - s->begun_ns);
    give_back(s);
}

static void count_failure(struct slot *s)
{
    struct flow *f = flow_of(s->requests);

    f->failed++;
    f->shared.env->meter->counters.failed++;
    meter_record(f->shared.env->meter, METER_HIST_failure, now_ns() - s->intended_ns);
}

void request_failed_word(struct slot *s, const char *word)
{
    struct flow *f = flow_of(s->requests);

    if (!f->first_failure[0])
        snprintf(f->first_failure, sizeof(f->first_failure), "%s", word);
    count_failure(s);
    tally_add(&f->shared.env->meter->errors, word, 1);
    give_back(s);
}

/* The limit that an errno speaks of, or NULL when it speaks of none. */
static const char *limit_words(const char *phase, int err, char *text, size_t size)
{
    struct rlimit limit = {0};

    if (err == -EMFILE || err == -ENFILE) {
        getrlimit(RLIMIT_NOFILE, &limit);
        snprintf(text, size, "descriptors (limit %llu)",
                 (unsigned long long)limit.rlim_cur);
    } else if (err == -EAGAIN && strcmp(phase, "spawn") == 0) {
        getrlimit(RLIMIT_NPROC, &limit);
        snprintf(text, size, "processes (limit %llu)",
                 (unsigned long long)limit.rlim_cur);
    } else if (err == -EADDRNOTAVAIL) {
        snprintf(text, size, "local ports (net.ipv4.ip_local_port_range)");
    } else {
        return NULL;
    }
    return text;
}

static void explain_failure(struct flow *f, const char *phase, int err)
{
    if (f->first_failure[0])
        return;
    if (strcmp(phase, "connect") == 0)
        target_explain(&f->shared.target, err, f->first_failure,
                       sizeof(f->first_failure));
    else
        snprintf(f->first_failure, sizeof(f->first_failure), "%s: %s", phase,
                 strerror(-err));
}

void request_failed(struct slot *s, const char *phase, int err)
{
    struct flow *f = flow_of(s->requests);
    char limit[80];
    char reason[200];

    explain_failure(f, phase, err);
    count_failure(s);
    tally_errno(&f->shared.env->meter->errors, phase, -err);
    if (!limit_words(phase, err, limit, sizeof(limit))) {
        give_back(s);
        return;
    }
    s->busy = false;
    f->busy--;
    f->ended_by = "limit";
    snprintf(reason, sizeof(reason),
             "out of %s with %zu requests open, after %" PRIu64 " had been begun", limit,
             f->busy, f->begun);
    finish(f, OUTCOME_EXHAUSTED, reason);
}

static void time_out(struct slot *s)
{
    struct flow *f = flow_of(s->requests);

    if (!f->first_failure[0])
        snprintf(f->first_failure, sizeof(f->first_failure),
                 "no reply within the timeout of %.3f s", (double)f->timeout_ns / 1e9);
    f->failed++;
    f->shared.env->meter->counters.timed_out++;
    meter_record(f->shared.env->meter, METER_HIST_failure, now_ns() - s->intended_ns);
    f->shared.kind->abandon(s);
    give_back(s);
}

void request_again(struct slot *s)
{
    struct flow *f = flow_of(s->requests);

    if (!event_pending(f->again, EV_TIMEOUT, NULL))
        set_timer(f->again, AGAIN_NS);
}

void request_connection_opened(struct requests *r)
{
    r->env->meter->counters.connections++;
    r->env->meter->gauges.open_connections++;
}

void request_connection_closed(struct requests *r)
{
    r->env->meter->gauges.open_connections--;
}

/* Timers. */

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    (void)what;
    for (size_t i = 0; i < f->slot_count && !f->finished; i++)
        if (f->slots[i]->busy && f->slots[i]->again)
            f->shared.kind->again(f->slots[i]);
}

/*
 * One look at all slots now and then costs less than a timer for each request. A request
 * that takes the place of one given up here has begun after `now`: it is not yet due.
 */
static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;
    uint64_t now = now_ns();

    (void)fd;
    (void)what;
    for (size_t i = 0; i < f->slot_count && !f->finished; i++)
        if (f->slots[i]->busy && f->slots[i]->begun_ns + f->timeout_ns <= now)
            time_out(f->slots[i]);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end_offering(arg, "duration");
}

static void on_drained(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    finish_by_result(arg);
}

static void on_start(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    offer(arg);
}

/* The role. */

static const struct request_kind *find_kind(const char *name)
{
    static const struct request_kind *const kinds[] = {
        &request_process,
        &request_connection,
        &request_persistent,
    };

    for (size_t i = 0; i < NUMBER_OF(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

static int read_options(struct flow *f, struct fail *fail)
{
    const struct options *o = f->shared.env->options;
    const char *kind = options_text(o, OPTION_client, "connection");

    f->shared.kind = find_kind(kind);
    if (!f->shared.kind)
        return fail_usage(
            fail, "client",
            "\"%s\" is not a kind of client: process, connection or persistent", kind);
    f->concurrency = (size_t)options_number(o, OPTION_concurrency, 1);
    if (f->concurrency == 0 || f->concurrency > CONCURRENCY_MAX)
        return fail_usage(fail, "concurrency", "the concurrency must be from 1 to %u",
                          CONCURRENCY_MAX);
    f->shared.foreign = options_number(o, OPTION_foreign, 0);
    f->duration_ns = options_number(o, OPTION_duration, 0);
    f->timeout_ns = options_number(o, OPTION_timeout, 10 * NS_PER_S);
    f->drain_ns = options_number(o, OPTION_drain, 2 * NS_PER_S);
    f->wanted = options_number(o, OPTION_requests, f->duration_ns ? 0 : 100);
    if (f->wanted == 0 && f->duration_ns == 0)
        return fail_usage(
            fail, "requests",
            "the number of requests must be at least 1, or a duration given");
    if (f->wanted == 0)
        f->wanted = UINT64_MAX;
    return 0;
}

static int set_rate(struct flow *f, uint64_t rate_per_s)
{
    struct meter *m = f->shared.env->meter;

    if (rate_per_s && (meter_use(m, METER_HIST_service) < 0 || schedule_use(m) < 0))
        return -ENOMEM;
    f->has_rate = rate_per_s > 0;
    return 0;
}

static int allocate(struct flow *f, struct fail *fail)
{
    struct event_base *base = f->shared.env->base;
    struct meter *m = f->shared.env->meter;

    f->slots = calloc(f->concurrency, sizeof(struct slot *));
    f->shared.received = block_new(REQUEST_CHUNK);
    f->start = evtimer_new(base, on_start, f);
    f->end = evtimer_new(base, on_end, f);
    f->drain = evtimer_new(base, on_drained, f);
    f->sweep = event_new(base, -1, EV_PERSIST, on_sweep, f);
    f->again = evtimer_new(base, on_again, f);
    if (!f->slots || !f->shared.received || !f->start || !f->end || !f->drain ||
        !f->sweep || !f->again ||
        pacer_timer_init(&f->timer, base, &f->pacer, offer, f) < 0 ||
        meter_use(m, METER_HIST_latency) < 0 || meter_use(m, METER_HIST_failure) < 0 ||
        meter_use(m, METER_HIST_unfinished) < 0 ||
        set_rate(f, options_number(f->shared.env->options, OPTION_rate, 0)) < 0)
        return fail_set(fail, ENOMEM, "prepare", "the client cannot be made");
    return 0;
}

static void client_free(struct flow *f)
{
    struct event *timers[] = {f->start, f->end, f->drain, f->sweep, f->again};

    for (size_t i = 0; i < f->slot_count; i++) {
        f->shared.kind->abandon(f->slots[i]);
        free(f->slots[i]);
    }
    for (size_t i = 0; i < NUMBER_OF(timers); i++)
        event_drop(timers[i]);
    pacer_timer_done(&f->timer);
    if (f->shared.kind && f->shared.kind->done)
        f->shared.kind->done(&f->shared);
    request_message_done(&f->shared.message);
    free(f->shared.received);
    free(f->slots);
    free(f);
}

static int client_prepare(struct flow_env *env, struct flow **out, struct fail *fail)
{
    struct flow *f = calloc(1, sizeof(*f));
    int err;

    *out = NULL;
    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the client cannot be made");
    f->shared.env = env;
    f->shared.job_fd = f->shared.null_fd = -1;
    err = read_options(f, fail);
    if (!err)
        err = allocate(f, fail);
    if (!err)
        err = target_init(&f->shared.target, env->endpoint, env->options, fail);
    if (!err)
        err = request_message_init(&f->shared.message, env->options, fail);
    if (!err && f->shared.kind->prepare)
        err = f->shared.kind->prepare(&f->shared, fail);
    if (err) {
        client_free(f);
        return err;
    }
    if (f->shared.target.setup.in_force[0])
        env->fact(env, "congestion", f->shared.target.setup.in_force);
    *out = f;
    return 0;
}

static void arm_end(struct flow *f, uint64_t now)
{
    if (f->duration_ns && !f->ended_by)
        set_timer(f->end, f->end_ns > now ? f->end_ns - now : 0);
}

static void client_start(struct flow *f, uint64_t start_ns)
{
    const struct options *o = f->shared.env->options;
    uint64_t rate_per_s = options_number(o, OPTION_rate, 0);
    uint64_t now = now_ns();
    uint64_t wait_ns = start_ns > now ? start_ns - now : 0;
    uint64_t sweep_ns = f->timeout_ns / 8;

    f->started = true;
    f->start_ns = start_ns;
    schedule_start(&f->pacer, start_ns, rate_per_s, NS_PER_S, o);
    set_timer(f->start, wait_ns);
    f->end_ns = f->duration_ns ? start_ns + f->duration_ns : UINT64_MAX;
    arm_end(f, now);
    if (sweep_ns < SWEEP_MIN_NS)
        sweep_ns = SWEEP_MIN_NS;
    if (f->timeout_ns)
        set_timer(f->sweep, sweep_ns < SWEEP_MAX_NS ? sweep_ns : SWEEP_MAX_NS);
}

static int client_set(struct flow *f, enum option option, uint64_t value)
{
    int err;

    if (option != OPTION_rate)
        return -ENOTSUP;
    if (value > PACER_RATE_MAX)
        return -EINVAL;
    err = set_rate(f, value);
    if (!err && f->started) {
        pacer_set_rate(&f->pacer, value, NS_PER_S, now_ns());
        offer(f);
    }
    return err;
}

static void client_pause(struct flow *f, bool paused)
{
    uint64_t now = now_ns();

    if (!f->started || f->finished || paused == f->paused)
        return;
    f->paused = paused;
    if (paused) {
        f->paused_ns = now;
        pacer_pause(&f->pacer, now);
        pacer_timer_rest(&f->timer);
        event_del(f->end);
    } else {
        pacer_resume(&f->pacer, now);
        if (f->duration_ns)
            f->end_ns += now - f->paused_ns;
        arm_end(f, now);
        offer(f);
    }
}

static void client_gauge(struct flow *f)
{
    uint64_t backlog = f->started ? pacer_backlog(&f->pacer, now_ns()) : 0;
    uint64_t left = f->ended_by ? 0 : f->wanted - f->begun;

    f->shared.env->meter->gauges.backlog = backlog < left ? backlog : left;
}

static void client_stop(struct flow *f)
{
    if (f->finished)
        return;
    if (!f->ended_by)
        f->stopped = true;
    end_offering(f, "stop");
    if (!f->finished) /* ended by a bound already: the drain holds from now on too */
        set_timer(f->drain, f->drain_ns);
}

const struct role role_requests_client = {
    .name = "requests-client",
    .check = request_message_check,
    .prepare = client_prepare,
    .start = client_start,
    .set = client_set,
    .pause = client_pause,
    .gauge = client_gauge,
    .stop = client_stop,
    .free = client_free,
};
