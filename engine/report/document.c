#include "engine/report/document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/json.h"
#include "engine/statistics.h"
#include "engine/threshold_verdict.h"

static void add_values(cJSON *document, const struct run *r)
{
    cJSON *o = cJSON_AddObjectToObject(document, "parameters");

    for (size_t i = 0; o && i < r->values.count; i++) {
        const struct option_value *v = &r->values.values[i];
        const struct param *p = scenario_param(r->scenario, v->option);
        const char *name = option_name(v->option);

        if (v->text)
            json_add_text(o, name, options_text(&r->hidden, v->option, v->text));
        else if (p && p->type == PARAM_FLAG)
            cJSON_AddBoolToObject(o, name, v->number != 0);
        else
            json_add_u64(o, name, v->number);
    }
}

static void add_hist(cJSON *o, const char *name, const struct hist_summary *h)
{
    cJSON *row;

    if (!h->count && !h->open) {
        cJSON_AddNullToObject(o, name);
        return;
    }
    row = cJSON_AddObjectToObject(o, name);
    if (!row)
        return;
    json_add_u64(row, "count", h->count);
    json_add_u64(row, "min", h->min);
    json_add_number(row, "mean", h->mean);
    json_add_number(row, "stdev", h->stdev);
#define X(name, q) json_add_u64(row, #name, h->name);
    QUANTILES(X)
#undef X
    json_add_u64(row, "max", h->max);
    if (h->open) {
        json_add_u64(row, "unfinished", h->open);
        json_add_number(row, "known", h->known);
    }
}

/* A label comes from the network: its name is made valid text, which two may share. */
static void clean_tally(const struct tally *t, struct tally *clean)
{
    for (size_t i = 0; i < t->used; i++) {
        cJSON *holder = cJSON_CreateObject();

        if (holder && json_add_text(holder, "name", t->rows[i].name))
            tally_add(clean, json_text(holder, "name", ""), t->rows[i].count);
        cJSON_Delete(holder);
    }
}

static void add_tally(cJSON *o, const char *name, const struct tally *t)
{
    cJSON *rows = cJSON_AddObjectToObject(o, name);
    struct tally clean = {0};

    clean_tally(t, &clean);
    for (size_t i = 0; rows && i < clean.used; i++)
        if (clean.rows[i].count)
            json_add_u64(rows, clean.rows[i].name, clean.rows[i].count);
}

static void add_counters(cJSON *o, const char *name, const struct meter_counters *c)
{
    cJSON *row = cJSON_AddObjectToObject(o, name);

    if (!row)
        return;
#define X(name, unit, help) json_add_u64(row, #name, c->name);
    METER_COUNTERS(X)
#undef X
}

static bool place_present(const struct trial *t, enum place place)
{
    for (size_t i = 0; i < t->process_count; i++)
        if (t->processes[i].place == place && t->processes[i].ready)
            return true;
    return false;
}

static void add_totals(cJSON *trial, const struct trial *t)
{
    cJSON *o = cJSON_AddObjectToObject(trial, "totals");

    for (int p = 0; o && p < PLACE_COUNT; p++)
        if (place_present(t, (enum place)p))
            add_counters(o, place_name((enum place)p), &t->counters[p]);
}

static void add_signed(cJSON *o, const char *name, int64_t value)
{
    if (value < 0)
        cJSON_AddNullToObject(o, name);
    else
        json_add_u64(o, name, (uint64_t)value);
}

static void add_loss(cJSON *trial, const struct trial *t)
{
    const struct loss *l = &t->loss;
    cJSON *o;

    if (l->attempted < 0) {
        cJSON_AddNullToObject(trial, "loss");
        return;
    }
    o = cJSON_AddObjectToObject(trial, "loss");
    if (!o)
        return;
    add_signed(o, "attempted", l->attempted);
    add_signed(o, "refused", l->refused);
    add_signed(o, "accepted", l->accepted);
    add_signed(o, "due", l->due);
    add_signed(o, "received", l->received);
    add_signed(o, "lost", l->lost);
    add_signed(o, "receiver_overflow", l->overflow);
    add_signed(o, "receiver_overflow_least", l->overflow_least);
    add_signed(o, "unexplained", l->unexplained);
    add_signed(o, "unexplained_most", l->unexplained_most);
    add_signed(o, "late", l->late);
    add_signed(o, "duplicate", l->duplicate);
    add_signed(o, "out_of_order", l->out_of_order);
    add_signed(o, "foreign", l->foreign);
    json_add_number(o, "percent", t->metrics[METRIC_loss_percent]);
}

static void add_quantity(cJSON *o, const char *name, const struct trial *t, size_t offset)
{
    cJSON *row = cJSON_AddObjectToObject(o, name);
    struct second_summary s;

    trial_seconds(t, offset, &s);
    json_add_u64(row, "seconds", s.count);
    json_add_number(row, "mean", s.mean);
    json_add_number(row, "stdev", s.stdev);
    json_add_number(row, "max", s.max);
}

