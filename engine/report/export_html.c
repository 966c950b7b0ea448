/*
 * The result as one page (engine/report/html.h): headline figures, charts, and tables of
 * everything that `plimsoll run` prints. For a browser, a mail or paper.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/json.h"
#include "engine/report/export.h"
#include "engine/report/html.h"
#include "engine/report/load_table.h"
#include "engine/report/quote.h"
#include "engine/report/run_plots.h"
#include "engine/statistics.h"
#include "engine/threshold_verdict.h"
#include "engine/units.h"

static const char *outcome_class(const struct run *r)
{
    switch (r->outcome) {
    case OUTCOME_COMPLETED:
        return "good";
    case OUTCOME_STOPPED:
        return "warn";
    case OUTCOME_EXHAUSTED:
        return r->scenario->exhausted_expected ? "good" : "warn";
    case OUTCOME_FAILED:
        break;
    }
    return "bad";
}

static void put_origin(FILE *f, const struct run *r)
{
    const struct environment *e = &r->environment;
    char when[32];

    json_time(r->started, when, sizeof(when));
    fputs("<p class=\"dim\">", f);
    fputs(when, f);
    if (*r->id) {
        fputs(" · run ", f);
        quote_xml(f, r->id);
    }
    fputs(" · ", f);
    quote_xml(f, *e->host ? e->host : "host not known");
    if (*e->kernel) {
        fputs(" · ", f);
        quote_xml(f, e->kernel);
    }
    if (e->cpus)
        fprintf(f, " · %" PRIu64 " CPU%s", e->cpus, e->cpus == 1 ? "" : "s");
    fputs(" · ", f);
    quote_xml(f, e->program);
    fputs("</p>\n", f);
}

static void put_head(FILE *f, const struct run *r)
{
    const struct trial *t = run_trial(r);
    char class[32], verdict[160] = "";

    fputs("<header><h1>", f);
    quote_xml(f, r->scenario->name);
    snprintf(class, sizeof(class), "badge %s", outcome_class(r));
    html_element(f, "span", class,
                 r->interrupted ? "interrupted" : outcome_name(r->outcome));
    fputs("</h1>\n<p>", f);
    quote_xml(f, r->scenario->title);
    fprintf(f, ". %zu of %u trial%s.</p>\n", r->trials_begun, r->trial_count,
            r->trial_count == 1 ? "" : "s");
    put_origin(f, r);
    if (*r->reason) {
        fprintf(f, "<p class=\"%s\">", outcome_class(r));
        quote_xml(f, r->reason);
        fputs(".</p>\n", f);
    }
    if (t)
        trial_bottleneck(t, verdict, sizeof(verdict));
    if (*verdict) {
        fputs("<p>In the last trial: ", f);
        quote_xml(f, verdict);
        fputs(".</p>\n", f);
    }
    fputs("</header>\n", f);
}

static const char *metric_words(enum metric metric)
{
    switch (metric) {
    case METRIC_seconds:
        return "duration";
    case METRIC_throughput:
        return "throughput, both ways";
    case METRIC_throughput_up:
        return "up";
    case METRIC_throughput_down:
        return "down";
    case METRIC_received_per_second:
        return "received per second";
    case METRIC_requests_per_second:
        return "requests per second";
    case METRIC_latency_p50_ns:
        return "latency, median";
    case METRIC_latency_p99_ns:
        return "latency, 99 %";
    case METRIC_latency_max_ns:
        return "latency, highest";
    case METRIC_loss_percent:
        return "lost";
    case METRIC_error_percent:
        return "failed";
    default:
        return metric_row(metric)->name;
    }
}

static void put_card(FILE *f, const struct run *r, enum metric metric)
{
    struct statistics s;
    char value[40], low[40], high[40];

    run_statistics(r, metric, &s);
    if (!s.n)
        return;
    metric_format_bound(metric, s.median, s.is_bound, value, sizeof(value));
    fputs("<div class=\"card\">", f);
    html_element(f, "span", "", metric_words(metric));
    html_element(f, "b", "", value);
    if (s.n > 1) {
        metric_format(metric, s.min, low, sizeof(low));
        metric_format(metric, s.max, high, sizeof(high));
        fprintf(f, "<i>median of %zu: ", s.n);
        html_element(f, "u", "", low);
        fputs(" … ", f);
        html_element(f, "u", "", high);
        fputs("</i>", f);
    }
    fputs("</div>\n", f);
}

static void put_cards(FILE *f, const struct run *r)
{
    fputs("<div class=\"cards\">\n", f);
    for (const enum metric *m = r->scenario->family->headlines; *m != METRIC_COUNT; m++)
        put_card(f, r, *m);
    fputs("</div>\n", f);
}

/* Tables. */

