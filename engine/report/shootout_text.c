/* A shoot-out as text, and the words that all its forms share. */
#include <math.h>
#include <string.h>

#include "engine/report/shootout_report.h"
#include "engine/statistics.h"
#include "engine/units.h"

const struct export_format *const shootout_formats[] = {
    &(const struct export_format){.name = "json", .write = shootout_write_json},
    &(const struct export_format){.name = "markdown", .write = shootout_write_markdown},
    &(const struct export_format){.name = "html", .write = shootout_write_html},
    NULL,
};

static void add_text(char *text, size_t size, const char *more)
{
    size_t len = strlen(text);

    snprintf(text + len, size - len, "%s", more);
}

size_t shootout_metrics(const struct shootout *s, enum metric list[METRIC_COUNT])
{
    size_t n = 0;

    for (size_t i = 0; i < s->documented_count; i++)
        for (const struct reference *ref = s->contestants[i].scenario->references;
             ref->metric; ref++) {
            enum metric m = (enum metric)metric_find(ref->metric);
            size_t k = 0;

            while (k < n && list[k] != m)
                k++;
            if (k == n && m < METRIC_COUNT)
                list[n++] = m;
        }
    return n;
}

void shootout_cell(const struct contestant *c, enum metric metric, char *text,
                   char *interval, size_t size)
{
    double values[ROUNDS_MAX];
    struct statistics s;

    statistics_of(values, shootout_values(c, metric, values), &s);
    metric_format(metric, s.median, text, size);
    *interval = '\0';
    if (s.n >= STATISTICS_INTERVAL_LEAST)
        metric_format_interval(metric, s.ci95_low, s.ci95_high, interval, size);
}

/* Whether its work is another than the documented one; that of --quick is. */
static bool departs(const struct contestant *c)
{
    struct difference list[DIFFERENCES_MAX];
    size_t count = scenario_differences(c->scenario, &c->values, list);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        found |= list[i].departs;
    return found;
}

void shootout_documented(const struct contestant *c, enum metric metric, char *text,
                         size_t size)
{
    double values[ROUNDS_MAX];
    struct statistics own;
    size_t len = 0;
    double median;

    *text = '\0';
    statistics_of(values, shootout_values(c, metric, values), &own);
    for (const struct reference *ref = c->scenario->references; ref->metric; ref++) {
        char cell[40];

        if (strcmp(ref->metric, metric_row(metric)->name) != 0 || len >= size)
            continue;
        median = reference_median(ref);
        reference_text(ref, cell, sizeof(cell));
        len +=
            (size_t)snprintf(text + len, size - len, "%s%s%s%s%s", len ? ", " : "", cell,
                             *ref->where ? " (" : "", ref->where, *ref->where ? ")" : "");
        /* Other work has no ratio to the documented one, nor has a zero. */
        if (!departs(c) && own.n && own.median > 0 && median > 0 && len < size) {
            metric_format_ratio(metric, own.median / median, cell, sizeof(cell));
            len += (size_t)snprintf(text + len, size - len, ": %s", cell);
        }
    }
}

/* The best member but one; the best itself when there is no other. */
static size_t second_of(const struct shootout *s, const struct shootout_group *g)
{
    size_t second = g->best;
    double most = -(double)INFINITY;

    for (size_t m = 0; m < g->count; m++) {
        double values[ROUNDS_MAX];
        struct statistics st;

        statistics_of(values,
                      shootout_values(&s->contestants[g->members[m]], g->metric, values),
                      &st);
        if (m == g->best || !st.n || st.median * metric_row(g->metric)->better <= most)
            continue;
        most = st.median * metric_row(g->metric)->better;
        second = m;
    }
    return second;
}

/* By how much the best beats another, in the sense of the metric: always positive. */
static double lead(const struct shootout_group *g, double log_shift)
{
    return metric_row(g->metric)->better > 0 ? expm1(fabs(log_shift))
                                             : -expm1(-fabs(log_shift));
}

