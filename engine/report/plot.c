#include "engine/report/plot.h"

#include <math.h>
#include <string.h>

#include "engine/report/quote.h"

/* The drawing's own units; the page scales it. */
#define WIDTH 560.0
#define HEIGHT 230.0
#define LEFT 58.0
#define RIGHT 12.0
#define TOP 14.0
#define BOTTOM 24.0
#define TICKS_MAX 24

struct axis {
    double low, high;
    bool is_log;
    double from, to; /* in the drawing */
    size_t tick_count;
    double ticks[TICKS_MAX];
};

static double position(const struct axis *a, double value)
{
    double share = a->is_log ? (log(value) - log(a->low)) / (log(a->high) - log(a->low))
                             : (value - a->low) / (a->high - a->low);

    return a->from + share * (a->to - a->from);
}

static size_t linear_ticks(double low, double high, double *ticks, size_t most)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10((high - low) / (double)most)));
    size_t n = 0;

    for (size_t s = 0; s < 4; s++) {
        double step = steps[s] * power;
        double first = ceil(low / step - 1e-9);
        double last = floor(high / step + 1e-9);

        if (last - first + 1 > (double)most)
            continue;
        for (double k = first; k <= last; k++)
            ticks[n++] = k * step + 0.0; /* never -0 */
        break;
    }
    return n;
}

static size_t log_ticks(double low, double high, double *ticks, size_t most)
{
    static const double within[] = {1, 2, 5};
    double decades = log10(high / low);
    double stride = ceil(decades / (double)most);
    size_t n = 0;

    for (double e = floor(log10(low)); e <= ceil(log10(high)); e += fmax(stride, 1))
        for (size_t k = 0; k < 3; k++) {
            double v = within[k] * pow(10, e);

            if (k && decades * 3 > (double)most)
                break;
            if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9) && n < most)
                ticks[n++] = v;
        }
    return n;
}

size_t plot_ticks(double low, double high, bool log_scale, double *ticks, size_t most)
{
    if (!(high > low) || (log_scale && !(low > 0)))
        return 0;
    return log_scale ? log_ticks(low, high, ticks, most)
                     : linear_ticks(low, high, ticks, most);
}

static bool is_shown(const struct plot *p, const struct plot_line *line, size_t i)
{
    return isfinite(line->x[i]) && isfinite(line->y[i]) &&
           (!p->log_y || line->y[i] > 0) && (!p->log_x || line->x[i] > 0);
}

/* The extent of all values, bands included; false without two values in a line. */
static bool extent(const struct plot *p, struct axis *x, struct axis *y)
{
    bool enough = false;

    *x = (struct axis){
        .low = (double)INFINITY, .high = -(double)INFINITY, .is_log = p->log_x};
    *y = (struct axis){
        .low = (double)INFINITY, .high = -(double)INFINITY, .is_log = p->log_y};
    for (size_t l = 0; l < p->line_count; l++) {
        const struct plot_line *line = &p->lines[l];
        size_t shown = 0;

        for (size_t i = 0; i < line->count; i++) {
            double low, high;

            if (!is_shown(p, line, i))
                continue;
            shown++;
            low = line->low && isfinite(line->low[i]) ? line->low[i] : line->y[i];
            high = line->high && isfinite(line->high[i]) ? line->high[i] : line->y[i];
            x->low = fmin(x->low, line->x[i]);
            x->high = fmax(x->high, line->x[i]);
            y->low = fmin(y->low, p->log_y && low <= 0 ? line->y[i] : low);
            y->high = fmax(y->high, high);
        }
        enough |= shown > 1;
    }
    return enough;
}

/* Round the y axis outwards, to the next tick, so that the highest line has room. */
static void round_up(struct axis *y)
{
    if (y->is_log) {
        y->low = pow(10, floor(log10(y->low) + 1e-9));
        y->high = pow(10, ceil(log10(y->high * 1.0001)));
        return;
    }
    y->low = fmin(0, y->low);
    y->high = y->high > y->low ? y->high : y->low + 1;
    y->tick_count = linear_ticks(y->low, y->high * 1.05, y->ticks, 6);
    if (y->tick_count > 1) {
        double step = y->ticks[1] - y->ticks[0];

        y->high = ceil(y->high / step - 1e-9) * step;
        y->low = floor(y->low / step + 1e-9) * step;
    }
}

static bool lay_out(const struct plot *p, struct axis *x, struct axis *y)
{
    if (!extent(p, x, y))
        return false;
    if (!p->log_x)
        x->low = fmin(0, x->low);
    if (isfinite(p->x_max))
        x->high = p->x_max;
    if (!(x->high > x->low))
        x->high = x->low * (x->is_log ? 10 : 1) + 1;
    round_up(y);
    x->from = LEFT;
    x->to = WIDTH - RIGHT;
    y->from = HEIGHT - BOTTOM;
    y->to = TOP;
    y->tick_count = plot_ticks(y->low, y->high, y->is_log, y->ticks, 7);
    if (p->x_ticks) {
        for (size_t i = 0; i < p->x_tick_count && x->tick_count < TICKS_MAX; i++)
            if (p->x_ticks[i] >= x->low && p->x_ticks[i] <= x->high * (1 + 1e-9))
                x->ticks[x->tick_count++] = p->x_ticks[i];
    } else {
        x->tick_count = plot_ticks(x->low, x->high, x->is_log, x->ticks, 8);
    }
    return true;
}

