/*
 * Export formats. A format of a run is a line in EXPORT_LIST and one function in a file
 * of its own, engine/report/export_NAME.c. Each is an option of `run` (--NAME FILE), a
 * --format of `export` and an entry of the console's export dialog. Comparisons and
 * shoot-outs have formats of their own (compare_report.h, shootout_report.h).
 *
 * Whatever the locale, a file is written under the C locale: its decimal point is '.'.
 * A number that was not measured is absent, empty or null, never 0. A run that was
 * stopped or that failed gives a valid file of what was measured, in every format.
 */
#ifndef ENGINE_REPORT_EXPORT_H
#define ENGINE_REPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/run.h"
#include "protocols/fail.h"

/*
 * X(id, name, letter, extension, families, holds, help): the option is --name (or
 * -letter); a run whose scenario is not of the families is refused, and the sentence
 * says what the format `holds`. The function is
 *
 *   int export_write_ID(FILE *f, const struct run *r)
 *
 * and writes the whole; errors of the stream are found by its caller. It returns 0 or
 * -errno; -ENODATA when the run has nothing of what the format holds.
 */
#define EXPORT_LIST(X)                                                          \
    X(json, "json", 'j', ".json", FAMILY_ALL, "results",                        \
      "the whole result as one JSON document")                                  \
    X(csv, "csv", 0, ".csv", FAMILY_ALL, "results",                             \
      "a table, one row for each trial and metric")                             \
    X(series, "csv-series", 0, ".series.csv", FAMILY_ALL, "results",            \
      "a table of the counters over time")                                      \
    X(markdown, "markdown", 0, ".md", FAMILY_ALL, "results",                    \
      "a table to paste into a pull request")                                   \
    X(html, "html", 0, ".html", FAMILY_ALL, "results",                          \
      "one page with charts, for a browser or for paper")                       \
    X(hgrm, "hgrm", 0, ".hgrm", FAMILY_OPERATIONS, "latencies",                 \
      "the percentiles of the latency, in ms, as HdrHistogram prints them")     \
    X(hlog, "hlog", 0, ".hlog", FAMILY_OPERATIONS, "latencies",                 \
      "the latencies by the second, as an interval log of HdrHistogram")        \
    X(openmetrics, "openmetrics", 0, ".prom", FAMILY_ALL, "results",            \
      "metrics in the text format of OpenMetrics")                              \
    X(junit, "junit", 0, ".xml", FAMILY_ALL, "results",                         \
      "outcome and checks as test cases, in JUnit's XML")                       \
    X(autocannon, "autocannon", 0, ".autocannon.json", FAMILY_WEB, "HTTP load", \
      "the result in the layout of autocannon's JSON")                          \
    X(iperf3, "iperf3", 0, ".iperf3.json", FAMILY_BULK | FAMILY_UDP,            \
      "bulk transfers and datagrams", "the last trial in the layout of iperf3's JSON")

/* A format of a run, of a comparison or of a shoot-out: `what` is one of these. */
struct export_format {
    const char *name; /* "json" */
    int (*write)(FILE *f, const void *what);

    /* Of runs alone, since not every format can hold every run: */
    const char *extension; /* ".json" */
    const char *help;      /* one line */
    unsigned families;     /* of the scenarios that it can hold */
    const char *holds;     /* "latencies": what a refusal says */
    const struct scenario *(*scenario)(const void *what); /* of the run */
};

#define X(id, name, letter, extension, families, holds, help) \
    int export_write_##id(FILE *f, const struct run *r);
EXPORT_LIST(X)
#undef X

/* The flags of a command that exports: rows of `struct flag`, one a format. */
#define EXPORT_FLAG(id, name, letter, extension, families, holds, help) \
    {name, letter, "FILE", "write " help "; - is standard output"},
#define EXPORT_FLAGS                                                        \
    EXPORT_LIST(EXPORT_FLAG){"force", 0, NULL, "replace files that exist"}, \
        EXPORT_SECRETS_FLAG

#define EXPORT_SECRETS_FLAG                                                            \
    {                                                                                  \
        "keep-secrets", 0, NULL,                                                       \
            "show the values of Authorization, Cookie and Proxy-Authorization as well" \
    }

/* Ended by NULL. */
const struct export_format *const *export_table(void);
const struct export_format *export_find(const char *name);

/*
 * Whether an export to `path` could be made, to be asked before the work: a file that
 * exists may be replaced, and the format holds runs of the scenario, which is NULL for
 * what is not a single run. 0 or -EINVAL with a sentence.
 */
int export_check(const struct export_format *format, const struct scenario *scenario,
                 const char *path, bool force, struct fail *fail);

/* Whether two paths, neither of them "-", are of one file, in which one thing fits. */
bool export_same_file(const char *a, const char *b);

/*
 * Write to a file: under a temporary name in the same directory, then renamed, so that
 * nobody ever sees half of one. "-" is standard output; a device or a pipe is written
 * as it is. With `force` false a file that exists is refused (EEXIST). 0 or -errno with
 * a sentence; without one where standard output takes no more, which command_flush says.
 */
int export_to_file(const struct export_format *format, const void *what, const char *path,
                   bool force, struct fail *fail);

/* The same by a function alone; `name` is for the sentence: "the NAME". */
int export_through(int (*write)(FILE *f, const void *what), const void *what,
                   const char *name, const char *path, bool force, struct fail *fail);

#endif
