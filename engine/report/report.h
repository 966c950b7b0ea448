/*
 * The result of a run as a table of text: what `plimsoll run` prints, and what the
 * console's summary shows in its own way.
 */
#ifndef ENGINE_REPORT_REPORT_H
#define ENGINE_REPORT_REPORT_H

#include <stdio.h>

#include "engine/run.h"

/* The times that are told beside the latency of an operation, in this order. */
#define REPORT_TIME_COUNT 12

extern const struct report_time {
    enum place place;
    enum meter_hist hist;
    const char *title;
} report_times[REPORT_TIME_COUNT];

/* Returns 0, or -errno when the stream could not take it. */
int report_print(FILE *f, const struct run *r);

#endif
