#include "engine/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/statistics.h"
#include "protocols/array.h"
#include "protocols/utf8.h"

/* The chance of a false verdict among the headline metrics, and among the others. */
#define ALPHA_HEADLINE 0.025
#define ALPHA_OTHERS 0.005
#define ALPHA_NAMED 0.03

const char *evidence_name(enum evidence evidence)
{
    static const char *const names[] = {"no evidence", "better", "worse"};

    return names[evidence];
}

void compare_share_text(double share, char *text, size_t size)
{
    double percent = 100 * share;
    int decimals = fabs(percent) < 9.995 ? 2 : fabs(percent) < 999.95 ? 1 : 0;

    if (!isfinite(share))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%+.*f %%", decimals, percent);
}

/* The values of a side. */

static bool was_carried_out(const struct trial *t)
{
    return t->outcome == OUTCOME_COMPLETED ||
           (t->outcome == OUTCOME_EXHAUSTED && t->scenario->exhausted_expected);
}

static size_t count_trials(const struct compare_side *side)
{
    size_t n = 0;

    for (size_t i = 0; i < side->count; i++)
        n += side->runs[i]->trials_begun;
    return n;
}

/* Trial number `index` over all runs of a side. */
static const struct trial *trial_at(const struct compare_side *side, size_t index)
{
    for (size_t i = 0; i < side->count; i++) {
        if (index < side->runs[i]->trials_begun)
            return side->runs[i]->trials[index];
        index -= side->runs[i]->trials_begun;
    }
    return NULL;
}

/* The value of a trial; NaN when there is no such trial or it was not carried out. */
static double value_at(const struct compare_side *side, size_t index, enum metric metric)
{
    const struct trial *t = trial_at(side, index);

    return t && was_carried_out(t) ? t->metrics[metric] : (double)NAN;
}

/* Two sides' values of one metric. */
struct values {
    double *a, *b;
    size_t n, m;
};

static int take_values(const struct comparison *c, enum metric metric, struct values *v)
{
    size_t n = count_trials(&c->a), m = count_trials(&c->b);

    *v =
        (struct values){calloc(n + 1, sizeof(*v->a)), calloc(m + 1, sizeof(*v->b)), 0, 0};
    if (!v->a || !v->b)
        return -ENOMEM;
    for (size_t i = 0; i < n || i < m; i++) {
        double a = value_at(&c->a, i, metric), b = value_at(&c->b, i, metric);

        if (c->options.paired && !(isfinite(a) && isfinite(b)))
            continue; /* half a pair */
        if (isfinite(a))
            v->a[v->n++] = a;
        if (isfinite(b))
            v->b[v->m++] = b;
    }
    return 0;
}

static void free_values(struct values *v)
{
    free(v->a);
    free(v->b);
}

/* One metric. */

static bool is_named(const struct comparison *c, enum metric metric)
{
    for (size_t i = 0; i < c->options.metric_count; i++)
        if (c->options.metrics[i] == metric)
            return true;
    return false;
}

/* What a scenario is about, and what a change to it is judged by. */
static bool is_headline(const struct comparison *c, enum metric metric)
{
    const struct family *family = c->a.runs[0]->scenario->family;

    if (c->options.metric_count)
        return is_named(c, metric);
    for (size_t i = 0; i < family->judged; i++)
        if (family->headlines[i] == metric)
            return true;
    return false;
}

/*
 * What is positive throughout is compared by ratios, as the logarithms of its values:
 * twice as much and half as much are equally far, and nothing falls by more than all of
 * it. Shares of a whole (loss, errors) and what may be zero are compared by differences.
 */
static bool take_logarithms(struct values *v, enum metric metric)
{
    bool positive = strcmp(metric_row(metric)->unit, "%") != 0;

    for (size_t i = 0; i < v->n; i++)
        positive &= v->a[i] > 0;
    for (size_t i = 0; i < v->m; i++)
        positive &= v->b[i] > 0;
    for (size_t i = 0; positive && i < v->n; i++)
        v->a[i] = log(v->a[i]);
    for (size_t i = 0; positive && i < v->m; i++)
        v->b[i] = log(v->b[i]);
    return positive;
}

