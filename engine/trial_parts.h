/*
 * What the files of a trial share: engine/trial.c sums up, trial_seconds.c keeps what is
 * known by the second, trial_metrics.c works the metrics out, trial_checks.c judges them.
 */
#ifndef ENGINE_TRIAL_PARTS_H
#define ENGINE_TRIAL_PARTS_H

#include "engine/trial.h"

/* Whether a process of the place was ready: its counters mean something. */
bool trial_has_place(const struct trial *t, enum place place);

/* Whether there are processes at the place and each reported its totals. */
bool trial_all_reported(const struct trial *t, enum place place);

/* Share a sample out to the seconds that it covers. 0 or -ENOMEM. */
int trial_add_seconds(struct trial *t, enum place place, const struct sample *sample);

/* From the sums to the metrics, and from those to the checks, in this order. */
void trial_compute_metrics(struct trial *t);
void trial_compute_checks(struct trial *t, const struct options *values);

/* NaN for a denominator that is not above 0. */
static inline double trial_ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

#endif
