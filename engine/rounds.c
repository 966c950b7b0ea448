#include "engine/rounds.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/command.h"
#include "engine/cli/headless.h"
#include "engine/recorder.h"
#include "protocols/clock.h"

/* The run under way. */
struct turn {
    struct rounds *rounds;
    const struct contestant *contestant;
    unsigned round;
    struct run *run;
    struct recorder *recorder; /* NULL: it is not saved */
    struct event *tick;
    bool progress; /* on a terminal */
};

static void clear_line(const struct turn *t)
{
    if (t->progress)
        headless_clear();
}

static void tell_warning(const struct turn *t)
{
    const char *text = recorder_warning(t->recorder);

    if (!text)
        return;
    clear_line(t);
    fprintf(stderr, "plimsoll: %s.\n", text);
}

static void on_changed(void *arg, struct run *r)
{
    struct turn *t = arg;

    recorder_changed(t->recorder, r);
    tell_warning(t);
    if (r->state == RUN_DONE)
        event_base_loopbreak(t->rounds->base);
}

static void on_sampled(void *arg, struct run *r, const struct process *process,
                       const struct sample *sample)
{
    struct turn *t = arg;

    recorder_sampled(t->recorder, r, process, sample);
    tell_warning(t);
}

static void on_line(void *arg, struct run *r, const char *text)
{
    const struct turn *t = arg;

    (void)r;
    if (!t->rounds->verbose)
        return;
    clear_line(t);
    fprintf(stderr, "%s: %s\n", t->contestant->name, text);
}

/* One that came between two runs is heard, and stops the next, as soon as that begins. */
static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    struct rounds *r = arg;

    (void)fd;
    (void)what;
    r->interrupted = true;
    run_stop(r->under_way);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    const struct turn *t = arg;

    (void)fd;
    (void)what;
    clear_line(t);
    fprintf(stderr, "round %u of %u  %s  %.1f s", t->round + 1, t->rounds->rounds,
            t->contestant->name, (double)run_clock_ns(t->run) / 1e9);
}

static int set_up(struct turn *t)
{
    struct timeval tick = {0, 200000};

    t->tick = event_new(t->rounds->base, -1, EV_PERSIST, on_tick, t);
    if (!t->tick)
        return -ENOMEM;
    return t->progress ? event_add(t->tick, &tick) : 0;
}

static void tear_down(struct turn *t)
{
    if (t->tick)
        event_free(t->tick);
    clear_line(t);
    recorder_free(t->recorder);
}

/* A run that cannot be saved is carried out all the same; it is said once. */
static void begin_recording(struct turn *t)
{
    struct fail fail = {0};

    if (!t->rounds->save)
        return;
    t->recorder = recorder_new(t->run, &fail);
    if (!t->recorder) {
        fprintf(stderr, "plimsoll: these runs will not be saved: %s.\n", fail.sentence);
        t->rounds->save = false;
    }
}

/* Hundreds of runs would hold a gigabyte of what nobody will look at. */
static void make_lean(struct run *r)
{
    series_free(r->series);
    r->series = NULL;
    for (int p = 0; p < PLACE_COUNT; p++) {
        meter_free(r->pooled[p]);
        r->pooled[p] = NULL;
    }
}

/* What a run came to means to the rounds: whether they go on. */
static bool take_run(struct rounds *r, struct contestant *c, const struct turn *t)
{
    if (r->interrupted) {
        run_free(t->run);
        r->end = ROUNDS_INTERRUPTED;
        return false;
    }
    if (r->lean)
        make_lean(t->run);
    c->runs[c->count++] = t->run;
    if (t->run->outcome != OUTCOME_FAILED || r->keep_going)
        return true;
    r->end = ROUNDS_FAILED;
    snprintf(r->reason, sizeof(r->reason), "round %u, %s: %.240s", t->round + 1, c->name,
             t->run->reason);
    return false;
}

