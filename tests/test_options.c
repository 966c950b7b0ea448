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
    assert_int_equal(options_set_number(&o, "size", UINT64_MAX), 0);
    assert_int_equal(options_set_text(&o, "direction", text), 0);
    text[0] = 'x';
    assert_int_equal(options_number(&o, "size", 7), UINT64_MAX);
    assert_string_equal(options_text(&o, "direction", "up"), "both");
    assert_true(options_is(&o, "direction", "both"));
    assert_false(options_is(&o, "direction", "bot"));
    assert_int_equal(o.count, 2);
    options_done(&o);
    assert_int_equal(o.count, 0);
    assert_int_equal(options_number(&o, "size", 7), 7);
}

static void missing_names_give_the_fallback(void **state)
{
    struct options o = {0};

    (void)state;
    assert_int_equal(options_number(&o, "rate", 50), 50);
    assert_null(options_text(&o, "file", NULL));
    assert_string_equal(options_text(&o, "file", "none"), "none");
    assert_false(options_is(&o, "file", "none"));
    options_done(&o);
}

/* A number is no text and a text no number: the fallback, not a guess. */
static void kinds_are_not_mixed(void **state)
{
    struct options o = {0};

    (void)state;
    options_set_number(&o, "rate", 9);
    options_set_text(&o, "client", "12");
    assert_null(options_text(&o, "rate", NULL));
    assert_false(options_is(&o, "rate", "9"));
    assert_int_equal(options_number(&o, "client", 3), 3);
    options_done(&o);
}

static void setting_again_replaces(void **state)
{
    struct options o = {0};

    (void)state;
    options_set_text(&o, "x", "one");
    options_set_text(&o, "x", options_text(&o, "x", NULL));
    assert_string_equal(options_text(&o, "x", NULL), "one");
    options_set_number(&o, "x", 2);
    assert_int_equal(options_number(&o, "x", 0), 2);
    assert_null(options_text(&o, "x", NULL));
    options_set_text(&o, "x", "");
    assert_string_equal(options_text(&o, "x", NULL), "");
    assert_int_equal(options_number(&o, "x", 5), 5);
    assert_int_equal(o.count, 1);
    options_done(&o);
}

static void many_names_stay_apart(void **state)
{
    struct options o = {0};
    char name[16];

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "name%u", i);
        assert_int_equal(options_set_number(&o, name, i), 0);
    }
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "name%u", i);
        assert_int_equal(options_number(&o, name, 9999), i);
    }
    options_done(&o);
}

static void a_copy_adds_to_what_is_there(void **state)
{
    struct options from = {0}, to = {0};

    (void)state;
    assert_int_equal(options_set_number(&from, "rate", 7), 0);
    assert_int_equal(options_set_text(&from, "host", "::1"), 0);
    assert_int_equal(options_set_text(&to, "rate", "none"), 0);
    assert_int_equal(options_set_number(&to, "size", 3), 0);
    assert_int_equal(options_copy(&to, &from), 0);
    options_done(&from);
    assert_int_equal(to.count, 3);
    assert_int_equal(options_number(&to, "rate", 0), 7);
    assert_string_equal(options_text(&to, "host", ""), "::1");
    assert_int_equal(options_number(&to, "size", 0), 3);
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
        cmocka_unit_test(a_copy_adds_to_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
