/*
 * The charts of a run for HTML files: throughput, latency over time, the percentile
 * spectrum, what was received per second, loss, and both ends' CPU; each where the run
 * measured it.
 */
#ifndef ENGINE_REPORT_RUN_PLOTS_H
#define ENGINE_REPORT_RUN_PLOTS_H

#include <stdio.h>

#include "engine/report/plot.h"
#include "engine/run.h"

void run_plots(FILE *f, const struct run *r);

/*
 * A percentile spectrum: x is 1 / (1 - q), so that each nine has the same room, y the
 * latency at q. Fills at most SPECTRUM_POINTS and returns how many; none beyond what the
 * count of values can tell.
 */
#define SPECTRUM_POINTS 300

size_t spectrum_of(const struct hist *h, double x[SPECTRUM_POINTS],
                   double y[SPECTRUM_POINTS]);

/* A plot with the axes of a spectrum, without lines. */
struct plot spectrum_plot(const char *title);

#endif
