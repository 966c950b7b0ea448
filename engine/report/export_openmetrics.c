/*
 * OpenMetrics text (the specification's version 1.0), for a textfile collector or a push
 * gateway. Base units as it asks for: seconds, bytes, ratios. Every metric of
 * engine/trial.h is a gauge with a sample for each trial that measured it, every counter
 * of protocols/meter.h a counter for each place, and the latency a summary.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/report/export.h"
#include "engine/report/quote.h"
#include "engine/threshold_verdict.h"
#include "protocols/survival.h"

/* What a unit of the metrics is called here, and what to divide by: a division by a
 * power of ten rounds once, and so prints the digits that were there. */
struct unit {
    const char *unit; /* in metric_row */
    const char *from; /* the part of the metric's name that tells the unit */
    const char *to;
    double divisor;
};

static const struct unit units[] = {
    {"s", "seconds", "duration_seconds", 1},
    {"ns", "_ns", "_seconds", 1e9},
    {"us", "_us_", "_seconds_", 1e6},
    {"%", "_percent", "_ratio", 1e2},
    {"B", "_bytes", "_bytes", 1},
    {"B/s", "bytes_per_second", "bytes_per_second", 1},
    {"B/s", "", "_bytes_per_second", 1},
    {"/s", "", "", 1},
};

static const struct unit *unit_of(const struct metric_row *row)
{
    const struct unit *u = units;

    while (strcmp(u->unit, row->unit) != 0 || !strstr(row->name, u->from))
        u++;
    return u;
}

/* "latency_p50_ns" -> "plimsoll_latency_p50_seconds" */
static void family_name(const struct metric_row *row, const struct unit *u, char *name,
                        size_t size)
{
    const char *at =
        *u->from ? strstr(row->name, u->from) : row->name + strlen(row->name);

    snprintf(name, size, "plimsoll_%.*s%s%s", (int)(at - row->name), row->name, u->to,
             at + strlen(u->from));
}

static void put_labels(FILE *f, const struct trial *t)
{
    fputs("{scenario=\"", f);
    quote_label(f, t->scenario->name);
    fprintf(f, "\",trial=\"%u\"", t->number);
}

static void put_gauge(FILE *f, const struct run *r, enum metric metric)
{
    const struct metric_row *row = metric_row(metric);
    const struct unit *u = unit_of(row);
    bool titled = false;
    char name[80];

    family_name(row, u, name, sizeof(name));
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];

        if (!isfinite(t->metrics[metric]))
            continue;
        if (!titled)
            fprintf(f, "# TYPE %s gauge\n# HELP %s %s\n", name, name, row->help);
        titled = true;
        fputs(name, f);
        put_labels(f, t);
        fputs(t->is_bound[metric] ? ",bound=\">=\"} " : "} ", f);
        quote_number(f, t->metrics[metric] / u->divisor);
        fputc('\n', f);
    }
}

static bool is_there(const struct trial *t, enum place place)
{
    for (size_t i = 0; i < t->process_count; i++)
        if (t->processes[i].place == place && t->processes[i].ready)
            return true;
    return false;
}

static void put_counter(FILE *f, const struct run *r, const char *name, const char *help,
                        size_t offset)
{
    fprintf(f, "# TYPE plimsoll_%s counter\n# HELP plimsoll_%s %s\n", name, name, help);
    for (size_t i = 0; i < r->trials_begun; i++)
        for (int p = 0; p < PLACE_COUNT; p++) {
            const struct trial *t = r->trials[i];
            const char *counters = (const char *)&t->counters[p];
            uint64_t value;

            if (!is_there(t, (enum place)p))
                continue;
            memcpy(&value, counters + offset, sizeof(value));
            fprintf(f, "plimsoll_%s_total", name);
            put_labels(f, t);
            fprintf(f, ",place=\"%s\"} %" PRIu64 "\n", place_name((enum place)p), value);
        }
}

