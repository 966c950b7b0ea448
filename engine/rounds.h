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

#include "engine/foreground.h"
#include "engine/run.h"
#include "protocols/fail.h"

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

struct rounds;

/* What there is to show meanwhile. Any member may be NULL. */
struct rounds_ops {
    /* How far they are, as of struct foreground: NULL when nothing is to be seen of it.
     */
    void (*show)(void *arg, const struct rounds *r, const struct run *run);
    /* What a worker of the contestant, or its run, says. */
    void (*line)(void *arg, const struct rounds *r, const char *text);
    /* Something is not saved: a sentence without its full stop. */
    void (*warning)(void *arg, const char *sentence);
};

struct rounds {
    size_t count;
    struct contestant *contestants; /* borrowed array; what is in them is owned */
    unsigned rounds;                /* at most ROUNDS_MAX */
    enum rounds_order order;
    uint64_t seed;
    uint64_t limit_ns; /* begin no further run after this time; 0: no limit */
    bool save;
    bool keep_going; /* a failed run ends the rounds otherwise */
    bool lean;       /* runs keep their figures, but no series and no histograms */
    const struct rounds_ops *ops; /* borrowed */
    void *arg;                    /* borrowed */

    /* Afterwards: */
    enum rounds_end end;
    char reason[320];

    /* Meanwhile: */
    unsigned round; /* from 0 */
    const struct contestant *contestant;
    struct foreground foreground; /* till rounds_done */
};

/*
 * Carry all rounds out. 0, whatever `end` came to be, or a negative errno with a
 * sentence when a contestant cannot be run at all (wrong values, no program); then there
 * may be runs of earlier ones. A run that was interrupted is not kept.
 */
int rounds_carry_out(struct rounds *r, struct fail *fail);

/* Frees the runs, the values and the loop; signals are held back (engine/signals.h). */
void rounds_done(struct rounds *r);

#endif
