#include "tui/run_view.h"

#include <math.h>
#include <stdlib.h>

struct run_view *run_view_new(void)
{
    return calloc(1, sizeof(struct run_view));
}

void run_view_free(struct run_view *v)
{
    free(v);
}

void run_view_set_run(struct run_view *v, const struct run *run)
{
    v->run = run;
    v->cached_step_ns = 0;
}

double run_view_end_s(const struct run_view *v)
{
    const struct series *s = v->run ? v->run->series : NULL;

    return s ? (double)(s->used * s->step_ns) / 1e9 : 0;
}

static void forget_latency(struct run_view *v)
{
    if (v->cached_step_ns == v->run->series->step_ns)
        return;
    for (size_t i = 0; i < SERIES_SLOTS; i++)
        v->latency[i].count = 0;
    v->cached_step_ns = v->run->series->step_ns;
}

static void collect_marks(struct run_view *v)
{
    const struct series *s = v->run->series;

    v->mark_count = s->mark_count;
    for (size_t i = 0; i < s->mark_count; i++) {
        v->marks[i].at_s = (double)s->marks[i].at_ns / 1e9;
        v->marks[i].label = s->marks[i].text;
    }
}

void run_view_set_span(struct run_view *v, double end_s, double window_s)
{
    size_t last;

    v->first = v->count = 0;
    v->from_s = 0;
    v->to_s = window_s > 0 ? window_s : chart_span(end_s);
    v->step_s = 0.1;
    if (!v->run)
        return;
    if (window_s <= 0)
        window_s = v->to_s > VIEW_LONGEST_S ? VIEW_LONGEST_S : v->to_s;
    if (end_s > window_s) {
        v->to_s = end_s;
        v->from_s = end_s - window_s;
    } else {
        v->to_s = window_s;
    }
    forget_latency(v);
    collect_marks(v);
    v->step_s = (double)v->run->series->step_ns / 1e9;
    /* One slot more on the left, so that a line enters the picture at its edge. */
    v->first = v->from_s > v->step_s ? (size_t)(v->from_s / v->step_s) - 1 : 0;
    last = (size_t)ceil(v->to_s / v->step_s);
    last = last < v->run->series->used ? last : v->run->series->used;
    v->count = last > v->first ? last - v->first : 0;
}

const struct series_slot *run_view_slot(const struct run_view *v, size_t i)
{
    return &v->run->series->slots[v->first + i];
}

const struct view_latency *run_view_latency(struct run_view *v, size_t i)
{
    const struct series_slot *slot = run_view_slot(v, i);
    struct view_latency *l = &v->latency[v->first + i];

    if (slot->latency_count == 0) {
        *l = (struct view_latency){0, UNKNOWN, UNKNOWN, UNKNOWN};
    } else if (l->count != slot->latency_count) {
        l->count = slot->latency_count;
        l->p50 = series_latency_ns(slot, 0.5);
        l->p90 = series_latency_ns(slot, 0.9);
        l->p99 = series_latency_ns(slot, 0.99);
    }
    return l;
}

void run_view_unexplained(const struct series *s, double *out)
{
    double sum = 0, after = 0, before = 0;

    for (size_t i = 0; i < s->used; i++) {
        const struct meter_counters *n = &s->slots[i].places[PLACE_SERVER].counters;

        sum += (double)n->expected - (double)n->unique - (double)n->overflow;
        out[i] = sum > 0 ? sum : 0;
    }
    for (size_t i = s->used; i-- > 0; after = out[i])
        if (i + 1 < s->used && after < out[i])
            out[i] = after;
    for (size_t i = 0; i < s->used; i++) {
        double risen = out[i] - before;

        before = out[i];
        out[i] = risen;
    }
}

double run_view_now(const struct run_view *v, const double *values)
{
    size_t wanted = v->step_s < 0.5 ? (size_t)lround(0.5 / v->step_s) : 1, known = 0;
    double sum = 0;

    /* The last slot may still be filling; half a second back is still "now". */
    for (size_t i = v->count; i-- > 0 && known < wanted;)
        if (!isnan(values[i])) {
            sum += values[i];
            known++;
        } else if (v->count - i > 2 * wanted) {
            break;
        }
    return known > 0 ? sum / (double)known : UNKNOWN;
}

const char *run_view_latency_origin(const struct run *r)
{
    if (run_is_paced(r))
        return "from the planned send";
    return r->scenario->family->latency_span;
}

enum place run_view_facing(const struct run_view *v)
{
    return v->run ? scenario_facing(v->run->scenario) : PLACE_SERVER;
}

bool run_view_has(const struct run_view *v, enum place place)
{
    const struct trial *t = v->run ? run_trial(v->run) : NULL;

    for (size_t i = 0; t && i < t->process_count; i++)
        if (t->processes[i].place == place)
            return true;
    return false;
}

struct chart run_view_chart(const struct run_view *v, const char *title, bool focused)
{
    return (struct chart){
        .title = title,
        .per = "",
        .start_s = (double)v->first * v->step_s,
        .step_s = v->step_s,
        .from_s = v->from_s,
        .to_s = v->to_s,
        .marks = v->marks,
        .mark_count = v->mark_count,
        .focused = focused,
    };
}
