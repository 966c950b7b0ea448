/*
 * Figures as the screen shows them. The engine writes plain ASCII, for pipes and files,
 * so its microseconds are "us"; the axes of the charts have the micro sign, and so has
 * every other figure on the screen. A canvas that is limited to ASCII turns it back.
 */
#ifndef TUI_FIGURE_H
#define TUI_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/trial.h"

#define FIGURE_BYTES 48 /* hold any figure */

/*
 * metric_format, metric_format_bound, metric_format_interval and units_format_duration,
 * with the micro sign.
 */
void figure_metric(enum metric metric, double value, char *out, size_t size);
void figure_bound(enum metric metric, double value, bool is_bound, char *out,
                  size_t size);
void figure_interval(enum metric metric, double low, double high, char *out, size_t size);
void figure_duration(double ns, char *out, size_t size);

/* A sentence of the engine, with the micro sign in its figures; cut when out is full. */
void figure_sentence(const char *text, char *out, size_t size);

#endif
