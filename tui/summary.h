/*
 * The sections of the summary of a run. Each draws itself on a page, its heading
 * included, or nothing where the run has nothing to say of it.
 */
#ifndef TUI_SUMMARY_H
#define TUI_SUMMARY_H

#include "engine/run.h"
#include "engine/store.h"
#include "tui/page.h"

#define SUMMARY_NAME 20   /* columns of a metric's name */
#define SUMMARY_FIGURE 10 /* columns of a figure */

/* How it ended, and what held it back. */
void summary_draw_outcome(struct page *p, const struct run *r);
void summary_draw_thresholds(struct page *p, const struct run *r);
/* Whether its figures can be believed. */
void summary_draw_checks(struct page *p, const struct run *r);

/* Beside the documented experiment, and the run before it here (NULL: there is none). */
void summary_draw_documented(struct page *p, const struct run *r,
                             const struct store_entry *last);

/* Its metrics: over the trials, of each trial, and of the parts between its marks. */
void summary_draw_statistics(struct page *p, const struct run *r);
void summary_draw_trials(struct page *p, const struct run *r);
void summary_draw_segments(struct page *p, const struct series *s);

/* In detail: latency by quantile, where time and messages went, what was counted. */
void summary_draw_spectrum(struct page *p, const struct run *r);
void summary_draw_times(struct page *p, const struct run *r);
void summary_draw_loss(struct page *p, const struct run *r);
void summary_draw_counts(struct page *p, const struct run *r);

#endif
