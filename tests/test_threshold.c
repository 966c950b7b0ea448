/* Thresholds: what a user may type, and what passes. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/threshold.h"
#include "engine/threshold_verdict.h"

static void reads(const char *text, enum metric metric, enum relation relation,
                  double limit)
{
    struct threshold t;
    struct fail fail = {0};

    if (threshold_parse(&t, text, &fail) < 0)
        fail_msg("%s: %s", text, fail.sentence);
    assert_int_equal(t.metric, metric);
    assert_int_equal(t.relation, relation);
    if (t.limit != limit) /* to the last bit: a limit is what was typed */
        fail_msg("%s: %.17g, not %.17g", text, t.limit, limit);
}

static void test_reads_what_people_type(void **state)
{
    (void)state;
    reads("p99<5ms", METRIC_latency_p99_ns, RELATION_BELOW, 5e6);
    reads(" p99 < 5 ms ", METRIC_latency_p99_ns, RELATION_BELOW, 5e6);
    reads("p99.9<=1.1ms", METRIC_latency_p99_9_ns, RELATION_AT_MOST, 1.1e6);
    reads("p99_9<250us", METRIC_latency_p99_9_ns, RELATION_BELOW, 250e3);
    reads("P95<1s", METRIC_latency_p95_ns, RELATION_BELOW, 1e9);
    reads("p99.99<1s", METRIC_latency_p99_99_ns, RELATION_BELOW, 1e9);
    reads("max<0", METRIC_latency_max_ns, RELATION_BELOW, 0);
    reads("latency-p50-ns<7ns", METRIC_latency_p50_ns, RELATION_BELOW, 7);
    reads("loss<=0.1%", METRIC_loss_percent, RELATION_AT_MOST, 0.1);
    reads("loss<=0.3", METRIC_loss_percent, RELATION_AT_MOST, 0.3);
    reads("errors<1%", METRIC_error_percent, RELATION_BELOW, 1);
    reads("throughput>500MB/s", METRIC_throughput, RELATION_ABOVE, 500e6);
    reads("throughput>=1.5GiB/s", METRIC_throughput, RELATION_AT_LEAST, 1.5 * (1 << 30));
    reads("throughput_up>1", METRIC_throughput_up, RELATION_ABOVE, 1);
    reads("rps>10k/s", METRIC_requests_per_second, RELATION_ABOVE, 10000);
    reads("rps>0.5", METRIC_requests_per_second, RELATION_ABOVE, 0.5);
    reads("received>12.5k", METRIC_received_per_second, RELATION_ABOVE, 12500);
    reads("seconds<2.5", METRIC_seconds, RELATION_BELOW, 2.5);
    reads("seconds<2m", METRIC_seconds, RELATION_BELOW, 120);
    reads("time<900ms", METRIC_seconds, RELATION_BELOW, 0.9);
    reads("client_cpu<90", METRIC_client_cpu_percent, RELATION_BELOW, 90);
    reads("client-cpu-us-per-message<1.5us", METRIC_client_cpu_us_per_message,
          RELATION_BELOW, 1.5);
}

static void refuses(const char *text, const char *says)
{
    struct threshold t;
    struct fail fail = {0};

    if (threshold_parse(&t, text, &fail) != -EINVAL)
        fail_msg("'%s' was taken", text);
    assert_int_equal(fail.err, EINVAL);
    if (!strstr(fail.sentence, says))
        fail_msg("'%s': '%s' does not say '%s'", text, fail.sentence, says);
}

