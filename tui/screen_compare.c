#include "tui/screen_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/run.h"
#include "tui/app.h"
#include "tui/chart.h"
#include "tui/last_runs.h"
#include "tui/metric_label.h"
#include "tui/page.h"
#include "tui/text.h"

#define CELL 32   /* bytes of a figure */
#define NAME 22   /* columns of a metric's name */
#define FIGURE 11 /* columns of a figure */

struct comparison {
    struct app *app;     /* borrowed */
    struct run *runs[2]; /* owned: base, other */
    int offset, offset_max;
    double values[2][SERIES_SLOTS]; /* of the chart being drawn */
};

static void *comparison_init(struct app *app, const void *argument)
{
    /* The request is the caller's to read and ours to empty. */
    struct compare_request *request = (struct compare_request *)(uintptr_t)argument;
    struct comparison *k = calloc(1, sizeof(*k));

    if (k == NULL)
        return NULL;
    k->app = app;
    k->runs[0] = request->base;
    k->runs[1] = request->other;
    request->base = request->other = NULL;
    return k;
}

static void comparison_free(void *self)
{
    struct comparison *k = self;

    run_free(k->runs[0]);
    run_free(k->runs[1]);
    free(k);
}

/* The table ----------------------------------------------------------------------- */

enum finding { FINDING_BETTER, FINDING_WORSE, FINDING_SAME, FINDING_NOTHING };

/*
 * Better or worse only when the 95 % intervals over the trials do not touch: one trial
 * has no interval, so it never proves anything.
 */
static enum finding judge(enum metric m, const struct statistics *a,
                          const struct statistics *b)
{
    int better = metric_row(m)->better;

    if (a->median == b->median)
        return FINDING_SAME;
    if (a->n < 2 || b->n < 2)
        return FINDING_NOTHING;
    if (b->ci95_low > a->ci95_high)
        return better > 0 ? FINDING_BETTER : FINDING_WORSE;
    if (b->ci95_high < a->ci95_low)
        return better < 0 ? FINDING_BETTER : FINDING_WORSE;
    return FINDING_NOTHING;
}

static void draw_finding(struct canvas *c, struct area row, enum finding finding)
{
    static const struct {
        const char *word;
        enum paint paint;
    } words[] = {
        [FINDING_BETTER] = {"better", PAINT_GOOD},
        [FINDING_WORSE] = {"worse", PAINT_BAD},
        [FINDING_SAME] = {"the same", PAINT_DIM},
        [FINDING_NOTHING] = {"no evidence", PAINT_DIM},
    };

    canvas_text(c, row.x, row.y, row.width, style(words[finding].paint),
                words[finding].word);
}

