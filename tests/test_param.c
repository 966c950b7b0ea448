/* The parameters, and the command line that sets them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cli/arguments.h"
#include "engine/param.h"
#include "protocols/array.h"

static const struct flag flags[] = {
    {"json", 'j', "FILE", "a file"},
    {"threshold", 0, "EXPRESSION", "repeatable"},
    {"quick", 0, NULL, "a flag"},
    {"verbose", 'v', NULL, "a flag"},
    {0},
};

struct line {
    struct options values;
    struct arguments a;
    struct fail fail;
    int rc;
};

static void parse(struct line *l, unsigned family, const char *first, ...)
{
    char *argv[16];
    int argc = 0;
    va_list args;

    memset(l, 0, sizeof(*l));
    va_start(args, first);
    for (const char *word = first; word; word = va_arg(args, const char *))
        argv[argc++] = (char *)(uintptr_t)word;
    va_end(args);
    l->rc = arguments_parse(&l->a, argc, argv, family, flags, &l->values, &l->fail);
}

static void line_done(struct line *l)
{
    arguments_done(&l->a);
    options_done(&l->values);
}

/* Refused with a sentence that holds every one of the words; nothing was stored. */
static void assert_refused(unsigned family, const char *option, const char *value,
                           const char *said)
{
    struct line l;

    parse(&l, family, option, value, NULL);
    if (l.rc != -EINVAL || !strstr(l.fail.sentence, said))
        print_error("%s %s: %d '%s', not '%s'\n", option, value ? value : "", l.rc,
                    l.fail.sentence, said);
    assert_int_equal(l.rc, -EINVAL);
    assert_int_equal(l.fail.err, EINVAL);
    assert_non_null(strstr(l.fail.sentence, said));
    assert_int_equal(l.values.count, 0);
    line_done(&l);
}

/* The table. */

static void every_row_is_sound(void **state)
{
    (void)state;
    for (const struct param *p = param_table(); p->name; p++) {
        struct options values = {0};
        char text[256];
        char again[256];

        assert_true(p->families & FAMILY_ALL);
        assert_true(p->min <= p->max);
        assert_true(*p->help && p->help[strlen(p->help) - 1] != '.');
        assert_non_null(p->unit);
        assert_non_null(p->fallback);
        assert_true(!(p->type == PARAM_CHOICE) == !p->choices);
        assert_null(strchr(p->name, '-'));
        assert_true(strlen(p->name) > 1); /* or it would be taken for a letter */
        /* The default is allowed, and is shown as it may be typed. */
        assert_int_equal(param_set(&values, p, p->fallback, NULL), 0);
        param_text(&values, p, text, sizeof(text));
        if (!(p->flags & PARAM_REPEAT && !*text))
            assert_int_equal(param_set(&values, p, text, NULL), 0);
        param_text(&values, p, again, sizeof(again));
        assert_string_equal(text, again);
        param_range(p, text, sizeof(text));
        assert_true(*text);
        options_done(&values);
    }
}

static void names_and_letters_are_unique_in_a_family(void **state)
{
    (void)state;
    for (unsigned family = 1; family <= FAMILY_HTTP; family *= 2)
        for (const struct param *p = param_table(); p->name; p++) {
            char letter[2] = {p->letter, '\0'};
            char option[40];

            if (!(p->families & family))
                continue;
            assert_ptr_equal(param_find(family, p->name), p);
            param_option(p, option, sizeof(option));
            assert_ptr_equal(param_find(family, option), p);
            if (p->letter)
                assert_ptr_equal(param_find(family, letter), p);
        }
}

static void a_parameter_is_found_in_its_families_only(void **state)
{
    (void)state;
    assert_non_null(param_find(FAMILY_BULK, "size"));
    assert_non_null(param_find(FAMILY_UDP, "size"));
    assert_ptr_not_equal(param_find(FAMILY_BULK, "size"), param_find(FAMILY_UDP, "size"));
    assert_null(param_find(FAMILY_REQUESTS, "size"));
    assert_null(param_find(FAMILY_BULK, "sizes"));
    assert_null(param_find(FAMILY_BULK, ""));
    assert_null(param_find(0, "size"));
    assert_ptr_equal(param_find(FAMILY_HTTP, "header"),
                     param_find(FAMILY_HTTP, "headers"));
}

/* Values. */