/* The shift as a share of A's median, and the other way round. */
static void fill_shares(struct compared *row, bool by_ratio)
{
    struct shift *s = &row->shift;

    row->share = row->share_low = row->share_high = (double)NAN;
    if (by_ratio) {
        row->share = expm1(s->estimate);
        row->share_low = expm1(s->low);
        row->share_high = expm1(s->high);
        s->estimate = row->share * row->a;
        s->low = row->share_low * row->a;
        s->high = row->share_high * row->a;
    } else if (row->a != 0) {
        row->share = s->estimate / fabs(row->a);
        row->share_low = s->low / fabs(row->a);
        row->share_high = s->high / fabs(row->a);
    }
}

static void fill_values(struct compared *row, const struct values *v)
{
    const size_t room = NUMBER_OF(row->values[0]);
    struct statistics s;

    row->n_a = v->n;
    row->n_b = v->m;
    statistics_of(v->a, v->n, &s);
    row->a = s.median;
    statistics_of(v->b, v->m, &s);
    row->b = s.median;
    for (size_t i = 0; i < room; i++) {
        row->values[0][i] = i < v->n ? v->a[i] : (double)NAN;
        row->values[1][i] = i < v->m ? v->b[i] : (double)NAN;
    }
}

/* Why no verdict can be tried; "" when one can. */
static const char *why_not(const struct comparison *c, const struct compared *row)
{
    if (!row->n_a || !row->n_b)
        return "not measured";
    if (row->n_a < 2 || row->n_b < 2)
        return "one trial";
    if (!isfinite(row->shift.low))
        return "too few trials";
    return c->options.metric_count && !row->headline ? "not asked for" : "";
}

/* By pairs where there are enough for an interval; the other test is kept in reserve. */
static int shift_of(const struct comparison *c, const struct values *v,
                    struct compared *row)
{
    struct shift pairs;
    int rc = ranks_unpaired(v->a, v->n, v->b, v->m, &row->shift);

    row->p_pairs = row->p_apart = row->shift.p;
    if (rc < 0 || !c->options.paired)
        return rc;
    rc = ranks_paired(v->a, v->b, v->n, &pairs);
    row->p_pairs = pairs.p;
    if (isfinite(pairs.low))
        row->shift = pairs;
    return rc;
}

static int add_row(struct comparison *c, enum metric metric)
{
    struct compared *row = &c->rows[c->count];
    struct values v;
    int rc = take_values(c, metric, &v);

    if (rc == 0 && (v.n || v.m)) {
        bool by_ratio;

        row->metric = metric;
        row->headline = is_headline(c, metric);
        fill_values(row, &v);
        by_ratio = take_logarithms(&v, metric);
        rc = shift_of(c, &v, row);
        fill_shares(row, by_ratio);
        row->p_adjusted = (double)NAN;
        row->why = why_not(c, row);
        c->count++;
    }
    free_values(&v);
    return rc;
}

/* Headline metrics first, in the order in which they were named or stand in METRICS. */
static int add_rows(struct comparison *c)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->options.metric_count; i++)
        rc = add_row(c, c->options.metrics[i]);
    for (int headline = 1; headline >= 0; headline--)
        for (int m = 0; rc == 0 && m < METRIC_COUNT; m++)
            if (is_headline(c, (enum metric)m) == headline &&
                !is_named(c, (enum metric)m))
                rc = add_row(c, (enum metric)m);
    return rc;
}

/* Verdicts. */

static void judge_row(const struct comparison *c, struct compared *row, double alpha)
{
    bool up = row->shift.estimate > 0;

    if (row->shift.low == 0 && row->shift.high == 0) {
        row->why = "the same";
        return;
    }
    if (!(row->p_adjusted <= alpha)) {
        row->why = row->shift.low > 0 || row->shift.high < 0 ? "one of many metrics"
                                                             : "may be chance";
        return;
    }
    if (fabs(row->shift.estimate) < c->options.at_least * fabs(row->a)) {
        row->why = "too small to matter";
        return;
    }
    row->evidence =
        up == (metric_row(row->metric)->better > 0) ? EVIDENCE_BETTER : EVIDENCE_WORSE;
}

static bool is_candidate(const struct compared *row, bool headline)
{
    return row->headline == headline && !*row->why;
}

/*
 * Signed ranks see through a drift that both of a pair have met, but n pairs fall out in
 * 2^n ways only: too few to be sure by among many metrics. Then it is Mann and Whitney's
 * test, for which a common drift is but noise. Which of them follows from the numbers of
 * pairs and of metrics alone, so that nothing is chosen by its result.
 */
