/*
 * The headline latencies of a run by the second, as whole histograms: what interval
 * logs are made of, where the series (engine/series.h) keeps coarse buckets by the
 * tenth of a second for the charts. Closed intervals are kept in hist_encode's sparse
 * text, some hundred bytes to some thousand each. When a run outgrows INTERVALS_MAX of
 * them neighbours are added together and the step doubles, as in the series.
 */
#ifndef ENGINE_INTERVALS_H
#define ENGINE_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "protocols/hist.h"

#define INTERVALS_MAX 900

struct intervals {
    uint64_t step_ns;
    size_t used;                /* intervals from 0 that may hold something */
    size_t open_index;          /* the one that `open` stands for */
    struct hist *open;          /* not yet encoded */
    char *texts[INTERVALS_MAX]; /* NULL: nothing was recorded */
};

struct intervals *intervals_new(void); /* NULL when out of memory */
void intervals_free(struct intervals *x);

/* Add what was recorded around a time. When memory ends, an interval is left out. */
void intervals_add(struct intervals *x, uint64_t at_ns, const struct hist *h);

/* Add interval `i` to h, which is left alone if nothing was recorded in it. */
void intervals_read(const struct intervals *x, size_t i, struct hist *h);

#endif
