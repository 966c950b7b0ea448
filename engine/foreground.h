/*
 * A program without a screen while a run goes on: it waits for the run, or the replay of
 * one, says five times a second how far it is, and hears of the signals that ask for an
 * end (engine/signals.h). The first stops the run, which ends with a result; the second
 * does not wait for it any more. Several runs may follow one another.
 *
 *   foreground_init(&f);
 *   run = run_new(f.base, ...); run_start(run);
 *   foreground_wait(&f, run);                     run->state is RUN_DONE
 *   foreground_done(&f);
 */
#ifndef ENGINE_FOREGROUND_H
#define ENGINE_FOREGROUND_H

#include <stdbool.h>

#include "engine/run.h"
#include "engine/signals.h"

struct foreground {
    /*
     * How far the run is, and NULL when nothing is to be seen of it any more. May be set
     * between two waits; NULL: nothing is shown.
     */
    void (*show)(void *arg, const struct run *run);
    void *arg; /* borrowed */

    struct event_base *base; /* owned: what the runs are made with */
    bool interrupted;        /* by a signal, since _init */
    struct run *run;         /* borrowed: it is waited for */
    struct event *tick;
    struct signals signals;
};

/* The signals are caught from here on. 0 or -ENOMEM; foreground_done in either case. */
int foreground_init(struct foreground *f);

/*
 * Until a run that was started, or a replay that plays, is done. A replay is left where
 * it is by the first signal: nobody has to be waited for.
 */
void foreground_wait(struct foreground *f, struct run *run);

/* After the runs are freed; the signals are held back. Zero bytes are fine. */
void foreground_done(struct foreground *f);

#endif
