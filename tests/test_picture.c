/* Pictures of a screen: the SVG byte for byte, and that shapes take the place of fonts.
 */
#include "tui/picture.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/frame.h"

static char *svg_of(const struct canvas *c, const char *theme, int colours)
{
    struct picture p;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(picture_from_canvas(&p, c, theme_find(theme), colours), 0);
    picture_write_svg(&p, "a <title> & more", out);
    assert_int_equal(fclose(out), 0);
    picture_done(&p);
    return text;
}

/* A row of the screen and everything that is drawn as a shape. */
static struct canvas *small_screen(void)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 14, 4);

    canvas_box(c, canvas_area(c), "load", false);
    canvas_put(c, 1, 1, 0x28c7, style(PAINT_UP));
    canvas_put(c, 2, 1, 0x2588, style(PAINT_GOOD));
    canvas_put(c, 3, 1, 0x2592, style(PAINT_GOOD));
    canvas_text(c, 5, 1, 8, style_on(PAINT_SELECTED, PAINT_SELECTION), "a<b 5 µs");
    canvas_put(c, 1, 2, 0x2506, style(PAINT_MARK));
    canvas_text(c, 2, 2, 2, style(PAINT_TEXT), "海");
    return c;
}

static char *golden_path(char path[256])
{
    const char *root = getenv("PLIMSOLL_ROOT");

    snprintf(path, 256, "%s/tests/golden/picture.svg", root != NULL ? root : ".");
    return path;
}

/* PLIMSOLL_GOLDEN=write makes the file anew; look at it before committing it. */
static void matches_the_golden_file(void **state)
{
    struct canvas *c = small_screen();
    char *svg = svg_of(c, "dark", 256), path[256], golden[16384];
    const char *wanted = getenv("PLIMSOLL_GOLDEN");
    FILE *f = fopen(golden_path(path), wanted != NULL ? "w+" : "r");
    size_t n;

    (void)state;
    assert_non_null(f);
    if (wanted != NULL)
        assert_int_equal(fwrite(svg, 1, strlen(svg), f), strlen(svg));
    rewind(f);
    n = fread(golden, 1, sizeof(golden) - 1, f);
    golden[n] = '\0';
    assert_string_equal(svg, golden);
    fclose(f);
    free(svg);
    frame_free(c);
}

static void shapes_are_never_text(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 260, 1);
    char *svg;

    (void)state;
    for (int i = 0; i < 256; i++)
        canvas_put(c, i, 0, 0x2800 + (uint32_t)i, style(PAINT_TEXT));
    svg = svg_of(c, "dark", 256);
    for (uint32_t code = 0x2800; code <= 0x28ff; code++) {
        char utf8[] = {(char)0xe2, (char)(0x80 | (code >> 6 & 0x3f)),
                       (char)(0x80 | (code & 0x3f)), '\0'};

        assert_null(strstr(svg, utf8));
    }
    free(svg);
    frame_free(c);
}

static void user_text_is_escaped(void **state)
{
    struct canvas *c = small_screen();
    char *svg = svg_of(c, "dark", 256);

    (void)state;
    assert_non_null(strstr(svg, "a &lt;title&gt; &amp; more"));
    assert_non_null(strstr(svg, "a&lt;b"));
    assert_null(strstr(svg, "a<b"));
    free(svg);
    frame_free(c);
}

static void reverse_swaps_and_dim_fades(void **state)
{
    struct picture p;

    (void)state;
    assert_int_equal(picture_init(&p, 2, 1, 0xffffff, 0x000000), 0);
    picture_set(&p, 0, 0, 'x', -1, -1, ATTR_REVERSE);
    assert_int_equal(picture_at(&p, 0, 0)->text_rgb, 0x000000);
    assert_int_equal(picture_at(&p, 0, 0)->ground_rgb, 0xffffff);
    picture_set(&p, 1, 0, 'x', -1, -1, ATTR_DIM);
    assert_int_equal(picture_at(&p, 1, 0)->text_rgb, 0x7f7f7f);
    picture_set(&p, 5, 5, 'x', -1, -1, 0);
    assert_null(picture_at(&p, 2, 0));
    picture_done(&p);
}

static void palette_is_xterms(void **state)
{
    (void)state;
    assert_int_equal(theme_rgb(16, 1), 0x000000);
    assert_int_equal(theme_rgb(231, 1), 0xffffff);
    assert_int_equal(theme_rgb(208, 1), 0xff8700);
    assert_int_equal(theme_rgb(244, 1), 0x808080);
    assert_int_equal(theme_rgb(-1, 0x123456), 0x123456);
}

static void text_is_the_screen(void **state)
{
    struct canvas *c = small_screen();
    struct picture p;
    char *text = NULL, *drawn = canvas_to_text(c);
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_int_equal(picture_from_canvas(&p, c, theme_find("mono"), 0), 0);
    picture_write_text(&p, out);
    fclose(out);
    assert_string_equal(text, drawn);
    picture_done(&p);
    free(text);
    free(drawn);
    frame_free(c);
}

static void a_picture_of_nothing(void **state)
{
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 0, 0);
    char *svg = svg_of(c, "light", 256);

    (void)state;
    assert_non_null(strstr(svg, "</svg>"));
    free(svg);
    frame_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_the_golden_file),
        cmocka_unit_test(shapes_are_never_text),
        cmocka_unit_test(user_text_is_escaped),
        cmocka_unit_test(reverse_swaps_and_dim_fades),
        cmocka_unit_test(palette_is_xterms),
        cmocka_unit_test(text_is_the_screen),
        cmocka_unit_test(a_picture_of_nothing),
    };

    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
