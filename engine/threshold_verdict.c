#include "engine/threshold_verdict.h"

#include <math.h>
#include <stdio.h>

#include "engine/statistics.h"

static bool holds(const struct threshold *t, double value)
{
    switch (t->relation) {
    case RELATION_BELOW:
        return value < t->limit;
    case RELATION_AT_MOST:
        return value <= t->limit;
    case RELATION_ABOVE:
        return value > t->limit;
    case RELATION_AT_LEAST:
        break;
    }
    return value >= t->limit;
}

static void judge(const struct run *r, struct threshold_verdict *v)
{
    const struct metric_row *row = metric_row(v->threshold.metric);
    struct statistics s;
    char value[40];

    run_statistics(r, v->threshold.metric, &s);
    v->value = s.n ? s.median : (double)NAN;
    v->ok = s.n && holds(&v->threshold, s.median);
    metric_format(v->threshold.metric, v->value, value, sizeof(value));
    if (!s.n)
        snprintf(v->detail, sizeof(v->detail), "%s was not measured", row->name);
    else if (s.n == 1)
        snprintf(v->detail, sizeof(v->detail), "%s is %s", row->name, value);
    else
        snprintf(v->detail, sizeof(v->detail), "%s is %s, the median of %zu trials",
                 row->name, value, s.n);
}

size_t thresholds_judge(const struct run *r,
                        struct threshold_verdict list[THRESHOLDS_MAX])
{
    struct threshold thresholds[THRESHOLDS_MAX];
    size_t n;

    /* They were checked when the run was made; what cannot be read now ends the list. */
    thresholds_parse(options_text(&r->values, OPTION_threshold, ""), thresholds, &n,
                     NULL);
    for (size_t i = 0; i < n; i++) {
        list[i].threshold = thresholds[i];
        judge(r, &list[i]);
    }
    return n;
}

bool thresholds_hold(const struct run *r)
{
    struct threshold_verdict list[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, list);

    for (size_t i = 0; i < n; i++)
        if (!list[i].ok)
            return false;
    return true;
}
