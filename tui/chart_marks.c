#include "tui/chart_parts.h"

#include <limits.h>
#include <math.h>

#include "tui/text.h"

#define MARK_ROWS 16 /* in which labels may stand */

/* Whether a cell of the plot shows no value: it is blank, grid, or the line of a mark. */
static bool is_vacant(const struct canvas *c, const struct cell *cell)
{
    return cell->code == ' ' || cell->code == c->glyphs->grid ||
           cell->code == c->glyphs->mark;
}

/* A line through the whole height; nothing at column -1. */
static void marks_draw_line(struct canvas *c, const struct axes *ax, int x)
{
    for (int y = ax->cells.y; y < ax->cells.y + ax->cells.height; y++) {
        const struct cell *cell = canvas_at(c, x, y);

        if (cell)
            canvas_put(c, x, y, is_vacant(c, cell) ? c->glyphs->mark : cell->code,
                       style(PAINT_MARK));
    }
}

/* The column of a mark; -1 when it is not in the picture. */
static int column_of(const struct canvas *c, const struct axes *ax, double at_s)
{
    double at = (at_s - ax->from_s) / ax->dot_s / c->glyphs->dots_wide;

    return at >= 0 && at < ax->cells.width ? ax->cells.x + (int)floor(at) : -1;
}

/* How many values a label at this place would hide. */
static int hidden_values(const struct canvas *c, int x, int y, int columns)
{
    int hidden = 0;

    for (int i = 0; i < columns; i++) {
        const struct cell *cell = canvas_at(c, x + i, y);

        hidden += cell && !is_vacant(c, cell);
    }
    return hidden;
}

/*
 * The row for a label, of those whose label before is not in the way: where it hides the
 * fewest values, and the uppermost of these. -1: there is none.
 */
static int label_row(const struct canvas *c, const struct axes *ax, int x, int columns,
                     const int free_from[], int rows)
{
    int best = -1, fewest = INT_MAX;

    for (int row = 0; row < rows; row++) {
        int hidden = hidden_values(c, x, ax->cells.y + row, columns);

        if (free_from[row] <= x && hidden < fewest)
            best = row, fewest = hidden;
    }
    return best;
}

void chart_marks_draw(struct canvas *c, const struct axes *ax,
                      const struct chart_mark *marks, size_t count)
{
    int free_from[MARK_ROWS], right = ax->cells.x + ax->cells.width;
    int rows = ax->cells.height < MARK_ROWS ? ax->cells.height : MARK_ROWS;

    for (int i = 0; i < MARK_ROWS; i++)
        free_from[i] = ax->cells.x;
    /* All lines first: a later one would shine through the blanks of a label. */
    for (size_t i = 0; i < count; i++)
        marks_draw_line(c, ax, column_of(c, ax, marks[i].at_s));
    for (size_t i = 0; i < count; i++) {
        int x = column_of(c, ax, marks[i].at_s), row, columns, next = -1;

        if (x < 0)
            continue;
        if (i + 1 < count)
            next = column_of(c, ax, marks[i + 1].at_s);
        if (next >= x && next <= x + 1)
            continue;
        columns = text_columns(marks[i].label);
        columns = columns < right - x ? columns : right - x;
        row = label_row(c, ax, x, columns, free_from, rows);
        if (row >= 0)
            free_from[row] = x + 1 +
                             canvas_text(c, x, ax->cells.y + row, columns,
                                         style(PAINT_MARK), marks[i].label);
    }
}
