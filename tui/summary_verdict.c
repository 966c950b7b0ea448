#include "tui/summary.h"

#include <stdio.h>

#include "engine/run.h"
#include "engine/threshold_verdict.h"
#include "tui/figure.h"

#define SENTENCE 512

static enum paint summary_verdict_outcome_paint(const struct run *r)
{
    switch (r->outcome) {
    case OUTCOME_COMPLETED:
        return PAINT_GOOD;
    case OUTCOME_STOPPED:
        return PAINT_WARN;
    case OUTCOME_EXHAUSTED:
        return r->scenario->exhausted_expected ? PAINT_GOOD : PAINT_WARN;
    case OUTCOME_FAILED:
        break;
    }
    return PAINT_BAD;
}

void summary_draw_outcome(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);
    struct style bold = style(summary_verdict_outcome_paint(r));
    char verdict[200] = "", first[400];

    bold.attributes = ATTR_BOLD;
    snprintf(first, sizeof(first), "%s%s%s%s", outcome_name(r->outcome),
             *r->reason ? ": " : "", r->reason,
             r->outcome == OUTCOME_EXHAUSTED && r->scenario->exhausted_expected
                 ? " (this is the documented outcome)"
                 : "");
    page_text(p, bold, first);
    if (t)
        trial_bottleneck(t, verdict, sizeof(verdict));
    if (verdict[0] != '\0')
        page_text(p, style(PAINT_TEXT), verdict);
    page_gap(p);
}

void summary_draw_thresholds(struct page *p, const struct run *r)
{
    struct threshold_verdict list[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, list);
    const struct glyph_set *g = p->c->glyphs;

    if (n == 0)
        return;
    page_heading(p, "Thresholds");
    for (size_t i = 0; i < n; i++) {
        struct style s = style(list[i].ok ? PAINT_GOOD : PAINT_BAD);
        struct area row = page_rows(p, 0);
        char detail[SENTENCE];

        canvas_put(p->c, row.x, row.y, list[i].ok ? g->check : g->cross, s);
        canvas_text(p->c, row.x + 2, row.y, SUMMARY_NAME - 3, s, list[i].threshold.text);
        figure_sentence(list[i].detail, detail, sizeof(detail));
        page_entry(p, SUMMARY_NAME, s, "", detail);
    }
    page_gap(p);
}

void summary_draw_checks(struct page *p, const struct run *r)
{
    const struct trial *t = run_trial(r);

    if (!t || t->check_count == 0)
        return;
    page_heading(p, "Can these figures be believed?");
    for (size_t i = 0; i < t->check_count; i++) {
        const struct check *check = &t->checks[i];
        const struct glyph_set *g = p->c->glyphs;
        uint32_t glyph = check->verdict == VERDICT_PASS   ? g->check
                         : check->verdict == VERDICT_FAIL ? g->cross
                                                          : g->unknown;
        enum paint paint = check->verdict == VERDICT_PASS   ? PAINT_GOOD
                           : check->verdict == VERDICT_FAIL ? PAINT_BAD
                                                            : PAINT_UNKNOWN;
        struct area row = page_rows(p, 1);
        char detail[SENTENCE];

        figure_sentence(check->detail, detail, sizeof(detail));
        canvas_put(p->c, row.x, row.y, glyph, style(paint));
        canvas_text(p->c, row.x + 2, row.y, row.width - 2, style(paint), check->name);
        page_entry(p, 2, style(PAINT_DIM), "", detail);
    }
    page_gap(p);
}