/* ", by 14 % (9 … 20 %) over unix"; nothing when there is no other. */
static void add_lead(const struct shootout *s, const struct shootout_group *g, char *text,
                     size_t size)
{
    size_t second = second_of(s, g);
    size_t group = (size_t)(g - s->groups);
    char part[160];

    for (size_t i = 0; i < s->pair_count && second != g->best; i++) {
        const struct shootout_pair *p = &s->pairs[i];
        bool is_it = p->group == group && ((p->x == g->best && p->y == second) ||
                                           (p->y == g->best && p->x == second));
        double ends[2];

        if (!is_it)
            continue;
        ends[0] = lead(g, p->shift.low);
        ends[1] = lead(g, p->shift.high);
        snprintf(part, sizeof(part), ", by %.3g %%", 100 * lead(g, p->shift.estimate));
        add_text(text, size, part);
        /* An interval that spans zero has no lead at one end: it is left out. */
        if (p->shift.low * p->shift.high > 0) {
            snprintf(part, sizeof(part), " (%.3g … %.3g %%)",
                     100 * fmin(ends[0], ends[1]), 100 * fmax(ends[0], ends[1]));
            add_text(text, size, part);
        }
        snprintf(part, sizeof(part), " over %s", shootout_member(s, g, second));
        add_text(text, size, part);
        return;
    }
}

void shootout_fastest(const struct shootout *s, const struct shootout_group *g,
                      char *text, size_t size)
{
    size_t near = 0;

    snprintf(text, size, "%s", g->any ? shootout_member(s, g, g->best) : "-");
    if (!g->any)
        return;
    for (size_t m = 0; m < g->count; m++) {
        if (!g->is_near[m] || m == g->best)
            continue;
        near++;
        add_text(text, size, " or ");
        add_text(text, size, shootout_member(s, g, m));
    }
    if (near)
        add_text(text, size, ": no evidence which");
    else
        add_lead(s, g, text, size);
}

void shootout_crossing_text(const struct shootout *s, const struct shootout_crossing *c,
                            char *text, size_t size)
{
    const struct shootout_group *g = &s->groups[c->first];
    char at[32], low[32], high[32];

    if (!isfinite(c->size_bytes)) {
        snprintf(text, size, "%s overtakes %s between %s and %s",
                 shootout_member(s, g, c->above), shootout_member(s, g, c->below),
                 s->groups[c->first].title, s->groups[c->last].title);
        return;
    }
    units_format_binary(c->size_bytes, at, sizeof(at));
    snprintf(text, size, "%s overtakes %s at about %s", shootout_member(s, g, c->above),
             shootout_member(s, g, c->below), at);
    if (!isfinite(c->low))
        return;
    units_format_binary(c->low, low, sizeof(low));
    units_format_binary(c->high, high, sizeof(high));
    add_text(text, size, " (95 %: ");
    add_text(text, size, low);
    add_text(text, size, " … ");
    add_text(text, size, high);
    add_text(text, size, ")");
}

/* " is 6.2 x faster (5.1 … 7.4 x) than " */
static void add_factor(const struct shift *shift, char *text, size_t size)
{
    double low = fmin(fabs(shift->low), fabs(shift->high));
    double high = fmax(fabs(shift->low), fabs(shift->high));
    char part[120];

    if (shift->low * shift->high > 0)
        snprintf(part, sizeof(part), " is %.3g x %s (%.3g … %.3g x) than ",
                 exp(fabs(shift->estimate)), shift->estimate < 0 ? "faster" : "slower",
                 exp(low), exp(high));
    else if (isfinite(shift->low))
        snprintf(part, sizeof(part), " takes %.3g … %.3g x the time of ", exp(shift->low),
                 exp(shift->high));
    else
        snprintf(part, sizeof(part), " takes %.3g x the time of ", exp(shift->estimate));
    add_text(text, size, part);
}

