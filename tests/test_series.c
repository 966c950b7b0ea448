/* The series of a run: whatever the samples' timing, what was counted is there once, and
 * a rate is right to within a step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/series.h"
#include "protocols/array.h"
#include "protocols/clock.h"

/* cmocka's own compares as float. */
#define assert_near(got, wanted, by)                        \
    do {                                                    \
        double got_ = (got), wanted_ = (wanted);            \
        if (!(fabs(got_ - wanted_) <= (by)))                \
            print_error("%.9g, not %.9g\n", got_, wanted_); \
        assert_true(fabs(got_ - wanted_) <= (by));          \
    } while (0)

#define STEP (100 * NS_PER_MS)

/* A sample that closes at at_ns, covers span_ns, and counts 1 a microsecond of it. */
static void add(struct series *s, enum place place, uint64_t origin_ns, uint64_t at_ns,
                uint64_t span_ns)
{
    struct sample sample;

    assert_int_equal(sample_init(&sample), 0);
    sample.at_ns = at_ns;
    sample.span_ns = span_ns;
    sample.meter->counters.succeeded = span_ns / 1000;
    sample.meter->gauges.in_flight = 5;
    sample.use.cpu_user_us = span_ns / 2000; /* half a core */
    sample.use.open_descriptors = 7;
    sample.use.max_rss_bytes = at_ns;
    series_add(s, place, origin_ns, &sample, false);
    sample_done(&sample);
}

static const struct series_place *client(const struct series *s, size_t slot)
{
    return &s->slots[slot].places[PLACE_CLIENT];
}

static uint64_t total(const struct series *s, enum place place)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->used; i++)
        sum += s->slots[i].places[place].counters.succeeded;
    return sum;
}

static double rate(const struct series *s, size_t slot)
{
    return series_rate(client(s, slot), client(s, slot)->counters.succeeded);
}

/* Every slot that is no gap shows 1e6 a second. */
static void assert_rates(const struct series *s, double wanted)
{
    for (size_t i = 0; i < s->used; i++)
        if (client(s, i)->samples) {
            assert_near(rate(s, i), wanted, wanted / 1e6);
            assert_near(series_cpu(client(s, i)), wanted / 2e6, 1e-3);
        }
}

static void regular_samples_fill_their_slots(void **state)
{
    struct series *s = series_new();

    (void)state;
    assert_int_equal(s->used, 0);
    for (uint64_t i = 1; i <= 50; i++)
        add(s, PLACE_CLIENT, 0, i * STEP, STEP);
    assert_int_equal(s->used, 50);
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(client(s, i)->samples, 1);
        assert_int_equal(client(s, i)->span_ns, STEP);
        assert_int_equal(client(s, i)->counters.succeeded, 100000);
        assert_int_equal(s->slots[i].places[PLACE_SERVER].samples, 0);
        assert_true(isnan(series_rate(&s->slots[i].places[PLACE_SERVER], 0)));
    }
    assert_rates(s, 1e6);
    series_free(s);
    series_free(NULL);
}

/* A timer that is late by up to 40 ms puts no two samples into one slot. */
static void late_timers_do_not_shift_samples(void **state)
{
    struct series *s = series_new();
    uint64_t before = 0;

    (void)state;
    for (uint64_t i = 1; i <= 200; i++) {
        uint64_t at = i * STEP + i * 7919 % 40 * NS_PER_MS;

        add(s, PLACE_CLIENT, 0, at, at - before);
        before = at;
    }
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(client(s, i)->samples, 1);
    assert_rates(s, 1e6);
    series_free(s);
}

/* What was not sent in time comes with the next sample; the steps between are gaps. */
static void a_long_interval_leaves_gaps_not_zeros(void **state)
{
    struct series *s = series_new();

    (void)state;
    add(s, PLACE_CLIENT, 0, STEP, STEP);
    add(s, PLACE_CLIENT, 0, 8 * STEP, 7 * STEP);
    add(s, PLACE_CLIENT, 0, 9 * STEP, STEP);
    assert_int_equal(total(s, PLACE_CLIENT), 900000);
    assert_rates(s, 1e6);
    assert_true(isnan(rate(s, 2)));
    assert_true(isnan(series_cpu(client(s, 2))));
    assert_true(isnan(series_latency_ns(&s->slots[2], 0.5)));
    series_free(s);
}

static void processes_at_a_place_add_up(void **state)
{
    struct series *s = series_new();

    (void)state;
    for (uint64_t i = 1; i <= 20; i++)
        for (uint64_t process = 0; process < 4; process++)
            add(s, PLACE_CLIENT, 0, i * STEP + process * NS_PER_MS, STEP);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(client(s, i)->samples, 4);
        assert_int_equal(client(s, i)->gauges.in_flight, 20);
        assert_int_equal(client(s, i)->use.open_descriptors, 28);
        assert_near(rate(s, i), 4e6, 2e5);
        assert_near(series_cpu(client(s, i)), 2, 0.1);
    }
    series_free(s);
}

