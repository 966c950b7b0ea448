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

/* What a process told of a parameter by its name: what "auto" came to. */
static const char *in_force(const struct run *r, const struct param *p)
{
    const struct trial *t = run_trial(r);
    const char *fact = NULL;

    for (size_t i = 0; t && i < t->process_count && !fact; i++)
        fact = process_fact(&t->processes[i], p->name);
    return fact;
}

/* The bytes that each end sent; 0 when it is not known. */
static uint64_t content_bytes(const struct run *r)
{
    const struct trial *t = run_trial(r);
    const struct meter_counters *c = t ? &t->counters[PLACE_CLIENT] : NULL;

    if (!c)
        return 0;
    return options_is(&r->values, OPTION_direction, "down") ? c->received_bytes
                                                            : c->sent_bytes;
}

static int values_in_force(const struct run *r, struct options *values)
{
    int rc = options_copy(values, &r->values);

    for (const struct param *p = param_table(); rc == 0 && p->name; p++) {
        const char *fact = NULL;

        if (scenario_has(r->scenario, p) && options_is(values, p->option, "auto"))
            fact = in_force(r, p);
        if (fact)
            rc = options_set_text(values, p->option, fact);
    }
    if (rc == 0 && r->scenario->family->content &&
        *options_text(values, OPTION_file, "") && content_bytes(r))
        rc = options_set_number(values, OPTION_size, content_bytes(r));
    return rc;
}

size_t run_differences(const struct run *r, struct difference *list)
{
    struct options values = {0};
    size_t count = 0;

    if (values_in_force(r, &values) == 0)
        count = scenario_differences(r->scenario, &values, list);
    options_done(&values);
    return count;
}

bool run_is_comparable(const struct run *r, char *why, size_t size)
{
    struct difference list[DIFFERENCES_MAX];
    char departures[400];

    differences_text(list, run_differences(r, list), true, departures,
                     sizeof(departures));
    why[0] = '\0';
    if (r->outcome != OUTCOME_COMPLETED &&
        !(r->outcome == OUTCOME_EXHAUSTED && r->scenario->exhausted_expected))
        snprintf(why, size, "This run is not a whole one: do not compare the figures.");
    else if (*departures)
        snprintf(why, size, "Do not compare the figures, the values are others: %s.",
                 departures);
    return why[0] == '\0';
}

void run_notes(const struct run *r, char *text, size_t size)
{
    struct difference list[DIFFERENCES_MAX];
    char notes[400] = "";

    if (*r->scenario->documented)
        differences_text(list, run_differences(r, list), false, notes, sizeof(notes));
    snprintf(text, size, "%s%s%s",
             *notes ? "The same work, done or measured in another way: " : "", notes,
             *notes ? "." : "");
}
