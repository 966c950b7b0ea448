/* A comparison as text, and the words that all its forms share. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/report/compare_report.h"
#include "engine/units.h"

const struct export_format *const compare_formats[] = {
    &(const struct export_format){.name = "json", .write = compare_write_json},
    &(const struct export_format){.name = "markdown", .write = compare_write_markdown},
    &(const struct export_format){.name = "html", .write = compare_write_html},
    NULL,
};

/* "better in throughput, latency_p50_ns" */
static size_t list_metrics(const struct comparison *c, enum evidence evidence, char *text,
                           size_t size)
{
    size_t n = 0;

    *text = '\0';
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].evidence == evidence) {
            size_t len = strlen(text);

            snprintf(text + len, size - len, "%s%s", n++ ? ", " : "",
                     metric_row(c->rows[i].metric)->name);
        }
    return n;
}

void compare_summary(const struct comparison *c, char *text, size_t size)
{
    char better[400], worse[400];
    bool is_better = list_metrics(c, EVIDENCE_BETTER, better, sizeof(better)) > 0;
    bool is_worse = list_metrics(c, EVIDENCE_WORSE, worse, sizeof(worse)) > 0;

    if (is_better || is_worse)
        snprintf(text, size, "%s is %s%s%s%s%s", c->b.name, is_worse ? "worse in " : "",
                 worse, is_worse && is_better ? "; better in " : "",
                 is_better && !is_worse ? "better in " : "", better);
    else
        snprintf(text, size, "no evidence of a difference between %s and %s", c->a.name,
                 c->b.name);
}

void compare_difference_text(const struct compared *row, double value, double share,
                             char *text, size_t size)
{
    char number[40];

    if (!isfinite(value)) {
        snprintf(text, size, "-");
    } else if (strcmp(metric_row(row->metric)->unit, "%") == 0) {
        snprintf(text, size, value == 0 ? "%.0f points" : "%+.3g points", value);
    } else if (isfinite(share)) {
        compare_share_text(share, text, size);
    } else {
        metric_format(row->metric, value, number, sizeof(number));
        snprintf(text, size, "%s%s", value > 0 ? "+" : "", number);
    }
}

/* The unit stands behind the upper end alone. */
void compare_interval_text(const struct compared *row, char *text, size_t size)
{
    char low[48], high[48];
    char *unit;

    if (!isfinite(row->shift.low)) {
        snprintf(text, size, "-");
        return;
    }
    compare_difference_text(row, row->shift.low, row->share_low, low, sizeof(low));
    compare_difference_text(row, row->shift.high, row->share_high, high, sizeof(high));
    unit = strrchr(low, ' ');
    if (unit && strrchr(high, ' ') && strcmp(unit, strrchr(high, ' ')) == 0)
        *unit = '\0';
    snprintf(text, size, "%s … %s", low, high);
}

void compare_verdict_text(const struct compared *row, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", evidence_name(row->evidence), *row->why ? ": " : "",
             row->why);
}

void compare_side_text(const struct compare_side *side, char *text, size_t size)
{
    const char *first = side->runs[0]->id, *last = side->runs[side->count - 1]->id;
    size_t trials = 0;
    int len;

    for (size_t i = 0; i < side->count; i++)
        trials += side->runs[i]->trials_begun;
    len = snprintf(text, size, "%zu trial%s of %s", trials, trials == 1 ? "" : "s",
                   side->runs[0]->scenario->name);
    if (len < 0 || (size_t)len >= size || !*first)
        return;
    if (side->count == 1)
        snprintf(text + len, size - (size_t)len, ", run %s", first);
    else
        snprintf(text + len, size - (size_t)len, ", runs %s%s%s", first,
                 side->count > 2 ? " … " : " and ", last);
}

/* printf counts bytes, and the ellipsis has three. */
static void put_padded(FILE *f, const char *text, int width)
{
    int len = (int)strlen(text);

    for (const char *at = text; (at = strstr(at, "…")); at += strlen("…"))
        len -= 2;
    fprintf(f, "%*s%s", len < width ? width - len : 0, "", text);
}

/* Columns of values are as wide as the sides' names, within reason. */
static int width_of(const struct comparison *c)
{
    size_t a = strlen(c->a.name), b = strlen(c->b.name);
    size_t width = a > b ? a : b;

    return width < 11 ? 11 : width > 24 ? 24 : (int)width;
}

static void put_row(FILE *f, const struct compared *row, int width)
{
    char a[40], b[40], difference[48], interval[104], verdict[64];

    metric_format(row->metric, row->a, a, sizeof(a));
    metric_format(row->metric, row->b, b, sizeof(b));
    compare_difference_text(row, row->shift.estimate, row->share, difference,
                            sizeof(difference));
    compare_interval_text(row, interval, sizeof(interval));
    compare_verdict_text(row, verdict, sizeof(verdict));
    fprintf(f, "  %-26s %*s %*s %13s ", metric_row(row->metric)->name, width, a, width, b,
            difference);
    put_padded(f, interval, 22);
    fprintf(f, "  %s\n", verdict);
}

static void put_table(FILE *f, const struct comparison *c)
{
    int width = width_of(c);
    bool headline = true;

    fprintf(f, "\n  %-26s %*.*s %*.*s %13s %22s  %s\n", "metric", width, width, c->a.name,
            width, width, c->b.name, "difference", "95 % interval", "verdict");
    for (size_t i = 0; i < c->count; i++) {
        if (headline && !c->rows[i].headline && i)
            fputc('\n', f);
        headline = c->rows[i].headline;
        put_row(f, &c->rows[i], width);
    }
}

static void put_quantiles(FILE *f, const struct comparison *c)
{
    int width = width_of(c);

    if (!c->quantile_count)
        return;
    fprintf(f, "\n  %-26s %*.*s %*.*s %13s\n", "latency, all together", width, width,
            c->a.name, width, width, c->b.name, "difference");
    for (size_t i = 0; i < c->quantile_count; i++) {
        const struct compared_quantile *q = &c->quantiles[i];
        char name[24], a[40], b[40], share[24];

        snprintf(name, sizeof(name), "%.6g %%", 100 * q->q);
        units_format_duration((double)q->a_ns, a, sizeof(a));
        units_format_duration((double)q->b_ns, b, sizeof(b));
        compare_share_text(q->a_ns ? (double)q->b_ns / (double)q->a_ns - 1 : (double)NAN,
                           share, sizeof(share));
        fprintf(f, "  %-26s %*s %*s %13s\n", name, width, a, width, b, share);
    }
}

int compare_write_text(FILE *f, const void *what)
{
    const struct comparison *c = what;
    char text[1024];

    compare_summary(c, text, sizeof(text));
    fprintf(f, "%s\n\n", text);
    compare_side_text(&c->a, text, sizeof(text));
    fprintf(f, "  %s: %s\n", c->a.name, text);
    compare_side_text(&c->b, text, sizeof(text));
    fprintf(f, "  %s: %s\n", c->b.name, text);
    put_table(f, c);
    put_quantiles(f, c);
    if (c->warning_count)
        fputs("\nnot the same:\n", f);
    for (size_t i = 0; i < c->warning_count; i++)
        fprintf(f, "  %s\n", c->warnings[i]);
    comparison_method(c, text, sizeof(text));
    fprintf(f, "\n%s\n", text);
    return 0;
}
