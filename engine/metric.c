#include "engine/metric.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/units.h"

/* The first characters of the units that a figure of a metric ends with, and the space.
 */
#define UNIT_BEGINS " kMGTnum/%B"

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
    } else if (strcmp(unit, "B") == 0) {
        units_format_bytes(value, text, size);
    } else if (strcmp(unit, "/s") == 0) {
        units_format_count(value, number, sizeof(number));
        snprintf(text, size, "%s/s", number);
    } else if (strcmp(unit, "%") == 0) {
        units_format_fixed(value,
                           value != 0 && value < 1 ? 3
                           : value < 10            ? 2
                                                   : 1,
                           number, sizeof(number));
        snprintf(text, size, "%s %%", number);
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

void metric_format_interval(enum metric metric, double low, double high, char *text,
                            size_t size)
{
    char first[40], last[40];
    size_t unit;

    if (!isfinite(low) || !isfinite(high)) {
        snprintf(text, size, "-");
        return;
    }
    metric_format(metric, low, first, sizeof(first));
    metric_format(metric, high, last, sizeof(last));
    unit = strcspn(first, UNIT_BEGINS);
    if (strcmp(first + unit, last + strcspn(last, UNIT_BEGINS)) == 0)
        first[unit] = '\0';
    snprintf(text, size, "%s … %s", first, last);
}

double metric_most(enum metric metric)
{
    return metric == METRIC_loss_percent || metric == METRIC_error_percent ||
                   metric == METRIC_unfinished_percent
               ? 100
               : (double)INFINITY;
}

static bool is_time(enum metric metric)
{
    const struct metric_row *row = &metric_rows[metric];

    return (strcmp(row->unit, "s") == 0 || strcmp(row->unit, "ns") == 0) &&
           !strstr(row->name, "stdev");
}

void metric_format_ratio(enum metric metric, double ratio, char *text, size_t size)
{
    bool is_less = ratio < 1;
    char number[40];

    if (!isfinite(ratio) || ratio <= 0) {
        snprintf(text, size, "-");
        return;
    }
    units_format_count(is_less ? 1 / ratio : ratio, number, sizeof(number));
    if (strcmp(number, "1.00") == 0 || strcmp(number, "1") == 0)
        snprintf(text, size, "the same");
    else if (is_time(metric))
        snprintf(text, size, "%s x %s", number, is_less ? "faster" : "slower");
    else
        snprintf(text, size, "%s x %s", number, is_less ? "less" : "more");
}
