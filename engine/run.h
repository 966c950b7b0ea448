/*
 * A run: one scenario with its values, carried out in one or more trials. A run owns
 * its worker processes, its trials and its series; its maker is notified of what
 * happens through `struct run_ops` and may read everything here at any time.
 *
 *            servers          endpoint          clients
 *   NEW ---> SPAWNING (each place is started when the one before it is ready)
 *            |  all ready: one common start instant is sent
 *            RUNNING   until every client is done, or a stop
 *            |
 *            DRAINING  the others learn what was sent, and stop; they report
 *            |
 *            next trial with fresh processes, or DONE
 *
 * An outcome is a value, of each trial and of the run (the worst of its trials). A
 * failure ends the trial at once, with the first cause; what was measured until then
 * stays.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/environment.h"
#include "engine/series.h"
#include "engine/trial.h"

struct event_base;
struct run;
struct statistics;

enum run_state { RUN_NEW, RUN_SPAWNING, RUN_RUNNING, RUN_DRAINING, RUN_DONE };

/* What a run reports to its maker. Any member may be NULL; all are called from the loop.
 */
struct run_ops {
    /* The state, or the trial, is another one. DONE is the last call of all. */
    void (*changed)(void *arg, struct run *run);
    /* A sample has been added to the series and to its trial. Borrowed. */
    void (*sampled)(void *arg, struct run *run, const struct process *process,
                    const struct sample *sample);
    /* A line for the log: what a worker says, or the run itself. */
    void (*line)(void *arg, struct run *run, const char *text);
    /*
     * What run_set asked for is in force (0), or it is not: the negative errno of a
     * client that refused it, -ECANCELED when none was left to take it.
     */
    void (*was_set)(void *arg, struct run *run, const struct param *param, uint64_t value,
                    int err);
};

/*
 * How long a run waits for a worker before it takes it to hang: to become ready (a
 * launcher may have to log in somewhere first), to report once it was asked to stop
 * (past the drain time), and for the next message while running, where a sample is due
 * each 100 ms. May be changed before run_start.
 */
struct run_patience {
    unsigned ready_ms, report_ms, silence_ms;
    unsigned end_ms; /* engine/child.h: between asking to end and each harder step */
};

struct run {
    const struct scenario *scenario;
    struct options values; /* a copy, in base units */
    struct options hidden; /* texts that run_value gives instead (engine/secret.h) */
    struct environment environment; /* when the run was made */
    char id[16];      /* of its recording (engine/store.h); "" without one */
    bool interrupted; /* a recording that has no end */
    enum run_state state;
    enum outcome outcome;
    char reason[320];
    time_t started;    /* a label */
    uint64_t first_ns; /* the first trial's start: zero of the series */
    bool paused;
    struct run_patience patience; /* 30, 10, 30 and 2 s */
    unsigned trial_count;         /* trials asked for */
    size_t trials_begun;
    struct trial **trials; /* trials_begun of them; the last one may be under way */
    struct series *series;
    struct meter *pooled[PLACE_COUNT]; /* all trials together; NULL: nobody there */
    uint64_t replayed_ns;              /* of a recorded run: the series' time so far */
    struct run_private *private;       /* NULL: a recorded run, without processes */
};

/*
 * Check the values against each other and against the machine (engine/limits.h), and
 * make what all trials share. Nothing is started yet. `values` is copied. NULL with a
 * sentence in *fail: EINVAL for a usage error (exit 2), others for what cannot be
 * carried out (exit 3).
 */
struct run *run_new(struct event_base *base, const struct scenario *scenario,
                    const struct options *values, const struct run_ops *ops, void *arg,
                    struct fail *fail);

/*
 * Whether the values of a run go together and with this machine: what run_new asks,
 * and whoever lets a person change values. 0 or a negative errno with a sentence.
 */
int run_check(const struct run *r, struct fail *fail);

/*
 * The CPUs of a place: its part of the parameter pin, "SERVER/CLIENT", or one list for
 * both; "" for no pinning.
 */
void run_pin(const struct run *r, enum place place, char *pin, size_t size);

/*
 * A parameter's value as reports have it: whole, and with secrets hidden
 * (engine/secret.h) unless run_show_secrets was called. Borrowed, or written to `number`
 * (param_value).
 */
const char *run_value(const struct run *r, const struct param *p,
                      char number[PARAM_NUMBER_MAX]);
void run_show_secrets(struct run *r);

/* Ends what is still running, removes what was made. NULL is fine. Not from an op. */
void run_free(struct run *r);

/* Whether the load has neither an amount nor a duration: only run_stop ends it. */
bool run_is_endless(const struct run *r);

/* Begin. What goes wrong from here on is an outcome. */
void run_start(struct run *r);

/*
 * End early: clients stop offering load, what was measured is reported, no further
 * trial begins. A second call does not wait for anybody any more. A trial that drains is
 * a whole one all the same, unless the second call comes before its ends have reported;
 * the run is stopped where trials are left out.
 */
void run_stop(struct run *r);

/*
 * Ask the clients to change a live parameter (PARAM_LIVE) while running: 0, -EINVAL for a
 * value out of range or a parameter that cannot change live, -EBUSY while a change before
 * is not settled. When all have taken it, it is in `values` and marked in the series;
 * when one refuses, nothing is. Which of both is told by was_set, never from within this
 * call.
 */
int run_set(struct run *r, enum option option, uint64_t value);

/* Stop offering load for a while; the time is taken out of the trial's clock. */
void run_pause(struct run *r, bool paused);

/* A mark in the series, at the present time. */
void run_mark(struct run *r, const char *text);

/*
 * Settle a trial that has ended: work its figures out and take its outcome and its
 * histograms over into the run's. For those who make runs: run.c and recording.c.
 */
void run_account(struct run *r, struct trial *t);

/* The trial under way or the last one; NULL before the first. */
struct trial *run_trial(const struct run *r);

/*
 * Where a trial's start lies in the time of the series: on the series' grid, so that its
 * samples fall into the middle of the slots, and into none that the trial before has
 * used. Trials start there; of a recording in which they did not it is the next edge.
 */
uint64_t run_origin_ns(const struct run *r, const struct trial *t);

/* Nanoseconds since the trial's start (0 before), pauses taken out. */
uint64_t run_clock_ns(const struct run *r);

/* 0..1 of the present trial by its amount or duration; NaN when neither is known. */
double run_progress(const struct run *r);

/*
 * Statistics of one metric (engine/statistics.h) over the completed trials that have it;
 * over all that have it, when none of those completed.
 */
void run_statistics(const struct run *r, enum metric metric, struct statistics *s);

/* Whether an option sets how much load a schedule offers. */
bool run_option_is_rate(enum option option);

/* Whether its load follows a schedule: latency then counts from when each was due. */
bool run_is_paced(const struct run *r);

/*
 * As scenario_differences, of what the run came to: what "auto" was, and what the user's
 * own file held.
 */
size_t run_differences(const struct run *r, struct difference *list);

/*
 * Whether the run is the documented experiment, so that its figures may stand beside the
 * documented ones. When not, `why` is a sentence: the run did not end by itself, or its
 * values depart (run_differences).
 */
bool run_is_comparable(const struct run *r, char *why, size_t size);

/*
 * A sentence about the differences that leave the comparison standing; "" when there are
 * none, or when nothing is documented.
 */
void run_notes(const struct run *r, char *text, size_t size);

#endif
