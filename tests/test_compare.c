/*
 * Comparison: rank tests against known values and against counting by hand, and what is
 * found, and not found, in runs whose truth is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/compare.h"
#include "engine/secret.h"
#include "protocols/array.h"
#include "tests/synthetic.h"

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 + 1e-9 * fabs(wanted)))
        fail_msg("%.12g and not %.12g", value, wanted);
}

/* The tests of ranks; reference values from SciPy 1.10. */

static void unpaired_is_mann_whitney(void **state)
{
    static const double a[] = {1.1, 2.2, 3.3, 4.4, 5.5};
    static const double b[] = {4.5, 5.6, 6.7, 7.8, 8.9};
    static const double c[] = {10.2, 9.8, 10.5, 10.1, 9.9, 10.3, 10.0, 9.7};
    static const double d[] = {10.6, 10.9, 10.4, 11.0, 10.7, 10.2, 10.8, 11.2};
    struct shift s;

    (void)state;
    assert_int_equal(ranks_unpaired(a, 5, b, 5, &s), 0);
    assert_near(s.p, 0.015873015873015872);
    assert_near(s.estimate, 3.4);
    assert_near(s.low, 0.1); /* the third of 25 differences: P(U <= 2) = 4/252 */
    assert_near(s.high, 6.7);
    ranks_unpaired(c, 8, d, 8, &s);
    assert_near(s.p, 0.0012432012432012432);
    ranks_unpaired(b, 5, a, 5, &s);
    assert_near(s.estimate, -3.4);
}

static void paired_is_wilcoxon(void **state)
{
    static const double a[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const double b[] = {1.3, 1.9, 3.6, 4.8, 5.5, 6.2, 7.7, 9.1};
    struct shift s;

    (void)state;
    assert_int_equal(ranks_paired(a, b, 8, &s), 0);
    assert_near(s.p, 0.015625);
    assert_near(s.estimate, 0.5);
    assert_near(s.low, 0.2); /* the fourth of 36 averages: P(W <= 3) = 5/256 */
    assert_near(s.high, 0.85);
}

/* Beyond RANKS_EXACT values: SciPy's normal approximation with continuity correction. */
static void many_values_are_approximated(void **state)
{
    static const double a[] = {
        10.346, 10.822, 10.33,  8.697,  10.905, 10.446, 9.463, 10.581, 10.365, 10.294,
        10.028, 10.547, 9.264,  9.837,  9.518,  10.599, 10.04, 9.708,  9.218,  9.743,
        10.008, 9.724,  11.294, 11.007, 7.289,  8.111,  9.825, 9.578,  10.214, 10.217,
        12.118, 8.888,  9.622,  12.043, 10.647, 10.663, 9.486, 8.352,  10.167, 10.109};
    static const double b[] = {
        9.373,  9.917,  10.528, 9.655,  10.502, 10.695, 10.636, 10.094, 11.194,
        11.491, 10.921, 9.782,  11.332, 10.099, 11.479, 9.528,  11.514, 10.58,
        9.351,  10.286, 10.654, 10.873, 9.618,  9.493,  10.8,   10.133, 10.836,
        11.36,  8.951,  10.854, 11.825, 10.302, 9.789,  11.352, 10.853, 11.496,
        10.255, 9.118,  10.49,  10.154, 11.375, 10.794, 8.969,  9.405,  11.484};
    struct shift s;

    (void)state;
    assert_int_equal(ranks_unpaired(a, 40, b, 45, &s), 0);
    assert_near(s.p, 0.023923437765458088);
    assert_true(s.low > 0 && s.low < s.estimate && s.estimate < s.high);
}

static double midrank_sum(const double *x, size_t count, unsigned chosen)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double below = 0, equal = 0;

        for (size_t j = 0; j < count; j++) {
            below += x[j] < x[i];
            equal += x[j] == x[i];
        }
        sum += chosen >> i & 1 ? below + (equal + 1) / 2 : 0;
    }
    return sum;
}

