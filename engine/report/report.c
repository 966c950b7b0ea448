#include "engine/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/report/load_table.h"
#include "engine/statistics.h"
#include "engine/threshold_verdict.h"
#include "engine/units.h"
#include "protocols/survival.h"

static void print_outcome(FILE *f, const struct run *r)
{
    const struct trial *t = run_trial(r);
    char verdict[160] = "";

    fprintf(f, "%s: %s%s%s\n", r->scenario->name, outcome_name(r->outcome),
            *r->reason ? ": " : "", r->reason);
    if (t)
        trial_bottleneck(t, verdict, sizeof(verdict));
    if (*verdict)
        fprintf(f, "%s\n", verdict);
    fputc('\n', f);
}

/* Whether the documented figures may stand beside the run's, and what is to be noted. */
static bool print_comparable(FILE *f, const struct run *r, const char *indent)
{
    char other[512], notes[512];
    bool comparable = run_is_comparable(r, other, sizeof(other));

    run_notes(r, notes, sizeof(notes));
    if (!comparable)
        fprintf(f, "%s%s\n", indent, other);
    if (*notes)
        fprintf(f, "%s%s\n", indent, notes);
    return comparable;
}

static void print_load_row(FILE *f, const struct load_row *row, bool documented)
{
    fprintf(f, "%-10s", row->name);
    for (size_t k = 0; k < LOAD_COLUMNS; k++) {
        char cell[32];

        metric_format_bound(row->metrics[k], row->own[k], row->is_bound, cell,
                            sizeof(cell));
        fprintf(f, " %11s", cell);
    }
    fprintf(f, "%*s", documented ? 12 : 0, "");
    for (size_t k = 0; documented && k < LOAD_COLUMNS; k++)
        fprintf(f, " %11s", row->documented_text[k]);
    fputc('\n', f);
}

/* The document's own table, and what it says beside this run's figures. */
static void print_load(FILE *f, const struct run *r, const struct load_table *t)
{
    fprintf(f, "%-10s %11s %11s %11s", "", "Avg", "Stdev", "Max");
    if (t->is_documented)
        fprintf(f, "    documented: %7s %11s %11s", "Avg", "Stdev", "Max");
    fputc('\n', f);
    for (size_t i = 0; i < LOAD_ROWS; i++)
        print_load_row(f, &t->rows[i], t->is_documented);
    fprintf(f, "\n%s\n", t->totals);
    if (t->is_documented) {
        fprintf(f, "documented: %s (elsewhere, on other hardware)\n",
                r->scenario->documented);
        print_comparable(f, r, "");
    }
    if (*t->replies)
        fprintf(f, "%s\n", t->replies);
    fprintf(f, "%s\n", t->over);
}

/* Of all trials together. What the latency is counted from is said with it. */
static void print_percentiles(FILE *f, const struct run *r)
{
    struct hist_summary s;
    char cell[32];

    meter_latency(&s, r->pooled[PLACE_CLIENT]);
    if (!s.count && !s.open)
        return;
    fprintf(f, "\nlatency, %s:\n ",
            run_is_paced(r)
                ? "from the moment at which each request was due (response time)"
                : "from the sending of each request (service time)");
#define X(name, q)                                             \
    units_format_duration((double)s.name, cell, sizeof(cell)); \
    fprintf(f, " p%.7g %s%s ", 100 * (q), survival_is_bound(&s, q) ? ">= " : "", cell);
    QUANTILES(X)
#undef X
    fputc('\n', f);
    if (survival_is_bound(&s, 1))
        fprintf(f, "  >=: %" PRIu64 " unfinished, which have waited that long at least\n",
                s.open);
    fputc('\n', f);
}

