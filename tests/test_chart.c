/* Scales and charts, compared as text. */
#include "tui/bars.h"
#include "tui/chart.h"
#include "tui/heat.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "tests/frame.h"

static void linear_ticks_are_round(void **state)
{
    static const struct {
        double high;
        size_t most, ticks;
        double top, second;
    } rows[] = {
        {7.3, 5, 5, 8, 2},        {10, 3, 3, 10, 5},
        {1, 2, 2, 1, 1},          {123456, 4, 4, 150000, 50000},
        {0.03, 4, 4, 0.03, 0.01}, {0, 3, 3, 1, 0.5},
        {UNKNOWN, 3, 3, 1, 0.5},  {5.01e9, 6, 4, 6e9, 2e9},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct scale s = scale_linear(rows[i].high, rows[i].most);

        assert_int_equal(s.ticks, rows[i].ticks);
        assert_true(fabs(s.high - rows[i].top) < rows[i].top * 1e-9);
        assert_true(fabs(s.tick[1] - rows[i].second) < rows[i].second * 1e-9);
    }
}

static void scales_hold_their_values(void **state)
{
    (void)state;
    for (double high = 1e-6; high < 1e15; high *= 1.37)
        for (size_t ticks = 2; ticks <= SCALE_TICKS; ticks++) {
            struct scale s = scale_linear(high, ticks);
            struct scale l = scale_log(high, high * 7, ticks);

            assert_true(s.high >= high && s.high < high * 10 && s.ticks >= 2);
            assert_true(s.ticks <= ticks);
            assert_true(l.low <= high && l.high >= high * 7 && l.ticks >= 1);
            assert_true(scale_place(&l, high) >= -1e-9 &&
                        scale_place(&l, high * 7) <= 1 + 1e-9);
        }
}

static void log_ticks_are_decades_or_finer(void **state)
{
    struct scale s = scale_log(3e3, 4e6, 6);

    (void)state;
    assert_true(s.low == 2e3 && s.high == 5e6);
    assert_int_equal(s.ticks, 3);
    assert_true(fabs(s.tick[0] - 1e4) < 1e-3 && fabs(s.tick[2] - 1e6) < 1e-3);
    s = scale_log(100, 1000, 5);
    assert_int_equal(s.ticks, 4); /* 100 200 500 1000 */
    s = scale_log(0, -1, 5);
    assert_true(s.low > 0 && s.high >= s.low * 10);
    assert_true(scale_place(&s, 0) < 0);
}

static void labels_have_three_digits_and_a_unit(void **state)
{
    static const struct {
        enum quantity q;
        double value;
        const char *label;
    } rows[] = {
        {QUANTITY_COUNT, 0, "0"},         {QUANTITY_COUNT, 12345, "12.3k"},
        {QUANTITY_COUNT, 999.7, "1k"},    {QUANTITY_COUNT, 1e6, "1M"},
        {QUANTITY_COUNT, 0.25, "0.25"},   {QUANTITY_BYTES, 1.5e9, "1.5 GB"},
        {QUANTITY_BYTES, 512, "512 B"},   {QUANTITY_DURATION, 250e3, "250 µs"},
        {QUANTITY_DURATION, 1e9, "1 s"},  {QUANTITY_DURATION, 18.24e6, "18.2 ms"},
        {QUANTITY_DURATION, 7, "7 ns"},   {QUANTITY_PERCENT, 3.9, "3.9 %"},
        {QUANTITY_PERCENT, 100, "100 %"}, {QUANTITY_SECONDS, 2.5, "2.5 s"},
        {QUANTITY_SECONDS, 100, "1:40"},  {QUANTITY_SECONDS, 3700, "1:01:40"},
        {QUANTITY_COUNT, UNKNOWN, "-"},   {QUANTITY_BYTES, (double)INFINITY, "-"},
    };
    char label[SCALE_LABEL];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        scale_label(rows[i].q, rows[i].value, label);
        assert_string_equal(label, rows[i].label);
    }
}

