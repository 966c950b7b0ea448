#include "tui/theme.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"

#define B ATTR_BOLD
#define D ATTR_DIM
#define R ATTR_REVERSE

/* One paint: colour of 256, colour of 16 with its attributes, attributes without. */
struct theme_row {
    short deep;
    short flat;
    uint8_t flat_attributes;
    uint8_t mono_attributes;
};

struct theme {
    const char *name;
    bool is_mono;
    uint32_t own_text, own_ground;
    struct theme_row paints[PAINT_RAMPS];
    uint8_t ramps[RAMP_COUNT][RAMP_STEPS];      /* of 256 */
    uint8_t ramps_flat[RAMP_COUNT][RAMP_STEPS]; /* of 16 */
};

#define MONO_ROWS                                                             \
    {                                                                         \
        [PAINT_GROUND] = {-1, -1, 0, 0}, [PAINT_TEXT] = {-1, -1, 0, 0},       \
        [PAINT_STRONG] = {-1, -1, B, B}, [PAINT_DIM] = {-1, -1, 0, 0},        \
        [PAINT_FAINT] = {-1, -1, D, D}, [PAINT_FRAME] = {-1, -1, D, D},       \
        [PAINT_FOCUS] = {-1, -1, 0, 0}, [PAINT_TITLE] = {-1, -1, B, B},       \
        [PAINT_HEADER] = {-1, -1, R, R}, [PAINT_BAR] = {-1, -1, R, R},        \
        [PAINT_KEY] = {-1, -1, B, B}, [PAINT_HINT] = {-1, -1, 0, 0},          \
        [PAINT_STATUS] = {-1, -1, 0, 0}, [PAINT_SELECTED] = {-1, -1, R, R},   \
        [PAINT_SELECTION] = {-1, -1, R, R}, [PAINT_ACCENT] = {-1, -1, B, B},  \
        [PAINT_GOOD] = {-1, -1, B, B}, [PAINT_WARN] = {-1, -1, B, B},         \
        [PAINT_BAD] = {-1, -1, R, R}, [PAINT_UNKNOWN] = {-1, -1, D, D},       \
        [PAINT_TROUGH] = {-1, -1, D, D}, [PAINT_MARK] = {-1, -1, B, B},       \
        [PAINT_SERIES_1] = {-1, -1, 0, 0}, [PAINT_SERIES_2] = {-1, -1, 0, 0}, \
        [PAINT_SERIES_3] = {-1, -1, 0, 0}, [PAINT_SERIES_4] = {-1, -1, 0, 0}, \
        [PAINT_SERIES_5] = {-1, -1, 0, 0}, [PAINT_SERIES_6] = {-1, -1, 0, 0}, \
        [PAINT_P50] = {-1, -1, 0, 0}, [PAINT_P90] = {-1, -1, 0, 0},           \
        [PAINT_P99] = {-1, -1, 0, 0}, [PAINT_MAX] = {-1, -1, B, B},           \
        [PAINT_UP] = {-1, -1, 0, 0}, [PAINT_DOWN] = {-1, -1, 0, 0},           \
        [PAINT_SERVER] = {-1, -1, 0, 0}, [PAINT_CLIENT] = {-1, -1, 0, 0},     \
    }

