#include "tui/screen_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/recording.h"
#include "engine/report/export.h"
#include "engine/report/load_table.h"
#include "engine/report/report.h"
#include "engine/run.h"
#include "engine/threshold.h"
#include "engine/units.h"
#include "tui/app.h"
#include "tui/bars.h"
#include "tui/figure.h"
#include "tui/last_runs.h"
#include "tui/lineedit.h"
#include "tui/metric_label.h"
#include "tui/page.h"
#include "tui/run_view.h"
#include "tui/screen_compare.h"
#include "tui/text.h"

#define CELL 32   /* bytes of a figure */
#define NAME 20   /* columns of a metric's name */
#define FIGURE 10 /* columns of a figure */
#define DOCUMENTED 11
#define RATIO 12     /* columns of "12.3 x less" */
#define LOAD_NAME 13 /* columns of a name in the table of the load */
#define SPAN 15      /* columns of "12.3 - 45.6 s" */
#define SENTENCE 512

struct summary {
    struct app *app; /* borrowed */
    size_t count, at;
    struct run *runs[RUN_QUEUE_MAX]; /* owned */
    struct last_runs saved;
    struct compare_request compare;
    int offset, offset_max;
    bool exporting;
    size_t format;
    struct lineedit path;
    struct run_request again;
};

/* Life ---------------------------------------------------------------------------- */

static void *summary_init(struct app *app, const void *argument)
{
    const struct summary_request *request = argument;
    struct summary *m = calloc(1, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->app = app;
    for (; m->count < request->count; m->count++) {
        m->runs[m->count] = *request->runs[m->count];
        *request->runs[m->count] = NULL;
    }
    m->at = m->count - 1;
    /* Without a store there is no run before this one; the history says why. */
    last_runs_read(&m->saved, NULL);
    return m;
}

static void summary_free(void *self)
{
    struct summary *m = self;

    for (size_t i = 0; i < m->count; i++)
        run_free(m->runs[i]);
    last_runs_done(&m->saved);
    run_free(m->compare.base);
    run_free(m->compare.other);
    free(m);
}

static const struct run *shown(const struct summary *m)
{
    return m->runs[m->at];
}

/*
 * The saved run of the same scenario before this one, of those that have something to
 * stand beside it; NULL when there is none.
 */
static const struct store_entry *run_before(const struct summary *m)
{
    const struct run *r = shown(m);

    for (size_t i = 0; i < m->saved.count; i++) {
        const struct store_entry *e = &m->saved.entries[i];

        if (e->problem[0] == '\0' && e->state == STORE_ENDED &&
            e->outcome != OUTCOME_FAILED && e->started <= r->started &&
            strcmp(e->id, r->id) != 0 && strcmp(e->scenario, r->scenario->name) == 0)
            return e;
    }
    return NULL;
}

/* Sections ------------------------------------------------------------------------ */

static enum paint outcome_paint(const struct run *r)
{
    switch (r->outcome) {
    case OUTCOME_COMPLETED:
        return PAINT_GOOD;
    case OUTCOME_STOPPED:
        return PAINT_WARN;
    case OUTCOME_EXHAUSTED:
        return r->scenario->exhausted_expected ? PAINT_GOOD : PAINT_WARN;
    case OUTCOME_FAILED:
        break;
    }
    return PAINT_BAD;
}

static void draw_outcome(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);
    struct style bold = style(outcome_paint(r));
    char verdict[200] = "", first[400];

    bold.attributes = ATTR_BOLD;
    snprintf(first, sizeof(first), "%s%s%s%s", outcome_name(r->outcome),
             *r->reason ? ": " : "", r->reason,
             r->outcome == OUTCOME_EXHAUSTED && r->scenario->exhausted_expected
                 ? " (this is the documented outcome)"
                 : "");
    page_text(p, bold, first);
    if (t != NULL)
        trial_bottleneck(t, verdict, sizeof(verdict));
    if (verdict[0] != '\0')
        page_text(p, style(PAINT_TEXT), verdict);
    page_gap(p);
}

