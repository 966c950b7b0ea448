/*
 * The summary of HTTP load as people know it from load generators, and as the documented
 * runs were reported: Latency, Req/Sec and Bytes/Sec, each by average, standard deviation
 * and maximum, and one line of totals.
 *
 * Latency is over all requests that ended well, with those unfinished as meter_latency
 * has it. Req/Sec and Bytes/Sec are over the whole one-second intervals of all trials,
 * all three columns over the same ones, so that an average never passes its maximum.
 * Where there are fewer than two of them, the average is that of the run, and deviation
 * and maximum are unknown.
 */
#ifndef ENGINE_REPORT_LOAD_TABLE_H
#define ENGINE_REPORT_LOAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/run.h"

enum load_column { LOAD_AVG, LOAD_STDEV, LOAD_MAX, LOAD_COLUMNS };

#define LOAD_ROWS 3

struct load_row {
    const char *name;                  /* "Latency" */
    enum metric metrics[LOAD_COLUMNS]; /* what the figures are of */
    double own[LOAD_COLUMNS];
    bool is_bound;                   /* they are at least that */
    double documented[LOAD_COLUMNS]; /* NaN where nothing is documented */
};

struct load_table {
    struct load_row rows[LOAD_ROWS];
    bool is_documented;
    bool is_short;    /* there were not two whole seconds */
    char totals[120]; /* "5k requests in 1.35 s, 600 kB read" */
};

/*
 * Whether such a table, its line of totals and the percentiles beside it have told what
 * the metric says of a single trial.
 */
bool load_table_tells(enum metric metric);

/* False, and nothing filled in, for a run that is no HTTP load or that measured nothing.
 */
bool load_table(struct load_table *table, const struct run *r);

#endif
