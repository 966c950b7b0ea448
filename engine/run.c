#include "engine/run.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/child.h"
#include "engine/json.h"
#include "engine/limits.h"
#include "engine/message.h"
#include "engine/units.h"
#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/place.h"
#include "protocols/stream/content.h"
#include "protocols/utf8.h"

#define WATCH_MS 250 /* how often it is looked whether every worker still speaks */
#define START_DELAY_NS (10 * NS_PER_MS)
#define TELL_NS (50 * NS_PER_US)       /* more for each worker that must be told */
#define SAMPLE_SLACK_NS (2 * NS_PER_S) /* two machines do not start at one instant */

/* One worker of the trial under way: the same index as its struct process. */
struct link {
    struct run *run;
    struct process *process; /* borrowed: the trial's */
    struct child *child;     /* NULL when not started or over */
    pid_t pid;               /* the child's; stays when that is over */
    bool done;               /* said done or fail, or is over */
    uint64_t heard_ns;       /* when it last said anything */
    char last_line[200];     /* of its standard error */
};

struct run_private {
    struct event_base *base;   /* borrowed */
    const struct run_ops *ops; /* borrowed */
    void *arg;                 /* borrowed */
    struct event *guard;       /* what a state waits for does not come */
    struct event *watch;       /* while running: a worker says nothing any more */
    uint64_t watched_ns;       /* when that was looked at last */
    struct event *next;        /* go on from the loop, not from a callback's depth */
    struct sample scratch;
    struct link *links;
    size_t link_count;
    unsigned workers;
    bool stopping;
    int content_fd; /* the bytes that bulk ends send; -1 when not needed */
    uint64_t content_bytes, content_done;
    uint64_t pause_began_ns;
    char engine_program[PATH_MAX], once_program[PATH_MAX];
    char boot[64];
};

static void say(struct run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct run *r, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    utf8_printable(text);
    r->private->ops->line(r->private->arg, r, text);
}

struct trial *run_trial(const struct run *r)
{
    return r->trials_begun ? r->trials[r->trials_begun - 1] : NULL;
}

/* The same for where there is one for certain. */
static struct trial *current(const struct run *r)
{
    assert(r->trials_begun > 0);
    return r->trials[r->trials_begun - 1];
}

static void set_state(struct run *r, enum run_state state)
{
    r->state = state;
    r->private->ops->changed(r->private->arg, r);
}

static void guard(struct run *r, uint64_t span_ms)
{
    struct timeval tv = timeval_from_ns(span_ms * NS_PER_MS);

    event_add(r->private->guard, &tv);
}

static void span_text(unsigned span_ms, char *text, size_t size)
{
    units_format_exact(UNIT_DURATION, span_ms * NS_PER_MS, text, size);
}

static void go_on(struct run *r)
{
    event_active(r->private->next, EV_TIMEOUT, 0);
}

/* The first cause wins; a worse outcome replaces a better one. */
static void set_outcome(struct trial *t, enum outcome outcome, const char *reason)
{
    if (outcome <= t->outcome)
        return;
    t->outcome = outcome;
    snprintf(t->reason, sizeof(t->reason), "%s", reason ? reason : "");
    utf8_printable(t->reason);
}

static void send_all(struct run *r, enum place place, enum message_type type)
{
    struct run_private *p = r->private;

    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].child && p->links[i].process->place == place && !p->links[i].done)
            child_send(p->links[i].child, message_new(type));
}

static void send_value(struct link *l, const char *name, uint64_t value)
{
    cJSON *m = message_new(MESSAGE_SET);

    if (m) {
        json_add_text(m, "name", name);
        json_add_u64(m, "value", value);
    }
    child_send(l->child, m);
}

static bool all_done(const struct run *r, enum place place)
{
    const struct run_private *p = r->private;

    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].process->place == place && !p->links[i].done)
            return false;
    return true;
}

static bool all_over(const struct run *r)
{
    for (size_t i = 0; i < r->private->link_count; i++)
        if (r->private->links[i].child)
            return false;
    return true;
}

static void end_children(struct run *r)
{
    for (size_t i = 0; i < r->private->link_count; i++)
        if (r->private->links[i].child)
            child_end(r->private->links[i].child);
}

static void kill_children(struct run *r)
{
    for (size_t i = 0; i < r->private->link_count; i++)
        if (r->private->links[i].child)
            child_kill(r->private->links[i].child);
}

/* End a trial whose processes are not all there: nothing was measured. */
static void abandon(struct run *r)
{
    struct run_private *p = r->private;

    r->state = RUN_DRAINING;
    for (size_t i = 0; i < p->link_count; i++)
        p->links[i].done = true;
    end_children(r);
    go_on(r);
}

