/* A shoot-out as JSON, "plimsoll.shootout/1". Numbers are in the metrics' own units. */
#include <errno.h>
#include <math.h>

#include "engine/json.h"
#include "engine/report/document.h"
#include "engine/report/shootout_report.h"
#include "engine/statistics.h"

static void add_values(cJSON *o, const struct contestant *c, enum metric metric)
{
    cJSON *row = cJSON_AddObjectToObject(o, metric_row(metric)->name), *array;
    double values[ROUNDS_MAX];
    size_t n = shootout_values(c, metric, values);
    struct statistics s;

    statistics_of(values, n, &s);
    json_add_text(row, "unit", metric_row(metric)->unit);
    json_add_u64(row, "n", n);
    json_add_number(row, "median", s.median);
    json_add_interval(row, "ci95", s.ci95_low, s.ci95_high);
    json_add_text(row, "ci95_method", statistics_method(&s));
    array = cJSON_AddArrayToObject(row, "values");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(array, cJSON_CreateNumber(values[i]));
}

static void add_documented(cJSON *o, const struct scenario *s)
{
    cJSON *array = cJSON_AddArrayToObject(o, "documented");

    for (const struct reference *ref = s->references; ref->metric; ref++) {
        cJSON *row = cJSON_CreateObject();

        json_add_text(row, "metric", ref->metric);
        json_add_text(row, "where", ref->where);
        cJSON_AddItemToObject(row, "values",
                              cJSON_CreateDoubleArray(ref->values, (int)ref->count));
        cJSON_AddItemToArray(array, row);
    }
}

static cJSON *contestant_object(const struct shootout *s, size_t index)
{
    const struct contestant *c = &s->contestants[index];
    cJSON *o = cJSON_CreateObject(), *metrics;
    enum metric list[METRIC_COUNT];
    size_t n = shootout_metrics(s, list);

    json_add_text(o, "name", c->name);
    json_add_text(o, "scenario", c->scenario->name);
    json_add_u64(o, "rounds", c->count);
    json_add_text(o, "problem", shootout_problem(c));
    metrics = cJSON_AddObjectToObject(o, "metrics");
    if (!shootout_has_size(s, index)) {
        for (size_t i = 0; i < n; i++)
            add_values(metrics, c, list[i]);
        if (index < s->documented_count)
            add_documented(o, c->scenario);
    } else {
        json_add_u64(o, "message_bytes",
                     options_number(&c->values, OPTION_message_size, 0));
        add_values(metrics, c, METRIC_requests_per_second);
        add_values(metrics, c, METRIC_throughput);
        add_values(metrics, c, METRIC_latency_p50_ns);
    }
    return o;
}

static cJSON *group_object(const struct shootout *s, const struct shootout_group *g)
{
    cJSON *o = cJSON_CreateObject(), *array;
    char text[320];

    json_add_text(o, "title", g->title);
    json_add_text(o, "metric", metric_row(g->metric)->name);
    if (g->size_bytes)
        json_add_u64(o, "message_bytes", g->size_bytes);
    array = cJSON_AddArrayToObject(o, "members");
    for (size_t m = 0; m < g->count; m++)
        cJSON_AddItemToArray(array,
                             cJSON_CreateString(s->contestants[g->members[m]].name));
    array = cJSON_AddArrayToObject(o, "fastest");
    for (size_t m = 0; m < g->count; m++)
        if (g->any && g->is_near[m])
            cJSON_AddItemToArray(array,
                                 cJSON_CreateString(s->contestants[g->members[m]].name));
    shootout_fastest(s, g, text, sizeof(text));
    json_add_text(o, "summary", text);
    return o;
}

static cJSON *crossing_object(const struct shootout *s, const struct shootout_crossing *c)
{
    const struct shootout_group *g = &s->groups[c->first];
    cJSON *o = cJSON_CreateObject();
    char text[200];

    json_add_text(o, "faster_below", shootout_member(s, g, c->below));
    json_add_text(o, "faster_above", shootout_member(s, g, c->above));
    json_add_number(o, "message_bytes", c->size_bytes);
    json_add_interval(o, "ci95", c->low, c->high);
    shootout_crossing_text(s, c, text, sizeof(text));
    json_add_text(o, "summary", text);
    return o;
}

static cJSON *step_object(const struct shootout *s, const struct shootout_step *step)
{
    cJSON *o = cJSON_CreateObject();
    double turns, calls;
    char text[400];

    json_add_text(o, "what", step->what);
    json_add_text(o, "from", s->contestants[step->from].name);
    json_add_text(o, "to", s->contestants[step->to].name);
    json_add_number(o, "faster_factor", exp(-step->shift.estimate));
    json_add_number(o, "ci95_low", exp(-step->shift.high));
    json_add_number(o, "ci95_high", exp(-step->shift.low));
    json_add_number(o, "documented_factor", shootout_documented_factor(s, step));
    if (shootout_sending(&s->contestants[step->to], &turns, &calls)) {
        json_add_number(o, "turns_per_message", turns);
        json_add_number(o, "calls_per_message", calls);
    }
    shootout_step_text(s, step, text, sizeof(text));
    json_add_text(o, "summary", text);
    return o;
}

static void add_environment(cJSON *document, const struct shootout *s)
{
    for (size_t i = 0; i < s->rounds.count; i++)
        if (s->contestants[i].count) {
            environment_add(&s->contestants[i].runs[0]->environment, document);
            return;
        }
    cJSON_AddNullToObject(document, "environment");
}

static cJSON *make_document(const struct shootout *s)
{
    static const char *const ends[] = {"completed", "interrupted", "time is up",
                                       "failed"};
    cJSON *o = cJSON_CreateObject(), *array;
    size_t crowded;
    char text[1024];

    json_add_text(o, "schema", "plimsoll.shootout/1");
    json_add_text(o, "shootout", s->name);
    json_add_text(o, "title", s->title);
    json_add_text(o, "end", ends[s->rounds.end]);
    json_add_u64(o, "rounds", s->rounds.rounds);
    json_add_u64(o, "seed", s->rounds.seed);
    cJSON_AddBoolToObject(o, "quick", s->quick);
    json_add_number(o, "seconds", s->seconds);
    json_add_u64(o, "runs", shootout_runs(s, &crowded));
    json_add_u64(o, "crowded_runs", crowded);
    shootout_method(s, text, sizeof(text));
    json_add_text(o, "method", text);
    add_environment(o, s);
    array = cJSON_AddArrayToObject(o, "contestants");
    for (size_t i = 0; i < s->rounds.count; i++)
        cJSON_AddItemToArray(array, contestant_object(s, i));
    array = cJSON_AddArrayToObject(o, "groups");
    for (size_t i = 0; i < s->group_count; i++)
        cJSON_AddItemToArray(array, group_object(s, &s->groups[i]));
    array = cJSON_AddArrayToObject(o, "crossings");
    for (size_t i = 0; i < s->crossing_count; i++)
        cJSON_AddItemToArray(array, crossing_object(s, &s->crossings[i]));
    array = cJSON_AddArrayToObject(o, "steps");
    for (size_t i = 0; i < s->step_count; i++)
        cJSON_AddItemToArray(array, step_object(s, &s->steps[i]));
    return o;
}

int shootout_write_json(FILE *f, const void *what)
{
    return json_write(f, make_document(what));
}