static void begin_table(FILE *f, const char *title, const char *const *columns,
                        size_t count, size_t words)
{
    html_element(f, "h2", "", title);
    fputs("\n<div class=\"wide\"><table>\n<thead><tr>", f);
    for (size_t i = 0; i < count; i++)
        html_element(f, "th", i < words ? "" : "n", columns[i]);
    fputs("</tr></thead>\n<tbody>\n", f);
}

static void end_table(FILE *f)
{
    fputs("</tbody>\n</table></div>\n", f);
}

static void put_bound(FILE *f, enum metric metric, double value, bool is_bound)
{
    char text[40];

    metric_format_bound(metric, value, is_bound, text, sizeof(text));
    html_number(f, text);
}

static void put_value(FILE *f, enum metric metric, double value)
{
    put_bound(f, metric, value, false);
}

static void put_references(FILE *f, const struct scenario *s, enum metric metric)
{
    const char *separator = "";

    fputs("<td class=\"n\">", f);
    for (const struct reference *ref = s->references; ref->metric; ref++) {
        char text[40], list[80];

        if (strcmp(ref->metric, metric_row(metric)->name) != 0)
            continue;
        reference_text(ref, text, sizeof(text));
        reference_list(ref, list, sizeof(list));
        fputs(separator, f);
        quote_xml(f, text);
        if (*ref->where) {
            fputs(" (", f);
            quote_xml(f, ref->where);
            fprintf(f, "%s%s)", *list ? "; of " : "", list);
        }
        separator = ", ";
    }
    fputs("</td>", f);
}

static void put_metrics(FILE *f, const struct run *r)
{
    static const char *const columns[] = {"metric",        "median",    "mean",
                                          "stdev",         "lowest",    "highest",
                                          "95 % interval", "documented"};
    char why[512];
    bool documented = *r->scenario->documented != '\0';

    begin_table(f, "Metrics", columns, documented ? 8 : 7, 1);
    for (int i = 0; i < METRIC_COUNT; i++) {
        enum metric m = (enum metric)i;
        struct statistics s;
        char interval[84];

        run_statistics(r, m, &s);
        if (!s.n && !reference_find(r->scenario->references, metric_row(m)->name))
            continue;
        fputs("<tr><td title=\"", f);
        quote_xml(f, metric_row(m)->help);
        fputs("\"><code>", f);
        quote_xml(f, metric_row(m)->name);
        fputs("</code></td>", f);
        put_bound(f, m, s.median, s.is_bound);
        put_bound(f, m, s.mean, s.is_bound);
        put_value(f, m, s.stdev);
        put_value(f, m, s.min);
        put_bound(f, m, s.max, s.is_bound);
        metric_format_interval(m, s.ci95_low, s.ci95_high, interval, sizeof(interval));
        html_number(f, s.n >= STATISTICS_INTERVAL_LEAST ? interval : "-");
        if (documented)
            put_references(f, r->scenario, m);
        fputs("</tr>\n", f);
    }
    end_table(f);
    if (r->trials_begun >= STATISTICS_INTERVAL_LEAST)
        html_element(f, "p", "dim", STATISTICS_METHOD ".");
    if (documented) {
        fputs("<p class=\"dim\">Documented elsewhere, on other hardware, with another "
              "runtime: ",
              f);
        quote_xml(f, r->scenario->documented);
        fputs(".</p>\n", f);
        if (!run_is_comparable(r, why, sizeof(why)))
            html_element(f, "p", "dim", why);
        run_notes(r, why, sizeof(why));
        if (*why)
            html_element(f, "p", "dim", why);
        load_replies(r, why, sizeof(why));
        if (*why)
            html_element(f, "p", "dim", why);
    }
}

static void put_trials(FILE *f, const struct run *r)
{
    const enum metric *shown = r->scenario->family->headlines;
    const char *columns[12] = {"trial", "outcome"};
    size_t count = 2;

    if (r->trials_begun < 2)
        return;
    for (const enum metric *m = shown; *m != METRIC_COUNT; m++)
        columns[count++] = metric_words(*m);
    begin_table(f, "Trials", columns, count, 2);
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];

        fprintf(f, "<tr><td>%u</td>", t->number);
        html_element(f, "td", t->outcome == OUTCOME_FAILED ? "bad" : "",
                     outcome_name(t->outcome));
        for (const enum metric *m = shown; *m != METRIC_COUNT; m++)
            put_value(f, *m, t->metrics[*m]);
        fputs("</tr>\n", f);
    }
    end_table(f);
}