/* A cause that ends the trial: the clients stop, what was measured is collected. */
static void trial_fails(struct run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void begin_drain(struct run *r);

static void trial_fails(struct run *r, const char *format, ...)
{
    char text[320];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    set_outcome(current(r), OUTCOME_FAILED, text);
    if (r->state == RUN_RUNNING) {
        send_all(r, PLACE_CLIENT, MESSAGE_STOP);
        guard(r, r->patience.report_ms);
        if (all_done(r, PLACE_CLIENT))
            begin_drain(r);
    } else if (r->state == RUN_SPAWNING) {
        abandon(r);
    }
}

/* Tell the receiving ends what was sent, so that they know what may still come. */
static void begin_drain(struct run *r)
{
    struct run_private *p = r->private;
    uint64_t accepted = 0;

    if (r->state != RUN_RUNNING)
        return;
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].process->place == PLACE_CLIENT)
            accepted += p->links[i].process->totals.meter->counters.sent_messages;
    for (size_t i = 0; i < p->link_count; i++) {
        struct link *l = &p->links[i];

        if (l->process->place == PLACE_CLIENT || !l->child || l->done)
            continue;
        send_value(l, "accepted", accepted);
        child_send(l->child, message_new(MESSAGE_STOP));
    }
    event_del(p->watch);
    guard(r, r->patience.report_ms + options_number(&r->values, "drain", 0) / NS_PER_MS);
    set_state(r, RUN_DRAINING);
    go_on(r);
}

uint64_t run_origin_ns(const struct run *r, const struct trial *t)
{
    uint64_t origin = t->start_ns && r->first_ns ? t->start_ns - r->first_ns : 0;

    return (origin + SAMPLE_STEP_NS - 1) / SAMPLE_STEP_NS * SAMPLE_STEP_NS;
}

/* A sample may be late; one that is of the future was not made by a worker of ours. */
static bool is_possible(const struct run *r, const struct sample *s)
{
    const struct trial *t = current(r);
    uint64_t now = now_ns();

    return t->start_ns &&
           s->at_ns <= (now > t->start_ns ? now - t->start_ns : 0) + SAMPLE_SLACK_NS;
}

static void on_sample(struct run *r, struct link *l, const cJSON *object)
{
    struct run_private *p = r->private;
    enum place place = l->process->place;

    if (l->done)
        return;
    if (sample_decode(&p->scratch, object) < 0 || !is_possible(r, &p->scratch)) {
        say(r, "a sample of the %s could not be read", place_name(place));
        return;
    }
    if (trial_sample(current(r), l->process, &p->scratch) < 0) {
        trial_fails(r, "out of memory");
        return;
    }
    series_add(r->series, place, run_origin_ns(r, current(r)), &p->scratch,
               place == scenario_latency_place(r->scenario));
    p->ops->sampled(p->arg, r, l->process, &p->scratch);
}

static void spawn_next_place(struct run *r);

static void on_ready(struct run *r, struct link *l, const cJSON *object)
{
    struct process *p = l->process;

    if (p->ready || l->done)
        return;
    snprintf(p->endpoint, sizeof(p->endpoint), "%s", json_text(object, "endpoint", ""));
    snprintf(p->boot, sizeof(p->boot), "%s", json_text(object, "boot", ""));
    p->pid = (pid_t)json_u64(object, "pid", 0);
    p->ready = true;
    spawn_next_place(r);
}

/* A fact that is told again replaces what was told. */
static void on_fact(struct process *p, const cJSON *object)
{
    const char *name = json_text(object, "name", "");
    size_t i = 0;

    while (i < p->fact_count && strcmp(p->facts[i].name, name) != 0)
        i++;
    if (i == PROCESS_FACTS)
        return;
    if (i == p->fact_count)
        p->fact_count++;
    snprintf(p->facts[i].name, sizeof(p->facts[i].name), "%s", name);
    snprintf(p->facts[i].text, sizeof(p->facts[i].text), "%s",
             json_text(object, "text", ""));
    utf8_printable(p->facts[i].text);
}

static void link_done(struct run *r, struct link *l)
{
    if (l->done)
        return;
    l->done = true;
    if (r->state == RUN_RUNNING && all_done(r, PLACE_CLIENT))
        begin_drain(r);
    go_on(r);
}

