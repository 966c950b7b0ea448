/*
 * What the charts of a run are drawn from: a run, the span of time that is shown, and
 * room for the values of a few lines. A view reads the run and changes nothing in it.
 *
 * The latency quantiles of a slot cost a walk over its buckets, so they are kept until
 * the slot's count changes.
 */
#ifndef TUI_RUN_VIEW_H
#define TUI_RUN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/run.h"
#include "tui/chart.h"

#define VIEW_LINES SERIES_LABELS
#define VIEW_LONGEST_S 60.0 /* what is shown at most unless a person asks for more */

/* The quantiles of one slot, as last worked out. */
struct view_latency {
    uint32_t count;
    double p50, p90, p99;
};

struct run_view {
    const struct run *run; /* borrowed; NULL: nothing yet */
    double from_s, to_s;
    double step_s;
    size_t first, count; /* the slots that lie in the span */
    size_t mark_count;
    struct chart_mark marks[SERIES_MARKS];
    uint64_t cached_step_ns;
    struct view_latency latency[SERIES_SLOTS];
    double lines[VIEW_LINES][SERIES_SLOTS];
};

/* Large: on the heap. NULL when out of memory. */
struct run_view *run_view_new(void);
void run_view_free(struct run_view *v);

/* Look at another run. */
void run_view_set_run(struct run_view *v, const struct run *run);

/*
 * Choose the span: the last window_s seconds up to end_s, or with window_s 0 all of it,
 * at most VIEW_LONGEST_S, in round spans.
 */
void run_view_set_span(struct run_view *v, double end_s, double window_s);

/* The time up to which the run has values, in seconds of the series. */
double run_view_end_s(const struct run_view *v);

/* The i-th slot of the span. */
const struct series_slot *run_view_slot(const struct run_view *v, size_t i);
const struct view_latency *run_view_latency(struct run_view *v, size_t i);

/*
 * How many messages of each slot were lost without being among those that the kernel
 * dropped at its full buffer: `out` has room for SERIES_SLOTS values. A drop is counted
 * when it happens, its gap seen when a later message arrives, perhaps slots later; so
 * both are summed from the begin, and what a later drop or gap makes good was never
 * unexplained. The sum over all slots is what remains at the end.
 */
void run_view_unexplained(const struct series *s, double *out);

/* The mean of the last known values of a line, over half a second: what is "now". */
double run_view_now(const struct run_view *v, const double *values);

/* What the latency of a run is counted from: "service time". */
const char *run_view_latency_origin(const struct run *r);

/* The place that clients talk to, and whether a process of ours stands there. */
enum place run_view_facing(const struct run_view *v);
bool run_view_has(const struct run_view *v, enum place place);

/* A chart with the view's span and marks, the rest empty. */
struct chart run_view_chart(const struct run_view *v, const char *title, bool focused);

#endif
