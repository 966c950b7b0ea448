#include "engine/report/run_plots.h"

#include <math.h>
#include <stdlib.h>

#include "engine/units.h"
#include "protocols/array.h"

#define MARKS_MAX (SERIES_MARKS + 32)

/* What one line shows of a slot; NaN where that is not known. */
struct view {
    const char *name;
    double (*value)(const struct run *r, const struct series_slot *slot, int argument);
    int argument;
};

/* Everything that the charts of one run share. */
struct drawing {
    FILE *f;
    const struct run *r;
    size_t count;
    double *x;
    double *y[PLOT_LINES];
    size_t mark_count;
    struct plot_mark marks[MARKS_MAX];
    char names[32][16]; /* of the trials */
};

static void seconds_text(double s, char *text, size_t size)
{
    if (s == floor(s))
        snprintf(text, size, "%.0f s", s);
    else
        snprintf(text, size, "%.3g s", s);
}

static void bytes_text(double rate, char *text, size_t size)
{
    char number[40];

    units_format_bytes(rate, number, sizeof(number));
    snprintf(text, size, "%s/s", number);
}

static void count_text(double rate, char *text, size_t size)
{
    char number[40];

    units_format_count(rate, number, sizeof(number));
    snprintf(text, size, "%s/s", number);
}

static void cores_text(double cores, char *text, size_t size)
{
    snprintf(text, size, "%.3g %%", 100 * cores);
}

static void percent_text(double percent, char *text, size_t size)
{
    snprintf(text, size, "%.3g %%", percent);
}

static void spectrum_text(double x, char *text, size_t size)
{
    snprintf(text, size, "%.6g %%", 100 * (1 - 1 / x));
}

static double received_bytes(const struct run *r, const struct series_slot *slot,
                             int place)
{
    (void)r;
    return series_rate(&slot->places[place], slot->places[place].counters.received_bytes);
}

static double received_messages(const struct run *r, const struct series_slot *slot,
                                int place)
{
    const struct series_place *p = &slot->places[place];

    return series_rate(p, family_received(r->scenario->family, &p->counters));
}

static double failures(const struct run *r, const struct series_slot *slot, int place)
{
    const struct series_place *p = &slot->places[place];

    (void)r;
    return series_rate(p, p->counters.failed + p->counters.timed_out);
}

static double latency(const struct run *r, const struct series_slot *slot, int per_mille)
{
    (void)r;
    return series_latency_ns(slot, per_mille / 1000.0);
}

static double cpu(const struct run *r, const struct series_slot *slot, int place)
{
    (void)r;
    return series_cpu(&slot->places[place]);
}

/* Of what the sequence numbers of the slot imply; a late one gives a loss back. */
static double lost_percent(const struct run *r, const struct series_slot *slot, int cause)
{
    const struct meter_counters *c = &slot->places[PLACE_SERVER].counters;
    double gaps = c->expected > c->unique ? (double)(c->expected - c->unique) : 0;
    double overflow = fmin((double)c->overflow, gaps);

    (void)r;
    if (!c->expected)
        return (double)NAN;
    return 100 * (cause ? overflow : gaps) / (double)c->expected;
}

/* A chart over time of the lines that have anything to show. */
static void draw(struct drawing *d, struct plot *p, const struct view *views,
                 size_t view_count)
{
    p->x_text = seconds_text;
    p->x_max = (double)(d->count * d->r->series->step_ns) / 1e9;
    p->marks = d->marks;
    p->mark_count = d->mark_count;
    for (size_t v = 0; v < view_count && p->line_count < PLOT_LINES; v++) {
        double *y = d->y[p->line_count];
        bool any = false;

        for (size_t i = 0; i < d->count; i++) {
            y[i] = views[v].value(d->r, &d->r->series->slots[i], views[v].argument);
            any |= isfinite(y[i]) && y[i] != 0;
        }
        if (any)
            p->lines[p->line_count++] = (struct plot_line){
                .name = views[v].name, .count = d->count, .x = d->x, .y = y};
    }
    plot_figure(d->f, p);
}

static void draw_throughput(struct drawing *d)
{
    struct plot p = {.title = "Throughput", .note = "as received", .y_text = bytes_text};
    struct view views[] = {{"up", received_bytes, PLACE_SERVER},
                           {"down", received_bytes, PLACE_CLIENT}};
    bool service = d->r->scenario->roles[PLACE_ENDPOINT] != NULL;

    if (service)
        views[0].argument = PLACE_ENDPOINT;
    draw(d, &p, views, 2);
}

static void draw_latency(struct drawing *d)
{
    static const struct view views[] = {{"p50", latency, 500},
                                        {"p90", latency, 900},
                                        {"p99", latency, 990},
                                        {"max", latency, 1000}};
    struct plot p = {.title = "Latency percentiles",
                     .note = "log scale",
                     .log_y = true,
                     .y_text = units_format_duration};

    if (d->r->scenario->family->operations)
        draw(d, &p, views, 4);
}

static void draw_received(struct drawing *d)
{
    static const struct view views[] = {{"server", received_messages, PLACE_SERVER},
                                        {"endpoint", received_messages, PLACE_ENDPOINT},
                                        {"clients", received_messages, PLACE_CLIENT},
                                        {"failed operations", failures, PLACE_CLIENT}};
    struct plot p = {.title = "Messages received per second",
                     .note = "",
                     .filled = true,
                     .y_text = count_text};

    draw(d, &p, views, 4);
}