/* By counting all choices, ties and all. */
static double counted_p(const double *x, size_t n, size_t m)
{
    size_t count = n + m;
    double middle = (double)n * (double)(count + 1) / 2;
    double far = fabs(midrank_sum(x, count, (1u << n) - 1) - middle);
    double hits = 0, total = 0;

    for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
        if ((size_t)__builtin_popcount(chosen) != n)
            continue;
        total++;
        hits += fabs(midrank_sum(x, count, chosen) - middle) >= far - 1e-9;
    }
    return hits / total;
}

static void probabilities_are_exact_with_ties(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int round = 0; round < 60; round++) {
        size_t n = 1 + (size_t)(synthetic_uniform(&seed) * 5);
        size_t m = 1 + (size_t)(synthetic_uniform(&seed) * 5);
        double x[10];
        struct shift s;

        for (size_t i = 0; i < n + m; i++)
            x[i] = floor(synthetic_uniform(&seed) * 4);
        ranks_unpaired(x, n, x + n, m, &s);
        assert_near(s.p, counted_p(x, n, m));
    }
}

static void few_values_have_no_interval(void **state)
{
    static const double a[] = {1, 2, 3, 4, 5, 6};
    static const double b[] = {11, 12, 13, 14, 15, 16};
    struct shift s;

    (void)state;
    ranks_unpaired(a, 0, b, 0, &s);
    assert_true(isnan(s.estimate) && isnan(s.low) && s.p == 1);
    ranks_unpaired(a, 1, b, 1, &s);
    assert_true(s.estimate == 10 && isnan(s.low) && s.p == 1);
    ranks_unpaired(a, 3, b, 3, &s);
    assert_true(isnan(s.low) && s.p > 0.05);
    ranks_unpaired(a, 4, b, 4, &s);
    assert_true(isfinite(s.low) && s.p < 0.05);
    ranks_paired(a, b, 5, &s);
    assert_true(isnan(s.low) && s.p > 0.05);
    ranks_paired(a, b, 6, &s);
    assert_true(isfinite(s.low) && s.p < 0.05);
    ranks_paired(a, a, 6, &s); /* no difference at all */
    assert_true(s.p == 1 && s.estimate == 0 && s.low == 0 && s.high == 0);
}

static void holm_adjusts_in_order(void **state)
{
    double p[] = {0.01, 0.04, (double)NAN, 0.03, 0.005};
    double one[] = {0.6, 0.7};

    (void)state;
    ranks_holm(p, 5);
    assert_near(p[0], 0.03);
    assert_near(p[1], 0.06);
    assert_true(isnan(p[2]));
    assert_near(p[3], 0.06);
    assert_near(p[4], 0.02);
    ranks_holm(one, 2);
    assert_near(one[0], 1);
    assert_near(one[1], 1);
}

/* Comparisons. */

static struct run *made(const char *scenario, unsigned trials, double speed, double noise,
                        uint64_t seed)
{
    struct synthetic how = {.scenario = scenario,
                            .trials = trials,
                            .steps = strstr(scenario, "bulk") ? 30 : 2,
                            .seed = seed,
                            .speed = speed,
                            .noise = noise};

    return synthetic_run(&how);
}

static struct comparison *compared(struct run *a, struct run *b, bool paired)
{
    struct compare_side sides[2] = {{"A", 1, &a}, {"B", 1, &b}};
    struct compare_options options = {.paired = paired, .at_least = COMPARE_AT_LEAST};

    /* The sides' arrays live on this stack: what is asked later does not need them. */
    return comparison_new(&sides[0], &sides[1], &options, NULL);
}

static const struct compared *row_of(const struct comparison *c, enum metric metric)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].metric == metric)
            return &c->rows[i];
    fail_msg("no row of %s", metric_row(metric)->name);
    abort();
}

/* How many of `rounds` comparisons of synthetic runs have a verdict. */
struct tally_of {
    unsigned better, worse, any, headline_better;
};

