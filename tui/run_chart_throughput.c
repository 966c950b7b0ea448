/* Throughput, each direction, as the receiving end counts it. */
#include "tui/run_chart.h"

static void run_chart_throughput_draw(struct run_view *v, struct canvas *c, struct area a,
                                      bool focused)
{
    enum place facing = run_view_facing(v);
    bool measured = run_view_has(v, facing), one_way;
    struct chart chart = run_view_chart(v, "throughput", focused);
    struct chart_line lines[] = {
        {"up", v->lines[0], v->count, PAINT_UP, REDUCE_MEAN, UNKNOWN},
        {"down", v->lines[1], v->count, PAINT_DOWN, REDUCE_MEAN, UNKNOWN},
    };

    for (size_t i = 0; i < v->count; i++) {
        const struct series_place *client = &run_view_slot(v, i)->places[PLACE_CLIENT];
        const struct series_place *server = &run_view_slot(v, i)->places[facing];

        /* A server that is not ours reports nothing: what was sent is shown instead. */
        v->lines[0][i] = measured ? series_rate(server, server->counters.received_bytes)
                                  : series_rate(client, client->counters.sent_bytes);
        v->lines[1][i] = series_rate(client, client->counters.received_bytes);
    }
    if (v->run && !measured)
        lines[0].name = "sent";
    for (size_t i = 0; i < 2; i++)
        lines[i].now = run_view_now(v, lines[i].values);
    /* One way needs no mirror. */
    one_way = v->run && v->run->scenario->family->one_way;
    chart.form = one_way ? CHART_AREA : CHART_MIRROR;
    chart.quantity = QUANTITY_BYTES;
    chart.per = "/s";
    chart.ramp = RAMP_UP;
    chart.ramp_below = RAMP_DOWN;
    chart.lines = lines;
    chart.line_count = one_way ? 1 : 2;
    chart_draw(c, a, &chart);
}

const struct run_chart run_chart_throughput = {"throughput", run_chart_throughput_draw};