static void put_axes(FILE *f, const struct plot *p, const struct axis *x,
                     const struct axis *y)
{
    char text[48];

    for (size_t i = 0; i < y->tick_count; i++) {
        double at = position(y, y->ticks[i]);

        fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", x->from, at, x->to);
        p->y_text(y->ticks[i], text, sizeof(text));
        fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", x->from - 6,
                at + 4);
        quote_xml(f, text);
        fputs("</text>", f);
    }
    for (size_t i = 0; i < x->tick_count; i++) {
        double at = position(x, x->ticks[i]);

        fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fv4\"/>", at, y->from);
        p->x_text(x->ticks[i], text, sizeof(text));
        fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", at,
                y->from + 17);
        quote_xml(f, text);
        fputs("</text>", f);
    }
    fputc('\n', f);
}

/* A path through what is shown; gaps begin a new one. */
static void put_path(FILE *f, const struct plot *p, const struct plot_line *line,
                     const struct axis *x, const struct axis *y)
{
    bool drawing = false;

    for (size_t i = 0; i < line->count; i++) {
        bool alone;

        if (!is_shown(p, line, i)) {
            drawing = false;
            continue;
        }
        fprintf(f, "%c%.1f %.1f", drawing ? 'L' : 'M', position(x, line->x[i]),
                position(y, line->y[i]));
        /* A value between two gaps is a dot: a line of no length with round ends. */
        alone = !drawing && (i + 1 == line->count || !is_shown(p, line, i + 1));
        if (alone)
            fputs("h0", f);
        drawing = true;
    }
}

/* The area under a line, each stretch between gaps closed down to the axis. */
static void put_area(FILE *f, const struct plot *p, const struct plot_line *line,
                     const struct axis *x, const struct axis *y)
{
    fputs("<path class=\"area f0\" d=\"", f);
    for (size_t i = 0; i < line->count;) {
        if (!is_shown(p, line, i)) {
            i++;
            continue;
        }
        fprintf(f, "M%.1f %.1f", position(x, line->x[i]), y->from);
        for (; i < line->count && is_shown(p, line, i); i++)
            fprintf(f, "L%.1f %.1f", position(x, line->x[i]), position(y, line->y[i]));
        fprintf(f, "L%.1f %.1fz", position(x, line->x[i - 1]), y->from);
    }
    fputs("\"/>\n", f);
}

static void put_band(FILE *f, const struct plot *p, size_t l, const struct axis *x,
                     const struct axis *y)
{
    const struct plot_line *line = &p->lines[l];

    for (size_t i = 0; i < line->count; i++) {
        double at;

        if (!is_shown(p, line, i) || !isfinite(line->low[i]) ||
            !isfinite(line->high[i]) || (p->log_y && !(line->low[i] > 0)))
            continue;
        at = position(x, line->x[i]) + 3 * ((double)l - (double)(p->line_count - 1) / 2);
        fprintf(f,
                "<path class=\"line s%zu\" style=\"stroke-dasharray:none\" "
                "d=\"M%.1f %.1fV%.1f\"/>",
                l, at, position(y, line->low[i]), position(y, line->high[i]));
    }
}

static void put_dots(FILE *f, const struct plot *p, size_t l, const struct axis *x,
                     const struct axis *y)
{
    const struct plot_line *line = &p->lines[l];

    for (size_t i = 0; i < line->count; i++)
        if (is_shown(p, line, i))
            fprintf(f, "<circle class=\"dot f%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", l,
                    position(x, line->x[i]), position(y, line->y[i]));
}

static void put_lines(FILE *f, const struct plot *p, const struct axis *x,
                      const struct axis *y)
{
    if (p->filled && p->line_count)
        put_area(f, p, &p->lines[0], x, y);
    for (size_t l = 0; l < p->line_count; l++) {
        if (p->lines[l].low && p->lines[l].high)
            put_band(f, p, l, x, y);
        fprintf(f, "<path class=\"line s%zu\" d=\"", l);
        put_path(f, p, &p->lines[l], x, y);
        fputs("\"/>", f);
        if (p->dots)
            put_dots(f, p, l, x, y);
        fputc('\n', f);
    }
}

static void put_marks(FILE *f, const struct plot *p, const struct axis *x,
                      const struct axis *y)
{
    for (size_t i = 0; i < p->mark_count; i++) {
        double at;

        if (!(p->marks[i].x >= x->low && p->marks[i].x <= x->high))
            continue;
        at = position(x, p->marks[i].x);
        fprintf(f, "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"><title>", at, y->from,
                y->to);
        quote_xml(f, p->marks[i].text);
        fprintf(f, "</title></path><text x=\"%.1f\" y=\"%.1f\">", at + 3, y->to - 3);
        quote_xml(f, p->marks[i].text);
        fputs("</text>\n", f);
    }
}

static void put_caption(FILE *f, const struct plot *p)
{
    fputs("<figcaption><b>", f);
    quote_xml(f, p->title);
    fputs("</b>", f);
    if (*p->note) {
        fputs("<small>", f);
        quote_xml(f, p->note);
        fputs("</small>", f);
    }
    for (size_t l = 0; l < p->line_count; l++) {
        fprintf(
            f,
            "<span><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><path class=\"line "
            "s%zu\" d=\"M1 5H25\"/></svg>",
            l);
        quote_xml(f, p->lines[l].name);
        fputs("</span>", f);
    }
    fputs("</figcaption>\n", f);
}

bool plot_figure(FILE *f, const struct plot *p)
{
    struct axis x, y;

    if (!lay_out(p, &x, &y))
        return false;
    fputs("<figure>\n", f);
    put_caption(f, p);
    fprintf(f, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", WIDTH,
            HEIGHT);
    quote_xml(f, p->title);
    fputs("\">\n", f);
    put_axes(f, p, &x, &y);
    put_lines(f, p, &x, &y);
    put_marks(f, p, &x, &y);
    fputs("</svg>\n</figure>\n", f);
    return true;
}
