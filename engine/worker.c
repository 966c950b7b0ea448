#include "engine/worker.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "engine/channel.h"
#include "engine/json.h"
#include "engine/message.h"
#include "engine/sample.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/pacer_timer.h"
#include "protocols/pin.h"
#include "protocols/role.h"

/* With more than this unread, an interval stays open: the console is slow. */
#define PENDING_MAX (128u << 10)

struct worker {
    struct event_base *base;
    struct channel *channel;
    struct event *terminate, *interval, *ending;
    const struct role *role; /* NULL until hello */
    struct flow *flow;       /* NULL before prepare and after free */
    struct flow_env env;
    struct hello hello;
    char boot[64];

    uint64_t start_ns;       /* 0 until started */
    uint64_t closed_ns;      /* when the last interval closed */
    struct sample open;      /* its meter is the one that the flow writes to */
    struct sample totals;    /* sum of the closed intervals */
    struct process_use used; /* at the last close */
    uint64_t ticked_ns;      /* when the clock of intervals ticked last */
    uint64_t late_ns;        /* how late a tick was, at most, since the last close */
    uint64_t descriptors;    /* as counted last */
    uint64_t count_due_ns;   /* when they are counted again */

    bool finished;
    enum outcome outcome;
    char reason[320];
};

static struct worker *owner_of(struct flow_env *env)
{
    return env->owner;
}

