#include "tui/screens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/compare.h"
#include "engine/run.h"
#include "engine/units.h"
#include "tui/app.h"
#include "tui/bars.h"
#include "tui/chart.h"
#include "tui/figure.h"
#include "tui/last_runs.h"
#include "tui/metric_label.h"
#include "tui/page.h"
#include "tui/text.h"

#define CELL 32   /* bytes of a figure */
#define NAME 19   /* columns of a metric's name */
#define FIGURE 11 /* columns of a figure */
#define RANGE 20  /* columns of an interval */

struct screen_compare {
    struct app *app;            /* borrowed */
    struct run *runs[2];        /* owned: A and B */
    struct comparison *verdict; /* of them; NULL: there is nothing to compare */
    struct fail fail;           /* why not */
    int offset, offset_max;
    double values[2][SERIES_SLOTS]; /* of the chart being drawn */
};

static void screen_compare_judge(struct screen_compare *k)
{
    const struct compare_side a = {"A", 1, &k->runs[0]}, b = {"B", 1, &k->runs[1]};
    const struct compare_options options = {.at_least = COMPARE_AT_LEAST};

    comparison_free(k->verdict);
    k->fail = (struct fail){0};
    k->verdict = comparison_new(&a, &b, &options, &k->fail);
}

static void *screen_compare_init(struct app *app, const void *argument)
{
    /* The request is the caller's to read and ours to empty. */
    struct compare_request *request = (struct compare_request *)(uintptr_t)argument;
    struct screen_compare *k = calloc(1, sizeof(*k));

    if (!k)
        return NULL;
    k->app = app;
    k->runs[0] = request->base;
    k->runs[1] = request->other;
    request->base = request->other = NULL;
    screen_compare_judge(k);
    return k;
}

static void screen_compare_free(void *self)
{
    struct screen_compare *k = self;

    comparison_free(k->verdict);
    run_free(k->runs[0]);
    run_free(k->runs[1]);
    free(k);
}

/* The table. */

static void draw_evidence(struct canvas *c, struct area row, const struct compared *d)
{
    enum paint paint = d->evidence == EVIDENCE_BETTER  ? PAINT_GOOD
                       : d->evidence == EVIDENCE_WORSE ? PAINT_BAD
                                                       : PAINT_DIM;
    int x = row.x + canvas_text(c, row.x, row.y, row.width, style(paint),
                                evidence_name(d->evidence));

    if (d->why[0] != '\0' && x + 2 + text_columns(d->why) <= row.x + row.width)
        canvas_print(c, x, row.y, row.x + row.width - x, style(PAINT_DIM), ": %s",
                     d->why);
}

static void draw_metric(struct page *p, const struct compared *d)
{
    char cell[2][CELL], change[CELL], low[CELL], high[CELL], range[2 * CELL + 8],
        name[64];
    struct area row = page_rows(p, 1);
    struct style label = style(d->headline ? PAINT_STRONG : PAINT_TEXT);

    metric_label(d->metric, name, sizeof(name));
    figure_metric(d->metric, d->a, cell[0], CELL);
    figure_metric(d->metric, d->b, cell[1], CELL);
    compare_share_text(d->share, change, CELL);
    compare_share_text(d->share_low, low, CELL);
    compare_share_text(d->share_high, high, CELL);
    snprintf(range, sizeof(range), "%s \xe2\x80\xa6 %s", low, high);
    label.attributes = d->headline ? ATTR_BOLD : 0;
    canvas_text(p->c, row.x, row.y, NAME - 1, label, name);
    canvas_text_right(p->c, row.x + NAME, row.y, FIGURE, style(PAINT_STRONG), cell[0]);
    canvas_text_right(p->c, row.x + NAME + FIGURE, row.y, FIGURE, style(PAINT_STRONG),
                      cell[1]);
    area_take_left(&row, NAME + 2 * FIGURE);
    canvas_text_right(p->c, row.x, row.y, 9, style(PAINT_TEXT), change);
    area_take_left(&row, 9);
    if (row.width >= RANGE + 14) {
        if (isfinite(d->share_low))
            canvas_text_right(p->c, row.x, row.y, RANGE, style(PAINT_DIM), range);
        area_take_left(&row, RANGE);
    }
    area_take_left(&row, 2);
    draw_evidence(p->c, row, d);
}

static void draw_run(struct page *p, const struct run *r, const char *label,
                     enum paint paint)
{
    struct style s = style(paint);
    struct area row = page_rows(p, 1);
    char age[32];

