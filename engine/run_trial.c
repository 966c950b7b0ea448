/* The states of a run, from the start of one trial to the start of the next. */
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/json.h"
#include "engine/message.h"
#include "engine/run_parts.h"
#include "engine/units.h"
#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/socket_path.h"
#include "protocols/stream/content.h"

#define WATCH_MS 250 /* how often it is looked whether every worker still speaks */
#define START_DELAY_NS (10 * NS_PER_MS)
#define TELL_NS (50 * NS_PER_US) /* more for each worker that must be told */

static void run_set_state(struct run *r, enum run_state state)
{
    const struct run_private *p = r->private;

    r->state = state;
    if (p->ops->changed)
        p->ops->changed(p->arg, r);
}

void run_guard(struct run *r, uint64_t span_ms)
{
    struct timeval tv = timeval_from_ns(span_ms * NS_PER_MS);

    event_add(r->private->guard, &tv);
}

static void span_text(unsigned span_ms, char *text, size_t size)
{
    units_format_exact(UNIT_DURATION, span_ms * NS_PER_MS, text, size);
}

void run_go_on(struct run *r)
{
    event_active(r->private->next, EV_TIMEOUT, 0);
}

void run_send_all(struct run *r, enum place place, enum message_type type)
{
    struct run_private *p = r->private;

    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].child && p->links[i].process->place == place && !p->links[i].done)
            child_send(p->links[i].child, message_new(type));
}

void run_send_value(struct link *l, enum option option, uint64_t value)
{
    cJSON *m = message_new(MESSAGE_SET);

    if (m) {
        json_add_text(m, "name", option_name(option));
        json_add_u64(m, "value", value);
    }
    child_send(l->child, m);
}

bool run_all_done(const struct run *r, enum place place)
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

void run_kill_children(struct run *r)
{
    for (size_t i = 0; i < r->private->link_count; i++)
        if (r->private->links[i].child)
            child_kill(r->private->links[i].child);
}

/* End a trial whose processes are not all there: nothing was measured. */
void run_abandon(struct run *r)
{
    struct run_private *p = r->private;

    r->state = RUN_DRAINING;
    for (size_t i = 0; i < p->link_count; i++)
        p->links[i].done = true;
    end_children(r);
    run_go_on(r);
}

void run_fails(struct run *r, const char *format, ...)
{
    char text[320];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    trial_set_outcome(run_current(r), OUTCOME_FAILED, text);
    if (r->state == RUN_RUNNING) {
        run_send_all(r, PLACE_CLIENT, MESSAGE_STOP);
        run_guard(r, r->patience.report_ms);
        if (run_all_done(r, PLACE_CLIENT))
            run_begin_drain(r);
    } else if (r->state == RUN_SPAWNING) {
        run_abandon(r);
    }
}

/* Tell the receiving ends what was sent, so that they know what may still come. */
void run_begin_drain(struct run *r)
{
    struct run_private *p = r->private;
    uint64_t accepted = 0;

    run_pause(r, false); /* what was in flight is over: there is no load left to pause */
    if (r->state != RUN_RUNNING)
        return;
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].process->place == PLACE_CLIENT)
            accepted += p->links[i].process->totals.meter->counters.sent_messages;
    for (size_t i = 0; i < p->link_count; i++) {
        struct link *l = &p->links[i];

        if (l->process->place == PLACE_CLIENT || !l->child || l->done)
            continue;
        run_send_value(l, OPTION_accepted, accepted);
        child_send(l->child, message_new(MESSAGE_STOP));
    }
    event_del(p->watch);
    run_guard(r, r->patience.report_ms +
                     options_number(&r->values, OPTION_drain, 0) / NS_PER_MS);
    run_set_state(r, RUN_DRAINING);
    run_go_on(r);
}

