/*
 * Runs that nobody carried out: made of samples that follow from a seed, settled as real
 * ones are, and the same to the last digit wherever they are made. For what reads runs.
 */
#ifndef TESTS_SYNTHETIC_H
#define TESTS_SYNTHETIC_H

#include "engine/run.h"

struct synthetic {
    const char *scenario;
    unsigned trials;
    unsigned steps; /* of SAMPLE_STEP_MS, in each trial */
    uint64_t seed;
    double speed;         /* 1: as documented below; 1.05: five per cent faster */
    double noise;         /* standard deviation of a trial's speed, as a share of it */
    enum outcome outcome; /* of the last trial */
    uint64_t warmup_ns;   /* told to the trials; the samples are the same */
};

/* NULL for a scenario that is not there. The caller frees it by run_free. */
struct run *synthetic_run(const struct synthetic *how);

/* A number of 0..1 from a state of protocols/random.h, and a normal one. */
double synthetic_uniform(uint64_t *state);
double synthetic_normal(uint64_t *state);

#endif
