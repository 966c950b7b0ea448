#include "tui/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "engine/report/report.h"
#include "engine/run.h"
#include "engine/units.h"
#include "protocols/array.h"
#include "protocols/survival.h"
#include "tui/bars.h"
#include "tui/figure.h"
#include "tui/run_view.h"

static const struct hist *pooled(const struct run *r, enum place place,
                                 enum meter_hist which)
{
    const struct meter *m = r->pooled[place];
    const struct hist *h = m ? m->hists[which] : NULL;

    return h && h->count > 0 ? h : NULL;
}

void summary_draw_spectrum(struct page *p, const struct run *r)
{
    struct hist_summary h;
    struct bar bars[7];
    char figures[7][FIGURE_BYTES], heading[64];
    double low;

    meter_latency(&h, r->pooled[r->scenario->family->latency_place]);
    /* The time of a transfer is shown as such: its few trials have no quantiles. */
    if ((!h.count && !h.open) || !r->scenario->family->operations)
        return;
    const struct {
        const char *label;
        double q;
        uint64_t ns;
        enum paint paint;
    } rows[7] = {
        {"p50", 0.5, h.p50, PAINT_P50},       {"p75", 0.75, h.p75, PAINT_P50},
        {"p90", 0.9, h.p90, PAINT_P90},       {"p99", 0.99, h.p99, PAINT_P99},
        {"p99.9", 0.999, h.p99_9, PAINT_P99}, {"p99.99", 0.9999, h.p99_99, PAINT_MAX},
        {"max", 1, h.max, PAINT_MAX},
    };
    snprintf(heading, sizeof(heading), "Latency, %s", run_view_latency_origin(r));
    page_heading(p, heading);
    low = log10(fmax(1, (double)h.min)) - 0.3;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        double ns = (double)rows[i].ns;

        figure_bound(METRIC_latency_max_ns, ns, survival_is_bound(&h, rows[i].q),
                     figures[i], FIGURE_BYTES);
        /* Bars on a log scale: the spectrum spans decades. */
        bars[i] = (struct bar){rows[i].label, figures[i], log10(fmax(1, ns)) - low,
                               rows[i].paint};
    }
    bars_draw(p->c, page_rows(p, 7), bars, 7, 0);
    page_gap(p);
}

void summary_draw_times(struct page *p, const struct run *r)
{
    struct bar bars[REPORT_TIME_COUNT];
    char figures[REPORT_TIME_COUNT][2 * FIGURE_BYTES + 8];
    size_t n = 0;

    for (size_t i = 0; i < REPORT_TIME_COUNT; i++) {
        const struct report_time *row = &report_times[i];
        const struct hist *h = pooled(r, row->place, row->hist);
        char mean[FIGURE_BYTES], p99[FIGURE_BYTES];

        if (!h)
            continue;
        figure_duration(hist_mean(h), mean, FIGURE_BYTES);
        figure_duration((double)hist_quantile(h, 0.99), p99, FIGURE_BYTES);
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
    char text[FIGURE_BYTES];

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

static void draw_sending(struct page *p, const struct trial *t)
{
    char text[200];

    trial_sending(t, text, sizeof(text));
    if (text[0] != '\0')
        page_text(p, style(PAINT_DIM), text);
}

/* Two rows, or three where it is only known within bounds. */
static void draw_lost(struct page *p, const struct loss *l)
{
    bool is_certain = l->unexplained == l->unexplained_most;
    int64_t most = l->due > l->attempted ? l->due : l->attempted;

    loss_row(p, is_certain ? "lost: receive buffer full" : "lost: buffer full, at most",
             l->overflow, most, PAINT_MAX);
    loss_row(p, is_certain ? "lost: unexplained" : "lost: unexplained, at least",
             l->unexplained, most, PAINT_P99);
    if (!is_certain)
        loss_row(p, "lost: unexplained, at most", l->unexplained_most, most, PAINT_P99);
}

void summary_draw_loss(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);
    const struct loss *l = t ? &t->loss : NULL;
    char heading[96 + FIGURE_BYTES], percent[FIGURE_BYTES];
    int64_t most;

    if (!l || l->attempted < 0 || !r->scenario->family->datagrams)
        return;
    if (l->lost < 0) {
        page_heading(p, "Loss: not known, the receiver did not report");
    } else if (l->accepted == 0) {
        page_heading(p, "Loss: not known, nothing was sent");
    } else {
        figure_metric(METRIC_loss_percent, t->metrics[METRIC_loss_percent], percent,
                      FIGURE_BYTES);
        snprintf(heading, sizeof(heading), "Loss: %" PRId64 " of %" PRId64 " (%s)%s",
                 l->lost, l->due, percent, r->trials_begun > 1 ? ", last trial" : "");
        page_heading(p, heading);
    }
    most = l->due > l->attempted ? l->due : l->attempted;
    draw_sending(p, t);
    loss_row(p, "attempted", l->attempted, l->attempted, PAINT_UP);
    loss_row(p, "refused by sender's kernel", l->refused, l->attempted, PAINT_DOWN);
    loss_row(p, "accepted", l->accepted, l->attempted, PAINT_UP);
    loss_row(p, "received, each once", l->received, most, PAINT_GOOD);
    draw_lost(p, l);
    loss_row(p, "late", l->late, most, PAINT_DIM);
    loss_row(p, "duplicate", l->duplicate, most, PAINT_DIM);
    loss_row(p, "out of order", l->out_of_order, most, PAINT_DIM);
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

void summary_draw_counts(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);

    if (!t)
        return;
    page_heading(p, r->trials_begun > 1 ? "Counts of the last trial" : "Counts");
    for (int place = 0; place < PLACE_COUNT; place++) {
        const struct meter_counters *n = &t->counters[place];
        char sent[FIGURE_BYTES], received[FIGURE_BYTES], text[160];

        if (!r->scenario->roles[place])
            continue;
        units_format_bytes((double)n->sent_bytes, sent, FIGURE_BYTES);
        units_format_bytes((double)n->received_bytes, received, FIGURE_BYTES);
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