static void put_duration(FILE *f, double ns)
{
    char text[40];

    units_format_duration(ns, text, sizeof(text));
    html_number(f, text);
}

static void put_times(FILE *f, const struct run *r)
{
    static const char *const columns[] = {"time", "count", "mean",   "stdev",  "50 %",
                                          "90 %", "99 %",  "99.9 %", "highest"};
    static const char *const helps[] = {
#define X(name, help) help,
        METER_HISTS(X)
#undef X
    };
    static const char *const names[] = {
#define X(name, help) #name,
        METER_HISTS(X)
#undef X
    };
    bool begun = false;

    for (int p = PLACE_COUNT - 1; p >= 0; p--)
        for (int i = 0; i < METER_HIST_COUNT; i++) {
            const struct hist *h = r->pooled[p] ? r->pooled[p]->hists[i] : NULL;
            struct hist_summary s;

            if (!h || !h->count)
                continue;
            if (!begun)
                begin_table(f, "Where the time went", columns, 9, 1);
            begun = true;
            hist_summarise(&s, h);
            if (i == METER_HIST_latency)
                meter_latency(&s, r->pooled[p]);
            fputs("<tr><td title=\"", f);
            quote_xml(f, helps[i]);
            fprintf(f, "\">%s, %s</td><td class=\"n\">%" PRIu64 "</td>", names[i],
                    place_name((enum place)p), s.count);
            put_duration(f, s.mean);
            put_duration(f, s.stdev);
            put_duration(f, (double)s.p50);
            put_duration(f, (double)s.p90);
            put_duration(f, (double)s.p99);
            put_duration(f, (double)s.p99_9);
            put_duration(f, (double)s.max);
            fputs("</tr>\n", f);
        }
    if (begun)
        end_table(f);
}

static void put_signed(FILE *f, int64_t value)
{
    char text[24] = "-";

    if (value >= 0)
        snprintf(text, sizeof(text), "%" PRId64, value);
    html_number(f, text);
}

static void put_range(FILE *f, int64_t least, int64_t most)
{
    char text[64];

    loss_range(least, most, text, sizeof(text));
    html_number(f, text);
}

static void put_loss(FILE *f, const struct run *r)
{
    static const char *const columns[] = {
        "trial",        "attempted",   "accepted",    "received", "lost",
        "loss",         "buffer full", "unexplained", "late",     "duplicate",
        "out of order", "turns",       "calls"};

    if (!r->scenario->family->datagrams || !r->trials_begun)
        return;
    begin_table(f, "Sending and loss", columns, 13, 1);
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];
        const struct loss *l = &t->loss;

        fprintf(f, "<tr><td>%u</td>", t->number);
        put_signed(f, l->attempted);
        put_signed(f, l->accepted);
        put_signed(f, l->received);
        put_signed(f, l->lost);
        put_value(f, METRIC_loss_percent, t->metrics[METRIC_loss_percent]);
        put_range(f, l->overflow_least, l->overflow);
        put_range(f, l->unexplained, l->unexplained_most);
        put_signed(f, l->late);
        put_signed(f, l->duplicate);
        put_signed(f, l->out_of_order);
        put_signed(f, (int64_t)t->counters[PLACE_CLIENT].turns);
        put_signed(f, (int64_t)t->counters[PLACE_CLIENT].send_calls);
        fputs("</tr>\n", f);
    }
    end_table(f);
}

static void put_tally(FILE *f, const char *title, const struct run *r, size_t offset)
{
    static const char *const columns[] = {"what", "count"};
    struct tally sum = {0};

    for (size_t i = 0; i < r->trials_begun; i++) {
        const void *at = (const char *)r->trials[i] + offset;

        tally_merge(&sum, at);
    }
    if (!tally_sum(&sum))
        return;
    begin_table(f, title, columns, 2, 1);
    for (size_t i = 0; i < sum.used; i++) {
        char text[24];

        if (!sum.rows[i].count)
            continue;
        fputs("<tr>", f);
        html_element(f, "td", "", sum.rows[i].name);
        snprintf(text, sizeof(text), "%" PRIu64, sum.rows[i].count);
        html_number(f, text);
        fputs("</tr>\n", f);
    }
    end_table(f);
}

static void put_thresholds(FILE *f, const struct run *r)
{
    static const char *const columns[] = {"threshold", "verdict", "figures"};
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, verdicts);

    if (!n)
        return;
    begin_table(f, "Thresholds", columns, 3, 3);
    for (size_t i = 0; i < n; i++) {
        fputs("<tr>", f);
        html_element(f, "td", "", verdicts[i].threshold.text);
        html_element(f, "td", verdicts[i].ok ? "good" : "bad",
                     verdicts[i].ok ? "held" : "crossed");
        html_element(f, "td", "", verdicts[i].detail);
        fputs("</tr>\n", f);
    }
    end_table(f);
}

