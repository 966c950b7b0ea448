#include "tui/screens.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/limits.h"
#include "engine/units.h"
#include "tui/app.h"
#include "tui/page.h"

struct screen_limits {
    struct app *app; /* borrowed */
    const struct scenario *scenario;
    size_t count;
    struct limit rows[LIMITS_MAX];
    int offset, offset_max;
};

static void *screen_limits_init(struct app *app, const void *argument)
{
    const struct limits_request *request = argument;
    struct screen_limits *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->app = app;
    l->scenario = request ? request->scenario : NULL;
    l->count = limits_for(l->scenario, request ? request->values : NULL, l->rows);
    return l;
}

static void screen_limits_free(void *self)
{
    free(self);
}

static void number_text(const struct limit *l, uint64_t value, char *out, size_t size)
{
    if (strncmp(l->name, "bytes", 5) == 0)
        units_format_bytes((double)value, out, size);
    else
        snprintf(out, size, "%" PRIu64, value);
}

static void draw_limit(struct page *p, const struct limit *l)
{
    const struct glyph_set *g = p->c->glyphs;
    enum paint paint = !l->known ? PAINT_UNKNOWN : l->enough ? PAINT_GOOD : PAINT_WARN;
    struct area row = page_rows(p, 1);
    char need[48] = "", have[192];

    number_text(l, l->have, have, sizeof(have));
    if (l->text[0] != '\0')
        snprintf(have, sizeof(have), "%s", l->text);
    if (!l->known)
        snprintf(have, sizeof(have), "unknown");
    if (l->need > 0)
        number_text(l, l->need, need, sizeof(need));
    canvas_put(p->c, row.x, row.y,
               !l->known   ? g->unknown
               : l->enough ? g->check
                           : g->cross,
               style(paint));
    canvas_text(p->c, row.x + 2, row.y, 30, style(PAINT_STRONG), l->name);
    canvas_print(p->c, row.x + 33, row.y, row.width - 33, style(paint), "%s%s%s%s", have,
                 need[0] != '\0' ? ", needed " : "", need,
                 l->enough || !l->known ? ""
                 : l->fatal             ? ": too little"
                                        : ": low");
    p->area.x += 2;
    p->area.width -= 2;
    page_text(p, style(PAINT_DIM), l->why);
    if (l->cure[0] != '\0')
        page_entry(p, 6, style(PAINT_ACCENT), "cure", l->cure);
    p->area.x -= 2;
    p->area.width += 2;
    page_gap(p);
}

static void screen_limits_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_limits *l = self;
    struct page p;
    char title[96];

    snprintf(title, sizeof(title), "limits%s%s", l->scenario ? " for " : "",
             l->scenario ? l->scenario->name : "");
    canvas_box(c, a, title, true);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    p = page_begin(c, a, l->offset);
    for (size_t i = 0; i < l->count; i++)
        draw_limit(&p, &l->rows[i]);
    if (l->count == 0)
        page_text(&p, style(PAINT_TEXT), "Nothing of this machine limits these values.");
    l->offset_max = page_end(&p);
    l->offset = page_scroll(l->offset, l->offset_max, PRESS_NONE);
}

static void screen_limits_header(void *self, struct canvas *c, struct area a)
{
    const struct screen_limits *l = self;
    size_t low = 0;
    char text[80];

    for (size_t i = 0; i < l->count; i++)
        low += l->rows[i].known && !l->rows[i].enough;
    if (low == 0)
        snprintf(text, sizeof(text), "nothing here would distort a run");
    else
        snprintf(text, sizeof(text), "%zu of %zu would distort a run", low, l->count);
    canvas_text_right(c, a.x, a.y, a.width, style_on(PAINT_HEADER, PAINT_BAR), text);
}

static void screen_limits_go_back(void *self, uint32_t press)
{
    struct screen_limits *l = self;

    (void)press;
    app_pop(l->app);
}

static void screen_limits_scroll(void *self, uint32_t press)
{
    struct screen_limits *l = self;

    l->offset = page_scroll(l->offset, l->offset_max, press);
}

static bool screen_limits_is_long(const void *self)
{
    return ((const struct screen_limits *)self)->offset_max > 0;
}

static void screen_limits_mouse(void *self, const struct mouse *m)
{
    if (m->kind == POINT_WHEEL_UP)
        screen_limits_scroll(self, PRESS_UP);
    else if (m->kind == POINT_WHEEL_DOWN)
        screen_limits_scroll(self, PRESS_DOWN);
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ESC, 'q', PRESS_ENTER}, "Esc", "back", "Go back",
     screen_limits_go_back, NULL, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_HOME, PRESS_END, ' '}, "\xe2\x86\x91\xe2\x86\x93", "scroll",
     "Scroll the page", screen_limits_scroll, screen_limits_is_long, NULL},
    {.label = NULL},
};
/* clang-format on */

const struct screen screen_limits = {
    .name = "limits",
    .keys = keys,
    .init = screen_limits_init,
    .draw = screen_limits_draw,
    .header = screen_limits_header,
    .mouse = screen_limits_mouse,
    .free = screen_limits_free,
};
