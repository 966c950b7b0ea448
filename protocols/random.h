/*
 * Pseudo-random numbers that follow from a seed: SplitMix64 (Steele, Lea, Flood 2014).
 * The state is a counter, which any seed starts well: a step waits for no multiplication
 * of the step before, so that the CPU overlaps them, and any part of the sequence can be
 * had without what comes before it. Not for secrets.
 */
#ifndef PROTOCOLS_RANDOM_H
#define PROTOCOLS_RANDOM_H

#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15u

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += RANDOM_STEP;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The state after `count` more numbers. */
static inline uint64_t random_skip(uint64_t state, uint64_t count)
{
    return state + count * RANDOM_STEP;
}

#endif
