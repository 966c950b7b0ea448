/*
 * Documented figures: measured elsewhere, on other hardware, with another runtime. They
 * are shown in the document's own digits, so they are kept as it writes them, too.
 */
#ifndef ENGINE_REFERENCE_H
#define ENGINE_REFERENCE_H

#include <stddef.h>

#define REFERENCE_VALUES 5

/* The values of one metric: one of each documented run, or one average. */
struct reference {
    const char *metric;              /* a name of engine/metric.h's METRICS, "seconds" */
    const char *where;               /* "Linux", "Windows", or "" */
    size_t count;                    /* of the values */
    const char *written;             /* the values: "2.948, 2.394", "76.52e6" */
    double values[REFERENCE_VALUES]; /* in the metric's unit */
};

/* A row of a table of them, which a NULL metric ends. */
#define REFERENCE(name, system, ...)                               \
    {                                                              \
        .metric = name, .where = system,                           \
        .count = sizeof((double[]){__VA_ARGS__}) / sizeof(double), \
        .written = #__VA_ARGS__, .values = {                       \
            __VA_ARGS__                                            \
        }                                                          \
    }

/* The median, which is one of the values where their number is odd, as it is here. */
double reference_median(const struct reference *ref);

/* Digits and unit as the document has them: "2.416 s", "76.52 ms", "112 kB/s". */
void reference_text(const struct reference *ref, char *text, size_t size);

/* All in their order, "2.948 2.394 2.416 2.316 2.496 s"; "" for a single one. */
void reference_list(const struct reference *ref, char *text, size_t size);

/* The first of a table for a metric; NULL when there is none. */
const struct reference *reference_find(const struct reference *table, const char *metric);

#endif
