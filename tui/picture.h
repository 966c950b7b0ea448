/*
 * A picture of a screen: the characters and colours that a terminal shows, taken from a
 * canvas, from curses or from a terminal model, and written as SVG or as plain text.
 *
 * In the SVG, braille, box and block characters are drawn as shapes on one exact grid,
 * since no font has them all in one: dots stand at equal distances across cells, lines
 * are unbroken. Everything else is text in DejaVu Sans Mono, each word placed at its
 * own column, so that a different font shifts nothing. A window frame with the title
 * is drawn around. The output depends on the cells alone: the same screen gives the
 * same bytes.
 */
#ifndef TUI_PICTURE_H
#define TUI_PICTURE_H

#include <stdint.h>
#include <stdio.h>

#include "tui/canvas.h"
#include "tui/theme.h"

struct picture_cell {
    uint32_t code; /* 0: the right half of a wide character */
    uint32_t text_rgb, ground_rgb;
    uint8_t attributes; /* enum attribute; reverse is already applied to the colours */
};

struct picture {
    int width, height;
    uint32_t text_rgb, ground_rgb; /* the terminal's own */
    struct picture_cell *cells;    /* owned */
};

/* Blank cells in the own colours. 0 or -ENOMEM. */
int picture_init(struct picture *p, int width, int height, uint32_t text_rgb,
                 uint32_t ground_rgb);
void picture_done(struct picture *p);

/* NULL outside. */
struct picture_cell *picture_at(const struct picture *p, int x, int y);

/*
 * Set one cell from palette colours (-1: the terminal's own), with reverse and dim
 * worked into the colours.
 */
void picture_set(struct picture *p, int x, int y, uint32_t code, short text, short ground,
                 unsigned attributes);

/* A picture of a canvas as a theme shows it at a depth of colour. 0 or -ENOMEM. */
int picture_from_canvas(struct picture *p, const struct canvas *c, const struct theme *t,
                        int colours);

/* Write to a stream; the caller looks at ferror. `title` stands in the window's frame. */
void picture_write_svg(const struct picture *p, const char *title, FILE *out);
void picture_write_text(const struct picture *p, FILE *out);

#endif
