/* The families: every row holds together, and with the parameters and scenarios. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/family.h"
#include "engine/scenario.h"
#include "protocols/meter.h"

static void bits_are_the_masks_of_parameters(void **state)
{
    unsigned all = 0;

    (void)state;
    for (const struct family *const *f = family_table(); *f; f++) {
        assert_int_not_equal((*f)->bit, 0);
        assert_int_equal((*f)->bit & ((*f)->bit - 1), 0);
        assert_int_equal((*f)->bit & all, 0);
        all |= (*f)->bit;
    }
    assert_int_equal(all, FAMILY_ALL);
}

static void masks_of_several_families_follow_from_their_facts(void **state)
{
    (void)state;
    for (const struct family *const *f = family_table(); *f; f++) {
        bool stream = !(*f)->datagrams && !(*f)->load;

        assert_int_equal((*f)->operations, ((*f)->bit & FAMILY_OPERATIONS) != 0);
        assert_int_equal((*f)->load, ((*f)->bit & FAMILY_WEB) != 0);
        assert_int_equal(stream, ((*f)->bit & FAMILY_STREAM) != 0);
    }
}

static void names_are_of_parameters_that_the_family_has(void **state)
{
    (void)state;
    for (const struct family *const *f = family_table(); *f; f++) {
        const struct param *amount = param_of((*f)->bit, (*f)->amount);
        const struct param *open =
            (*f)->concurrency ? param_of((*f)->bit, (*f)->concurrency) : NULL;

        assert_non_null(amount);
        assert_true(amount->type == PARAM_COUNT || amount->type == PARAM_SIZE);
        assert_true(!(*f)->concurrency || (open && open->type == PARAM_COUNT));
        assert_int_equal((*f)->url, param_of((*f)->bit, OPTION_url) != NULL);
        assert_int_equal((*f)->content, param_of((*f)->bit, OPTION_file) != NULL);
        assert_int_equal((*f)->operations, param_of((*f)->bit, OPTION_rate) != NULL);
        assert_true(*(*f)->name && *(*f)->protocol);
        assert_true(*(*f)->latency_span && *(*f)->latency_about && *(*f)->latency_paced);
    }
}

static void facts_do_not_contradict_each_other(void **state)
{
    (void)state;
    for (const struct family *const *f = family_table(); *f; f++) {
        assert_true(!(*f)->answered || (*f)->operations);
        assert_false((*f)->answered && (*f)->one_way);
        assert_true(!(*f)->load || (*f)->answered);
        assert_true(!(*f)->url || (*f)->load);
    }
}

static void headlines_end_and_are_named_once(void **state)
{
    (void)state;
    for (const struct family *const *f = family_table(); *f; f++) {
        size_t n = 0;

        for (; n < FAMILY_HEADLINES && (*f)->headlines[n] != METRIC_COUNT; n++)
            for (size_t i = 0; i < n; i++)
                assert_int_not_equal((*f)->headlines[i], (*f)->headlines[n]);
        assert_true(n < FAMILY_HEADLINES);
        assert_in_range((*f)->judged, 1, n);
    }
}

static void every_scenario_is_of_a_family_and_every_family_has_one(void **state)
{
    unsigned seen = 0;
    size_t count;
    const struct scenario *s = scenario_table(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        seen |= s[i].family->bit;
        assert_int_equal(s[i].family->url, s[i].roles[PLACE_SERVER] == NULL);
    }
    assert_int_equal(seen, FAMILY_ALL);
}

static void a_datagram_that_came_twice_is_one_received(void **state)
{
    struct meter_counters c = {.received_messages = 12, .unique = 10};

    (void)state;
    assert_int_equal(family_received(&family_udp, &c), 10);
    assert_int_equal(family_received(&family_requests, &c), 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_the_masks_of_parameters),
        cmocka_unit_test(masks_of_several_families_follow_from_their_facts),
        cmocka_unit_test(names_are_of_parameters_that_the_family_has),
        cmocka_unit_test(facts_do_not_contradict_each_other),
        cmocka_unit_test(headlines_end_and_are_named_once),
        cmocka_unit_test(every_scenario_is_of_a_family_and_every_family_has_one),
        cmocka_unit_test(a_datagram_that_came_twice_is_one_received),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