static void on_done(struct run *r, struct link *l, const cJSON *object)
{
    struct process *p = l->process;
    struct sample *scratch = &r->private->scratch;
    struct sample sums = p->totals;

    if (l->done)
        return;
    /* What cannot be read must not spoil the sums of the samples. */
    if (sample_decode(scratch, object) < 0 || !is_possible(r, scratch)) {
        trial_fails(r, "the totals of the %s could not be read", place_name(p->place));
        link_done(r, l);
        return;
    }
    p->totals = *scratch;
    *scratch = sums;
    p->reported = true;
    p->outcome = message_read_outcome(object);
    snprintf(p->reason, sizeof(p->reason), "%s", json_text(object, "reason", ""));
    utf8_printable(p->reason);
    /* Servers are always stopped: that says nothing about the trial. */
    if (p->place == PLACE_CLIENT || p->outcome > OUTCOME_STOPPED)
        set_outcome(current(r), p->outcome, p->reason);
    link_done(r, l);
}

static void on_fail(struct run *r, struct link *l, const cJSON *object)
{
    struct fail fail;

    if (l->done)
        return;
    message_read_fail(object, &fail);
    l->process->outcome = OUTCOME_FAILED;
    snprintf(l->process->reason, sizeof(l->process->reason), "%s", fail.sentence);
    l->done = true;
    trial_fails(r, "%s: %s", place_name(l->process->place), fail.sentence);
    go_on(r);
}

static void child_message(void *arg, const cJSON *object)
{
    struct link *l = arg;
    struct run *r = l->run;

    l->heard_ns = now_ns();
    switch (message_type(object)) {
    case MESSAGE_READY:
        on_ready(r, l, object);
        break;
    case MESSAGE_SAMPLE:
        on_sample(r, l, object);
        break;
    case MESSAGE_NOTE:
        say(r, "%s: %s", place_name(l->process->place), json_text(object, "text", ""));
        break;
    case MESSAGE_FACT:
        on_fact(l->process, object);
        break;
    case MESSAGE_DONE:
        on_done(r, l, object);
        break;
    case MESSAGE_FAIL:
        on_fail(r, l, object);
        break;
    case MESSAGE_HELLO:
    case MESSAGE_START:
    case MESSAGE_SET:
    case MESSAGE_PAUSE:
    case MESSAGE_RESUME:
    case MESSAGE_STOP:
    case MESSAGE_UNKNOWN:
        break;
    }
}

static void child_line(void *arg, const char *text)
{
    struct link *l = arg;

    snprintf(l->last_line, sizeof(l->last_line), "%s", text);
    say(l->run, "%s: %s", place_name(l->process->place), text);
}

static void describe_status(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "ended with exit status %d", WEXITSTATUS(status));
}

static void child_ended(void *arg, int status)
{
    struct link *l = arg;
    struct run *r = l->run;
    char how[80];

    child_free(l->child);
    l->child = NULL;
    if (!l->done) {
        describe_status(status, how, sizeof(how));
        l->process->outcome = OUTCOME_FAILED;
        snprintf(l->process->reason, sizeof(l->process->reason), "%s", how);
        l->done = true;
        if (current(r)->outcome != OUTCOME_STOPPED || !r->private->stopping)
            trial_fails(r, "the %s process %s%s%s", place_name(l->process->place), how,
                        *l->last_line ? ": " : "", l->last_line);
        if (r->state == RUN_RUNNING && all_done(r, PLACE_CLIENT))
            begin_drain(r);
    }
    go_on(r);
}

/* An amount that `workers` processes share: the first ones take the remainder. */
static uint64_t share(uint64_t amount, unsigned index, unsigned workers)
{
    return amount / workers + (index < amount % workers);
}

static const char *server_endpoint(const struct run *r, enum place place)
{
    const struct run_private *p = r->private;

    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].process->place == place)
            return p->links[i].process->endpoint;
    return options_text(&r->values, "target", "");
}

/* The place that clients talk to. */
static enum place facing(const struct run *r)
{
    return r->scenario->roles[PLACE_ENDPOINT] ? PLACE_ENDPOINT : PLACE_SERVER;
}

