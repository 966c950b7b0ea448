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

typedef void summarise(const struct trial *t, size_t offset, struct second_summary *s);

/* The intervals of all trials as one population; how many there were. */
static size_t fill_rates(struct load_row *row, const struct run *r, size_t offset,
                         summarise *of)
{
    double sum = 0, squares = 0, max = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->trials_begun; i++) {
        struct second_summary s;

        of(r->trials[i], offset, &s);
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
    row->own[LOAD_STDEV] = sqrt(fmax(0, squares / (double)n - pow(sum / (double)n, 2)));
    row->own[LOAD_MAX] = max;
    return n;
}

static void fill_intervals(struct load_table *table, const struct run *r)
{
    const size_t requests = offsetof(struct second, requests);
    const size_t bytes = offsetof(struct second, read_bytes);
    summarise *of = trial_seconds;
    size_t n = fill_rates(&table->rows[1], r, requests, of);

    if (n < 2) {
        of = trial_tenths;
        n = fill_rates(&table->rows[1], r, requests, of);
    }
    fill_rates(&table->rows[2], r, bytes, of);
    if (n < 2)
        snprintf(table->over, sizeof(table->over),
                 "Stdev and Max of the rates are over tenths of a second: this run has "
                 "not two.");
    else if (of == trial_tenths)
        snprintf(table->over, sizeof(table->over),
                 "Stdev and Max of the rates are over %zu tenths of a second: this run "
                 "has not two whole seconds.",
                 n);
    else
        snprintf(table->over, sizeof(table->over),
                 "Stdev and Max of the rates are over %zu whole seconds.", n);
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

static void fill_documented(struct load_row *row, size_t column,
                            const struct reference *references)
{
    const struct reference *ref =
        reference_find(references, metric_row(row->metrics[column])->name);

    row->documented[column] = ref ? reference_median(ref) : (double)NAN;
    snprintf(row->documented_text[column], sizeof(row->documented_text[column]), "-");
    if (ref)
        reference_text(ref, row->documented_text[column],
                       sizeof(row->documented_text[column]));
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
            fill_documented(row, k, r->scenario->references);
            table->is_documented |= isfinite(row->documented[k]);
        }
        run_statistics(r, row->metrics[LOAD_AVG], &own);
        row->own[LOAD_AVG] = own.mean;
    }
}

/* Bytes that a request reads, by the amount that a document has of them. */
static double documented_reply(const struct scenario *s)
{
    const struct reference *ref = reference_find(s->references, "read_bytes");
    struct options values = {0};
    double amount = 0;

    if (scenario_defaults(s, &values) == 0)
        amount = (double)options_number(&values, s->family->amount, 0);
    options_done(&values);
    return ref && amount > 0 ? reference_median(ref) / amount : (double)NAN;
}

void load_replies(const struct run *r, char *text, size_t size)
{
    double documented = documented_reply(r->scenario);
    double requests = 0, bytes = 0;

    text[0] = '\0';
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct meter_counters *c = &r->trials[i]->counters[PLACE_CLIENT];

        requests += (double)c->succeeded;
        bytes += (double)c->received_wire_bytes;
    }
    if (r->scenario->family->load && isfinite(documented) && requests > 0)
        snprintf(text, size,
                 "Bytes/Sec depends on the size of a reply: %.0f B here, %.0f B in the "
                 "document.",
                 bytes / requests, documented);
}

bool load_table(struct load_table *table, const struct run *r)
{
    if (!r->scenario->family->load || !r->first_ns || !r->trials_begun)
        return false;
    prepare(table, r);
    fill_latency(&table->rows[0], r);
    fill_intervals(table, r);
    fill_totals(table, r);
    load_replies(r, table->replies, sizeof(table->replies));
    return true;
}
