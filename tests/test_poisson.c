/*
 * The Poisson schedule against what theory says of one. The seeds are fixed, so a case
 * passes always or never; its bounds are five standard errors of what it looks at.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "protocols/pacer.h"

#define BASE 123456789012345ull
#define MANY 100000u
#define GAPS 100000u

static uint64_t *new_times(void)
{
    uint64_t *times = calloc(MANY, sizeof(*times));

    assert_non_null(times);
    return times;
}

/* Take everything that is due; returns how many, the intended times in times[]. */
static size_t take_all(struct pacer *p, uint64_t now, uint64_t *times)
{
    size_t n = pacer_take(p, now, times, MANY);

    assert_int_not_equal(n, MANY);
    for (size_t i = 0; i < n; i++)
        assert_true(times[i] <= now && (i == 0 || times[i] >= times[i - 1]));
    return n;
}

/* The gaps of the first messages of a schedule, in mean gaps. */
static void draw_gaps(double *gaps, uint64_t seed, uint64_t rate)
{
    uint64_t at, before = BASE;
    struct pacer p;

    pacer_start(&p, BASE, rate, NS_PER_S);
    pacer_poisson(&p, seed);
    for (size_t i = 0; i < GAPS; i++) {
        assert_int_equal(pacer_take(&p, pacer_next_ns(&p), &at, 1), 1);
        assert_true(at >= before);
        gaps[i] = (double)(at - before) / 1e9 * (double)rate;
        before = at;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/*
 * The exponential distribution with mean 1 has variance 1 and fourth central moment 9, so
 * of n gaps the mean is known to 1/sqrt(n) and the variance to sqrt(8/n); the bounds are
 * five of these. The greatest distance from the distribution is below 1.95/sqrt(n) in
 * 999 of 1000 draws (Kolmogorov); one gap says nothing of the next.
 */
static void poisson_gaps_are_exponential_and_independent(void **state)
{
    double *gaps = calloc(GAPS, sizeof(*gaps));
    double sum = 0, squares = 0, lagged = 0, distance = 0, n = GAPS;

    (void)state;
    assert_non_null(gaps);
    draw_gaps(gaps, 1, 1000);
    for (size_t i = 0; i < GAPS; i++) {
        sum += gaps[i];
        squares += (gaps[i] - 1) * (gaps[i] - 1);
        if (i > 0)
            lagged += (gaps[i] - 1) * (gaps[i - 1] - 1);
    }
    assert_true(fabs(sum / n - 1) < 5 / sqrt(n));
    assert_true(fabs(squares / n - 1) < 5 * sqrt(8 / n));
    assert_true(fabs(lagged / n) < 5 / sqrt(n));
    qsort(gaps, GAPS, sizeof(*gaps), by_value);
    for (size_t i = 0; i < GAPS; i++) {
        double below = 1 - exp(-gaps[i]);

        distance = fmax(distance, fabs(below - (double)i / n));
        distance = fmax(distance, fabs(below - (double)(i + 1) / n));
    }
    assert_true(distance < 1.95 / sqrt(n));
    free(gaps);
}

/* As many a second as were asked for, and their number varies as that of a Poisson
 * process. */
static void poisson_counts_vary_by_their_mean(void **state)
{
    enum { SECONDS = 2000, RATE = 50 };
    double sum = 0, squares = 0;
    uint64_t *times = new_times();
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, RATE, NS_PER_S);
    pacer_poisson(&p, 7);
    for (uint64_t s = 1; s <= SECONDS; s++) {
        double n = (double)take_all(&p, BASE + s * NS_PER_S, times);

        sum += n;
        squares += (n - RATE) * (n - RATE);
    }
    assert_true(fabs(sum / SECONDS - RATE) < 5 * sqrt((double)RATE / SECONDS));
    /* The variance of a sample variance of n values is about 2 v^2 / n. */
    assert_true(fabs(squares / SECONDS - RATE) < 5 * RATE * sqrt(2.0 / SECONDS));
    free(times);
}

static void poisson_follows_from_its_seed(void **state)
{
    double *a = calloc(GAPS, sizeof(*a)), *b = calloc(GAPS, sizeof(*b));
    double same = 0, product = 0;

    (void)state;
    assert_true(a && b);
    draw_gaps(a, 42, 1000);
    draw_gaps(b, 42, 1000);
    assert_memory_equal(a, b, GAPS * sizeof(*a));
    draw_gaps(b, 43, 1000);
    for (size_t i = 0; i < GAPS; i++) {
        same += a[i] == b[i];
        product += (a[i] - 1) * (b[i] - 1);
    }
    assert_true(same < 10);
    assert_true(fabs(product / GAPS) < 5 / sqrt((double)GAPS));
    free(a);
    free(b);
}

/* The gaps in mean gaps are the same whatever the rate, and however it changes. */
static void poisson_change_of_rate_keeps_the_gaps(void **state)
{
    enum { MESSAGES = 5000 };
    double *gaps = calloc(GAPS, sizeof(*gaps));
    uint64_t now = BASE, at, rate = 100;
    double place = 0, set_at = 0, wanted = 0;
    struct pacer p;

    (void)state;
    assert_non_null(gaps);
    draw_gaps(gaps, 3, 1000);
    pacer_start(&p, BASE, rate, NS_PER_S);
    pacer_poisson(&p, 3);
    /* `place`: what has passed of the schedule when the rate was set, in gaps. */
    for (size_t i = 0; i < MESSAGES; i++) {
        wanted += gaps[i];
        assert_int_equal(pacer_take(&p, pacer_next_ns(&p), &at, 1), 1);
        assert_true(at >= now);
        set_at = place + (double)(at - now) / 1e9 * (double)rate;
        assert_true(fabs(set_at - wanted) < 1e-4 * (double)(i + 1));
        if (i % 10 != 0)
            continue;
        place = set_at;
        now = at;
        rate = 1 + 37 * i % 1000;
        pacer_set_rate(&p, rate, NS_PER_S, now);
    }
    free(gaps);
}

/* What waits keeps its time when the rate changes, and none comes twice or not at all. */
static void poisson_backlog_is_what_is_taken(void **state)
{
    uint64_t *times = new_times(), *before = new_times();
    struct pacer p, q;
    uint64_t waiting;
    size_t n;

    (void)state;
    pacer_start(&p, BASE, 1000, NS_PER_S);
    pacer_poisson(&p, 9);
    q = p;
    n = take_all(&q, BASE + 3 * NS_PER_S, before);
    waiting = pacer_backlog(&p, BASE + 3 * NS_PER_S);
    assert_int_equal(waiting, n);
    assert_true(fabs((double)n - 3000) < 5 * sqrt(3000));
    for (uint64_t i = 0; i < 5; i++)
        pacer_set_rate(&p, 10 + i, NS_PER_S, BASE + 3 * NS_PER_S + i * NS_PER_MS);
    assert_int_equal(pacer_take(&p, BASE + 3 * NS_PER_S, times, MANY), n);
    for (size_t i = 0; i < n; i++)
        assert_true(times[i] == before[i] || times[i] + 1 == before[i] ||
                    times[i] == before[i] + 1);
    waiting = pacer_backlog(&p, BASE + 20 * NS_PER_S);
    assert_int_equal(pacer_due(&p, BASE + 20 * NS_PER_S), n + waiting);
    assert_int_equal(take_all(&p, BASE + 20 * NS_PER_S, times), waiting);
    assert_int_equal(pacer_backlog(&p, BASE + 20 * NS_PER_S), 0);
    free(times);
    free(before);
}

static void poisson_pauses_and_goes_unpaced(void **state)
{
    uint64_t *times = new_times();
    struct pacer p, q;
    uint64_t at;

    (void)state;
    pacer_start(&p, BASE, 1000, NS_PER_S);
    pacer_poisson(&p, 5);
    q = p;
    take_all(&p, BASE + NS_PER_S, times);
    take_all(&q, BASE + NS_PER_S, times);
    pacer_pause(&p, BASE + NS_PER_S);
    assert_int_equal(pacer_take(&p, BASE + 2 * NS_PER_S, times, MANY), 0);
    assert_int_equal(pacer_backlog(&p, BASE + 2 * NS_PER_S), 0);
    pacer_resume(&p, BASE + 4 * NS_PER_S);
    assert_int_equal(pacer_next_ns(&p), pacer_next_ns(&q) + 3 * NS_PER_S);
    pacer_set_rate(&p, 0, NS_PER_S, BASE + 5 * NS_PER_S);
    take_all(&q, BASE + 2 * NS_PER_S, times);
    assert_int_equal(pacer_backlog(&p, BASE + 5 * NS_PER_S),
                     q.next.number - p.next.number);
    while (p.next.number < q.next.number)
        assert_int_equal(pacer_take(&p, BASE + 5 * NS_PER_S, &at, 1), 1);
    for (uint64_t i = 1; i <= 100; i++) {
        assert_int_equal(pacer_take(&p, BASE + 5 * NS_PER_S + i, &at, 1), 1);
        assert_int_equal(at, BASE + 5 * NS_PER_S + i);
    }
    pacer_set_rate(&p, 1000, NS_PER_S, BASE + 6 * NS_PER_S);
    assert_true(pacer_next_ns(&p) >= BASE + 6 * NS_PER_S);
    assert_true(fabs((double)take_all(&p, BASE + 7 * NS_PER_S, times) - 1000) <
                5 * sqrt(1000));
    free(times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_gaps_are_exponential_and_independent),
        cmocka_unit_test(poisson_counts_vary_by_their_mean),
        cmocka_unit_test(poisson_follows_from_its_seed),
        cmocka_unit_test(poisson_change_of_rate_keeps_the_gaps),
        cmocka_unit_test(poisson_backlog_is_what_is_taken),
        cmocka_unit_test(poisson_pauses_and_goes_unpaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