static void add_per_second(cJSON *trial, const struct trial *t)
{
    cJSON *o = cJSON_AddObjectToObject(trial, "per_second");
    struct second_summary s;

    trial_rates(t, offsetof(struct second, requests), &s);
    json_add_number(trial, "rate_step", s.count > 1 ? s.step_s : (double)NAN);
    if (!o)
        return;
    add_quantity(o, "throughput", t, offsetof(struct second, throughput_bytes));
    add_quantity(o, "received", t, offsetof(struct second, received_messages));
    add_quantity(o, "requests", t, offsetof(struct second, requests));
    add_quantity(o, "read_bytes", t, offsetof(struct second, read_bytes));
}

static void add_process(cJSON *array, const struct process *p)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *facts;

    if (!o)
        return;
    json_add_text(o, "role", place_name(p->place));
    json_add_u64(o, "index", p->index);
    json_add_u64(o, "pid", (uint64_t)p->pid);
    if (*p->endpoint)
        json_add_text(o, "endpoint", p->endpoint);
    json_add_text(o, "outcome",
                  p->reported || p->outcome ? outcome_name(p->outcome) : "not reported");
    json_add_text(o, "reason", p->reason);
    json_add_number(o, "cpu_user_s", (double)p->totals.use.cpu_user_us / 1e6);
    json_add_number(o, "cpu_system_s", (double)p->totals.use.cpu_system_us / 1e6);
    json_add_u64(o, "voluntary_switches", p->totals.use.voluntary_switches);
    json_add_u64(o, "involuntary_switches", p->totals.use.involuntary_switches);
    json_add_number(o, "run_wait_s", (double)p->totals.use.run_wait_us / 1e6);
    json_add_number(o, "clock_late_s", (double)p->totals.use.clock_late_us / 1e6);
    json_add_u64(o, "max_rss_bytes", p->totals.use.max_rss_bytes);
    facts = cJSON_AddObjectToObject(o, "facts");
    for (size_t i = 0; facts && i < p->fact_count; i++)
        json_add_text(facts, p->facts[i].name, p->facts[i].text);
    cJSON_AddItemToArray(array, o);
}

static void add_checks(cJSON *o, const struct trial *t)
{
    cJSON *array = cJSON_AddArrayToObject(o, "checks");

    for (size_t i = 0; array && i < t->check_count; i++) {
        cJSON *row = cJSON_CreateObject();

        if (!row)
            return;
        json_add_text(row, "name", t->checks[i].name);
        if (t->checks[i].verdict == VERDICT_UNKNOWN)
            cJSON_AddNullToObject(row, "ok");
        else
            cJSON_AddBoolToObject(row, "ok", t->checks[i].verdict == VERDICT_PASS);
        json_add_text(row, "detail", t->checks[i].detail);
        cJSON_AddItemToArray(array, row);
    }
}

static void add_other_hists(cJSON *trial, const struct trial *t)
{
    static const char *const names[] = {
#define X(name, help) #name,
        METER_HISTS(X)
#undef X
    };
    cJSON *o = cJSON_AddObjectToObject(trial, "histograms");

    for (int p = 0; o && p < PLACE_COUNT; p++)
        for (int h = 0; h < METER_HIST_COUNT; h++) {
            char name[48];

            if (!t->hists[p][h].count)
                continue;
            snprintf(name, sizeof(name), "%s_%s_ns", place_name((enum place)p), names[h]);
            add_hist(o, name, &t->hists[p][h]);
        }
}

static void add_metrics(cJSON *trial, const struct trial *t)
{
    cJSON *o = cJSON_AddObjectToObject(trial, "metrics");

    for (int i = 0; o && i < METRIC_COUNT; i++)
        json_add_number(o, metric_row((enum metric)i)->name, t->metrics[i]);
}

/* The metrics that are at least what they say (protocols/survival.h). */
static void add_bounds(cJSON *trial, const struct trial *t)
{
    cJSON *array = cJSON_AddArrayToObject(trial, "bounds");

    for (int i = 0; array && i < METRIC_COUNT; i++)
        if (t->is_bound[i])
            cJSON_AddItemToArray(array,
                                 cJSON_CreateString(metric_row((enum metric)i)->name));
}

