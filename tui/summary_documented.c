#include "tui/summary.h"

#include <math.h>
#include <stdio.h>

#include "engine/report/load_table.h"
#include "engine/run.h"
#include "engine/statistics.h"
#include "engine/units.h"
#include "tui/figure.h"
#include "tui/metric_label.h"
#include "tui/scale.h"

#define DOCUMENTED 11
#define RATIO 14     /* columns of "12.3 x faster" */
#define LOAD_NAME 13 /* columns of a name in the table of the load */

/* How the run stands to what was documented: "7.8 x faster". */
static void draw_ratio(struct canvas *c, struct area row, enum metric m, double ratio)
{
    bool better = metric_row(m)->better > 0 ? ratio >= 1 : ratio <= 1;
    char text[FIGURE_BYTES];

    if (!isfinite(ratio) || ratio <= 0)
        return;
    metric_format_ratio(m, ratio, text, sizeof(text));
    canvas_text(c, row.x, row.y, row.width, style(better ? PAINT_GOOD : PAINT_WARN),
                text);
}

/* Columns: this run, the documented one, how they stand, and the last run here. */
static void summary_documented_draw_reference(struct page *p, const struct run *r,
                                              const struct reference *ref,
                                              const struct store_entry *last,
                                              bool comparable)
{
    enum metric m = (enum metric)metric_find(ref->metric);
    double median = reference_median(ref);
    struct statistics own;
    char cell[3][FIGURE_BYTES], name[64], list[80];
    struct area row = page_rows(p, 1), end;

    if (m == METRIC_COUNT)
        return;
    run_statistics(r, m, &own);
    figure_metric(m, own.n > 0 ? own.median : UNKNOWN, cell[0], FIGURE_BYTES);
    reference_text(ref, cell[1], FIGURE_BYTES);
    figure_metric(m, last ? last->medians[m] : UNKNOWN, cell[2], FIGURE_BYTES);
    metric_label(m, name, sizeof(name));
    end = row;
    area_take_left(&end, SUMMARY_NAME + SUMMARY_FIGURE + DOCUMENTED + 2);
    canvas_print(p->c, row.x, row.y, SUMMARY_NAME - 1, style(PAINT_TEXT), "%s%s%s", name,
                 ref->where[0] ? " " : "", ref->where);
    canvas_text_right(p->c, row.x + SUMMARY_NAME, row.y, SUMMARY_FIGURE,
                      style(PAINT_STRONG), cell[0]);
    canvas_text_right(p->c, row.x + SUMMARY_NAME + SUMMARY_FIGURE, row.y, SUMMARY_FIGURE,
                      style(PAINT_DIM), cell[1]);
    if (last && end.width >= RATIO + SUMMARY_FIGURE)
        canvas_text_right(p->c, end.x + RATIO, row.y, SUMMARY_FIGURE, style(PAINT_TEXT),
                          cell[2]);
    end.width = end.width > RATIO ? RATIO : end.width;
    if (comparable && own.n > 0 && median > 0)
        draw_ratio(p->c, end, m, own.median / median);
    reference_list(ref, list, sizeof(list));
    if (list[0] != '\0') {
        row = page_rows(p, 1);
        canvas_print(p->c, row.x, row.y, row.width, style(PAINT_DIM), "  of %s", list);
    }
}

typedef char load_cells[LOAD_COLUMNS][FIGURE_BYTES];

static void draw_load_row(struct page *p, const char *name, load_cells cells,
                          struct style s)
{
    struct area row = page_rows(p, 1);

    canvas_text(p->c, row.x, row.y, LOAD_NAME - 1, style(PAINT_TEXT), name);
    for (int k = 0; k < LOAD_COLUMNS; k++)
        canvas_text_right(p->c, row.x + LOAD_NAME + k * SUMMARY_FIGURE, row.y,
                          SUMMARY_FIGURE, s, cells[k]);
}

static void draw_load_figures(struct page *p, const char *name,
                              const struct load_row *load,
                              const double figures[LOAD_COLUMNS], struct style s)
{
    load_cells cells;

    for (int k = 0; k < LOAD_COLUMNS; k++)
        figure_bound(load->metrics[k], figures[k], figures == load->own && load->is_bound,
                     cells[k], FIGURE_BYTES);
    draw_load_row(p, name, cells, s);
}

