#include "tui/picture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"
#include "tui/text.h"

/* Sizes in SVG units. Both cell sides divide by the dots of braille: 2 and 4. */
#define CELL_WIDTH 10
#define CELL_HEIGHT 20
#define MARGIN 12
#define TITLE_HEIGHT 38
#define FONT_SIZE "16.61" /* DejaVu Sans Mono advances 0.602 em: one cell */
#define BASELINE 15
#define COLOURS_MAX 256

int picture_init(struct picture *p, int width, int height, uint32_t text_rgb,
                 uint32_t ground_rgb)
{
    size_t n = (size_t)width * (size_t)height;

    *p = (struct picture){width, height, text_rgb, ground_rgb, NULL};
    p->cells = calloc(n > 0 ? n : 1, sizeof(*p->cells));
    if (!p->cells)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        p->cells[i] = (struct picture_cell){' ', text_rgb, ground_rgb, 0};
    return 0;
}

void picture_done(struct picture *p)
{
    free(p->cells);
    p->cells = NULL;
}

/* A cell that is known to be inside. */
static struct picture_cell *cell_of(const struct picture *p, int x, int y)
{
    return &p->cells[(size_t)y * (size_t)p->width + (size_t)x];
}

struct picture_cell *picture_at(const struct picture *p, int x, int y)
{
    if (x < 0 || y < 0 || x >= p->width || y >= p->height)
        return NULL;
    return cell_of(p, x, y);
}

/* Half way between two colours, channel by channel. */
static uint32_t mix(uint32_t a, uint32_t b)
{
    return ((a & 0xfefefe) >> 1) + ((b & 0xfefefe) >> 1);
}

void picture_set(struct picture *p, int x, int y, uint32_t code, short text, short ground,
                 unsigned attributes)
{
    struct picture_cell *cell = picture_at(p, x, y);
    uint32_t swap;

    if (!cell)
        return;
    cell->code = code;
    cell->text_rgb = theme_rgb(text, p->text_rgb);
    cell->ground_rgb = theme_rgb(ground, p->ground_rgb);
    cell->attributes = (uint8_t)(attributes & (ATTR_BOLD | ATTR_UNDERLINE));
    if (attributes & ATTR_REVERSE) {
        swap = cell->text_rgb;
        cell->text_rgb = cell->ground_rgb;
        cell->ground_rgb = swap;
    }
    if (attributes & ATTR_DIM)
        cell->text_rgb = mix(cell->text_rgb, cell->ground_rgb);
}

int picture_from_canvas(struct picture *p, const struct canvas *c, const struct theme *t,
                        int colours)
{
    int rc = picture_init(p, c->width, c->height, theme_own_text(t), theme_own_ground(t));

    for (int y = 0; rc == 0 && y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            const struct cell *cell = &c->cells[y * c->width + x];
            struct look text = theme_look(t, cell->style.paint, colours);
            struct look ground = theme_look(t, cell->style.ground, colours);

            picture_set(p, x, y, cell->code, text.colour, ground.colour,
                        text.attributes | ground.attributes | cell->style.attributes);
        }
    return rc;
}

/* Shapes. */

enum shape { SHAPE_TEXT, SHAPE_BLANK, SHAPE_BRAILLE, SHAPE_LINE, SHAPE_BLOCK };

/* Lines from the middle of a cell: up, right, down, left. */
enum { UP = 1, RIGHT = 2, DOWN = 4, LEFT = 8, ROUND = 16, DASHED = 32 };

static const struct {
    uint16_t code;
    uint8_t arms;
} box_lines[] = {
    {0x2500, LEFT | RIGHT},
    {0x2502, UP | DOWN},
    {0x2506, UP | DOWN | DASHED},
    {0x2508, LEFT | RIGHT | DASHED},
    {0x250c, RIGHT | DOWN},
    {0x2510, LEFT | DOWN},
    {0x2514, RIGHT | UP},
    {0x2518, LEFT | UP},
    {0x251c, UP | DOWN | RIGHT},
    {0x2524, UP | DOWN | LEFT},
    {0x252c, LEFT | RIGHT | DOWN},
    {0x2534, LEFT | RIGHT | UP},
    {0x253c, UP | DOWN | LEFT | RIGHT},
    {0x256d, RIGHT | DOWN | ROUND},
    {0x256e, LEFT | DOWN | ROUND},
    {0x256f, LEFT | UP | ROUND},
    {0x2570, RIGHT | UP | ROUND},
};

static unsigned arms_of(uint32_t code)
{
    for (size_t i = 0; i < NUMBER_OF(box_lines); i++)
        if (box_lines[i].code == code)
            return box_lines[i].arms;
    return 0;
}

