#include "tui/summary.h"

#include <math.h>
#include <stdio.h>

#include "engine/report/load_table.h"
#include "engine/run.h"
#include "engine/statistics.h"
#include "engine/units.h"
#include "tui/figure.h"
#include "tui/metric_label.h"

#define SPAN 15 /* columns of "12.3 - 45.6 s" */

/* The columns beside the median, those that fit: stdev, min, max, the interval. */
static void draw_spread(struct page *p, struct area row, const char *const cells[4],
                        struct style s)
{
    static const int widths[] = {SUMMARY_FIGURE, SUMMARY_FIGURE, SUMMARY_FIGURE,
                                 2 * SUMMARY_FIGURE + 4};
    int x = row.x + SUMMARY_NAME + SUMMARY_FIGURE;

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
    char cell[4][FIGURE_BYTES], interval[2 * FIGURE_BYTES + 8] = "-", name[64];
    const char *spread[4] = {cell[1], cell[2], cell[3], interval};

    run_statistics(r, m, &s);
    if (s.n == 0)
        return;
    row = page_rows(p, 1);
    metric_label(m, name, sizeof(name));
    figure_bound(m, s.median, s.is_bound, cell[0], FIGURE_BYTES);
    figure_metric(m, s.stdev, cell[1], FIGURE_BYTES);
    figure_metric(m, s.min, cell[2], FIGURE_BYTES);
    figure_bound(m, s.max, s.is_bound, cell[3], FIGURE_BYTES);
    if (s.n >= STATISTICS_INTERVAL_LEAST)
        figure_interval(m, s.ci95_low, s.ci95_high, interval, sizeof(interval));
    canvas_text(p->c, row.x, row.y, SUMMARY_NAME - 1, style(PAINT_TEXT), name);
    canvas_text_right(p->c, row.x + SUMMARY_NAME, row.y, SUMMARY_FIGURE,
                      style(PAINT_STRONG), cell[0]);
    if (s.n > 1)
        draw_spread(p, row, spread, style(PAINT_DIM));
}

void summary_draw_statistics(struct page *p, const struct run *r)
{
    static const char *const titles[] = {"stdev", "min", "max", "95 % interval"};
    struct load_table load;
    bool has_table = r->trials_begun == 1 && load_table(&load, r);
    struct area row;

    page_heading(p, r->trials_begun > 1 ? "Over the trials" : "Measured");
    if (r->trials_begun > 1) {
        row = page_rows(p, 1);
        canvas_text_right(p->c, row.x + SUMMARY_NAME, row.y, SUMMARY_FIGURE,
                          style(PAINT_DIM), "median");
        draw_spread(p, row, titles, style(PAINT_DIM));
    }
    for (int m = 0; m < METRIC_COUNT; m++)
        if (!has_table || !load_table_tells((enum metric)m))
            draw_statistics_row(p, r, (enum metric)m);
    if (r->trials_begun >= STATISTICS_INTERVAL_LEAST)
        page_text(p, style(PAINT_DIM), STATISTICS_METHOD ".");
    page_gap(p);
}

/* What differs between trials is the time each took. */
void summary_draw_trials(struct page *p, const struct run *r)
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
        char seconds[FIGURE_BYTES];

        figure_metric(METRIC_seconds, t->seconds, seconds, FIGURE_BYTES);
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

/* One of the parts between marks. */
static void draw_segment(struct page *p, const struct series *s, size_t i)
{
    struct area row = page_rows(p, 1);
    const struct series_place *client;
    struct series_segment part;
    char rate[FIGURE_BYTES], p50[FIGURE_BYTES], p99[FIGURE_BYTES], span[FIGURE_BYTES];
    int x = row.x + SUMMARY_NAME;

    series_segment(s, i, &part);
    client = &part.sum.places[PLACE_CLIENT];
    units_format_rate(series_rate(client, client->counters.succeeded), rate,
                      FIGURE_BYTES);
    figure_duration(series_latency_ns(&part.sum, 0.5), p50, FIGURE_BYTES);
    figure_duration(series_latency_ns(&part.sum, 0.99), p99, FIGURE_BYTES);
    snprintf(span, sizeof(span), "%.1f \xe2\x80\x93 %.1f s", (double)part.from_ns / 1e9,
             (double)part.to_ns / 1e9);
    canvas_text(p->c, row.x, row.y, SUMMARY_NAME - 1, style(PAINT_TEXT),
                i > 0 ? part.text : "start");
    canvas_text_right(p->c, x, row.y, SPAN, style(PAINT_DIM), span);
    canvas_text_right(p->c, x + SPAN, row.y, SUMMARY_FIGURE, style(PAINT_STRONG), rate);
    canvas_text_right(p->c, x + SPAN + SUMMARY_FIGURE, row.y, SUMMARY_FIGURE,
                      style(PAINT_STRONG), p50);
    canvas_text_right(p->c, x + SPAN + 2 * SUMMARY_FIGURE, row.y, SUMMARY_FIGURE,
                      style(PAINT_STRONG), p99);
}

/* A run that was changed while it went on is several runs in one. */
void summary_draw_segments(struct page *p, const struct series *s)
{
    static const char *const titles[] = {"done/s", "p50", "p99"};
    struct area row;

    if (!s || s->mark_count == 0)
        return;
    page_heading(p, "Between the marks");
    row = page_rows(p, 1);
    for (int i = 0; i < 3; i++)
        canvas_text_right(p->c, row.x + SUMMARY_NAME + SPAN + i * SUMMARY_FIGURE, row.y,
                          SUMMARY_FIGURE, style(PAINT_DIM), titles[i]);
    for (size_t i = 0; i <= s->mark_count; i++)
        draw_segment(p, s, i);
    page_gap(p);
}
