/*
 * What the processes of a run use at present: processor, context switches, descriptors,
 * backlog; and which end is the bottleneck, in words. Means over the last second.
 */
#ifndef TUI_RUN_USE_H
#define TUI_RUN_USE_H

#include "tui/run_view.h"

struct run_use {
    bool known;
    unsigned processes;
    double cpu; /* of one core, the mean of the processes: 1 is a core busy */
    double switches_per_s, forced_per_s; /* voluntary, involuntary */
    double waiting;                      /* share of the time ready and without a core */
    double operations_per_s;             /* begun by clients: attempted or sent */
    uint64_t backlog, in_flight, open_descriptors, max_rss_bytes;
};

/* The use of a place, worked out from the series; not known without samples. */
void run_use_of(const struct run_view *v, enum place place, struct run_use *use);

/* One line: name, a bar, the figures, as many as fit. */
void run_use_draw(const struct run_view *v, enum place place, struct canvas *c,
                  struct area row);

/*
 * The bottleneck as a sentence: which end is busy, or that neither is. Empty text while
 * nothing can be said. The paint says how much it matters.
 */
enum paint run_use_verdict(const struct run_view *v, char *out, size_t size);

#endif
