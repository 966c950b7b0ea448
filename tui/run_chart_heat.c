/* The latency heat map: time by latency, shaded by count. */
#include "tui/run_chart.h"

#include <math.h>

#include "tui/heat.h"

#define ROWS_MAX 64

struct run_chart_heat_bounds {
    size_t low, high; /* buckets of the series that are used; high exclusive */
};

static struct run_chart_heat_bounds used_buckets(const struct run_view *v)
{
    struct run_chart_heat_bounds b = {SERIES_BUCKETS, 0};

    for (size_t i = 0; i < v->count; i++) {
        const struct series_slot *slot = run_view_slot(v, i);

        for (size_t k = 0; slot->latency_count > 0 && k < SERIES_BUCKETS; k++) {
            if (slot->latency[k] == 0)
                continue;
            b.low = k < b.low ? k : b.low;
            b.high = k + 1 > b.high ? k + 1 : b.high;
        }
    }
    return b;
}

/* The row of each used bucket, by its middle; ROWS_MAX for those outside. */
static void map_rows(const struct heat *h, struct run_chart_heat_bounds b,
                     unsigned char rows[SERIES_BUCKETS])
{
    double log_range = log(h->high / h->low);

    for (size_t k = b.low; k < b.high; k++) {
        double middle = (series_bucket_ns(k) + series_bucket_ns(k + 1)) / 2;
        double row = log(middle / h->low) / log_range * (double)h->rows;

        rows[k] = row >= 0 && row < (double)h->rows ? (unsigned char)row : ROWS_MAX;
    }
}

/*
 * The counts of steps and rows. The room is the lines' of the view: VIEW_LINES *
 * SERIES_SLOTS values, so with many slots several share a step of the map.
 */
static size_t run_chart_heat_fill(struct run_view *v, const struct heat *h,
                                  struct run_chart_heat_bounds b, size_t share)
{
    double *counts = &v->lines[0][0];
    size_t steps = (v->count + share - 1) / share;
    unsigned char rows[SERIES_BUCKETS];

    map_rows(h, b, rows);
    for (size_t i = 0; i < steps * h->rows; i++)
        counts[i] = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct series_slot *slot = run_view_slot(v, i);

        for (size_t k = b.low; slot->latency_count > 0 && k < b.high; k++)
            if (slot->latency[k] > 0 && rows[k] < ROWS_MAX)
                counts[i / share * h->rows + rows[k]] += slot->latency[k];
    }
    return steps;
}

static void run_chart_heat_draw(struct run_view *v, struct canvas *c, struct area a,
                                bool focused)
{
    struct heat heat = {
        .title = "latency heat map",
        .quantity = QUANTITY_DURATION,
        .counts = &v->lines[0][0],
        .from_s = v->from_s,
        .to_s = v->to_s,
        .focused = focused,
    };
    struct run_chart_heat_bounds b =
        v->run ? used_buckets(v) : (struct run_chart_heat_bounds){0, 0};
    size_t share;

    if (v->run && !v->run->scenario->family->operations)
        heat.empty = "a transfer as a whole has no latency";
    if (b.high > b.low) {
        struct scale scale =
            scale_log(series_bucket_ns(b.low), series_bucket_ns(b.high), 4);

        heat.low = scale.low;
        heat.high = scale.high;
        heat.rows = a.height > 2 ? 2 * (size_t)(a.height - 2) : 1;
        heat.rows = heat.rows > ROWS_MAX ? ROWS_MAX : heat.rows;
        share = 1 + v->count * heat.rows / (VIEW_LINES * SERIES_SLOTS);
        heat.start_s = (double)v->first * v->step_s;
        heat.step_s = v->step_s * (double)share;
        heat.steps = run_chart_heat_fill(v, &heat, b, share);
    }
    heat_draw(c, a, &heat);
}

const struct run_chart run_chart_heat = {"heat", run_chart_heat_draw};