static void test_refuses_with_a_reason(void **state)
{
    char longer[400];

    (void)state;
    refuses("", "none of <");
    refuses("p99", "none of <");
    refuses("p99=5ms", "none of <");
    refuses("<5ms", "no metric ''");
    refuses("p98.5<5ms", "did you mean");
    refuses("troughput>5MB/s", "did you mean 'throughput'");
    refuses("xyzzy>5", "no metric 'xyzzy'");
    refuses("p99<5", "with its unit");
    refuses("p99<", "no limit");
    refuses("p99<fast", "no limit");
    refuses("p99<-5ms", "no limit");
    refuses("p99<5MB", "no limit");
    refuses("p99<5ms/s", "no limit");
    refuses("p99<<5ms", "no limit");
    refuses("p99<5ms<6ms", "no limit");
    refuses("p99<1.2.3ms", "no limit");
    refuses("p99<1 2ms", "no limit");
    refuses("p99<1,5ms", "no limit"); /* a comma parts thresholds, and is no point */
    refuses("p99<.ms", "no limit");
    refuses("p99<1e3ms", "no limit");
    refuses("p99<nan", "no limit");
    refuses("p99<99999999999999999999ms", "no limit");
    refuses("loss<5ms", "no limit");
    refuses("throughput>5s", "no limit");
    refuses("rps>5GB/s", "no limit");
    memset(longer, 'p', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    refuses(longer, "too long");
}

static void test_reads_lines_and_commas(void **state)
{
    struct threshold list[THRESHOLDS_MAX];
    struct fail fail = {0};
    char many[THRESHOLDS_MAX * 8 + 16] = "";
    size_t count = 77;

    (void)state;
    assert_int_equal(thresholds_parse("", list, &count, &fail), 0);
    assert_int_equal(count, 0);
    assert_int_equal(thresholds_parse("p99<5ms\nloss<1%, rps>1\n", list, &count, &fail),
                     0);
    assert_int_equal(count, 3);
    assert_string_equal(list[0].text, "p99<5ms");
    assert_string_equal(list[1].text, "loss<1%");
    assert_string_equal(list[2].text, "rps>1");
    for (int i = 0; i < THRESHOLDS_MAX; i++)
        strcat(many, "p99<1s\n");
    assert_int_equal(thresholds_parse(many, list, &count, &fail), 0);
    assert_int_equal(count, THRESHOLDS_MAX);
    strcat(many, "p50<1s");
    assert_int_equal(thresholds_parse(many, list, &count, &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "more than 32"));
}

/* A run whose trials have these values of one metric. */
struct judged {
    struct run run;
    struct trial trials[3];
    struct trial *list[3];
};

static void prepare(struct judged *j, enum metric metric, const double *values,
                    const char *thresholds)
{
    memset(j, 0, sizeof(*j));
    for (int i = 0; i < 3; i++) {
        for (int m = 0; m < METRIC_COUNT; m++)
            j->trials[i].metrics[m] = (double)NAN;
        j->trials[i].metrics[metric] = values[i];
        j->list[i] = &j->trials[i];
    }
    j->run.trials = j->list;
    j->run.trials_begun = 3;
    assert_int_equal(options_set_text(&j->run.values, OPTION_threshold, thresholds), 0);
}

static void test_judges_the_median(void **state)
{
    static const double values[] = {9e6, 4e6, 5e6};
    struct threshold_verdict v[THRESHOLDS_MAX];
    struct judged j;

    (void)state;
    prepare(&j, METRIC_latency_p99_ns, values,
            "p99<5ms,p99<=5ms,p99>5ms,p99>=5ms,p99<6ms");
    assert_int_equal(thresholds_judge(&j.run, v), 5);
    assert_false(v[0].ok);
    assert_true(v[1].ok);
    assert_false(v[2].ok);
    assert_true(v[3].ok);
    assert_true(v[4].ok);
    assert_true(v[0].value == 5e6);
    assert_non_null(strstr(v[0].detail, "median of 3 trials"));
    assert_false(thresholds_hold(&j.run));
    options_done(&j.run.values);
}

/* What is at least so long may be longer: it is not known to be below anything. */
static void test_a_bound_holds_from_below_alone(void **state)
{
    static const double values[] = {4e9, 4e9, 4e9};
    struct threshold_verdict v[THRESHOLDS_MAX];
    struct judged j;

    (void)state;
    prepare(&j, METRIC_latency_p99_ns, values, "p99<5s,p99<=5s,p99<3s,p99>3s,p99>=5s");
    for (int i = 0; i < 3; i++)
        j.trials[i].is_bound[METRIC_latency_p99_ns] = true;
    j.trials[0].counters[PLACE_CLIENT].unfinished = 4;
    j.trials[2].counters[PLACE_CLIENT].never_begun = 6;
    assert_int_equal(thresholds_judge(&j.run, v), 5);
    assert_false(v[0].ok);
    assert_false(v[1].ok);
    assert_false(v[2].ok);
    assert_true(v[3].ok);
    assert_false(v[4].ok);
    assert_string_equal(
        v[0].detail, "latency_p99_ns >= 4.00 s, the median of 3 trials, 10 unfinished");
    options_done(&j.run.values);
}

static void test_what_was_not_measured_fails(void **state)
{
    static const double values[] = {1e6, 1e6, 1e6};
    struct threshold_verdict v[THRESHOLDS_MAX];
    struct judged j;

    (void)state;
    prepare(&j, METRIC_latency_p99_ns, values, "loss<=100%");
    assert_int_equal(thresholds_judge(&j.run, v), 1);
    assert_false(v[0].ok);
    assert_true(isnan(v[0].value));
    assert_string_equal(v[0].detail, "loss_percent was not measured");
    options_done(&j.run.values);
}

static void test_without_any_all_hold(void **state)
{
    static const double values[] = {1, 1, 1};
    struct judged j;

    (void)state;
    prepare(&j, METRIC_seconds, values, "");
    assert_true(thresholds_hold(&j.run));
    options_done(&j.run.values);
}

/* A trial that was cut short says nothing beside those that completed. */
static void test_judges_completed_trials(void **state)
{
    static const double values[] = {9, 1, 1};
    struct threshold_verdict v[THRESHOLDS_MAX];
    struct judged j;

    (void)state;
    prepare(&j, METRIC_seconds, values, "seconds<2");
    j.trials[1].outcome = OUTCOME_STOPPED;
    j.trials[2].outcome = OUTCOME_FAILED;
    assert_int_equal(thresholds_judge(&j.run, v), 1);
    assert_true(v[0].value == 9);
    assert_false(v[0].ok);
    options_done(&j.run.values);
}

static void test_every_metric_can_be_named(void **state)
{
    const char *words[128];
    size_t n = threshold_words(words, 128);
    struct threshold t;
    char text[80];

    (void)state;
    assert_true(n > METRIC_COUNT && n < 128);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%s>0", words[i]);
        assert_int_equal(threshold_parse(&t, text, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_people_type),
        cmocka_unit_test(test_refuses_with_a_reason),
        cmocka_unit_test(test_reads_lines_and_commas),
        cmocka_unit_test(test_judges_the_median),
        cmocka_unit_test(test_a_bound_holds_from_below_alone),
        cmocka_unit_test(test_what_was_not_measured_fails),
        cmocka_unit_test(test_without_any_all_hold),
        cmocka_unit_test(test_judges_completed_trials),
        cmocka_unit_test(test_every_metric_can_be_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