/* A chart of one line over 0..n steps of one second. */
static struct chart chart_of(struct chart_line *l, const double *values, size_t count)
{
    *l = (struct chart_line){"up",     values,      count,
                             PAINT_UP, REDUCE_MEAN, values[count - 1]};
    return (struct chart){
        .title = "throughput",
        .form = CHART_AREA,
        .quantity = QUANTITY_BYTES,
        .per = "/s",
        .step_s = 1,
        .to_s = (double)count,
        .lines = l,
        .line_count = 1,
    };
}

static void an_area_has_axes_and_legend(void **state)
{
    const double values[] = {1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6};
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 40, 9);
    struct chart_line line;
    struct chart chart = chart_of(&line, values, 8);

    (void)state;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "╭─ throughput ─────────── ● up 8 MB/s ─╮\n"
                    "│  10 MB┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│\n"
                    "│       │                        ⣀⣠⣤⣶⣶⣶│\n"
                    "│   5 MB┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⢀⣀⣤⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿│\n"
                    "│       │           ⢀⣀⣤⣴⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿│\n"
                    "│       │     ⣀⣠⣤⣴⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿│\n"
                    "│    0 B┤⣤⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿│\n"
                    "│ per s  0 s              5 s          │\n"
                    "╰──────────────────────────────────────╯\n");
    frame_free(c);
}

static void an_area_in_blocks_and_in_ascii(void **state)
{
    const double values[] = {1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6};
    struct canvas *c = frame_canvas(GLYPHS_BLOCK, 40, 9);
    struct chart_line line;
    struct chart chart = chart_of(&line, values, 8);

    (void)state;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "┌─ throughput ─────────── ■ up 8 MB/s ─┐\n"
                    "│  10 MB┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│\n"
                    "│       │                        ▗▄▄▄██│\n"
                    "│   5 MB┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈▗▄▄▟████████│\n"
                    "│       │            ▄▄▄▟██████████████│\n"
                    "│       │      ▄▄▄█████████████████████│\n"
                    "│    0 B┤▄▄▄███████████████████████████│\n"
                    "│ per s  0 s              5 s          │\n"
                    "└──────────────────────────────────────┘\n");
    frame_free(c);
    c = frame_canvas(GLYPHS_ASCII, 40, 9);
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "+- throughput ----------- * up 8 MB/s -+\n"
                    "|  10 MB+                              |\n"
                    "|       |                         ...::|\n"
                    "|   5 MB+                  ....::::::::|\n"
                    "|       |            ...:::::::::::::::|\n"
                    "|       |      ...:::::::::::::::::::::|\n"
                    "|    0 B+...:::::::::::::::::::::::::::|\n"
                    "| per s  0 s              5 s          |\n"
                    "+--------------------------------------+\n");
    frame_free(c);
}

static void a_gap_stays_empty(void **state)
{
    const double values[] = {5, 5, UNKNOWN, UNKNOWN, 5, 0, 0, 5};
    struct canvas *c = frame_canvas(GLYPHS_ASCII, 8, 3);
    struct chart_line line;
    struct chart chart = chart_of(&line, values, 8);

    (void)state;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "::  :  :\n"
                    "::  :  :\n"
                    "::  :__:\n"); /* what is known to be zero is no gap */
    frame_free(c);
}

static void a_mirror_has_both_directions(void **state)
{
    double up[16], down[16];
    struct chart_line lines[2];
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 44, 11);
    struct chart chart;

    (void)state;
    for (int i = 0; i < 16; i++) {
        up[i] = 4e9 + 3e9 * sin(i / 2.5);
        down[i] = 1e9 + 2e8 * i;
    }
    chart = chart_of(lines, up, 16);
    lines[1] = (struct chart_line){"down", down, 16, PAINT_DOWN, REDUCE_MEAN, 4e9};
    chart.form = CHART_MIRROR;
    chart.line_count = 2;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "╭─ throughput ────── ● 3.16 GB/s ● 4 GB/s ─╮\n"
                    "│  10 GB┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈●┈up│\n"
                    "│       │   ⢀⣀⣤⣴⣶⣶⣶⣶⣶⣤⣤⣀⡀                  │\n"
                    "│   5 GB┤⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣷⣦⣤⣀┈┈┈┈┈┈┈┈┈┈┈┈⣀⣀│\n"
                    "│       │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣷⣶⣤⣤⣤⣤⣤⣤⣴⣶⣿⣿⣿│\n"
                    "│    0 B┤──────────────────────────────────│\n"
                    "│       │⠉⠉⠉⠙⠛⠛⠛⠛⠛⠛⠛⠛⠻⠿⠿⠿⠿⠿⠿⠿⠿⢿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿│\n"
                    "│   5 GB┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈⠈⠉⠉⠉│\n"
                    "│       │                            ● down│\n"
                    "│ per s  0 s                10 s           │\n"
                    "╰──────────────────────────────────────────╯\n");
    frame_free(c);
}