static cJSON *trial_object(const struct trial *t)
{
    enum place place = t->scenario->family->latency_place;
    cJSON *o = cJSON_CreateObject();
    cJSON *processes;
    char when[32];

    if (!o)
        return NULL;
    json_time(t->started, when, sizeof(when));
    json_add_u64(o, "number", t->number);
    json_add_text(o, "started", when);
    json_add_text(o, "outcome", outcome_name(t->outcome));
    json_add_text(o, "reason", t->reason);
    json_add_number(o, "seconds", t->seconds);
    add_totals(o, t);
    add_hist(o, "latency_ns", &t->hists[place][METER_HIST_latency]);
    add_hist(o, "service_ns", &t->hists[PLACE_CLIENT][METER_HIST_service]);
    add_other_hists(o, t);
    add_loss(o, t);
    add_tally(o, "errors", &t->errors);
    add_tally(o, "status", &t->status);
    add_tally(o, "labels", &t->labels);
    add_per_second(o, t);
    add_metrics(o, t);
    add_bounds(o, t);
    processes = cJSON_AddArrayToObject(o, "processes");
    for (size_t i = 0; processes && i < t->process_count; i++)
        add_process(processes, &t->processes[i]);
    add_checks(o, t);
    return o;
}

static void add_statistics(cJSON *document, const struct run *r)
{
    cJSON *o = cJSON_AddObjectToObject(document, "statistics");

    for (int i = 0; o && i < METRIC_COUNT; i++) {
        struct statistics s;
        cJSON *row;

        run_statistics(r, (enum metric)i, &s);
        if (!s.n)
            continue;
        row = cJSON_AddObjectToObject(o, metric_row((enum metric)i)->name);
        json_add_text(row, "unit", metric_row((enum metric)i)->unit);
        json_add_u64(row, "n", s.n);
        json_add_number(row, "median", s.median);
        json_add_number(row, "mean", s.mean);
        json_add_number(row, "stdev", s.stdev);
        json_add_number(row, "min", s.min);
        json_add_number(row, "max", s.max);
        cJSON_AddBoolToObject(row, "bound", s.is_bound);
        json_add_interval(row, "ci95", s.ci95_low, s.ci95_high);
        json_add_text(row, "ci95_method", statistics_method(&s));
    }
}

/* Whether the figures may stand beside the run's, and every value that is another. */
static void add_differences(cJSON *o, const struct run *r)
{
    struct difference list[DIFFERENCES_MAX];
    size_t count = run_differences(r, list);
    cJSON *array = cJSON_AddArrayToObject(o, "differences");
    char why[512];

    cJSON_AddBoolToObject(o, "comparable", run_is_comparable(r, why, sizeof(why)));
    for (size_t i = 0; array && i < count; i++) {
        cJSON *row = cJSON_CreateObject();

        if (!row)
            return;
        json_add_text(row, "parameter", list[i].param->name);
        json_add_text(row, "kind", list[i].departs ? "departure" : "note");
        json_add_text(row, "here", list[i].here);
        json_add_text(row, "documented", list[i].documented);
        cJSON_AddItemToArray(array, row);
    }
}

static void add_reference(cJSON *document, const struct run *r)
{
    const struct scenario *s = r->scenario;
    cJSON *o = cJSON_AddObjectToObject(document, "reference");
    cJSON *array;

    if (!o)
        return;
    json_add_text(o, "source", s->documented);
    if (*s->documented)
        add_differences(o, r);
    array = cJSON_AddArrayToObject(o, "figures");
    for (const struct reference *ref = s->references; array && ref->metric; ref++) {
        cJSON *row = cJSON_CreateObject();

        if (!row)
            return;
        json_add_text(row, "metric", ref->metric);
        json_add_text(row, "where", ref->where);
        cJSON_AddItemToObject(row, "values",
                              cJSON_CreateDoubleArray(ref->values, (int)ref->count));
        cJSON_AddItemToArray(array, row);
    }
}

static cJSON *verdict_object(const struct threshold_verdict *v)
{
    const struct metric_row *row = metric_row(v->threshold.metric);
    cJSON *o = cJSON_CreateObject();

    if (!o)
        return NULL;
    json_add_text(o, "text", v->threshold.text);
    json_add_text(o, "metric", row->name);
    json_add_text(o, "unit", row->unit);
    json_add_text(o, "relation", relation_text(v->threshold.relation));
    json_add_number(o, "limit", v->threshold.limit);
    json_add_number(o, "value", v->value);
    cJSON_AddBoolToObject(o, "ok", v->ok);
    json_add_text(o, "detail", v->detail);
    return o;
}

void document_thresholds(cJSON *document, const struct run *r)
{
    cJSON *array = cJSON_AddArrayToObject(document, "thresholds");
    struct threshold_verdict list[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, list);

    for (size_t i = 0; array && i < n; i++)
        cJSON_AddItemToArray(array, verdict_object(&list[i]));
}

