/*
 * A shoot-out as one page: the documented table, the rounds of each group, and for the
 * sizes two charts over the message size with their table.
 */
#include <math.h>

#include "engine/report/html.h"
#include "engine/report/plot.h"
#include "engine/report/quote.h"
#include "engine/report/shootout_report.h"
#include "engine/statistics.h"
#include "engine/units.h"

static void put_head(FILE *f, const struct shootout *s)
{
    const struct run *first = NULL;
    char text[1024];

    for (size_t i = 0; i < s->rounds.count && !first; i++)
        first = s->contestants[i].count ? s->contestants[i].runs[0] : NULL;
    fputs("<header><h1>Shoot-out ", f);
    quote_xml(f, s->name);
    html_element(f, "span",
                 s->rounds.end == ROUNDS_COMPLETED ? "badge good" : "badge warn",
                 s->rounds.end == ROUNDS_COMPLETED     ? "completed"
                 : s->rounds.end == ROUNDS_INTERRUPTED ? "interrupted"
                                                       : "cut short");
    fputs("</h1>\n<p>", f);
    quote_xml(f, s->title);
    shootout_summary(s, text, sizeof(text));
    fputs(". ", f);
    quote_xml(f, text);
    fputs(".</p>\n", f);
    if (first) {
        snprintf(text, sizeof(text), "%s · %s · %llu CPUs · %s", first->environment.host,
                 first->environment.kernel, (unsigned long long)first->environment.cpus,
                 first->environment.program);
        html_element(f, "p", "dim", text);
    }
    fputs("</header>\n", f);
}

static void put_documented(FILE *f, const struct shootout *s)
{
    enum metric metrics[METRIC_COUNT];
    size_t count = shootout_metrics(s, metrics);

    html_element(f, "h2", "", "The documented experiments");
    fputs("\n<div class=\"wide\"><table>\n<thead><tr><th>scenario</th><th>metric</th>"
          "<th class=\"n\">here</th><th class=\"n\">95 %</th><th class=\"n\">documented "
          "elsewhere: here is</th></tr></thead>\n<tbody>\n",
          f);
    for (size_t i = 0; i < s->documented_count; i++)
        for (size_t k = 0; k < count; k++) {
            const struct contestant *c = &s->contestants[i];
            char cell[48], interval[48], documented[160];

            shootout_cell(c, metrics[k], cell, interval, sizeof(cell));
            shootout_documented(c, metrics[k], documented, sizeof(documented));
            fputs("<tr>", f);
            html_element(f, "td", "", k ? "" : c->name);
            fprintf(f, "<td><code>%s</code></td>", metric_row(metrics[k])->name);
            html_number(f, cell);
            html_number(f, interval);
            html_number(f, documented);
            fputs("</tr>\n", f);
        }
    fputs("</tbody>\n</table></div>\n", f);
}

