/*
 * A comparison as text, JSON ("plimsoll.compare/1"), Markdown and HTML. The functions
 * are those of export formats (engine/report/export.h): `what` is a struct comparison.
 * They return 0 or a negative errno; errors of the stream are found by the caller.
 */
#ifndef ENGINE_REPORT_COMPARE_REPORT_H
#define ENGINE_REPORT_COMPARE_REPORT_H

#include <stdio.h>

#include "engine/compare.h"
#include "engine/report/export.h"

/* json, markdown and html; ended by NULL */
extern const struct export_format *const compare_formats[];

int compare_write_text(FILE *f, const void *what);
int compare_write_json(FILE *f, const void *what);
int compare_write_markdown(FILE *f, const void *what);
int compare_write_html(FILE *f, const void *what);

/* "better in throughput", "no evidence of a difference": the whole in a few words. */
void compare_summary(const struct comparison *c, char *text, size_t size);

/*
 * A difference in words: "+5.1 %" of A's median; "+0.52 points" for metrics that are
 * per cent themselves; in the metric's unit where A's median is zero. "-" when unknown.
 * `value` and `share` are the estimate's, or those of an end of the interval.
 */
void compare_difference_text(const struct compared *row, double value, double share,
                             char *text, size_t size);
void compare_interval_text(const struct compared *row, char *text, size_t size);

/* "better", "no evidence: may be chance" */
void compare_verdict_text(const struct compared *row, char *text, size_t size);

/* "10 trials of tcp-requests", and the ids of the runs: "; runs a1b2 c3d4" */
void compare_side_text(const struct compare_side *side, char *text, size_t size);

#endif
