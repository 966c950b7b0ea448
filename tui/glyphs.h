/*
 * Which characters the terminal can show. A *glyph set* is a level of ability:
 *
 *   braille   2 x 4 dots a cell, rounded boxes, level blocks
 *   block     2 x 2 quarter blocks a cell, square boxes
 *   half      1 x 2 half blocks a cell: what the font of the Linux console has
 *   ascii     1 x 2 marks a cell ('.', '\'', ':'), boxes of + - |
 *
 * A canvas is made with one set and asks it for every character that is not text, so
 * the code that draws does not know which level it draws for. Text may use the
 * punctuation that glyphs_ascii knows (dashes, arrows, the micro sign); on an ASCII
 * canvas it is replaced.
 */
#ifndef TUI_GLYPHS_H
#define TUI_GLYPHS_H

#include <stdint.h>

enum glyph_level {
    GLYPHS_BRAILLE,
    GLYPHS_BLOCK,
    GLYPHS_HALF,
    GLYPHS_ASCII,
    GLYPHS_COUNT
};

struct glyph_set {
    enum glyph_level level;
    const char *name;
    int dots_wide, dots_high; /* dots in a cell */
    uint32_t corner_nw, corner_ne, corner_sw, corner_se;
    uint32_t horizontal, vertical;
    uint32_t tee_left, tee_right; /* |- and -|: ends of a line that divides a box */
    uint32_t axis;                /* the vertical line at the left of a plot */
    uint32_t grid;                /* a faint horizontal line through a plot */
    uint32_t mark;                /* the vertical line of an event */
    uint32_t pointer;             /* before the selected row */
    uint32_t bullet;              /* before a legend's name */
    uint32_t up, down, right, left;
    uint32_t check, cross, unknown;
    uint32_t bar, trough; /* a cell of a bar, filled and not */
    uint32_t levels[9];   /* a cell filled from below by 0..8 eighths */
    uint32_t shades[5];   /* empty to full */
};

const struct glyph_set *glyphs_get(enum glyph_level level);

/* NULL when there is no set of that name. */
const struct glyph_set *glyphs_find(const char *name);

/*
 * The best set for a codeset (nl_langinfo(CODESET)) and a terminal (TERM). Terminals
 * that never learned UTF-8 get ASCII even where the locale promises more.
 */
const struct glyph_set *glyphs_choose(const char *codeset, const char *term);

/* An ASCII stand-in of one column for a character of our own texts; '?' if none. */
char glyphs_ascii(uint32_t code);

/*
 * Dots. A mask has bit (row * dots_wide + column), row 0 on top. The two functions
 * are inverse to each other; the mask of a character that is none of the set's is 0.
 */
uint32_t glyphs_from_mask(const struct glyph_set *g, unsigned mask);
unsigned glyphs_to_mask(const struct glyph_set *g, uint32_t code);

/* The character with one more dot, by its bit in the mask; others than dots are lost. */
uint32_t glyphs_add_dot(const struct glyph_set *g, uint32_t code, unsigned bit);

#endif
