/* The grid of cells: text, boxes, bars, dots, on every glyph set and at every size. */
#include "tui/canvas.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "tests/frame.h"

static void text_is_clipped_with_an_ellipsis(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 12, 3);

    (void)state;
    assert_int_equal(canvas_text(c, 0, 0, 12, style(PAINT_TEXT), "plimsoll"), 8);
    assert_int_equal(canvas_text(c, 2, 1, 6, style(PAINT_TEXT), "plimsoll"), 6);
    assert_int_equal(canvas_text_right(c, 0, 2, 12, style(PAINT_TEXT), "5.2 GB/s"), 8);
    frame_expect(c, "plimsoll\n"
                    "  plims…\n"
                    "    5.2 GB/s\n");
    frame_free(c);
}

static void ascii_canvas_has_only_ascii(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_ASCII, 20, 4);
    char *text;

    (void)state;
    canvas_box(c, canvas_area(c), "load → 10 µs", false);
    canvas_text(c, 1, 1, 18, style(PAINT_TEXT), "naïve 海 – “x” …");
    canvas_bar(c, 1, 2, 10, 0.5, style(PAINT_TEXT));
    frame_expect(c, "+- load > 10 us ---+\n"
                    "|na?ve ?? - \"x\" ~  |\n"
                    "|#####.....        |\n"
                    "+------------------+\n");
    text = canvas_to_text(c);
    for (size_t i = 0; text[i] != '\0'; i++)
        assert_true((unsigned char)text[i] < 0x7f);
    free(text);
    frame_free(c);
}

static void boxes_join_rules(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 26, 5);

    (void)state;
    canvas_box(c, canvas_area(c), "latency", false);
    canvas_rule(c, 0, 2, 26, style(PAINT_FRAME));
    frame_expect(c, "╭─ latency ──────────────╮\n"
                    "│                        │\n"
                    "├────────────────────────┤\n"
                    "│                        │\n"
                    "╰────────────────────────╯\n");
    frame_free(c);
}

static void a_long_title_leaves_the_corners(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BLOCK, 12, 2);

    (void)state;
    canvas_box(c, canvas_area(c), "received per second", false);
    frame_expect(c, "┌─ recei… ─┐\n"
                    "└──────────┘\n");
    frame_free(c);
}

static void wide_characters_are_never_halved(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 8, 3);
    struct area before;

    (void)state;
    canvas_text(c, 0, 0, 8, style(PAINT_TEXT), "海海海海");
    canvas_put(c, 3, 0, 'x', style(PAINT_TEXT)); /* the right half of the second */
    canvas_text(c, 0, 1, 8, style(PAINT_TEXT), "海海海海");
    canvas_put(c, 4, 1, 'x', style(PAINT_TEXT)); /* the left half of the third */
    before = canvas_clip(c, (struct area){0, 2, 3, 1});
    canvas_text(c, 0, 2, 8, style(PAINT_TEXT), "海海");
    canvas_unclip(c, before);
    frame_expect(c, "海 x海海\n"
                    "海海x 海\n"
                    "海\n");
    frame_free(c);
}

static void paragraphs_break_at_blanks(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 12, 6);

    (void)state;
    assert_int_equal(canvas_paragraph(c, canvas_area(c), style(PAINT_TEXT),
                                      "Each end closes its side.\nunbreakableword it is"),
                     5);
    frame_expect(c, "Each end\n"
                    "closes its\n"
                    "side.\n"
                    "unbreakablew\n"
                    "ord it is\n"
                    "\n");
    frame_free(c);
}

static void bars_show_a_share(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 8, 6);
    static const double shares[] = {0, 1.0 / 64, 0.5, 1, 2, -1};

    (void)state;
    for (int i = 0; i < 6; i++)
        canvas_bar(c, 0, i, 8, shares[i], style(PAINT_GOOD));
    frame_expect(c, "········\n"
                    "■·······\n"
                    "■■■■····\n"
                    "■■■■■■■■\n"
                    "■■■■■■■■\n"
                    "········\n");
    frame_free(c);
}

static void spark_lines_show_the_last_values(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 6, 1);
    const double values[] = {100, 1, 2, (double)NAN, 4, 8, 0};

    (void)state;
    canvas_spark(c, 0, 0, 6, values, 7, style(PAINT_TEXT));
    frame_expect(c, "▁▂ ▄█▁\n");
    frame_free(c);
}

static void dots_add_up_in_a_cell(void **state)
{
    static const struct {
        enum glyph_level level;
        const char *frame;
    } rows[] = {
        {GLYPHS_BRAILLE, "⡇⠉\n"},
        {GLYPHS_BLOCK, "▌▀\n"},
        {GLYPHS_HALF, "█▀\n"},
        {GLYPHS_ASCII, ":'\n"},
    };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct canvas *c = frame_canvas(rows[i].level, 2, 1);

        for (int dy = 0; dy < c->glyphs->dots_high; dy++)
            canvas_dot(c, 0, dy, style(PAINT_UP));
        for (int dx = 0; dx < c->glyphs->dots_wide; dx++)
            canvas_dot(c, c->glyphs->dots_wide + dx, 0, style(PAINT_UP));
        frame_expect(c, rows[i].frame);
        frame_free(c);
    }
}