static void draw_thresholds(struct page *p, const struct run *r)
{
    struct threshold_verdict list[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, list);
    const struct glyph_set *g = p->c->glyphs;

    if (n == 0)
        return;
    page_heading(p, "Thresholds");
    for (size_t i = 0; i < n; i++) {
        struct style s = style(list[i].ok ? PAINT_GOOD : PAINT_BAD);
        struct area row = page_rows(p, 0);
        char detail[SENTENCE];

        canvas_put(p->c, row.x, row.y, list[i].ok ? g->check : g->cross, s);
        canvas_text(p->c, row.x + 2, row.y, NAME - 3, s, list[i].threshold.text);
        figure_sentence(list[i].detail, detail, sizeof(detail));
        page_entry(p, NAME, s, "", detail);
    }
    page_gap(p);
}

/* How the run stands to what was documented: "7.8 x less". */
static void draw_ratio(struct canvas *c, struct area row, enum metric m, double ratio)
{
    bool better = metric_row(m)->better > 0 ? ratio >= 1 : ratio <= 1;
    char number[CELL], text[CELL + 8];

    if (!isfinite(ratio) || ratio <= 0)
        return;
    units_format_count(ratio < 1 ? 1 / ratio : ratio, number, CELL);
    snprintf(text, sizeof(text), "%s x %s", number, ratio < 1 ? "less" : "more");
    canvas_text(c, row.x, row.y, row.width, style(better ? PAINT_GOOD : PAINT_WARN),
                text);
}

/* Columns: this run, the documented one, how they stand, and the last run here. */
static void draw_reference(struct page *p, const struct run *r,
                           const struct reference *ref, const struct store_entry *last,
                           bool comparable)
{
    enum metric m = (enum metric)metric_find(ref->metric);
    struct statistics own, documented;
    char cell[3][CELL], name[64];
    struct area row = page_rows(p, 1), end;

    if (m == METRIC_COUNT)
        return;
    run_statistics(r, m, &own);
    statistics_of(ref->values, ref->count, &documented);
    figure_metric(m, own.n > 0 ? own.median : UNKNOWN, cell[0], CELL);
    figure_metric(m, documented.median, cell[1], CELL);
    figure_metric(m, last != NULL ? last->medians[m] : UNKNOWN, cell[2], CELL);
    metric_label(m, name, sizeof(name));
    end = row;
    area_take_left(&end, NAME + FIGURE + DOCUMENTED + 2);
    canvas_print(p->c, row.x, row.y, NAME - 1, style(PAINT_TEXT), "%s%s%s", name,
                 ref->where[0] ? " " : "", ref->where);
    canvas_text_right(p->c, row.x + NAME, row.y, FIGURE, style(PAINT_STRONG), cell[0]);
    canvas_text_right(p->c, row.x + NAME + FIGURE, row.y, FIGURE, style(PAINT_DIM),
                      cell[1]);
    if (last != NULL && end.width >= RATIO + FIGURE)
        canvas_text_right(p->c, end.x + RATIO, row.y, FIGURE, style(PAINT_TEXT), cell[2]);
    end.width = end.width > RATIO ? RATIO : end.width;
    if (comparable && own.n > 0 && documented.median > 0)
        draw_ratio(p->c, end, m, own.median / documented.median);
}

static void draw_load_row(struct page *p, const char *name, const struct load_row *load,
                          const double figures[LOAD_COLUMNS], struct style s)
{
    struct area row = page_rows(p, 1);

    canvas_text(p->c, row.x, row.y, LOAD_NAME - 1, style(PAINT_TEXT), name);
    for (int k = 0; k < LOAD_COLUMNS; k++) {
        char cell[CELL];

        figure_metric(load->metrics[k], figures[k], cell, CELL);
        canvas_text_right(p->c, row.x + LOAD_NAME + k * FIGURE, row.y, FIGURE, s, cell);
    }
}

static void draw_load_ratio(struct page *p, struct area row, const struct load_row *load)
{
    area_take_left(&row, LOAD_NAME + LOAD_COLUMNS * FIGURE + 2);
    if (load->documented[LOAD_AVG] > 0)
        draw_ratio(p->c, row, load->metrics[LOAD_AVG],
                   load->own[LOAD_AVG] / load->documented[LOAD_AVG]);
}

static void draw_load_last(struct page *p, const struct load_row *load,
                           const struct store_entry *last)
{
    double figures[LOAD_COLUMNS];

    for (size_t k = 0; k < LOAD_COLUMNS; k++)
        figures[k] = last->medians[load->metrics[k]];
    draw_load_row(p, "  last run", load, figures, style(PAINT_DIM));
}

