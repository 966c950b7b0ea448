/*
 * Times of which some are only known to be at least so long, against cases worked out by
 * hand and against what is known of the whole.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "protocols/random.h"
#include "protocols/survival.h"

struct pair {
    struct hist *ended, *open;
};

static struct pair pair_new(void)
{
    struct pair p = {hist_new(), hist_new()};

    assert_true(p.ended && p.open);
    return p;
}

static void pair_free(struct pair *p)
{
    hist_free(p->ended);
    hist_free(p->open);
}

static void assert_near(double got, double wanted, double by)
{
    if (!(fabs(got - wanted) <= by))
        print_error("%.9g, not %.9g\n", got, wanted);
    assert_true(fabs(got - wanted) <= by);
}

/* Nothing open: the same numbers, and none is a bound. */
static void without_open_ones_it_is_the_plain_summary(void **state)
{
    struct pair p = pair_new();
    struct hist_summary plain, s;
    uint64_t draw = 1;

    (void)state;
    for (int i = 0; i < 10000; i++)
        hist_record(p.ended, random_next(&draw) % NS_PER_S);
    hist_summarise(&plain, p.ended);
    survival_summarise(&s, p.ended, p.open);
    assert_memory_equal(&plain, &s, sizeof(s));
    survival_summarise(&s, p.ended, NULL);
    assert_memory_equal(&plain, &s, sizeof(s));
    assert_false(survival_is_bound(&s, 1));
    assert_int_equal(survival_overdue(p.ended, p.open), 0);
    pair_free(&p);
}

/*
 * Ended at 10, 20, 40, 50 us; open since 20 and 30 us. Six at risk: 5/6 survive 10 us;
 * of five one ends at 20 us: 4/6; two open ones leave, of two one ends at 40 us: 2/6;
 * then the last. So half have ended at 40 us, where the four alone would say 20 us.
 */
static void a_case_by_hand(void **state)
{
    struct pair p = pair_new();
    struct hist_summary s;

    (void)state;
    hist_record(p.ended, 10);
    hist_record(p.ended, 20);
    hist_record(p.ended, 40);
    hist_record(p.ended, 50);
    hist_record(p.open, 20);
    hist_record(p.open, 30);
    survival_summarise(&s, p.ended, p.open);
    assert_int_equal(s.count, 4);
    assert_int_equal(s.open, 2);
    assert_int_equal(s.p50, 40);
    assert_int_equal(s.p75, 50);
    assert_int_equal(s.p99, 50);
    assert_near(s.mean, 10 / 6.0 + 20 / 6.0 + 40 / 3.0 + 50 / 3.0, 1e-9);
    assert_near(s.known, 1, 0);
    assert_false(survival_is_bound(&s, 1));
    pair_free(&p);
}

/* A hang: 90 in 5 ms, and ten that have waited 4 s. */
static void what_all_completions_could_still_raise_is_a_bound(void **state)
{
    struct pair p = pair_new();
    struct hist_summary s;

    (void)state;
    hist_record_n(p.ended, 5 * NS_PER_MS, 90);
    hist_record_n(p.open, 4 * NS_PER_S, 10);
    survival_summarise(&s, p.ended, p.open);
    assert_near(s.known, 0.9, 1e-12);
    assert_near((double)s.p90, 5e6, 5e3);
    assert_false(survival_is_bound(&s, 0.9));
    assert_true(survival_is_bound(&s, 0.95));
    assert_true(survival_is_bound(&s, 0.99));
    assert_true(survival_is_bound(&s, 1));
    /* Never more than is certain, and not less by more than a bucket. */
    assert_true(s.p99 <= 4 * NS_PER_S && (double)s.p99 > 3.995e9);
    assert_int_equal(s.max, 4 * NS_PER_S);
    assert_near(s.mean, 0.9 * 5e6 + 0.1 * 4e9, 1e5);
    assert_int_equal(survival_overdue(p.ended, p.open), 10);
    pair_free(&p);
}

/* Three of a thousand, no older than what others took: nobody would see them. */
static void a_few_young_ones_change_nothing(void **state)
{
    struct pair p = pair_new();
    struct hist_summary plain, s;

    (void)state;
    for (uint64_t i = 1; i <= 1000; i++)
        hist_record(p.ended, i * NS_PER_MS);
    for (uint64_t i = 1; i <= 3; i++)
        hist_record(p.open, 300 * i * NS_PER_MS);
    hist_summarise(&plain, p.ended);
    survival_summarise(&s, p.ended, p.open);
    assert_false(survival_is_bound(&s, 1));
    assert_int_equal(s.max, plain.max);
    assert_near((double)s.p50, (double)plain.p50, 2e6);
    assert_near((double)s.p99, (double)plain.p99, 2e6);
    assert_near(s.mean, plain.mean, 2e6);
    assert_int_equal(survival_overdue(p.ended, p.open), 0);
    pair_free(&p);
}