static int hello_values(struct run *r, const struct process *process,
                        struct options *values)
{
    struct run_private *p = r->private;
    char content[64];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->values.count; i++) {
        const struct option_value *v = &r->values.values[i];
        const struct param *row = param_find(r->scenario->family, v->name);
        uint64_t number = v->number;

        if (row && row->flags & PARAM_RUN)
            continue;
        if (row && row->flags & PARAM_SPLIT && process->place == PLACE_CLIENT)
            number = share(number, process->index, p->workers);
        rc = v->text ? options_set_text(values, v->name, v->text)
                     : options_set_number(values, v->name, number);
    }
    /* The port is the one that clients use; what stands behind takes any. */
    if (rc == 0 && process->place != PLACE_CLIENT && process->place != facing(r))
        rc = options_set_number(values, "port", 0);
    /* What is loaded is the run's own, wherever a launcher has put it. */
    if (rc == 0 && r->scenario->family == FAMILY_SERVICE)
        rc = options_set_number(values, "remote_target", 1);
    if (rc == 0 && p->content_fd >= 0) {
        snprintf(content, sizeof(content), "/proc/%ld/fd/%d", (long)getpid(),
                 p->content_fd);
        rc = options_set_text(values, "content", content);
    }
    if (rc == 0)
        rc = options_set_text(values, "once_program", p->once_program);
    if (rc == 0)
        rc = options_set_number(values, "persistent",
                                options_is(&r->values, "client", "persistent"));
    /* A server of somebody else's need not send what ours would. */
    if (rc == 0)
        rc = options_set_number(values, "foreign",
                                *options_text(&r->values, "target", "") != '\0');
    if (rc == 0)
        rc = options_set_number(values, "sender", process->index);
    if (rc == 0)
        rc = options_set_number(values, "senders", p->workers);
    if (rc == 0)
        rc = options_set_number(values, "run_id",
                                ((uint64_t)getpid() << 16 | current(r)->number) &
                                    UINT32_MAX);
    /* Until the workers say otherwise: see tell_clocks. */
    if (rc == 0)
        rc = options_set_number(values, "shared_clock", process->place == PLACE_SERVER);
    return rc;
}

void run_pin(const struct run *r, enum place place, char *pin, size_t size)
{
    const char *text = options_text(&r->values, "pin", "");
    const char *slash = strchr(text, '/');

    if (place == PLACE_CLIENT)
        snprintf(pin, size, "%s", slash ? slash + 1 : text);
    else
        snprintf(pin, size, "%.*s", slash ? (int)(slash - text) : (int)strlen(text),
                 text);
}

static int say_hello(struct run *r, struct link *l)
{
    struct hello hello = {.index = l->process->index};
    enum place place = l->process->place;
    int rc = hello_values(r, l->process, &hello.values);

    snprintf(hello.role, sizeof(hello.role), "%s", r->scenario->roles[place]);
    if (place == PLACE_CLIENT)
        snprintf(hello.endpoint, sizeof(hello.endpoint), "%s",
                 server_endpoint(r, facing(r)));
    if (place == PLACE_ENDPOINT)
        snprintf(hello.upstream, sizeof(hello.upstream), "%s",
                 server_endpoint(r, PLACE_SERVER));
    run_pin(r, place, hello.pin, sizeof(hello.pin));
    if (rc == 0)
        rc = child_send(l->child, message_hello(&hello));
    options_done(&hello.values);
    return rc;
}

static void spawn_place(struct run *r, enum place place)
{
    static const struct child_ops ops = {child_message, child_line, child_ended};
    struct run_private *p = r->private;
    const char *launcher = options_text(
        &r->values, place == PLACE_CLIENT ? "client_launch" : "server_launch", "");
    struct fail fail = {0};

    for (size_t i = 0; i < p->link_count && r->state == RUN_SPAWNING; i++) {
        struct link *l = &p->links[i];

        if (l->process->place != place)
            continue;
        l->child = child_new(p->base, launcher, p->engine_program, &ops, l, &fail);
        if (!l->child || say_hello(r, l) < 0) {
            l->done = !l->child;
            trial_fails(r, "%s: %s", place_name(place),
                        fail.err ? fail.sentence : "the worker took no hello");
            return;
        }
        l->pid = child_pid(l->child);
        child_set_patience(l->child, r->patience.end_ms);
    }
}

static void begin_watch(struct run *r)
{
    struct run_private *p = r->private;
    struct timeval span = timeval_from_ns(WATCH_MS * NS_PER_MS);

    p->watched_ns = now_ns();
    for (size_t i = 0; i < p->link_count; i++)
        p->links[i].heard_ns = p->watched_ns;
    event_add(p->watch, &span);
}

/*
 * A worker sends a sample each 100 ms; one that sends nothing for long hangs or is cut
 * off. Where we were away ourselves (stopped by Ctrl-Z), nothing can be said of others.
 */
static void on_watch(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    struct run_private *p = r->private;
    uint64_t now = now_ns();
    uint64_t away = now - p->watched_ns;
    char span[24];

    (void)fd;
    (void)what;
    p->watched_ns = now;
    for (size_t i = 0; i < p->link_count && r->state == RUN_RUNNING; i++) {
        struct link *l = &p->links[i];

        if (away > 4 * WATCH_MS * NS_PER_MS)
            l->heard_ns = now;
        if (l->done || now - l->heard_ns < r->patience.silence_ms * NS_PER_MS)
            continue;
        span_text(r->patience.silence_ms, span, sizeof(span));
        trial_fails(r, "the %s process %ld has said nothing for %s",
                    place_name(l->process->place), (long)l->process->pid, span);
        link_done(r, l);
    }
}

