/* The table of HTTP load: what it says of a run, and that its columns go together. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/report/load_table.h"
#include "engine/report/report.h"
#include "protocols/array.h"
#include "tests/synthetic.h"

static struct run *a_run(const char *scenario, unsigned trials, unsigned steps)
{
    struct synthetic how = {.scenario = scenario,
                            .trials = trials,
                            .steps = steps,
                            .seed = 7,
                            .speed = 1,
                            .noise = 0.1};
    struct run *r = synthetic_run(&how);

    assert_non_null(r);
    return r;
}

/* One definition of a rate: the average is the metric, whatever the intervals are. */
static void assert_average(const struct load_row *row, const struct run *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->trials_begun; i++)
        sum += r->trials[i]->metrics[row->metrics[LOAD_AVG]];
    assert_true(fabs(row->own[LOAD_AVG] - sum / (double)r->trials_begun) <=
                1e-9 * row->own[LOAD_AVG]);
}

/* Written out anew: the whole seconds of all trials are one population. */
static void assert_is_over(const struct load_row *row, const struct run *r, size_t offset)
{
    double values[64];
    double mean = 0, squares = 0, max = 0;
    size_t n = 0;

    for (size_t i = 0; i < r->trials_begun; i++)
        for (size_t k = 0; k + 1 <= (size_t)r->trials[i]->seconds; k++)
            memcpy(&values[n++], (const char *)&r->trials[i]->seconds_list[k] + offset,
                   sizeof(double));
    assert_true(n >= 2);
    for (size_t i = 0; i < n; i++) {
        mean += values[i] / (double)n;
        max = fmax(max, values[i]);
    }
    for (size_t i = 0; i < n; i++)
        squares += pow(values[i] - mean, 2) / (double)n;
    assert_true(fabs(row->own[LOAD_STDEV] - sqrt(squares)) <= 1e-4 * mean);
    assert_true(fabs(row->own[LOAD_MAX] - max) <= 1e-9 * max);
}

static void rates_are_over_the_whole_seconds_of_all_trials(void **state)
{
    struct run *r = a_run("rest-rest", 3, 47);
    struct load_table t;

    (void)state;
    assert_true(load_table(&t, r));
    assert_non_null(strstr(t.over, "over 12 whole seconds"));
    assert_is_over(&t.rows[1], r, offsetof(struct second, requests));
    assert_is_over(&t.rows[2], r, offsetof(struct second, read_bytes));
    assert_average(&t.rows[1], r);
    assert_average(&t.rows[2], r);
    for (size_t i = 0; i < LOAD_ROWS; i++)
        assert_true(t.rows[i].own[LOAD_AVG] <= t.rows[i].own[LOAD_MAX]);
    run_free(r);
}

static void latency_is_that_of_all_requests(void **state)
{
    struct run *r = a_run("rest-topper", 2, 30);
    const struct hist *h = r->pooled[PLACE_CLIENT]->hists[METER_HIST_latency];
    struct load_table t;

    (void)state;
    assert_true(load_table(&t, r));
    assert_true(fabs(t.rows[0].own[LOAD_AVG] - hist_mean(h)) < 1);
    assert_true(fabs(t.rows[0].own[LOAD_STDEV] - hist_stdev(h)) < 1);
    assert_true(t.rows[0].own[LOAD_MAX] == (double)h->max);
    run_free(r);
}

static void the_documented_figures_stand_beside(void **state)
{
    static const double rest[LOAD_ROWS][LOAD_COLUMNS] = {
        {76.52e6, 22.53e6, 234.85e6}, {250, 50.99, 320}, {112e3, 23e3, 144e3}};
    struct run *r = a_run("rest-rest", 1, 30);
    struct load_table t;

    (void)state;
    assert_true(load_table(&t, r));
    assert_true(t.is_documented);
    for (size_t i = 0; i < LOAD_ROWS; i++)
        for (size_t k = 0; k < LOAD_COLUMNS; k++)
            assert_true(fabs(t.rows[i].documented[k] - rest[i][k]) < 1e-6 * rest[i][k]);
    assert_string_equal(t.rows[0].documented_text[LOAD_AVG], "76.52 ms");
    assert_string_equal(t.rows[1].documented_text[LOAD_AVG], "250/s");
    assert_string_equal(t.rows[1].documented_text[LOAD_STDEV], "50.99/s");
    assert_string_equal(t.rows[2].documented_text[LOAD_MAX], "144 kB/s");
    assert_string_equal(t.replies,
                        "Bytes/Sec depends on the size of a reply: 150 B here, "
                        "450 B in the document.");
    run_free(r);
    r = a_run("rest-direct", 1, 30);
    assert_true(load_table(&t, r));
    assert_false(t.is_documented);
    assert_string_equal(t.rows[0].documented_text[LOAD_AVG], "-");
    assert_string_equal(t.replies, "");
    run_free(r);
}

