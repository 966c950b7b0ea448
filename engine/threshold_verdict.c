#include "engine/threshold_verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* What is at least a value may be more: that it is above a limit holds all the same. */
static bool is_from_below(const struct threshold *t)
{
    return t->relation == RELATION_ABOVE || t->relation == RELATION_AT_LEAST;
}

static const char *median_of(size_t trials, char *text, size_t size)
{
    snprintf(text, size, ", the median of %zu trials", trials);
    return text;
}

static void tell_unfinished(const struct run *r, char *text, size_t size)
{
    uint64_t open = 0;
    size_t used = strlen(text);

    for (size_t i = 0; i < r->trials_begun; i++)
        open += r->trials[i]->counters[PLACE_CLIENT].unfinished +
                r->trials[i]->counters[PLACE_CLIENT].never_begun;
    snprintf(text + used, size - used, ", %" PRIu64 " unfinished", open);
}

static void judge(const struct run *r, struct threshold_verdict *v)
{
    const struct metric_row *row = metric_row(v->threshold.metric);
    struct statistics s;
    char value[40], words[48];

    run_statistics(r, v->threshold.metric, &s);
    v->value = s.n ? s.median : (double)NAN;
    v->ok = s.n && holds(&v->threshold, s.median) &&
            (!s.is_bound || is_from_below(&v->threshold));
    metric_format_bound(v->threshold.metric, v->value, s.is_bound, value, sizeof(value));
    if (!s.n)
        snprintf(v->detail, sizeof(v->detail), "%s was not measured", row->name);
    else
        snprintf(v->detail, sizeof(v->detail), "%s %s%s%s", row->name,
                 s.is_bound ? "" : "is ", value,
                 s.n > 1 ? median_of(s.n, words, sizeof(words)) : "");
    if (s.is_bound)
        tell_unfinished(r, v->detail, sizeof(v->detail));
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