/* A launcher may have put the ends on two machines, whose instants do not compare. */
static void tell_clocks(struct run *r)
{
    struct run_private *p = r->private;
    const char *boot = p->links[0].process->boot;
    bool shared = *boot != '\0';

    for (size_t i = 1; i < p->link_count; i++)
        shared &= strcmp(p->links[i].process->boot, boot) == 0;
    for (size_t i = 0; i < p->link_count && !shared; i++)
        if (p->links[i].process->place == PLACE_SERVER)
            send_value(&p->links[i], "shared_clock", 0);
}

static void start_all(struct run *r)
{
    struct run_private *p = r->private;
    struct trial *t = current(r);
    const char *target = options_text(&r->values, "target", "");
    uint64_t delay_ns = START_DELAY_NS + p->link_count * TELL_NS;

    tell_clocks(r);
    t->start_ns = now_ns() + delay_ns;
    if (!r->first_ns)
        r->first_ns = t->start_ns;
    for (size_t i = 0; i < p->link_count; i++)
        child_send(p->links[i].child, message_start(t->start_ns, delay_ns, p->boot));
    event_del(p->guard);
    begin_watch(r);
    if (*target)
        say(r, "loading %s: what only the other end could know is not measured", target);
    set_state(r, RUN_RUNNING);
    if (all_done(r, PLACE_CLIENT))
        begin_drain(r);
}

static void spawn_next_place(struct run *r)
{
    struct run_private *p = r->private;

    for (int place = 0; place < PLACE_COUNT; place++) {
        bool started = false;
        bool present = false;

        for (size_t i = 0; i < p->link_count; i++) {
            struct link *l = &p->links[i];

            if (l->process->place != (enum place)place)
                continue;
            present = true;
            started |= l->child != NULL || l->done;
            if (started && !l->process->ready)
                return; /* its ready will bring us back */
        }
        if (present && !started) {
            spawn_place(r, (enum place)place);
            return;
        }
    }
    if (r->state == RUN_SPAWNING)
        start_all(r);
}

/*
 * Fill a slice of the content, and go on from the loop until it is full: a console has
 * keys to answer meanwhile. Then, or when there is none, the processes are started.
 */
static void fill_content(struct run *r)
{
    static const struct timeval at_once = {0, 0};
    struct run_private *p = r->private;
    struct fail fail = {0};

    if (p->content_done < p->content_bytes &&
        content_extend(p->content_fd, p->content_bytes, (uint64_t)r->started,
                       &p->content_done, &fail) < 0) {
        trial_fails(r, "%s", fail.sentence);
        return;
    }
    if (p->content_done < p->content_bytes) {
        event_add(p->next, &at_once);
        return;
    }
    guard(r, r->patience.ready_ms);
    spawn_next_place(r);
}

static void begin_trial(struct run *r)
{
    struct run_private *p = r->private;
    struct trial *t = calloc(1, sizeof(*t));
    size_t count = 0;

    if (!t ||
        trial_init(t, r->scenario, (unsigned)r->trials_begun + 1, p->link_count) < 0) {
        free(t);
        r->outcome = OUTCOME_FAILED;
        snprintf(r->reason, sizeof(r->reason), "out of memory");
        set_state(r, RUN_DONE);
        return;
    }
    r->trials[r->trials_begun++] = t;
    for (int place = 0; place < PLACE_COUNT; place++) {
        unsigned n = !r->scenario->roles[place] ? 0
                     : place == PLACE_CLIENT    ? p->workers
                                                : 1;

        if (place != PLACE_CLIENT && *options_text(&r->values, "target", ""))
            n = 0;
        for (unsigned i = 0; i < n; i++, count++) {
            p->links[count] = (struct link){.run = r, .process = &t->processes[count]};
            t->processes[count].place = (enum place)place;
            t->processes[count].index = i;
        }
    }
    assert(count == p->link_count);
    set_state(r, RUN_SPAWNING);
    fill_content(r);
}

/* Where a server listens that did not live to say so: nowhere, or at the given path. */
static int given_endpoint(const struct run *r, struct endpoint *e)
{
    const char *path = options_text(&r->values, "path", "");
    char text[300];

    snprintf(text, sizeof(text), "%s:%s", options_text(&r->values, "transport", ""),
             path);
    return *path ? endpoint_parse(e, text, NULL) : -ENOENT;
}

