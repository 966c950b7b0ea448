/* A table of the result in GitHub's Markdown, to paste into a pull request. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/json.h"
#include "engine/report/export.h"
#include "engine/report/load_table.h"
#include "engine/report/quote.h"
#include "engine/statistics.h"
#include "engine/threshold_verdict.h"

static void put_title(FILE *f, const struct run *r)
{
    char verdict[160] = "";
    char when[32];

    json_time(r->started, when, sizeof(when));
    fprintf(f, "### plimsoll `%s`: %s\n\n", r->scenario->name, outcome_name(r->outcome));
    if (*r->reason) {
        quote_markdown(f, r->reason);
        fputs("\n\n", f);
    }
    fprintf(f, "%s; %zu of %u trial%s, %s.", r->scenario->title, r->trials_begun,
            r->trial_count, r->trial_count == 1 ? "" : "s", when);
    if (run_trial(r))
        trial_bottleneck(run_trial(r), verdict, sizeof(verdict));
    if (*verdict)
        fprintf(f, " In the last trial: %s.", verdict);
    fputs("\n\n", f);
}

/* "2.416 s (Linux; of 2.948 2.394 2.416 2.316 2.496 s)"; nothing if none is documented.
 */
static void put_reference(FILE *f, const struct scenario *s, enum metric metric)
{
    const char *separator = "";

    for (const struct reference *ref = s->references; ref->metric; ref++) {
        char cell[40], list[80];

        if (strcmp(ref->metric, metric_row(metric)->name) != 0)
            continue;
        reference_text(ref, cell, sizeof(cell));
        reference_list(ref, list, sizeof(list));
        fprintf(f, "%s%s", separator, cell);
        if (*ref->where)
            fprintf(f, " (%s%s%s)", ref->where, *list ? "; of " : "", list);
        separator = ", ";
    }
}

static void put_bound(FILE *f, enum metric metric, double value, bool is_bound)
{
    char cell[40];

    metric_format_bound(metric, value, is_bound, cell, sizeof(cell));
    fputs(cell, f);
}

static void put_value(FILE *f, enum metric metric, double value)
{
    put_bound(f, metric, value, false);
}

static void put_row(FILE *f, const struct run *r, enum metric metric,
                    const struct statistics *s, bool many)
{
    char cell[84];

    fprintf(f, "| `%s` | ", metric_row(metric)->name);
    put_bound(f, metric, s->median, s->is_bound);
    if (many) {
        fputs(" | ", f);
        put_value(f, metric, s->min);
        fputs(" … ", f);
        put_bound(f, metric, s->max, s->is_bound);
        metric_format_interval(metric, s->ci95_low, s->ci95_high, cell, sizeof(cell));
        fprintf(f, " | %s", s->n >= STATISTICS_INTERVAL_LEAST ? cell : "-");
    }
    if (*r->scenario->documented) {
        fputs(" | ", f);
        put_reference(f, r->scenario, metric);
    }
    fputs(" |\n", f);
}

static void put_paragraph(FILE *f, const char *text)
{
    fputs("\n", f);
    quote_markdown(f, text);
    fputs("\n", f);
}

static void put_table(FILE *f, const struct run *r)
{
    bool many = r->trials_begun > 1;
    char why[512];
    bool documented = *r->scenario->documented != '\0';

    fprintf(f, "| metric | %s |%s%s\n", many ? "median" : "value",
            many ? " min … max | 95 % interval |" : "",
            documented ? " documented elsewhere |" : "");
    fprintf(f, "| :-- | --: |%s%s\n", many ? " --: | --: |" : "",
            documented ? " --: |" : "");
    for (int m = 0; m < METRIC_COUNT; m++) {
        struct statistics s;

        run_statistics(r, (enum metric)m, &s);
        if (s.n || reference_find(r->scenario->references, metric_row(m)->name))
            put_row(f, r, (enum metric)m, &s, many);
    }
    if (r->trials_begun >= STATISTICS_INTERVAL_LEAST)
        fputs("\n" STATISTICS_METHOD ".\n", f);
    if (documented) {
        fputs("\nDocumented on other hardware, with another runtime: ", f);
        quote_markdown(f, r->scenario->documented);
        fputs(".\n", f);
        if (!run_is_comparable(r, why, sizeof(why)))
            put_paragraph(f, why);
        run_notes(r, why, sizeof(why));
        if (*why)
            put_paragraph(f, why);
        load_replies(r, why, sizeof(why));
        if (*why)
            put_paragraph(f, why);
    }
}

static void put_loss(FILE *f, const struct trial *t)
{
    const struct loss *l = &t->loss;
    char dropped[64], rest[64], sending[200];

    trial_sending(t, sending, sizeof(sending));
    if (*sending)
        fprintf(f, "\nSending in the last trial: %s.\n", sending);
    if (l->lost < 0)
        return;
    loss_range(l->overflow_least, l->overflow, dropped, sizeof(dropped));
    loss_range(l->unexplained, l->unexplained_most, rest, sizeof(rest));
    fprintf(f,
            "\nLoss in the last trial: %" PRId64 " of %" PRId64
            " accepted datagrams%s, %s of them dropped at the receiver's full buffer, %s "
            "unexplained.\n",
            l->lost, l->due, l->due == l->accepted ? "" : " for each receiver", dropped,
            rest);
}

static void put_thresholds(FILE *f, const struct run *r)
{
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, verdicts);

    if (n)
        fputs("\n| threshold | verdict | |\n| :-- | :-- | :-- |\n", f);
    for (size_t i = 0; i < n; i++) {
        fputs("| ", f);
        quote_markdown(f, verdicts[i].threshold.text);
        fprintf(f, " | %s | ", verdicts[i].ok ? "held" : "**crossed**");
        quote_markdown(f, verdicts[i].detail);
        fputs(" |\n", f);
    }
}

/* Only what puts the numbers in doubt. */
static void put_checks(FILE *f, const struct run *r)
{
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];

        for (size_t c = 0; c < t->check_count; c++) {
            if (t->checks[c].verdict != VERDICT_FAIL)
                continue;
            fprintf(f, "\n**Check failed** in trial %u, %s: ", t->number,
                    t->checks[c].name);
            quote_markdown(f, t->checks[c].detail);
            fputs(".\n", f);
        }
    }
}

/* The parameters that are not the scenario's defaults, as options. */
static void put_parameters(FILE *f, const struct run *r)
{
    struct options defaults = {0};
    bool any = false;

    if (scenario_defaults(r->scenario, &defaults) < 0)
        return;
    for (const struct param *p = param_table(); p->name; p++) {
        char numbers[2][PARAM_NUMBER_MAX], option[40];
        const char *text, *fallback;

        if (!scenario_has(r->scenario, p))
            continue;
        text = run_value(r, p, numbers[0]);
        fallback = param_value(&defaults, p, numbers[1]);
        if (strcmp(text, fallback) == 0 || strcmp(p->name, "threshold") == 0)
            continue;
        param_option(p, option, sizeof(option));
        fprintf(f, "%s--%s ", any ? ", " : "\nNot the defaults: ", option);
        quote_markdown(f, text);
        any = true;
    }
    if (any)
        fputs(".\n", f);
    options_done(&defaults);
}

int export_write_markdown(FILE *f, const struct run *r)
{
    const struct trial *t = run_trial(r);

    put_title(f, r);
    put_table(f, r);
    put_thresholds(f, r);
    if (t)
        put_loss(f, t);
    put_checks(f, r);
    put_parameters(f, r);
    return 0;
}
