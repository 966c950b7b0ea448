/*
 * The summary of HTTP load as people know it from load generators, and as the documented
 * runs were reported: Latency, Req/Sec and Bytes/Sec, each by average, standard deviation
 * and maximum, and one line of totals.
 *
 * Latency is over all requests that ended well, with those unfinished as meter_latency
 * has it. Req/Sec and Bytes/Sec are the metrics requests_per_second and bytes_per_second,
 * which have one definition everywhere: what was done by the time it took, the mean of
 * the trials; their deviation and maximum are over the whole seconds of all trials, or
 * over tenths where there are not two.
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
    bool is_bound;                          /* they are at least that */
    double documented[LOAD_COLUMNS];        /* NaN where nothing is documented */
    char documented_text[LOAD_COLUMNS][24]; /* in the document's digits, or "-" */
};

struct load_table {
    struct load_row rows[LOAD_ROWS];
    bool is_documented;
    char totals[120];  /* "5k requests in 1.35 s, 600 kB read" */
    char over[160];    /* a sentence: what Stdev and Max of the rates are over */
    char replies[160]; /* a sentence: how large a reply was, here and there; or "" */
};

/*
 * Whether such a table, its line of totals and the percentiles beside it have told what
 * the metric says of a single trial.
 */
bool load_table_tells(enum metric metric);

/*
 * A sentence about the size of a reply beside the documented one, without which no rate
 * of bytes can be compared; "" where none is documented or nothing was read.
 */
void load_replies(const struct run *r, char *text, size_t size);

/* False, and nothing filled in, for a run that is no HTTP load or that measured nothing.
 */
bool load_table(struct load_table *table, const struct run *r);

#endif
