/*
 * A comparison as one page: the verdict, a table with the intervals drawn, the rounds of
 * the headline metrics and both latency spectra overlaid.
 */
#include <math.h>
#include <string.h>

#include "engine/report/compare_report.h"
#include "engine/report/html.h"
#include "engine/report/plot.h"
#include "engine/report/quote.h"
#include "engine/report/run_plots.h"
#include "engine/units.h"

static const char *evidence_class(enum evidence evidence)
{
    return evidence == EVIDENCE_BETTER ? "good" : evidence == EVIDENCE_WORSE ? "bad" : "";
}

static void put_side(FILE *f, const struct compare_side *side, const char *class)
{
    char text[1024];

    fprintf(f, "<p><b class=\"%s\">", class);
    quote_xml(f, side->name);
    fputs("</b>: ", f);
    compare_side_text(side, text, sizeof(text));
    quote_xml(f, text);
    fputs(".</p>\n", f);
}

static void put_head(FILE *f, const struct comparison *c)
{
    bool worse = comparison_has(c, EVIDENCE_WORSE);
    bool better = comparison_has(c, EVIDENCE_BETTER);
    char text[1024];

    fputs("<header><h1>", f);
    quote_xml(f, c->a.name);
    fputs(" and ", f);
    quote_xml(f, c->b.name);
    html_element(f, "span",
                 worse && better ? "badge warn"
                 : worse         ? "badge bad"
                 : better        ? "badge good"
                                 : "badge dim",
                 worse && better ? "mixed"
                 : worse         ? "worse"
                 : better        ? "better"
                                 : "no evidence");
    fputs("</h1>\n<p>", f);
    compare_summary(c, text, sizeof(text));
    quote_xml(f, text);
    fputs(".</p>\n", f);
    put_side(f, &c->a, "t0");
    put_side(f, &c->b, "t1");
    fputs("</header>\n", f);
}

/* The table, with each interval drawn on one scale. */

#define BAR_WIDTH 150.0

/* The largest share that the scale must hold, within reason. */
static double scale_of(const struct comparison *c)
{
    double most = 0.01;

    for (size_t i = 0; i < c->count; i++) {
        const struct compared *r = &c->rows[i];

        if (isfinite(r->share_low) && r->headline)
            most = fmax(most, fmax(fabs(r->share_low), fabs(r->share_high)));
    }
    return most * 1.1;
}

static double bar_at(double share, double scale)
{
    return BAR_WIDTH / 2 * (1 + fmax(-1, fmin(1, share / scale)));
}

static void put_bar(FILE *f, const struct compared *r, double scale)
{
    const char *class = r->evidence == EVIDENCE_BETTER  ? "s2"
                        : r->evidence == EVIDENCE_WORSE ? "s4"
                                                        : "s5";

    fputs("<td>", f);
    if (isfinite(r->share)) {
        double at = bar_at(r->share, scale);

        fprintf(f,
                "<svg class=\"bar\" viewBox=\"0 0 %.0f 14\" aria-hidden=\"true\">"
                "<path class=\"grid\" d=\"M%.1f 0V14\"/>",
                BAR_WIDTH, BAR_WIDTH / 2);
        if (isfinite(r->share_low))
            fprintf(f, "<path class=\"line solid %s\" d=\"M%.1f 7H%.1f\"/>", class,
                    bar_at(r->share_low, scale), bar_at(r->share_high, scale));
        fprintf(f, "<circle class=\"f%c\" cx=\"%.1f\" cy=\"7\" r=\"3.5\"/></svg>",
                class[1], at);
    }
    fputs("</td>", f);
}

static void put_row(FILE *f, const struct compared *r, double scale)
{
    char text[160];

    fputs("<tr><td title=\"", f);
    quote_xml(f, metric_row(r->metric)->help);
    fprintf(f, "\">%s<code>%s</code>%s</td>", r->headline ? "<b>" : "",
            metric_row(r->metric)->name, r->headline ? "</b>" : "");
    metric_format(r->metric, r->a, text, sizeof(text));
    html_number(f, text);
    metric_format(r->metric, r->b, text, sizeof(text));
    html_number(f, text);
    compare_difference_text(r, r->shift.estimate, r->share, text, sizeof(text));
    html_number(f, text);
    compare_interval_text(r, text, sizeof(text));
    html_number(f, text);
    put_bar(f, r, scale);
    compare_verdict_text(r, text, sizeof(text));
    html_element(f, "td",
                 r->evidence == EVIDENCE_NONE ? "word dim" : evidence_class(r->evidence),
                 text);
    fputs("</tr>\n", f);
}

static void put_table(FILE *f, const struct comparison *c)
{
    double scale = scale_of(c);
    char text[48];

    html_element(f, "h2", "", "Metrics");
    fputs("\n<div class=\"wide\"><table>\n<thead><tr><th>metric</th>", f);
    html_element(f, "th", "n", c->a.name);
    html_element(f, "th", "n", c->b.name);
    snprintf(text, sizeof(text), "±%.3g %%", 100 * scale);
    fputs("<th class=\"n\">difference</th><th class=\"n\">95 % interval</th><th>", f);
    quote_xml(f, text);
    fputs("</th><th>verdict</th></tr></thead>\n<tbody>\n", f);
    for (size_t i = 0; i < c->count; i++)
        put_row(f, &c->rows[i], scale);
    fputs("</tbody>\n</table></div>\n", f);
}