/* The table that the document has, with its figures below the run's own. */
static void draw_load(struct page *p, const struct load_table *t,
                      const struct store_entry *last, bool comparable)
{
    static const char *const titles[LOAD_COLUMNS] = {"Avg", "Stdev", "Max"};
    struct area row;

    page_heading(p, t->totals);
    row = page_rows(p, 1);
    for (int k = 0; k < LOAD_COLUMNS; k++)
        canvas_text_right(p->c, row.x + LOAD_NAME + k * FIGURE, row.y, FIGURE,
                          style(PAINT_DIM), titles[k]);
    for (size_t i = 0; i < LOAD_ROWS; i++) {
        const struct load_row *load = &t->rows[i];

        row = page_rows(p, 0);
        draw_load_row(p, load->name, load, load->own, style(PAINT_STRONG));
        if (comparable)
            draw_load_ratio(p, row, load);
        if (t->is_documented)
            draw_load_row(p, "  documented", load, load->documented, style(PAINT_DIM));
        if (last != NULL)
            draw_load_last(p, load, last);
    }
    if (t->is_short)
        page_text(p, style(PAINT_DIM),
                  "Stdev and Max of the rates are over whole seconds: this run has not "
                  "two.");
    page_gap(p);
}

/* The documented figures in a list: those that no table has shown. */
static void draw_references(struct page *p, const struct run *r,
                            const struct store_entry *last, bool comparable)
{
    struct area row;

    if (r->scenario->references[0].metric == NULL)
        return;
    row = page_rows(p, 1);
    canvas_text_right(p->c, row.x + NAME, row.y, FIGURE, style(PAINT_DIM), "this run");
    canvas_text_right(p->c, row.x + NAME + FIGURE, row.y, DOCUMENTED, style(PAINT_DIM),
                      "documented");
    if (last != NULL && row.width >= NAME + 2 * FIGURE + DOCUMENTED + 2 + RATIO)
        canvas_text_right(p->c, row.x + NAME + FIGURE + DOCUMENTED + 2 + RATIO, row.y,
                          FIGURE, style(PAINT_DIM), "last run");
    for (const struct reference *ref = r->scenario->references; ref->metric != NULL;
         ref++)
        draw_reference(p, r, ref, last, comparable);
}

static void draw_documented(struct page *p, const struct run *r,
                            const struct store_entry *last)
{
    struct load_table load;
    char why[512];
    bool comparable = run_is_comparable(r, why, sizeof(why));
    bool with_load = load_table(&load, r);

    if (with_load)
        draw_load(p, &load, last, comparable);
    if (r->scenario->documented == NULL || r->scenario->documented[0] == '\0')
        return;
    page_heading(p, "Beside the documented experiment");
    page_text(p, style(PAINT_DIM), r->scenario->documented);
    page_text(p, style(PAINT_DIM),
              "Documented elsewhere, on other hardware, with another runtime.");
    if (!comparable)
        page_text(p, style(PAINT_WARN), why);
    if (!with_load || !load.is_documented)
        draw_references(p, r, last, comparable);
    page_gap(p);
}

/* The columns beside the median, those that fit: stdev, min, max, the interval. */
static void draw_spread(struct page *p, struct area row, const char *const cells[4],
                        struct style s)
{
    static const int widths[] = {FIGURE, FIGURE, FIGURE, 2 * FIGURE + 4};
    int x = row.x + NAME + FIGURE;

    for (size_t i = 0; i < 4; i++) {
        if (x + widths[i] <= row.x + row.width)
            canvas_text_right(p->c, x, row.y, widths[i], s, cells[i]);
        x += widths[i];
    }
}

static void draw_statistics_row(struct page *p, const struct run *r, enum metric m)
{
    struct statistics s;
    struct area row;
    char cell[6][CELL], interval[2 * CELL + 8], name[64];
    const char *spread[4] = {cell[1], cell[2], cell[3], interval};

    run_statistics(r, m, &s);
    if (s.n == 0)
        return;
    row = page_rows(p, 1);
    metric_label(m, name, sizeof(name));
    figure_metric(m, s.median, cell[0], CELL);
    figure_metric(m, s.stdev, cell[1], CELL);
    figure_metric(m, s.min, cell[2], CELL);
    figure_metric(m, s.max, cell[3], CELL);
    figure_metric(m, s.ci95_low, cell[4], CELL);
    figure_metric(m, s.ci95_high, cell[5], CELL);
    snprintf(interval, sizeof(interval), "%s \xe2\x80\xa6 %s", cell[4], cell[5]);
    canvas_text(p->c, row.x, row.y, NAME - 1, style(PAINT_TEXT), name);
    canvas_text_right(p->c, row.x + NAME, row.y, FIGURE, style(PAINT_STRONG), cell[0]);
    if (s.n > 1)
        draw_spread(p, row, spread, style(PAINT_DIM));
}

