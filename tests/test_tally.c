/* Tallies: bounded, and exact in sum whatever names come. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/tally.h"

static void counts_by_name(void **state)
{
    struct tally t = {0};
    struct tally_row *row = tally_add(&t, "200", 2);

    (void)state;
    tally_add(&t, "404", 1);
    tally_add(&t, "200", 3);
    row->count++;
    assert_int_equal(tally_get(&t, "200"), 6);
    assert_int_equal(tally_get(&t, "404"), 1);
    assert_int_equal(tally_get(&t, "500"), 0);
    assert_int_equal(tally_sum(&t), 7);
    assert_int_equal(t.used, 2);
    assert_string_equal(t.rows[0].name, "200");
}

/* More names than places: the first ones keep theirs, the rest is one row. */
static void surplus_names_are_summed(void **state)
{
    struct tally t = {0};
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        tally_add(&t, name, 1);
    }
    assert_int_equal(t.used, TALLY_MAX);
    assert_int_equal(tally_sum(&t), 1000);
    assert_int_equal(tally_get(&t, "n30"), 1);
    assert_int_equal(tally_get(&t, "n31"), 0);
    assert_int_equal(tally_get(&t, TALLY_OTHER), 1000 - (TALLY_MAX - 1));
    tally_add(&t, "n5", 1);
    assert_int_equal(tally_get(&t, "n5"), 2);
}

static void long_names_are_summed(void **state)
{
    struct tally t = {0};
    char name[TALLY_NAME_MAX + 2];

    (void)state;
    memset(name, 'x', sizeof(name));
    name[TALLY_NAME_MAX - 1] = '\0';
    tally_add(&t, name, 1);
    assert_int_equal(tally_get(&t, name), 1);
    name[TALLY_NAME_MAX - 1] = 'x';
    name[TALLY_NAME_MAX] = '\0';
    tally_add(&t, name, 5);
    assert_int_equal(tally_get(&t, TALLY_OTHER), 5);
    tally_add(&t, "", 1);
    assert_int_equal(tally_get(&t, ""), 1);
}

static void zeroing_keeps_the_rows(void **state)
{
    struct tally t = {0};
    struct tally_row *row = tally_add(&t, "send ENOBUFS", 4);

    (void)state;
    tally_zero(&t);
    assert_int_equal(tally_sum(&t), 0);
    assert_ptr_equal(tally_add(&t, "send ENOBUFS", 1), row);
    assert_int_equal(row->count, 1);
}

static void merging_adds_row_by_row(void **state)
{
    struct tally a = {0}, b = {0};

    (void)state;
    tally_add(&a, "x", 1);
    tally_add(&b, "y", 2);
    tally_add(&b, "x", 3);
    tally_add(&b, "unused", 0);
    tally_merge(&a, &b);
    assert_int_equal(tally_get(&a, "x"), 4);
    assert_int_equal(tally_get(&a, "y"), 2);
    assert_int_equal(a.used, 2);
    tally_merge(&a, &(struct tally){0});
    assert_int_equal(tally_sum(&a), 6);
}

/* Two full tables with different names: nothing is lost. */
static void merging_full_tallies_keeps_the_sum(void **state)
{
    struct tally a = {0}, b = {0};
    char name[16];

    (void)state;
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        tally_add(&a, name, 1);
        snprintf(name, sizeof(name), "b%d", i);
        tally_add(&b, name, 1);
    }
    tally_merge(&a, &b);
    assert_int_equal(tally_sum(&a), 100);
    assert_int_equal(a.used, TALLY_MAX);
}

static void system_errors_have_their_names(void **state)
{
    struct tally t = {0};

    (void)state;
    tally_errno(&t, "connect", ECONNREFUSED);
    tally_errno(&t, "connect", ECONNREFUSED);
    tally_errno(&t, "send", 99999);
    assert_int_equal(tally_get(&t, "connect ECONNREFUSED"), 2);
    assert_int_equal(tally_get(&t, "send errno 99999"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_name),
        cmocka_unit_test(surplus_names_are_summed),
        cmocka_unit_test(long_names_are_summed),
        cmocka_unit_test(zeroing_keeps_the_rows),
        cmocka_unit_test(merging_adds_row_by_row),
        cmocka_unit_test(merging_full_tallies_keeps_the_sum),
        cmocka_unit_test(system_errors_have_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
