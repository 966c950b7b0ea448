/*
 * The layout of `autocannon --json`, for scripts that read it. All trials together; the
 * statistics of requests and throughput are over whole seconds, as there (the average
 * is the total by the duration), or over tenths where there are not two. Latencies are
 * milliseconds with their fraction, of requests that ended well. `errors` are requests
 * without a reply, timeouts among them. What was not measured is null.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/json.h"
#include "engine/report/document.h"
#include "engine/report/export.h"
#include "engine/statistics.h"

/* X(percentile, name) */
/* clang-format off */
#define PERCENTILES(X)                                                                 \
    X(0.001, "p0_001") X(0.01, "p0_01") X(0.1, "p0_1") X(1, "p1") X(2.5, "p2_5")       \
    X(10, "p10") X(25, "p25") X(50, "p50") X(75, "p75") X(90, "p90") X(97.5, "p97_5")  \
    X(99, "p99") X(99.9, "p99_9") X(99.99, "p99_99") X(99.999, "p99_999")
/* clang-format on */

struct totals {
    struct meter_counters counters;
    struct tally status;
    double seconds;    /* of the trials */
    double received_s; /* what rates divide by */
};

static void add_totals(struct totals *sum, const struct run *r)
{
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];
        const struct meter_counters *c = &t->counters[PLACE_CLIENT];

#define X(name, unit, help) sum->counters.name += c->name;
        METER_COUNTERS(X)
#undef X
        tally_merge(&sum->status, &t->status);
        if (isfinite(t->seconds))
            sum->seconds += t->seconds;
        if (isfinite(t->spans.received[PLACE_CLIENT]))
            sum->received_s += t->spans.received[PLACE_CLIENT];
    }
}

/* Where the clients' requests went; "" when nobody was there. */
static const char *server_endpoint(const struct run *r)
{
    const struct trial *t = run_trial(r);

    for (size_t i = 0; t && i < t->process_count; i++)
        if (t->processes[i].place == scenario_facing(r->scenario))
            return t->processes[i].endpoint;
    return options_text(&r->values, OPTION_target, "");
}

/*
 * What the user gave, or the endpoint of what was started: "tcp:127.0.0.1:9000" as a URL,
 * "unix:/run/x" as autocannon's socketPath. Topper's own protocol has no URL.
 */
static void add_url(cJSON *o, const struct run *r)
{
    const char *endpoint = server_endpoint(r);
    const char *socket = options_text(&r->values, OPTION_socket_path, "");
    bool unix_socket = strncmp(endpoint, "unix:", 5) == 0;
    char url[600];

    if (r->scenario->family->url) {
        json_add_text(o, "url", options_text(&r->values, OPTION_url, ""));
    } else if (strcmp(r->scenario->roles[PLACE_CLIENT], "http-client") == 0 &&
               (unix_socket || strncmp(endpoint, "tcp:", 4) == 0)) {
        snprintf(url, sizeof(url), "http://%s%s",
                 unix_socket ? "localhost" : endpoint + 4,
                 options_text(&r->values, OPTION_path, "/"));
        json_add_text(o, "url", url);
        socket = unix_socket ? endpoint + 5 : "";
    } else {
        cJSON_AddNullToObject(o, "url");
    }
    if (*socket)
        json_add_text(o, "socketPath", socket);
}

static uint64_t count_class(const struct tally *status, char class)
{
    uint64_t n = 0;

    for (size_t i = 0; i < status->used; i++)
        if (status->rows[i].name[0] == class && strlen(status->rows[i].name) == 3)
            n += status->rows[i].count;
    return n;
}

static void add_errors(cJSON *o, const struct totals *sum)
{
    const struct meter_counters *c = &sum->counters;
    uint64_t bad = count_class(&sum->status, '4') + count_class(&sum->status, '5');
    cJSON *codes;

    json_add_u64(o, "errors", (c->failed > bad ? c->failed - bad : 0) + c->timed_out);
    json_add_u64(o, "timeouts", c->timed_out);
    json_add_u64(o, "mismatches", 0);
    json_add_u64(o, "non2xx", tally_sum(&sum->status) - count_class(&sum->status, '2'));
    json_add_u64(o, "resets", 0);
    for (const char *digit = "12345"; *digit; digit++) {
        const char name[] = {*digit, 'x', 'x', '\0'};

        json_add_u64(o, name, count_class(&sum->status, *digit));
    }
    codes = cJSON_AddObjectToObject(o, "statusCodeStats");
    for (size_t i = 0; codes && i < sum->status.used; i++)
        if (sum->status.rows[i].count)
            json_add_u64(cJSON_AddObjectToObject(codes, sum->status.rows[i].name),
                         "count", sum->status.rows[i].count);
}

