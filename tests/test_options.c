/* Options: what is set is read back; what is not set is the fallback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/options.h"

static void numbers_and_texts_come_back(void **state)
{
    struct options o = {0};
    char text[] = "both";

    (void)state;
    assert_int_equal(options_set_number(&o, OPTION_size, UINT64_MAX), 0);
    assert_int_equal(options_set_text(&o, OPTION_direction, text), 0);
    text[0] = 'x';
    assert_int_equal(options_number(&o, OPTION_size, 7), UINT64_MAX);
    assert_string_equal(options_text(&o, OPTION_direction, "up"), "both");
    assert_true(options_is(&o, OPTION_direction, "both"));
    assert_false(options_is(&o, OPTION_direction, "bot"));
    assert_int_equal(o.count, 2);
    options_done(&o);
    assert_int_equal(o.count, 0);
    assert_int_equal(options_number(&o, OPTION_size, 7), 7);
}

static void missing_names_give_the_fallback(void **state)
{
    struct options o = {0};

    (void)state;
    assert_int_equal(options_number(&o, OPTION_rate, 50), 50);
    assert_null(options_text(&o, OPTION_file, NULL));
    assert_string_equal(options_text(&o, OPTION_file, "none"), "none");
    assert_false(options_is(&o, OPTION_file, "none"));
    options_done(&o);
}

/* A number is no text and a text no number: the fallback, not a guess. */
static void kinds_are_not_mixed(void **state)
{
    struct options o = {0};

    (void)state;
    options_set_number(&o, OPTION_rate, 9);
    options_set_text(&o, OPTION_client, "12");
    assert_null(options_text(&o, OPTION_rate, NULL));
    assert_false(options_is(&o, OPTION_rate, "9"));
    assert_int_equal(options_number(&o, OPTION_client, 3), 3);
    options_done(&o);
}

static void setting_again_replaces(void **state)
{
    struct options o = {0};

    (void)state;
    options_set_text(&o, OPTION_label, "one");
    options_set_text(&o, OPTION_label, options_text(&o, OPTION_label, NULL));
    assert_string_equal(options_text(&o, OPTION_label, NULL), "one");
    options_set_number(&o, OPTION_label, 2);
    assert_int_equal(options_number(&o, OPTION_label, 0), 2);
    assert_null(options_text(&o, OPTION_label, NULL));
    options_set_text(&o, OPTION_label, "");
    assert_string_equal(options_text(&o, OPTION_label, NULL), "");
    assert_int_equal(options_number(&o, OPTION_label, 5), 5);
    assert_int_equal(o.count, 1);
    options_done(&o);
}

static void many_names_stay_apart(void **state)
{
    struct options o = {0};

    (void)state;
    for (unsigned i = OPTION_NONE + 1; i < OPTION_COUNT; i++)
        assert_int_equal(options_set_number(&o, (enum option)i, i), 0);
    for (unsigned i = OPTION_NONE + 1; i < OPTION_COUNT; i++)
        assert_int_equal(options_number(&o, (enum option)i, 9999), i);
    assert_int_equal(options_number(&o, OPTION_NONE, 9999), 9999);
    options_done(&o);
}

static void names_are_found_as_they_are_written(void **state)
{
    (void)state;
    for (unsigned i = OPTION_NONE + 1; i < OPTION_COUNT; i++)
        assert_int_equal(option_find(option_name((enum option)i)), i);
    assert_int_equal(option_find("rates"), OPTION_NONE);
    assert_int_equal(option_find("Rate"), OPTION_NONE);
    assert_int_equal(option_find(""), OPTION_NONE);
}

static void a_copy_adds_to_what_is_there(void **state)
{
    struct options from = {0}, to = {0};

    (void)state;
    assert_int_equal(options_set_number(&from, OPTION_rate, 7), 0);
    assert_int_equal(options_set_text(&from, OPTION_host, "::1"), 0);
    assert_int_equal(options_set_text(&to, OPTION_rate, "none"), 0);
    assert_int_equal(options_set_number(&to, OPTION_size, 3), 0);
    assert_int_equal(options_copy(&to, &from), 0);
    options_done(&from);
    assert_int_equal(to.count, 3);
    assert_int_equal(options_number(&to, OPTION_rate, 0), 7);
    assert_string_equal(options_text(&to, OPTION_host, ""), "::1");
    assert_int_equal(options_number(&to, OPTION_size, 0), 3);
    options_done(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_texts_come_back),
        cmocka_unit_test(missing_names_give_the_fallback),
        cmocka_unit_test(kinds_are_not_mixed),
        cmocka_unit_test(setting_again_replaces),
        cmocka_unit_test(many_names_stay_apart),
        cmocka_unit_test(names_are_found_as_they_are_written),
        cmocka_unit_test(a_copy_adds_to_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
