/* A comparison as JSON, "plimsoll.compare/1". Numbers are in the metrics' own units. */
#include <errno.h>
#include <math.h>

#include "engine/json.h"
#include "engine/report/compare_report.h"
#include "protocols/array.h"

static void add_side(cJSON *document, const char *key, const struct compare_side *side)
{
    cJSON *o = cJSON_AddObjectToObject(document, key);
    cJSON *runs = cJSON_AddArrayToObject(o, "runs");

    json_add_text(o, "name", side->name);
    for (size_t i = 0; i < side->count; i++) {
        const struct run *r = side->runs[i];
        cJSON *row = cJSON_CreateObject();
        char when[32];

        json_time(r->started, when, sizeof(when));
        if (*r->id)
            json_add_text(row, "id", r->id);
        else
            cJSON_AddNullToObject(row, "id");
        json_add_text(row, "scenario", r->scenario->name);
        json_add_text(row, "started", when);
        json_add_text(row, "outcome", outcome_name(r->outcome));
        json_add_u64(row, "trials", r->trials_begun);
        cJSON_AddItemToArray(runs, row);
    }
}

static void add_values(cJSON *row, const char *key, const struct compared *r, int side)
{
    const size_t room = NUMBER_OF(r->values[0]);
    cJSON *o = cJSON_AddObjectToObject(row, key);
    cJSON *values = cJSON_AddArrayToObject(o, "values");
    size_t n = side ? r->n_b : r->n_a;

    json_add_u64(o, "n", n);
    json_add_number(o, "median", side ? r->b : r->a);
    for (size_t i = 0; i < n && i < room; i++)
        cJSON_AddItemToArray(values, cJSON_CreateNumber(r->values[side][i]));
}

static cJSON *metric_object(const struct compared *r)
{
    cJSON *o = cJSON_CreateObject(), *part;

    json_add_text(o, "metric", metric_row(r->metric)->name);
    json_add_text(o, "unit", metric_row(r->metric)->unit);
    json_add_text(o, "better", metric_row(r->metric)->better > 0 ? "higher" : "lower");
    cJSON_AddBoolToObject(o, "headline", r->headline);
    add_values(o, "a", r, 0);
    add_values(o, "b", r, 1);
    part = cJSON_AddObjectToObject(o, "difference");
    json_add_number(part, "estimate", r->shift.estimate);
    json_add_interval(part, "ci95", r->shift.low, r->shift.high);
    part = cJSON_AddObjectToObject(o, "share_of_a");
    json_add_number(part, "estimate", r->share);
    json_add_interval(part, "ci95", r->share_low, r->share_high);
    json_add_number(o, "p", r->shift.p);
    json_add_number(o, "p_adjusted", r->p_adjusted);
    json_add_text(o, "verdict", evidence_name(r->evidence));
    json_add_text(o, "why", r->why);
    return o;
}

static void add_quantiles(cJSON *document, const struct comparison *c)
{
    cJSON *array = cJSON_AddArrayToObject(document, "latency");

    for (size_t i = 0; i < c->quantile_count; i++) {
        const struct compared_quantile *q = &c->quantiles[i];
        cJSON *o = cJSON_CreateObject();

        json_add_number(o, "quantile", q->q);
        json_add_u64(o, "a_ns", q->a_ns);
        json_add_u64(o, "b_ns", q->b_ns);
        json_add_number(o, "share_of_a",
                        q->a_ns ? (double)q->b_ns / (double)q->a_ns - 1 : (double)NAN);
        cJSON_AddItemToArray(array, o);
    }
}

static cJSON *make_document(const struct comparison *c)
{
    bool better = comparison_has(c, EVIDENCE_BETTER);
    bool worse = comparison_has(c, EVIDENCE_WORSE);
    cJSON *o = cJSON_CreateObject(), *array;
    char text[1024];

    json_add_text(o, "schema", "plimsoll.compare/1");
    json_add_text(o, "verdict",
                  better && worse ? "mixed"
                  : better        ? "better"
                  : worse         ? "worse"
                                  : "no evidence");
    compare_summary(c, text, sizeof(text));
    json_add_text(o, "summary", text);
    cJSON_AddBoolToObject(o, "paired", c->options.paired);
    json_add_number(o, "at_least", c->options.at_least);
    comparison_method(c, text, sizeof(text));
    json_add_text(o, "method", text);
    add_side(o, "a", &c->a);
    add_side(o, "b", &c->b);
    array = cJSON_AddArrayToObject(o, "metrics");
    for (size_t i = 0; i < c->count; i++)
        cJSON_AddItemToArray(array, metric_object(&c->rows[i]));
    add_quantiles(o, c);
    array = cJSON_AddArrayToObject(o, "warnings");
    for (size_t i = 0; i < c->warning_count; i++) {
        cJSON *holder = cJSON_CreateObject();

        /* json_add_text makes texts valid, and texts come from outside. */
        json_add_text(holder, "text", c->warnings[i]);
        cJSON_AddItemToArray(array, cJSON_DetachItemFromObject(holder, "text"));
        cJSON_Delete(holder);
    }
    return o;
}

int compare_write_json(FILE *f, const void *what)
{
    return json_write(f, make_document(what));
}
