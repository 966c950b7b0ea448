#include "engine/run.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/limits.h"
#include "engine/message.h"
#include "engine/program.h"
#include "engine/run_parts.h"
#include "engine/secret.h"
#include "engine/units.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/random.h"
#include "protocols/stream/content.h"
#include "protocols/utf8.h"

void run_say(struct run *r, const char *format, ...)
{
    const struct run_private *p = r->private;
    char text[512];
    va_list args;

    if (!p->ops->line)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    utf8_printable(text);
    p->ops->line(p->arg, r, text);
}

struct trial *run_trial(const struct run *r)
{
    return r->trials_begun ? r->trials[r->trials_begun - 1] : NULL;
}

struct trial *run_current(const struct run *r)
{
    assert(r->trials_begun > 0);
    return r->trials[r->trials_begun - 1];
}

uint64_t run_origin_ns(const struct run *r, const struct trial *t)
{
    uint64_t origin = t->start_ns && r->first_ns ? t->start_ns - r->first_ns : 0;

    return (origin + SAMPLE_STEP_NS - 1) / SAMPLE_STEP_NS * SAMPLE_STEP_NS;
}

/* Where the bytes of a bulk transfer come from, one for all workers and trials. */
static int begin_content(struct run *r, struct fail *fail)
{
    struct run_private *p = r->private;

    if (!r->scenario->family->content || *options_text(&r->values, OPTION_file, ""))
        return 0;
    p->content_bytes = options_number(&r->values, OPTION_size, 0);
    return content_begin(p->content_bytes, &p->content_fd, fail);
}

static int set_up(struct run *r, struct event_base *base, struct fail *fail)
{
    struct run_private *p = r->private;
    size_t others = 0;

    p->base = base;
    p->workers = (unsigned)options_number(&r->values, OPTION_workers, 1);
    for (int place = 0; place < PLACE_CLIENT; place++)
        others += r->scenario->roles[place] != NULL;
    if (*options_text(&r->values, OPTION_target, ""))
        others = 0;
    p->link_count = others + p->workers;
    p->links = calloc(p->link_count, sizeof(*p->links));
    r->trial_count = (unsigned)options_number(&r->values, OPTION_trials, 1);
    r->trials = calloc(r->trial_count, sizeof(*r->trials));
    r->series = series_new();
    if (!p->links || !r->trials || !r->series || run_make_events(r) < 0 ||
        sample_init(&p->scratch) < 0)
        return fail_set(fail, ENOMEM, "run", "starting a run");
    return 0;
}

/* Only what the run will start has to be there. */
static int find_programs(struct run *r, struct fail *fail)
{
    struct run_private *p = r->private;
    int rc = program_find("plimsoll-engine", p->engine_program, sizeof(p->engine_program),
                          fail);

    if (rc == 0 && options_is(&r->values, OPTION_client, "process"))
        rc = program_find("plimsoll-once", p->oneshot_program, sizeof(p->oneshot_program),
                          fail);
    return rc;
}