/* Metrics with a value, over the trials. */
static void print_statistics(FILE *f, const struct run *r, bool with_load)
{
    struct statistics s;
    char cell[6][32];

    fprintf(f, "%-28s %12s %12s %12s %12s  %s\n", "metric", "median", "mean", "stdev",
            "min", "max");
    for (int i = 0; i < METRIC_COUNT; i++) {
        enum metric m = (enum metric)i;

        if (with_load && r->trials_begun == 1 && load_table_tells(m))
            continue;
        run_statistics(r, m, &s);
        if (!s.n)
            continue;
        metric_format_bound(m, s.median, s.is_bound, cell[0], sizeof(cell[0]));
        metric_format_bound(m, s.mean, s.is_bound, cell[1], sizeof(cell[1]));
        metric_format(m, s.stdev, cell[2], sizeof(cell[2]));
        metric_format(m, s.min, cell[3], sizeof(cell[3]));
        metric_format_bound(m, s.max, s.is_bound, cell[4], sizeof(cell[4]));
        if (r->trials_begun == 1)
            fprintf(f, "%-28s %12s\n", metric_row(m)->name, cell[0]);
        else
            fprintf(f, "%-28s %12s %12s %12s %12s  %s\n", metric_row(m)->name, cell[0],
                    cell[1], cell[2], cell[3], cell[4]);
    }
}

/* The documented figures beside the run's own. */
static void print_reference(FILE *f, const struct run *r)
{
    const struct scenario *s = r->scenario;
    bool comparable;

    if (!*s->documented)
        return;
    fprintf(f, "\ndocumented elsewhere, on other hardware, with another runtime:\n  %s\n",
            s->documented);
    comparable = print_comparable(f, r, "  ");
    for (const struct reference *ref = s->references; ref->metric; ref++) {
        enum metric m = (enum metric)metric_find(ref->metric);
        double median = reference_median(ref);
        struct statistics own;
        char cell[2][32], list[80], ratio[32];

        run_statistics(r, m, &own);
        reference_text(ref, cell[0], sizeof(cell[0]));
        reference_list(ref, list, sizeof(list));
        metric_format(m, own.median, cell[1], sizeof(cell[1]));
        fprintf(f, "  %-26s %-8s %12s   this run %12s", ref->metric, ref->where, cell[0],
                cell[1]);
        metric_format_ratio(m, own.median / median, ratio, sizeof(ratio));
        if (comparable && own.n && median > 0)
            fprintf(f, "   %s", ratio);
        if (*list)
            fprintf(f, "\n  %-26s %-8s of %s", "", "", list);
        fputc('\n', f);
    }
}

static void print_trials(FILE *f, const struct run *r)
{
    if (r->trials_begun < 2)
        return;
    fputs("\ntrials:\n", f);
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];
        char cell[3][32];

        metric_format(METRIC_seconds, t->seconds, cell[0], sizeof(cell[0]));
        metric_format(METRIC_throughput, t->metrics[METRIC_throughput], cell[1],
                      sizeof(cell[1]));
        metric_format(METRIC_latency_p50_ns, t->metrics[METRIC_latency_p50_ns], cell[2],
                      sizeof(cell[2]));
        fprintf(f, "  %2u  %-10s %10s  %12s", t->number, outcome_name(t->outcome),
                cell[0], cell[1]);
        if (isfinite(t->metrics[METRIC_latency_p50_ns]))
            fprintf(f, "  p50 %s", cell[2]);
        fputc('\n', f);
    }
}

static void print_counts(FILE *f, const struct run *r)
{
    const struct trial *t = run_trial(r);

    if (!t || !t->start_ns)
        return;
    fputs("\ncounts of the last trial:\n", f);
    fprintf(f, "  %-10s %16s %16s %14s %14s\n", "", "sent", "received", "messages out",
            "messages in");
    for (int p = 0; p < PLACE_COUNT; p++) {
        const struct meter_counters *c = &t->counters[p];
        bool present = false;

        for (size_t i = 0; i < t->process_count; i++)
            present |= t->processes[i].place == (enum place)p && t->processes[i].ready;
        if (present)
            fprintf(f,
                    "  %-10s %14" PRIu64 " B %14" PRIu64 " B %14" PRIu64 " %14" PRIu64
                    "\n",
                    place_name((enum place)p), c->sent_bytes, c->received_bytes,
                    c->sent_messages, c->received_messages);
    }
}