/* A server that was killed could not remove its socket file or FIFO. */
static void clean_after(const struct run *r)
{
    const struct run_private *p = r->private;

    for (size_t i = 0; i < p->link_count; i++) {
        const struct process *process = p->links[i].process;
        struct endpoint e;

        if (process->place == PLACE_CLIENT || process->reported)
            continue;
        if (process->ready ? endpoint_parse(&e, process->endpoint, NULL) == 0
                           : given_endpoint(r, &e) == 0)
            endpoint_remove(&e);
        if (!process->ready && p->links[i].pid)
            place_clear_process(p->links[i].pid);
    }
}

static int pool(struct run *r, struct trial *t)
{
    int rc = 0;

    for (int p = 0; p < PLACE_COUNT && rc == 0; p++) {
        if (!t->places[p])
            continue;
        if (!r->pooled[p])
            r->pooled[p] = meter_new();
        rc = r->pooled[p] ? meter_merge(r->pooled[p], t->places[p]) : -ENOMEM;
    }
    return rc;
}

void run_account(struct run *r, struct trial *t)
{
    if (trial_compute(t, &r->values) < 0 || pool(r, t) < 0)
        set_outcome(t, OUTCOME_FAILED, "out of memory");
    if (t->outcome > r->outcome) {
        r->outcome = t->outcome;
        snprintf(r->reason, sizeof(r->reason), "%s", t->reason);
    }
}

static void end_trial(struct run *r)
{
    struct run_private *p = r->private;
    struct trial *t = current(r);

    event_del(p->guard);
    clean_after(r);
    run_account(r, t);
    if (p->stopping || t->outcome == OUTCOME_FAILED ||
        r->trials_begun == r->trial_count) {
        /* A run that is kept keeps its figures, not a gigabyte to send. */
        if (p->content_fd >= 0)
            close(p->content_fd);
        p->content_fd = -1;
        set_state(r, RUN_DONE);
    } else {
        begin_trial(r);
    }
    /* Not before: who is told of the change records the totals of each process. */
    trial_drop_hists(t);
}

/* One step at a time, from the top of the loop. */
static void on_next(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if (r->state == RUN_SPAWNING && r->private->content_done < r->private->content_bytes)
        fill_content(r);
    if (r->state != RUN_DRAINING)
        return;
    if (all_done(r, PLACE_SERVER) && all_done(r, PLACE_ENDPOINT))
        end_children(r);
    if (all_over(r))
        end_trial(r);
}

/* Whether the present state ends by a word of this worker. */
static bool is_awaited(const struct run *r, const struct link *l)
{
    if (r->state == RUN_SPAWNING)
        return !l->process->ready;
    return r->state == RUN_DRAINING || l->process->place == PLACE_CLIENT;
}

static void on_guard(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    struct run_private *p = r->private;
    char span[24];

    (void)fd;
    (void)what;
    span_text(r->state == RUN_SPAWNING ? r->patience.ready_ms : r->patience.report_ms,
              span, sizeof(span));
    for (size_t i = 0; i < p->link_count; i++) {
        struct link *l = &p->links[i];
        const char *name = place_name(l->process->place);

        if (l->done || !l->child || !is_awaited(r, l))
            continue;
        if (r->state == RUN_SPAWNING)
            trial_fails(r, "the %s was not ready within %s%s%s", name, span,
                        *l->last_line ? ": " : "", l->last_line);
        else
            trial_fails(r, "the %s did not report within %s", name, span);
        l->done = true;
    }
    if (r->state == RUN_RUNNING)
        begin_drain(r);
    else
        kill_children(r);
    go_on(r);
}

int run_find_program(const char *name, char *path, size_t size, struct fail *fail)
{
    static const char *const places[] = {"", "../libexec/plimsoll/"};
    const char *given = getenv("PLIMSOLL_LIBEXEC");
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (given && *given) {
        if (snprintf(path, size, "%s/%s", given, name) < (int)size &&
            access(path, X_OK) == 0)
            return 0;
        return fail_set(fail, ENOENT, "program", "%s is not in %s (PLIMSOLL_LIBEXEC)",
                        name, given);
    }
    self[n < 0 ? 0 : n] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (snprintf(path, size, "%s%s%s", self, places[i], name) >= (int)size)
            continue;
        if (access(path, X_OK) == 0)
            return 0;
    }
    return fail_set(fail, ENOENT, "program", "%s is not beside this program (%s)", name,
                    self);
}

/* Where the bytes of a bulk transfer come from, one for all workers and trials. */
static int begin_content(struct run *r, struct fail *fail)
{
    struct run_private *p = r->private;

    if (r->scenario->family != FAMILY_BULK || *options_text(&r->values, "file", ""))
        return 0;
    p->content_bytes = options_number(&r->values, "size", 0);
    return content_begin(p->content_bytes, &p->content_fd, fail);
}