static void put_verdicts(FILE *f, const struct shootout *s)
{
    char text[320];

    fputs("<ul>\n", f);
    for (size_t i = 0; i < s->group_count; i++) {
        if (s->groups[i].table != SHOOTOUT_DOCUMENTED)
            continue;
        shootout_fastest(s, &s->groups[i], text, sizeof(text));
        fprintf(f, "<li>%s, by <code>%s</code>: <b>", s->groups[i].title,
                metric_row(s->groups[i].metric)->name);
        quote_xml(f, text);
        fputs("</b></li>\n", f);
    }
    for (size_t i = 0; i < s->documented_count; i++) {
        const struct contestant *c = &s->contestants[i];

        if (!*shootout_problem(c))
            continue;
        fputs("<li>", f);
        quote_xml(f, c->name);
        fputs(": ", f);
        quote_xml(f, shootout_problem(c));
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

/* Charts. */

static void round_text(double value, char *text, size_t size)
{
    if (value == floor(value) && value >= 1)
        snprintf(text, size, "%.0f", value);
    else
        *text = '\0'; /* between two rounds, or before the first */
}

static void rate_text(double value, char *text, size_t size)
{
    metric_format(METRIC_requests_per_second, value, text, size);
}

static void bytes_text(double value, char *text, size_t size)
{
    metric_format(METRIC_throughput, value, text, size);
}

static void seconds_text(double value, char *text, size_t size)
{
    units_format_duration(value * 1e9, text, size);
}

static void size_text(double value, char *text, size_t size)
{
    units_format_exact(UNIT_SIZE, (uint64_t)value, text, size);
}

/* The rounds of a documented group: a line for each member. */
static void put_rounds(FILE *f, const struct shootout *s, const struct shootout_group *g)
{
    double x[ROUNDS_MAX], y[SHOOTOUT_MEMBERS][ROUNDS_MAX];
    char title[80];
    struct plot p = {.title = title,
                     .note = "by round",
                     .dots = true,
                     .x_max = (double)NAN,
                     .x_text = round_text,
                     .y_text = g->metric == METRIC_seconds ? seconds_text : rate_text};

    snprintf(title, sizeof(title), "%s: %s", g->title, metric_row(g->metric)->name);
    for (size_t i = 0; i < ROUNDS_MAX; i++)
        x[i] = (double)i + 1;
    for (size_t m = 0; m < g->count; m++) {
        const struct contestant *c = &s->contestants[g->members[m]];
        size_t n = shootout_values(c, g->metric, y[m]);

        if (n)
            p.lines[p.line_count++] = (struct plot_line){c->name, n, x, y[m], NULL, NULL};
    }
    plot_figure(f, &p);
}

/* A metric over the message size: medians, with their intervals as bars. */
static void put_over_size(FILE *f, const struct shootout *s, enum metric metric,
                          const char *title)
{
    double x[SHOOTOUT_GROUPS], median[3][SHOOTOUT_GROUPS], low[3][SHOOTOUT_GROUPS],
        high[3][SHOOTOUT_GROUPS], ticks[SHOOTOUT_GROUPS];
    struct plot p = {.title = title,
                     .note = "log scales",
                     .log_x = true,
                     .log_y = true,
                     .dots = true,
                     .x_max = (double)NAN,
                     .x_text = size_text,
                     .y_text = metric == METRIC_throughput ? bytes_text : rate_text,
                     .x_ticks = ticks};
    const struct shootout_group *last = NULL;
    size_t n = 0;

    for (size_t i = 0; i < s->group_count; i++) {
        const struct shootout_group *g = &s->groups[i];

        if (g->table != SHOOTOUT_SIZES)
            continue;
        for (size_t m = 0; m < g->count && m < 3; m++) {
            double values[ROUNDS_MAX];
            struct statistics st;

            statistics_of(values,
                          shootout_values(&s->contestants[g->members[m]], metric, values),
                          &st);
            median[m][n] = st.median;
            low[m][n] = st.ci95_low;
            high[m][n] = st.ci95_high;
        }
        x[n] = ticks[n] = (double)g->size_bytes;
        n++;
        last = g;
    }
    p.x_tick_count = n;
    for (size_t m = 0; last && m < last->count && m < 3; m++)
        p.lines[p.line_count++] = (struct plot_line){
            shootout_member(s, last, m), n, x, median[m], low[m], high[m]};
    plot_figure(f, &p);
}

static void put_size_table(FILE *f, const struct shootout *s)
{
    bool begun = false;

    for (size_t i = 0; i < s->group_count; i++) {
        const struct shootout_group *g = &s->groups[i];
        char text[320];

        if (g->table != SHOOTOUT_SIZES)
            continue;
        if (!begun) {
            fputs("<div class=\"wide\"><table>\n<thead><tr><th class=\"n\">size</th>", f);
            for (size_t m = 0; m < g->count; m++) {
                html_element(f, "th", "n", shootout_member(s, g, m));
                fputs("<th class=\"n\">95 %</th>", f);
            }
            fputs("<th>fastest</th></tr></thead>\n<tbody>\n", f);
        }
        begun = true;
        fputs("<tr>", f);
        html_number(f, g->title);
        for (size_t m = 0; m < g->count; m++) {
            char cell[48], interval[48];

            shootout_cell(&s->contestants[g->members[m]], g->metric, cell, interval,
                          sizeof(cell));
            html_number(f, cell);
            html_element(f, "td", "n dim", interval);
        }
        shootout_fastest(s, g, text, sizeof(text));
        html_element(f, "td", "", text);
        fputs("</tr>\n", f);
    }
    if (begun)
        fputs("</tbody>\n</table></div>\n", f);
}

static void put_sizes(FILE *f, const struct shootout *s)
{
    char text[200];

    html_element(f, "h2", "", "Requests by message size");
    fputs("\n<div class=\"plots\">\n", f);
    put_over_size(f, s, METRIC_requests_per_second, "Requests a second");
    put_over_size(f, s, METRIC_throughput, "Throughput, both ways");
    fputs("</div>\n<ul>\n", f);
    for (size_t i = 0; i < s->crossing_count; i++) {
        shootout_crossing_text(s, &s->crossings[i], text, sizeof(text));
        html_element(f, "li", "", text);
        fputc('\n', f);
    }
    if (!s->crossing_count)
        html_element(f, "li", "",
                     "There is no size at which one is known to overtake "
                     "another.");
    fputs("</ul>\n", f);
    put_size_table(f, s);
}

static void put_steps(FILE *f, const struct shootout *s)
{
    char text[400];

    if (!s->step_count)
        return;
    html_element(f, "h2", "", "Step by step");
    fputs("\n<ul>\n", f);
    for (size_t i = 0; i < s->step_count; i++) {
        shootout_step_text(s, &s->steps[i], text, sizeof(text));
        html_element(f, "li", "", text);
        fputc('\n', f);
    }
    fputs("</ul>\n", f);
}

int shootout_write_html(FILE *f, const void *what)
{
    const struct shootout *s = what;
    bool sizes = false;
    char text[1024];

    snprintf(text, sizeof(text), "plimsoll shoot-out %s", s->name);
    html_begin(f, text);
    put_head(f, s);
    put_documented(f, s);
    put_verdicts(f, s);
    fputs("<div class=\"plots\">\n", f);
    for (size_t i = 0; i < s->group_count; i++) {
        sizes |= s->groups[i].table == SHOOTOUT_SIZES;
        if (s->groups[i].table == SHOOTOUT_DOCUMENTED)
            put_rounds(f, s, &s->groups[i]);
    }
    fputs("</div>\n", f);
    put_steps(f, s);
    if (sizes)
        put_sizes(f, s);
    shootout_method(s, text, sizeof(text));
    fputs("<footer><p>", f);
    quote_xml(f, text);
    fputs("</p></footer>\n", f);
    html_end(f);
    return 0;
}
