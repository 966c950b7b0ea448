/* Text by columns: decoding, widths, clipping, and bytes that nobody should trust. */
#include "tui/text.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "tests/frame.h"
#include "tui/canvas.h"
#include "tui/figure.h"
#include "tui/metric_label.h"

static void decodes_every_length(void **state)
{
    static const struct {
        const char *bytes;
        uint32_t code;
    } rows[] = {
        {"A", 'A'},
        {"\xc2\xb5", 0xb5},
        {"\xe2\xa0\x81", 0x2801},
        {"\xf0\x9f\x9a\xa2", 0x1f6a2},
    };
    uint32_t code;
    char out[TEXT_ENCODED_MAX];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        size_t len = strlen(rows[i].bytes);

        assert_int_equal(text_decode(rows[i].bytes, len, &code), len);
        assert_int_equal(code, rows[i].code);
        assert_int_equal(text_encode(code, out), len);
        assert_string_equal(out, rows[i].bytes);
    }
}

static void refuses_what_is_not_utf8(void **state)
{
    static const char *const rows[] = {
        "\x80",             /* a continuation byte alone */
        "\xc0\xaf",         /* '/' in an overlong form */
        "\xe0\x80\xaf",     /* the same in three bytes */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf4\x90\x80\x80", /* above the last code point */
        "\xe2\xa0",         /* cut short */
        "\xff",
    };
    uint32_t code;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        assert_int_equal(text_decode(rows[i], strlen(rows[i]), &code), 1);
        assert_int_equal(code, TEXT_REPLACEMENT);
    }
    assert_int_equal(text_decode("", 0, &code), 0);
}

static void never_reads_past_the_end(void **state)
{
    (void)state;
    for (int lead = 0; lead < 256; lead++) {
        char *exact = malloc(1); /* address sanitizer sees a byte more */
        uint32_t code;

        *exact = (char)lead;
        assert_int_equal(text_decode(exact, 1, &code), 1);
        free(exact);
    }
}

static void counts_columns(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("250 \xc2\xb5s"), 6);
    assert_int_equal(text_columns("\xe6\xb5\xb7"), 2); /* an ideograph */
    assert_int_equal(text_columns("e\xcc\x81"), 1);    /* e with an accent added */
    assert_int_equal(text_columns("\x1b[31mred"), 8);  /* the escape is one mark */
    assert_int_equal(text_columns("a\xe2\x80\xae"
                                  "b"),
                     2); /* a direction override */
}

/* What a canvas of 40 columns shows of a text in at most `columns` of them. */
static int draws(const char *text, int columns, const char *expected)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 40, 1);
    int drawn = canvas_text(c, 0, 0, columns, style(PAINT_TEXT), text);

    frame_expect(c, expected);
    frame_free(c);
    return drawn;
}

/* No byte below a blank comes through. */
static void drops_and_replaces_controls(void **state)
{
    (void)state;
    assert_int_equal(draws("a\x1b]0;x\x07"
                           "b\n\t\xff",
                           40,
                           "a\xef\xbf\xbd]0;x\xef\xbf\xbd"
                           "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n"),
                     11);
}

static void clips_by_columns(void **state)
{
    (void)state;
    assert_int_equal(draws("throughput", 10, "throughput\n"), 10);
    assert_int_equal(draws("throughput", 6, "throu\xe2\x80\xa6\n"), 6);
    /* The second ideograph would need columns 3 and 4, and the ellipsis one more. */
    assert_int_equal(
        draws("\xe6\xb5\xb7\xe6\xb5\xb7\xe6\xb5\xb7", 4, "\xe6\xb5\xb7\xe2\x80\xa6\n"),
        3);
    assert_int_equal(draws("throughput", 0, "\n"), 0);
}

static void figures_have_the_micro_sign(void **state)
{
    static const char *const rows[][2] = {
        {"812 us", "812 \xc2\xb5s"},
        {"late by 1.50 us (p50), 20 us", "late by 1.50 \xc2\xb5s (p50), 20 \xc2\xb5s"},
        {"2 used, 3 us2", "2 used, 3 us2"},
        {"it is us, not 7 users", "it is us, not 7 users"},
        {" us", " us"},
        {"", ""},
    };
    char out[64];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        figure_sentence(rows[i][0], out, sizeof(out));
        assert_string_equal(out, rows[i][1]);
    }
    figure_duration(250e3, out, sizeof(out));
    assert_string_equal(out, "250 \xc2\xb5s");
    figure_duration(250e6, out, sizeof(out));
    assert_string_equal(out, "250 ms");
    figure_metric(METRIC_latency_p50_ns, 1500, out, sizeof(out));
    assert_string_equal(out, "1.50 \xc2\xb5s");
    /* Never half a character, however small the room. */
    for (size_t size = 1; size < 10; size++) {
        figure_sentence("812 us", out, size);
        assert_true(strlen(out) < size);
        assert_true(out[0] == '\0' || (unsigned char)out[strlen(out) - 1] != 0xc2);
    }
}

static void metrics_have_names_for_people(void **state)
{
    static const struct {
        enum metric metric;
        const char *label;
    } rows[] = {
        {METRIC_latency_p99_9_ns, "latency p99.9"},
        {METRIC_requests_per_second, "requests/s"},
        {METRIC_loss_percent, "loss %"},
        {METRIC_client_cpu_percent, "client CPU %"},
        {METRIC_server_cpu_us_per_message, "server CPU/message"},
    };
    char label[64];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        metric_label(rows[i].metric, label, sizeof(label));
        assert_string_equal(label, rows[i].label);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_have_the_micro_sign),
        cmocka_unit_test(metrics_have_names_for_people),
        cmocka_unit_test(decodes_every_length),
        cmocka_unit_test(refuses_what_is_not_utf8),
        cmocka_unit_test(never_reads_past_the_end),
        cmocka_unit_test(counts_columns),
        cmocka_unit_test(drops_and_replaces_controls),
        cmocka_unit_test(clips_by_columns),
    };

    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