static enum shape shape_of(uint32_t code)
{
    if (code == 0 || code == ' ' || code == 0x2800)
        return SHAPE_BLANK;
    if (code > 0x2800 && code <= 0x28ff)
        return SHAPE_BRAILLE;
    if ((code >= 0x2580 && code <= 0x259f) || code == 0x25a0)
        return SHAPE_BLOCK;
    return arms_of(code) != 0 ? SHAPE_LINE : SHAPE_TEXT;
}

static int left_of(int x)
{
    return MARGIN + x * CELL_WIDTH;
}

static int top_of(int y)
{
    return TITLE_HEIGHT + y * CELL_HEIGHT;
}

/* A dot is a line of no length with round ends, placed relative to the one before. */
static void draw_braille(FILE *out, int x, int y, uint32_t code)
{
    unsigned mask = glyphs_to_mask(glyphs_get(GLYPHS_BRAILLE), code);
    int before = -1;

    for (int i = 0; i < 8; i++) {
        if (!(mask & 1u << i))
            continue;
        if (before < 0)
            fprintf(out, "M%g %gh0", left_of(x) + 2.5 + i % 2 * 5.0,
                    top_of(y) + 2.5 + i / 2 * 5.0);
        else
            fprintf(out, "m%d %dh0", (i % 2 - before % 2) * 5, (i / 2 - before / 2) * 5);
        before = i;
    }
}

static void draw_dashes(FILE *out, int left, int top, unsigned arms)
{
    if (arms & LEFT)
        fprintf(out, "M%g %dh1M%g %dh1M%g %dh1M%g %dh1", left + 0.75, top + 10,
                left + 3.25, top + 10, left + 5.75, top + 10, left + 8.25, top + 10);
    else
        fprintf(out, "M%d %dv3M%d %dv3M%d %dv3", left + 5, top + 2, left + 5, top + 8,
                left + 5, top + 15);
}

/* A quarter of a circle between two sides, straight beyond its ends. */
static void draw_corner(FILE *out, int left, int top, unsigned arms)
{
    int end = arms & RIGHT ? 10 : 0, vertical = arms & DOWN ? 20 : 0;
    int bend = arms & DOWN ? 15 : 5;

    fprintf(out, "M%d %dV%dQ%d %d %d %d", left + 5, top + vertical, top + bend, left + 5,
            top + 10, left + end, top + 10);
}

static void picture_draw_line(FILE *out, int x, int y, uint32_t code)
{
    unsigned arms = arms_of(code);
    int left = left_of(x), top = top_of(y);

    if (arms & DASHED) {
        draw_dashes(out, left, top, arms);
        return;
    }
    if (arms & ROUND) {
        draw_corner(out, left, top, arms);
        return;
    }
    if (arms & (LEFT | RIGHT))
        fprintf(out, "M%d %dH%d", left + (arms & LEFT ? 0 : 5), top + 10,
                left + (arms & RIGHT ? 10 : 5));
    if (arms & (UP | DOWN))
        fprintf(out, "M%d %dV%d", left + 5, top + (arms & UP ? 0 : 10),
                top + (arms & DOWN ? 20 : 10));
}

static void rectangle(FILE *out, double x, double y, double width, double height)
{
    fprintf(out, "M%g %gh%gv%gh%gz", x, y, width, height, -width);
}

/* Which quarters U+2596 to U+259F fill: 1 upper left, 2 upper right, 4 and 8 below. */
static const uint8_t quarter_masks[] = {4, 8, 1, 13, 9, 7, 11, 2, 6, 14};

static void draw_block(FILE *out, int x, int y, uint32_t code)
{
    double left = left_of(x), top = top_of(y);
    double eighth_x = CELL_WIDTH / 8.0, eighth_y = CELL_HEIGHT / 8.0;

    if (code == 0x25a0) {
        rectangle(out, left + 1, top + 6, CELL_WIDTH - 2, CELL_HEIGHT - 11);
    } else if (code == 0x2580) {
        rectangle(out, left, top, CELL_WIDTH, CELL_HEIGHT / 2.0);
    } else if (code <= 0x2588) {
        double height = (code - 0x2580) * eighth_y;

        rectangle(out, left, top + CELL_HEIGHT - height, CELL_WIDTH, height);
    } else if (code <= 0x258f) {
        rectangle(out, left, top, (0x2590 - code) * eighth_x, CELL_HEIGHT);
    } else if (code == 0x2590) {
        rectangle(out, left + CELL_WIDTH / 2.0, top, CELL_WIDTH / 2.0, CELL_HEIGHT);
    } else if (code <= 0x2593) {
        rectangle(out, left, top, CELL_WIDTH, CELL_HEIGHT);
    } else if (code == 0x2594) {
        rectangle(out, left, top, CELL_WIDTH, eighth_y);
    } else if (code == 0x2595) {
        rectangle(out, left + 7 * eighth_x, top, eighth_x, CELL_HEIGHT);
    } else {
        for (int i = 0; i < 4; i++)
            if (quarter_masks[code - 0x2596] & 1u << i)
                rectangle(out, left + i % 2 * CELL_WIDTH / 2.0,
                          top + i / 2 * CELL_HEIGHT / 2.0, CELL_WIDTH / 2.0,
                          CELL_HEIGHT / 2.0);
    }
}

