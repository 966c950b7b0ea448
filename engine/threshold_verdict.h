/*
 * What a run came to by its thresholds (engine/threshold.h). Each is judged on the median
 * over the trials (run_statistics). A metric that was not measured has no value, and that
 * fails: a threshold nobody looked at has not held. The verdicts are apart from the
 * outcome of the run, which says whether it was carried out.
 */
#ifndef ENGINE_THRESHOLD_VERDICT_H
#define ENGINE_THRESHOLD_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/run.h"
#include "engine/threshold.h"

struct threshold_verdict {
    struct threshold threshold;
    double value; /* the median; NaN: not measured */
    bool ok;
    char detail[160]; /* a sentence with the figures, without a full stop */
};

/* Judge what the run's values ask for; returns how many verdicts there are. */
size_t thresholds_judge(const struct run *r,
                        struct threshold_verdict list[THRESHOLDS_MAX]);

/* Whether every threshold of the run has held; true when there is none. */
bool thresholds_hold(const struct run *r);

#endif