/* A label gives way to the line, and to the label before; no mark shines through it. */
static void labels_of_marks_hide_no_values(void **state)
{
    double rate[30];
    struct chart_mark marks[] = {{10, "rate 9"}, {13, "rate 8"}};
    struct chart_line line = {"rate", rate, 30, PAINT_UP, REDUCE_MEAN, UNKNOWN};
    struct chart chart = {
        .title = "received",
        .form = CHART_LINES,
        .quantity = QUANTITY_COUNT,
        .per = "/s",
        .step_s = 1,
        .to_s = 30,
        .lines = &line,
        .line_count = 1,
        .marks = marks,
        .mark_count = 2,
    };
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 48, 9);

    (void)state;
    for (int i = 0; i < 30; i++)
        rate[i] = i < 10 ? 2 : 10;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "╭─ received ──────────────────────── ● rate - ─╮\n"
                    "│     10┤┈┈┈┈┈┈┈┈┈┈┈┈┆⡎⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉│\n"
                    "│       │            ┆⡇  rate 8                │\n"
                    "│      5┤┈┈┈┈┈┈┈┈┈┈┈┈⢸┈┈┈┆┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│\n"
                    "│       │            ⡸   ┆                     │\n"
                    "│       │⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠃   ┆                     │\n"
                    "│      0┤┈┈┈┈┈┈┈┈┈┈┈┈rate 9┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│\n"
                    "│ per s  0 s       10 s         20 s       30 s│\n"
                    "╰──────────────────────────────────────────────╯\n");
    frame_free(c);
}

/* In a small chart the names of its parts stand in the plot: a label leaves them whole.
 */
static void labels_of_marks_hide_no_names(void **state)
{
    const double none[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct chart_mark marks[] = {{4, "rate 960"}, {6, "rate 770"}};
    struct chart_line lines[] = {
        {"failed", none, 10, PAINT_UP, REDUCE_MEAN, 0},
        {"timed out", none, 10, PAINT_DOWN, REDUCE_MEAN, 0},
    };
    struct chart chart = {
        .title = "failed operations",
        .form = CHART_STACK,
        .quantity = QUANTITY_COUNT,
        .per = "/s",
        .step_s = 1,
        .to_s = 10,
        .lines = lines,
        .line_count = 2,
        .marks = marks,
        .mark_count = 2,
    };
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 40, 8);

    (void)state;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "╭─ failed operations ──── ● 0/s ● 0/s ─╮\n"
                    "│      1┤┈┈┈┈┈┈┈┈┈┈┈┈rate 960┈┈┈┈┈┈┈┈┈┈│\n"
                    "│       │            ┆     ┆   ● failed│\n"
                    "│    0.5┤┈┈┈┈┈┈┈┈┈┈┈┈┆┈┈┈┈┈┆●┈timed out│\n"
                    "│       │            ┆     rate 770    │\n"
                    "│      0┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀│\n"
                    "│ per s  0 s           5 s         10 s│\n"
                    "╰──────────────────────────────────────╯\n");
    frame_free(c);
}

