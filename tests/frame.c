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

void frame_expect_golden(const struct canvas *c, const char *name)
{
    const char *root = getenv("PLIMSOLL_ROOT"), *wanted = getenv("PLIMSOLL_GOLDEN");
    char path[512], *golden = calloc(1, 65536), *text = canvas_to_text(c);
    FILE *f;

    snprintf(path, sizeof(path), "%s/tests/golden/%s.txt", root != NULL ? root : ".",
             name);
    f = fopen(path, wanted != NULL ? "w+" : "r");
    assert_non_null(golden);
    assert_non_null(text);
    assert_non_null(f);
    if (wanted != NULL)
        fputs(text, f);
    rewind(f);
    assert_true(fread(golden, 1, 65535, f) > 0);
    fclose(f);
    frame_expect(c, golden);
    free(text);
    free(golden);
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
