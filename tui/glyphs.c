#include "tui/glyphs.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "protocols/array.h"

#define EIGHTHS_BELOW                                                       \
    {                                                                       \
        ' ', 0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588 \
    }
#define SHADES                              \
    {                                       \
        ' ', 0x2591, 0x2592, 0x2593, 0x2588 \
    }

static const struct glyph_set sets[GLYPHS_COUNT] = {
    {
        .level = GLYPHS_BRAILLE,
        .name = "braille",
        .dots_wide = 2,
        .dots_high = 4,
        .corner_nw = 0x256d,
        .corner_ne = 0x256e,
        .corner_sw = 0x2570,
        .corner_se = 0x256f,
        .horizontal = 0x2500,
        .vertical = 0x2502,
        .tee_left = 0x251c,
        .tee_right = 0x2524,
        .axis = 0x2502,
        .grid = 0x2508,
        .mark = 0x2506,
        .pointer = 0x25b6,
        .bullet = 0x25cf,
        .up = 0x2191,
        .down = 0x2193,
        .right = 0x2192,
        .left = 0x2190,
        .check = 0x2713,
        .cross = 0x2717,
        .unknown = '?',
        .bar = 0x25a0,
        .trough = 0xb7,
        .levels = EIGHTHS_BELOW,
        .shades = SHADES,
    },
    {
        .level = GLYPHS_BLOCK,
        .name = "block",
        .dots_wide = 2,
        .dots_high = 2,
        .corner_nw = 0x250c,
        .corner_ne = 0x2510,
        .corner_sw = 0x2514,
        .corner_se = 0x2518,
        .horizontal = 0x2500,
        .vertical = 0x2502,
        .tee_left = 0x251c,
        .tee_right = 0x2524,
        .axis = 0x2502,
        .grid = 0x2508,
        .mark = 0x2506,
        .pointer = 0x25b6,
        .bullet = 0x25a0,
        .up = 0x2191,
        .down = 0x2193,
        .right = 0x2192,
        .left = 0x2190,
        .check = 0x2713,
        .cross = 0x2717,
        .unknown = '?',
        .bar = 0x25a0,
        .trough = 0xb7,
        .levels = EIGHTHS_BELOW,
        .shades = SHADES,
    },
    {
        .level = GLYPHS_HALF,
        .name = "half",
        .dots_wide = 1,
        .dots_high = 2,
        .corner_nw = 0x250c,
        .corner_ne = 0x2510,
        .corner_sw = 0x2514,
        .corner_se = 0x2518,
        .horizontal = 0x2500,
        .vertical = 0x2502,
        .tee_left = 0x251c,
        .tee_right = 0x2524,
        .axis = 0x2502,
        .grid = '.',
        .mark = '|',
        .pointer = '>',
        .bullet = 0x25a0,
        .up = 0x2191,
        .down = 0x2193,
        .right = 0x2192,
        .left = 0x2190,
        .check = '+',
        .cross = 'x',
        .unknown = '?',
        .bar = 0x25a0,
        .trough = 0xb7,
        .levels = {' ', ' ', ' ', 0x2584, 0x2584, 0x2584, 0x2584, 0x2588, 0x2588},
        .shades = SHADES,
    },
    {
        .level = GLYPHS_ASCII,
        .name = "ascii",
        .dots_wide = 1,
        .dots_high = 2,
        .corner_nw = '+',
        .corner_ne = '+',
        .corner_sw = '+',
        .corner_se = '+',
        .horizontal = '-',
        .vertical = '|',
        .tee_left = '+',
        .tee_right = '+',
        .axis = '|',
        .grid = ' ',
        .mark = '!',
        .pointer = '>',
        .bullet = '*',
        .up = '^',
        .down = 'v',
        .right = '>',
        .left = '<',
        .check = '+',
        .cross = 'x',
        .unknown = '?',
        .bar = '#',
        .trough = '.',
        .levels = {' ', '.', '.', '.', ':', ':', ':', '#', '#'},
        .shades = {' ', '.', ':', '+', '#'},
    },
};

const struct glyph_set *glyphs_get(enum glyph_level level)
{
    return &sets[level];
}

const struct glyph_set *glyphs_find(const char *name)
{
    for (size_t i = 0; i < GLYPHS_COUNT; i++)
        if (strcmp(sets[i].name, name) == 0)
            return &sets[i];
    return NULL;
}

static bool starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