static const struct theme themes[] = {
    {
        .name = "dark",
        .own_text = 0xd3dae3,
        .own_ground = 0x121212,
        .paints =
            {
                [PAINT_GROUND] = {-1, -1, 0, 0},    [PAINT_TEXT] = {252, 7, 0, 0},
                [PAINT_STRONG] = {231, 15, 0, B},   [PAINT_DIM] = {245, 7, 0, 0},
                [PAINT_FAINT] = {238, 8, 0, D},     [PAINT_FRAME] = {60, 4, 0, D},
                [PAINT_FOCUS] = {74, 6, 0, 0},      [PAINT_TITLE] = {255, 15, 0, B},
                [PAINT_HEADER] = {255, 15, 0, R},   [PAINT_BAR] = {237, 4, 0, R},
                [PAINT_KEY] = {80, 14, 0, B},       [PAINT_HINT] = {250, 7, 0, 0},
                [PAINT_STATUS] = {235, 0, 0, 0},    [PAINT_SELECTED] = {231, 0, 0, R},
                [PAINT_SELECTION] = {24, 6, 0, R},  [PAINT_ACCENT] = {80, 14, 0, B},
                [PAINT_GOOD] = {114, 10, 0, B},     [PAINT_WARN] = {221, 11, 0, B},
                [PAINT_BAD] = {203, 9, 0, R},       [PAINT_UNKNOWN] = {242, 8, 0, D},
                [PAINT_TROUGH] = {237, 8, 0, D},    [PAINT_MARK] = {222, 11, 0, B},
                [PAINT_SERIES_1] = {80, 14, 0, 0},  [PAINT_SERIES_2] = {177, 13, 0, 0},
                [PAINT_SERIES_3] = {114, 10, 0, 0}, [PAINT_SERIES_4] = {221, 11, 0, 0},
                [PAINT_SERIES_5] = {75, 12, 0, 0},  [PAINT_SERIES_6] = {209, 9, 0, 0},
                [PAINT_P50] = {78, 10, 0, 0},       [PAINT_P90] = {150, 14, 0, 0},
                [PAINT_P99] = {221, 11, 0, 0},      [PAINT_MAX] = {203, 9, 0, B},
                [PAINT_UP] = {80, 14, 0, 0},        [PAINT_DOWN] = {177, 13, 0, 0},
                [PAINT_SERVER] = {75, 12, 0, 0},    [PAINT_CLIENT] = {114, 10, 0, 0},
            },
        .ramps =
            {
                [RAMP_UP] = {24, 25, 31, 32, 38, 38, 44, 44, 80, 80, 87, 123},
                [RAMP_DOWN] = {54, 55, 91, 92, 98, 98, 134, 134, 171, 171, 177, 183},
                [RAMP_ARRIVED] = {22, 28, 28, 29, 35, 35, 41, 41, 77, 78, 84, 120},
                [RAMP_LOSS] = {94, 130, 136, 172, 172, 208, 208, 202, 202, 196, 196, 197},
                [RAMP_LOAD] = {36, 42, 78, 114, 150, 186, 221, 215, 214, 209, 203, 197},
                [RAMP_HEAT] = {17, 53, 54, 90, 126, 162, 198, 203, 209, 215, 221, 229},
            },
        .ramps_flat =
            {
                [RAMP_UP] = {4, 4, 4, 6, 6, 6, 6, 6, 14, 14, 14, 14},
                [RAMP_DOWN] = {5, 5, 5, 5, 5, 5, 13, 13, 13, 13, 13, 13},
                [RAMP_ARRIVED] = {2, 2, 2, 2, 2, 2, 10, 10, 10, 10, 10, 10},
                [RAMP_LOSS] = {3, 3, 3, 3, 1, 1, 1, 1, 9, 9, 9, 9},
                [RAMP_LOAD] = {2, 2, 2, 10, 10, 10, 11, 11, 11, 9, 9, 9},
                [RAMP_HEAT] = {4, 4, 5, 5, 5, 13, 13, 9, 9, 11, 11, 15},
            },
    },
    {
        .name = "light",
        .own_text = 0x24292f,
        .own_ground = 0xffffff,
        .paints =
            {
                [PAINT_GROUND] = {231, 15, 0, 0},   [PAINT_TEXT] = {235, 0, 0, 0},
                [PAINT_STRONG] = {16, 0, B, B},     [PAINT_DIM] = {242, 8, 0, 0},
                [PAINT_FAINT] = {251, 7, 0, D},     [PAINT_FRAME] = {109, 4, 0, D},
                [PAINT_FOCUS] = {25, 6, 0, 0},      [PAINT_TITLE] = {16, 0, B, B},
                [PAINT_HEADER] = {231, 15, 0, R},   [PAINT_BAR] = {24, 4, 0, R},
                [PAINT_KEY] = {25, 4, B, B},        [PAINT_HINT] = {238, 0, 0, 0},
                [PAINT_STATUS] = {254, 15, 0, 0},   [PAINT_SELECTED] = {16, 15, 0, R},
                [PAINT_SELECTION] = {153, 4, 0, R}, [PAINT_ACCENT] = {25, 4, B, B},
                [PAINT_GOOD] = {28, 2, 0, B},       [PAINT_WARN] = {130, 3, 0, B},
                [PAINT_BAD] = {160, 1, B, R},       [PAINT_UNKNOWN] = {247, 8, 0, D},
                [PAINT_TROUGH] = {253, 7, 0, D},    [PAINT_MARK] = {130, 3, B, B},
                [PAINT_SERIES_1] = {30, 6, 0, 0},   [PAINT_SERIES_2] = {127, 5, 0, 0},
                [PAINT_SERIES_3] = {28, 2, 0, 0},   [PAINT_SERIES_4] = {136, 3, 0, 0},
                [PAINT_SERIES_5] = {26, 4, 0, 0},   [PAINT_SERIES_6] = {166, 1, 0, 0},
                [PAINT_P50] = {28, 2, 0, 0},        [PAINT_P90] = {30, 6, 0, 0},
                [PAINT_P99] = {136, 3, 0, 0},       [PAINT_MAX] = {160, 1, 0, B},
                [PAINT_UP] = {30, 6, 0, 0},         [PAINT_DOWN] = {127, 5, 0, 0},
                [PAINT_SERVER] = {26, 4, 0, 0},     [PAINT_CLIENT] = {28, 2, 0, 0},
            },
        .ramps =
            {
                [RAMP_UP] = {117, 74, 74, 38, 38, 31, 31, 31, 30, 24, 24, 23},
                [RAMP_DOWN] = {183, 176, 170, 170, 164, 134, 128, 128, 127, 91, 91, 90},
                [RAMP_ARRIVED] = {115, 114, 78, 72, 71, 35, 35, 34, 29, 28, 28, 22},
                [RAMP_LOSS] = {215, 215,
                               214, 208, 208, 202, 202, 166, 160, 160, 124, 124},
                [RAMP_LOAD] = {35, 34, 70, 106, 142, 178, 172, 172, 166, 166, 160, 160},
                [RAMP_HEAT] = {231, 230, 229, 222, 215, 209, 203, 198, 162, 126, 90, 53},
            },
        .ramps_flat =
            {
                [RAMP_UP] = {6, 6, 6, 6, 6, 6, 6, 6, 4, 4, 4, 4},
                [RAMP_DOWN] = {13, 13, 13, 13, 5, 5, 5, 5, 5, 5, 5, 5},
                [RAMP_ARRIVED] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                [RAMP_LOSS] = {3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
                [RAMP_LOAD] = {2, 2, 2, 2, 2, 2, 3, 3, 3, 1, 1, 1},
                [RAMP_HEAT] = {7, 7, 11, 11, 3, 3, 9, 9, 1, 5, 5, 0},
            },
    },
    {
        .name = "mono",
        .is_mono = true,
        .own_text = 0xd3dae3,
        .own_ground = 0x11151b,
        .paints = MONO_ROWS,
    },
};

#define THEME_COUNT NUMBER_OF(themes)

const struct theme *theme_find(const char *name)
{
    for (size_t i = 0; i < THEME_COUNT; i++)
        if (strcmp(themes[i].name, name) == 0)
            return &themes[i];
    return NULL;
}

const struct theme *theme_next(const struct theme *t)
{
    return &themes[(size_t)(t - themes + 1) % THEME_COUNT];
}

/* "15;0" or "0;default;15": the last number is the background; 7 and 9 up are light. */
static bool says_light(const char *colorfgbg)
{
    const char *last = strrchr(colorfgbg, ';');
    char *end;
    long ground;

    if (!last)
        return false;
    ground = strtol(last + 1, &end, 10);
    return end != last + 1 && (ground == 7 || (ground >= 9 && ground <= 15));
}

const struct theme *theme_choose(const char *no_color, const char *colorfgbg)
{
    if (no_color && no_color[0] != '\0')
        return theme_find("mono");
    return theme_find(colorfgbg && says_light(colorfgbg) ? "light" : "dark");
}

static struct look ramp_look(const struct theme *t, int index, int colours)
{
    int ramp = index / RAMP_STEPS, step = index % RAMP_STEPS;
    struct look look = {-1, 0};

    if (colours >= 256)
        look.colour = t->ramps[ramp][step];
    else if (colours >= 8)
        look.colour = t->ramps_flat[ramp][step];
    return look;
}

struct look theme_look(const struct theme *t, enum paint paint, int colours)
{
    const struct theme_row *row;

    if (t->is_mono)
        colours = 0;
    if (paint >= PAINT_RAMPS)
        return ramp_look(t, (int)paint - PAINT_RAMPS, colours);
    row = &t->paints[paint];
    if (colours >= 256)
        return (struct look){row->deep, 0};
    if (colours >= 8)
        return (struct look){row->flat, row->flat_attributes};
    return (struct look){-1, row->mono_attributes};
}

enum paint theme_ramp(enum ramp ramp, double level)
{
    int step = 0;

    if (level >= 1)
        step = RAMP_STEPS - 1;
    else if (level > 0)
        step = (int)(level * RAMP_STEPS);
    return (enum paint)(PAINT_RAMPS + (int)ramp * RAMP_STEPS + step);
}

uint32_t theme_rgb(short colour, uint32_t own)
{
    static const uint32_t flat[16] = {
        0x000000, 0xcd3131, 0x0dbc79, 0xc8a617, 0x2f6fd0, 0xbc3fbc, 0x11a8cd, 0xcccccc,
        0x767676, 0xf14c4c, 0x23d18b, 0xf5f543, 0x5c9dff, 0xd670d6, 0x29b8db, 0xffffff,
    };
    static const uint32_t levels[6] = {0, 95, 135, 175, 215, 255};
    uint32_t cube, grey;

    if (colour < 0 || colour > 255)
        return own;
    if (colour < 16)
        return flat[colour];
    if (colour >= 232) {
        grey = 8 + 10 * ((uint32_t)colour - 232);
        return grey << 16 | grey << 8 | grey;
    }
    cube = (uint32_t)colour - 16;
    return levels[cube / 36] << 16 | levels[cube / 6 % 6] << 8 | levels[cube % 6];
}

uint32_t theme_own_text(const struct theme *t)
{
    return t->own_text;
}

uint32_t theme_own_ground(const struct theme *t)
{
    return t->own_ground;
}