static void draw_statistics(struct page *p, const struct run *r)
{
    static const char *const titles[] = {"stdev", "min", "max", "95 % interval"};
    struct load_table load;
    bool is_told = r->trials_begun == 1 && load_table(&load, r);
    struct area row;

    page_heading(p, r->trials_begun > 1 ? "Over the trials" : "Measured");
    if (r->trials_begun > 1) {
        row = page_rows(p, 1);
        canvas_text_right(p->c, row.x + NAME, row.y, FIGURE, style(PAINT_DIM), "median");
        draw_spread(p, row, titles, style(PAINT_DIM));
    }
    for (int m = 0; m < METRIC_COUNT; m++)
        if (!is_told || !load_table_tells((enum metric)m))
            draw_statistics_row(p, r, (enum metric)m);
    page_gap(p);
}

/* Trials are told apart by the time each took. */
static void draw_trials(struct page *p, const struct run *r)
{
    double longest = 0;

    if (r->trials_begun < 2)
        return;
    for (size_t i = 0; i < r->trials_begun; i++)
        longest = fmax(longest, r->trials[i]->seconds);
    page_heading(p, "Trials");
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];
        struct area row = page_rows(p, 1);
        char seconds[CELL];

        figure_metric(METRIC_seconds, t->seconds, seconds, CELL);
        canvas_print(p->c, row.x, row.y, 16, style(PAINT_TEXT), "%3u %s", t->number,
                     outcome_name(t->outcome));
        canvas_bar(p->c, row.x + 16, row.y, 24, longest > 0 ? t->seconds / longest : 0,
                   style(PAINT_SERIES_1));
        canvas_text_right(p->c, row.x + 40, row.y, 11, style(PAINT_STRONG), seconds);
        if (t->reason[0] != '\0')
            canvas_text(p->c, row.x + 53, row.y, row.width - 53, style(PAINT_WARN),
                        t->reason);
    }
    page_gap(p);
}

static const struct hist *pooled(const struct run *r, enum place place,
                                 enum meter_hist which)
{
    const struct meter *m = r->pooled[place];
    const struct hist *h = m != NULL ? m->hists[which] : NULL;

    return h != NULL && h->count > 0 ? h : NULL;
}

static void draw_spectrum(struct page *p, const struct run *r)
{
    static const struct {
        const char *label;
        double q;
        enum paint paint;
    } rows[] = {
        {"p50", 0.5, PAINT_P50},     {"p75", 0.75, PAINT_P50},
        {"p90", 0.9, PAINT_P90},     {"p99", 0.99, PAINT_P99},
        {"p99.9", 0.999, PAINT_P99}, {"p99.99", 0.9999, PAINT_MAX},
        {"max", 1, PAINT_MAX},
    };
    const struct hist *h =
        pooled(r, r->scenario->family->latency_place, METER_HIST_latency);
    struct bar bars[7];
    char figures[7][CELL], heading[64];
    double low;

    /* The time of a transfer is told as such: its few trials have no quantiles. */
    if (h == NULL || !r->scenario->family->operations)
        return;
    snprintf(heading, sizeof(heading), "Latency, %s", run_view_latency_origin(r));
    page_heading(p, heading);
    low = log10(fmax(1, (double)h->min)) - 0.3;
    for (size_t i = 0; i < 7; i++) {
        double ns = rows[i].q < 1 ? (double)hist_quantile(h, rows[i].q) : (double)h->max;

        figure_duration(ns, figures[i], CELL);
        /* Bars on a log scale: the spectrum spans decades. */
        bars[i] = (struct bar){rows[i].label, figures[i], log10(fmax(1, ns)) - low,
                               rows[i].paint};
    }
    bars_draw(p->c, page_rows(p, 7), bars, 7, 0);
    page_gap(p);
}