static void put_tally(FILE *f, const struct run *r, const char *name, const char *help,
                      const char *label, size_t offset)
{
    fprintf(f, "# TYPE plimsoll_%s counter\n# HELP plimsoll_%s %s\n", name, name, help);
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];
        const void *at = (const char *)t + offset;
        const struct tally *tally = at;

        for (size_t k = 0; k < tally->used; k++) {
            if (!tally->rows[k].count)
                continue;
            fprintf(f, "plimsoll_%s_total", name);
            put_labels(f, t);
            fprintf(f, ",%s=\"", label);
            quote_label(f, tally->rows[k].name);
            fprintf(f, "\"} %" PRIu64 "\n", tally->rows[k].count);
        }
    }
}

/* What is only known to be at least that is said so by a label. */
static void put_quantile(FILE *f, const struct trial *t, double q, uint64_t ns,
                         bool is_bound)
{
    fputs("plimsoll_latency_seconds", f);
    put_labels(f, t);
    fputs(",quantile=\"", f);
    quote_number(f, q);
    fputs(is_bound ? "\",bound=\">=\"} " : "\"} ", f);
    quote_number(f, (double)ns / 1e9);
    fputc('\n', f);
}

static void put_latency(FILE *f, const struct run *r)
{
    enum place place = r->scenario->family->latency_place;

    fputs("# TYPE plimsoll_latency_seconds summary\n"
          "# HELP plimsoll_latency_seconds latency, that of what did not end included\n",
          f);
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];
        const struct hist_summary *h = &t->hists[place][METER_HIST_latency];

        if (!h->count && !h->open)
            continue;
#define X(name, q) put_quantile(f, t, q, h->name, survival_is_bound(h, q));
        QUANTILES(X)
#undef X
        put_quantile(f, t, 1, h->max, survival_is_bound(h, 1));
        fputs("plimsoll_latency_seconds_count", f);
        put_labels(f, t);
        fprintf(f, "} %" PRIu64 "\nplimsoll_latency_seconds_sum", h->count);
        put_labels(f, t);
        fputs("} ", f);
        quote_number(f, h->sum / 1e9);
        fputc('\n', f);
    }
}

static void put_thresholds(FILE *f, const struct run *r)
{
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, verdicts);

    if (n)
        fputs("# TYPE plimsoll_threshold_held gauge\n"
              "# HELP plimsoll_threshold_held 1 if the threshold held, 0 if not\n",
              f);
    for (size_t i = 0; i < n; i++) {
        fputs("plimsoll_threshold_held{scenario=\"", f);
        quote_label(f, r->scenario->name);
        fputs("\",threshold=\"", f);
        quote_label(f, verdicts[i].threshold.text);
        fprintf(f, "\"} %d\n", verdicts[i].ok);
    }
}

int export_write_openmetrics(FILE *f, const struct run *r)
{
    fputs("# TYPE plimsoll_run info\n# HELP plimsoll_run how the run ended\n"
          "plimsoll_run_info{scenario=\"",
          f);
    quote_label(f, r->scenario->name);
    fprintf(f, "\",outcome=\"%s\",version=\"%s\"} 1\n", outcome_name(r->outcome),
            PLIMSOLL_VERSION);
    put_thresholds(f, r);
    for (int m = 0; m < METRIC_COUNT; m++)
        put_gauge(f, r, (enum metric)m);
    put_latency(f, r);
#define X(name, unit, help) \
    put_counter(f, r, #name, help, offsetof(struct meter_counters, name));
    METER_COUNTERS(X)
#undef X
    put_tally(f, r, "errors", "failed operations by phase and error", "kind",
              offsetof(struct trial, errors));
    put_tally(f, r, "replies", "replies by status code", "status",
              offsetof(struct trial, status));
    put_tally(f, r, "label_messages", "messages received by label", "label",
              offsetof(struct trial, labels));
    fputs("# EOF\n", f);
    return 0;
}