static void choose_test(const struct comparison *c, struct compared *row,
                        size_t candidates, double alpha)
{
    double least = 2 / exp2((double)row->n_a);

    row->by_pairs = c->options.paired && least * (double)candidates <= alpha;
    row->shift.p = row->by_pairs ? row->p_pairs : row->p_apart;
}

static void judge(struct comparison *c, bool headline, double alpha)
{
    size_t candidates = 0;
    double p[METRIC_COUNT];

    for (size_t i = 0; i < c->count; i++)
        candidates += is_candidate(&c->rows[i], headline);
    for (size_t i = 0; i < c->count; i++) {
        p[i] = (double)NAN;
        if (!is_candidate(&c->rows[i], headline))
            continue;
        choose_test(c, &c->rows[i], candidates, alpha);
        p[i] = c->rows[i].shift.p;
    }
    ranks_holm(p, c->count);
    for (size_t i = 0; i < c->count; i++)
        if (!isnan(p[i])) {
            c->rows[i].p_adjusted = p[i];
            judge_row(c, &c->rows[i], alpha);
        }
}

/* The whole distribution. */

static int pool_latency(const struct compare_side *side, struct hist **pooled)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct run *r = side->runs[i];
        const struct meter *m = r->pooled[r->scenario->family->latency_place];
        const struct hist *h = m ? m->hists[METER_HIST_latency] : NULL;

        if (!h || !h->count || !r->scenario->family->operations)
            continue;
        if (!*pooled)
            *pooled = hist_new();
        if (!*pooled)
            return -ENOMEM;
        hist_merge(*pooled, h);
    }
    return 0;
}

/* Only as far out as ten values lie beyond, on both sides. */
static void add_quantiles(struct comparison *c)
{
    static const double quantiles[] = {0.01, 0.1,  0.25,  0.5,    0.75,   0.9,
                                       0.95, 0.99, 0.999, 0.9999, 0.99999};
    const struct hist *a = c->latency[0], *b = c->latency[1];

    for (size_t i = 0; a && b && i < NUMBER_OF(quantiles); i++) {
        double q = quantiles[i];
        double least = (double)(a->count < b->count ? a->count : b->count);

        if (fmin(q, 1 - q) * least < 10)
            continue;
        c->quantiles[c->quantile_count++] =
            (struct compared_quantile){q, hist_quantile(a, q), hist_quantile(b, q)};
    }
}

/* Warnings. */

