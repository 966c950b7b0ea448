#include "tui/run_use.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "engine/bottleneck.h"
#include "engine/units.h"
#include "tui/text.h"

/* The last second of slots, with the one that is still filling. */
static void sum_up(const struct run_view *v, enum place place, struct series_place *sum)
{
    const struct series *s = v->run->series;
    size_t wanted = s->step_ns < 1000000000 ? (size_t)(1000000000 / s->step_ns) : 1;
    size_t seen = 0, i = s->used;

    while (i > 0 && seen < wanted && i + 2 * wanted > s->used + 1)
        seen += s->slots[--i].places[place].samples > 0;
    for (; i < s->used; i++)
        series_place_add(sum, &s->slots[i].places[place]);
}

static unsigned count_processes(const struct run_view *v, enum place place)
{
    const struct trial *t = run_trial(v->run);
    unsigned n = 0;

    for (size_t i = 0; t && i < t->process_count; i++)
        n += t->processes[i].place == place;
    return n;
}

void run_use_of(const struct run_view *v, enum place place, struct run_use *use)
{
    struct series_place sum = {0};
    uint64_t operations;

    *use = (struct run_use){0};
    if (!v->run)
        return;
    use->processes = count_processes(v, place);
    sum_up(v, place, &sum);
    if (sum.samples == 0 || sum.span_ns == 0 || use->processes == 0)
        return;
    operations =
        sum.counters.attempted > 0 ? sum.counters.attempted : sum.counters.sent_messages;
    use->known = true;
    use->cpu = series_cpu(&sum) / use->processes;
    use->switches_per_s = series_rate(&sum, sum.use.voluntary_switches);
    use->forced_per_s = series_rate(&sum, sum.use.involuntary_switches);
    use->waiting = series_rate(&sum, sum.use.run_wait_us) / 1e6 / use->processes;
    use->operations_per_s = series_rate(&sum, operations);
    use->backlog = sum.gauges.backlog;
    use->in_flight = sum.gauges.in_flight;
    use->open_descriptors = sum.use.open_descriptors;
    use->max_rss_bytes = sum.use.max_rss_bytes;
}

/* A figure with its name before it, if there is room; moves *x on. */
static void figure(struct canvas *c, struct area row, int *x, const char *name,
                   const char *value, enum paint paint)
{
    int columns = text_columns(name) + 1 + text_columns(value) + 3;

    if (*x + columns > row.x + row.width)
        return;
    canvas_text(c, *x, row.y, columns, style(PAINT_DIM), name);
    canvas_text(c, *x + text_columns(name) + 1, row.y, columns, style(paint), value);
    *x += columns;
}

static void count_figure(struct canvas *c, struct area row, int *x, const char *name,
                         double value, const char *per)
{
    char number[24], text[32];

    units_format_rate(value, number, sizeof(number));
    snprintf(text, sizeof(text), "%s%s", number, per);
    figure(c, row, x, name, text, PAINT_STRONG);
}

static void run_use_draw_figures(const struct run_use *use, struct canvas *c,
                                 struct area row, int x)
{
    char text[32];

    if (use->waiting >= 0.02) {
        snprintf(text, sizeof(text), "%.0f %%", 100 * use->waiting);
        figure(c, row, &x, "waits for a core", text,
               100 * use->waiting >= CROWDED_PERCENT ? PAINT_WARN : PAINT_STRONG);
    }
    if (use->backlog > 0)
        count_figure(c, row, &x, "backlog", (double)use->backlog, "");
    if (use->in_flight > 0)
        count_figure(c, row, &x, "in flight", (double)use->in_flight, "");
    count_figure(c, row, &x, "switches", use->switches_per_s + use->forced_per_s, "/s");
    count_figure(c, row, &x, "open files", (double)use->open_descriptors, "");
    units_format_bytes((double)use->max_rss_bytes, text, sizeof(text));
    figure(c, row, &x, "memory", text, PAINT_STRONG);
}

void run_use_draw(const struct run_view *v, enum place place, struct canvas *c,
                  struct area row)
{
    enum paint paint = place == PLACE_CLIENT ? PAINT_CLIENT : PAINT_SERVER;
    struct style name = style(paint);
    struct run_use use;
    char text[32];
    int bar = row.width >= 100 ? 24 : 12, x = row.x;

    run_use_of(v, place, &use);
    name.attributes = ATTR_BOLD;
    canvas_text(c, x, row.y, 8, name, place_name(place));
    x += 9;
    if (use.processes > 1)
        x += canvas_print(c, x, row.y, 6, style(PAINT_DIM), "x%u", use.processes) + 1;
    if (!use.known) {
        canvas_text(c, x, row.y, row.x + row.width - x, style(PAINT_UNKNOWN),
                    "no data yet");
        return;
    }
    canvas_bar(c, x, row.y, bar, use.cpu, style(theme_ramp(RAMP_LOAD, use.cpu)));
    x += bar + 1;
    snprintf(text, sizeof(text), "%3.0f %% CPU", 100 * use.cpu);
    canvas_text(c, x, row.y, 12,
                style(100 * use.cpu >= BUSY_PERCENT ? PAINT_WARN : PAINT_STRONG), text);
    run_use_draw_figures(&use, c, row, x + 12);
}

/* In a form that the engine judges. */
static struct busy busy_now(const struct run_view *v)
{
    struct busy b = busy_unknown();

    for (int p = 0; p < PLACE_COUNT; p++) {
        struct run_use use;

        run_use_of(v, (enum place)p, &use);
        if (!use.known)
            continue;
        b.cpu_percent[p] = 100 * use.cpu;
        b.waited_percent[p] = fmin(100, 100 * use.waiting);
    }
    return b;
}

enum paint run_use_verdict(const struct run_view *v, char *out, size_t size)
{
    struct busy busy = busy_now(v);
    enum bottleneck limit = bottleneck_find(&busy, out, size);

    if (limit == BOTTLENECK_UNKNOWN)
        return PAINT_DIM;
    if (v->run->paused) {
        snprintf(out, size, "paused: no load is offered");
        return PAINT_DIM;
    }
    return limit == BOTTLENECK_CORES || limit == BOTTLENECK_GENERATOR ? PAINT_WARN
                                                                      : PAINT_GOOD;
}
