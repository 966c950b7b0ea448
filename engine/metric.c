#include "engine/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/units.h"

static const struct metric_row metric_rows[] = {
#define X(name, unit, better, help) {#name, unit, better, help},
    METRICS(X)
#undef X
};

const struct metric_row *metric_row(enum metric metric)
{
    return &metric_rows[metric];
}

int metric_find(const char *name)
{
    int i = 0;

    while (i < METRIC_COUNT && strcmp(metric_rows[i].name, name) != 0)
        i++;
    return i;
}

void metric_format(enum metric metric, double value, char *text, size_t size)
{
    const char *unit = metric_rows[metric].unit;
    char number[40];

    if (!isfinite(value)) {
        snprintf(text, size, "-");
        return;
    }
    if (strcmp(unit, "B/s") == 0) {
        units_format_bytes(value, number, sizeof(number));
        snprintf(text, size, "%s/s", number);
    } else if (strcmp(unit, "/s") == 0) {
        units_format_count(value, number, sizeof(number));
        snprintf(text, size, "%s/s", number);
    } else if (strcmp(unit, "%") == 0) {
        snprintf(text, size, "%.*f %%",
                 value != 0 && value < 1 ? 3
                 : value < 10            ? 2
                                         : 1,
                 value);
    } else {
        double ns = value * (*unit == 's' ? 1e9 : *unit == 'u' ? 1e3 : 1);

        units_format_duration(ns, text, size);
    }
}

void metric_format_bound(enum metric metric, double value, bool is_bound, char *text,
                         size_t size)
{
    char known[40];

    metric_format(metric, value, known, sizeof(known));
    snprintf(text, size, "%s%s", is_bound && isfinite(value) ? ">= " : "", known);
}