/* Shades let the ground through; they are drawn apart, by their share of 0 to 3. */
static int shade_of(uint32_t code)
{
    return code >= 0x2591 && code <= 0x2593 ? (int)(code - 0x2590) : 0;
}

/* Output. */

/* The colours of all cells of a shape, in the order of first use. */
struct colours {
    size_t count;
    uint32_t rgb[COLOURS_MAX];
};

static void add_colour(struct colours *set, uint32_t rgb)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->rgb[i] == rgb)
            return;
    if (set->count < COLOURS_MAX)
        set->rgb[set->count++] = rgb;
}

static void picture_collect(const struct picture *p, enum shape shape,
                            struct colours *set)
{
    set->count = 0;
    for (int i = 0; i < p->width * p->height; i++)
        if (shape_of(p->cells[i].code) == shape)
            add_colour(set, p->cells[i].text_rgb);
}

static void draw_shape(FILE *out, enum shape shape, int x, int y, uint32_t code)
{
    if (shape == SHAPE_BRAILLE)
        draw_braille(out, x, y, code);
    else if (shape == SHAPE_LINE)
        picture_draw_line(out, x, y, code);
    else
        draw_block(out, x, y, code);
}

/* All cells of one shape, colour and shade as one path: no seams between cells. */
static void write_path(const struct picture *p, FILE *out, enum shape shape, uint32_t rgb,
                       int shade)
{
    static const char *const opacities[] = {"", " opacity=\".25\"", " opacity=\".5\"",
                                            " opacity=\".75\""};
    bool open = false;

    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const struct picture_cell *cell = cell_of(p, x, y);

            if (shape_of(cell->code) != shape || cell->text_rgb != rgb ||
                shade_of(cell->code) != shade)
                continue;
            if (!open)
                fprintf(out, "<path %s=\"#%06x\"%s d=\"",
                        shape == SHAPE_BLOCK ? "fill" : "stroke", (unsigned)rgb,
                        opacities[shade]);
            open = true;
            draw_shape(out, shape, x, y, cell->code);
        }
    if (open)
        fprintf(out, "\"/>\n");
}

static void write_shapes(const struct picture *p, FILE *out, enum shape shape,
                         const char *group)
{
    struct colours set;

    picture_collect(p, shape, &set);
    if (set.count == 0)
        return;
    fprintf(out, "<g %s>\n", group);
    for (size_t i = 0; i < set.count; i++)
        for (int shade = 0; shade < (shape == SHAPE_BLOCK ? 4 : 1); shade++)
            write_path(p, out, shape, set.rgb[i], shade);
    fprintf(out, "</g>\n");
}

/* The ground that most cells have, for the window around them (Boyer and Moore's vote).
 */
static uint32_t common_ground(const struct picture *p)
{
    uint32_t leader = p->ground_rgb;
    int lead = 0;

    for (int i = 0; i < p->width * p->height; i++) {
        if (lead == 0)
            leader = p->cells[i].ground_rgb;
        lead += p->cells[i].ground_rgb == leader ? 1 : -1;
    }
    return leader;
}

/* Grounds as rectangles, runs of a row in one. */
static void write_grounds(const struct picture *p, FILE *out, uint32_t window)
{
    fprintf(out, "<g shape-rendering=\"crispEdges\">\n");
    for (int y = 0; y < p->height; y++)
        for (int x = 0, end; x < p->width; x = end) {
            uint32_t rgb = cell_of(p, x, y)->ground_rgb;

            end = x + 1;
            while (end < p->width && cell_of(p, end, y)->ground_rgb == rgb)
                end++;
            if (rgb != window)
                fprintf(out,
                        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                        "fill=\"#%06x\"/>\n",
                        left_of(x), top_of(y), (end - x) * CELL_WIDTH, CELL_HEIGHT,
                        (unsigned)rgb);
        }
    fprintf(out, "</g>\n");
}

