/*
 * Packet loss with its causes on top of each other, as the receiver sees it: gaps in the
 * sequence numbers, of which the kernel counts those that its full buffer dropped.
 * Scenarios on streams lose nothing; they show failed operations here.
 */
#include "tui/run_chart.h"

static void draw_lost_datagrams(struct run_view *v, struct canvas *c, struct area a,
                                bool focused)
{
    struct chart chart = run_view_chart(v, "packet loss", focused);
    struct chart_line lines[] = {
        {"buffer full", v->lines[0], v->count, PAINT_MAX, REDUCE_MEAN, UNKNOWN},
        {"unexplained", v->lines[1], v->count, PAINT_P99, REDUCE_MEAN, UNKNOWN},
        {"refused", v->lines[2], v->count, PAINT_DOWN, REDUCE_MEAN, UNKNOWN},
    };

    if (v->run)
        run_view_unexplained(v->run->series, v->lines[3]);
    for (size_t i = 0; i < v->count; i++) {
        const struct series_place *server = &run_view_slot(v, i)->places[PLACE_SERVER];
        const struct series_place *client = &run_view_slot(v, i)->places[PLACE_CLIENT];
        double unexplained = v->lines[3][v->first + i];

        v->lines[0][i] = series_rate(server, server->counters.overflow);
        v->lines[1][i] = series_rate(server, 1) * unexplained;
        v->lines[2][i] = series_rate(client, client->counters.refused);
    }
    for (size_t i = 0; i < 3; i++)
        lines[i].now = run_view_now(v, lines[i].values);
    chart.form = CHART_STACK;
    chart.quantity = QUANTITY_COUNT;
    chart.per = "/s";
    chart.least_top = 10; /* one lost datagram is no mountain */
    chart.lines = lines;
    chart.line_count = 3;
    chart_draw(c, a, &chart);
}

static void draw_errors(struct run_view *v, struct canvas *c, struct area a, bool focused)
{
    struct chart chart = run_view_chart(v, "failed operations", focused);
    struct chart_line lines[] = {
        {"failed", v->lines[0], v->count, PAINT_MAX, REDUCE_MEAN, UNKNOWN},
        {"timed out", v->lines[1], v->count, PAINT_P99, REDUCE_MEAN, UNKNOWN},
    };
    bool none = v->run && !v->run->scenario->family->operations;

    for (size_t i = 0; i < v->count; i++) {
        const struct series_place *client = &run_view_slot(v, i)->places[PLACE_CLIENT];

        v->lines[0][i] = series_rate(client, client->counters.failed);
        v->lines[1][i] = series_rate(client, client->counters.timed_out);
    }
    for (size_t i = 0; i < 2; i++)
        lines[i].now = run_view_now(v, lines[i].values);
    chart.form = CHART_STACK;
    chart.quantity = QUANTITY_COUNT;
    chart.per = "/s";
    chart.least_top = 10;
    chart.lines = lines;
    chart.line_count = none ? 0 : 2;
    if (none) {
        chart.title = "packet loss";
        chart.empty = "a stream loses nothing; its counts are checked at the end";
    }
    chart_draw(c, a, &chart);
}

static void run_chart_loss_draw(struct run_view *v, struct canvas *c, struct area a,
                                bool focused)
{
    if (!v->run || v->run->scenario->family->datagrams)
        draw_lost_datagrams(v, c, a, focused);
    else
        draw_errors(v, c, a, focused);
}

const struct run_chart run_chart_loss = {"loss", run_chart_loss_draw};