static void draw_load_documented(struct page *p, const struct load_row *load)
{
    load_cells cells;

    for (int k = 0; k < LOAD_COLUMNS; k++)
        snprintf(cells[k], FIGURE_BYTES, "%s", load->documented_text[k]);
    draw_load_row(p, "  documented", cells, style(PAINT_DIM));
}

static void draw_load_ratio(struct page *p, struct area row, const struct load_row *load)
{
    area_take_left(&row, LOAD_NAME + LOAD_COLUMNS * SUMMARY_FIGURE + 2);
    if (load->documented[LOAD_AVG] > 0)
        draw_ratio(p->c, row, load->metrics[LOAD_AVG],
                   load->own[LOAD_AVG] / load->documented[LOAD_AVG]);
}

static void draw_load_last(struct page *p, const struct load_row *load,
                           const struct store_entry *last)
{
    double figures[LOAD_COLUMNS];

    for (size_t k = 0; k < LOAD_COLUMNS; k++)
        figures[k] = last->medians[load->metrics[k]];
    draw_load_figures(p, "  last run", load, figures, style(PAINT_DIM));
}

/* The table that the document has, with its figures below the run's own. */
static void draw_load(struct page *p, const struct load_table *t,
                      const struct store_entry *last, bool comparable)
{
    static const char *const titles[LOAD_COLUMNS] = {"Avg", "Stdev", "Max"};
    struct area row;

    page_heading(p, t->totals);
    row = page_rows(p, 1);
    for (int k = 0; k < LOAD_COLUMNS; k++)
        canvas_text_right(p->c, row.x + LOAD_NAME + k * SUMMARY_FIGURE, row.y,
                          SUMMARY_FIGURE, style(PAINT_DIM), titles[k]);
    for (size_t i = 0; i < LOAD_ROWS; i++) {
        const struct load_row *load = &t->rows[i];

        row = page_rows(p, 0);
        draw_load_figures(p, load->name, load, load->own, style(PAINT_STRONG));
        if (comparable)
            draw_load_ratio(p, row, load);
        if (t->is_documented)
            draw_load_documented(p, load);
        if (last)
            draw_load_last(p, load, last);
    }
    if (t->replies[0] != '\0')
        page_text(p, style(PAINT_DIM), t->replies);
    page_text(p, style(PAINT_DIM), t->over);
    page_gap(p);
}

/* The documented figures in a list: those that no table has shown. */
static void draw_references(struct page *p, const struct run *r,
                            const struct store_entry *last, bool comparable)
{
    struct area row;

    if (!r->scenario->references[0].metric)
        return;
    row = page_rows(p, 1);
    canvas_text_right(p->c, row.x + SUMMARY_NAME, row.y, SUMMARY_FIGURE, style(PAINT_DIM),
                      "this run");
    canvas_text_right(p->c, row.x + SUMMARY_NAME + SUMMARY_FIGURE, row.y, DOCUMENTED,
                      style(PAINT_DIM), "documented");
    if (last && row.width >= SUMMARY_NAME + 2 * SUMMARY_FIGURE + DOCUMENTED + 2 + RATIO)
        canvas_text_right(p->c,
                          row.x + SUMMARY_NAME + SUMMARY_FIGURE + DOCUMENTED + 2 + RATIO,
                          row.y, SUMMARY_FIGURE, style(PAINT_DIM), "last run");
    for (const struct reference *ref = r->scenario->references; ref->metric; ref++)
        summary_documented_draw_reference(p, r, ref, last, comparable);
}

void summary_draw_documented(struct page *p, const struct run *r,
                             const struct store_entry *last)
{
    struct load_table load;
    char why[512];
    bool comparable = run_is_comparable(r, why, sizeof(why));
    bool with_load = load_table(&load, r);

    if (with_load)
        draw_load(p, &load, last, comparable);
    if (!r->scenario->documented || r->scenario->documented[0] == '\0')
        return;
    page_heading(p, "Beside the documented experiment");
    page_text(p, style(PAINT_DIM), r->scenario->documented);
    page_text(p, style(PAINT_DIM),
              "Documented elsewhere, on other hardware, with another runtime.");
    if (!comparable)
        page_text(p, style(PAINT_WARN), why);
    run_notes(r, why, sizeof(why));
    if (why[0] != '\0')
        page_text(p, style(PAINT_DIM), why);
    if (!with_load || !load.is_documented)
        draw_references(p, r, last, comparable);
    page_gap(p);
}