static void numbers_are_kept_in_their_range(void **state)
{
    struct line l;

    (void)state;
    parse(&l, FAMILY_BULK, "--size", "64KiB", "--trials=3", "-w2", NULL);
    assert_int_equal(l.rc, 0);
    assert_int_equal(options_number(&l.values, OPTION_size, 0), 65536);
    assert_int_equal(options_number(&l.values, OPTION_trials, 0), 3);
    assert_int_equal(options_number(&l.values, OPTION_workers, 0), 2);
    assert_true(arguments_typed(&l.a, OPTION_size));
    assert_false(arguments_typed(&l.a, OPTION_block));
    line_done(&l);

    assert_refused(FAMILY_BULK, "--size", "0", "--size cannot be '0': it takes 1..");
    assert_refused(FAMILY_BULK, "--size", "-5", "--size cannot be '-5'");
    assert_refused(FAMILY_BULK, "--size=-5", NULL, "--size cannot be '-5'");
    assert_refused(FAMILY_BULK, "--size", "2000TiB", "--size cannot be");
    assert_refused(FAMILY_BULK, "--size", "99999999999999999999999", "--size cannot be");
    assert_refused(FAMILY_BULK, "--size", "", "--size cannot be ''");
    assert_refused(FAMILY_BULK, "--size", "big", "--size cannot be 'big'");
    assert_refused(FAMILY_BULK, "--trials", "0",
                   "--trials cannot be '0': it takes 1..1000");
    assert_refused(FAMILY_BULK, "--trials", "1001", "--trials cannot be");
    assert_refused(FAMILY_BULK, "--trials", "18446744073709551617", "--trials cannot be");
    assert_refused(FAMILY_BULK, "--trials", "1.5", "--trials cannot be");
    assert_refused(FAMILY_REQUESTS, "--port", "65536", "--port cannot be '65536'");
    assert_refused(FAMILY_REQUESTS, "--port", "-1", "--port cannot be '-1'");
    assert_refused(FAMILY_REQUESTS, "--duration", "1d", "--duration cannot be '1d'");
    assert_refused(FAMILY_REQUESTS, "--timeout", "0", "--timeout cannot be '0'");
    assert_refused(FAMILY_UDP, "--size", "65508", "--size cannot be '65508'");
}

static void flags_take_on_and_off(void **state)
{
    static const struct {
        const char *word;
        uint64_t value;
    } rows[] = {{"--verify", 1},     {"--no-verify", 0},   {"--verify=on", 1},
                {"--verify=off", 0}, {"--verify=YES", 1},  {"--verify=no", 0},
                {"--verify=1", 1},   {"--verify=false", 0}};
    struct line l;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        parse(&l, FAMILY_BULK, rows[i].word, NULL);
        assert_int_equal(l.rc, 0);
        assert_int_equal(options_number(&l.values, OPTION_verify, 9), rows[i].value);
        line_done(&l);
    }
    assert_refused(FAMILY_BULK, "--verify=maybe", NULL, "--verify cannot be 'maybe'");
    assert_refused(FAMILY_BULK, "--no-verify=on", NULL, "no option --no-verify");
    assert_refused(FAMILY_BULK, "--no-size", "5", "no option --no-size");
}

static void choices_are_whole_words(void **state)
{
    struct line l;

    (void)state;
    parse(&l, FAMILY_BULK, "--direction", "up", "--method=zero-copy", NULL);
    assert_int_equal(l.rc, 0);
    assert_true(options_is(&l.values, OPTION_direction, "up"));
    assert_true(options_is(&l.values, OPTION_method, "zero-copy"));
    line_done(&l);
    assert_refused(FAMILY_BULK, "--direction", "u", "it takes both|up|down");
    assert_refused(FAMILY_BULK, "--direction", "upp", "it takes both|up|down");
    assert_refused(FAMILY_BULK, "--direction", "", "it takes both|up|down");
    assert_refused(FAMILY_BULK, "--direction", "both|up", "it takes both|up|down");
    assert_refused(FAMILY_BULK, "--direction", "UP", "it takes both|up|down");
}

static void repeated_texts_become_lines(void **state)
{
    struct line l;

    (void)state;
    parse(&l, FAMILY_HTTP, "-H", "A: 1", "--header=B:2", "--headers", "C=3", "-HD: 4",
          NULL);
    assert_int_equal(l.rc, 0);
    assert_string_equal(options_text(&l.values, OPTION_headers, ""),
                        "A: 1\nB:2\nC=3\nD: 4");
    line_done(&l);
    /* What is not repeatable is replaced. */
    parse(&l, FAMILY_HTTP, "-m", "PUT", "-m", "POST", NULL);
    assert_int_equal(l.rc, 0);
    assert_string_equal(options_text(&l.values, OPTION_method, ""), "POST");
    line_done(&l);
}

/* A line end within one would make two headers of it. */
static void a_repeated_text_is_one_line(void **state)
{
    struct line l;

    (void)state;
    parse(&l, FAMILY_HTTP, "-H", "A: b\nEvil: yes", NULL);
    assert_int_equal(l.rc, -EINVAL);
    assert_non_null(strstr(l.fail.sentence, "--headers has a line end in it: 'A: b...'"));
    assert_string_equal(options_text(&l.values, OPTION_headers, ""), "");
    line_done(&l);
}