/*
 * One of ten takes 3 s, the others 10 ms. All are watched for a time between 0 and 4 s;
 * of the slow ones only those that were watched for 3 s are seen to end, a fourth. Alone,
 * what has ended has its 95th percentile at 10 ms; it is 3 s.
 */
static void what_is_cut_off_does_not_bias(void **state)
{
    struct pair p = pair_new();
    struct hist_summary plain, s;

    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t took_ns = i % 10 == 0 ? 3 * NS_PER_S : 10 * NS_PER_MS;
        uint64_t watched_ns = (i / 10) * (4 * NS_PER_S / 10000);

        hist_record(took_ns <= watched_ns ? p.ended : p.open,
                    took_ns <= watched_ns ? took_ns : watched_ns);
    }
    hist_summarise(&plain, p.ended);
    survival_summarise(&s, p.ended, p.open);
    assert_near((double)plain.p95, 10e6, 1e5);
    assert_near((double)s.p95, 3e9, 3e6);
    assert_near((double)s.p75, 10e6, 1e5);
    assert_near(s.mean, 0.1 * 3e9 + 0.9 * 10e6, 3e6);
    pair_free(&p);
}

static void where_nothing_has_ended_all_is_a_bound(void **state)
{
    struct pair p = pair_new();
    struct hist_summary s;

    (void)state;
    hist_record_n(p.open, NS_PER_S, 9);
    hist_record(p.open, 2 * NS_PER_S);
    for (int i = 0; i < 2; i++) {
        survival_summarise(&s, i ? NULL : p.ended, p.open);
        assert_int_equal(s.count, 0);
        assert_int_equal(s.open, 10);
        assert_true(survival_is_bound(&s, 0.5));
        assert_near((double)s.p50, 1e9, 1e6);
        assert_near((double)s.p99, 2e9, 2e6);
        assert_int_equal(s.min, NS_PER_S);
        assert_int_equal(s.max, 2 * NS_PER_S);
        assert_int_equal(survival_overdue(i ? NULL : p.ended, p.open), 10);
    }
    survival_summarise(&s, NULL, NULL);
    assert_int_equal(s.count + s.open, 0);
    pair_free(&p);
}

/* Whatever is drawn: in order, between the ends, and never below what ended alone says.
 */
static void summaries_are_in_order(void **state)
{
    uint64_t draw = 5;

    (void)state;
    for (int n = 0; n < 2000; n++) {
        struct pair p = pair_new();
        struct hist_summary plain, s;
        uint64_t ended = random_next(&draw) % 20, open = random_next(&draw) % 20;

        for (uint64_t i = 0; i < ended; i++)
            hist_record(p.ended, random_next(&draw) % (1ull << random_next(&draw) % 42));
        for (uint64_t i = 0; i < open; i++)
            hist_record(p.open, random_next(&draw) % (1ull << random_next(&draw) % 42));
        hist_summarise(&plain, p.ended);
        survival_summarise(&s, p.ended, p.open);
        assert_true(s.min <= s.p50 || !(s.count + s.open));
        assert_true(s.p50 <= s.p75 && s.p75 <= s.p90 && s.p90 <= s.p95);
        assert_true(s.p95 <= s.p99 && s.p99 <= s.p99_9 && s.p99_9 <= s.p99_99);
        assert_true(s.p99_99 <= s.max);
        assert_true(s.mean <= (double)s.max && s.mean >= (double)s.min);
        if (ended)
            assert_true(s.p50 >= plain.p50 && s.p99 >= plain.p99 && s.max >= plain.max);
        pair_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_open_ones_it_is_the_plain_summary),
        cmocka_unit_test(a_case_by_hand),
        cmocka_unit_test(what_all_completions_could_still_raise_is_a_bound),
        cmocka_unit_test(a_few_young_ones_change_nothing),
        cmocka_unit_test(what_is_cut_off_does_not_bias),
        cmocka_unit_test(where_nothing_has_ended_all_is_a_bound),
        cmocka_unit_test(summaries_are_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
