/*
 * What arrives per second: messages by label where the server counts by label, else
 * by the process that receives them; bytes where a scenario has no messages.
 */
#include "tui/run_chart.h"

#include <stdio.h>

static const enum paint paints[VIEW_LINES] = {
    PAINT_SERIES_1, PAINT_SERIES_2, PAINT_SERIES_3, PAINT_SERIES_4,
    PAINT_SERIES_5, PAINT_SERIES_6, PAINT_DIM,      PAINT_TEXT,
};

static size_t by_label(struct run_view *v, struct chart_line *lines)
{
    const struct series *s = v->run->series;

    for (size_t l = 0; l < s->label_count; l++) {
        lines[l].name = s->labels[l];
        for (size_t i = 0; i < v->count; i++) {
            const struct series_slot *slot = run_view_slot(v, i);

            v->lines[l][i] = series_rate(&slot->places[PLACE_SERVER], slot->labels[l]);
        }
    }
    return s->label_count;
}

static size_t by_process(struct run_view *v, struct chart_line *lines, bool messages)
{
    static const enum place order[] = {PLACE_SERVER, PLACE_ENDPOINT, PLACE_CLIENT};
    size_t n = 0;

    for (size_t k = 0; k < 3; k++) {
        if (!run_view_has(v, order[k]))
            continue;
        lines[n].name = place_name(order[k]);
        for (size_t i = 0; i < v->count; i++) {
            const struct series_place *p = &run_view_slot(v, i)->places[order[k]];

            v->lines[n][i] = series_rate(p, messages ? p->counters.received_messages
                                                     : p->counters.received_bytes);
        }
        n++;
    }
    return n;
}

static void run_chart_received_draw(struct run_view *v, struct canvas *c, struct area a,
                                    bool focused)
{
    struct chart chart = run_view_chart(v, "received per second", focused);
    struct chart_line lines[VIEW_LINES];
    bool labels = v->run && v->run->series->label_count > 0, messages = true;
    size_t count = 0;

    for (size_t i = 0; i < VIEW_LINES; i++)
        lines[i] = (struct chart_line){"",        v->lines[i], v->count,
                                       paints[i], REDUCE_MEAN, UNKNOWN};
    if (labels) {
        count = by_label(v, lines);
    } else if (v->run) {
        messages = v->run->scenario->family->operations;
        count = by_process(v, lines, messages);
    }
    for (size_t i = 0; i < count; i++)
        lines[i].now = run_view_now(v, lines[i].values);
    /* One line is an area; several are lines with their names. */
    chart.form = count == 1 ? CHART_AREA : CHART_LINES;
    chart.ramp = RAMP_ARRIVED;
    chart.quantity = messages ? QUANTITY_COUNT : QUANTITY_BYTES;
    chart.per = "/s";
    chart.lines = lines;
    chart.line_count = count;
    chart_draw(c, a, &chart);
}

const struct run_chart run_chart_received = {"received", run_chart_received_draw};