static struct tally_of tally(const char *scenario, double speed, double noise,
                             unsigned comparisons, uint64_t seed)
{
    struct tally_of t = {0, 0, 0, 0};

    for (unsigned i = 0; i < comparisons; i++) {
        struct run *a = made(scenario, 10, 1, noise, seed + 2 * i);
        struct run *b = made(scenario, 10, speed, noise, seed + 2 * i + 1);
        struct comparison *c = compared(a, b, false);

        t.better += comparison_has(c, EVIDENCE_BETTER);
        t.worse += comparison_has(c, EVIDENCE_WORSE);
        t.any += comparison_has(c, EVIDENCE_BETTER) || comparison_has(c, EVIDENCE_WORSE);
        t.headline_better += c->rows[0].evidence == EVIDENCE_BETTER;
        comparison_free(c);
        run_free(a);
        run_free(b);
    }
    return t;
}

/* Five per cent, with trials that vary by two and by two and a half per cent. */
static void a_planted_difference_is_found(void **state)
{
    struct tally_of t;

    (void)state;
    t = tally("unix-requests", 1.05, 0.02, 50, 1000);
    assert_in_range(t.headline_better, 48, 50);
    assert_in_range(t.worse, 0, 2); /* of a metric that is no matter of speed */
    t = tally("tcp-bulk", 1.05, 0.025, 50, 2000);
    assert_in_range(t.headline_better, 40, 50);
    t = tally("unix-requests", 0.95, 0.02, 50, 3000);
    assert_in_range(t.worse, 48, 50);
    assert_in_range(t.better, 0, 2);
}

/* None in 95 of 100: of 200 comparisons of equals at most 10 may have a verdict. */
static void equals_are_not_told_apart(void **state)
{
    static const char *const scenarios[] = {"unix-requests", "udp-cached-parallel",
                                            "tcp-bulk"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct tally_of t = tally(scenarios[i], 1, 0.03, 200, 5000 + 1000 * i);

        print_message("%s: %u of 200 have a verdict\n", scenarios[i], t.any);
        assert_in_range(t.any, 0, 10);
    }
}

/* Rounds that drift by 15 % from one to the next: pairs cancel it. */
static void pairs_cancel_drift(void **state)
{
    unsigned found = 0, found_unpaired = 0;
    uint64_t seed = 99;

    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        struct run *runs[2][10];
        struct compare_side a = {"A", 10, runs[0]}, b = {"B", 10, runs[1]};
        struct compare_options options = {.paired = true, .at_least = COMPARE_AT_LEAST};
        struct comparison *c;

        for (unsigned k = 0; k < 10; k++) {
            double drift = 1 + 0.15 * synthetic_normal(&seed);

            runs[0][k] = made("tcp-bulk", 1, drift, 0.015, seed + 1);
            runs[1][k] = made("tcp-bulk", 1, 1.05 * drift, 0.015, seed + 2);
        }
        c = comparison_new(&a, &b, &options, NULL);
        found += c->rows[0].evidence == EVIDENCE_BETTER;
        comparison_free(c);
        options.paired = false;
        c = comparison_new(&a, &b, &options, NULL);
        found_unpaired += c->rows[0].evidence == EVIDENCE_BETTER;
        comparison_free(c);
        for (unsigned k = 0; k < 10; k++) {
            run_free(runs[0][k]);
            run_free(runs[1][k]);
        }
    }
    assert_in_range(found, 26, 30);
    assert_in_range(found_unpaired, 0, 4);
}

static void one_trial_is_no_evidence(void **state)
{
    static const unsigned counts[][2] = {{1, 1}, {1, 10}, {10, 1}, {2, 2}, {3, 3}};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(counts); i++) {
        struct run *a = made("unix-requests", counts[i][0], 1, 0.001, 1);
        struct run *b = made("unix-requests", counts[i][1], 3, 0.001, 2);
        struct comparison *c = compared(a, b, false);

        assert_false(comparison_has(c, EVIDENCE_BETTER));
        assert_false(comparison_has(c, EVIDENCE_WORSE));
        assert_string_equal(c->rows[0].why, i < 3 ? "one trial" : "too few trials");
        comparison_free(c);
        run_free(a);
        run_free(b);
    }
}