const struct glyph_set *glyphs_choose(const char *codeset, const char *term)
{
    static const char *const without_utf8[] = {"vt1",  "vt2",  "vt5",
                                               "ansi", "dumb", "sun"};

    if (!codeset ||
        (strcasecmp(codeset, "UTF-8") != 0 && strcasecmp(codeset, "utf8") != 0))
        return &sets[GLYPHS_ASCII];
    if (!term)
        return &sets[GLYPHS_ASCII];
    for (size_t i = 0; i < NUMBER_OF(without_utf8); i++)
        if (starts_with(term, without_utf8[i]))
            return &sets[GLYPHS_ASCII];
    if (strcmp(term, "linux") == 0 || starts_with(term, "linux-"))
        return &sets[GLYPHS_HALF];
    return &sets[GLYPHS_BRAILLE];
}

char glyphs_ascii(uint32_t code)
{
    static const struct {
        uint32_t code;
        char ascii;
    } stand_ins[] = {
        {0x00b0, 'o'}, {0x00b1, '~'}, {0x00b5, 'u'}, {0x03bc, 'u'},  {0x00b7, '-'},
        {0x00d7, 'x'}, {0x2013, '-'}, {0x2014, '-'}, {0x2018, '\''}, {0x2019, '\''},
        {0x201c, '"'}, {0x201d, '"'}, {0x2022, '*'}, {0x2026, '~'},  {0x2190, '<'},
        {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'}, {0x2194, '-'},  {0x21c4, '='},
        {0x2248, '~'}, {0x2264, '<'}, {0x2265, '>'}, {0x2212, '-'},  {0x23ce, '<'},
        {0x25b6, '>'}, {0x25c0, '<'}, {0x25cf, '*'}, {0x25cb, 'o'},  {0x2713, '+'},
        {0x2717, 'x'}, {0x221a, 'v'}, {0x2500, '-'}, {0x2502, '|'},  {0x2588, '#'},
    };

    if (code >= 0x20 && code < 0x7f)
        return (char)code;
    for (size_t i = 0; i < NUMBER_OF(stand_ins); i++)
        if (stand_ins[i].code == code)
            return stand_ins[i].ascii;
    return '?';
}

/*
 * Unicode numbers the eight dots of braille down the left column (1-3), down the
 * right (4-6), then the bottom row (7, 8): bit n of the code point is dot n + 1.
 */
static const unsigned char braille_bits[8] = {0x01, 0x08, 0x02, 0x10,
                                              0x04, 0x20, 0x40, 0x80};

/* Quarter blocks by mask: bit 0 upper left, 1 upper right, 2 lower left, 3 lower right.
 */
static const uint16_t quarters[16] = {
    ' ',    0x2598, 0x259d, 0x2580, 0x2596, 0x258c, 0x259e, 0x259b,
    0x2597, 0x259a, 0x2590, 0x259c, 0x2584, 0x2599, 0x259f, 0x2588,
};

static const uint16_t halves[4] = {' ', 0x2580, 0x2584, 0x2588};
static const uint16_t ascii_marks[4] = {' ', '\'', '.', ':'};

static const uint16_t *mask_table(const struct glyph_set *g)
{
    if (g->level == GLYPHS_BLOCK)
        return quarters;
    return g->level == GLYPHS_HALF ? halves : ascii_marks;
}

uint32_t glyphs_from_mask(const struct glyph_set *g, unsigned mask)
{
    uint32_t code = 0x2800;

    if (g->level != GLYPHS_BRAILLE)
        return mask_table(g)[mask];
    if (mask == 0)
        return ' ';
    for (unsigned i = 0; i < 8; i++)
        if (mask & 1u << i)
            code |= braille_bits[i];
    return code;
}

unsigned glyphs_to_mask(const struct glyph_set *g, uint32_t code)
{
    unsigned mask = 0;

    if (g->level == GLYPHS_BRAILLE) {
        if (code < 0x2800 || code > 0x28ff)
            return 0;
        for (unsigned i = 0; i < 8; i++)
            if (code & braille_bits[i])
                mask |= 1u << i;
        return mask;
    }
    for (unsigned i = 0; i < 1u << (g->dots_wide * g->dots_high); i++)
        if (mask_table(g)[i] == code)
            return i;
    return 0;
}

uint32_t glyphs_add_dot(const struct glyph_set *g, uint32_t code, unsigned bit)
{
    /* Charts set tens of thousands of dots a frame: braille goes straight. */
    if (g->level == GLYPHS_BRAILLE)
        return (code >= 0x2800 && code <= 0x28ff ? code : 0x2800) | braille_bits[bit];
    return glyphs_from_mask(g, glyphs_to_mask(g, code) | 1u << bit);
}
