/* Numbers with units: what is read, what is refused, and how they are written. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/units.h"
#include "protocols/array.h"

static void assert_reads(enum unit_kind kind, const char *text, uint64_t wanted)
{
    uint64_t value = 0xdead;
    int rc = units_parse(kind, text, &value);

    if (rc != 0 || value != wanted)
        print_error("'%s': %d, %llu\n", text, rc, (unsigned long long)value);
    assert_int_equal(rc, 0);
    assert_true(value == wanted);
}

static void assert_refuses(enum unit_kind kind, const char *text, int wanted)
{
    uint64_t value = 0xdead;
    int rc = units_parse(kind, text, &value);

    if (rc != wanted || value != 0xdead)
        print_error("'%s': %d, %llu\n", text, rc, (unsigned long long)value);
    assert_int_equal(rc, wanted);
    assert_int_equal(value, 0xdead);
}

static void counts_are_read(void **state)
{
    (void)state;
    assert_reads(UNIT_COUNT, "0", 0);
    assert_reads(UNIT_COUNT, "250", 250);
    assert_reads(UNIT_COUNT, "10k", 10000);
    assert_reads(UNIT_COUNT, "10K", 10000);
    assert_reads(UNIT_COUNT, "1m", 1000000);
    assert_reads(UNIT_COUNT, "2g", 2000000000);
    assert_reads(UNIT_COUNT, "1.5k", 1500);
    assert_reads(UNIT_COUNT, ".5k", 500);
    assert_reads(UNIT_COUNT, " 7 ", 7);
    assert_reads(UNIT_COUNT, "18446744073709551615", UINT64_MAX);
}

static void sizes_are_read(void **state)
{
    (void)state;
    assert_reads(UNIT_SIZE, "4096", 4096);
    assert_reads(UNIT_SIZE, "4096B", 4096);
    assert_reads(UNIT_SIZE, "10kB", 10000);
    assert_reads(UNIT_SIZE, "10MB", 10000000);
    assert_reads(UNIT_SIZE, "64KiB", 65536);
    assert_reads(UNIT_SIZE, "64kib", 65536);
    assert_reads(UNIT_SIZE, "1GiB", 1ull << 30);
    assert_reads(UNIT_SIZE, "1 GiB", 1ull << 30);
    assert_reads(UNIT_SIZE, "1M", 1000000);
    assert_reads(UNIT_SIZE, "1Mi", 1048576);
    assert_reads(UNIT_SIZE, "0.5KiB", 512);
    assert_reads(UNIT_SIZE, "2TiB", 2ull << 40);
}

static void durations_are_read(void **state)
{
    (void)state;
    assert_reads(UNIT_DURATION, "10", 10000000000);
    assert_reads(UNIT_DURATION, "500ms", 500000000);
    assert_reads(UNIT_DURATION, "10s", 10000000000);
    assert_reads(UNIT_DURATION, "1.5s", 1500000000);
    assert_reads(UNIT_DURATION, "2m", 120000000000);
    assert_reads(UNIT_DURATION, "1h", 3600000000000);
    assert_reads(UNIT_DURATION, "3us", 3000);
    assert_reads(UNIT_DURATION, "7ns", 7);
}

static void what_is_no_number_is_refused(void **state)
{
    static const char *const texts[] = {
        "",     " ",   "-1",  "+1",  "x",     "k",   ".",  "1x",   "1kk", "1e3",
        "0x10", "1,5", "nan", "inf", "1.2.3", "1 2", "--", "1k B", "٣"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(texts); i++)
        for (int kind = UNIT_COUNT; kind <= UNIT_DURATION; kind++)
            assert_refuses((enum unit_kind)kind, texts[i], -EINVAL);
    assert_refuses(UNIT_COUNT, "1GiB", -EINVAL);
    assert_refuses(UNIT_COUNT, "1s", -EINVAL);
    assert_refuses(UNIT_SIZE, "1s", -EINVAL);
    assert_refuses(UNIT_DURATION, "1kB", -EINVAL);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    assert_refuses(UNIT_COUNT, "18446744073709551616", -ERANGE);
    assert_refuses(UNIT_COUNT, "99999999999999999999g", -ERANGE);
    assert_refuses(UNIT_COUNT, "999999999999999999999999999999999999999", -ERANGE);
    assert_refuses(UNIT_SIZE, "16777216TiB", -ERANGE);
    assert_reads(UNIT_SIZE, "16777215TiB", 16777215ull << 40);
    assert_refuses(UNIT_DURATION, "9999999999999h", -ERANGE);
    assert_refuses(UNIT_COUNT, "1.5", -ERANGE); /* half a request */
    assert_refuses(UNIT_DURATION, "0.1ns", -ERANGE);
    assert_refuses(UNIT_SIZE, "1.0001kB", -ERANGE); /* 1000.1 bytes */
}

