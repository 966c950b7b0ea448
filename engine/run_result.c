/* What a run came to, over its trials: declared in engine/run.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/run.h"
#include "engine/statistics.h"

void run_statistics(const struct run *r, enum metric metric, struct statistics *s)
{
    double *values = calloc(r->trials_begun + 1, sizeof(*values));
    bool is_bound = false;
    size_t n = 0;

    for (int any = 0; values && any < 2 && n == 0; any++)
        for (size_t i = 0; i < r->trials_begun; i++) {
            const struct trial *t = r->trials[i];

            if (!isfinite(t->metrics[metric]) ||
                (!any && t->outcome != OUTCOME_COMPLETED))
                continue;
            values[n++] = t->metrics[metric];
            is_bound |= t->is_bound[metric];
        }
    statistics_of(values, n, s);
    s->is_bound = is_bound;
    if (is_bound) /* what is only known to be at least so much has no interval */
        s->ci95_low = s->ci95_high = (double)NAN;
    if (s->ci95_high > metric_most(metric))
        s->ci95_high = metric_most(metric);
    free(values);
}

bool run_is_comparable(const struct run *r, char *why, size_t size)
{
    char departures[400];

    why[0] = '\0';
    if (r->outcome != OUTCOME_COMPLETED &&
        !(r->outcome == OUTCOME_EXHAUSTED && r->scenario->exhausted_expected))
        snprintf(why, size, "This run is not a whole one: do not compare the figures.");
    else if (scenario_departures(r->scenario, &r->values, departures,
                                 sizeof(departures)) > 0)
        snprintf(why, size, "Do not compare the figures, the values are others: %s.",
                 departures);
    return why[0] == '\0';
}