static void add_latency(cJSON *document, const struct run *r)
{
    const struct meter *m = r->pooled[PLACE_CLIENT];
    const struct hist *h = m ? m->hists[METER_HIST_latency] : NULL;
    cJSON *o = cJSON_AddObjectToObject(document, "latency");
    bool known = h && h->count;

    if (!o)
        return;
#define MS(ns) (known ? (double)(ns) / 1e6 : (double)NAN)
    json_add_number(o, "average", known ? hist_mean(h) / 1e6 : (double)NAN);
    json_add_number(o, "mean", known ? hist_mean(h) / 1e6 : (double)NAN);
    json_add_number(o, "stddev", known ? hist_stdev(h) / 1e6 : (double)NAN);
    json_add_number(o, "min", MS(h->min));
    json_add_number(o, "max", MS(h->max));
#define X(p, name) json_add_number(o, name, MS(hist_quantile(h, (p) / 100.0)));
    PERCENTILES(X)
#undef X
#undef MS
    json_add_u64(o, "totalCount", known ? h->count : 0);
}

/* Rates a second: a list that grows. */
struct rates {
    double *values; /* owned */
    size_t count;
};

static void add_rate(struct rates *list, const struct second *step, size_t offset,
                     double per_second)
{
    double *grown = realloc(list->values, (list->count + 1) * sizeof(*grown));
    double value;

    if (!grown)
        return;
    memcpy(&value, (const char *)step + offset, sizeof(value));
    list->values = grown;
    list->values[list->count++] = value * per_second;
}

/* One quantity of every whole second of every trial, or tenth where there are not two. */
static struct rates rates_of(const struct run *r, size_t offset)
{
    struct rates list = {0};

    for (size_t i = 0; i < r->trials_begun; i++)
        for (size_t k = 0; k < r->trials[i]->second_count; k++)
            if (trial_second_counts(r->trials[i], k))
                add_rate(&list, &r->trials[i]->seconds_list[k], offset, 1);
    if (list.count > 1)
        return list;
    list.count = 0;
    for (size_t i = 0; i < r->trials_begun; i++)
        for (size_t k = 0; k < TRIAL_TENTHS; k++)
            if (trial_tenth_counts(r->trials[i], k))
                add_rate(&list, &r->trials[i]->tenths[k], offset, 10);
    return list;
}

static double quantile_of(const double *sorted, size_t n, double q)
{
    size_t rank = (size_t)ceil(q * (double)n);

    if (!n)
        return (double)NAN;
    return sorted[rank ? rank - 1 : 0];
}

/* Statistics of a quantity by the second, and its total. */
static cJSON *add_quantity(cJSON *document, const char *name, const struct run *r,
                           size_t offset, uint64_t total, double seconds)
{
    cJSON *o = cJSON_AddObjectToObject(document, name);
    struct rates rates = rates_of(r, offset);
    double average = seconds > 0 ? (double)total / seconds : (double)NAN;
    double sum = 0, squares = 0, mean;
    size_t n = rates.count;

    for (size_t i = 0; i < n; i++)
        sum += rates.values[i];
    mean = n ? sum / (double)n : (double)NAN;
    for (size_t i = 0; i < n; i++)
        squares += pow(rates.values[i] - mean, 2);
    statistics_sort(rates.values, n);
    json_add_number(o, "average", average);
    json_add_number(o, "mean", average);
    json_add_number(o, "stddev", n ? sqrt(squares / (double)n) : (double)NAN);
    json_add_number(o, "min", n ? rates.values[0] : (double)NAN);
    json_add_number(o, "max", n ? rates.values[n - 1] : (double)NAN);
    json_add_u64(o, "total", total);
#define X(p, name) json_add_number(o, name, quantile_of(rates.values, n, (p) / 100.0));
    PERCENTILES(X)
#undef X
    free(rates.values);
    return o;
}

static cJSON *make_document(const struct run *r)
{
    struct totals sum = {.seconds = 0};
    cJSON *o = cJSON_CreateObject();
    char when[32];

    if (!o)
        return NULL;
    add_totals(&sum, r);
    json_add_text(o, "title", r->scenario->name);
    add_url(o, r);
    json_add_u64(o, "connections", options_number(&r->values, OPTION_connections, 1));
    json_add_u64(o, "pipelining", options_number(&r->values, OPTION_pipelining, 1));
    json_add_u64(o, "workers", options_number(&r->values, OPTION_workers, 1));
    json_add_number(o, "duration", sum.seconds);
    json_time(r->started, when, sizeof(when));
    json_add_text(o, "start", when);
    json_time(r->started + (time_t)ceil(sum.seconds), when, sizeof(when));
    json_add_text(o, "finish", when);
    add_errors(o, &sum);
    add_latency(o, r);
    json_add_u64(add_quantity(o, "requests", r, offsetof(struct second, requests),
                              sum.counters.succeeded, sum.received_s),
                 "sent", sum.counters.attempted);
    add_quantity(o, "throughput", r, offsetof(struct second, read_bytes),
                 sum.counters.received_wire_bytes ? sum.counters.received_wire_bytes
                                                  : sum.counters.received_bytes,
                 sum.received_s);
    document_thresholds(o, r);
    return o;
}

int export_write_autocannon(FILE *f, const struct run *r)
{
    return json_write(f, make_document(r));
}