static void what_is_written_exactly_reads_back(void **state)
{
    static const uint64_t values[] = {0,
                                      1,
                                      7,
                                      999,
                                      1000,
                                      1024,
                                      1500,
                                      65536,
                                      1000000,
                                      1048576,
                                      1073741824,
                                      1500000000,
                                      3600000000000,
                                      120000000000,
                                      86400000000000,
                                      4095,
                                      123456789,
                                      UINT64_MAX,
                                      1ull << 40,
                                      1ull << 50};

    (void)state;
    for (int kind = UNIT_COUNT; kind <= UNIT_DURATION; kind++)
        for (size_t i = 0; i < NUMBER_OF(values); i++) {
            char text[40];

            units_format_exact((enum unit_kind)kind, values[i], text, sizeof(text));
            assert_reads((enum unit_kind)kind, text, values[i]);
        }
}

static void the_largest_exact_unit_is_written(void **state)
{
    char text[40];

    (void)state;
    units_format_exact(UNIT_SIZE, 1073741824, text, sizeof(text));
    assert_string_equal(text, "1GiB");
    units_format_exact(UNIT_SIZE, 65537, text, sizeof(text));
    assert_string_equal(text, "65537");
    units_format_exact(UNIT_DURATION, 1500000000, text, sizeof(text));
    assert_string_equal(text, "1500ms");
    units_format_exact(UNIT_DURATION, 0, text, sizeof(text));
    assert_string_equal(text, "0");
    /* Counts are written in full: "100000" is what people compare and copy. */
    units_format_exact(UNIT_COUNT, 100000, text, sizeof(text));
    assert_string_equal(text, "100000");
}

static void people_get_three_digits(void **state)
{
    static const struct {
        double value;
        const char *bytes, *count, *duration;
    } rows[] = {
        {0, "0 B", "0", "0 ns"},
        {7, "7 B", "7", "7 ns"},
        {999, "999 B", "999", "999 ns"},
        {999.4, "999 B", "999", "999 ns"},
        {999.6, "1.00 kB", "1.00k", "1.00 us"},
        {1000, "1.00 kB", "1000", "1.00 us"},
        {12345, "12.3 kB", "12.3k", "12.3 us"},
        {999499, "999 kB", "999k", "999 us"},
        {999500, "1.00 MB", "1.00M", "1.00 ms"},
        {3.21e9, "3.21 GB", "3.21G", "3.21 s"},
        {9.995e3, "10.0 kB", "9995", "10.0 us"},
        {1.5, "1.50 B", "1.50", "1.50 ns"},
        {5e15, "5000 TB", "5000T", "5000000 s"},
        {0.4, "0.40 B", "0.40", "0.40 ns"},
        {0.005, "0.01 B", "0.01", "0.01 ns"},
        {0.0049, "< 0.01 B", "< 0.01", "< 0.01 ns"},
        {1e-300, "< 0.01 B", "< 0.01", "< 0.01 ns"},
        {-0.001, "> -0.01 B", "> -0.01", "> -0.01 ns"},
        {-12345, "-12.3 kB", "-12.3k", "-12.3 us"},
    };
    char text[40];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        units_format_bytes(rows[i].value, text, sizeof(text));
        assert_string_equal(text, rows[i].bytes);
        units_format_count(rows[i].value, text, sizeof(text));
        assert_string_equal(text, rows[i].count);
        units_format_duration(rows[i].value, text, sizeof(text));
        assert_string_equal(text, rows[i].duration);
    }
}

static void rates_are_whole_from_ten_on(void **state)
{
    static const struct {
        double rate;
        const char *text;
    } rows[] = {{0, "0"},     {1.0 / 3000, "< 0.01"}, {1.0 / 3, "0.33"}, {9.94, "9.94"},
                {10.4, "10"}, {4321.4, "4321"},       {12345.6, "12.3k"}};
    char text[40];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        units_format_rate(rows[i].rate, text, sizeof(text));
        assert_string_equal(text, rows[i].text);
    }
}

static void sizes_of_messages_are_in_powers_of_two(void **state)
{
    static const struct {
        double bytes;
        const char *text;
    } rows[] = {{1, "1 B"},         {999.6, "1000 B"},     {1023, "1023 B"},
                {1023.7, "1 KiB"},  {1024, "1 KiB"},       {1536, "1.5 KiB"},
                {6543, "6.39 KiB"}, {1024000, "1000 KiB"}, {1048000, "1023 KiB"},
                {1048576, "1 MiB"}, {3e9, "2861 MiB"}};
    char text[40];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        units_format_binary(rows[i].bytes, text, sizeof(text));
        assert_string_equal(text, rows[i].text);
    }
}

static void what_is_not_known_is_a_dash(void **state)
{
    char text[40];

    (void)state;
    units_format_binary((double)NAN, text, sizeof(text));
    assert_string_equal(text, "-");
    units_format_bytes((double)NAN, text, sizeof(text));
    assert_string_equal(text, "-");
    units_format_count((double)NAN, text, sizeof(text));
    assert_string_equal(text, "-");
    units_format_duration((double)NAN, text, sizeof(text));
    assert_string_equal(text, "-");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_read),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_is_written_exactly_reads_back),
        cmocka_unit_test(the_largest_exact_unit_is_written),
        cmocka_unit_test(people_get_three_digits),
        cmocka_unit_test(rates_are_whole_from_ten_on),
        cmocka_unit_test(sizes_of_messages_are_in_powers_of_two),
        cmocka_unit_test(what_is_not_known_is_a_dash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
