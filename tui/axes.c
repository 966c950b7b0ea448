#include "tui/axes.h"

#include <string.h>

#include "tui/text.h"

#define LABEL_COLUMNS 7 /* of the figures at the left */

struct axes axes_begin(struct canvas *c, struct area a, const char *title, bool focused)
{
    struct axes ax = {.inner = a, .per = ""};

    if (a.height >= 4 && a.width >= 12) {
        canvas_box(c, a, title, focused);
        ax.inner = area_inside(a);
    }
    ax.cells = ax.inner;
    ax.is_labelled = ax.inner.width >= 24;
    ax.is_timed = ax.inner.height >= 5;
    if (ax.is_timed)
        ax.cells.height--;
    if (ax.is_labelled)
        area_take_left(&ax.cells, LABEL_COLUMNS + 1);
    return ax;
}

void axes_measure(struct axes *ax, const struct canvas *c, double from_s, double to_s)
{
    ax->wide = ax->cells.width * c->glyphs->dots_wide;
    ax->high = ax->cells.height * c->glyphs->dots_high;
    ax->from_s = from_s;
    ax->to_s = to_s;
    ax->dot_s = (to_s - from_s) / (ax->wide > 0 ? ax->wide : 1);
    ax->middle = ax->cells.y + ax->cells.height / 2;
}

static int value_row(const struct axes *ax, double value)
{
    double place = scale_place(&ax->scale, value);

    return ax->cells.y + ax->cells.height - 1 -
           (int)lround(place * (ax->cells.height - 1));
}

static void draw_tick(struct canvas *c, const struct axes *ax, int row, double value)
{
    char label[SCALE_LABEL];
    struct style faint = style(PAINT_FAINT);

    for (int x = 0; x < ax->cells.width; x++)
        canvas_put(c, ax->cells.x + x, row, c->glyphs->grid, faint);
    if (!ax->is_labelled)
        return;
    scale_label(ax->quantity, value, label);
    canvas_text_right(c, ax->cells.x - 1 - LABEL_COLUMNS, row, LABEL_COLUMNS,
                      style(PAINT_DIM), label);
    canvas_put(c, ax->cells.x - 1, row, c->glyphs->tee_right, faint);
}

void axes_draw_values(struct canvas *c, const struct axes *ax)
{
    struct style faint = style(PAINT_FAINT);
    int above;

    for (int y = 0; ax->is_labelled && y < ax->cells.height; y++)
        canvas_put(c, ax->cells.x - 1, ax->cells.y + y, c->glyphs->axis, faint);
    for (size_t i = 0; i < ax->scale.ticks; i++) {
        double value = ax->scale.tick[i];

        if (!ax->is_mirror) {
            draw_tick(c, ax, value_row(ax, value), value);
            continue;
        }
        above = (int)lround(scale_place(&ax->scale, value) * (ax->middle - ax->cells.y));
        draw_tick(c, ax, ax->middle - above, value);
        if (ax->middle + above < ax->cells.y + ax->cells.height)
            draw_tick(c, ax, ax->middle + above, value);
    }
}

/* Labels each centred on its tick, none over another or beyond an end. */
void axes_draw_time(struct canvas *c, const struct axes *ax)
{
    struct scale span =
        scale_span(ax->from_s, ax->to_s, (size_t)ax->cells.width / 12 + 2);
    int free_from = ax->cells.x, end = ax->cells.x + ax->cells.width;
    int row = ax->cells.y + ax->cells.height;

    if (!ax->is_timed)
        return;
    for (size_t i = 0; i < span.ticks; i++) {
        char label[SCALE_LABEL];
        int x = ax->cells.x + (int)(scale_place(&span, span.tick[i]) * ax->cells.width);
        int columns;

        scale_label(QUANTITY_SECONDS, span.tick[i], label);
        columns = text_columns(label);
        x -= columns / 2;
        if (x < free_from && i == 0)
            x = free_from;
        if (x + columns > end)
            x = end - columns;
        if (x < free_from)
            continue;
        canvas_text(c, x, row, columns, style(PAINT_DIM), label);
        free_from = x + columns + 2;
    }
    /* The figures at the left have no room for it; it stands below them. */
    if (ax->is_labelled && strcmp(ax->per, "/s") == 0)
        canvas_text_right(c, ax->inner.x, row, LABEL_COLUMNS - 1, style(PAINT_DIM),
                          "per s");
}

void axes_draw_empty(struct canvas *c, const struct axes *ax, const char *empty)
{
    struct area a = ax->inner;
    const char *text = empty ? empty : "no data yet";
    int columns = text_columns(text);

    if (a.height < 1)
        return;
    if (columns > a.width && a.height >= 3 && a.width > 4) {
        struct area lines = {a.x + 1, a.y + a.height / 2 - 1, a.width - 2, 3};

        canvas_paragraph(c, lines, style(PAINT_UNKNOWN), text);
        return;
    }
    columns = columns > a.width ? a.width : columns;
    canvas_text(c, a.x + (a.width - columns) / 2, a.y + (a.height - 1) / 2, columns,
                style(PAINT_UNKNOWN), text);
}