/* Charts. */

static void round_text(double value, char *text, size_t size)
{
    if (value == floor(value) && value >= 1)
        snprintf(text, size, "%.0f", value);
    else
        *text = '\0';
}

static void rate_text(double value, char *text, size_t size)
{
    units_format_count(value, text, size);
}

static void bytes_text(double value, char *text, size_t size)
{
    metric_format(METRIC_throughput, value, text, size);
}

static void seconds_text(double value, char *text, size_t size)
{
    units_format_duration(value * 1e9, text, size);
}

static void (*text_of(enum metric metric))(double, char *, size_t)
{
    const char *unit = metric_row(metric)->unit;

    return *unit == 'B'              ? bytes_text
           : strcmp(unit, "ns") == 0 ? units_format_duration
           : strcmp(unit, "s") == 0  ? seconds_text
                                     : rate_text;
}

static void put_rounds(FILE *f, const struct comparison *c, const struct compared *r)
{
    double x[64];
    struct plot p = {.title = metric_row(r->metric)->name,
                     .note = c->options.paired ? "by round" : "by trial",
                     .dots = true,
                     .x_max = (double)NAN,
                     .x_text = round_text,
                     .y_text = text_of(r->metric),
                     .line_count = 2};

    for (size_t i = 0; i < 64; i++)
        x[i] = (double)i + 1;
    p.lines[0] = (struct plot_line){
        c->a.name, r->n_a < 64 ? r->n_a : 64, x, r->values[0], NULL, NULL};
    p.lines[1] = (struct plot_line){
        c->b.name, r->n_b < 64 ? r->n_b : 64, x, r->values[1], NULL, NULL};
    plot_figure(f, &p);
}

static void put_spectra(FILE *f, const struct comparison *c)
{
    double x[2][SPECTRUM_POINTS], y[2][SPECTRUM_POINTS];
    struct plot p = spectrum_plot("Latency by percentile, all trials together");

    p.line_count = 2;
    for (int i = 0; i < 2; i++)
        p.lines[i] = (struct plot_line){i ? c->b.name : c->a.name,
                                        spectrum_of(c->latency[i], x[i], y[i]),
                                        x[i],
                                        y[i],
                                        NULL,
                                        NULL};
    plot_figure(f, &p);
}

static void put_charts(FILE *f, const struct comparison *c)
{
    html_element(f, "h2", "", c->options.paired ? "By round" : "By trial");
    fputs("\n<div class=\"plots\">\n", f);
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].headline && c->rows[i].n_a > 1 && c->rows[i].n_b > 1)
            put_rounds(f, c, &c->rows[i]);
    put_spectra(f, c);
    fputs("</div>\n", f);
}

static void put_quantiles(FILE *f, const struct comparison *c)
{
    if (!c->quantile_count)
        return;
    html_element(f, "h2", "", "Latency by percentile");
    fputs("\n<div class=\"wide\"><table>\n<thead><tr><th>percentile</th>", f);
    html_element(f, "th", "n", c->a.name);
    html_element(f, "th", "n", c->b.name);
    fputs("<th class=\"n\">difference</th></tr></thead>\n<tbody>\n", f);
    for (size_t i = 0; i < c->quantile_count; i++) {
        const struct compared_quantile *q = &c->quantiles[i];
        char text[48];

        fprintf(f, "<tr><td>%.6g %%</td>", 100 * q->q);
        units_format_duration((double)q->a_ns, text, sizeof(text));
        html_number(f, text);
        units_format_duration((double)q->b_ns, text, sizeof(text));
        html_number(f, text);
        compare_share_text(q->a_ns ? (double)q->b_ns / (double)q->a_ns - 1 : (double)NAN,
                           text, sizeof(text));
        html_number(f, text);
        fputs("</tr>\n", f);
    }
    fputs("</tbody>\n</table></div>\n", f);
}

static void put_warnings(FILE *f, const struct comparison *c)
{
    if (!c->warning_count)
        return;
    html_element(f, "h2", "", "Not the same");
    fputs("\n<ul>\n", f);
    for (size_t i = 0; i < c->warning_count; i++) {
        html_element(f, "li", "warn", c->warnings[i]);
        fputc('\n', f);
    }
    fputs("</ul>\n", f);
}

int compare_write_html(FILE *f, const void *what)
{
    const struct comparison *c = what;
    char text[1024];

    compare_summary(c, text, sizeof(text));
    html_begin(f, text);
    put_head(f, c);
    put_table(f, c);
    put_charts(f, c);
    put_quantiles(f, c);
    put_warnings(f, c);
    comparison_method(c, text, sizeof(text));
    fputs("<footer><p>", f);
    quote_xml(f, text);
    fputs("</p></footer>\n", f);
    html_end(f);
    return 0;
}