/* 1: go on, 0: the rounds are over, or a negative errno with a sentence. */
static int take_turn(struct rounds *r, struct contestant *c, unsigned round,
                     struct fail *fail)
{
    static const struct run_ops ops = {on_changed, on_sampled, on_line};
    struct turn t = {.rounds = r, .contestant = c, .round = round};

    t.progress = isatty(STDERR_FILENO) && !r->quiet;
    t.run = run_new(r->base, c->scenario, &c->values, &ops, &t, fail);
    if (!t.run)
        return -fail->err;
    if (run_is_endless(t.run)) {
        run_free(t.run);
        return fail_set(fail, EINVAL, "rounds",
                        "a round has an end: give an --amount or a --duration");
    }
    if (set_up(&t) < 0) {
        tear_down(&t);
        run_free(t.run);
        return fail_set(fail, ENOMEM, "run", "starting a run");
    }
    begin_recording(&t);
    r->under_way = t.run;
    run_start(t.run);
    if (t.run->state != RUN_DONE)
        event_base_dispatch(r->base);
    tear_down(&t);
    return take_run(r, c, &t);
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#define CONTESTANTS_MAX 64

static void put_in_order(const struct rounds *r, unsigned round, uint64_t *state,
                         size_t order[CONTESTANTS_MAX])
{
    for (size_t i = 0; i < r->count; i++)
        order[i] = r->order == ROUNDS_ALTERNATE && round % 2 ? r->count - 1 - i : i;
    if (r->order == ROUNDS_ALTERNATE)
        return;
    for (size_t i = r->count - 1; i > 0; i--) {
        size_t k = (size_t)(next_random(state) % (i + 1));
        size_t kept = order[i];

        order[i] = order[k];
        order[k] = kept;
    }
}

/*
 * For all rounds and for the report after them: a signal that came between two runs, or
 * a second one, must not make an ending of its own.
 */
static int listen_for_signals(struct rounds *r)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (numbers[i] == SIGHUP && command_ignores(SIGHUP))
            continue;
        r->signals[i] = evsignal_new(r->base, numbers[i], on_signal, r);
        if (!r->signals[i] || event_add(r->signals[i], NULL) < 0)
            return -ENOMEM;
    }
    return 0;
}

int rounds_carry_out(struct rounds *r, struct fail *fail)
{
    uint64_t begin = now_ns(), state = r->seed;
    size_t order[CONTESTANTS_MAX];

    r->end = ROUNDS_COMPLETED;
    r->base = event_base_new();
    if (!r->base || r->count == 0 || r->count > CONTESTANTS_MAX || r->rounds > ROUNDS_MAX)
        return fail_set(fail, ENOMEM, "rounds", "starting the rounds");
    if (listen_for_signals(r) < 0)
        return fail_set(fail, ENOMEM, "rounds", "listening for signals");
    for (unsigned round = 0; round < r->rounds; round++) {
        put_in_order(r, round, &state, order);
        for (size_t i = 0; i < r->count; i++) {
            int rc;

            if (r->limit_ns && now_ns() - begin > r->limit_ns) {
                r->end = ROUNDS_TIME_UP;
                return 0;
            }
            rc = take_turn(r, &r->contestants[order[i]], round, fail);
            if (rc <= 0)
                return rc;
        }
    }
    return 0;
}

void rounds_done(struct rounds *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct contestant *c = &r->contestants[i];

        for (size_t k = 0; k < c->count; k++)
            run_free(c->runs[k]);
        c->count = 0;
        options_done(&c->values);
    }
    command_hold_signals();
    for (size_t i = 0; i < sizeof(r->signals) / sizeof(r->signals[0]); i++) {
        if (r->signals[i])
            event_free(r->signals[i]);
        r->signals[i] = NULL;
    }
    if (r->base)
        event_base_free(r->base);
    r->base = NULL;
}

int rounds_exit_code(const struct rounds *r)
{
    switch (r->end) {
    case ROUNDS_COMPLETED:
    case ROUNDS_TIME_UP:
        break;
    case ROUNDS_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case ROUNDS_FAILED:
        return EXIT_FAILED;
    }
    return EXIT_OK;
}
