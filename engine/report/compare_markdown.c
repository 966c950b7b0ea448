/* A comparison as tables in GitHub's Markdown. */
#include <math.h>

#include "engine/report/compare_report.h"
#include "engine/report/quote.h"
#include "engine/units.h"

static void put_cell(FILE *f, const char *text)
{
    fputs(" | ", f);
    quote_markdown(f, text);
}

static void put_row(FILE *f, const struct compared *row)
{
    char text[160];

    fprintf(f, "| `%s`", metric_row(row->metric)->name);
    metric_format(row->metric, row->a, text, sizeof(text));
    put_cell(f, text);
    metric_format(row->metric, row->b, text, sizeof(text));
    put_cell(f, text);
    compare_difference_text(row, row->shift.estimate, row->share, text, sizeof(text));
    put_cell(f, text);
    compare_interval_text(row, text, sizeof(text));
    put_cell(f, text);
    compare_verdict_text(row, text, sizeof(text));
    fprintf(f, row->evidence ? " | **%s** |\n" : " | %s |\n", text);
}

static void put_table(FILE *f, const struct comparison *c)
{
    fputs("\n| metric | ", f);
    quote_markdown(f, c->a.name);
    put_cell(f, c->b.name);
    fputs(" | difference | 95 % interval | verdict |\n"
          "| :-- | --: | --: | --: | --: | :-- |\n",
          f);
    for (size_t i = 0; i < c->count; i++)
        put_row(f, &c->rows[i]);
}

static void put_quantiles(FILE *f, const struct comparison *c)
{
    if (!c->quantile_count)
        return;
    fputs("\n| latency, all trials together | ", f);
    quote_markdown(f, c->a.name);
    put_cell(f, c->b.name);
    fputs(" | difference |\n| --: | --: | --: | --: |\n", f);
    for (size_t i = 0; i < c->quantile_count; i++) {
        const struct compared_quantile *q = &c->quantiles[i];
        char text[48];

        fprintf(f, "| %.6g %%", 100 * q->q);
        units_format_duration((double)q->a_ns, text, sizeof(text));
        put_cell(f, text);
        units_format_duration((double)q->b_ns, text, sizeof(text));
        put_cell(f, text);
        compare_share_text(q->a_ns ? (double)q->b_ns / (double)q->a_ns - 1 : (double)NAN,
                           text, sizeof(text));
        put_cell(f, text);
        fputs(" |\n", f);
    }
}

int compare_write_markdown(FILE *f, const void *what)
{
    const struct comparison *c = what;
    char text[1024];

    fputs("### plimsoll: ", f);
    compare_summary(c, text, sizeof(text));
    quote_markdown(f, text);
    fputs("\n\n- ", f);
    quote_markdown(f, c->a.name);
    compare_side_text(&c->a, text, sizeof(text));
    fputs(": ", f);
    quote_markdown(f, text);
    fputs("\n- ", f);
    quote_markdown(f, c->b.name);
    compare_side_text(&c->b, text, sizeof(text));
    fputs(": ", f);
    quote_markdown(f, text);
    fputc('\n', f);
    put_table(f, c);
    put_quantiles(f, c);
    for (size_t i = 0; i < c->warning_count; i++) {
        fputs(i ? "- " : "\nNot the same:\n\n- ", f);
        quote_markdown(f, c->warnings[i]);
        fputc('\n', f);
    }
    comparison_method(c, text, sizeof(text));
    fprintf(f, "\n%s\n", text);
    return 0;
}