static void put_checks(FILE *f, const struct run *r)
{
    static const char *const columns[] = {"trial", "check", "verdict", "figures"};
    static const char *const words[] = {"holds", "fails", "not known"};
    static const char *const classes[] = {"good", "bad", "warn"};
    bool any = false;

    for (size_t i = 0; i < r->trials_begun; i++)
        any |= r->trials[i]->check_count != 0;
    if (!any)
        return;
    begin_table(f, "Can the numbers be believed?", columns, 4, 4);
    for (size_t i = 0; i < r->trials_begun; i++)
        for (size_t k = 0; k < r->trials[i]->check_count; k++) {
            const struct check *c = &r->trials[i]->checks[k];

            fprintf(f, "<tr><td>%u</td>", r->trials[i]->number);
            html_element(f, "td", "", c->name);
            html_element(f, "td", classes[c->verdict], words[c->verdict]);
            html_element(f, "td", "", c->detail);
            fputs("</tr>\n", f);
        }
    end_table(f);
}

static void put_parameters(FILE *f, const struct run *r)
{
    static const char *const columns[] = {"parameter", "value", "scenario's default",
                                          "what it is"};
    struct options defaults = {0};

    if (scenario_defaults(r->scenario, &defaults) < 0)
        return;
    begin_table(f, "Parameters", columns, 4, 4);
    for (const struct param *p = param_table(); p->name; p++) {
        char numbers[2][PARAM_NUMBER_MAX];
        const char *value, *fallback;

        if (!scenario_has(r->scenario, p))
            continue;
        value = run_value(r, p, numbers[0]);
        fallback = param_value(&defaults, p, numbers[1]);
        fputs("<tr><td><code>", f);
        quote_xml(f, p->name);
        fputs("</code></td>", f);
        html_element(f, "td", strcmp(value, fallback) ? "warn" : "", value);
        html_element(f, "td", "", strcmp(value, fallback) ? fallback : "");
        html_element(f, "td", "", p->help);
        fputs("</tr>\n", f);
    }
    end_table(f);
    options_done(&defaults);
}

static void put_limits(FILE *f, const struct run *r)
{
    static const char *const columns[] = {"limit", "needed", "there", "enough"};

    if (!r->environment.limit_count)
        return;
    begin_table(f, "The machine's limits", columns, 4, 4);
    for (size_t i = 0; i < r->environment.limit_count; i++) {
        const struct environment_limit *l = &r->environment.limits[i];
        char need[24], have[24];

        snprintf(need, sizeof(need), "%" PRIu64, l->need);
        snprintf(have, sizeof(have), "%" PRIu64, l->have);
        fputs("<tr>", f);
        html_element(f, "td", "", l->name);
        html_element(f, "td", "", l->need ? need : "-");
        html_element(f, "td", "", !l->known ? "not known" : *l->text ? l->text : have);
        html_element(f, "td", l->enough ? "good" : "warn", l->enough ? "yes" : "no");
        fputs("</tr>\n", f);
    }
    end_table(f);
}

static void put_foot(FILE *f, const struct run *r)
{
    const struct family *family = r->scenario->family;

    fputs("<footer><p>Throughput and received counts come from the receiving end; sizes "
          "are decimal (1 MB is 1,000,000 bytes), bytes are the application's. Latency "
          "is ",
          f);
    fputs(run_is_paced(r) ? family->latency_paced : family->latency_about, f);
    fputs(", of what ended well, in a histogram of three digits. Gaps in a line are "
          "times without a sample. A percentile needs some ten values beyond it.</p>"
          "</footer>\n",
          f);
}

int export_write_html(FILE *f, const struct run *r)
{
    char title[120];
    char when[32];

    json_time(r->started, when, sizeof(when));
    snprintf(title, sizeof(title), "plimsoll %s, %s", r->scenario->name, when);
    html_begin(f, title);
    put_head(f, r);
    put_cards(f, r);
    put_thresholds(f, r);
    html_element(f, "h2", "", "Over time");
    run_plots(f, r);
    put_metrics(f, r);
    put_trials(f, r);
    put_times(f, r);
    put_loss(f, r);
    put_tally(f, "Errors", r, offsetof(struct trial, errors));
    put_tally(f, "Replies by status", r, offsetof(struct trial, status));
    put_tally(f, "Messages by label", r, offsetof(struct trial, labels));
    put_checks(f, r);
    put_parameters(f, r);
    put_limits(f, r);
    put_foot(f, r);
    html_end(f);
    return 0;
}