/* One step of the series: rates by place, latencies of the step. Gaps are null. */
static cJSON *slot_object(const struct series *s, size_t i)
{
    const struct series_slot *slot = &s->slots[i];
    cJSON *o = cJSON_CreateObject();

    if (!o)
        return NULL;
    json_add_number(o, "t", (double)(i * s->step_ns) / 1e9);
    for (int p = 0; p < PLACE_COUNT; p++) {
        const struct series_place *place = &slot->places[p];
        cJSON *row;

        if (!place->samples)
            continue;
        row = cJSON_AddObjectToObject(o, place_name((enum place)p));
        if (!row)
            break;
        json_add_number(row, "span", (double)place->span_ns / 1e9);
        json_add_u64(row, "sent_bytes", place->counters.sent_bytes);
        json_add_u64(row, "received_bytes", place->counters.received_bytes);
        json_add_u64(row, "sent_messages", place->counters.sent_messages);
        json_add_u64(row, "received_messages", place->counters.received_messages);
        json_add_u64(row, "succeeded", place->counters.succeeded);
        json_add_u64(row, "failed", place->counters.failed + place->counters.timed_out);
        json_add_u64(row, "expected", place->counters.expected);
        json_add_u64(row, "unique", place->counters.unique);
        json_add_u64(row, "overflow", place->counters.overflow);
        json_add_number(row, "cpu", series_cpu(place));
    }
    json_add_number(o, "p50_ns", series_latency_ns(slot, 0.5));
    json_add_number(o, "p99_ns", series_latency_ns(slot, 0.99));
    json_add_number(o, "max_ns", series_latency_ns(slot, 1));
    return o;
}

static void add_series(cJSON *document, const struct run *r)
{
    cJSON *o = cJSON_AddArrayToObject(document, "series");
    cJSON *marks;

    for (size_t i = 0; o && i < r->series->used; i++)
        cJSON_AddItemToArray(o, slot_object(r->series, i));
    json_add_number(document, "series_step", (double)r->series->step_ns / 1e9);
    marks = cJSON_AddArrayToObject(document, "marks");
    for (size_t i = 0; marks && i < r->series->mark_count; i++) {
        cJSON *row = cJSON_CreateObject();

        if (!row)
            return;
        json_add_number(row, "t", (double)r->series->marks[i].at_ns / 1e9);
        json_add_text(row, "text", r->series->marks[i].text);
        cJSON_AddItemToArray(marks, row);
    }
}

/* Between the marks of a run that was changed live, paused or marked. */
static void add_segments(cJSON *document, const struct series *s)
{
    cJSON *array = cJSON_AddArrayToObject(document, "segments");

    for (size_t i = 0; array && s->mark_count && i <= s->mark_count; i++) {
        cJSON *o = cJSON_CreateObject();
        const struct series_place *client, *server;
        struct series_segment part;

        if (!o)
            return;
        series_segment(s, i, &part);
        client = &part.sum.places[PLACE_CLIENT];
        server = &part.sum.places[PLACE_SERVER];
        json_add_number(o, "from", (double)part.from_ns / 1e9);
        json_add_number(o, "to", (double)part.to_ns / 1e9);
        json_add_text(o, "text", part.text);
        json_add_number(o, "started_per_second",
                        series_rate(client, client->counters.attempted));
        json_add_number(o, "succeeded_per_second",
                        series_rate(client, client->counters.succeeded));
        json_add_number(o, "server_received_bytes_per_second",
                        series_rate(server, server->counters.received_bytes));
        json_add_number(o, "client_received_bytes_per_second",
                        series_rate(client, client->counters.received_bytes));
        json_add_number(o, "p50_ns", series_latency_ns(&part.sum, 0.5));
        json_add_number(o, "p99_ns", series_latency_ns(&part.sum, 0.99));
        json_add_number(o, "max_ns", series_latency_ns(&part.sum, 1));
        cJSON_AddItemToArray(array, o);
    }
}

cJSON *document_new(const struct run *r)
{
    const struct trial *last = run_trial(r);
    cJSON *o = cJSON_CreateObject();
    cJSON *trials;
    char when[32];

    if (!o)
        return NULL;
    json_time(r->started, when, sizeof(when));
    json_add_text(o, "schema", DOCUMENT_SCHEMA);
    json_add_text(o, "scenario", r->scenario->name);
    json_add_text(o, "outcome", outcome_name(r->outcome));
    json_add_text(o, "reason", r->reason);
    json_add_text(o, "started", when);
    add_values(o, r);
    environment_add(&r->environment, o);
    trials = cJSON_AddArrayToObject(o, "trials");
    for (size_t i = 0; trials && i < r->trials_begun; i++)
        cJSON_AddItemToArray(trials, trial_object(r->trials[i]));
    add_statistics(o, r);
    document_thresholds(o, r);
    add_reference(o, r);
    if (last)
        add_checks(o, last);
    else
        cJSON_AddArrayToObject(o, "checks");
    add_series(o, r);
    add_segments(o, r->series);
    return o;
}