/* What a person gives takes the place of the default's lines. */
static void typed_headers_replace_the_defaults(void **state)
{
    struct line l = {0};
    char one[] = "-H";
    char two[] = "B: 2";
    char *argv[] = {one, two};

    (void)state;
    options_set_text(&l.values, OPTION_headers, "A: 1");
    l.rc = arguments_parse(&l.a, 2, argv, FAMILY_SERVICE, flags, &l.values, &l.fail);
    assert_int_equal(l.rc, 0);
    assert_string_equal(options_text(&l.values, OPTION_headers, ""), "B: 2");
    line_done(&l);
}

static void values_that_differ_are_seen_to(void **state)
{
    char a[12], b[12];

    (void)state;
    param_contrast("one", "two", a, b, sizeof(a));
    assert_string_equal(a, "one");
    assert_string_equal(b, "two");
    param_contrast("0123456789", "01234567890", a, b, sizeof(a)); /* they just fit */
    assert_string_equal(a, "0123456789");
    assert_string_equal(b, "01234567890");
    param_contrast("0123456789abcdef", "0123456789abcdxf", a, b, sizeof(a));
    assert_string_equal(a, "...bcdef");
    assert_string_equal(b, "...bcdxf");
    param_contrast("0123456789abcdef", "x123456789abcdef", a, b, sizeof(a));
    assert_string_equal(a, "01234567...");
    assert_string_equal(b, "x1234567...");
    param_contrast("0123456789abcdefghijk", "0123456789xbcdefghijk", a, b, sizeof(a));
    assert_string_equal(a, "...789ab...");
}

/* The command line. */

static void options_are_spelled_in_every_way(void **state)
{
    static const char *const ways[][3] = {
        {"--connections", "7"}, {"--connections=7"}, {"-c", "7"}, {"-c7"}, {"-c=7"},
        {"--connections", " 7"}};
    struct line l;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(ways); i++) {
        parse(&l, FAMILY_HTTP, ways[i][0], ways[i][1], NULL);
        assert_int_equal(l.rc, 0);
        assert_int_equal(options_number(&l.values, OPTION_connections, 0), 7);
        assert_int_equal(l.a.operand_count, 0);
        line_done(&l);
    }
    parse(&l, FAMILY_STREAM, "--server_launch", "x y", "--client-launch=a=b", NULL);
    assert_int_equal(l.rc, 0);
    assert_string_equal(options_text(&l.values, OPTION_server_launch, ""), "x y");
    assert_string_equal(options_text(&l.values, OPTION_client_launch, ""), "a=b");
    line_done(&l);
}

/* As help writes them, on|off; a word that is neither is an operand. */
static void a_flag_takes_on_or_off(void **state)
{
    static const struct {
        const char *word;
        uint64_t value;
        size_t operands;
    } rows[] = {{"on", 1, 0}, {"off", 0, 0}, {"onward", 1, 1}, {NULL, 1, 0}};
    struct line l;

    (void)state;
    for (const struct param *p = param_table(); p->name; p++)
        for (size_t i = 0; p->type == PARAM_FLAG && i < NUMBER_OF(rows); i++) {
            char option[44] = "--";

            param_option(p, option + 2, sizeof(option) - 2);
            parse(&l, p->families, option, rows[i].word, NULL);
            assert_int_equal(l.rc, 0);
            assert_int_equal(options_number(&l.values, p->option, 2), rows[i].value);
            assert_int_equal(l.a.operand_count, rows[i].operands);
            line_done(&l);
        }
    parse(&l, FAMILY_HTTP, "--no-close", "on", "-v", "off", NULL);
    assert_int_equal(l.rc, 0);
    assert_int_equal(options_number(&l.values, OPTION_close, 2), 0);
    assert_int_equal(l.a.operand_count, 2);
    line_done(&l);
}

static void operands_and_flags_are_told_apart(void **state)
{
    struct line l;

    (void)state;
    parse(&l, FAMILY_HTTP, "one", "-j", "out", "-", "--threshold", "a<1", "--threshold",
          "b<2", "-v", "--", "--connections", "-c", NULL);
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.a.operand_count, 4);
    assert_string_equal(l.a.operands[0], "one");
    assert_string_equal(l.a.operands[1], "-");
    assert_string_equal(l.a.operands[2], "--connections");
    assert_string_equal(l.a.operands[3], "-c");
    assert_string_equal(arguments_flag(&l.a, "json"), "out");
    assert_string_equal(arguments_flag(&l.a, "threshold"), "a<1\nb<2");
    assert_string_equal(arguments_flag(&l.a, "verbose"), "");
    assert_null(arguments_flag(&l.a, "quick"));
    assert_int_equal(l.values.count, 0);
    line_done(&l);
}