static void draw_metric(struct page *p, const struct comparison *k, enum metric m)
{
    struct statistics s[2];
    char cell[2][CELL], change[CELL] = "", name[64];
    struct area row;

    for (int i = 0; i < 2; i++) {
        run_statistics(k->runs[i], m, &s[i]);
        metric_format(m, s[i].n > 0 ? s[i].median : UNKNOWN, cell[i], CELL);
    }
    if (s[0].n == 0 && s[1].n == 0)
        return;
    row = page_rows(p, 1);
    metric_label(m, name, sizeof(name));
    canvas_text(p->c, row.x, row.y, NAME - 1, style(PAINT_TEXT), name);
    for (int i = 0; i < 2; i++)
        canvas_text_right(p->c, row.x + NAME + i * FIGURE, row.y, FIGURE,
                          style(PAINT_STRONG), cell[i]);
    if (s[0].n == 0 || s[1].n == 0)
        return;
    /* A change from zero has no percentage. */
    if (s[0].median != 0)
        snprintf(change, sizeof(change), "%+.1f %%",
                 100 * (s[1].median / s[0].median - 1));
    canvas_text_right(p->c, row.x + NAME + 2 * FIGURE, row.y, FIGURE, style(PAINT_TEXT),
                      change);
    area_take_left(&row, NAME + 3 * FIGURE + 2);
    draw_finding(p->c, row, judge(m, &s[0], &s[1]));
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

static void draw_titles(struct page *p)
{
    static const char *const titles[] = {"A", "B", "change"};
    struct area row = page_rows(p, 1);

    for (int i = 0; i < 3; i++)
        canvas_text_right(p->c, row.x + NAME + i * FIGURE, row.y, FIGURE,
                          style(PAINT_DIM), titles[i]);
    canvas_text(p->c, row.x + NAME + 3 * FIGURE + 2, row.y, 20, style(PAINT_DIM),
                "verdict");
}

static int draw_table(struct comparison *k, struct canvas *c, struct area a)
{
    struct page p;

    canvas_box(c, a, "metric by metric", true);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    p = page_begin(c, a, k->offset);
    draw_run(&p, k->runs[0], "A", PAINT_SERIES_1);
    draw_run(&p, k->runs[1], "B", PAINT_SERIES_4);
    if (k->runs[0]->scenario != k->runs[1]->scenario)
        page_text(&p, style(PAINT_WARN), "These are different scenarios.");
    page_gap(&p);
    draw_titles(&p);
    for (int m = 0; m < METRIC_COUNT; m++)
        draw_metric(&p, k, (enum metric)m);
    page_gap(&p);
    page_text(
        &p, style(PAINT_DIM),
        "Better and worse are said only where the 95 % intervals over the trials do not "
        "touch. One trial proves nothing: run with more trials.");
    return page_end(&p);
}

/* The courses --------------------------------------------------------------------- */

typedef double slot_value(const struct run *r, const struct series_slot *slot);

static double slot_throughput(const struct run *r, const struct series_slot *slot)
{
    double sum = UNKNOWN;

    for (int p = 0; p < PLACE_COUNT; p++) {
        double rate =
            series_rate(&slot->places[p], slot->places[p].counters.received_bytes);

        if (r->scenario->roles[p] != NULL && !isnan(rate) &&
            (p != PLACE_SERVER || r->scenario->roles[PLACE_ENDPOINT] == NULL))
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

static void draw_course(struct comparison *k, struct canvas *c, struct area a,
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

static void draw_courses(struct comparison *k, struct canvas *c, struct area a)
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

static void comparison_draw(void *self, struct canvas *c, struct area a)
{
    struct comparison *k = self;
    struct area table = a;

    if (a.width >= 120)
        table = area_take_left(&a, 78);
    else
        a.width = 0;
    k->offset_max = draw_table(k, c, table);
    k->offset = page_scroll(k->offset, k->offset_max, PRESS_NONE);
    if (a.width > 0)
        draw_courses(k, c, a);
}

/* Keys ---------------------------------------------------------------------------- */

static void go_back(void *self, uint32_t press)
{
    struct comparison *k = self;

    (void)press;
    app_pop(k->app);
}

static void swap(void *self, uint32_t press)
{
    struct comparison *k = self;
    struct run *base = k->runs[0];

    (void)press;
    k->runs[0] = k->runs[1];
    k->runs[1] = base;
}

static void scroll(void *self, uint32_t press)
{
    struct comparison *k = self;

    k->offset = page_scroll(k->offset, k->offset_max, press);
}

static bool is_long(const void *self)
{
    return ((const struct comparison *)self)->offset_max > 0;
}

static const struct key keys[] = {
    {{PRESS_ESC, 'q', PRESS_ENTER}, "Esc", "back", "Go back", go_back, NULL, NULL},
    {{'x'}, "x", "exchange", "Exchange A and B", swap, NULL, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME,
      PRESS_END, ' '},
     "\xe2\x86\x91\xe2\x86\x93",
     "scroll",
     "Scroll the table",
     scroll,
     is_long,
     NULL},
    {.label = NULL},
};

const struct screen screen_compare = {
    .name = "compare",
    .keys = keys,
    .init = comparison_init,
    .draw = comparison_draw,
    .free = comparison_free,
};
