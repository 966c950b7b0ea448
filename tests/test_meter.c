/* Meters: what two processes counted, merged, is what one would have counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "protocols/meter.h"

/* A different value in every counter and gauge, so that no line can be left out. */
static void fill(struct meter *m, uint64_t factor)
{
    uint64_t n = 1;

#define X(name, unit, help) m->counters.name = factor * n++;
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) m->gauges.name = factor * n++;
    METER_GAUGES(X)
#undef X
#define X(name, help) tally_add(&m->name, #name, factor *n++);
    METER_TALLIES(X)
#undef X
}

static void assert_filled(const struct meter *m, uint64_t factor)
{
    uint64_t n = 1;

#define X(name, unit, help) assert_int_equal(m->counters.name, factor *n++);
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) assert_int_equal(m->gauges.name, factor *n++);
    METER_GAUGES(X)
#undef X
#define X(name, help) assert_int_equal(tally_get(&m->name, #name), factor *n++);
    METER_TALLIES(X)
#undef X
}

static void merging_adds_everything(void **state)
{
    struct meter *a = meter_new(), *b = meter_new();

    (void)state;
    fill(a, 10);
    fill(b, 32);
    for (int i = 0; i < METER_HIST_COUNT; i++) {
        assert_int_equal(meter_use(b, (enum meter_hist)i), 0);
        meter_record(b, (enum meter_hist)i, 1000 + (uint64_t)i);
    }
    assert_int_equal(meter_use(a, METER_HIST_latency), 0);
    meter_record(a, METER_HIST_latency, 1);
    assert_int_equal(meter_merge(a, b), 0);
    assert_filled(a, 42);
    assert_filled(b, 32);
    assert_int_equal(a->hists[METER_HIST_latency]->count, 2);
    assert_int_equal(a->hists[METER_HIST_latency]->min, 1);
    for (int i = 1; i < METER_HIST_COUNT; i++)
        assert_int_equal(a->hists[i]->max, 1000 + i);
    meter_free(a);
    meter_free(b);
}

static void merging_leaves_unused_histograms_alone(void **state)
{
    struct meter *a = meter_new(), *b = meter_new();

    (void)state;
    assert_int_equal(meter_use(b, METER_HIST_pacing), 0);
    assert_int_equal(meter_merge(a, b), 0);
    assert_null(a->hists[METER_HIST_latency]);
    assert_non_null(a->hists[METER_HIST_pacing]);
    assert_int_equal(a->hists[METER_HIST_pacing]->count, 0);
    meter_free(a);
    meter_free(b);
}

static void using_a_histogram_again_keeps_it(void **state)
{
    struct meter *m = meter_new();
    struct hist *h;

    (void)state;
    assert_int_equal(meter_use(m, METER_HIST_service), 0);
    h = m->hists[METER_HIST_service];
    meter_record(m, METER_HIST_service, 5);
    assert_int_equal(meter_use(m, METER_HIST_service), 0);
    assert_ptr_equal(m->hists[METER_HIST_service], h);
    assert_int_equal(h->count, 1);
    meter_free(m);
    meter_free(NULL);
}

/* A gauge is a level, not an amount: the next interval starts with it. */
static void reset_keeps_gauges_and_rows(void **state)
{
    struct meter *m = meter_new();
    struct tally_row *row = tally_add(&m->errors, "read EPIPE", 1);

    (void)state;
    fill(m, 1);
    assert_int_equal(meter_use(m, METER_HIST_latency), 0);
    meter_record(m, METER_HIST_latency, 5);
    meter_reset(m);
    assert_int_equal(m->hists[METER_HIST_latency]->count, 0);
#define X(name, unit, help) assert_int_equal(m->counters.name, 0);
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) assert_int_not_equal(m->gauges.name, 0);
    METER_GAUGES(X)
#undef X
#define X(name, help) assert_int_equal(tally_sum(&m->name), 0);
    METER_TALLIES(X)
#undef X
    assert_ptr_equal(tally_add(&m->errors, "read EPIPE", 1), row);
    meter_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_adds_everything),
        cmocka_unit_test(merging_leaves_unused_histograms_alone),
        cmocka_unit_test(using_a_histogram_again_keeps_it),
        cmocka_unit_test(reset_keeps_gauges_and_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