static void spawn_place(struct run *r, enum place place)
{
    struct run_private *p = r->private;
    const char *launcher = options_text(
        &r->values, place == PLACE_CLIENT ? OPTION_client_launch : OPTION_server_launch,
        "");
    struct fail fail = {0};

    for (size_t i = 0; i < p->link_count && r->state == RUN_SPAWNING; i++) {
        struct link *l = &p->links[i];

        if (l->process->place != place)
            continue;
        l->begun_ns = now_ns();
        l->child =
            child_new(p->base, launcher, p->engine_program, &run_child_ops, l, &fail);
        if (!l->child || run_say_hello(r, l) < 0) {
            l->done = !l->child;
            run_fails(r, "%s: %s", place_name(place),
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
        run_fails(r, "the %s process %ld has said nothing for %s",
                  place_name(l->process->place), (long)l->process->pid, span);
        run_link_done(r, l);
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
            run_send_value(&p->links[i], OPTION_shared_clock, 0);
}

/* One file is sent by all ends in all trials: figures of two are not put together. */
static bool is_same_file(struct run *r)
{
    struct run_private *p = r->private;

    for (size_t i = 0; i < p->link_count; i++) {
        uint64_t bytes = process_number(p->links[i].process, "file_bytes");

        if (!p->file_bytes)
            p->file_bytes = bytes;
        if (!bytes || bytes == p->file_bytes)
            continue;
        run_fails(r,
                  "the file %.160s changed: it had %" PRIu64
                  " bytes at the start of the run and has %" PRIu64 " now",
                  options_text(&r->values, OPTION_file, ""), p->file_bytes, bytes);
        return false;
    }
    return true;
}

/* On the grid of the series, so that its time and ours are one in every trial. */
static void start_all(struct run *r)
{
    struct run_private *p = r->private;
    struct trial *t = run_current(r);
    const char *target = options_text(&r->values, OPTION_target, "");
    uint64_t delay_ns = START_DELAY_NS + p->link_count * TELL_NS;
    uint64_t now = now_ns();

    tell_clocks(r);
    t->start_ns = now + delay_ns;
    if (!r->first_ns)
        r->first_ns = t->start_ns;
    delay_ns += run_origin_ns(r, t) - (t->start_ns - r->first_ns);
    t->start_ns = now + delay_ns;
    for (size_t i = 0; i < p->link_count; i++)
        child_send(p->links[i].child, message_start(t->start_ns, delay_ns, p->boot));
    event_del(p->guard);
    begin_watch(r);
    if (*target)
        run_say(r, "loading %s: what only the other end could know is not measured",
                target);
    run_set_state(r, RUN_RUNNING);
    if (run_all_done(r, PLACE_CLIENT))
        run_begin_drain(r);
}

void run_spawn_next_place(struct run *r)
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
    if (r->state == RUN_SPAWNING && is_same_file(r))
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
        run_fails(r, "%s", fail.sentence);
        return;
    }
    if (p->content_done < p->content_bytes) {
        event_add(p->next, &at_once);
        return;
    }
    run_guard(r, r->patience.ready_ms);
    run_spawn_next_place(r);
}

void run_begin_trial(struct run *r)
{
    struct run_private *p = r->private;
    struct trial *t = calloc(1, sizeof(*t));
    size_t count = 0;

    if (!t ||
        trial_init(t, r->scenario, (unsigned)r->trials_begun + 1, p->link_count) < 0) {
        free(t);
        r->outcome = OUTCOME_FAILED;
        snprintf(r->reason, sizeof(r->reason), "out of memory");
        run_set_state(r, RUN_DONE);
        return;
    }
    r->trials[r->trials_begun++] = t;
    for (int place = 0; place < PLACE_COUNT; place++) {
        unsigned n = !r->scenario->roles[place] ? 0
                     : place == PLACE_CLIENT    ? p->workers
                                                : 1;

        if (place != PLACE_CLIENT && *options_text(&r->values, OPTION_target, ""))
            n = 0;
        for (unsigned i = 0; i < n; i++, count++) {
            p->links[count] = (struct link){.run = r, .process = &t->processes[count]};
            t->processes[count].place = (enum place)place;
            t->processes[count].index = i;
        }
    }
    assert(count == p->link_count);
    run_set_state(r, RUN_SPAWNING);
    fill_content(r);
}

/* Where a server listens that did not live to say so: nowhere, or at the given path. */
static int given_endpoint(const struct run *r, struct endpoint *e)
{
    const char *path = options_text(&r->values, OPTION_path, "");
    char text[300];

    snprintf(text, sizeof(text), "%s:%s", options_text(&r->values, OPTION_transport, ""),
             path);
    return *path ? endpoint_parse(e, text, NULL) : -ENOENT;
}

/* A server that was killed could not remove its socket file or FIFO. */
void run_clean_after(const struct run *r)
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
            socket_path_clear_process(p->links[i].pid);
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
        trial_set_outcome(t, OUTCOME_FAILED, "out of memory");
    if (t->outcome > r->outcome) {
        r->outcome = t->outcome;
        snprintf(r->reason, sizeof(r->reason), "%s", t->reason);
    }
}

static void end_trial(struct run *r)
{
    struct run_private *p = r->private;
    struct trial *t = run_current(r);

    event_del(p->guard);
    run_clean_after(r);
    run_account(r, t);
    if (p->stopping && r->trials_begun < r->trial_count && r->outcome < OUTCOME_STOPPED) {
        r->outcome = OUTCOME_STOPPED;
        snprintf(r->reason, sizeof(r->reason), RUN_STOPPED);
    }
    if (p->stopping || t->outcome == OUTCOME_FAILED ||
        r->trials_begun == r->trial_count) {
        /* A run that is kept keeps its figures, not a gigabyte to send. */
        if (p->content_fd >= 0)
            close(p->content_fd);
        p->content_fd = -1;
        run_set_state(r, RUN_DONE);
    } else {
        run_begin_trial(r);
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
    run_settle_change(r);
    if (r->state == RUN_SPAWNING && r->private->content_done < r->private->content_bytes)
        fill_content(r);
    if (r->state != RUN_DRAINING)
        return;
    if (run_all_done(r, PLACE_SERVER) && run_all_done(r, PLACE_ENDPOINT))
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
            run_fails(r, "the %s was not ready within %s%s%s", name, span,
                      *l->last_line ? ": " : "", l->last_line);
        else
            run_fails(r, "the %s did not report within %s", name, span);
        l->done = true;
    }
    if (r->state == RUN_RUNNING)
        run_begin_drain(r);
    else
        run_kill_children(r);
    run_go_on(r);
}

int run_make_events(struct run *r)
{
    struct run_private *p = r->private;

    p->guard = evtimer_new(p->base, on_guard, r);
    p->watch = event_new(p->base, -1, EV_PERSIST, on_watch, r);
    p->next = event_new(p->base, -1, 0, on_next, r);
    return p->guard && p->watch && p->next ? 0 : -ENOMEM;
}