static void lines_are_named_and_marked(void **state)
{
    double p50[60], p99[60], max[60];
    struct chart_mark mark = {20, "a"};
    struct chart_line lines[] = {
        {"max", max, 60, PAINT_MAX, REDUCE_MAX, 3e6},
        {"p99", p99, 60, PAINT_P99, REDUCE_MAX, 3e5},
        {"p50", p50, 60, PAINT_P50, REDUCE_MEAN, 2e4},
    };
    struct chart chart = {
        .title = "latency",
        .form = CHART_LINES,
        .quantity = QUANTITY_DURATION,
        .per = "",
        .is_log = true,
        .step_s = 1,
        .to_s = 60,
        .lines = lines,
        .line_count = 3,
        .marks = &mark,
        .mark_count = 1,
    };
    struct canvas *c;

    (void)state;
    for (int i = 0; i < 60; i++) {
        p50[i] = 2e4 * (1 + 0.5 * sin(i / 8.0));
        p99[i] = i > 25 && i < 35 ? UNKNOWN : 15 * p50[i];
        max[i] = i % 9 == 0 ? 5e6 : 1e6;
    }
    c = frame_canvas(GLYPHS_BRAILLE, 64, 14);
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "╭─ latency ────────────── ● max 3 ms ● p99 300 µs ● p50 20 µs ─╮\n"
                    "│       │⢱      ⢰⡄      ⣦a     ⢰⡄      ⣦      ⢰⡄      ⣦        │\n"
                    "│       │ ⡇     ⡸⢸     ⢀⠇⡇     ⡸⢸     ⢀⠇⡇     ⡸⢸     ⢀⠇⡇       │\n"
                    "│       │ ⣇⣀⣀⣀⣀⣀⠇⢸⣀⣀⣀⣀⣀⡸ ⣇⣀⣀⣀⣀⣀⠇⢸⣀⣀⣀⣀⣀⡸ ⣇⣀⣀⣀⣀⣀⠇⢸⣀⣀⣀⣀⣀⡸ ⣇⣀⣀⣀ max│\n"
                    "│   1 ms┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┆┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈    │\n"
                    "│       │⣀⣀⡠⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠢⠤⠤⢄⣀⡀                    ⣀⣀⡠⠤⠤⠒⠒⠒ p99│\n"
                    "│       │                ┆                  ⣀⣀⠤⠔⠒⠊⠉            │\n"
                    "│ 100 µs┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┆┈┈┈┈┈┈┈┈┈┈┈┈⠉⠉⠉⠉⠉⠉┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈    │\n"
                    "│       │                ┆                                     │\n"
                    "│       │         ⣀⣀⣀⣀   ┆                                     │\n"
                    "│       │⠤⠤⠒⠒⠊⠉⠉⠉⠉    ⠉⠉⠉⠉⠑⠒⠒⠤⠤⣀⡀                ⣀⡠⠤⠔⠒⠒⠊⠉⠉⠉ p50│\n"
                    "│  10 µs┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┆┈┈┈┈┈┈⠈⠉⠑⠒⠤⠤⢄⣀⣀⣀⣀⡠⠤⠔⠒⠊⠉┈┈┈┈┈┈┈┈┈┈    │\n"
                    "│        0 s           20 s             40 s           60 s    │\n"
                    "╰──────────────────────────────────────────────────────────────╯\n");
    frame_free(c);
    c = frame_canvas(GLYPHS_ASCII, 64, 14);
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "+- latency -------------- * max 3 ms + p99 300 us o p50 20 us -+\n"
                    "|       |**     **      **     **      **     **      **       |\n"
                    "|       | *     **      **     **      **     **      **       |\n"
                    "|       | ************************************************* max|\n"
                    "|   1 ms+                a                                     |\n"
                    "|       | +++++++++++++++++++++                    ++++++++ p99|\n"
                    "|       |+               !                  +++++++            |\n"
                    "| 100 us+                !            ++++++                   |\n"
                    "|       |                !                                     |\n"
                    "|       |       oooooooo !                               oo p50|\n"
                    "|       |ooooooo        ooooooooo               ooooooooo      |\n"
                    "|  10 us+                !       ooooooooooooooo               |\n"
                    "|        0 s           20 s             40 s           60 s    |\n"
                    "+--------------------------------------------------------------+\n");
    frame_free(c);
}

