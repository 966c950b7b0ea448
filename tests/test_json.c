/* JSON as it is read: whole numbers to the last digit, however long. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/json.h"
#include "engine/sample.h"
#include "protocols/array.h"

static cJSON *parse(const char *text)
{
    return json_parse(text, strlen(text));
}

static void numbers_keep_every_digit(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {
        {"0", 0},
        {"999999999999999", 999999999999999},
        {"1e3", 1000},
        {"9007199254740991", 9007199254740991},
        {"9007199254740993", 9007199254740993},
        {"9223372036854775809", 9223372036854775809u},
        {"18446744073709551615", UINT64_MAX},
        {"18446744073709551616", 7}, /* these have no value */
        {"99999999999999999999", 7},
        {"-1", 7},
        {"-9007199254740993", 7},
        {"\"9007199254740993\"", 7},
        {"null", 7},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        char text[128];
        cJSON *o;

        snprintf(text, sizeof(text), "{\"a\":[1,-2.5e3,\"-7\"],\"\\\"8\":9,\"n\": %s }",
                 rows[i].text);
        o = parse(text);
        assert_non_null(o);
        if (json_u64(o, "n", 7) != rows[i].value)
            fail_msg("%s became %" PRIu64, text, json_u64(o, "n", 7));
        assert_int_equal(json_u64(o, "\"8", 0), 9);
        cJSON_Delete(o);
    }
}

static void digits_go_with_their_own_number(void **state)
{
    cJSON *o = parse("{\"x\":[9007199254740993,\"9007199254740995\",1.5,"
                     "{\"y\":9007199254740997}],\"z\":18446744073709551615,\"t\":\"1\"}");
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(o, "x");
    uint64_t value = 0;

    (void)state;
    assert_true(json_is_u64(cJSON_GetArrayItem(x, 0), &value));
    assert_int_equal(value, 9007199254740993);
    assert_false(json_is_u64(cJSON_GetArrayItem(x, 1), &value));
    assert_string_equal(cJSON_GetArrayItem(x, 1)->valuestring, "9007199254740995");
    assert_int_equal(json_u64(cJSON_GetArrayItem(x, 3), "y", 0), 9007199254740997);
    assert_int_equal(json_u64(o, "z", 0), UINT64_MAX);
    assert_true(json_number(o, "z", 0) == 0x1p64);
    assert_string_equal(json_text(o, "t", ""), "1");
    cJSON_Delete(o);
}

static void what_is_no_json_is_none(void **state)
{
    static const char *const texts[] = {
        "", "{", "{\"a\":12345678901234567", "{} x", "{}{}", "\"", "12345678901234567x",
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(texts); i++) {
        size_t len = strlen(texts[i]);
        char *exact = malloc(len + 1); /* an over-read is seen */

        assert_non_null(exact);
        memcpy(exact, texts[i], len);
        assert_null(json_parse(exact, len));
        free(exact);
    }
}

/* What a worker says to the engine, and a recording to its reader. */
static void large_counters_come_back(void **state)
{
    struct sample s, back;
    cJSON *o = cJSON_CreateObject();
    cJSON *read;
    char *text;

    (void)state;
    assert_int_equal(sample_init(&s) | sample_init(&back), 0);
    s.at_ns = 9007199254740993;
    s.span_ns = 1;
    s.meter->counters.received_bytes = UINT64_MAX - 1;
    s.meter->gauges.backlog = 9007199254740995;
    s.use.voluntary_switches = 9007199254740997;
    tally_add(&s.meter->labels, "a", 9007199254740999);
    assert_int_equal(sample_encode(&s, true, o), 0);
    text = cJSON_PrintUnformatted(o);
    read = parse(text);
    assert_int_equal(sample_decode(&back, read), 0);
    assert_int_equal(back.at_ns, s.at_ns);
    assert_int_equal(back.meter->counters.received_bytes, UINT64_MAX - 1);
    assert_int_equal(back.meter->gauges.backlog, 9007199254740995);
    assert_int_equal(back.use.voluntary_switches, 9007199254740997);
    assert_int_equal(back.meter->labels.rows[0].count, 9007199254740999);
    cJSON_free(text);
    cJSON_Delete(o);
    cJSON_Delete(read);
    sample_done(&s);
    sample_done(&back);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_every_digit),
        cmocka_unit_test(digits_go_with_their_own_number),
        cmocka_unit_test(what_is_no_json_is_none),
        cmocka_unit_test(large_counters_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