static void warn(struct comparison *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(struct comparison *c, const char *format, ...)
{
    va_list args;

    if (c->warning_count == COMPARE_WARNINGS)
        return;
    va_start(args, format);
    vsnprintf(c->warnings[c->warning_count], sizeof(c->warnings[0]), format, args);
    va_end(args);
    utf8_printable(c->warnings[c->warning_count]);
    c->warning_count++;
}

/* Values that are no parameters are the scenario's own, which is compared above. */
static void warn_value(struct comparison *c, const struct param *p)
{
    const struct run *runs[2] = {c->a.runs[0], c->b.runs[0]};
    char numbers[2][PARAM_NUMBER_MAX];
    char texts[2][64];

    if (strcmp(param_value(&runs[0]->values, p, numbers[0]),
               param_value(&runs[1]->values, p, numbers[1])) == 0)
        return;
    param_contrast(run_value(runs[0], p, numbers[0]), run_value(runs[1], p, numbers[1]),
                   texts[0], texts[1], sizeof(texts[0]));
    if (strcmp(texts[0], texts[1]) == 0)
        warn(c, "%s differ in %s and %s in what is hidden (--keep-secrets)", p->name,
             c->a.name, c->b.name);
    else
        warn(c, "%s is '%s' in %s and '%s' in %s", p->name, texts[0], c->a.name, texts[1],
             c->b.name);
}

static void warn_values(struct comparison *c)
{
    const struct run *a = c->a.runs[0], *b = c->b.runs[0];

    for (size_t i = 0; i < a->values.count; i++) {
        const struct param *p = scenario_param(a->scenario, a->values.values[i].option);

        /* Scenarios of two families differ in what they have: that is said above. */
        if (p && !(p->flags & PARAM_INDIFFERENT) &&
            scenario_param(b->scenario, p->option))
            warn_value(c, p);
    }
}

static void warn_text(struct comparison *c, const char *what, const char *a,
                      const char *b)
{
    if (strcmp(a, b) != 0)
        warn(c, "%s is '%.60s' in %s and '%.60s' in %s", what, *a ? a : "not known",
             c->a.name, *b ? b : "not known", c->b.name);
}

static void warn_environment(struct comparison *c)
{
    const struct environment *a = &c->a.runs[0]->environment;
    const struct environment *b = &c->b.runs[0]->environment;

    warn_text(c, "the version", a->program, b->program);
    warn_text(c, "the host", a->host, b->host);
    warn_text(c, "the kernel", a->kernel, b->kernel);
    warn_text(c, "the machine", a->machine, b->machine);
    if (a->cpus != b->cpus)
        warn(c, "there are %llu CPUs in %s and %llu in %s", (unsigned long long)a->cpus,
             c->a.name, (unsigned long long)b->cpus, c->b.name);
    for (size_t i = 0; i < a->limit_count && i < b->limit_count; i++)
        if (strcmp(a->limits[i].name, b->limits[i].name) == 0)
            warn_text(c, a->limits[i].name, a->limits[i].text, b->limits[i].text);
}

static bool is_of_one_kind(const struct run *a, const struct run *b)
{
    return a->scenario == b->scenario &&
           strcmp(a->environment.host, b->environment.host) == 0;
}

/* Several runs of one side are one side only if they are of one kind. */
static void warn_within(struct comparison *c, const struct compare_side *side)
{
    size_t i = 1;

    while (i < side->count && is_of_one_kind(side->runs[i], side->runs[0]))
        i++;
    if (i < side->count)
        warn(c, "the runs of %s are not all of one scenario and host", side->name);
}

/* Within a run it is of one size (engine/run_trial.c); among runs it may have changed. */
static void warn_file(struct comparison *c)
{
    const struct compare_side *sides[2] = {&c->a, &c->b};
    uint64_t first = 0;

    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->count; i++) {
            const struct run *r = sides[s]->runs[i];
            const struct trial *t = r->trials_begun ? r->trials[0] : NULL;

            for (size_t k = 0; t && k < t->process_count; k++) {
                uint64_t bytes = process_number(&t->processes[k], "file_bytes");

                if (!first)
                    first = bytes;
                if (!bytes || bytes == first)
                    continue;
                warn(c,
                     "the file had %" PRIu64 " bytes in one run and %" PRIu64
                     " in another",
                     first, bytes);
                return;
            }
        }
}

static void warn_trials(struct comparison *c, const struct compare_side *side)
{
    size_t out = 0;

    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < side->runs[i]->trials_begun; k++)
            out += !was_carried_out(side->runs[i]->trials[k]);
    if (out)
        warn(c, "%zu of %zu trials of %s did not complete and are left out", out,
             count_trials(side), side->name);
}

/* Other work on the machine is not seen in a difference, but in its interval. */
static void warn_crowd(struct comparison *c, const struct compare_side *side)
{
    size_t n = 0;

    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < side->runs[i]->trials_begun; k++)
            n += trial_was_crowded(side->runs[i]->trials[k]);
    if (n)
        warn(c,
             "processes waited for a core in %zu of %zu trials of %s: other work was on "
             "the machine",
             n, count_trials(side), side->name);
}

/* How many trials of a side fail a check. */
static size_t count_failing(const struct compare_side *side, const char *check)
{
    size_t n = 0;

    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < side->runs[i]->trials_begun; k++) {
            const struct trial *t = side->runs[i]->trials[k];

            for (size_t j = 0; j < t->check_count; j++)
                n += t->checks[j].verdict == VERDICT_FAIL &&
                     strcmp(t->checks[j].name, check) == 0;
        }
    return n;
}

/* Counts that are wrong, and a load that was not what was asked for. */
static void warn_checks(struct comparison *c, const struct compare_side *side)
{
    static const char *const grave[] = {
        "identity",          "counts at both ends",    "checksums",
        "rate kept",         "rates match the series", "answered to the end",
        "generator in time", "nobody held up",
    };

    for (size_t i = 0; i < NUMBER_OF(grave); i++) {
        size_t n = count_failing(side, grave[i]);

        if (n)
            warn(c, "the check '%s' fails in %zu of %zu trials of %s", grave[i], n,
                 count_trials(side), side->name);
    }
}