static void a_stack_adds_up(void **state)
{
    const double overflow[] = {0, 1, 2, 3, 4, 4, 4, 4};
    const double unexplained[] = {4, 4, 4, 4, UNKNOWN, UNKNOWN, 0, 4};
    struct chart_line lines[] = {
        {"overflow", overflow, 8, PAINT_SERIES_1, REDUCE_MEAN, 4},
        {"unexplained", unexplained, 8, PAINT_SERIES_2, REDUCE_MEAN, 4},
    };
    struct chart chart = chart_of(&lines[0], overflow, 8);
    struct canvas *c = frame_canvas(GLYPHS_HALF, 8, 4);

    (void)state;
    lines[0].name = "overflow";
    chart.form = CHART_STACK;
    chart.lines = lines;
    chart.line_count = 2;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "........\n"
                    "..▄█...█\n"
                    "▄███▄▄▄█\n"
                    "████████\n");
    assert_int_equal(canvas_at(c, 0, 3)->style.paint, PAINT_SERIES_2);
    assert_int_equal(canvas_at(c, 4, 3)->style.paint, PAINT_UP);
    assert_int_equal(canvas_at(c, 7, 3)->style.paint, PAINT_UP);
    assert_int_equal(canvas_at(c, 7, 1)->style.paint, PAINT_SERIES_2);
    frame_free(c);
}

static void without_values_it_says_so(void **state)
{
    const double values[] = {UNKNOWN, UNKNOWN};
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 30, 5);
    struct chart_line line;
    struct chart chart = chart_of(&line, values, 2);

    (void)state;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "╭─ throughput ────── ● up - ─╮\n"
                    "│                            │\n"
                    "│        no data yet         │\n"
                    "│                            │\n"
                    "╰────────────────────────────╯\n");
    chart.empty = "no loss on a stream";
    chart.line_count = 0;
    canvas_clear(c);
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "╭─ throughput ───────────────╮\n"
                    "│                            │\n"
                    "│    no loss on a stream     │\n"
                    "│                            │\n"
                    "╰────────────────────────────╯\n");
    frame_free(c);
}

static void many_values_are_reduced_to_what_matters(void **state)
{
    double values[80];
    struct canvas *c = frame_canvas(GLYPHS_ASCII, 8, 2);
    struct chart_line line;
    struct chart chart;

    (void)state;
    for (int i = 0; i < 80; i++)
        values[i] = i == 42 ? 8 : 0;
    chart = chart_of(&line, values, 80);
    line.reduce = REDUCE_MAX;
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "    .\n____:___\n");
    canvas_clear(c);
    line.reduce = REDUCE_MEAN; /* 0.8: the axis follows, from 10 to 1 */
    chart_draw(c, canvas_area(c), &chart);
    frame_expect(c, "    .\n____:___\n");
    frame_free(c);
}

static void a_heat_map_is_shaded_by_count(void **state)
{
    double counts[6 * 4] = {0};
    struct heat heat = {
        .title = "latency",
        .quantity = QUANTITY_DURATION,
        .low = 1e3,
        .high = 1e7,
        .rows = 4,
        .counts = counts,
        .steps = 6,
        .step_s = 1,
        .to_s = 6,
    };
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 36, 7);

    (void)state;
    heat_draw(c, canvas_area(c), &heat);
    frame_expect(c, "╭─ latency ────────────────────────╮\n"
                    "│                                  │\n"
                    "│                                  │\n"
                    "│           no data yet            │\n"
                    "│                                  │\n"
                    "│                                  │\n"
                    "╰──────────────────────────────────╯\n");
    for (int i = 0; i < 5; i++) {
        counts[i * 4] = 100;
        counts[i * 4 + 1] = 6 * i;
        counts[i * 4 + 3] = i == 2;
    }
    c->colours = 0;
    canvas_clear(c);
    heat_draw(c, canvas_area(c), &heat);
    frame_expect(c, "╭─ latency ────────────────────────╮\n"
                    "│  10 ms┤┈┈┈┈┈┈┈┈┈░░░░┈┈┈┈┈┈┈┈┈┈┈┈┈│\n"
                    "│ 100 µs┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈│\n"
                    "│       │    ░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒    │\n"
                    "│   1 µs┤██████████████████████┈┈┈┈│\n"
                    "│        0 s    2 s      4 s    6 s│\n"
                    "╰──────────────────────────────────╯\n");
    frame_free(c);
}