static void print_tally(FILE *f, const char *title, const struct tally *t)
{
    if (!tally_sum(t))
        return;
    fprintf(f, "  %s:", title);
    for (size_t i = 0; i < t->used; i++)
        if (t->rows[i].count)
            fprintf(f, " %s %" PRIu64 ";", t->rows[i].name, t->rows[i].count);
    fputc('\n', f);
}

const struct report_time report_times[REPORT_TIME_COUNT] = {
    {PLACE_CLIENT, METER_HIST_service, "service time"},
    {PLACE_CLIENT, METER_HIST_spawn, "process start"},
    {PLACE_CLIENT, METER_HIST_connect, "connection set-up"},
    {PLACE_CLIENT, METER_HIST_lookup, "name lookup"},
    {PLACE_CLIENT, METER_HIST_exchange, "request itself"},
    {PLACE_CLIENT, METER_HIST_first_byte, "to the first byte"},
    {PLACE_ENDPOINT, METER_HIST_service, "within the endpoint"},
    {PLACE_ENDPOINT, METER_HIST_upstream, "endpoint to microservice"},
    {PLACE_SERVER, METER_HIST_service, "within the server"},
    {PLACE_CLIENT, METER_HIST_failure, "failed or timed out"},
    {PLACE_CLIENT, METER_HIST_pacing, "late by the schedule"},
    {PLACE_SERVER, METER_HIST_jitter, "jitter"},
};

static void print_times(FILE *f, const struct run *r)
{
    bool titled = false;

    for (size_t i = 0; i < REPORT_TIME_COUNT; i++) {
        const struct report_time *row = &report_times[i];
        const struct meter *m = r->pooled[row->place];
        struct hist_summary h;
        char cell[4][32];

        if (!m || !m->hists[row->hist] || !m->hists[row->hist]->count)
            continue;
        hist_summarise(&h, m->hists[row->hist]);
        units_format_duration(h.mean, cell[0], sizeof(cell[0]));
        units_format_duration((double)h.p50, cell[1], sizeof(cell[1]));
        units_format_duration((double)h.p99, cell[2], sizeof(cell[2]));
        units_format_duration((double)h.max, cell[3], sizeof(cell[3]));
        if (!titled)
            fprintf(f, "\n%-28s %12s %12s %12s %12s\n", "where the time went", "mean",
                    "p50", "p99", "max");
        titled = true;
        fprintf(f, "  %-26s %12s %12s %12s %12s\n", row->title, cell[0], cell[1], cell[2],
                cell[3]);
    }
}

static void print_loss(FILE *f, const struct trial *t)
{
    const struct loss *l = &t->loss;
    char percent[32], dropped[64], rest[64];
    char advice[200], sending[200];

    metric_format(METRIC_loss_percent, t->metrics[METRIC_loss_percent], percent,
                  sizeof(percent));
    if (l->attempted < 0)
        return;
    trial_sending(t, sending, sizeof(sending));
    if (*sending)
        fprintf(f, "\nsending: %s\n", sending);
    if (l->lost < 0) {
        fprintf(f,
                "\nloss: not known, the receiver did not report; %" PRId64
                " attempted, %" PRId64 " accepted by the kernel\n",
                l->attempted, l->accepted);
        return;
    }
    loss_range(l->overflow_least, l->overflow, dropped, sizeof(dropped));
    loss_range(l->unexplained, l->unexplained_most, rest, sizeof(rest));
    fprintf(f,
            "\nloss: %" PRId64 " of %" PRId64 " accepted%s (%s): %s"
            " dropped at the receiver's full buffer, %s unexplained\n"
            "  %" PRId64 " attempted, %" PRId64
            " refused by the sender's kernel; %" PRId64 " received once, %" PRId64
            " again, %" PRId64 " out of order, %" PRId64 " late, %" PRId64
            " of strangers\n",
            l->lost, l->due, l->due == l->accepted ? "" : ", for each receiver", percent,
            dropped, rest, l->attempted, l->refused, l->received, l->duplicate,
            l->out_of_order, l->late, l->foreign);
    trial_advice(t, advice, sizeof(advice));
    if (*advice)
        fprintf(f, "  to lose less: %s\n", advice);
}

