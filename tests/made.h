/*
 * A run made by hand and recorded as it goes: samples of a seed, as a run's loop would
 * take them. What goes wrong fails the running cmocka test.
 */
#ifndef TESTS_MADE_H
#define TESTS_MADE_H

#include "engine/recorder.h"
#include "engine/run.h"

#define MS 1000000ull

struct made {
    struct run *run;
    struct recorder *recorder; /* NULL: not recorded */
    struct sample sample;
    uint64_t random;
};

void made_begin(struct made *m, const char *scenario, unsigned trials);
struct trial *made_trial(struct made *m);

/* The next number below one. */
uint64_t made_pick(struct made *m, uint64_t below);

/* A sample of the process (0: the server), and of both at 100 ms, 200 ms ... */
void made_sample(struct made *m, int process, uint64_t at_ns);
void made_samples(struct made *m, unsigned steps);
void made_idle(struct made *m, int process, uint64_t at_ns); /* nothing happened */

/* What the process says at its end: more histograms than samples have. */
void made_report(struct made *m, int process);
void made_end_trial(struct made *m, enum outcome outcome, const char *reason);

/* The next trial begins. */
void made_next(struct made *m);
void made_end(struct made *m);
void made_free(struct made *m);

/* A plain whole run of some trials; the path (PATH_MAX) of its recording. */
void made_plain(struct made *m, unsigned trials, unsigned steps, char *path);

/* The run of a recording; to be freed. */
struct run *made_load(const char *path);

/*
 * Two runs have the same report and the same text in every format that holds them, the
 * document first of all; a failure says which line differs first.
 */
void made_assert_same(const struct run *a, const struct run *b);

#endif