/* What is drawn can be drawn again: the seed is among the values of the run. */
static int choose_seed(struct options *values)
{
    uint64_t state = now_ns() ^ (uint64_t)getpid() << 32;

    if (!options_is(values, OPTION_arrivals, "poisson") ||
        options_number(values, OPTION_arrivals_seed, 0))
        return 0;
    return options_set_number(values, OPTION_arrivals_seed,
                              random_next(&state) % UINT32_MAX + 1);
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
    if (options_copy(&r->values, values) < 0 ||
        secrets_hide(&r->values, &r->hidden) < 0) {
        fail_set(fail, ENOMEM, "run", "starting a run");
        run_free(r);
        return NULL;
    }
    if (choose_seed(&r->values) < 0) {
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

const char *run_value(const struct run *r, const struct param *p,
                      char number[PARAM_NUMBER_MAX])
{
    const char *hidden = options_text(&r->hidden, p->option, NULL);

    return hidden ? hidden : param_value(&r->values, p, number);
}

void run_show_secrets(struct run *r)
{
    options_done(&r->hidden);
    r->hidden = (struct options){0};
}

static void free_private(struct run *r)
{
    struct run_private *p = r->private;

    for (size_t i = 0; p->links && i < p->link_count; i++)
        child_free(p->links[i].child);
    if (r->state != RUN_NEW && r->state != RUN_DONE)
        run_clean_after(r);
    event_drop(p->guard);
    event_drop(p->watch);
    event_drop(p->next);
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
    options_done(&r->hidden);
    free(r);
}

bool run_is_endless(const struct run *r)
{
    return !options_number(&r->values, r->scenario->family->amount, 0) &&
           !options_number(&r->values, OPTION_duration, 0);
}

void run_start(struct run *r)
{
    assert(r->state == RUN_NEW);
    limits_raise_files();
    run_begin_trial(r);
}

/*
 * Whether a stop takes something from the present trial. While that drains all of its
 * load has been carried out, and a first stop waits for whoever has still to report.
 */
static bool cuts_short(const struct run *r)
{
    if (r->state != RUN_DRAINING)
        return true;
    return r->private->stopping &&
           !(run_all_done(r, PLACE_SERVER) && run_all_done(r, PLACE_ENDPOINT));
}

void run_stop(struct run *r)
{
    struct run_private *p = r->private;

    if (!p || r->state == RUN_NEW || r->state == RUN_DONE)
        return;
    if (cuts_short(r))
        trial_set_outcome(run_current(r), OUTCOME_STOPPED, RUN_STOPPED);
    if (p->stopping) {
        run_kill_children(r);
        return;
    }
    p->stopping = true;
    if (r->state == RUN_RUNNING) {
        if (r->paused)
            run_pause(r, false);
        run_send_all(r, PLACE_CLIENT, MESSAGE_STOP);
        run_guard(r, r->patience.report_ms);
    } else if (r->state == RUN_SPAWNING) {
        run_abandon(r);
    }
}

bool run_option_is_rate(enum option option)
{
    return option == OPTION_rate || option == OPTION_connection_rate;
}

void run_pause(struct run *r, bool paused)
{
    struct run_private *p = r->private;

    if (!p || r->state != RUN_RUNNING || r->paused == paused)
        return;
    r->paused = paused;
    if (paused)
        p->pause_began_ns = now_ns();
    else if (trial_pause(run_current(r), p->pause_began_ns, now_ns()) < 0)
        run_fails(r, "out of memory");
    run_send_all(r, PLACE_CLIENT, paused ? MESSAGE_PAUSE : MESSAGE_RESUME);
    run_mark(r, paused ? "paused" : "resumed");
}

/* In the series' time, as the samples beside it are. */
void run_mark(struct run *r, const char *text)
{
    const struct trial *t = run_trial(r);
    uint64_t now = now_ns();

    if (!r->private || !r->first_ns)
        return;
    if (t && t->start_ns && now > t->start_ns)
        series_mark(r->series, run_origin_ns(r, t) + (now - t->start_ns), text);
    else
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
    return options_number(&r->values, OPTION_rate, 0) > 0 ||
           options_number(&r->values, OPTION_connection_rate, 0) > 0;
}

/*
 * What one client has done of it: what is only handed over, or in flight, is not done
 * yet. Of a transfer each client makes the whole, the longer way of which counts.
 */
static double amount_of(const struct run *r, const struct meter_counters *c)
{
    uint64_t bytes =
        c->received_bytes > c->sent_bytes ? c->received_bytes : c->sent_bytes;

    return r->scenario->family->operations
               ? (double)(c->succeeded + c->failed + c->timed_out + c->unfinished)
               : (double)bytes / (double)options_number(&r->values, OPTION_workers, 1);
}

/* What the clients have done of the amount that ends a trial. */
static double amount_done(const struct run *r)
{
    const struct trial *t = run_current(r);
    double amount = (double)options_number(&r->values, r->scenario->family->amount, 0);
    double done = 0;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];
        const struct meter *m = p->totals.meter;

        if (p->place == PLACE_CLIENT && m)
            done += amount_of(r, &m->counters);
    }
    return amount > 0 ? done / amount : (double)NAN;
}

double run_progress(const struct run *r)
{
    double duration = (double)options_number(&r->values, OPTION_duration, 0);
    double whole = duration + (double)options_number(&r->values, OPTION_warmup, 0);
    double by_time = duration > 0 ? (double)run_clock_ns(r) / whole : (double)NAN;
    double by_amount = run_trial(r) ? amount_done(r) : (double)NAN;

    return fmin(1, fmax(by_time, by_amount)); /* fmax takes the one that is a number */
}
