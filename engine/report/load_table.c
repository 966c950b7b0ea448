#include "engine/report/load_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/statistics.h"
#include "engine/units.h"
#include "protocols/survival.h"

static const struct {
    const char *name;
    enum metric metrics[LOAD_COLUMNS];
} layout[LOAD_ROWS] = {
    {"Latency", {METRIC_latency_mean_ns, METRIC_latency_stdev_ns, METRIC_latency_max_ns}},
    {"Req/Sec",
     {METRIC_requests_per_second, METRIC_requests_per_second_stdev,
      METRIC_requests_per_second_max}},
    {"Bytes/Sec",
     {METRIC_bytes_per_second, METRIC_bytes_per_second_stdev,
      METRIC_bytes_per_second_max}},
};

bool load_table_tells(enum metric metric)
{
    return metric == METRIC_seconds ||
           (metric >= METRIC_requests_per_second && metric <= METRIC_latency_max_ns);
}

static double documented(const struct scenario *s, enum metric metric)
{
    struct statistics values;

    for (const struct reference *ref = s->references; ref->metric; ref++)
        if (metric_find(ref->metric) == (int)metric) {
            statistics_of(ref->values, ref->count, &values);
            return values.median;
        }
    return (double)NAN;
}

static void fill_latency(struct load_row *row, const struct run *r)
{
    struct hist_summary s;

    meter_latency(&s, r->pooled[PLACE_CLIENT]);
    if (!s.count && !s.open)
        return;
    row->own[LOAD_AVG] = s.mean;
    row->own[LOAD_STDEV] = s.stdev;
    row->own[LOAD_MAX] = (double)s.max;
    row->is_bound = survival_is_bound(&s, 1);
}

/* The whole seconds of all trials as one population. */
static size_t fill_seconds(struct load_row *row, const struct run *r, size_t offset)
{
    double sum = 0, squares = 0, max = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->trials_begun; i++) {
        struct second_summary s;

        trial_seconds(r->trials[i], offset, &s);
        if (!s.count)
            continue;
        n += s.count;
        sum += (double)s.count * s.mean;
        squares +=
            (double)s.count * (s.mean * s.mean + (s.count > 1 ? s.stdev * s.stdev : 0));
        max = fmax(max, s.max);
    }
    if (n < 2)
        return n;
    row->own[LOAD_AVG] = sum / (double)n;
    row->own[LOAD_STDEV] =
        sqrt(fmax(0, squares / (double)n - pow(row->own[LOAD_AVG], 2)));
    row->own[LOAD_MAX] = max;
    return n;
}

static void fill_totals(struct load_table *table, const struct run *r)
{
    double requests = 0, bytes = 0, seconds = 0;
    char cell[3][32];

    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct meter_counters *c = &r->trials[i]->counters[PLACE_CLIENT];

        requests += (double)c->attempted;
        bytes += (double)c->received_wire_bytes;
        seconds += isfinite(r->trials[i]->seconds) ? r->trials[i]->seconds : 0;
    }
    units_format_count(requests, cell[0], sizeof(cell[0]));
    units_format_duration(seconds * 1e9, cell[1], sizeof(cell[1]));
    units_format_bytes(bytes, cell[2], sizeof(cell[2]));
    snprintf(table->totals, sizeof(table->totals), "%s request%s in %s, %s read", cell[0],
             requests == 1 ? "" : "s", cell[1], cell[2]);
}

/* Nothing known but what the document says; the averages are those of the run. */
static void prepare(struct load_table *table, const struct run *r)
{
    memset(table, 0, sizeof(*table));
    for (size_t i = 0; i < LOAD_ROWS; i++) {
        struct load_row *row = &table->rows[i];
        struct statistics own;

        row->name = layout[i].name;
        for (size_t k = 0; k < LOAD_COLUMNS; k++) {
            row->metrics[k] = layout[i].metrics[k];
            row->own[k] = (double)NAN;
            row->documented[k] = documented(r->scenario, row->metrics[k]);
            table->is_documented |= isfinite(row->documented[k]);
        }
        run_statistics(r, row->metrics[LOAD_AVG], &own);
        row->own[LOAD_AVG] = own.mean;
    }
}

bool load_table(struct load_table *table, const struct run *r)
{
    if (!r->scenario->family->load || !r->first_ns || !r->trials_begun)
        return false;
    prepare(table, r);
    fill_latency(&table->rows[0], r);
    table->is_short =
        fill_seconds(&table->rows[1], r, offsetof(struct second, requests)) < 2;
    fill_seconds(&table->rows[2], r, offsetof(struct second, read_bytes));
    fill_totals(table, r);
    return true;
}