static void add_end(const struct contestant *c, char *text, size_t size)
{
    char cell[48], interval[48], part[128];

    shootout_cell(c, METRIC_seconds, cell, interval, sizeof(cell));
    snprintf(part, sizeof(part), "%s in %s", c->name, cell);
    add_text(text, size, part);
}

/* "; sending calls: 0.001 a message, not 1"; nothing where it makes no difference. */
static void add_change(const char *what, const double values[2], char *text, size_t size)
{
    char part[120];

    if (values[1] > 0.9 * values[0] && values[1] < 1.1 * values[0])
        return;
    snprintf(part, sizeof(part), "; %s: %.3g a message, not %.3g", what, values[1],
             values[0]);
    add_text(text, size, part);
}

void shootout_step_text(const struct shootout *s, const struct shootout_step *step,
                        char *text, size_t size)
{
    const struct contestant *from = &s->contestants[step->from];
    const struct contestant *to = &s->contestants[step->to];
    double documented = shootout_documented_factor(s, step);
    double turns[2], calls[2];
    char part[64];

    snprintf(text, size, "%s: ", step->what);
    if (!isfinite(step->shift.estimate)) {
        add_text(text, size, "not measured");
        return;
    }
    add_end(to, text, size);
    add_factor(&step->shift, text, size);
    add_end(from, text, size);
    if (isfinite(documented)) {
        snprintf(part, sizeof(part), " (documented: %.3g x)", documented);
        add_text(text, size, part);
    }
    if (!shootout_sending(from, &turns[0], &calls[0]) ||
        !shootout_sending(to, &turns[1], &calls[1]))
        return;
    add_change("turns of the event loop", turns, text, size);
    add_change("sending calls", calls, text, size);
}

void shootout_summary(const struct shootout *s, char *text, size_t size)
{
    size_t least = ROUNDS_MAX, runs, crowded;
    char busy[120];

    for (size_t i = 0; i < s->rounds.count; i++)
        if (s->contestants[i].count < least)
            least = s->contestants[i].count;
    runs = shootout_runs(s, &crowded);
    snprintf(text, size, "%zu of %u rounds in %.0f s%s%s", least, s->rounds.rounds,
             s->seconds,
             s->rounds.end == ROUNDS_INTERRUPTED ? ", interrupted"
             : s->rounds.end == ROUNDS_TIME_UP   ? ", ended by the time limit"
                                                 : "",
             s->quick ? "; smaller than documented, so without ratios" : "");
    if (!crowded)
        return;
    snprintf(busy, sizeof(busy),
             "; in %zu of %zu runs processes waited for a core: other work was on the "
             "machine",
             crowded, runs);
    add_text(text, size, busy);
}

void shootout_method(const struct shootout *s, char *text, size_t size)
{
    char each[24];

    units_format_duration((double)s->each_ns, each, sizeof(each));
    snprintf(
        text, size,
        "Each round carries every contestant out once, in an order drawn anew (seed "
        "%llu). Values are medians. %s. Who is "
        "fastest is tested by pairs (Mann and Whitney; Holm's method over all pairs "
        "of a table, 5 %%); a lead has the 95 %% interval of Hodges and Lehmann.%s%s",
        (unsigned long long)s->rounds.seed, STATISTICS_METHOD,
        s->group_count > 2 ? " Sizes are measured on one kept connection, one request "
                             "at a time, for "
                           : "",
        s->group_count > 2 ? each : "");
    if (s->group_count > 2)
        add_text(text, size,
                 " each; a crossing is interpolated between sizes, its interval is from "
                 "2,000 resamplings of the rounds.");
}

/* The tables. */

/* printf counts bytes, and the ellipsis has three. */
static void put_right(FILE *f, const char *text, int width)
{
    int len = (int)strlen(text);

    for (const char *at = text; (at = strstr(at, "…")); at += strlen("…"))
        len -= 2;
    fprintf(f, "%*s%s", len < width ? width - len : 0, "", text);
}

