/* A shoot-out as tables in GitHub's Markdown. */
#include "engine/report/quote.h"
#include "engine/report/shootout_report.h"

static void put_cell(FILE *f, const char *text)
{
    fputs(" | ", f);
    quote_markdown(f, text);
}

static void put_documented(FILE *f, const struct shootout *s)
{
    enum metric metrics[METRIC_COUNT];
    size_t count = shootout_metrics(s, metrics);

    fputs("\n| scenario | metric | here | 95 % | documented elsewhere: here is |\n"
          "| :-- | :-- | --: | --: | --: |\n",
          f);
    for (size_t i = 0; i < s->documented_count; i++)
        for (size_t k = 0; k < count; k++) {
            const struct contestant *c = &s->contestants[i];
            char cell[48], interval[48], documented[160];

            shootout_cell(c, metrics[k], cell, interval, sizeof(cell));
            shootout_documented(c, metrics[k], documented, sizeof(documented));
            fputs("| ", f);
            quote_markdown(f, c->name);
            fprintf(f, " | `%s`", metric_row(metrics[k])->name);
            put_cell(f, cell);
            put_cell(f, interval);
            put_cell(f, documented);
            fputs(" |\n", f);
        }
}

static void put_verdicts(FILE *f, const struct shootout *s)
{
    bool begun = false;

    for (size_t i = 0; i < s->group_count; i++) {
        char text[320];

        if (s->groups[i].table != SHOOTOUT_DOCUMENTED)
            continue;
        shootout_fastest(s, &s->groups[i], text, sizeof(text));
        fprintf(f, "%s- %s, by `%s`: ", begun ? "" : "\n", s->groups[i].title,
                metric_row(s->groups[i].metric)->name);
        quote_markdown(f, text);
        fputc('\n', f);
        begun = true;
    }
    for (size_t i = 0; i < s->documented_count; i++) {
        const struct contestant *c = &s->contestants[i];

        if (!*shootout_problem(c))
            continue;
        fputs("- ", f);
        quote_markdown(f, c->name);
        fputs(": ", f);
        quote_markdown(f, shootout_problem(c));
        fputc('\n', f);
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
            fputs("\n| requests a second at", f);
            for (size_t m = 0; m < g->count; m++)
                put_cell(f, shootout_member(s, g, m));
            fputs(" | fastest |\n| --: |", f);
            for (size_t m = 0; m < g->count; m++)
                fputs(" --: |", f);
            fputs(" :-- |\n", f);
        }
        begun = true;
        fprintf(f, "| %s", g->title);
        for (size_t m = 0; m < g->count; m++) {
            char cell[48], interval[48];

            shootout_cell(&s->contestants[g->members[m]], g->metric, cell, interval,
                          sizeof(cell));
            put_cell(f, cell);
            if (*interval)
                fprintf(f, " (%s)", interval);
        }
        shootout_fastest(s, g, text, sizeof(text));
        put_cell(f, text);
        fputs(" |\n", f);
    }
}

int shootout_write_markdown(FILE *f, const void *what)
{
    const struct shootout *s = what;
    char text[1024];

    fprintf(f, "### plimsoll shoot-out %s: %s\n\n", s->name, s->title);
    shootout_summary(s, text, sizeof(text));
    fprintf(f, "%s.\n", text);
    put_documented(f, s);
    put_verdicts(f, s);
    for (size_t i = 0; i < s->step_count; i++) {
        shootout_step_text(s, &s->steps[i], text, sizeof(text));
        fputs(i ? "- " : "\n- ", f);
        quote_markdown(f, text);
        fputc('\n', f);
    }
    put_sizes(f, s);
    for (size_t i = 0; i < s->crossing_count; i++) {
        shootout_crossing_text(s, &s->crossings[i], text, sizeof(text));
        fputs(i ? "- " : "\n- ", f);
        quote_markdown(f, text);
        fputc('\n', f);
    }
    shootout_method(s, text, sizeof(text));
    fprintf(f, "\n%s\n", text);
    return 0;
}
