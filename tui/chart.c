#include "tui/chart.h"

#include "protocols/array.h"
#include "tui/axes.h"
#include "tui/chart_parts.h"
#include "tui/text.h"

/* Values. */

static double chart_value(const struct chart_line *l, double index)
{
    if (!(index >= 0) || index >= (double)l->count)
        return UNKNOWN;
    return l->values[(size_t)index];
}

/* Between two values, straight; beside a gap, the value that is nearer. */
static double between(const struct chart_line *l, double at)
{
    double before = floor(at), share = at - before;
    double a = chart_value(l, before), b = chart_value(l, before + 1);

    if (isnan(a) || isnan(b))
        return share < 0.5 ? a : b;
    return a + (b - a) * share;
}

static double combine(enum chart_reduce how, double sofar, double value)
{
    if (isnan(sofar))
        return value;
    return how == REDUCE_MAX ? fmax(sofar, value) : sofar + value;
}

/* What a column of dots shows: the values whose middle lies in it. */
static double column_value(const struct chart *ch, const struct axes *ax,
                           const struct chart_line *l, int dx)
{
    double first = (ax->from_s + dx * ax->dot_s - ch->start_s) / ch->step_s;
    double last = first + ax->dot_s / ch->step_s;
    double result = UNKNOWN, known = 0;

    if (last - first < 1)
        return between(l, (first + last) / 2 - 0.5);
    for (double i = ceil(first - 0.5); i < ceil(last - 0.5); i++) {
        double value = chart_value(l, i);

        if (isnan(value))
            continue;
        result = combine(l->reduce, result, value);
        known++;
    }
    return l->reduce == REDUCE_MEAN && known > 0 ? result / known : result;
}