/* A run of any length fits: the step doubles, and no rate changes by that. */
static void the_step_doubles_and_rates_stay(void **state)
{
    struct series *s = series_new();
    const uint64_t count = 5 * SERIES_SLOTS;

    (void)state;
    for (uint64_t i = 1; i <= count; i++)
        for (uint64_t process = 0; process < 2; process++)
            add(s, PLACE_CLIENT, 0, i * STEP, STEP);
    assert_int_equal(s->step_ns, 8 * STEP);
    assert_int_equal(s->used, count / 8);
    assert_int_equal(total(s, PLACE_CLIENT), 2 * count * 100000);
    assert_rates(s, 2e6);
    for (size_t i = 0; i < s->used; i++) {
        /* The state is the last one known of both, not a sum over time. */
        assert_int_equal(client(s, i)->gauges.in_flight, 10);
        assert_int_equal(client(s, i)->use.open_descriptors, 14);
    }
    series_free(s);
}

static void a_jump_far_ahead_is_survived(void **state)
{
    static const uint64_t jumps[] = {3600ull * NS_PER_S, 1000ull * 3600 * NS_PER_S,
                                     UINT64_MAX / 4, UINT64_MAX - 1};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(jumps); i++) {
        struct series *s = series_new();

        add(s, PLACE_CLIENT, 0, STEP, STEP);
        add(s, PLACE_CLIENT, 0, jumps[i], STEP);
        assert_in_range(s->used, 2, SERIES_SLOTS);
        assert_int_equal(total(s, PLACE_CLIENT), 200000);
        series_free(s);
    }
}

static void trials_lie_behind_each_other(void **state)
{
    struct series *s = series_new();

    (void)state;
    for (uint64_t i = 1; i <= 3; i++)
        add(s, PLACE_CLIENT, 0, i * STEP, STEP);
    for (uint64_t i = 1; i <= 3; i++)
        add(s, PLACE_CLIENT, 10 * STEP, i * STEP, STEP);
    assert_int_equal(s->used, 13);
    assert_true(isnan(rate(s, 3)) && isnan(rate(s, 9)));
    assert_int_equal(client(s, 10)->samples, 1);
    assert_rates(s, 1e6);
    series_free(s);
}

/* The first sample also covers what was before the common start. */
static void a_span_before_the_start_is_cut(void **state)
{
    struct series *s = series_new();

    (void)state;
    add(s, PLACE_CLIENT, 0, STEP, STEP + 10 * NS_PER_MS);
    assert_int_equal(client(s, 0)->span_ns, STEP);
    add(s, PLACE_SERVER, 0, 0, 5 * NS_PER_MS);
    assert_int_equal(s->slots[0].places[PLACE_SERVER].span_ns, 0);
    assert_true(isnan(series_rate(&s->slots[0].places[PLACE_SERVER], 5)));
    series_free(s);
}

/* Latencies. */

static void record(struct series *s, size_t slot, const uint64_t *values, size_t count)
{
    struct sample sample;

    assert_int_equal(sample_init(&sample), 0);
    sample.at_ns = (slot + 1) * STEP;
    sample.span_ns = STEP;
    for (size_t i = 0; i < count; i++)
        meter_record(sample.meter, METER_HIST_latency, values[i]);
    series_add(s, PLACE_CLIENT, 0, &sample, true);
    sample_done(&sample);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void quantiles_are_within_a_bucket(void **state)
{
    static const double quantiles[] = {0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 1};
    struct series *s = series_new();
    uint64_t values[5000];
    uint64_t seed = 7;

    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = 1000 + (seed >> 33) % (1ull << (10 + i % 20));
    }
    record(s, 0, values, 5000);
    qsort(values, 5000, sizeof(values[0]), ascending);
    for (size_t i = 0; i < NUMBER_OF(quantiles); i++) {
        double exact = (double)values[(size_t)ceil(quantiles[i] * 5000) - 1];
        double got = series_latency_ns(&s->slots[0], quantiles[i]);

        if (fabs(got - exact) > exact * 0.125)
            print_error("%g: %g, exactly %g\n", quantiles[i], got, exact);
        assert_true(fabs(got - exact) <= exact * 0.125);
    }
    assert_true(series_latency_ns(&s->slots[0], 1) == (double)values[4999]);
    assert_int_equal(s->slots[0].latency_count, 5000);
    series_free(s);
}