static void draw_loss(struct drawing *d)
{
    static const struct view views[] = {
        {"lost", lost_percent, 0},
        {"of it at the receiver's full buffer", lost_percent, 1}};
    struct plot p = {.title = "Loss", .note = "", .filled = true, .y_text = percent_text};

    if (d->r->scenario->family->datagrams)
        draw(d, &p, views, 2);
}

static void draw_cpu(struct drawing *d)
{
    static const struct view views[] = {{"server", cpu, PLACE_SERVER},
                                        {"endpoint", cpu, PLACE_ENDPOINT},
                                        {"clients", cpu, PLACE_CLIENT}};
    struct plot p = {.title = "CPU", .note = "100 % is one core", .y_text = cores_text};

    draw(d, &p, views, 3);
}

size_t spectrum_of(const struct hist *h, double x[SPECTRUM_POINTS],
                   double y[SPECTRUM_POINTS])
{
    size_t n = 0;

    if (!h || !h->count)
        return 0;
    while (n < SPECTRUM_POINTS) {
        double odds = pow(10, (double)n / 20); /* 1 / (1 - q) */
        bool last = odds >= (double)h->count;

        x[n] = last ? (double)h->count : odds;
        y[n] = (double)(last ? h->max : hist_quantile(h, 1 - 1 / odds));
        n++;
        if (last)
            break;
    }
    return n;
}

struct plot spectrum_plot(const char *title)
{
    static const double ticks[] = {1, 4, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

    return (struct plot){.title = title,
                         .note = "log scales",
                         .log_x = true,
                         .log_y = true,
                         .x_max = (double)NAN,
                         .x_ticks = ticks,
                         .x_tick_count = NUMBER_OF(ticks),
                         .x_text = spectrum_text,
                         .y_text = units_format_duration};
}

/* The headline, and beside it what it is made of, where that was measured apart. */
static void draw_spectrum(struct drawing *d)
{
    static const struct {
        const char *name;
        enum place place;
        enum meter_hist hist;
    } rows[] = {{"service time", PLACE_CLIENT, METER_HIST_service},
                {"process start", PLACE_CLIENT, METER_HIST_spawn},
                {"connection set-up", PLACE_CLIENT, METER_HIST_connect},
                {"endpoint's call", PLACE_ENDPOINT, METER_HIST_upstream}};
    static const size_t row_count = NUMBER_OF(rows);
    enum place place = d->r->scenario->family->latency_place;
    const struct meter *m = d->r->pooled[place];
    struct plot p = spectrum_plot("Latency by percentile");
    double x[PLOT_LINES][SPECTRUM_POINTS], y[PLOT_LINES][SPECTRUM_POINTS];

    if (!m || !d->r->scenario->family->operations)
        return;
    p.lines[0] = (struct plot_line){"latency", 0, x[0], y[0], NULL, NULL};
    p.lines[0].count = spectrum_of(m->hists[METER_HIST_latency], x[0], y[0]);
    p.line_count = p.lines[0].count > 1;
    for (size_t i = 0; i < row_count && p.line_count < PLOT_LINES; i++) {
        struct plot_line *line = &p.lines[p.line_count];
        double *px = x[p.line_count], *py = y[p.line_count];

        m = d->r->pooled[rows[i].place];
        *line = (struct plot_line){rows[i].name, 0, px, py, NULL, NULL};
        line->count = m ? spectrum_of(m->hists[rows[i].hist], px, py) : 0;
        p.line_count += line->count > 1;
    }
    plot_figure(d->f, &p);
}

static void add_marks(struct drawing *d)
{
    const struct run *r = d->r;

    for (size_t i = 1; i < r->trials_begun && i <= 32 && r->trials_begun <= 12; i++) {
        snprintf(d->names[i - 1], sizeof(d->names[0]), "trial %zu", i + 1);
        d->marks[d->mark_count++] = (struct plot_mark){
            (double)run_origin_ns(r, r->trials[i]) / 1e9, d->names[i - 1]};
    }
    for (size_t i = 0; i < r->series->mark_count && d->mark_count < MARKS_MAX; i++)
        d->marks[d->mark_count++] = (struct plot_mark){
            (double)r->series->marks[i].at_ns / 1e9, r->series->marks[i].text};
}

static bool set_up(struct drawing *d)
{
    bool enough = true;

    d->count = d->r->series->used;
    d->x = calloc(d->count + 1, sizeof(*d->x));
    enough &= d->x != NULL;
    for (int i = 0; i < PLOT_LINES; i++) {
        d->y[i] = calloc(d->count + 1, sizeof(*d->y[i]));
        enough &= d->y[i] != NULL;
    }
    for (size_t i = 0; d->x && i < d->count; i++)
        d->x[i] = ((double)i + 0.5) * (double)d->r->series->step_ns / 1e9;
    return enough;
}

void run_plots(FILE *f, const struct run *r)
{
    struct drawing d = {.f = f, .r = r};

    if (set_up(&d)) {
        add_marks(&d);
        fputs("<div class=\"plots\">\n", f);
        draw_throughput(&d);
        draw_received(&d);
        draw_latency(&d);
        draw_spectrum(&d);
        draw_loss(&d);
        draw_cpu(&d);
        fputs("</div>\n", f);
    }
    free(d.x);
    for (int i = 0; i < PLOT_LINES; i++)
        free(d.y[i]);
}
