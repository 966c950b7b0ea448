/*
 * The charts of the run screen. Each is a const table in a file of its own, listed
 * here; one more is that file and one line.
 */
#ifndef TUI_RUN_CHART_H
#define TUI_RUN_CHART_H

#include "tui/run_view.h"

struct run_chart {
    const char *name;
    /* Draws into the area, with its box. `focused`: it is the chosen one. */
    void (*draw)(struct run_view *v, struct canvas *c, struct area a, bool focused);
};

/* The first four stand in the grid; all can be seen large. X(identifier) */
#define RUN_CHART_LIST(X) \
    X(throughput)         \
    X(latency)            \
    X(received)           \
    X(loss)               \
    X(heat)

#define X(id) extern const struct run_chart run_chart_##id;
RUN_CHART_LIST(X)
#undef X

enum {
#define X(id) RUN_CHART_##id,
    RUN_CHART_LIST(X)
#undef X
        RUN_CHART_COUNT
};

#define RUN_CHART_GRID 4

const struct run_chart *run_chart(size_t index);

#endif