static void env_note(struct flow_env *env, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void env_note(struct flow_env *env, const char *format, ...)
{
    char text[1024];
    cJSON *m = message_new(MESSAGE_NOTE);
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (m)
        json_add_text(m, "text", text);
    channel_send(owner_of(env)->channel, m);
}

static void env_fact(struct flow_env *env, const char *name, const char *text)
{
    cJSON *m = message_new(MESSAGE_FACT);

    if (m) {
        json_add_text(m, "name", name);
        json_add_text(m, "text", text);
    }
    channel_send(owner_of(env)->channel, m);
}

/* The rest is done by on_ending: a flow is not freed while one of its calls runs. */
static void env_finished(struct flow_env *env, enum outcome outcome, const char *reason)
{
    struct worker *w = owner_of(env);
    uint64_t end_ns = env->load_end_ns ? env->load_end_ns : now_ns();

    if (w->finished)
        return;
    w->finished = true;
    w->outcome = outcome;
    snprintf(w->reason, sizeof(w->reason), "%s", reason ? reason : "");
    w->totals.at_ns = w->start_ns && end_ns > w->start_ns ? end_ns - w->start_ns : 0;
    event_active(w->ending, EV_TIMEOUT, 0);
}

/* Counting may take at most a hundredth of the time, or it would be load itself. */
static uint64_t descriptors(struct worker *w)
{
    uint64_t began_ns = now_ns();

    if (began_ns >= w->count_due_ns) {
        w->descriptors = process_descriptors();
        w->count_due_ns = began_ns + 100 * (now_ns() - began_ns);
    }
    return w->descriptors;
}

/* Close the open interval: fill in what it covers, and add it to the totals. */
static int close_interval(struct worker *w)
{
    uint64_t now = now_ns();
    struct process_use use;

    if (w->role->gauge && w->flow)
        w->role->gauge(w->flow);
    process_use_read(&use);
    use.open_descriptors = descriptors(w);
    use.clock_late_us = w->late_ns / 1000;
    w->late_ns = 0;
    w->open.use = use;
    process_use_subtract(&w->open.use, &w->used);
    w->used = use;
    w->open.at_ns = now > w->start_ns ? now - w->start_ns : 0;
    w->open.span_ns = now - w->closed_ns;
    w->closed_ns = now;
    process_use_add(&w->totals.use, &w->open.use);
    w->totals.use.open_descriptors = use.open_descriptors;
    w->totals.span_ns += w->open.span_ns;
    memset(&w->totals.meter->gauges, 0, sizeof(w->totals.meter->gauges));
    return meter_merge(w->totals.meter, w->open.meter);
}

static void send_sample(struct worker *w)
{
    cJSON *m = message_new(MESSAGE_SAMPLE);

    if (m && sample_encode(&w->open, false, m) < 0) {
        cJSON_Delete(m);
        m = NULL;
    }
    channel_send(w->channel, m);
    meter_reset(w->open.meter);
}

/* Intervals end on the grid of the start time, whenever the timer fires. */
static void arm_interval(struct worker *w)
{
    uint64_t now = now_ns();
    uint64_t past = now > w->start_ns ? now - w->start_ns : 0;
    uint64_t next = w->start_ns + (past / SAMPLE_STEP_NS + 1) * SAMPLE_STEP_NS;
    struct timeval tv = timeval_from_ns(next - now);

    event_add(w->interval, &tv);
}

/* A process that did not run for a while, or was busy for as long, finds it out here. */
static void tick(struct worker *w)
{
    uint64_t now = now_ns();

    if (now > w->ticked_ns + SAMPLE_STEP_NS + w->late_ns)
        w->late_ns = now - w->ticked_ns - SAMPLE_STEP_NS;
    w->ticked_ns = now;
}

static void on_interval(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;

    (void)fd;
    (void)what;
    if (w->finished)
        return;
    tick(w);
    if (channel_pending(w->channel) < PENDING_MAX && close_interval(w) == 0)
        send_sample(w);
    arm_interval(w);
}

static void free_flow(struct worker *w)
{
    if (w->flow)
        w->role->free(w->flow);
    w->flow = NULL;
}

static void on_ending(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    uint64_t ended_ns = w->totals.at_ns;

    (void)fd;
    (void)what;
    event_del(w->interval);
    if (w->start_ns)
        tick(w);
    if (w->start_ns && close_interval(w) == 0)
        send_sample(w);
    w->totals.at_ns = ended_ns;
    meter_spans_since(w->totals.meter, w->start_ns);
    free_flow(w);
    channel_send(w->channel, message_done(&w->totals, w->outcome, w->reason));
}

static void send_fail(struct worker *w, const struct fail *fail)
{
    w->finished = true;
    w->outcome = OUTCOME_FAILED;
    channel_send(w->channel, message_fail(fail));
}

static int prepare(struct worker *w, struct fail *fail)
{
    int rc;

    w->role = role_find(w->hello.role);
    if (!w->role)
        return fail_usage(fail, "hello", "this worker has no role '%s'", w->hello.role);
    rc = *w->hello.pin ? pin_to_cpus(w->hello.pin, fail) : 0;
    if (rc < 0)
        return rc;
    w->env.base = w->base;
    w->env.meter = w->open.meter;
    w->env.options = &w->hello.values;
    w->env.finished = env_finished;
    w->env.note = env_note;
    w->env.fact = env_fact;
    w->env.owner = w;
    snprintf(w->env.endpoint, sizeof(w->env.endpoint), "%s", w->hello.endpoint);
    snprintf(w->env.upstream, sizeof(w->env.upstream), "%s", w->hello.upstream);
    return w->role->prepare(&w->env, &w->flow, fail);
}

static void on_hello(struct worker *w, const cJSON *object)
{
    struct fail fail = {0};
    cJSON *m;

    if (w->role)
        return;
    if (message_read_hello(object, &w->hello, &fail) < 0 || prepare(w, &fail) < 0) {
        send_fail(w, &fail);
        return;
    }
    m = message_new(MESSAGE_READY);
    if (m) {
        json_add_text(m, "endpoint", w->env.endpoint);
        json_add_text(m, "boot", w->boot);
        json_add_u64(m, "pid", (uint64_t)getpid());
    }
    channel_send(w->channel, m);
}

static void on_start(struct worker *w, const cJSON *object)
{
    if (!w->flow || w->start_ns)
        return;
    w->start_ns = message_read_start(object, w->boot);
    w->closed_ns = now_ns();
    w->ticked_ns = w->start_ns;
    process_use_read(&w->used);
    meter_reset(w->open.meter);
    arm_interval(w);
    w->role->start(w->flow, w->start_ns);
}

static void on_set(struct worker *w, const cJSON *object)
{
    const char *name = json_text(object, "name", "");
    int rc = -ENOTSUP;
    cJSON *m;

    if (!w->flow)
        return;
    if (w->role->set)
        rc = w->role->set(w->flow, option_find(name), json_u64(object, "value", 0));
    m = message_new(MESSAGE_SET);
    if (m) {
        json_add_text(m, "name", name);
        json_add_u64(m, "errno", (uint64_t)-rc);
    }
    channel_send(w->channel, m);
}

static void on_pause(struct worker *w, bool paused)
{
    if (w->flow && w->role->pause && !w->finished)
        w->role->pause(w->flow, paused);
}

static void on_message(void *arg, const cJSON *object, const char *line)
{
    struct worker *w = arg;

    (void)line;
    switch (message_type(object)) {
    case MESSAGE_HELLO:
        on_hello(w, object);
        break;
    case MESSAGE_START:
        on_start(w, object);
        break;
    case MESSAGE_SET:
        on_set(w, object);
        break;
    case MESSAGE_PAUSE:
        on_pause(w, true);
        break;
    case MESSAGE_RESUME:
        on_pause(w, false);
        break;
    case MESSAGE_STOP:
        if (w->flow && !w->finished)
            w->role->stop(w->flow);
        break;
    case MESSAGE_READY:
    case MESSAGE_SAMPLE:
    case MESSAGE_NOTE:
    case MESSAGE_FACT:
    case MESSAGE_DONE:
    case MESSAGE_FAIL:
    case MESSAGE_UNKNOWN:
        break; /* not for a worker, or of a later version */
    }
}

static void on_closed(void *arg, int err)
{
    struct worker *w = arg;

    (void)err;
    event_base_loopbreak(w->base);
}

static void on_terminate(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(w->base);
}

static int set_up(struct worker *w, int read_fd, int write_fd)
{
    static const struct channel_ops ops = {on_message, on_closed};

    w->base = pacer_timer_base();
    if (!w->base || sample_init(&w->open) < 0 || sample_init(&w->totals) < 0)
        return -ENOMEM;
    w->interval = evtimer_new(w->base, on_interval, w);
    w->ending = event_new(w->base, -1, 0, on_ending, w);
    w->terminate = evsignal_new(w->base, SIGTERM, on_terminate, w);
    w->channel = channel_new(w->base, read_fd, write_fd, &ops, w);
    if (!w->interval || !w->ending || !w->terminate || !w->channel)
        return -ENOMEM;
    return event_add(w->terminate, NULL) < 0 ? -ENOMEM : 0;
}

static void tear_down(struct worker *w)
{
    free_flow(w);
    if (w->channel)
        channel_flush(w->channel, 1000);
    channel_free(w->channel);
    event_drop(w->interval);
    event_drop(w->ending);
    event_drop(w->terminate);
    sample_done(&w->open);
    sample_done(&w->totals);
    options_done(&w->hello.values);
    if (w->base)
        event_base_free(w->base);
}

int worker_main(int read_fd, int write_fd)
{
    struct worker w = {0};
    int rc;

    /* A terminal's Ctrl-C reaches the whole process group; the engine decides. */
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    message_boot(w.boot, sizeof(w.boot));
    rc = set_up(&w, read_fd, write_fd);
    if (rc == 0)
        event_base_dispatch(w.base);
    tear_down(&w);
    return rc < 0 || w.outcome == OUTCOME_FAILED ? 3 : 0;
}