static void add_warnings(struct comparison *c)
{
    warn_text(c, "the scenario", c->a.runs[0]->scenario->name,
              c->b.runs[0]->scenario->name);
    warn_values(c);
    warn_file(c);
    warn_environment(c);
    warn_within(c, &c->a);
    warn_within(c, &c->b);
    warn_trials(c, &c->a);
    warn_trials(c, &c->b);
    warn_crowd(c, &c->a);
    warn_crowd(c, &c->b);
    warn_checks(c, &c->a);
    warn_checks(c, &c->b);
}

void comparison_method(const struct comparison *c, char *text, size_t size)
{
    static const char *const pairs =
        "The difference is the Hodges-Lehmann estimate (of ratios where all values are "
        "positive) over the pairs of rounds, its "
        "interval the 95 % interval of Wilcoxon's signed-rank test. The verdicts are by "
        "that test, or by Mann and Whitney's where the pairs are too few for it, and "
        "allow";
    static const char *const apart =
        "The difference is the Hodges-Lehmann estimate (of ratios where all values are "
        "positive) over all pairs of trials, its "
        "interval the 95 % interval of Mann and Whitney's test. The two sides were not "
        "interleaved: what else the machine did is part of the difference. The verdicts "
        "are by that test, and allow";

    snprintf(
        text, size,
        "%s for the number of metrics (Holm): of comparisons of equals, at most 3 in "
        "100 have any. A difference below %.3g %% is called too small to matter.",
        c->options.paired ? pairs : apart, 100 * c->options.at_least);
}

/* The whole. */

static int check_sides(const struct comparison *c, struct fail *fail)
{
    if (!c->a.count || !c->b.count)
        return fail_usage(fail, "compare", "there is nothing to compare");
    if (c->options.paired && count_trials(&c->a) != count_trials(&c->b))
        return fail_usage(fail, "compare",
                          "pairs need as many trials on both sides: %s has %zu, %s %zu",
                          c->a.name, count_trials(&c->a), c->b.name, count_trials(&c->b));
    return 0;
}

/* A metric that was asked for must be there. */
static int check_named(const struct comparison *c, struct fail *fail)
{
    for (size_t i = 0; i < c->options.metric_count; i++) {
        bool there = false;

        for (size_t k = 0; k < c->count; k++)
            there |= c->rows[k].metric == c->options.metrics[i] && c->rows[k].n_a &&
                     c->rows[k].n_b;
        if (!there)
            return fail_usage(fail, "compare", "%s was not measured by both",
                              metric_row(c->options.metrics[i])->name);
    }
    return 0;
}

static bool has_both(const struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].n_a && c->rows[i].n_b)
            return true;
    return false;
}

static int fill(struct comparison *c, struct fail *fail)
{
    bool named = c->options.metric_count != 0;

    if (check_sides(c, fail) < 0)
        return -EINVAL;
    if (add_rows(c) < 0 || pool_latency(&c->a, &c->latency[0]) < 0 ||
        pool_latency(&c->b, &c->latency[1]) < 0)
        return fail_set(fail, ENOMEM, "compare", "comparing");
    if (!has_both(c))
        return fail_usage(fail, "compare",
                          "there is no metric that both sides measured in a trial that "
                          "completed");
    if (check_named(c, fail) < 0)
        return -EINVAL;
    judge(c, true, named ? ALPHA_NAMED : ALPHA_HEADLINE);
    judge(c, false, ALPHA_OTHERS);
    add_quantiles(c);
    add_warnings(c);
    return 0;
}

struct comparison *comparison_new(const struct compare_side *a,
                                  const struct compare_side *b,
                                  const struct compare_options *options,
                                  struct fail *fail)
{
    struct comparison *c = calloc(1, sizeof(*c));

    if (!c) {
        fail_set(fail, ENOMEM, "compare", "comparing");
        return NULL;
    }
    c->a = *a;
    c->b = *b;
    c->options = *options;
    if (fill(c, fail) == 0)
        return c;
    comparison_free(c);
    return NULL;
}

void comparison_free(struct comparison *c)
{
    if (!c)
        return;
    hist_free(c->latency[0]);
    hist_free(c->latency[1]);
    free(c);
}

bool comparison_has(const struct comparison *c, enum evidence evidence)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].evidence == evidence)
            return true;
    return false;
}
