/*
 * The picture of a screen, before any terminal: a grid of cells, each a character with
 * the paint of its text, the paint of its ground, and attributes. Screens and charts
 * draw on a canvas; the app then shows it through curses, a test compares it as text,
 * and a picture can be made of it.
 *
 * Coordinates are cells, (0, 0) at the upper left. Everything may be drawn at any place
 * with any size: what lies outside the canvas or its clip area is not drawn, and a
 * canvas of 0 x 0 is a valid one.
 *
 * A canvas also carries a layer of *dots*, finer than cells: 2 x 4 in braille, 2 x 2 in
 * quarter blocks, 1 x 2 in ASCII. Setting a dot adds it to the dots its cell has; the
 * cell takes the paint of the last one.
 */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/glyphs.h"
#include "tui/theme.h"

struct area {
    int x, y, width, height;
};

/* How something is painted. */
struct style {
    uint16_t paint;
    uint16_t ground;
    uint16_t attributes;
};

struct cell {
    uint32_t code; /* 0: the right half of the wide character before it */
    struct style style;
};

struct canvas {
    int width, height;
    const struct glyph_set *glyphs;
    int colours; /* of the terminal, for drawings that look different without */
    struct area clip;
    struct cell *cells; /* width * height, row by row; owned */
    size_t capacity;
};

/* A canvas of no size. canvas_done frees what it holds; it may be used again after. */
void canvas_init(struct canvas *c, const struct glyph_set *glyphs);
void canvas_done(struct canvas *c);

/* Change the size and clear. Returns 0 or -ENOMEM; on failure the old size stands. */
int canvas_resize(struct canvas *c, int width, int height);

/* Blanks everywhere, the clip area back to the whole. */
void canvas_clear(struct canvas *c);

/* The cell at a place, NULL outside the canvas (not the clip area). */
const struct cell *canvas_at(const struct canvas *c, int x, int y);

struct area canvas_area(const struct canvas *c);

/* Restrict drawing to an area (cut by the present one); returns the present one. */
struct area canvas_clip(struct canvas *c, struct area area);
void canvas_unclip(struct canvas *c, struct area before);

static inline struct style style(enum paint paint)
{
    return (struct style){(uint16_t)paint, PAINT_GROUND, 0};
}

static inline struct style style_on(enum paint paint, enum paint ground)
{
    return (struct style){(uint16_t)paint, (uint16_t)ground, 0};
}

/* The area without a border of one cell; never of negative size. */
struct area area_inside(struct area a);

/* Cut rows or columns off an area: the piece is returned, *a keeps the rest. */
struct area area_take_top(struct area *a, int height);
struct area area_take_bottom(struct area *a, int height);
struct area area_take_left(struct area *a, int width);
struct area area_take_right(struct area *a, int width);

/* One character of one column. */
void canvas_put(struct canvas *c, int x, int y, uint32_t code, struct style s);
void canvas_fill(struct canvas *c, struct area a, uint32_t code, struct style s);

/*
 * Text in at most `columns` columns, ended by an ellipsis when it does not fit; safe
 * for any bytes (tui/text.h). Returns the columns drawn.
 */
int canvas_text(struct canvas *c, int x, int y, int columns, struct style s,
                const char *text);
int canvas_print(struct canvas *c, int x, int y, int columns, struct style s,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The same, its last column at x + columns - 1. */
int canvas_text_right(struct canvas *c, int x, int y, int columns, struct style s,
                      const char *text);

/*
 * Text broken at blanks into lines of the area's width; what does not fit below is
 * left out. Returns the number of lines that all of it needs.
 */
int canvas_paragraph(struct canvas *c, struct area a, struct style s, const char *text);

/*
 * A box with a title in its upper border, or only the border when title is NULL.
 * Smaller than 2 x 2, nothing. `focused` marks the box that has the keys.
 */
void canvas_box(struct canvas *c, struct area a, const char *title, bool focused);

/* Lines. The horizontal one joins the sides of a box when x and width are the box's. */
void canvas_rule(struct canvas *c, int x, int y, int width, struct style s);

/* In the frame around an area: that there is more than is seen, above or below. */
void canvas_more(struct canvas *c, struct area inside, bool above, bool below);

/* A bar of `columns`, filled from the left by a share of 0 to 1 (NaN: unknown). */
void canvas_bar(struct canvas *c, int x, int y, int columns, double share,
                struct style s);

/*
 * A spark line: the last `columns` values (NaN: gap), the largest of them full height.
 */
void canvas_spark(struct canvas *c, int x, int y, int columns, const double *values,
                  size_t count, struct style s);

/* Set one dot; (0, 0) is the upper left dot of the canvas. */
void canvas_dot(struct canvas *c, int dx, int dy, struct style s);

/*
 * The canvas as UTF-8 text: `height` lines, blanks at the line's end left out, each with
 * a newline. To be freed by the caller; NULL when out of memory.
 */
char *canvas_to_text(const struct canvas *c);

#endif
