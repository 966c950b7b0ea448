#include "engine/reference.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/metric.h"
#include "engine/statistics.h"
#include "protocols/array.h"

/* How the documents write a unit of the metrics, at the exponent of the value. */
static const struct {
    const char *unit, *exponent, *text;
} units[] = {
    {"s", "", " s"}, {"ns", "e6", " ms"},    {"/s", "", "/s"},
    {"%", "", " %"}, {"B/s", "e3", " kB/s"}, {"B", "e6", " MB"},
};

static const char *unit_text(const struct reference *ref, const char *exponent)
{
    const char *unit = metric_row((enum metric)metric_find(ref->metric))->unit;

    for (size_t i = 0; i < NUMBER_OF(units); i++)
        if (strcmp(units[i].unit, unit) == 0 && strcmp(units[i].exponent, exponent) == 0)
            return units[i].text;
    assert(!"no such unit in the documents");
    return "";
}

/* The digits of the value at an index; returns the unit with its blank. */
static const char *value_text(const struct reference *ref, size_t index, char *text,
                              size_t size)
{
    const char *at = ref->written;
    char exponent[4] = "";
    size_t digits;

    while (index--)
        at = strchr(at, ',') + 1;
    at += strspn(at, " ");
    digits = strcspn(at, ",e");
    snprintf(text, size, "%.*s", (int)digits, at);
    at += digits;
    snprintf(exponent, sizeof(exponent), "%.*s", (int)strcspn(at, ","), at);
    return unit_text(ref, exponent);
}

double reference_median(const struct reference *ref)
{
    struct statistics s;

    statistics_of(ref->values, ref->count, &s);
    return s.median;
}

void reference_text(const struct reference *ref, char *text, size_t size)
{
    double least = -1;
    size_t median = 0;
    char digits[24];
    const char *unit;

    for (size_t i = 0; i < ref->count; i++) {
        double off = ref->values[i] - reference_median(ref);

        off = off < 0 ? -off : off;
        if (least >= 0 && off >= least)
            continue;
        least = off;
        median = i;
    }
    unit = value_text(ref, median, digits, sizeof(digits));
    snprintf(text, size, "%s%s", digits, unit);
}

void reference_list(const struct reference *ref, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; ref->count > 1 && i < ref->count && used < size; i++) {
        char digits[24];
        const char *unit = value_text(ref, i, digits, sizeof(digits));

        used += (size_t)snprintf(text + used, size - used, "%s%s%s", i ? " " : "", digits,
                                 i + 1 < ref->count ? "" : unit);
    }
}

const struct reference *reference_find(const struct reference *table, const char *metric)
{
    for (; table->metric; table++)
        if (strcmp(table->metric, metric) == 0)
            return table;
    return NULL;
}
