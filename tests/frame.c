#include "tests/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void frame_expect(const struct canvas *c, const char *expected)
{
    char *text = canvas_to_text(c);

    assert_non_null(text);
    if (strcmp(text, expected) != 0)
        fprintf(stderr, "--- expected\n%s--- drawn\n%s---\n", expected, text);
    assert_int_equal(strcmp(text, expected), 0);
    free(text);
}

struct canvas *frame_canvas(enum glyph_level level, int width, int height)
{
    struct canvas *c = malloc(sizeof(*c));

    assert_non_null(c);
    canvas_init(c, glyphs_get(level));
    assert_int_equal(canvas_resize(c, width, height), 0);
    return c;
}

void frame_free(struct canvas *c)
{
    canvas_done(c);
    free(c);
}