static void unequal_trials_are_compared(void **state)
{
    struct run *a = made("unix-requests", 5, 1, 0.01, 1);
    struct run *b = made("unix-requests", 9, 1.2, 0.01, 2);
    struct comparison *c = compared(a, b, false);
    const struct compared *row = row_of(c, METRIC_requests_per_second);

    (void)state;
    assert_int_equal(row->n_a, 5);
    assert_int_equal(row->n_b, 9);
    assert_int_equal(row->evidence, EVIDENCE_BETTER);
    assert_true(row->share_low < 0.2 && row->share_high > 0.2);
    assert_true(fabs(row->share - 0.2) < 0.03);
    comparison_free(c);
    assert_null(compared(a, b, true)); /* no pairs */
    run_free(a);
    run_free(b);
}

/* A loss of nothing before: there is a difference, but no share of nothing. */
static void zero_baselines_have_no_share(void **state)
{
    struct run *a = made("udp-cached-parallel", 8, 1, 0.01, 1);
    struct run *b = made("udp-cached-parallel", 8, 1, 0.01, 2);
    struct comparison *c;
    const struct compared *row;
    char text[24];

    (void)state;
    for (size_t i = 0; i < 8; i++)
        a->trials[i]->metrics[METRIC_loss_percent] = 0;
    c = compared(a, b, false);
    row = row_of(c, METRIC_loss_percent);
    assert_int_equal(row->evidence, EVIDENCE_WORSE);
    assert_true(row->shift.estimate > 0 && isnan(row->share) && isnan(row->share_low));
    compare_share_text(row->share, text, sizeof(text));
    assert_string_equal(text, "-");
    compare_share_text(0.0512, text, sizeof(text));
    assert_string_equal(text, "+5.12 %");
    compare_share_text(-0.63, text, sizeof(text));
    assert_string_equal(text, "-63.0 %");
    compare_share_text(40.836, text, sizeof(text));
    assert_string_equal(text, "+4084 %");
    /* Both zero: nothing differs, and nothing is divided. */
    comparison_free(c);
    for (size_t i = 0; i < 8; i++)
        b->trials[i]->metrics[METRIC_loss_percent] = 0;
    c = compared(a, b, false);
    row = row_of(c, METRIC_loss_percent);
    assert_int_equal(row->evidence, EVIDENCE_NONE);
    assert_true(row->shift.estimate == 0);
    comparison_free(c);
    run_free(a);
    run_free(b);
}

static void small_differences_do_not_matter(void **state)
{
    struct run *a = made("tcp-bulk", 10, 1, 0, 1);
    struct run *b = made("tcp-bulk", 10, 1, 0, 2);
    struct comparison *c;

    (void)state;
    for (size_t i = 0; i < 10; i++) {
        a->trials[i]->metrics[METRIC_throughput] = 1000 + 0.1 * (double)i;
        b->trials[i]->metrics[METRIC_throughput] = 1005 + 0.1 * (double)i;
    }
    c = compared(a, b, false);
    assert_int_equal(c->rows[0].evidence, EVIDENCE_NONE);
    assert_string_equal(c->rows[0].why, "too small to matter");
    comparison_free(c);
    run_free(a);
    run_free(b);
}

static void named_metrics_are_judged_alone(void **state)
{
    struct run *a = made("unix-requests", 10, 1, 0.01, 1);
    struct run *b = made("unix-requests", 10, 1.1, 0.01, 2);
    struct compare_side sides[2] = {{"A", 1, &a}, {"B", 1, &b}};
    struct compare_options options = {
        .at_least = 0, .metric_count = 1, .metrics = {METRIC_latency_p90_ns}};
    struct comparison *c = comparison_new(&sides[0], &sides[1], &options, NULL);
    struct fail fail = {0};

    (void)state;
    assert_int_equal(c->rows[0].metric, METRIC_latency_p90_ns);
    assert_int_equal(c->rows[0].evidence, EVIDENCE_BETTER);
    assert_near(c->rows[0].p_adjusted, c->rows[0].shift.p);
    for (size_t i = 1; i < c->count; i++) {
        assert_int_equal(c->rows[i].evidence, EVIDENCE_NONE);
        assert_int_not_equal(c->rows[i].metric, METRIC_latency_p90_ns);
    }
    comparison_free(c);
    options.metrics[0] = METRIC_loss_percent;
    assert_null(comparison_new(&sides[0], &sides[1], &options, &fail));
    assert_non_null(strstr(fail.sentence, "loss_percent"));
    run_free(a);
    run_free(b);
}

