#include "tui/canvas.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text.h"

#define MORE_COLUMNS 8 /* of " x more " */

void canvas_init(struct canvas *c, const struct glyph_set *glyphs)
{
    *c = (struct canvas){.glyphs = glyphs, .colours = 256};
}

void canvas_done(struct canvas *c)
{
    const struct glyph_set *glyphs = c->glyphs;

    free(c->cells);
    canvas_init(c, glyphs);
}

int canvas_resize(struct canvas *c, int width, int height)
{
    size_t wanted;
    struct cell *cells;

    if (width < 0)
        width = 0;
    if (height < 0)
        height = 0;
    wanted = (size_t)width * (size_t)height;
    if (wanted > c->capacity) {
        cells = realloc(c->cells, wanted * sizeof(*cells));
        if (!cells)
            return -ENOMEM;
        c->cells = cells;
        c->capacity = wanted;
    }
    c->width = width;
    c->height = height;
    canvas_clear(c);
    return 0;
}

struct area canvas_area(const struct canvas *c)
{
    return (struct area){0, 0, c->width, c->height};
}

void canvas_clear(struct canvas *c)
{
    const struct cell blank = {' ', {PAINT_TEXT, PAINT_GROUND, 0}};
    size_t n = (size_t)c->width * (size_t)c->height;

    for (size_t i = 0; i < n; i++)
        c->cells[i] = blank;
    c->clip = canvas_area(c);
}

static struct cell *cell_at(const struct canvas *c, int x, int y)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height)
        return NULL;
    return &c->cells[(size_t)y * (size_t)c->width + (size_t)x];
}