static void draw_times(struct page *p, const struct run *r)
{
    struct bar bars[REPORT_TIME_COUNT];
    char figures[REPORT_TIME_COUNT][2 * CELL + 8];
    size_t n = 0;

    for (size_t i = 0; i < REPORT_TIME_COUNT; i++) {
        const struct report_time *row = &report_times[i];
        const struct hist *h = pooled(r, row->place, row->hist);
        char mean[CELL], p99[CELL];

        if (h == NULL)
            continue;
        figure_duration(hist_mean(h), mean, CELL);
        figure_duration((double)hist_quantile(h, 0.99), p99, CELL);
        if (p->area.width >= 56)
            snprintf(figures[n], sizeof(figures[n]), "%s  p99 %s", mean, p99);
        else
            snprintf(figures[n], sizeof(figures[n]), "%s", mean);
        bars[n] = (struct bar){row->title, figures[n], hist_mean(h), PAINT_SERIES_5};
        n++;
    }
    if (n == 0)
        return;
    page_heading(p, "Where the time went, means");
    bars_draw(p->c, page_rows(p, (int)n), bars, n, 0);
    page_gap(p);
}

static void loss_row(struct page *p, const char *name, int64_t count, int64_t of,
                     enum paint paint)
{
    struct area row = page_rows(p, 1);
    char text[CELL];

    canvas_text(p->c, row.x, row.y, 30, style(PAINT_TEXT), name);
    snprintf(text, sizeof(text), "%" PRId64, count);
    canvas_text_right(p->c, row.x + 27, row.y, 12, style(PAINT_STRONG),
                      count < 0 ? "-" : text);
    if (count >= 0 && of > 0 && row.width > 62)
        canvas_bar(p->c, row.x + 41, row.y, row.width - 41, (double)count / (double)of,
                   style(paint));
}

/* What to do about the loss. */
static void draw_advice(struct page *p, const struct trial *t)
{
    char advice[200], text[240];

    trial_advice(t, advice, sizeof(advice));
    if (advice[0] == '\0')
        return;
    snprintf(text, sizeof(text), "To lose less: %s.", advice);
    page_text(p, style(PAINT_WARN), text);
}

static void draw_loss(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);
    const struct loss *l = t != NULL ? &t->loss : NULL;
    char heading[96];

    if (l == NULL || l->attempted < 0 || !r->scenario->family->datagrams)
        return;
    if (l->lost < 0) {
        page_heading(p, "Loss: not known, the receiver did not report");
    } else if (l->accepted == 0) {
        page_heading(p, "Loss: not known, nothing was sent");
    } else {
        snprintf(heading, sizeof(heading), "Loss: %" PRId64 " of %" PRId64 " (%.3f %%)%s",
                 l->lost, l->accepted, t->metrics[METRIC_loss_percent],
                 r->trials_begun > 1 ? ", last trial" : "");
        page_heading(p, heading);
    }
    loss_row(p, "attempted", l->attempted, l->attempted, PAINT_UP);
    loss_row(p, "refused by sender's kernel", l->refused, l->attempted, PAINT_DOWN);
    loss_row(p, "accepted", l->accepted, l->attempted, PAINT_UP);
    loss_row(p, "received, each once", l->received, l->attempted, PAINT_GOOD);
    loss_row(p, "lost: receive buffer full", l->overflow, l->attempted, PAINT_MAX);
    loss_row(p, "lost: unexplained", l->unexplained, l->attempted, PAINT_P99);
    loss_row(p, "late", l->late, l->attempted, PAINT_DIM);
    loss_row(p, "duplicate", l->duplicate, l->attempted, PAINT_DIM);
    loss_row(p, "out of order", l->out_of_order, l->attempted, PAINT_DIM);
    draw_advice(p, t);
    page_gap(p);
}

static void draw_tally(struct page *p, const char *title, const struct tally *t)
{
    char text[1024];
    size_t used = 0;

    if (tally_sum(t) == 0)
        return;
    for (size_t i = 0; i < t->used && used + TALLY_NAME_MAX + 24 < sizeof(text); i++)
        if (t->rows[i].count > 0)
            used +=
                (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %" PRIu64,
                                 used > 0 ? ", " : "", t->rows[i].name, t->rows[i].count);
    page_entry(p, 10, style(PAINT_DIM), title, text);
}