static void write_character(FILE *out, uint32_t code)
{
    char bytes[TEXT_ENCODED_MAX];

    if (code == '<')
        fputs("&lt;", out);
    else if (code == '&')
        fputs("&amp;", out);
    else if (code == '>')
        fputs("&gt;", out);
    else if (text_encode(code, bytes) > 0)
        fputs(bytes, out);
}

static void write_escaped(FILE *out, const char *text)
{
    size_t len = strlen(text), n;
    uint32_t code;

    for (; len > 0; text += n, len -= n) {
        n = text_decode(text, len, &code);
        code = text_printable(code);
        if (code != 0)
            write_character(out, code);
    }
}

static bool same_run(const struct picture_cell *a, const struct picture_cell *b)
{
    /* Beyond ASCII the font may be another with another advance: one by one. */
    return a->code < 0x7f && b->code < 0x7f && shape_of(b->code) == SHAPE_TEXT &&
           a->text_rgb == b->text_rgb && a->attributes == b->attributes;
}

/* A word: characters without a blank, of one colour. Returns the column after it. */
static int write_word(const struct picture *p, FILE *out, int x, int y)
{
    const struct picture_cell *first = cell_of(p, x, y), *cell = first;
    int end = x;

    fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"#%06x\"%s>", left_of(x),
            top_of(y) + BASELINE, (unsigned)first->text_rgb,
            first->attributes & ATTR_BOLD ? " font-weight=\"bold\"" : "");
    do {
        write_character(out, cell->code);
        cell = ++end < p->width ? cell_of(p, end, y) : NULL;
    } while (cell && same_run(first, cell));
    fprintf(out, "</text>\n");
    if (first->attributes & ATTR_UNDERLINE)
        fprintf(out, "<path stroke=\"#%06x\" d=\"M%d %dH%d\"/>\n",
                (unsigned)first->text_rgb, left_of(x), top_of(y) + BASELINE + 3,
                left_of(end));
    return end;
}

static void write_texts(const struct picture *p, FILE *out)
{
    fprintf(out, "<g font-family=\"DejaVu Sans Mono, monospace\" font-size=\"" FONT_SIZE
                 "\" xml:space=\"preserve\">\n");
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width;) {
            if (shape_of(cell_of(p, x, y)->code) == SHAPE_TEXT)
                x = write_word(p, out, x, y);
            else
                x++;
        }
    fprintf(out, "</g>\n");
}

static void write_frame(uint32_t ground, const char *title, FILE *out, int width,
                        int height)
{
    static const char *const lights[] = {"ff5f57", "febc2e", "28c840"};

    fprintf(out,
            "<rect x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"10\" fill=\"#%06x\" "
            "stroke=\"#%06x\"/>\n",
            width - 1, height - 1, (unsigned)ground,
            (unsigned)mix(ground, mix(ground, 0x808080)));
    for (int i = 0; i < 3; i++)
        fprintf(out, "<circle cx=\"%d\" cy=\"19\" r=\"5.5\" fill=\"#%s\"/>\n",
                22 + i * 19, lights[i]);
    fprintf(out,
            "<text x=\"%d\" y=\"23.5\" fill=\"#%06x\" font-family=\"DejaVu Sans Mono, "
            "monospace\" font-size=\"13\" text-anchor=\"middle\">",
            width / 2, (unsigned)mix(0x808080, mix(0x808080, ground)));
    write_escaped(out, title);
    fprintf(out, "</text>\n");
}

void picture_write_svg(const struct picture *p, const char *title, FILE *out)
{
    int width = p->width * CELL_WIDTH + 2 * MARGIN;
    int height = p->height * CELL_HEIGHT + TITLE_HEIGHT + MARGIN;
    uint32_t window = common_ground(p);

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n",
            width, height, width, height);
    write_frame(window, title, out, width, height);
    write_grounds(p, out, window);
    write_shapes(p, out, SHAPE_BLOCK, "shape-rendering=\"crispEdges\"");
    write_shapes(p, out, SHAPE_BRAILLE, "stroke-width=\"3.4\" stroke-linecap=\"round\"");
    write_shapes(p, out, SHAPE_LINE, "fill=\"none\" stroke-width=\"1.4\"");
    write_texts(p, out);
    fprintf(out, "</svg>\n");
}

void picture_write_text(const struct picture *p, FILE *out)
{
    for (int y = 0; y < p->height; y++) {
        int end = p->width;
        char bytes[TEXT_ENCODED_MAX];

        while (end > 0 && cell_of(p, end - 1, y)->code == ' ')
            end--;
        for (int x = 0; x < end; x++)
            if (cell_of(p, x, y)->code != 0 &&
                text_encode(cell_of(p, x, y)->code, bytes) > 0)
                fputs(bytes, out);
        fputc('\n', out);
    }
}
