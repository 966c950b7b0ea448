/* Latency percentiles on a log scale. */
#include "tui/run_chart.h"

#include <stdio.h>

#include "tui/text.h"

static void run_chart_latency_draw(struct run_view *v, struct canvas *c, struct area a,
                                   bool focused)
{
    char title[64] = "latency";
    struct chart chart;
    struct chart_line lines[] = {
        {"max", v->lines[0], v->count, PAINT_MAX, REDUCE_MAX, UNKNOWN},
        {"p99", v->lines[1], v->count, PAINT_P99, REDUCE_MAX, UNKNOWN},
        {"p90", v->lines[2], v->count, PAINT_P90, REDUCE_MAX, UNKNOWN},
        {"p50", v->lines[3], v->count, PAINT_P50, REDUCE_MEAN, UNKNOWN},
    };
    bool none = v->run && !v->run->scenario->family->operations;

    if (a.width >= 96 && v->run)
        snprintf(title, sizeof(title), "latency, %s", run_view_latency_origin(v->run));
    chart = run_view_chart(v, title, focused);
    for (size_t i = 0; i < v->count; i++) {
        const struct view_latency *l = run_view_latency(v, i);
        const struct series_slot *slot = run_view_slot(v, i);

        v->lines[0][i] = slot->latency_count > 0 ? (double)slot->latency_max_ns : UNKNOWN;
        v->lines[1][i] = l->p99;
        v->lines[2][i] = l->p90;
        v->lines[3][i] = l->p50;
    }
    for (size_t i = 0; i < 4; i++)
        lines[i].now = run_view_now(v, lines[i].values);
    if (none)
        chart.empty = "a transfer as a whole has no latency";
    chart.form = CHART_LINES;
    chart.quantity = QUANTITY_DURATION;
    chart.is_log = true;
    chart.lines = lines;
    chart.line_count = none ? 0 : 4;
    chart_draw(c, a, &chart);
}

const struct run_chart run_chart_latency = {"latency", run_chart_latency_draw};
