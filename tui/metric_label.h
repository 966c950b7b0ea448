/* Names of metrics as a person reads them. */
#ifndef TUI_METRIC_LABEL_H
#define TUI_METRIC_LABEL_H

#include <stddef.h>

#include "engine/trial.h"

/* "latency p99.9" for latency_p99_9_ns, "requests/s" for requests_per_second. */
void metric_label(enum metric metric, char *out, size_t size);

#endif