    s.attributes = ATTR_BOLD;
    last_runs_age(r->started, time(NULL), age, sizeof(age));
    canvas_text(p->c, row.x, row.y, 3, s, label);
    canvas_print(p->c, row.x + 3, row.y, row.width - 3, style(PAINT_TEXT),
                 "%s  %s  %zu trial%s  %s", r->scenario->name, age, r->trials_begun,
                 r->trials_begun == 1 ? "" : "s", outcome_name(r->outcome));
}

static void screen_compare_draw_titles(struct page *p)
{
    struct area row = page_rows(p, 1);
    struct style s = style(PAINT_DIM);

    canvas_text_right(p->c, row.x + NAME, row.y, FIGURE, s, "A");
    canvas_text_right(p->c, row.x + NAME + FIGURE, row.y, FIGURE, s, "B");
    area_take_left(&row, NAME + 2 * FIGURE);
    canvas_text_right(p->c, row.x, row.y, 9, s, "change");
    area_take_left(&row, 9);
    if (row.width >= RANGE + 14) {
        canvas_text_right(p->c, row.x, row.y, RANGE, s, "95 % interval");
        area_take_left(&row, RANGE);
    }
    canvas_text(p->c, row.x + 2, row.y, row.width, s, "verdict");
}

/* Latency quantile by quantile, A above B, on one log scale. */
static void draw_quantiles(struct page *p, const struct comparison *c)
{
    struct bar bars[2 * COMPARE_QUANTILES];
    char labels[2 * COMPARE_QUANTILES][16], figures[2 * COMPARE_QUANTILES][CELL];
    size_t n = 0;
    double low = (double)INFINITY;

    if (c->quantile_count == 0)
        return;
    for (size_t i = 0; i < c->quantile_count; i++)
        low = fmin(low, fmin((double)c->quantiles[i].a_ns, (double)c->quantiles[i].b_ns));
    low = log10(fmax(low, 1)) - 0.3;
    for (size_t i = 0; i < c->quantile_count; i++)
        for (int side = 0; side < 2; side++, n++) {
            double ns = (double)(side == 0 ? c->quantiles[i].a_ns : c->quantiles[i].b_ns);

            snprintf(labels[n], sizeof(labels[n]), "%s p%.6g", side == 0 ? "A" : "B",
                     100 * c->quantiles[i].q);
            figure_duration(ns, figures[n], CELL);
            bars[n] = (struct bar){labels[n], figures[n], log10(fmax(ns, 1)) - low,
                                   side == 0 ? PAINT_SERIES_1 : PAINT_SERIES_4};
        }
    page_heading(p, "Latency of all trials together");
    bars_draw(p->c, page_rows(p, (int)n), bars, n, 0);
    page_gap(p);
}

static void draw_verdict(struct page *p, const struct comparison *c)
{
    char method[1024];

    for (size_t i = 0; i < c->warning_count; i++)
        page_entry(p, 2, style(PAINT_WARN), "!", c->warnings[i]);
    page_gap(p);
    screen_compare_draw_titles(p);
    for (size_t i = 0; i < c->count; i++)
        draw_metric(p, &c->rows[i]);
    page_gap(p);
    draw_quantiles(p, c);
    comparison_method(c, method, sizeof(method));
    page_text(p, style(PAINT_DIM), method);
}

static int screen_compare_draw_table(struct screen_compare *k, struct canvas *c,
                                     struct area a)
{
    struct page p;

    canvas_box(c, a, "metric by metric", true);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    p = page_begin(c, a, k->offset);
    draw_run(&p, k->runs[0], "A", PAINT_SERIES_1);
    draw_run(&p, k->runs[1], "B", PAINT_SERIES_4);
    if (k->verdict)
        draw_verdict(&p, k->verdict);
    else
        page_text(&p, style(PAINT_WARN), k->fail.sentence);
    return page_end(&p);
}

/* The courses. */

typedef double slot_value(const struct run *r, const struct series_slot *slot);

static double slot_throughput(const struct run *r, const struct series_slot *slot)
{
    double sum = UNKNOWN;

    for (int p = 0; p < PLACE_COUNT; p++) {
        double rate =
            series_rate(&slot->places[p], slot->places[p].counters.received_bytes);

        if (r->scenario->roles[p] && !isnan(rate) &&
            (p != PLACE_SERVER || !r->scenario->roles[PLACE_ENDPOINT]))
            sum = isnan(sum) ? rate : sum + rate;
    }
    return sum;
}

static double slot_p99(const struct run *r, const struct series_slot *slot)
{
    (void)r;
    return series_latency_ns(slot, 0.99);
}

