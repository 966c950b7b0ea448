/*
 * Colours by role. What draws says what a thing *is* (a frame, a warning, the third
 * step of the throughput ramp): its *paint*. A theme says how that looks at each depth
 * of colour a terminal may have: 256, 16, or none, where attributes (bold, reverse,
 * underline, dim) take over. Nothing is shown by colour alone: whoever paints
 * PAINT_BAD also writes the word.
 *
 * A *ramp* is a run of RAMP_STEPS paints from low to high, for areas that are coloured
 * by value and for heat maps.
 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stddef.h>
#include <stdint.h>

/* X(name) */
#define PAINT_LIST(X)                                                   \
    X(GROUND) /* the background of everything */                        \
    X(TEXT)                                                             \
    X(STRONG) /* figures and words that matter */                       \
    X(DIM)    /* units, notes */                                        \
    X(FAINT)  /* grids, rulers */                                       \
    X(FRAME)  /* boxes */                                               \
    X(FOCUS)  /* the box that has the keys */                           \
    X(TITLE)  /* titles in box borders */                               \
    X(HEADER) /* text of the bar on top; its ground is BAR */           \
    X(BAR)                                                              \
    X(KEY)  /* a key that works here; its ground is STATUS */           \
    X(HINT) /* what that key does */                                    \
    X(STATUS)                                                           \
    X(SELECTED) /* text of the selected row; its ground is SELECTION */ \
    X(SELECTION)                                                        \
    X(ACCENT) /* letters of keys, links between things */               \
    X(GOOD)                                                             \
    X(WARN)                                                             \
    X(BAD)                                                              \
    X(UNKNOWN)  /* not measured, no value yet */                        \
    X(TROUGH)   /* the empty part of a bar */                           \
    X(MARK)     /* events on charts */                                  \
    X(SERIES_1) /* the lines of a chart, in this order */               \
    X(SERIES_2)                                                         \
    X(SERIES_3)                                                         \
    X(SERIES_4)                                                         \
    X(SERIES_5)                                                         \
    X(SERIES_6)                                                         \
    X(P50) /* percentiles keep their colour everywhere */               \
    X(P90)                                                              \
    X(P99)                                                              \
    X(MAX)                                                              \
    X(UP) /* client to server, server to client */                      \
    X(DOWN)                                                             \
    X(SERVER)                                                           \
    X(CLIENT)

/* X(name) */
#define RAMP_LIST(X)                                         \
    X(UP)      /* throughput, client to server */            \
    X(DOWN)    /* throughput, server to client */            \
    X(ARRIVED) /* received per second */                     \
    X(LOSS)    /* packets lost */                            \
    X(LOAD)    /* how busy something is: calm to critical */ \
    X(HEAT)    /* heat maps */

#define RAMP_STEPS 12

enum ramp {
#define X(name) RAMP_##name,
    RAMP_LIST(X)
#undef X
        RAMP_COUNT
};

enum paint {
#define X(name) PAINT_##name,
    PAINT_LIST(X)
#undef X
        PAINT_RAMPS, /* the first step of the first ramp */
    PAINT_COUNT = PAINT_RAMPS + RAMP_COUNT * RAMP_STEPS
};

/* Attributes: what stays when there is no colour. */
enum attribute {
    ATTR_BOLD = 1,
    ATTR_DIM = 2,
    ATTR_UNDERLINE = 4,
    ATTR_REVERSE = 8,
};

/* How a paint looks. A colour of -1 is the terminal's own. */
struct look {
    short colour;       /* index in the palette of 256, 16 or, with none, -1 */
    uint8_t attributes; /* added to what the drawing asks for */
};

struct theme;

/* "dark", "light", "mono"; NULL when there is no such theme. */
const struct theme *theme_find(const char *name);
const struct theme *theme_next(const struct theme *t); /* round and round */

/*
 * The theme to start with: mono if NO_COLOR is set and not empty (no-color.org), light
 * if COLORFGBG says that the background is a light one, else dark. Both may be NULL.
 */
const struct theme *theme_choose(const char *no_color, const char *colorfgbg);

/* The look of a paint at a depth of `colours` (any number; 256 and up, 8 and up, less).
 */
struct look theme_look(const struct theme *t, enum paint paint, int colours);

/* The paint of a ramp for a level from 0 to 1; outside values are clamped, NaN is 0. */
enum paint theme_ramp(enum ramp ramp, double level);

/* 0xRRGGBB of a palette index as xterm has it. -1 gives `own`. */
uint32_t theme_rgb(short colour, uint32_t own);

/* The terminal's own colours as the theme imagines them, for pictures. */
uint32_t theme_own_text(const struct theme *t);
uint32_t theme_own_ground(const struct theme *t);

#endif