static void what_cannot_be_is_refused(void **state)
{
    char *words[OPERANDS_MAX + 1];
    char word[] = "word";
    struct line l;

    (void)state;
    assert_refused(FAMILY_BULK, "--size", NULL, "--size needs a value");
    assert_refused(FAMILY_BULK, "-w", NULL, "-w needs a value");
    assert_refused(FAMILY_BULK, "--json", NULL, "--json needs a value");
    assert_refused(FAMILY_BULK, "--quick=1", NULL, "--quick takes no value");
    assert_refused(FAMILY_BULK, "-Z", NULL, "no option -Z");
    assert_refused(FAMILY_BULK, "-c", "5", "no option -c");
    assert_refused(FAMILY_BULK, "---", NULL, "no option ---");
    assert_refused(FAMILY_BULK, "--=", NULL, "no option --");
    assert_refused(FAMILY_BULK, "--s", "5", "no option --s");
    for (size_t i = 0; i <= OPERANDS_MAX; i++)
        words[i] = word;
    memset(&l, 0, sizeof(l));
    l.rc = arguments_parse(&l.a, OPERANDS_MAX, words, 0, flags, &l.values, &l.fail);
    assert_int_equal(l.rc, 0);
    line_done(&l);
    memset(&l, 0, sizeof(l));
    l.rc = arguments_parse(&l.a, OPERANDS_MAX + 1, words, 0, flags, &l.values, &l.fail);
    assert_int_equal(l.rc, -EINVAL);
    assert_non_null(strstr(l.fail.sentence, "too many words: 'word'"));
    line_done(&l);
}

static void the_nearest_option_is_named(void **state)
{
    (void)state;
    assert_refused(FAMILY_BULK, "--sise", "5", "did you mean --size?");
    assert_refused(FAMILY_BULK, "--trails", "5", "did you mean --trials?");
    assert_refused(FAMILY_BULK, "--server-lanch", "5", "did you mean --server-launch?");
    assert_refused(FAMILY_BULK, "--jsn", "5", "did you mean --json?");
    assert_refused(FAMILY_BULK, "--sise=5", NULL, "did you mean --size?");
    assert_refused(FAMILY_BULK, "--xylophone", "5", "see --help");
}

static void long_words_do_no_harm(void **state)
{
    char option[3000];
    struct line l;

    (void)state;
    memset(option, 'x', sizeof(option) - 1);
    option[sizeof(option) - 1] = '\0';
    memcpy(option, "--", 2);
    assert_refused(FAMILY_BULK, option, NULL, "no option --xxx");
    assert_refused(FAMILY_BULK, "--size", option + 2, "--size cannot be 'xxx");
    parse(&l, FAMILY_HTTP, "--body", option, NULL);
    assert_int_equal(l.rc, 0);
    assert_string_equal(options_text(&l.values, OPTION_body, ""), option);
    line_done(&l);
}

static void the_nearest_word_is_near(void **state)
{
    static const char *const words[] = {"tcp-bulk", "unix-bulk", "pipe-bulk", "list"};

    (void)state;
    assert_string_equal(nearest_word("tcp-bulk", words, 4), "tcp-bulk");
    assert_string_equal(nearest_word("tcp-blk", words, 4), "tcp-bulk");
    assert_string_equal(nearest_word("pip-bulk", words, 4), "pipe-bulk");
    assert_string_equal(nearest_word("lst", words, 4), "list");
    assert_null(nearest_word("http", words, 4));
    assert_null(nearest_word("", words, 4));
    assert_null(nearest_word("x", words, 4));
    assert_null(nearest_word("something-else", words, 4));
    assert_null(nearest_word("tcp-bulk", words, 0));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_sound),
        cmocka_unit_test(names_and_letters_are_unique_in_a_family),
        cmocka_unit_test(a_parameter_is_found_in_its_families_only),
        cmocka_unit_test(numbers_are_kept_in_their_range),
        cmocka_unit_test(flags_take_on_and_off),
        cmocka_unit_test(choices_are_whole_words),
        cmocka_unit_test(repeated_texts_become_lines),
        cmocka_unit_test(a_repeated_text_is_one_line),
        cmocka_unit_test(typed_headers_replace_the_defaults),
        cmocka_unit_test(values_that_differ_are_seen_to),
        cmocka_unit_test(options_are_spelled_in_every_way),
        cmocka_unit_test(a_flag_takes_on_or_off),
        cmocka_unit_test(operands_and_flags_are_told_apart),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(the_nearest_option_is_named),
        cmocka_unit_test(long_words_do_no_harm),
        cmocka_unit_test(the_nearest_word_is_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
