/*
 * Thresholds: what a run must show to pass, as `--threshold 'p99<5ms'`. Each is a
 * metric of engine/metric.h, a relation and a limit:
 *
 *   metric     its name (latency_p99_ns), or a short one: p50 p90 p95 p99 p99.9 p99.99
 *              max mean latency loss errors throughput rps received seconds ...
 *   relation   <  <=  >  >=
 *   limit      5ms 2s (times)  0.1% (shares)  500MB/s 1GiB/s (throughput)  10k/s (rates)
 *
 * engine/threshold_verdict.h judges a run by them.
 */
#ifndef ENGINE_THRESHOLD_H
#define ENGINE_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/metric.h"
#include "protocols/fail.h"

#define THRESHOLDS_MAX 32

enum relation { RELATION_BELOW, RELATION_AT_MOST, RELATION_ABOVE, RELATION_AT_LEAST };

struct threshold {
    char text[64]; /* as typed, without spaces at its ends */
    enum metric metric;
    enum relation relation;
    double limit; /* in the metric's unit */
};

const char *relation_text(enum relation relation); /* "<=" */

/* 0, or -EINVAL with a sentence; an unknown metric is told with the nearest one. */
int threshold_parse(struct threshold *t, const char *text, struct fail *fail);

/*
 * A parameter's text: one threshold a line, or several separated by commas. 0, or
 * -EINVAL with a sentence, also for more than THRESHOLDS_MAX.
 */
int thresholds_parse(const char *text, struct threshold list[THRESHOLDS_MAX],
                     size_t *count, struct fail *fail);

/* The metric that a word names, short or whole. 0, or -EINVAL with a sentence. */
int threshold_metric(const char *word, enum metric *metric, struct fail *fail);

/* Every word that names a metric here, short ones first: fills at most `room`, returns
 * how many. */
size_t threshold_words(const char **words, size_t room);

#endif