static void a_single_latency_is_every_quantile(void **state)
{
    static const uint64_t values[] = {0,  1,         7,          8,          9,
                                      15, 123456789, 1ull << 41, HIST_MAX_NS};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(values); i++) {
        struct series *s = series_new();
        double low, high;

        record(s, 0, &values[i], 1);
        low = series_latency_ns(&s->slots[0], 0);
        high = series_latency_ns(&s->slots[0], 1);
        assert_true(high == (double)values[i]);
        assert_true(low <= high && high - low <= high * 0.125 + 8);
        series_free(s);
    }
}

static void buckets_are_a_staircase(void **state)
{
    (void)state;
    for (size_t i = 1; i <= SERIES_BUCKETS; i++) {
        assert_true(series_bucket_ns(i) > series_bucket_ns(i - 1));
        assert_true(series_bucket_ns(i) <= series_bucket_ns(i - 1) * 1.126);
    }
}

static void only_the_headline_place_fills_latencies(void **state)
{
    struct series *s = series_new();
    struct sample sample;

    (void)state;
    assert_int_equal(sample_init(&sample), 0);
    sample.at_ns = sample.span_ns = STEP;
    meter_record(sample.meter, METER_HIST_latency, 5000);
    series_add(s, PLACE_SERVER, 0, &sample, false);
    assert_int_equal(s->slots[0].latency_count, 0);
    sample_done(&sample);
    series_free(s);
}

static void doubling_keeps_latencies(void **state)
{
    struct series *s = series_new();
    uint64_t fast[] = {1000, 1000, 1000};
    uint64_t slow[] = {1000000};

    (void)state;
    record(s, 0, fast, 3);
    record(s, 1, slow, 1);
    record(s, SERIES_SLOTS, fast, 1); /* one beyond: doubles */
    assert_int_equal(s->step_ns, 2 * STEP);
    assert_int_equal(s->slots[0].latency_count, 4);
    assert_int_equal(s->slots[0].latency_max_ns, 1000000);
    assert_true(series_latency_ns(&s->slots[0], 0.5) < 1200);
    series_free(s);
}

/* Labels and marks. */

static void labels_beyond_the_room_share_the_last(void **state)
{
    struct series *s = series_new();
    uint64_t sum = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct sample sample;
        char name[24];

        assert_int_equal(sample_init(&sample), 0);
        sample.at_ns = sample.span_ns = STEP;
        snprintf(name, sizeof(name), "label %d", i);
        tally_add(&sample.meter->labels, name, (uint64_t)i + 1);
        series_add(s, PLACE_SERVER, 0, &sample, false);
        sample_done(&sample);
    }
    assert_int_equal(s->label_count, SERIES_LABELS);
    assert_string_equal(s->labels[0], "label 0");
    assert_string_equal(s->labels[SERIES_LABELS - 1], TALLY_OTHER);
    assert_int_equal(s->slots[0].labels[0], 1);
    for (size_t i = 0; i < SERIES_LABELS; i++)
        sum += s->slots[0].labels[i];
    assert_int_equal(sum, 20 * 21 / 2);
    series_free(s);
}

static void old_marks_give_way(void **state)
{
    struct series *s = series_new();
    char text[400];

    (void)state;
    for (uint64_t i = 0; i < SERIES_MARKS + 10; i++) {
        snprintf(text, sizeof(text), "mark %d", (int)i);
        series_mark(s, i, text);
    }
    assert_int_equal(s->mark_count, SERIES_MARKS);
    assert_string_equal(s->marks[0].text, "mark 10");
    assert_int_equal(s->marks[SERIES_MARKS - 1].at_ns, SERIES_MARKS + 9);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    series_mark(s, 5, text);
    assert_int_equal(strlen(s->marks[SERIES_MARKS - 1].text),
                     sizeof(s->marks[0].text) - 1);
    series_free(s);
}

/* What was sent before and after a change is told apart, and nothing is lost. */
static void marks_cut_a_series_into_segments(void **state)
{
    struct series *s = series_new();
    struct series_segment part;

    (void)state;
    for (uint64_t i = 1; i <= 10; i++) {
        add(s, PLACE_CLIENT, 0, i * STEP, i <= 4 ? STEP : STEP / 2);
        if (i == 4)
            series_mark(s, 4 * STEP, "rate 300");
    }
    series_segment(s, 0, &part);
    assert_string_equal(part.text, "");
    assert_int_equal(part.from_ns, 0);
    assert_int_equal(part.to_ns, 4 * STEP);
    assert_int_equal(part.sum.places[PLACE_CLIENT].counters.succeeded, 4 * STEP / 1000);
    series_segment(s, 1, &part);
    assert_string_equal(part.text, "rate 300");
    assert_int_equal(part.from_ns, 4 * STEP);
    assert_int_equal(part.to_ns, 10 * STEP);
    assert_int_equal(part.sum.places[PLACE_CLIENT].counters.succeeded, 3 * STEP / 1000);
    assert_int_equal(part.sum.places[PLACE_CLIENT].span_ns, 3 * STEP);
    series_free(s);
}