static void masks_and_characters_are_inverse(void **state)
{
    (void)state;
    for (int level = 0; level < GLYPHS_COUNT; level++) {
        const struct glyph_set *g = glyphs_get((enum glyph_level)level);

        for (unsigned mask = 0; mask < 1u << (g->dots_wide * g->dots_high); mask++)
            assert_int_equal(glyphs_to_mask(g, glyphs_from_mask(g, mask)), mask);
    }
}

static void glyphs_follow_locale_and_terminal(void **state)
{
    static const struct {
        const char *codeset, *term, *name;
    } rows[] = {
        {"UTF-8", "xterm-256color", "braille"},
        {"utf8", "tmux-256color", "braille"},
        {"UTF-8", "linux", "half"},
        {"UTF-8", "vt100", "ascii"},
        {"ANSI_X3.4-1968", "xterm-256color", "ascii"},
        {"UTF-8", NULL, "ascii"},
        {NULL, "xterm", "ascii"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        assert_string_equal(glyphs_choose(rows[i].codeset, rows[i].term)->name,
                            rows[i].name);
    assert_null(glyphs_find("vector"));
}

static void themes_say_everything_without_colour(void **state)
{
    const struct theme *mono = theme_find("mono");

    (void)state;
    assert_ptr_equal(theme_choose("1", NULL), mono);
    assert_ptr_equal(theme_choose("", "15;0"), theme_find("dark"));
    assert_ptr_equal(theme_choose(NULL, "0;default;15"), theme_find("light"));
    assert_ptr_equal(theme_choose(NULL, "nonsense"), theme_find("dark"));
    for (int paint = 0; paint < PAINT_COUNT; paint++) {
        assert_int_equal(theme_look(mono, (enum paint)paint, 256).colour, -1);
        assert_int_equal(theme_look(theme_find("dark"), (enum paint)paint, 2).colour, -1);
        assert_true(theme_look(theme_find("light"), (enum paint)paint, 16).colour < 16);
    }
    /* The selected row and a failure must stand out by attributes alone. */
    assert_int_equal(theme_look(mono, PAINT_SELECTED, 0).attributes, ATTR_REVERSE);
    assert_int_equal(theme_look(mono, PAINT_BAD, 0).attributes, ATTR_REVERSE);
}

static void ramps_go_from_low_to_high(void **state)
{
    (void)state;
    assert_int_equal(theme_ramp(RAMP_UP, -1), PAINT_RAMPS);
    assert_int_equal(theme_ramp(RAMP_UP, (double)NAN), PAINT_RAMPS);
    assert_int_equal(theme_ramp(RAMP_UP, 0.999), PAINT_RAMPS + RAMP_STEPS - 1);
    assert_int_equal(theme_ramp(RAMP_UP, 7), PAINT_RAMPS + RAMP_STEPS - 1);
    assert_int_equal(theme_ramp(RAMP_DOWN, 0), PAINT_RAMPS + RAMP_STEPS);
}

static void every_size_is_survived(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 0, 0);

    (void)state;
    for (int width = 0; width < 14; width++)
        for (int height = 0; height < 6; height++) {
            struct area a = {width / 3 - 2, height / 2 - 1, width, height};

            assert_int_equal(canvas_resize(c, width, height), 0);
            canvas_box(c, a, "title", true);
            canvas_text(c, -3, 0, 40, style(PAINT_TEXT), "海海海 and more than fits");
            canvas_paragraph(c, area_inside(a), style(PAINT_TEXT),
                             "海 a paragraph of text");
            canvas_bar(c, -1, -1, width + 9, 0.7, style(PAINT_TEXT));
            canvas_fill(c, a, '#', style(PAINT_TEXT));
            canvas_dot(c, -1, -1, style(PAINT_TEXT));
            canvas_dot(c, width * 2, height * 4, style(PAINT_TEXT));
        }
    assert_null(canvas_at(c, -1, 0));
    frame_free(c);
}

static void areas_are_cut_without_going_negative(void **state)
{
    struct area a = {0, 0, 10, 4}, piece;

    (void)state;
    piece = area_take_top(&a, 3);
    assert_int_equal(piece.height, 3);
    piece = area_take_bottom(&a, 5);
    assert_int_equal(piece.height, 1);
    assert_int_equal(piece.y, 3);
    assert_int_equal(a.height, 0);
    piece = area_take_right(&a, 4);
    assert_int_equal(piece.x, 6);
    piece = area_take_left(&a, 99);
    assert_int_equal(piece.width, 6);
    assert_int_equal(area_inside((struct area){0, 0, 1, 1}).width, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_clipped_with_an_ellipsis),
        cmocka_unit_test(ascii_canvas_has_only_ascii),
        cmocka_unit_test(boxes_join_rules),
        cmocka_unit_test(a_long_title_leaves_the_corners),
        cmocka_unit_test(wide_characters_are_never_halved),
        cmocka_unit_test(paragraphs_break_at_blanks),
        cmocka_unit_test(bars_show_a_share),
        cmocka_unit_test(spark_lines_show_the_last_values),
        cmocka_unit_test(dots_add_up_in_a_cell),
        cmocka_unit_test(masks_and_characters_are_inverse),
        cmocka_unit_test(glyphs_follow_locale_and_terminal),
        cmocka_unit_test(themes_say_everything_without_colour),
        cmocka_unit_test(ramps_go_from_low_to_high),
        cmocka_unit_test(every_size_is_survived),
        cmocka_unit_test(areas_are_cut_without_going_negative),
    };

    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