/* A run of under two seconds has its table filled over tenths, of all its trials. */
static void a_short_run_is_over_tenths(void **state)
{
    struct run *r = a_run("rest-rest", 2, 9);
    double mean = 0, squares = 0, max = 0;
    struct load_table t;

    (void)state;
    assert_true(load_table(&t, r));
    assert_non_null(strstr(t.over, "over 18 tenths of a second"));
    for (size_t i = 0; i < 18; i++) {
        double rate = 10 * r->trials[i / 9]->tenths[i % 9].requests;

        mean += rate / 18;
        max = fmax(max, rate);
    }
    for (size_t i = 0; i < 18; i++)
        squares += pow(10 * r->trials[i / 9]->tenths[i % 9].requests - mean, 2) / 18;
    assert_true(mean > 1000);
    assert_true(fabs(t.rows[1].own[LOAD_STDEV] - sqrt(squares)) <= 1e-6 * mean);
    assert_true(fabs(t.rows[1].own[LOAD_MAX] - max) <= 1e-9 * max);
    assert_average(&t.rows[1], r);
    run_free(r);
}

static void a_run_without_two_tenths_says_so(void **state)
{
    struct run *r = a_run("rest-rest", 1, 1);
    struct load_table t;

    (void)state;
    assert_true(load_table(&t, r));
    assert_non_null(strstr(t.over, "has not two"));
    assert_true(isfinite(t.rows[1].own[LOAD_AVG]));
    assert_true(isnan(t.rows[1].own[LOAD_STDEV]));
    assert_true(isnan(t.rows[1].own[LOAD_MAX]));
    assert_true(isfinite(t.rows[0].own[LOAD_MAX]));
    run_free(r);
}

/* Its time and its seconds are no part of the result. */
static void a_warmup_is_left_out(void **state)
{
    struct synthetic how = {.scenario = "rest-rest",
                            .trials = 1,
                            .steps = 47,
                            .speed = 1,
                            .warmup_ns = 1500000000};
    struct run *r = synthetic_run(&how);
    const struct trial *t = r->trials[0];
    struct second_summary s;

    (void)state;
    assert_true(fabs(t->seconds - 3.2) < 1e-6);
    assert_false(trial_second_counts(t, 0));
    assert_false(trial_second_counts(t, 1)); /* half of it is warm-up */
    assert_true(trial_second_counts(t, 2));
    assert_true(trial_second_counts(t, 3));
    assert_false(trial_second_counts(t, 4)); /* not whole */
    trial_seconds(t, offsetof(struct second, requests), &s);
    assert_int_equal(s.count, 2);
    run_free(r);
}

static void only_http_load_has_the_table(void **state)
{
    struct run *r = a_run("udp-cached-series", 1, 30);
    struct load_table t;

    (void)state;
    assert_false(load_table(&t, r));
    run_free(r);
}

static char *report_of(const struct run *r)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    assert_int_equal(report_print(f, r), 0);
    fclose(f);
    return text;
}

/* Each line of the document's summary is in the report. */
static void the_report_prints_it(void **state)
{
    static const char *const lines[] = {"Avg       Stdev         Max    documented:",
                                        "\nLatency ",
                                        "\nReq/Sec ",
                                        "\nBytes/Sec ",
                                        " 714.29/s    244.42/s       919/s\n",
                                        " requests in ",
                                        " read\n",
                                        "5k requests in 7 s, 2.19 MB read",
                                        "\nBytes/Sec depends on the size of a reply: ",
                                        "congestion (here: auto; the document: system)",
                                        "\nlatency, from the sending of each request"};
    struct run *r = a_run("rest-topper", 1, 30);
    char *text = report_of(r);

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(lines); i++)
        assert_non_null(strstr(text, lines[i]));
    assert_null(strstr(text, "Do not compare"));
    free(text);
    assert_int_equal(options_set_number(&r->values, OPTION_amount, 600), 0);
    text = report_of(r);
    assert_non_null(strstr(text, "Do not compare the figures, the values are others: "
                                 "amount 600 (documented 5000)."));
    free(text);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_over_the_whole_seconds_of_all_trials),
        cmocka_unit_test(latency_is_that_of_all_requests),
        cmocka_unit_test(the_documented_figures_stand_beside),
        cmocka_unit_test(a_short_run_is_over_tenths),
        cmocka_unit_test(a_run_without_two_tenths_says_so),
        cmocka_unit_test(a_warmup_is_left_out),
        cmocka_unit_test(only_http_load_has_the_table),
        cmocka_unit_test(the_report_prints_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