static void assert_warned(const struct comparison *c, const char *text, bool wanted)
{
    bool found = false;

    for (size_t i = 0; i < c->warning_count; i++)
        found |= strstr(c->warnings[i], text) != NULL;
    if (found != wanted)
        fail_msg("%s a warning with '%s'", wanted ? "there is not" : "there is", text);
}

static void what_differs_is_said(void **state)
{
    struct run *a = made("unix-requests", 4, 1, 0.01, 1);
    struct run *b = made("unix-requests", 4, 1, 0.01, 2);
    struct comparison *c = compared(a, b, false);

    (void)state;
    assert_int_equal(c->warning_count, 0);
    comparison_free(c);
    options_set_number(&b->values, OPTION_concurrency, 8);
    options_set_number(&b->values, OPTION_trials, 7);
    strcpy(b->environment.host, "elsewhere");
    strcpy(b->environment.program, "plimsoll 1");
    b->environment.cpus = 4;
    b->trials[3]->outcome = OUTCOME_FAILED;
    b->trials[1]->check_count = 2;
    b->trials[1]->checks[0] = (struct check){"answered to the end", VERDICT_FAIL, ""};
    b->trials[1]->checks[1] = (struct check){"generator in time", VERDICT_FAIL, ""};
    c = compared(a, b, false);
    assert_warned(c, "concurrency is '1' in A and '8' in B", true);
    assert_warned(c, "trials is", false);
    assert_warned(c, "elsewhere", true);
    assert_warned(c, "the version", true);
    assert_warned(c, "2 CPUs in A and 4 in B", true);
    assert_warned(c, "1 of 4 trials of B did not complete", true);
    assert_warned(c, "'answered to the end' fails in 1 of 4 trials of B", true);
    assert_warned(c, "'generator in time' fails in 1 of 4 trials of B", true);
    assert_int_equal(row_of(c, METRIC_requests_per_second)->n_b, 3);
    comparison_free(c);
    run_free(a);
    run_free(b);
}

/* However late in a value the difference is; a secret is no less one for that. */
static void values_are_compared_whole(void **state)
{
    struct run *a = made("http", 4, 1, 0.01, 1);
    struct run *b = made("http", 4, 1, 0.01, 2);
    char url[600] = "http://127.0.0.1/";
    size_t len = strlen(url);
    struct comparison *c;

    (void)state;
    memset(url + len, 'x', sizeof(url) - len - 1);
    options_set_text(&a->values, OPTION_url, url);
    options_set_text(&b->values, OPTION_url, url);
    c = compared(a, b, false);
    assert_int_equal(c->warning_count, 0);
    comparison_free(c);

    url[sizeof(url) - 2] = 'y';
    options_set_text(&b->values, OPTION_url, url);
    options_set_text(&a->values, OPTION_headers, "Cookie: one");
    options_set_text(&b->values, OPTION_headers, "Cookie: two");
    assert_int_equal(secrets_hide(&a->values, &a->hidden), 0);
    assert_int_equal(secrets_hide(&b->values, &b->hidden), 0);
    c = compared(a, b, false);
    assert_int_equal(c->warning_count, 2);
    assert_warned(c, "xxx' in A", true);
    assert_warned(c, "xxy' in B", true);
    assert_warned(c, "headers differ in A and B in what is hidden", true);
    comparison_free(c);
    run_free(a);
    run_free(b);
}

static void set_file_bytes(struct run *r, const char *bytes)
{
    struct process *p = &r->trials[0]->processes[0];

    strcpy(p->facts[0].name, "file_bytes");
    strcpy(p->facts[0].text, bytes);
    p->fact_count = 1;
}