static void draw_counts(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);

    if (t == NULL)
        return;
    page_heading(p, r->trials_begun > 1 ? "Counts of the last trial" : "Counts");
    for (int place = 0; place < PLACE_COUNT; place++) {
        const struct meter_counters *n = &t->counters[place];
        char sent[CELL], received[CELL], text[160];

        if (r->scenario->roles[place] == NULL)
            continue;
        units_format_bytes((double)n->sent_bytes, sent, CELL);
        units_format_bytes((double)n->received_bytes, received, CELL);
        snprintf(text, sizeof(text),
                 "sent %s, received %s; %" PRIu64 " messages out, %" PRIu64 " in", sent,
                 received, n->sent_messages, n->received_messages);
        page_entry(p, 10, style(PAINT_DIM), place_name((enum place)place), text);
    }
    draw_tally(p, "errors", &t->errors);
    draw_tally(p, "status", &t->status);
    draw_tally(p, "labels", &t->labels);
    page_gap(p);
}

static void draw_checks(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);

    if (t == NULL || t->check_count == 0)
        return;
    page_heading(p, "Can these figures be believed?");
    for (size_t i = 0; i < t->check_count; i++) {
        const struct check *check = &t->checks[i];
        const struct glyph_set *g = p->c->glyphs;
        uint32_t glyph = check->verdict == VERDICT_PASS   ? g->check
                         : check->verdict == VERDICT_FAIL ? g->cross
                                                          : g->unknown;
        enum paint paint = check->verdict == VERDICT_PASS   ? PAINT_GOOD
                           : check->verdict == VERDICT_FAIL ? PAINT_BAD
                                                            : PAINT_UNKNOWN;
        struct area row = page_rows(p, 1);
        char detail[SENTENCE];

        figure_sentence(check->detail, detail, sizeof(detail));
        canvas_put(p->c, row.x, row.y, glyph, style(paint));
        canvas_text(p->c, row.x + 2, row.y, row.width - 2, style(paint), check->name);
        page_entry(p, 2, style(PAINT_DIM), "", detail);
    }
    page_gap(p);
}

/* One of the parts between marks. */
static void draw_segment(struct page *p, const struct series *s, size_t i)
{
    struct area row = page_rows(p, 1);
    const struct series_place *client;
    struct series_segment part;
    char rate[CELL], p50[CELL], p99[CELL], span[CELL];
    int x = row.x + NAME;

    series_segment(s, i, &part);
    client = &part.sum.places[PLACE_CLIENT];
    units_format_count(round(series_rate(client, client->counters.succeeded)), rate,
                       CELL);
    figure_duration(series_latency_ns(&part.sum, 0.5), p50, CELL);
    figure_duration(series_latency_ns(&part.sum, 0.99), p99, CELL);
    snprintf(span, sizeof(span), "%.1f \xe2\x80\x93 %.1f s", (double)part.from_ns / 1e9,
             (double)part.to_ns / 1e9);
    canvas_text(p->c, row.x, row.y, NAME - 1, style(PAINT_TEXT),
                i > 0 ? part.text : "start");
    canvas_text_right(p->c, x, row.y, SPAN, style(PAINT_DIM), span);
    canvas_text_right(p->c, x + SPAN, row.y, FIGURE, style(PAINT_STRONG), rate);
    canvas_text_right(p->c, x + SPAN + FIGURE, row.y, FIGURE, style(PAINT_STRONG), p50);
    canvas_text_right(p->c, x + SPAN + 2 * FIGURE, row.y, FIGURE, style(PAINT_STRONG),
                      p99);
}

/* A run that was changed while it went on is several runs in one. */
static void draw_segments(struct page *p, const struct series *s)
{
    static const char *const titles[] = {"done/s", "p50", "p99"};
    struct area row;

    if (s == NULL || s->mark_count == 0)
        return;
    page_heading(p, "Between the marks");
    row = page_rows(p, 1);
    for (int i = 0; i < 3; i++)
        canvas_text_right(p->c, row.x + NAME + SPAN + i * FIGURE, row.y, FIGURE,
                          style(PAINT_DIM), titles[i]);
    for (size_t i = 0; i <= s->mark_count; i++)
        draw_segment(p, s, i);
    page_gap(p);
}

/* Drawing ------------------------------------------------------------------------- */

/* Whether a load was begun at all; if not the outcome says it all. */
static bool has_measured(const struct run *r)
{
    return r->first_ns != 0;
}

static void draw_left(struct page *p, const struct summary *m)
{
    const struct run *r = shown(m);

    draw_outcome(p, r);
    if (!has_measured(r)) {
        page_text(
            p, style(PAINT_TEXT),
            "Nothing was measured. Back among the scenarios e edits the values, and "
            "L shows what this machine lacks; r tries the same again.");
        return;
    }
    draw_thresholds(p, r);
    draw_documented(p, r, run_before(m));
    draw_trials(p, r);
    draw_segments(p, r->series);
    draw_statistics(p, r);
}