static void put_documented(FILE *f, const struct shootout *s)
{
    enum metric metrics[METRIC_COUNT];
    size_t count = shootout_metrics(s, metrics);

    fprintf(f, "\n  %-30s %-26s %10s %22s  %s\n", "scenario", "metric", "here", "95 %",
            "documented elsewhere: here is");
    for (size_t i = 0; i < s->documented_count; i++) {
        const struct contestant *c = &s->contestants[i];

        for (size_t k = 0; k < count; k++) {
            char cell[48], interval[48], documented[160];

            shootout_cell(c, metrics[k], cell, interval, sizeof(cell));
            shootout_documented(c, metrics[k], documented, sizeof(documented));
            fprintf(f, "  %-30s %-26s %10s ", k ? "" : c->name,
                    metric_row(metrics[k])->name, cell);
            put_right(f, interval, 22);
            fprintf(f, "  %s\n", documented);
        }
        if (*shootout_problem(c))
            fprintf(f, "  %-30s %s\n", "", shootout_problem(c));
    }
}

static void put_verdicts(FILE *f, const struct shootout *s)
{
    for (size_t i = 0; i < s->group_count; i++) {
        char text[320];

        if (s->groups[i].table != SHOOTOUT_DOCUMENTED)
            continue;
        shootout_fastest(s, &s->groups[i], text, sizeof(text));
        fprintf(f, "%s  %s, by %s: %s\n", i ? "" : "\n", s->groups[i].title,
                metric_row(s->groups[i].metric)->name, text);
    }
}

static void put_sizes(FILE *f, const struct shootout *s)
{
    bool begun = false;

    for (size_t i = 0; i < s->group_count; i++) {
        const struct shootout_group *g = &s->groups[i];
        char text[320];

        if (g->table != SHOOTOUT_SIZES)
            continue;
        if (!begun) {
            fputs("\n  requests a second by message size\n  size      ", f);
            for (size_t m = 0; m < g->count; m++)
                fprintf(f, " %8s %19s", shootout_member(s, g, m), "95 %");
            fputs("  fastest\n", f);
        }
        begun = true;
        fprintf(f, "  %-10s", g->title);
        for (size_t m = 0; m < g->count; m++) {
            char cell[48], interval[48];

            shootout_cell(&s->contestants[g->members[m]], g->metric, cell, interval,
                          sizeof(cell));
            fprintf(f, " %8s ", cell);
            put_right(f, interval, 19);
        }
        shootout_fastest(s, g, text, sizeof(text));
        fprintf(f, "  %s\n", text);
    }
}

static void put_steps(FILE *f, const struct shootout *s)
{
    char text[400];

    if (s->step_count)
        fputs("\n  step by step, what it does to the time:\n", f);
    for (size_t i = 0; i < s->step_count; i++) {
        shootout_step_text(s, &s->steps[i], text, sizeof(text));
        fprintf(f, "    %s\n", text);
    }
}

static void put_crossings(FILE *f, const struct shootout *s)
{
    char text[200];

    if (s->group_count <= 2)
        return;
    fputs(s->crossing_count ? "\n  crossings:\n"
                            : "\n  no size at which one is known to overtake another\n",
          f);
    for (size_t i = 0; i < s->crossing_count; i++) {
        shootout_crossing_text(s, &s->crossings[i], text, sizeof(text));
        fprintf(f, "    %s\n", text);
    }
}

int shootout_write_text(FILE *f, const void *what)
{
    const struct shootout *s = what;
    char text[1024];

    shootout_summary(s, text, sizeof(text));
    fprintf(f, "shoot-out %s: %s\n%s\n", s->name, s->title, text);
    put_documented(f, s);
    put_verdicts(f, s);
    put_steps(f, s);
    put_sizes(f, s);
    put_crossings(f, s);
    shootout_method(s, text, sizeof(text));
    fprintf(f, "\n%s\n", text);
    return 0;
}
