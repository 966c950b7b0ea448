/* Comparing what is on a canvas with text, as a person would look at it. */
#ifndef TESTS_FRAME_H
#define TESTS_FRAME_H

#include "tui/canvas.h"

/*
 * Fail the running cmocka test, showing both, unless the canvas reads exactly as
 * `expected`: one line a row, blanks at line ends left out.
 */
void frame_expect(const struct canvas *c, const char *expected);

/*
 * The same with a file tests/golden/NAME.txt, from the root of the tree or PLIMSOLL_ROOT.
 * With PLIMSOLL_GOLDEN=write the file is made anew; look at it before committing it.
 */
void frame_expect_golden(const struct canvas *c, const char *name);

/* A canvas of a size on the heap; fails the test without memory. */
struct canvas *frame_canvas(enum glyph_level level, int width, int height);
void frame_free(struct canvas *c);

#endif