static int set_up(struct run *r, struct event_base *base, struct fail *fail)
{
    struct run_private *p = r->private;
    size_t others = 0;

    p->base = base;
    p->workers = (unsigned)options_number(&r->values, "workers", 1);
    for (int place = 0; place < PLACE_CLIENT; place++)
        others += r->scenario->roles[place] != NULL;
    if (*options_text(&r->values, "target", ""))
        others = 0;
    p->link_count = others + p->workers;
    p->links = calloc(p->link_count, sizeof(*p->links));
    p->guard = evtimer_new(base, on_guard, r);
    p->watch = event_new(base, -1, EV_PERSIST, on_watch, r);
    p->next = event_new(base, -1, 0, on_next, r);
    r->trial_count = (unsigned)options_number(&r->values, "trials", 1);
    r->trials = calloc(r->trial_count, sizeof(*r->trials));
    r->series = series_new();
    if (!p->links || !p->guard || !p->watch || !p->next || !r->trials || !r->series ||
        sample_init(&p->scratch) < 0)
        return fail_set(fail, ENOMEM, "run", "starting a run");
    return 0;
}

/* Only what the run will start has to be there. */
static int find_programs(struct run *r, struct fail *fail)
{
    struct run_private *p = r->private;
    int rc = run_find_program("plimsoll-engine", p->engine_program,
                              sizeof(p->engine_program), fail);

    if (rc == 0 && options_is(&r->values, "client", "process"))
        rc = run_find_program("plimsoll-once", p->once_program, sizeof(p->once_program),
                              fail);
    return rc;
}

struct run *run_new(struct event_base *base, const struct scenario *scenario,
                    const struct options *values, const struct run_ops *ops, void *arg,
                    struct fail *fail)
{
    struct run *r = calloc(1, sizeof(*r));

    if (r)
        r->private = calloc(1, sizeof(*r->private));
    if (!r || !r->private) {
        free(r);
        fail_set(fail, ENOMEM, "run", "starting a run");
        return NULL;
    }
    r->scenario = scenario;
    r->started = time(NULL);
    r->private->ops = ops;
    r->private->arg = arg;
    r->private->content_fd = -1;
    r->patience = (struct run_patience){30000, 10000, 30000, CHILD_PATIENCE_MS};
    message_boot(r->private->boot, sizeof(r->private->boot));
    if (options_copy(&r->values, values) < 0) {
        fail_set(fail, ENOMEM, "run", "starting a run");
        run_free(r);
        return NULL;
    }
    environment_capture(&r->environment, scenario, &r->values);
    if (set_up(r, base, fail) == 0 && run_check(r, fail) == 0 &&
        find_programs(r, fail) == 0 && begin_content(r, fail) == 0)
        return r;
    run_free(r);
    return NULL;
}

static void free_private(struct run *r)
{
    struct run_private *p = r->private;

    for (size_t i = 0; p->links && i < p->link_count; i++)
        child_free(p->links[i].child);
    if (r->state != RUN_NEW && r->state != RUN_DONE)
        clean_after(r);
    if (p->guard)
        event_free(p->guard);
    if (p->watch)
        event_free(p->watch);
    if (p->next)
        event_free(p->next);
    if (p->content_fd >= 0)
        close(p->content_fd);
    sample_done(&p->scratch);
    free(p->links);
    free(p);
}

void run_free(struct run *r)
{
    if (!r)
        return;
    if (r->private)
        free_private(r);
    for (size_t i = 0; i < r->trials_begun; i++) {
        trial_done(r->trials[i]);
        free(r->trials[i]);
    }
    for (int i = 0; i < PLACE_COUNT; i++)
        meter_free(r->pooled[i]);
    free(r->trials);
    series_free(r->series);
    options_done(&r->values);
    free(r);
}

bool run_is_endless(const struct run *r)
{
    return r->scenario->family & FAMILY_WEB && !options_number(&r->values, "amount", 0) &&
           !options_number(&r->values, "duration", 0);
}

void run_start(struct run *r)
{
    assert(r->state == RUN_NEW);
    limits_raise_files();
    begin_trial(r);
}

void run_stop(struct run *r)
{
    struct run_private *p = r->private;

    if (!p || r->state == RUN_NEW || r->state == RUN_DONE)
        return;
    set_outcome(current(r), OUTCOME_STOPPED, "stopped before its end");
    if (p->stopping) {
        kill_children(r);
        return;
    }
    p->stopping = true;
    if (r->state == RUN_RUNNING) {
        if (r->paused)
            run_pause(r, false);
        send_all(r, PLACE_CLIENT, MESSAGE_STOP);
        guard(r, r->patience.report_ms);
    } else if (r->state == RUN_SPAWNING) {
        abandon(r);
    }
}