static double slot_received(const struct run *r, const struct series_slot *slot)
{
    const struct series_place *p = &slot->places[PLACE_SERVER];

    (void)r;
    return series_rate(p, p->counters.received_messages);
}

/* The values of a run at common steps; returns how many. */
static size_t resample(const struct run *r, slot_value *value, double step_s,
                       double values[SERIES_SLOTS])
{
    const struct series *s = r->series;
    size_t n = (size_t)ceil((double)(s->used * s->step_ns) / 1e9 / step_s);

    n = n > SERIES_SLOTS ? SERIES_SLOTS : n;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(((double)i + 0.5) * step_s * 1e9 / (double)s->step_ns);

        values[i] = at < s->used ? value(r, &s->slots[at]) : UNKNOWN;
    }
    return n;
}

static double length_s(const struct run *r)
{
    return (double)(r->series->used * r->series->step_ns) / 1e9;
}

static void draw_course(struct screen_compare *k, struct canvas *c, struct area a,
                        struct chart chart, slot_value *value)
{
    struct chart_line lines[2] = {
        {"A", k->values[0], 0, PAINT_SERIES_1, REDUCE_MEAN, UNKNOWN},
        {"B", k->values[1], 0, PAINT_SERIES_4, REDUCE_MEAN, UNKNOWN},
    };
    uint64_t step_ns = k->runs[0]->series->step_ns;

    if (k->runs[1]->series->step_ns > step_ns)
        step_ns = k->runs[1]->series->step_ns;
    chart.step_s = (double)step_ns / 1e9;
    chart.to_s = chart_span(fmax(length_s(k->runs[0]), length_s(k->runs[1])));
    for (int i = 0; i < 2; i++) {
        double sum = 0, known = 0;

        lines[i].count = resample(k->runs[i], value, chart.step_s, k->values[i]);
        for (size_t j = 0; j < lines[i].count; j++)
            if (!isnan(k->values[i][j])) {
                sum += k->values[i][j];
                known++;
            }
        lines[i].now = known > 0 ? sum / known : UNKNOWN;
    }
    chart.form = CHART_LINES;
    chart.lines = lines;
    chart.line_count = 2;
    chart_draw(c, a, &chart);
}

static void draw_courses(struct screen_compare *k, struct canvas *c, struct area a)
{
    int height = a.height / 3;

    draw_course(k, c, area_take_top(&a, height),
                (struct chart){.title = "throughput, both ways",
                               .quantity = QUANTITY_BYTES,
                               .per = "/s"},
                slot_throughput);
    draw_course(k, c, area_take_top(&a, height),
                (struct chart){.title = "latency p99",
                               .quantity = QUANTITY_DURATION,
                               .per = "",
                               .is_log = true},
                slot_p99);
    draw_course(k, c, a,
                (struct chart){.title = "received by the server",
                               .quantity = QUANTITY_COUNT,
                               .per = "/s"},
                slot_received);
}

static void screen_compare_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_compare *k = self;
    struct area table = a;

    if (a.width >= 120)
        table = area_take_left(&a, a.width >= 140 ? 94 : 78);
    else
        a.width = 0;
    k->offset_max = screen_compare_draw_table(k, c, table);
    k->offset = page_scroll(k->offset, k->offset_max, PRESS_NONE);
    if (a.width > 0)
        draw_courses(k, c, a);
}

/* Keys. */

static void screen_compare_go_back(void *self, uint32_t press)
{
    struct screen_compare *k = self;

    (void)press;
    app_pop(k->app);
}

static void swap(void *self, uint32_t press)
{
    struct screen_compare *k = self;
    struct run *base = k->runs[0];

    (void)press;
    k->runs[0] = k->runs[1];
    k->runs[1] = base;
    screen_compare_judge(k);
}

static void screen_compare_scroll(void *self, uint32_t press)
{
    struct screen_compare *k = self;

    k->offset = page_scroll(k->offset, k->offset_max, press);
}

static bool screen_compare_is_long(const void *self)
{
    return ((const struct screen_compare *)self)->offset_max > 0;
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ESC, 'q', PRESS_ENTER}, "Esc", "back", "Go back",
     screen_compare_go_back, NULL, NULL},
    {{'x'}, "x", "exchange", "Exchange A and B", swap, NULL, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END, ' '}, "\xe2\x86\x91\xe2\x86\x93", "scroll",
     "Scroll the table", screen_compare_scroll, screen_compare_is_long, NULL},
    {.label = NULL},
};
/* clang-format on */

const struct screen screen_compare = {
    .name = "compare",
    .keys = keys,
    .init = screen_compare_init,
    .draw = screen_compare_draw,
    .free = screen_compare_free,
};
