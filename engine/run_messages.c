/* What the workers of a run say, and what follows from it. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "engine/json.h"
#include "engine/message.h"
#include "engine/run_parts.h"
#include "protocols/clock.h"
#include "protocols/utf8.h"

#define SAMPLE_SLACK_NS (2 * NS_PER_S) /* two machines do not start at one instant */

/* A sample may be late; one that is of the future was not made by a worker of ours. */
static bool is_possible(const struct run *r, const struct sample *s)
{
    const struct trial *t = run_current(r);
    uint64_t now = now_ns();

    return t->start_ns &&
           s->at_ns <= (now > t->start_ns ? now - t->start_ns : 0) + SAMPLE_SLACK_NS;
}

/*
 * Bytes of a transfer may lie in the path when its client has sent all: that they move on
 * is seen by the server alone.
 */
static void tell_received(struct run *r, const struct meter_counters *server)
{
    struct run_private *p = r->private;

    if (r->scenario->family->operations || !server->received_bytes)
        return;
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].process->place == PLACE_CLIENT && !p->links[i].done)
            run_send_value(&p->links[i], OPTION_received, server->received_bytes);
}

static void on_sample(struct run *r, struct link *l, const cJSON *object)
{
    struct run_private *p = r->private;
    enum place place = l->process->place;

    if (l->done)
        return;
    if (sample_decode(&p->scratch, object) < 0 || !is_possible(r, &p->scratch)) {
        run_say(r, "a sample of the %s could not be read", place_name(place));
        return;
    }
    if (trial_sample(run_current(r), l->process, &p->scratch) < 0) {
        run_fails(r, "out of memory");
        return;
    }
    series_add(r->series, place, run_origin_ns(r, run_current(r)), &p->scratch,
               place == r->scenario->family->latency_place);
    if (place == PLACE_SERVER)
        tell_received(r, &p->scratch.meter->counters);
    if (p->ops->sampled)
        p->ops->sampled(p->arg, r, l->process, &p->scratch);
}

static void on_ready(struct run *r, struct link *l, const cJSON *object)
{
    struct process *p = l->process;

    if (p->ready || l->done)
        return;
    snprintf(p->endpoint, sizeof(p->endpoint), "%s", json_text(object, "endpoint", ""));
    snprintf(p->boot, sizeof(p->boot), "%s", json_text(object, "boot", ""));
    p->pid = (pid_t)json_u64(object, "pid", 0);
    p->ready = true;
    p->start_ns = now_ns() - l->begun_ns;
    run_spawn_next_place(r);
}

/* A fact that is reported again replaces the former text. */
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

void run_link_done(struct run *r, struct link *l)
{
    if (l->done)
        return;
    l->done = true;
    if (r->state == RUN_RUNNING && run_all_done(r, PLACE_CLIENT))
        run_begin_drain(r);
    run_go_on(r);
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
        run_fails(r, "the totals of the %s could not be read", place_name(p->place));
        run_link_done(r, l);
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
        trial_set_outcome(run_current(r), p->outcome, p->reason);
    run_link_done(r, l);
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
    run_fails(r, "%s: %s", place_name(l->process->place), fail.sentence);
    run_go_on(r);
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
        run_say(r, "%s: %s", place_name(l->process->place),
                json_text(object, "text", ""));
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
    case MESSAGE_SET:
        run_answered(r, l, object);
        break;
    case MESSAGE_HELLO:
    case MESSAGE_START:
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
    run_say(l->run, "%s: %s", place_name(l->process->place), text);
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
        if (run_current(r)->outcome != OUTCOME_STOPPED || !r->private->stopping)
            run_fails(r, "the %s process %s%s%s", place_name(l->process->place), how,
                      *l->last_line ? ": " : "", l->last_line);
        if (r->state == RUN_RUNNING && run_all_done(r, PLACE_CLIENT))
            run_begin_drain(r);
    }
    run_go_on(r);
}

const struct child_ops run_child_ops = {child_message, child_line, child_ended};
