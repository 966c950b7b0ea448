/* A failure: what its sentence says, whose mistake it is, and that the first one wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "protocols/fail.h"

static void an_errno_says_what_it_means(void **state)
{
    struct fail f = {0};
    char expected[100];

    (void)state;
    /* EINVAL as well: the kernel says it for reasons that nobody typed. */
    assert_int_equal(fail_set(&f, EINVAL, "read", "file %d", 7), -EINVAL);
    snprintf(expected, sizeof(expected), "file 7: %s", strerror(EINVAL));
    assert_string_equal(f.sentence, expected);
    assert_string_equal(f.step, "read");
    assert_int_equal(f.err, EINVAL);
    assert_false(f.usage);
}

static void a_sentence_may_say_everything(void **state)
{
    struct fail f = {0};

    (void)state;
    assert_int_equal(fail_say(&f, EMFILE, "limits", "too few"), -EMFILE);
    assert_string_equal(f.sentence, "too few");
    assert_false(f.usage);
}

static void wrong_usage_is_told_apart(void **state)
{
    struct fail f = {0};

    (void)state;
    assert_int_equal(fail_usage(&f, "option", "no option '%s'", "a\x1b[2J"), -EINVAL);
    assert_null(strchr(f.sentence, '\x1b'));
    assert_int_equal(f.err, EINVAL);
    assert_true(f.usage);
}

static void the_first_failure_wins(void **state)
{
    struct fail f = {0};

    (void)state;
    fail_say(&f, EIO, "write", "first");
    assert_int_equal(fail_usage(&f, "option", "second"), -EINVAL);
    assert_int_equal(fail_set(&f, ENOENT, "open", "third"), -ENOENT);
    assert_string_equal(f.sentence, "first");
    assert_int_equal(f.err, EIO);
    assert_false(f.usage);
    assert_int_equal(fail_usage(NULL, "option", "to nobody"), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_errno_says_what_it_means),
        cmocka_unit_test(a_sentence_may_say_everything),
        cmocka_unit_test(wrong_usage_is_told_apart),
        cmocka_unit_test(the_first_failure_wins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