static void a_file_that_changed_is_said(void **state)
{
    struct run *a = made("unix-bulk", 4, 1, 0.01, 1);
    struct run *b = made("unix-bulk", 4, 1, 0.01, 2);
    struct comparison *c;

    (void)state;
    set_file_bytes(a, "1000");
    set_file_bytes(b, "1000");
    c = compared(a, b, false);
    assert_int_equal(c->warning_count, 0);
    comparison_free(c);
    set_file_bytes(b, "1001");
    c = compared(a, b, false);
    assert_warned(c, "the file had 1000 bytes in one run and 1001 in another", true);
    comparison_free(c);
    run_free(a);
    run_free(b);
}

/* Many runs of one fault are one warning, which leaves room for the others. */
static void a_mixed_side_is_said_once(void **state)
{
    struct run *runs[2 * COMPARE_WARNINGS];
    struct run *b = made("unix-requests", 2, 1, 0.01, 99);
    struct compare_side sides[2] = {{"A", NUMBER_OF(runs), runs}, {"B", 1, &b}};
    struct compare_options options = {.at_least = COMPARE_AT_LEAST};
    struct comparison *c;
    size_t said = 0;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(runs); i++) {
        runs[i] = made("unix-requests", 1, 1, 0.01, i + 1);
        if (i > 0)
            strcpy(runs[i]->environment.host, "elsewhere");
    }
    b->trials[1]->outcome = OUTCOME_FAILED;
    c = comparison_new(&sides[0], &sides[1], &options, NULL);
    assert_non_null(c);
    for (size_t i = 0; i < c->warning_count; i++)
        said += strstr(c->warnings[i], "the runs of A are not all of") != NULL;
    assert_int_equal(said, 1);
    assert_warned(c, "1 of 2 trials of B did not complete", true);
    comparison_free(c);
    for (size_t i = 0; i < NUMBER_OF(runs); i++)
        run_free(runs[i]);
    run_free(b);
}

static void quantiles_come_from_all_trials(void **state)
{
    struct run *a = made("unix-requests", 6, 1, 0, 1);
    struct run *b = made("unix-requests", 6, 2, 0, 2);
    struct comparison *c = compared(a, b, false);

    (void)state;
    assert_true(c->quantile_count >= 6);
    for (size_t i = 0; i < c->quantile_count; i++) {
        const struct compared_quantile *q = &c->quantiles[i];

        assert_true(q->b_ns < q->a_ns);
        assert_true(i == 0 || q->a_ns >= c->quantiles[i - 1].a_ns);
        assert_true(fmin(q->q, 1 - q->q) * (double)c->latency[0]->count >= 10);
    }
    comparison_free(c);
    run_free(a);
    run_free(b);
}

static void nothing_in_common_is_refused(void **state)
{
    struct run *a = made("unix-requests", 0, 1, 0, 1);
    struct run *b = made("unix-requests", 2, 1, 0, 1);
    struct compare_side sides[2] = {{"A", 1, &a}, {"B", 1, &b}};
    struct compare_options options = {.at_least = 0.01};
    struct fail fail = {0};

    (void)state;
    assert_null(comparison_new(&sides[0], &sides[1], &options, &fail));
    assert_int_equal(fail.err, 22);
    run_free(a);
    run_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpaired_is_mann_whitney),
        cmocka_unit_test(paired_is_wilcoxon),
        cmocka_unit_test(many_values_are_approximated),
        cmocka_unit_test(probabilities_are_exact_with_ties),
        cmocka_unit_test(few_values_have_no_interval),
        cmocka_unit_test(holm_adjusts_in_order),
        cmocka_unit_test(a_planted_difference_is_found),
        cmocka_unit_test(equals_are_not_told_apart),
        cmocka_unit_test(pairs_cancel_drift),
        cmocka_unit_test(one_trial_is_no_evidence),
        cmocka_unit_test(unequal_trials_are_compared),
        cmocka_unit_test(zero_baselines_have_no_share),
        cmocka_unit_test(small_differences_do_not_matter),
        cmocka_unit_test(named_metrics_are_judged_alone),
        cmocka_unit_test(what_differs_is_said),
        cmocka_unit_test(values_are_compared_whole),
        cmocka_unit_test(a_file_that_changed_is_said),
        cmocka_unit_test(a_mixed_side_is_said_once),
        cmocka_unit_test(quantiles_come_from_all_trials),
        cmocka_unit_test(nothing_in_common_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
