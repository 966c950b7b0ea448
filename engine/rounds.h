/*
 * Rounds: several contestants, each one trial a round, so that whatever else the machine
 * does in the meantime meets them all. What `run --against` and the shoot-outs do.
 *
 *   alternate   A B, B A, A B, ...    a drift that is steady cancels out
 *   shuffled    each round in another order, drawn from the seed
 *
 * Each trial is a run of its own, recorded like any other unless `save` is false. An
 * interrupt ends the run under way and the rounds; what is complete stays.
 */
#ifndef ENGINE_ROUNDS_H
#define ENGINE_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/run.h"
#include "protocols/fail.h"

struct event;
struct event_base;

#define ROUNDS_MAX 64

enum rounds_order { ROUNDS_ALTERNATE, ROUNDS_SHUFFLED };

enum rounds_end {
    ROUNDS_COMPLETED,
    ROUNDS_INTERRUPTED,
    ROUNDS_TIME_UP, /* limit_ns was reached; what follows was not begun */
    ROUNDS_FAILED,  /* a run failed; `reason` says which */
};

struct contestant {
    char name[64];
    const struct scenario *scenario;
    struct options values;        /* of its runs, with trials 1; owned */
    size_t count;                 /* runs carried out */
    struct run *runs[ROUNDS_MAX]; /* in the order of the rounds; owned */
};

struct rounds {
    size_t count;
    struct contestant *contestants; /* borrowed array; what is in them is owned */
    unsigned rounds;                /* at most ROUNDS_MAX */
    enum rounds_order order;
    uint64_t seed;
    uint64_t limit_ns; /* begin no further run after this time; 0: no limit */
    bool save, quiet, verbose;
    bool keep_going; /* a failed run ends the rounds otherwise */
    bool lean;       /* runs keep their figures, but no series and no histograms */

    /* Afterwards: */
    enum rounds_end end;
    char reason[320];
    struct event_base *base; /* the runs' */

    /* Meanwhile: */
    struct run *under_way;    /* borrowed */
    bool interrupted;         /* by one of the signals, which are caught till _done */
    struct event *signals[3]; /* SIGINT, SIGTERM and SIGHUP */
};

/*
 * Carry all rounds out. 0, whatever `end` came to be, or a negative errno with a
 * sentence when a contestant cannot be run at all (wrong values, no program); then there
 * may be runs of earlier ones. A run that was interrupted is not kept.
 */
int rounds_carry_out(struct rounds *r, struct fail *fail);

/* Frees the runs, the values and the base. */
void rounds_done(struct rounds *r);

/* The exit code that an end stands for, when nothing else is wrong. */
int rounds_exit_code(const struct rounds *r);

#endif
