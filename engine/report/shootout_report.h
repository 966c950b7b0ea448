/*
 * A shoot-out as text, JSON ("plimsoll.shootout/1"), Markdown and HTML. The functions
 * are those of export formats (engine/report/export.h): `what` is a struct shootout.
 */
#ifndef ENGINE_REPORT_SHOOTOUT_REPORT_H
#define ENGINE_REPORT_SHOOTOUT_REPORT_H

#include <stdio.h>

#include "engine/report/export.h"
#include "engine/shootout.h"

/* json, markdown and html; ended by NULL */
extern const struct export_format *const shootout_formats[];

int shootout_write_text(FILE *f, const void *what);
int shootout_write_json(FILE *f, const void *what);
int shootout_write_markdown(FILE *f, const void *what);
int shootout_write_html(FILE *f, const void *what);

/* The metrics that the documents have figures of; returns how many. */
size_t shootout_metrics(const struct shootout *s, enum metric list[METRIC_COUNT]);

/* "1.02 s", and its interval "0.98 … 1.07 s", "" for fewer than three values. */
void shootout_cell(const struct contestant *c, enum metric metric, char *text,
                   char *interval, size_t size);

/* "2.42 s (Linux): 0.42 x": the documented figures, and what share of them is measured
 * here; "" where the document has none. */
void shootout_documented(const struct contestant *c, enum metric metric, char *text,
                         size_t size);

/* "pipe, by 14 % (9 … 20 %) over unix", "tcp or unix: no evidence which", "-". Where less
 * is better the lead is what is saved. */
void shootout_fastest(const struct shootout *s, const struct shootout_group *g,
                      char *text, size_t size);

/* "unix overtakes pipe at about 40 KiB (95 %: 22 KiB … 55 KiB)" */
void shootout_crossing_text(const struct shootout *s, const struct shootout_crossing *c,
                            char *text, size_t size);

/*
 * "the name looked up once: cached-series, once in 190 ms is 12 x faster (9.1 … 14 x)
 * than udp-cached-series in 2.4 s; turns of the event loop: 1 a message, not 2", with
 * the documented factor where there is one.
 */
void shootout_step_text(const struct shootout *s, const struct shootout_step *step,
                        char *text, size_t size);

/* "7 of 7 rounds in 124 s", and how it was done: a paragraph. */
void shootout_summary(const struct shootout *s, char *text, size_t size);
void shootout_method(const struct shootout *s, char *text, size_t size);

#endif