static void bars_line_up(void **state)
{
    const struct bar bars[] = {
        {"p50", "120 µs", 120, PAINT_P50},
        {"p99", "900 µs", 900, PAINT_P99},
        {"max", "-", UNKNOWN, PAINT_MAX},
    };
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 30, 3);

    (void)state;
    bars_draw(c, canvas_area(c), bars, 3, 0);
    frame_expect(c, "p50 ■■■················ 120 µs\n"
                    "p99 ■■■■■■■■■■■■■■■■■■■ 900 µs\n"
                    "max ···················      -\n");
    frame_free(c);
}

static void spans_are_round(void **state)
{
    (void)state;
    assert_true(chart_span(0) == 2);
    assert_true(chart_span(9.9) == 10);
    assert_true(chart_span(61) == 120);
    assert_true(chart_span(7201) == 3 * 3600);
}

/* Whatever the form, glyphs and size: no crash, nothing outside its area. */
static void every_form_survives_every_size(void **state)
{
    double values[50];
    struct chart_line lines[3];
    struct chart_mark marks[] = {{1, "a"}, {-5, "b"}, {49, "far"}, {UNKNOWN, "never"}};
    struct heat heat = {.title = "h",
                        .low = 1,
                        .high = 1e4,
                        .rows = 10,
                        .counts = values,
                        .steps = 5,
                        .step_s = 1,
                        .to_s = 5};
    struct chart chart;

    (void)state;
    for (int i = 0; i < 50; i++)
        values[i] = i % 7 == 3 ? UNKNOWN : i * i;
    for (int level = 0; level < GLYPHS_COUNT; level++)
        for (int width = 0; width < 70; width += width < 16 ? 1 : 9)
            for (int height = 0; height < 20; height += height < 8 ? 1 : 4)
                for (int form = 0; form <= CHART_STACK; form++) {
                    struct canvas *c =
                        frame_canvas((enum glyph_level)level, width + 2, height + 2);

                    chart = chart_of(lines, values, 50);
                    lines[1] = lines[2] = lines[0];
                    chart.form = (enum chart_form)form;
                    chart.is_log = form == CHART_LINES;
                    chart.line_count = 3;
                    chart.marks = marks;
                    chart.mark_count = 4;
                    chart_draw(c, (struct area){1, 1, width, height}, &chart);
                    heat_draw(c, (struct area){1, 1, width, height}, &heat);
                    for (int x = 0; x < c->width; x++) {
                        assert_int_equal(canvas_at(c, x, 0)->code, ' ');
                        assert_int_equal(canvas_at(c, x, c->height - 1)->code, ' ');
                    }
                    for (int y = 0; y < c->height; y++) {
                        assert_int_equal(canvas_at(c, 0, y)->code, ' ');
                        assert_int_equal(canvas_at(c, c->width - 1, y)->code, ' ');
                    }
                    frame_free(c);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_ticks_are_round),
        cmocka_unit_test(scales_hold_their_values),
        cmocka_unit_test(log_ticks_are_decades_or_finer),
        cmocka_unit_test(labels_have_three_digits_and_a_unit),
        cmocka_unit_test(an_area_has_axes_and_legend),
        cmocka_unit_test(an_area_in_blocks_and_in_ascii),
        cmocka_unit_test(a_gap_stays_empty),
        cmocka_unit_test(a_mirror_has_both_directions),
        cmocka_unit_test(labels_of_marks_hide_no_values),
        cmocka_unit_test(labels_of_marks_hide_no_names),
        cmocka_unit_test(lines_are_named_and_marked),
        cmocka_unit_test(a_stack_adds_up),
        cmocka_unit_test(without_values_it_says_so),
        cmocka_unit_test(many_values_are_reduced_to_what_matters),
        cmocka_unit_test(a_heat_map_is_shaded_by_count),
        cmocka_unit_test(bars_line_up),
        cmocka_unit_test(spans_are_round),
        cmocka_unit_test(every_form_survives_every_size),
    };

    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