static void draw_right(struct page *p, const struct run *r)
{
    draw_spectrum(p, r);
    draw_times(p, r);
    draw_loss(p, r);
    draw_checks(p, r);
    draw_counts(p, r);
}

static struct area padded_box(struct canvas *c, struct area a, const char *title,
                              bool hot)
{
    canvas_box(c, a, title, hot);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    return a;
}

static int draw_two(struct summary *m, struct canvas *c, struct area a)
{
    struct area left = area_take_left(&a, a.width * 58 / 100);
    struct page p =
        page_begin(c, padded_box(c, left, shown(m)->scenario->name, true), m->offset);
    int over_left, over_right;

    draw_left(&p, m);
    over_left = page_end(&p);
    p = page_begin(c, padded_box(c, a, "in detail", false), m->offset);
    draw_right(&p, shown(m));
    over_right = page_end(&p);
    return over_left > over_right ? over_left : over_right;
}

static int draw_one(struct summary *m, struct canvas *c, struct area a)
{
    struct page p =
        page_begin(c, padded_box(c, a, shown(m)->scenario->name, true), m->offset);

    draw_left(&p, m);
    if (has_measured(shown(m)))
        draw_right(&p, shown(m));
    return page_end(&p);
}

static void draw_export(const struct summary *m, struct canvas *c, struct area row)
{
    const struct export_format *f = export_table()[m->format];
    int x = row.x + 1;

    canvas_fill(c, row, ' ', style(PAINT_TEXT));
    x += canvas_print(c, x, row.y, row.width - 2, style(PAINT_ACCENT),
                      "export as %s to: ", f->name);
    lineedit_draw(&m->path, c, x, row.y, row.x + row.width - x - 1, style(PAINT_STRONG),
                  true);
}

static void summary_draw(void *self, struct canvas *c, struct area a)
{
    struct summary *m = self;
    struct area prompt = area_take_bottom(&a, m->exporting ? 1 : 0);

    m->offset_max =
        a.width >= 116 && has_measured(shown(m)) ? draw_two(m, c, a) : draw_one(m, c, a);
    m->offset = page_scroll(m->offset, m->offset_max, PRESS_NONE);
    if (prompt.height > 0)
        draw_export(m, c, prompt);
}

static void summary_header(void *self, struct canvas *c, struct area a)
{
    const struct summary *m = self;
    char text[120] = "";

    if (m->count > 1)
        snprintf(text, sizeof(text), "run %zu of %zu: %s", m->at + 1, m->count,
                 shown(m)->scenario->name);
    canvas_text_right(c, a.x, a.y, a.width, style_on(PAINT_HEADER, PAINT_BAR), text);
}

/* Keys ---------------------------------------------------------------------------- */

static void go_back(void *self, uint32_t press)
{
    struct summary *m = self;

    (void)press;
    app_pop(m->app);
}

static void scroll(void *self, uint32_t press)
{
    struct summary *m = self;

    m->offset = page_scroll(m->offset, m->offset_max, press);
}

static bool is_long(const void *self)
{
    const struct summary *m = self;

    return !m->exporting && m->offset_max > 0;
}

static bool has_several(const void *self)
{
    const struct summary *m = self;

    return !m->exporting && m->count > 1;
}

static void turn(void *self, uint32_t press)
{
    struct summary *m = self;

    m->at = (m->at + (press == PRESS_LEFT ? m->count - 1 : 1)) % m->count;
    m->offset = 0;
}

static void run_again(void *self, uint32_t press)
{
    struct summary *m = self;

    (void)press;
    m->again.count = 1;
    m->again.runs[0].scenario = shown(m)->scenario;
    m->again.runs[0].values = &shown(m)->values;
    app_replace(m->app, &screen_run, &m->again);
}

static struct run *load(struct summary *m, const char *id)
{
    char path[4096];
    struct fail fail = {0};
    struct run *run = NULL;

    if (store_find(id, path, sizeof(path), &fail) == 0)
        run = recording_load(path, &fail);
    if (run == NULL)
        app_warn(m->app, "The run cannot be compared: %s.", fail.sentence);
    return run;
}

