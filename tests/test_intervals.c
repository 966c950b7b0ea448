/* Intervals: whatever is added, in whatever order, is there again, once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/intervals.h"

#define SECOND 1000000000ull

static struct hist *all_of(const struct intervals *x)
{
    struct hist *h = hist_new();

    for (size_t i = 0; i < x->used; i++)
        intervals_read(x, i, h);
    return h;
}

/* All but the sums, which may be rounded differently. */
static void assert_same(const struct hist *a, const struct hist *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    assert_memory_equal(a->buckets, b->buckets, sizeof(a->buckets));
}

static void add(struct intervals *x, struct hist *sum, uint64_t at_ns, uint64_t value)
{
    struct hist *h = hist_new();

    hist_record(h, value);
    hist_record(h, 3 * value);
    intervals_add(x, at_ns, h);
    hist_merge(sum, h);
    hist_free(h);
}

static void seconds_are_kept_apart(void **state)
{
    struct intervals *x = intervals_new();
    struct hist *sum = hist_new();

    (void)state;
    add(x, sum, 0, 100);
    add(x, sum, SECOND - 1, 200);
    add(x, sum, 2 * SECOND, 5000);
    add(x, sum, SECOND / 2, 300); /* late */
    assert_int_equal(x->used, 3);
    for (size_t i = 0; i < 3; i++) {
        static const uint64_t counts[] = {6, 0, 2};
        struct hist *h = hist_new();

        intervals_read(x, i, h);
        assert_int_equal(h->count, counts[i]);
        hist_free(h);
    }
    hist_free(sum);
    intervals_free(x);
}

static void nothing_is_lost_when_the_step_doubles(void **state)
{
    struct intervals *x = intervals_new();
    struct hist *sum = hist_new();
    struct hist *h;

    (void)state;
    /* Every third second has something; the run is 5.5 times as long as fits. */
    for (uint64_t s = 0; s < 5 * INTERVALS_MAX + INTERVALS_MAX / 2; s += 3)
        add(x, sum, s * SECOND, 1000 + 977 * s);
    assert_int_equal(x->step_ns, 8 * SECOND);
    assert_true(x->used <= INTERVALS_MAX);
    h = all_of(x);
    assert_same(h, sum);
    hist_free(h);
    /* An old one, again. */
    add(x, sum, 17 * SECOND, 123456);
    h = hist_new();
    intervals_read(x, 2, h);
    assert_int_equal(h->count,
                     2 * 2 + 2); /* of 18 and 21, and 17: interval 2 is 16..23 */
    hist_free(h);
    h = all_of(x);
    assert_same(h, sum);
    hist_free(h);
    hist_free(sum);
    intervals_free(x);
}

/* The values of each interval after doubling are those of its own time. */
static void values_stay_in_their_time(void **state)
{
    struct intervals *x = intervals_new();

    (void)state;
    for (uint64_t s = 0; s < 2 * INTERVALS_MAX; s++) {
        struct hist *h = hist_new();

        hist_record(h, s);
        intervals_add(x, s * SECOND, h);
        hist_free(h);
    }
    for (size_t i = 0; i < x->used; i++) {
        struct hist *h = hist_new();

        intervals_read(x, i, h);
        assert_int_equal(h->count, 2);
        assert_int_equal(h->min, 2 * i);
        assert_int_equal(h->max, 2 * i + 1);
        hist_free(h);
    }
    intervals_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_kept_apart),
        cmocka_unit_test(nothing_is_lost_when_the_step_doubles),
        cmocka_unit_test(values_stay_in_their_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
