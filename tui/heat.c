#include "tui/heat.h"

#include <math.h>

#include "tui/axes.h"

struct heat_grid {
    const struct heat *heat;
    struct axes axes;
    int rows; /* of the picture: two a cell where the ground can be painted too */
    double top;
};

/* The steps that a column of the picture stands for; from == to where none is known. */
struct heat_steps {
    size_t from, to;
};

static struct heat_steps heat_steps(const struct heat_grid *g, int x)
{
    const struct heat *h = g->heat;
    double cell_s = (h->to_s - h->from_s) / g->axes.cells.width;
    double first = (h->from_s + x * cell_s - h->start_s) / h->step_s;
    double last = first + cell_s / h->step_s;

    if (last - first < 1) /* wider than a step: the step in which the middle lies */
        first = floor((first + last) / 2), last = first + 1;
    first = ceil(first - 0.5);
    last = fmax(ceil(last - 0.5), first + 1);
    if (first < 0 || first >= (double)h->steps)
        return (struct heat_steps){0, 0};
    return (struct heat_steps){(size_t)first, (size_t)fmin(last, (double)h->steps)};
}

/* The count that a cell stands for: the steps and rows that it covers, summed. */
static double heat_at(const struct heat_grid *g, struct heat_steps steps, int row)
{
    const struct heat *h = g->heat;
    size_t low = (size_t)row * h->rows / (size_t)g->rows;
    size_t high = ((size_t)row + 1) * h->rows / (size_t)g->rows;
    double sum = 0;

    high = high > low ? high : low + 1;
    for (size_t i = steps.from; i < steps.to; i++)
        for (size_t r = low; r < high && r < h->rows; r++)
            sum += h->counts[i * h->rows + r];
    return sum;
}

/* Shares of the densest cell; the square root keeps rare counts visible. */
static double heat_level(const struct heat_grid *g, struct heat_steps steps, int row)
{
    double count = heat_at(g, steps, row);

    return count > 0 && g->top > 0 ? sqrt(count / g->top) : 0;
}

/* Two rows of the picture in one cell: text paint above, ground paint below. */
static void heat_halves(struct canvas *c, const struct heat_grid *g,
                        struct heat_steps steps, int x, int y)
{
    int row = 2 * (g->axes.cells.height - 1 - y);
    double above = heat_level(g, steps, row + 1), below = heat_level(g, steps, row);
    int column = g->axes.cells.x + x, line = g->axes.cells.y + y;

    if (above > 0 && below > 0)
        canvas_put(c, column, line, 0x2580,
                   style_on(theme_ramp(RAMP_HEAT, above), theme_ramp(RAMP_HEAT, below)));
    else if (above > 0)
        canvas_put(c, column, line, 0x2580, style(theme_ramp(RAMP_HEAT, above)));
    else if (below > 0)
        canvas_put(c, column, line, 0x2584, style(theme_ramp(RAMP_HEAT, below)));
}

static void heat_shade(struct canvas *c, const struct heat_grid *g,
                       struct heat_steps steps, int x, int y)
{
    double level = heat_level(g, steps, g->axes.cells.height - 1 - y);
    int shade = (int)ceil(level * 4);

    if (level > 0)
        canvas_put(c, g->axes.cells.x + x, g->axes.cells.y + y,
                   c->glyphs->shades[shade > 4 ? 4 : shade],
                   style(theme_ramp(RAMP_HEAT, level)));
}

static void heat_fill(struct canvas *c, struct heat_grid *g, bool halves)
{
    g->top = 0;
    for (int x = 0; x < g->axes.cells.width; x++) {
        struct heat_steps steps = heat_steps(g, x);

        for (int row = 0; row < g->rows && steps.from < steps.to; row++)
            g->top = fmax(g->top, heat_at(g, steps, row));
    }
    for (int x = 0; x < g->axes.cells.width; x++) {
        struct heat_steps steps = heat_steps(g, x);

        for (int y = 0; y < g->axes.cells.height && steps.from < steps.to; y++)
            halves ? heat_halves(c, g, steps, x, y) : heat_shade(c, g, steps, x, y);
    }
}

static bool heat_is_empty(const struct heat *h)
{
    for (size_t i = 0; i < h->steps * h->rows; i++)
        if (h->counts[i] > 0)
            return false;
    return true;
}

void heat_draw(struct canvas *c, struct area a, const struct heat *h)
{
    struct area before = canvas_clip(c, a);
    struct heat_grid g = {.heat = h, .axes = axes_begin(c, a, h->title, h->focused)};
    struct axes *ax = &g.axes;
    bool halves = c->colours >= 256 && c->glyphs->level != GLYPHS_ASCII;

    axes_measure(ax, c, h->from_s, h->to_s);
    g.rows = ax->cells.height * (halves ? 2 : 1);
    if (h->rows == 0 || !(h->to_s > h->from_s) || heat_is_empty(h)) {
        axes_draw_empty(c, ax, h->empty);
    } else if (ax->cells.height > 0) {
        ax->quantity = h->quantity;
        ax->scale = scale_log(h->low, h->high, (size_t)ax->cells.height / 3 + 2);
        axes_draw_values(c, ax);
        heat_fill(c, &g, halves);
        axes_draw_time(c, ax);
    }
    canvas_unclip(c, before);
}
