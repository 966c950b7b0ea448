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
        cmocka_unit_test(unpaced_begins_at_the_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