/* The lines up to `index` on top of each other; unknown parts count as nothing. */
static double stacked_value(const struct chart *ch, const struct axes *ax, size_t index,
                            int dx)
{
    double sum = UNKNOWN;

    for (size_t i = 0; i <= index; i++) {
        double value = column_value(ch, ax, &ch->lines[i], dx);

        if (!isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

static double drawn_value(const struct chart *ch, const struct axes *ax, size_t index,
                          int dx)
{
    if (ch->form == CHART_STACK)
        return stacked_value(ch, ax, index, dx);
    return column_value(ch, ax, &ch->lines[index], dx);
}

/* The least and the greatest value in the picture; false when there is none. */
static bool find_range(const struct chart *ch, const struct axes *ax, double *low,
                       double *high)
{
    bool found = false;

    for (size_t i = 0; i < ch->line_count; i++)
        for (int dx = 0; dx < ax->wide; dx++) {
            double value = drawn_value(ch, ax, i, dx);

            if (isnan(value) || (ch->is_log && value <= 0))
                continue;
            *low = !found || value < *low ? value : *low;
            *high = !found || value > *high ? value : *high;
            found = true;
        }
    return found;
}

/* Plots. */

/*
 * A known zero is a line at the bottom, an unknown value nothing: without it a filled
 * plot could not tell one from the other.
 */
static void draw_zero(struct canvas *c, const struct axes *ax, int dx)
{
    int x = ax->cells.x + dx / c->glyphs->dots_wide;
    int y = ax->cells.y + ax->cells.height - 1;

    if (c->glyphs->level == GLYPHS_BRAILLE)
        canvas_dot(c, ax->cells.x * c->glyphs->dots_wide + dx,
                   (y + 1) * c->glyphs->dots_high - 1, style(PAINT_DIM));
    else if (canvas_at(c, x, y) && (canvas_at(c, x, y)->code == ' ' ||
                                    canvas_at(c, x, y)->code == c->glyphs->grid))
        canvas_put(c, x, y,
                   c->glyphs->level == GLYPHS_ASCII ? '_' : c->glyphs->horizontal,
                   style(PAINT_DIM));
}

/* How columns of dots are filled from the axis. */
struct chart_fill {
    int base;              /* the row of dots next to the axis */
    int full;              /* dots of a full column */
    int direction;         /* 1 upward, -1 downward */
    const enum ramp *ramp; /* painted by height; NULL: all in `paint` */
    enum paint paint;
};

/* Dots of a filled column: a value above zero shows at least one. */
static int fill_height(const struct axes *ax, double value, int full)
{
    int height;

    if (isnan(value) || value <= 0)
        return 0;
    height = (int)lround(scale_place(&ax->scale, value) * full);
    return height < 1 ? 1 : height > full ? full : height;
}

static void fill_column(struct canvas *c, const struct axes *ax,
                        const struct chart_fill *f, int dx, double value)
{
    int x = ax->cells.x * c->glyphs->dots_wide + dx;
    int height = fill_height(ax, value, f->full);

    for (int h = 0; h < height; h++) {
        /* One paint a row of cells: that of the row's middle. */
        int cell = h / c->glyphs->dots_high * c->glyphs->dots_high;
        double level = (cell + c->glyphs->dots_high * 0.5) / f->full;

        canvas_dot(c, x, f->base - f->direction * h,
                   style(f->ramp ? theme_ramp(*f->ramp, level) : f->paint));
    }
}

/* Upward from the bottom of the plot. */
static struct chart_fill fill_from_bottom(const struct canvas *c, const struct axes *ax)
{
    int bottom = ax->cells.y + ax->cells.height;

    return (struct chart_fill){
        .base = bottom * c->glyphs->dots_high - 1, .full = ax->high, .direction = 1};
}

static void draw_area(struct canvas *c, const struct axes *ax, const struct chart *ch)
{
    struct chart_fill fill = fill_from_bottom(c, ax);

    fill.ramp = &ch->ramp;
    for (int dx = 0; dx < ax->wide; dx++) {
        double value = column_value(ch, ax, &ch->lines[0], dx);

        if (value <= 0)
            draw_zero(c, ax, dx);
        fill_column(c, ax, &fill, dx, value);
    }
}

static void draw_mirror(struct canvas *c, const struct axes *ax, const struct chart *ch)
{
    int dots = c->glyphs->dots_high;
    struct chart_fill above = {.base = ax->middle * dots - 1,
                               .full = (ax->middle - ax->cells.y) * dots,
                               .direction = 1,
                               .ramp = &ch->ramp};
    struct chart_fill below = {.base = (ax->middle + 1) * dots,
                               .full = (ax->cells.y + ax->cells.height - 1 - ax->middle) *
                                       dots,
                               .direction = -1,
                               .ramp = &ch->ramp_below};

    for (int dx = 0; dx < ax->wide; dx++) {
        double up = column_value(ch, ax, &ch->lines[0], dx);

        /* The line between the halves is there where something is known. */
        if (!isnan(up))
            canvas_put(c, ax->cells.x + dx / c->glyphs->dots_wide, ax->middle,
                       c->glyphs->horizontal, style(PAINT_DIM));
        fill_column(c, ax, &above, dx, up);
        if (ch->line_count >= 2)
            fill_column(c, ax, &below, dx, column_value(ch, ax, &ch->lines[1], dx));
    }
}

/* Painted from the top line down, so that each covers the part below its own. */
static void draw_stack(struct canvas *c, const struct axes *ax, const struct chart *ch)
{
    struct chart_fill fill = fill_from_bottom(c, ax);

    for (int dx = 0; dx < ax->wide; dx++)
        if (stacked_value(ch, ax, ch->line_count - 1, dx) <= 0)
            draw_zero(c, ax, dx);
    for (size_t i = ch->line_count; i-- > 0;) {
        fill.paint = ch->lines[i].paint;
        for (int dx = 0; dx < ax->wide; dx++)
            if (!isnan(column_value(ch, ax, &ch->lines[i], dx)))
                fill_column(c, ax, &fill, dx, stacked_value(ch, ax, i, dx));
    }
}

static int line_dot(const struct axes *ax, double value)
{
    int dy = ax->high - 1 - (int)lround(scale_place(&ax->scale, value) * (ax->high - 1));

    return dy < 0 ? 0 : dy >= ax->high ? ax->high - 1 : dy;
}

static void draw_line_dot(struct canvas *c, const struct axes *ax, size_t index, int dx,
                          int dy, struct style s)
{
    const struct glyph_set *g = c->glyphs;

    if (g->level == GLYPHS_ASCII)
        canvas_put(c, ax->cells.x + dx / g->dots_wide, ax->cells.y + dy / g->dots_high,
                   chart_legend_bullet(c, index), s);
    else
        canvas_dot(c, ax->cells.x * g->dots_wide + dx, ax->cells.y * g->dots_high + dy,
                   s);
}

static void chart_draw_line(struct canvas *c, const struct axes *ax,
                            const struct chart *ch, size_t index)
{
    const struct chart_line *l = &ch->lines[index];
    int before = -1;

    for (int dx = 0; dx < ax->wide; dx++) {
        double value = column_value(ch, ax, l, dx);
        int dy, from;

        if (isnan(value)) {
            before = -1;
            continue;
        }
        dy = line_dot(ax, value);
        from = before < 0 ? dy : before < dy ? before + 1 : before > dy ? before - 1 : dy;
        for (int y = from; y != dy; y += y < dy ? 1 : -1)
            draw_line_dot(c, ax, index, dx, y, style(l->paint));
        draw_line_dot(c, ax, index, dx, dy, style(l->paint));
        before = dy;
    }
}

/* The last value in the picture, for the name at the right end of a line. */
static double last_value(const struct chart *ch, const struct axes *ax, size_t index)
{
    for (int dx = ax->wide - 1; dx >= 0; dx--) {
        double value = column_value(ch, ax, &ch->lines[index], dx);

        if (!isnan(value))
            return value;
    }
    return UNKNOWN;
}

/*
 * The names at the right ends, in the order of the values, each at its line's height or
 * as near below it as the names above allow.
 */
static void name_lines(struct canvas *c, const struct axes *ax, const struct chart *ch,
                       int columns)
{
    size_t order[LEGEND_MAX], count = 0;
    double last[LEGEND_MAX];
    int y = ax->cells.y, bottom = ax->cells.y + ax->cells.height;

    for (size_t i = 0; i < ch->line_count && i < LEGEND_MAX; i++) {
        size_t at = count;

        last[i] = last_value(ch, ax, i);
        if (isnan(last[i]))
            continue;
        for (; at > 0 && last[order[at - 1]] < last[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
        count++;
    }
    for (size_t k = 0; k < count; k++) {
        const struct chart_line *l = &ch->lines[order[k]];
        int row = ax->cells.y + line_dot(ax, last[order[k]]) / c->glyphs->dots_high;

        y = row > y ? row : y;
        /* Leave room for those that follow, as far as there is any. */
        if (y > bottom - (int)(count - k))
            y = bottom - (int)(count - k);
        if (y >= ax->cells.y)
            canvas_text(c, ax->cells.x + ax->cells.width + 1, y, columns - 1,
                        style(l->paint), l->name);
        y++;
    }
}

/*
 * Where the legend had no room for names, those of a filled plot are written in it:
 * nothing is shown by its colour alone.
 */
static void name_parts(struct canvas *c, const struct axes *ax, const struct chart *ch)
{
    for (size_t i = 0; i < ch->line_count; i++) {
        int columns = text_columns(ch->lines[i].name) + 2;
        int y = ax->cells.y + (int)i;

        /* The labels of marks stand in the first row. */
        y += ch->mark_count > 0 && ax->cells.height > 4;
        if (ch->form == CHART_MIRROR && i == 1)
            y = ax->cells.y + ax->cells.height - 1;
        if (columns > ax->cells.width || y >= ax->cells.y + ax->cells.height)
            return;
        canvas_put(c, ax->cells.x + ax->cells.width - columns, y,
                   chart_legend_bullet(c, i), style(ch->lines[i].paint));
        canvas_text_right(c, ax->cells.x + ax->cells.width - columns + 1, y, columns - 1,
                          style(PAINT_DIM), ch->lines[i].name);
    }
}

/* Putting it together. */

static int name_columns(const struct chart *ch, struct area inner)
{
    int columns = 0;

    if (ch->form != CHART_LINES || ch->line_count < 2 || inner.width < 36)
        return 0;
    for (size_t i = 0; i < ch->line_count; i++) {
        int n = text_columns(ch->lines[i].name);

        columns = n > columns ? n : columns;
    }
    return columns + 1;
}

static void make_scale(const struct chart *ch, struct axes *ax, double low, double high)
{
    size_t ticks = (size_t)ax->cells.height / 3 + 2;

    ax->quantity = ch->quantity;
    ax->per = ch->per;
    ax->is_mirror = ch->form == CHART_MIRROR;
    if (ax->is_mirror)
        ticks = (size_t)ax->cells.height / 6 + 2;
    if (ch->least_top > high)
        high = ch->least_top;
    ax->scale = ch->is_log ? scale_log(low, high, ticks) : scale_linear(high, ticks);
}

static void draw_plot(struct canvas *c, const struct axes *ax, const struct chart *ch)
{
    switch (ch->form) {
    case CHART_AREA:
        draw_area(c, ax, ch);
        break;
    case CHART_MIRROR:
        draw_mirror(c, ax, ch);
        break;
    case CHART_STACK:
        draw_stack(c, ax, ch);
        break;
    case CHART_LINES:
        for (size_t i = ch->line_count; i-- > 0;)
            chart_draw_line(c, ax, ch, i);
        break;
    }
}

void chart_draw(struct canvas *c, struct area a, const struct chart *ch)
{
    struct area before = canvas_clip(c, a);
    struct axes ax = axes_begin(c, a, ch->title, ch->focused);
    int names = name_columns(ch, ax.inner);
    double low = 0, high = 0;
    bool named = false;

    if (ax.inner.y != a.y)
        named = chart_legend_draw(c, a, ch);
    area_take_right(&ax.cells, names);
    axes_measure(&ax, c, ch->from_s, ch->to_s);
    if (ch->line_count == 0 || !(ch->to_s > ch->from_s) || !(ch->step_s > 0) ||
        !find_range(ch, &ax, &low, &high)) {
        axes_draw_empty(c, &ax, ch->empty);
    } else if (ax.cells.height > 0) {
        make_scale(ch, &ax, low, high);
        axes_draw_values(c, &ax);
        draw_plot(c, &ax, ch);
        if (names > 0)
            name_lines(c, &ax, ch, names);
        else if (!named && ch->form != CHART_LINES && ch->line_count > 1)
            name_parts(c, &ax, ch);
        /* Last: their labels go where they hide least of the rest. */
        chart_marks_draw(c, &ax, ch->marks, ch->mark_count);
        axes_draw_time(c, &ax);
    }
    canvas_unclip(c, before);
}

double chart_span(double seconds)
{
    static const double spans[] = {2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600};
    size_t n = NUMBER_OF(spans);

    for (size_t i = 0; i < n; i++)
        if (seconds <= spans[i])
            return spans[i];
    return ceil(seconds / 3600) * 3600;
}