static bool has_before(const void *self)
{
    const struct summary *m = self;

    return !m->exporting && shown(m)->id[0] != '\0' && run_before(m) != NULL;
}

/* With the run before: both from the store, since the comparison owns what it shows. */
static void compare(void *self, uint32_t press)
{
    struct summary *m = self;

    (void)press;
    run_free(m->compare.base);
    run_free(m->compare.other);
    m->compare.other = NULL;
    m->compare.base = load(m, run_before(m)->id);
    if (m->compare.base != NULL)
        m->compare.other = load(m, shown(m)->id);
    if (m->compare.other != NULL)
        app_push(m->app, &screen_compare, &m->compare);
}

static void default_path(const struct summary *m, char *out, size_t size)
{
    char stamp[32];
    time_t at = shown(m)->started;
    struct tm local;

    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&at, &local));
    snprintf(out, size, "%s-%s%s", shown(m)->scenario->name, stamp,
             export_table()[m->format]->extension);
}

static void begin_export(void *self, uint32_t press)
{
    struct summary *m = self;
    char path[256];

    (void)press;
    default_path(m, path, sizeof(path));
    lineedit_set(&m->path, path);
    m->exporting = true;
}

static void do_export(struct summary *m)
{
    struct fail fail = {0};

    if (export_to_file(export_table()[m->format], shown(m), m->path.text, 0, &fail) < 0) {
        app_warn(m->app, "Not exported: %s.", fail.sentence);
        return;
    }
    app_say(m->app, "Exported to %s.", m->path.text);
    m->exporting = false;
}

static void next_format(struct summary *m)
{
    char path[256];

    m->format++;
    if (export_table()[m->format] == NULL)
        m->format = 0;
    default_path(m, path, sizeof(path));
    lineedit_set(&m->path, path);
}

/* While a path is typed: Enter writes, Tab takes the next format, Esc gives up. */
static bool summary_type(void *self, uint32_t press)
{
    struct summary *m = self;

    if (!m->exporting)
        return false;
    if (press == PRESS_ENTER)
        do_export(m);
    else if (press == PRESS_ESC)
        m->exporting = false;
    else if (press == PRESS_TAB)
        next_format(m);
    else
        lineedit_press(&m->path, press);
    return true;
}

static void summary_mouse(void *self, const struct mouse *mouse)
{
    if (mouse->kind == POINT_WHEEL_UP)
        scroll(self, PRESS_UP);
    else if (mouse->kind == POINT_WHEEL_DOWN)
        scroll(self, PRESS_DOWN);
}

static bool is_exporting(const void *self)
{
    return ((const struct summary *)self)->exporting;
}

static bool is_reading(const void *self)
{
    return !is_exporting(self);
}

/* While the name is typed summary_type takes the presses: these rows are to be read. */
static void typed(void *self, uint32_t press)
{
    summary_type(self, press);
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ENTER}, "Enter", "write",
     "While a file's name is typed: write the file", typed, is_exporting, NULL},
    {{PRESS_TAB}, "Tab", "format",
     "While a file's name is typed: the next format", typed, is_exporting, NULL},
    {{PRESS_ESC}, "Esc", "leave it",
     "While a file's name is typed: write nothing", typed, is_exporting, NULL},
    {{PRESS_ESC, 'q', PRESS_ENTER}, "Esc", "back",
     "Go back to the scenarios", go_back, is_reading, NULL},
    {{'r'}, "r", "run again",
     "Run the same again, with the same values", run_again, is_reading, NULL},
    {{'x'}, "x", "export",
     "Write the result to a file; Tab chooses the format", begin_export, is_reading, NULL},
    {{'c'}, "c", "compare",
     "Compare with the run of the scenario before this one", compare, has_before, NULL},
    {{PRESS_LEFT, PRESS_RIGHT}, "\xe2\x86\x90 \xe2\x86\x92", "other run",
     "Show the other runs of the sequence", turn, has_several, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END, ' '}, "\xe2\x86\x91\xe2\x86\x93", "scroll",
     "Scroll the page", scroll, is_long, NULL},
    {.label = NULL},
};
/* clang-format on */

const struct screen screen_summary = {
    .name = "summary",
    .keys = keys,
    .init = summary_init,
    .draw = summary_draw,
    .header = summary_header,
    .type = summary_type,
    .is_typing = is_exporting,
    .mouse = summary_mouse,
    .free = summary_free,
};
