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

/* The time of what the scenario is about: where it is received, the later of two. */
double trial_received_seconds(const struct trial *t);

/* Share a sample out to the seconds that it covers. 0 or -ENOMEM. */
int trial_add_seconds(struct trial *t, enum place place, const struct sample *sample);

/* Share of the time that a place's busiest process was ready and had no core. */
double trial_waited_percent(const struct trial *t, enum place place);

/* A quantity summed over the time of receipt, begun seconds included, and over all. */
void trial_seconds_sum(const struct trial *t, size_t offset, double *within, double *all);

/* From the sums to the metrics, and from those to the checks, in this order. */
void trial_compute_metrics(struct trial *t, const struct options *values);
void trial_compute_checks(struct trial *t, const struct options *values);

/* Whether what is overdue is judged as an error. */
static inline bool trial_judges_overdue(const struct options *values)
{
    return !options_is(values, OPTION_unfinished, "ignore");
}

/* NaN for a denominator that is not above 0. */
static inline double trial_ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

#endif
