/* Schedules of several clients: together they keep a rate as one would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "protocols/schedule.h"

#define BASE 123456789012345ull

static void start(struct pacer *p, const char *arrivals, uint64_t seed, uint64_t sender)
{
    struct options o = {0};

    assert_int_equal(options_set_text(&o, OPTION_arrivals, arrivals), 0);
    assert_int_equal(options_set_number(&o, OPTION_arrivals_seed, seed), 0);
    assert_int_equal(options_set_number(&o, OPTION_sender, sender), 0);
    assert_int_equal(options_set_number(&o, OPTION_senders, 4), 0);
    schedule_start(p, BASE, 250, NS_PER_S, &o);
    options_done(&o);
}

static void even_clients_take_turns(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        struct pacer p;

        start(&p, "even", 1, i);
        for (uint64_t n = 0; n < 1000; n++)
            assert_int_equal(pacer_intended_ns(&p, n),
                             BASE + (4 * n + i) * NS_PER_S / 1000);
    }
}

static void poisson_clients_differ_by_their_seed_alone(void **state)
{
    struct pacer a, b, c;
    unsigned same = 0;

    (void)state;
    start(&a, "poisson", 1, 0);
    start(&b, "poisson", 1, 3);
    start(&c, "poisson", 2, 0);
    for (uint64_t n = 0; n < 1000; n++) {
        assert_int_equal(pacer_intended_ns(&a, n), pacer_intended_ns(&b, n));
        same += pacer_intended_ns(&a, n) == pacer_intended_ns(&c, n);
    }
    assert_true(same < 5);
}

/*
 * A second without running: of what was due in it the first is sent at once, the next
 * wait for room, and all were kept back by nobody else until it ran again.
 */
static void what_waits_behind_a_late_one_was_kept_back(void **state)
{
    static const uint64_t sends[][4] = {
        /* due, room since, sent, own, in ms from BASE */
        {0, 0, 0, 0},           {10, 0, 10, 0},        {20, 0, 1020, 1000},
        {30, 0, 1020, 990},     {40, 1025, 1025, 980}, {900, 1030, 1031, 121},
        {1010, 1035, 1035, 10}, {1030, 1040, 1040, 0}, {1050, 1040, 1050, 0},
    };
    struct schedule_away away = {0};
    struct meter *m = meter_new();
    double sum = 0;

    (void)state;
    assert_non_null(m);
    assert_int_equal(schedule_use(m), 0);
    for (size_t i = 0; i < sizeof(sends) / sizeof(sends[0]); i++) {
        const uint64_t *s = sends[i];

        schedule_note(m, &away, BASE + s[0] * NS_PER_MS,
                      s[1] ? BASE + s[1] * NS_PER_MS : 0, BASE + s[2] * NS_PER_MS);
        sum += (double)s[3] * 1e6;
        assert_true(m->hists[METER_HIST_generator]->sum == sum);
    }
    meter_free(m);
}

/* What was due and is never begun has waited until the end of the load. */
static void the_end_counts_what_was_never_begun(void **state)
{
    struct options o = {0};
    struct meter *m = meter_new();
    struct pacer p;
    uint64_t due_ns;

    (void)state;
    assert_non_null(m);
    assert_int_equal(meter_use(m, METER_HIST_unfinished), 0);
    schedule_start(&p, BASE, 100, NS_PER_S, &o);
    for (int i = 0; i < 40; i++)
        assert_int_equal(pacer_take(&p, BASE + 400 * NS_PER_MS, &due_ns, 1), 1);
    /* Due at 0.40 to 0.99 s; at 1 s there is no load. */
    schedule_end(&p, BASE + NS_PER_S, UINT64_MAX, m);
    assert_int_equal(m->counters.never_begun, 60);
    assert_int_equal(m->hists[METER_HIST_unfinished]->count, 60);
    assert_int_equal(m->hists[METER_HIST_unfinished]->max, 600 * NS_PER_MS);
    assert_int_equal(m->hists[METER_HIST_unfinished]->min, 10 * NS_PER_MS);
    schedule_end(&p, BASE + 2 * NS_PER_S, 5, m);
    assert_int_equal(m->counters.never_begun, 65); /* no more than were wanted */
    schedule_start(&p, BASE, 0, NS_PER_S, &o);
    schedule_end(&p, BASE + NS_PER_S, UINT64_MAX, m);
    assert_int_equal(m->counters.never_begun, 65);
    meter_free(m);
}

/* Without a rate there is nothing to spread. */
static void unpaced_begins_at_the_base(void **state)
{
    struct options o = {0};
    struct pacer p;

    (void)state;
    assert_int_equal(options_set_number(&o, OPTION_sender, 1), 0);
    assert_int_equal(options_set_number(&o, OPTION_senders, 2), 0);
    schedule_start(&p, BASE, 0, NS_PER_S, &o);
    assert_int_equal(pacer_next_ns(&p), BASE);
    options_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_clients_take_turns),
        cmocka_unit_test(poisson_clients_differ_by_their_seed_alone),
        cmocka_unit_test(what_waits_behind_a_late_one_was_kept_back),
        cmocka_unit_test(the_end_counts_what_was_never_begun),
        cmocka_unit_test(unpaced_begins_at_the_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