int run_set(struct run *r, const char *name, uint64_t value)
{
    struct run_private *p = r->private;
    const struct param *row = param_find(r->scenario->family, name);
    char text[48];
    char number[24];

    if (!p || !row || !(row->flags & PARAM_LIVE) || r->state != RUN_RUNNING ||
        value < row->min || value > row->max)
        return -EINVAL;
    if (row->flags & PARAM_SPLIT && value && value < p->workers)
        return -EINVAL;
    for (size_t i = 0; i < p->link_count; i++) {
        struct link *l = &p->links[i];

        if (l->process->place != PLACE_CLIENT || !l->child || l->done)
            continue;
        send_value(l, row->name,
                   row->flags & PARAM_SPLIT ? share(value, l->process->index, p->workers)
                                            : value);
    }
    if (strcmp(row->name, "rate") == 0 || strcmp(row->name, "connection_rate") == 0)
        current(r)->rate_changed = true;
    units_format_count((double)value, number, sizeof(number));
    snprintf(text, sizeof(text), "%s %s", row->name, number);
    run_mark(r, text);
    return options_set_number(&r->values, row->name, value);
}

void run_pause(struct run *r, bool paused)
{
    struct run_private *p = r->private;

    if (!p || r->state != RUN_RUNNING || r->paused == paused)
        return;
    r->paused = paused;
    if (paused)
        p->pause_began_ns = now_ns();
    else if (trial_pause(current(r), p->pause_began_ns, now_ns()) < 0)
        trial_fails(r, "out of memory");
    send_all(r, PLACE_CLIENT, paused ? MESSAGE_PAUSE : MESSAGE_RESUME);
    run_mark(r, paused ? "paused" : "resumed");
}

void run_mark(struct run *r, const char *text)
{
    uint64_t now = now_ns();

    if (r->private && r->first_ns)
        series_mark(r->series, now > r->first_ns ? now - r->first_ns : 0, text);
}

uint64_t run_clock_ns(const struct run *r)
{
    const struct trial *t = run_trial(r);
    uint64_t now = !r->private ? r->first_ns + r->replayed_ns
                   : r->paused ? r->private->pause_began_ns
                               : now_ns();
    uint64_t out;

    if (!t || !t->start_ns || now < t->start_ns)
        return 0;
    if (r->state == RUN_DONE)
        return isfinite(t->seconds) ? (uint64_t)(t->seconds * 1e9) + t->warmup_ns : 0;
    out = t->paused_ns;
    return now - t->start_ns > out ? now - t->start_ns - out : 0;
}

bool run_is_paced(const struct run *r)
{
    return options_number(&r->values, "rate", 0) > 0 ||
           options_number(&r->values, "connection_rate", 0) > 0;
}

/* What is only handed over, or in flight, is not done yet. */
static uint64_t settled(const struct meter_counters *c)
{
    return c->succeeded + c->failed + c->timed_out + c->unfinished;
}

/* What the clients have done of the amount that ends a trial. */
static double amount_done(const struct run *r)
{
    const struct trial *t = current(r);
    const char *name = r->scenario->family == FAMILY_BULK       ? "size"
                       : r->scenario->family == FAMILY_REQUESTS ? "requests"
                       : r->scenario->family == FAMILY_UDP      ? "messages"
                                                                : "amount";
    double amount = (double)options_number(&r->values, name, 0);
    double done = 0;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];
        const struct meter *m = p->totals.meter;

        if (p->place != PLACE_CLIENT || !m)
            continue;
        if (r->scenario->family == FAMILY_BULK)
            done += (double)(m->counters.received_bytes > m->counters.sent_bytes
                                 ? m->counters.received_bytes
                                 : m->counters.sent_bytes) /
                    (double)options_number(&r->values, "workers", 1);
        else
            done += (double)settled(&m->counters);
    }
    return amount > 0 ? done / amount : (double)NAN;
}

double run_progress(const struct run *r)
{
    double duration = (double)options_number(&r->values, "duration", 0);
    double whole = duration + (double)options_number(&r->values, "warmup", 0);
    double by_time = duration > 0 ? (double)run_clock_ns(r) / whole : (double)NAN;
    double by_amount = run_trial(r) ? amount_done(r) : (double)NAN;

    return fmin(1, fmax(by_time, by_amount)); /* fmax takes the one that is a number */
}