static void print_checks(FILE *f, const struct trial *t)
{
    static const char *const words[] = {"pass", "FAIL", "note"};

    if (t->check_count)
        fputs("\nchecks:\n", f);
    for (size_t i = 0; i < t->check_count; i++)
        fprintf(f, "  %-7s %-26s %s\n", words[t->checks[i].verdict], t->checks[i].name,
                t->checks[i].detail);
}

static void print_thresholds(FILE *f, const struct run *r)
{
    struct threshold_verdict list[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, list);

    if (n)
        fputs("\nthresholds:\n", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "  %-7s %-26s %s\n", list[i].ok ? "pass" : "FAIL",
                list[i].threshold.text, list[i].detail);
}

/* Whether an earlier process of the same place has said the same. */
static bool is_said(const struct trial *t, size_t process, size_t fact)
{
    const struct process *p = &t->processes[process];

    for (size_t i = 0; i < process; i++) {
        const char *said = process_fact(&t->processes[i], p->facts[fact].name);

        if (t->processes[i].place == p->place && said &&
            strcmp(said, p->facts[fact].text) == 0)
            return true;
    }
    return false;
}

static void print_facts(FILE *f, const struct trial *t)
{
    bool titled = false;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];

        for (size_t k = 0; k < p->fact_count; k++) {
            if (is_said(t, i, k))
                continue;
            if (!titled)
                fputs("\nalso:\n", f);
            titled = true;
            fprintf(f, "  %-8s %-20s %s\n", place_name(p->place), p->facts[k].name,
                    p->facts[k].text);
        }
    }
}

/* A run that was changed while it went on is several runs in one. */
static void print_segments(FILE *f, const struct series *s)
{
    if (!s->mark_count)
        return;
    fprintf(f, "\n%-28s %10s %10s %12s %12s %12s\n", "segments", "from", "to", "done/s",
            "p50", "p99");
    for (size_t i = 0; i <= s->mark_count; i++) {
        const struct series_place *client;
        struct series_segment part;
        char rate[32], p50[32], p99[32];

        series_segment(s, i, &part);
        client = &part.sum.places[PLACE_CLIENT];
        units_format_rate(series_rate(client, client->counters.succeeded), rate,
                          sizeof(rate));
        units_format_duration(series_latency_ns(&part.sum, 0.5), p50, sizeof(p50));
        units_format_duration(series_latency_ns(&part.sum, 0.99), p99, sizeof(p99));
        fprintf(f, "  %-26s %8.1f s %8.1f s %12s %12s %12s\n", i ? part.text : "start",
                (double)part.from_ns / 1e9, (double)part.to_ns / 1e9, rate, p50, p99);
    }
}

int report_print(FILE *f, const struct run *r)
{
    const struct trial *t = run_trial(r);
    struct load_table load;
    bool with_load = load_table(&load, r);

    print_outcome(f, r);
    if (!r->first_ns) /* nothing was measured: the outcome says it all */
        return fflush(f) == EOF || ferror(f) ? -errno : 0;
    if (with_load) {
        print_load(f, r, &load);
        print_percentiles(f, r);
    }
    print_statistics(f, r, with_load);
    if (!with_load)
        print_reference(f, r);
    print_trials(f, r);
    print_segments(f, r->series);
    print_times(f, r);
    print_counts(f, r);
    if (t) {
        print_tally(f, "errors", &t->errors);
        print_tally(f, "status", &t->status);
        print_tally(f, "labels", &t->labels);
        print_loss(f, t);
        print_facts(f, t);
        print_checks(f, t);
    }
    print_thresholds(f, r);
    return fflush(f) == EOF || ferror(f) ? -errno : 0;
}