/* Load, paused from 4.3 to 7.6 steps, and load again: while paused there was none. */
static void a_pause_has_no_load_in_it(void **state)
{
    static const uint64_t marks[] = {43 * STEP / 10, 76 * STEP / 10};
    struct series *s = series_new();
    struct series_segment part[3];
    size_t done = 0;

    (void)state;
    for (uint64_t i = 1; i <= 12; i++) {
        for (; done < 2 && marks[done] < i * STEP; done++)
            series_mark(s, marks[done], done ? "resumed" : "paused");
        add(s, PLACE_CLIENT, 0, i * STEP, STEP);
    }
    for (size_t i = 0; i < 3; i++)
        series_segment(s, i, &part[i]);
    assert_int_equal(part[0].sum.places[PLACE_CLIENT].span_ns, 4 * STEP);
    /* Of the samples 5 to 8 the pause shares the first and the last with load. */
    assert_int_equal(part[1].sum.places[PLACE_CLIENT].samples, 2);
    assert_int_equal(part[1].sum.places[PLACE_CLIENT].until_ns, 7 * STEP);
    /* The ninth begins too soon after the mark for its worker to have heard. */
    assert_int_equal(part[2].sum.places[PLACE_CLIENT].span_ns, 3 * STEP);
    assert_int_equal(total(s, PLACE_CLIENT), 12 * STEP / 1000);
    series_free(s);
}

/* However coarse the steps have become, a segment is as sharp as the samples. */
static void doubling_blunts_no_segment(void **state)
{
    struct series *s = series_new();
    struct series_segment part;

    (void)state;
    for (uint64_t i = 1; i <= 4 * SERIES_SLOTS; i++) {
        if (i == 6 || i == 9)
            series_mark(s, (i - 1) * STEP, "changed");
        add(s, PLACE_CLIENT, 0, i * STEP, STEP);
    }
    assert_true(s->step_ns >= 4 * STEP);
    series_segment(s, 1, &part);
    assert_int_equal(part.sum.places[PLACE_CLIENT].span_ns, 2 * STEP);
    series_free(s);
}

/* 5 ms in which little happened any more are no collapse of the load. */
static void what_is_left_over_at_the_end_is_no_step(void **state)
{
    struct series *s = series_new();

    (void)state;
    for (uint64_t i = 1; i <= 10; i++)
        add(s, PLACE_CLIENT, 0, i * STEP + 8000, STEP); /* timers are late */
    add(s, PLACE_CLIENT, 0, 10 * STEP + 8000 + 5 * NS_PER_MS, 5 * NS_PER_MS);
    assert_int_equal(s->used, 10);
    assert_int_equal(client(s, 9)->span_ns, STEP + 5 * NS_PER_MS);
    assert_int_equal(total(s, PLACE_CLIENT), (10 * STEP + 5 * NS_PER_MS) / 1000);
    /* One that is all there is has no step before it. */
    add(s, PLACE_SERVER, 20 * STEP, 5 * NS_PER_MS, 5 * NS_PER_MS);
    assert_int_equal(s->slots[20].places[PLACE_SERVER].samples, 1);
    series_free(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_samples_fill_their_slots),
        cmocka_unit_test(late_timers_do_not_shift_samples),
        cmocka_unit_test(a_long_interval_leaves_gaps_not_zeros),
        cmocka_unit_test(processes_at_a_place_add_up),
        cmocka_unit_test(the_step_doubles_and_rates_stay),
        cmocka_unit_test(a_jump_far_ahead_is_survived),
        cmocka_unit_test(trials_lie_behind_each_other),
        cmocka_unit_test(a_span_before_the_start_is_cut),
        cmocka_unit_test(quantiles_are_within_a_bucket),
        cmocka_unit_test(a_single_latency_is_every_quantile),
        cmocka_unit_test(buckets_are_a_staircase),
        cmocka_unit_test(only_the_headline_place_fills_latencies),
        cmocka_unit_test(doubling_keeps_latencies),
        cmocka_unit_test(labels_beyond_the_room_share_the_last),
        cmocka_unit_test(old_marks_give_way),
        cmocka_unit_test(marks_cut_a_series_into_segments),
        cmocka_unit_test(a_pause_has_no_load_in_it),
        cmocka_unit_test(doubling_blunts_no_segment),
        cmocka_unit_test(what_is_left_over_at_the_end_is_no_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
