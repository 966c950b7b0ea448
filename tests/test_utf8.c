/* What comes from outside is printed as one harmless line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/fail.h"
#include "protocols/utf8.h"

/* In memory of exactly its size, so that an access behind the end is seen. */
static void expect(const char *text, const char *wanted)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    utf8_printable(copy);
    assert_string_equal(copy, wanted);
    free(copy);
}

static void text_is_left_alone(void **state)
{
    (void)state;
    expect("", "");
    expect("http://[::1]:80/a?b=%20~", "http://[::1]:80/a?b=%20~");
    expect("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x9a\xa2",
           "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x9a\xa2");
}

static void what_a_terminal_obeys_is_not_printed(void **state)
{
    (void)state;
    expect("\033[31mred\007", "?[31mred?");
    expect("a\nb\tc\rd\x7f", "a?b?c?d?");
    expect("\xc2\x9b"
           "31m",
           "?31m"); /* CSI as one character of C1 */
    expect("a\xe2\x80\xae"
           "b\xe2\x81\xa6"
           "c\xe2\x80\xa8",
           "a?b?c?");
}

static void bytes_that_are_no_text_are_told(void **state)
{
    (void)state;
    expect("\xff\xfe", "??");
    expect("a\xe2\x82", "a??");         /* cut in the middle */
    expect("\xc0\x9b", "??");           /* an overlong escape */
    expect("\xed\xa0\x80", "???");      /* a surrogate */
    expect("\xf4\x90\x80\x80", "????"); /* beyond U+10FFFF */
}

static void sentences_of_failures_are_printable(void **state)
{
    struct fail fail = {0};

    (void)state;
    assert_int_equal(fail_set(&fail, 2, "open", "no file '%s'", "\033]0;x\007y\n"), -2);
    assert_string_equal(fail.sentence, "no file '?]0;x?y?': No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_left_alone),
        cmocka_unit_test(what_a_terminal_obeys_is_not_printed),
        cmocka_unit_test(bytes_that_are_no_text_are_told),
        cmocka_unit_test(sentences_of_failures_are_printable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
