/* Charts of the HTML files: round ticks, gaps, scales, and nothing drawn of nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/report/plot.h"
#include "engine/report/run_plots.h"

static void number_text(double value, char *text, size_t size)
{
    snprintf(text, size, "%g", value);
}

static void assert_ticks(double low, double high, bool is_log, size_t count,
                         const double *wanted)
{
    double ticks[16];

    assert_int_equal(plot_ticks(low, high, is_log, ticks, 8), count);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(ticks[i] - wanted[i]) <= 1e-9 * fabs(wanted[i]));
}

static void ticks_are_round(void **state)
{
    (void)state;
    assert_ticks(0, 10, false, 6, (double[]){0, 2, 4, 6, 8, 10});
    assert_ticks(0, 0.7, false, 8, (double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7});
    assert_ticks(0, 123456, false, 7,
                 (double[]){0, 20000, 40000, 60000, 80000, 100000, 120000});
    assert_ticks(1, 1000, true, 4, (double[]){1, 10, 100, 1000});
    assert_ticks(3, 60, true, 4, (double[]){5, 10, 20, 50});
    assert_ticks(1, 1, false, 0, NULL);
    assert_ticks(0, 5, true, 0, NULL);
    assert_ticks((double)NAN, 5, false, 0, NULL);
}

/* Whatever the range, they are within it, ascend and are few. */
static void ticks_are_in_range(void **state)
{
    (void)state;
    for (double high = 1e-9; high < 1e15; high *= 1.7)
        for (int is_log = 0; is_log < 2; is_log++) {
            double ticks[16];
            double low = is_log ? high / 1234 : 0;
            size_t n = plot_ticks(low, high, is_log, ticks, 8);

            assert_true(n >= 2 && n <= 8);
            for (size_t i = 0; i < n; i++) {
                assert_true(ticks[i] >= low * 0.999 && ticks[i] <= high * 1.001);
                assert_true(i == 0 || ticks[i] > ticks[i - 1]);
            }
        }
}

static char *svg_of(struct plot *p, bool wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    p->x_text = p->y_text = number_text;
    assert_int_equal(plot_figure(f, p), wanted);
    fclose(f);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void gaps_break_a_line(void **state)
{
    static const double x[] = {0, 1, 2, 3, 4, 5, 6};
    const double y[] = {1, 2, (double)NAN, 4, (double)NAN, 6, 7};
    struct plot p = {.title = "a <b>", .note = "", .x_max = (double)NAN, .line_count = 1};
    char *text, *path;

    (void)state;
    p.lines[0] = (struct plot_line){"l&m", 7, x, y, NULL, NULL};
    text = svg_of(&p, true);
    path = strstr(text, "class=\"line s0\" d=\"M");
    path = strstr(path + 1, "class=\"line s0\" d=\"M"); /* after the legend's */
    assert_non_null(path);
    *strstr(path + 20, "\"") = '\0';
    assert_int_equal(count(path + 19, "M"), 3);
    assert_int_equal(count(path + 19, "L"), 2);
    assert_int_equal(count(path + 19, "h0"), 1); /* the value on its own is a dot */
    assert_non_null(strstr(text, "a &lt;b&gt;"));
    free(text);
}

static void nothing_is_drawn_of_nothing(void **state)
{
    static const double x[] = {1, 2, 3};
    const double none[] = {(double)NAN, 5, (double)NAN};
    const double zero[] = {0, 0, 0};
    struct plot p = {.title = "t", .note = "", .x_max = (double)NAN, .line_count = 1};
    char *text;

    (void)state;
    p.lines[0] = (struct plot_line){"l", 3, x, none, NULL, NULL};
    text = svg_of(&p, false);
    assert_string_equal(text, "");
    free(text);
    /* Zeros are values, but have no place on a log scale. */
    p.lines[0].y = zero;
    text = svg_of(&p, true);
    assert_null(strstr(text, "nan"));
    free(text);
    p.log_y = true;
    free(svg_of(&p, false));
}

static void a_spectrum_ends_with_its_maximum(void **state)
{
    double x[SPECTRUM_POINTS], y[SPECTRUM_POINTS];
    struct hist *h = hist_new();
    size_t n;

    (void)state;
    assert_int_equal(spectrum_of(h, x, y), 0);
    for (uint64_t i = 1; i <= 1000; i++)
        hist_record(h, i);
    n = spectrum_of(h, x, y);
    assert_true(n > 20);
    assert_true(x[0] == 1 && y[0] == 1);
    assert_true(x[n - 1] == 1000 && y[n - 1] == 1000);
    for (size_t i = 1; i < n; i++)
        assert_true(x[i] > x[i - 1] && y[i] >= y[i - 1]);
    hist_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(ticks_are_in_range),
        cmocka_unit_test(gaps_break_a_line),
        cmocka_unit_test(nothing_is_drawn_of_nothing),
        cmocka_unit_test(a_spectrum_ends_with_its_maximum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