const struct cell *canvas_at(const struct canvas *c, int x, int y)
{
    return cell_at(c, x, y);
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static bool area_holds(struct area a, int x, int y)
{
    return x >= a.x && y >= a.y && x < a.x + a.width && y < a.y + a.height;
}

struct area canvas_clip(struct canvas *c, struct area area)
{
    struct area before = c->clip;
    int x = max_int(area.x, before.x), y = max_int(area.y, before.y);
    int right = min_int(area.x + area.width, before.x + before.width);
    int bottom = min_int(area.y + area.height, before.y + before.height);

    c->clip = (struct area){x, y, max_int(right - x, 0), max_int(bottom - y, 0)};
    return before;
}

void canvas_unclip(struct canvas *c, struct area before)
{
    c->clip = before;
}

struct area area_inside(struct area a)
{
    return (struct area){a.x + 1, a.y + 1, max_int(a.width - 2, 0),
                         max_int(a.height - 2, 0)};
}

struct area area_take_top(struct area *a, int height)
{
    struct area piece = *a;

    piece.height = max_int(min_int(height, a->height), 0);
    a->y += piece.height;
    a->height -= piece.height;
    return piece;
}

struct area area_take_bottom(struct area *a, int height)
{
    struct area piece = *a;

    piece.height = max_int(min_int(height, a->height), 0);
    a->height -= piece.height;
    piece.y = a->y + a->height;
    return piece;
}

struct area area_take_left(struct area *a, int width)
{
    struct area piece = *a;

    piece.width = max_int(min_int(width, a->width), 0);
    a->x += piece.width;
    a->width -= piece.width;
    return piece;
}

struct area area_take_right(struct area *a, int width)
{
    struct area piece = *a;

    piece.width = max_int(min_int(width, a->width), 0);
    a->width -= piece.width;
    piece.x = a->x + a->width;
    return piece;
}

/* A cell that is about to be overwritten may be half of a wide character. */
static void break_wide(const struct canvas *c, struct cell *cell, int x)
{
    if (cell->code == 0 && x > 0)
        cell[-1].code = ' ';
    if (x + 1 < c->width && cell[1].code == 0)
        cell[1].code = ' ';
}

static void canvas_put_cell(struct canvas *c, int x, int y, uint32_t code, struct style s)
{
    struct cell *cell = cell_at(c, x, y);

    if (!cell || !area_holds(c->clip, x, y))
        return;
    break_wide(c, cell, x);
    cell->code = code;
    cell->style = s;
}

void canvas_put(struct canvas *c, int x, int y, uint32_t code, struct style s)
{
    if (c->glyphs->level == GLYPHS_ASCII && code >= 0x7f)
        code = (uint32_t)(unsigned char)glyphs_ascii(code);
    canvas_put_cell(c, x, y, code, s);
}

void canvas_fill(struct canvas *c, struct area a, uint32_t code, struct style s)
{
    struct area before = canvas_clip(c, a), cut = c->clip;

    for (int y = cut.y; y < cut.y + cut.height; y++)
        for (int x = cut.x; x < cut.x + cut.width; x++)
            canvas_put(c, x, y, code, s);
    canvas_unclip(c, before);
}

/* A character of one or two columns; a wide one that the clip area cuts is a blank. */
static void canvas_put_text(struct canvas *c, int x, int y, uint32_t code, int columns,
                            struct style s)
{
    if (columns == 1) {
        canvas_put(c, x, y, code, s);
        return;
    }
    if (c->glyphs->level == GLYPHS_ASCII) {
        canvas_put_cell(c, x, y, '?', s);
        canvas_put_cell(c, x + 1, y, '?', s);
        return;
    }
    if (!area_holds(c->clip, x, y) || !area_holds(c->clip, x + 1, y)) {
        canvas_put_cell(c, x, y, ' ', s);
        canvas_put_cell(c, x + 1, y, ' ', s);
        return;
    }
    canvas_put_cell(c, x, y, code, s);
    canvas_put_cell(c, x + 1, y, 0, s);
}

/* Draw the first `bytes` bytes of text; returns the columns. */
static int draw_bytes(struct canvas *c, int x, int y, struct style s, const char *text,
                      size_t bytes)
{
    int start = x, columns;
    uint32_t code;
    size_t n;

    for (; bytes > 0; text += n, bytes -= n) {
        n = text_decode(text, bytes, &code);
        code = text_printable(code);
        if (code == 0)
            continue;
        columns = text_code_columns(code);
        canvas_put_text(c, x, y, code, columns, s);
        x += columns;
    }
    return x - start;
}

int canvas_text(struct canvas *c, int x, int y, int columns, struct style s,
                const char *text)
{
    int drawn;

    if (columns <= 0)
        return 0;
    if (text_columns(text) <= columns)
        return draw_bytes(c, x, y, s, text, strlen(text));
    drawn = draw_bytes(c, x, y, s, text, text_fit(text, columns - 1));
    canvas_put(c, x + drawn, y, 0x2026, s);
    return drawn + 1;
}

int canvas_print(struct canvas *c, int x, int y, int columns, struct style s,
                 const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return canvas_text(c, x, y, columns, s, text);
}

int canvas_text_right(struct canvas *c, int x, int y, int columns, struct style s,
                      const char *text)
{
    int width = min_int(text_columns(text), columns);

    return canvas_text(c, x + columns - width, y, width, s, text);
}

/* The bytes of the next line: as many words as fit, or a piece of one that is too long.
 */
static size_t line_length(const char *text, int columns)
{
    size_t fit = text_fit(text, columns), end;
    const char *newline = strchr(text, '\n');

    if (newline && (size_t)(newline - text) <= fit)
        return (size_t)(newline - text);
    if (text[fit] == '\0' || text[fit] == ' ')
        return fit;
    for (end = fit; end > 0; end--)
        if (text[end - 1] == ' ')
            return end - 1;
    return fit;
}

int canvas_paragraph(struct canvas *c, struct area a, struct style s, const char *text)
{
    int lines = 0;
    size_t n;

    if (a.width <= 0)
        return 0;
    while (*text != '\0') {
        n = line_length(text, a.width);
        if (n == 0 && *text != ' ' && *text != '\n')
            break; /* one wide character in an area of one column */
        if (lines < a.height)
            draw_bytes(c, a.x, a.y + lines, s, text, n);
        lines++;
        text += n;
        if (*text == '\n' || *text == ' ')
            text++;
    }
    return lines;
}

static void canvas_draw_frame(struct canvas *c, struct area a, struct style s)
{
    const struct glyph_set *g = c->glyphs;
    int right = a.x + a.width - 1, bottom = a.y + a.height - 1;

    for (int x = a.x + 1; x < right; x++) {
        canvas_put_cell(c, x, a.y, g->horizontal, s);
        canvas_put_cell(c, x, bottom, g->horizontal, s);
    }
    for (int y = a.y + 1; y < bottom; y++) {
        canvas_put_cell(c, a.x, y, g->vertical, s);
        canvas_put_cell(c, right, y, g->vertical, s);
    }
    canvas_put_cell(c, a.x, a.y, g->corner_nw, s);
    canvas_put_cell(c, right, a.y, g->corner_ne, s);
    canvas_put_cell(c, a.x, bottom, g->corner_sw, s);
    canvas_put_cell(c, right, bottom, g->corner_se, s);
}

void canvas_box(struct canvas *c, struct area a, const char *title, bool focused)
{
    struct style frame = style(focused ? PAINT_FOCUS : PAINT_FRAME);
    struct style bold = style(PAINT_TITLE);
    int room = a.width - 6, drawn;

    if (a.width < 2 || a.height < 2)
        return;
    canvas_draw_frame(c, a, frame);
    if (!title || title[0] == '\0' || room < 1)
        return;
    bold.attributes = ATTR_BOLD;
    canvas_put_cell(c, a.x + 2, a.y, ' ', frame);
    drawn = canvas_text(c, a.x + 3, a.y, room, bold, title);
    canvas_put_cell(c, a.x + 3 + drawn, a.y, ' ', frame);
}

void canvas_rule(struct canvas *c, int x, int y, int width, struct style s)
{
    const struct glyph_set *g = c->glyphs;
    const struct cell *first = canvas_at(c, x, y), *last = canvas_at(c, x + width - 1, y);
    bool joins_left = first && first->code == g->vertical;
    bool joins_right = last && last->code == g->vertical;

    for (int i = 0; i < width; i++)
        canvas_put_cell(c, x + i, y, g->horizontal, s);
    if (width > 0 && joins_left)
        canvas_put_cell(c, x, y, g->tee_left, s);
    if (width > 0 && joins_right)
        canvas_put_cell(c, x + width - 1, y, g->tee_right, s);
}

void canvas_more(struct canvas *c, struct area inside, bool above, bool below)
{
    int x = inside.x + inside.width - MORE_COLUMNS - 1;

    if (inside.width < 2 * MORE_COLUMNS)
        return;
    if (above)
        canvas_text(c, x, inside.y - 1, MORE_COLUMNS, style(PAINT_ACCENT),
                    " \xe2\x86\x91 more ");
    if (below)
        canvas_text(c, x, inside.y + inside.height, MORE_COLUMNS, style(PAINT_ACCENT),
                    " \xe2\x86\x93 more ");
}

void canvas_bar(struct canvas *c, int x, int y, int columns, double share, struct style s)
{
    struct style trough = style_on(PAINT_TROUGH, s.ground);
    int full;

    if (isnan(share) || share < 0)
        share = 0;
    full = (int)lround((share > 1 ? 1 : share) * columns);
    if (full == 0 && share > 0 && columns > 0)
        full = 1; /* a little is not nothing */
    for (int i = 0; i < columns; i++)
        canvas_put_cell(c, x + i, y, i < full ? c->glyphs->bar : c->glyphs->trough,
                        i < full ? s : trough);
}

void canvas_spark(struct canvas *c, int x, int y, int columns, const double *values,
                  size_t count, struct style s)
{
    double top = 0;
    size_t first = columns > 0 && count > (size_t)columns ? count - (size_t)columns : 0;

    for (size_t i = first; i < count; i++)
        if (values[i] > top)
            top = values[i];
    for (size_t i = first; i < count && (int)(i - first) < columns; i++) {
        int level = top > 0 && values[i] > 0 ? (int)ceil(values[i] / top * 8) : 1;

        if (!isnan(values[i]))
            canvas_put_cell(c, x + (int)(i - first), y, c->glyphs->levels[level], s);
    }
}

void canvas_dot(struct canvas *c, int dx, int dy, struct style s)
{
    const struct glyph_set *g = c->glyphs;
    int x = dx / g->dots_wide, y = dy / g->dots_high;
    struct cell *cell = cell_at(c, x, y);
    unsigned bit;

    if (dx < 0 || dy < 0 || !cell || !area_holds(c->clip, x, y))
        return;
    bit = (unsigned)(dy % g->dots_high * g->dots_wide + dx % g->dots_wide);
    break_wide(c, cell, x);
    cell->code = glyphs_add_dot(g, cell->code, bit);
    cell->style = s;
}

/* One row without the blanks at its end; returns the bytes. */
static size_t row_to_text(const struct canvas *c, int y, char *out)
{
    const struct cell *row = &c->cells[(size_t)y * (size_t)c->width];
    int end = c->width;
    size_t used = 0;

    while (end > 0 && row[end - 1].code == ' ')
        end--;
    for (int x = 0; x < end; x++)
        if (row[x].code != 0)
            used += text_encode(row[x].code, out + used);
    out[used++] = '\n';
    return used;
}

char *canvas_to_text(const struct canvas *c)
{
    size_t row_max = (size_t)c->width * (TEXT_ENCODED_MAX - 1) + 1, used = 0;
    char *text = malloc(row_max * (size_t)c->height + TEXT_ENCODED_MAX);

    if (!text)
        return NULL;
    for (int y = 0; y < c->height; y++)
        used += row_to_text(c, y, text + used);
    text[used] = '\0';
    return text;
}
