#include "tui/chart_parts.h"

#include <math.h>
#include <stdio.h>

#include "tui/text.h"

struct legend_item {
    uint32_t bullet;
    enum paint paint;
    const char *name; /* "": there is none, or no room for names */
    char figure[SCALE_LABEL + 8];
};

uint32_t chart_legend_bullet(const struct canvas *c, size_t index)
{
    static const char bullets[] = "*+ox#%@&";

    if (c->glyphs->level == GLYPHS_ASCII)
        return (uint32_t)bullets[index % (sizeof(bullets) - 1)];
    return c->glyphs->bullet;
}

static void make_item(const struct canvas *c, const struct chart *ch, size_t index,
                      struct legend_item *item)
{
    const struct chart_line *l = &ch->lines[index];
    char label[SCALE_LABEL];

    item->bullet = chart_legend_bullet(c, index);
    item->paint = l->paint;
    item->name = l->name;
    scale_label(ch->quantity, l->now, label);
    snprintf(item->figure, sizeof(item->figure), "%s%s", label,
             isnan(l->now) ? "" : ch->per);
}

/* With the blank behind the last one. */
static int items_width(const struct legend_item *items, size_t count)
{
    int total = 1;

    for (size_t i = 0; i < count; i++) {
        total += 3 + text_columns(items[i].figure);
        if (items[i].name[0] != '\0')
            total += text_columns(items[i].name) + 1;
    }
    return total;
}

static int draw_item(struct canvas *c, int x, int y, const struct legend_item *item)
{
    int start = x;

    canvas_put(c, x++, y, ' ', style(PAINT_TEXT));
    canvas_put(c, x++, y, item->bullet, style(item->paint));
    canvas_put(c, x++, y, ' ', style(PAINT_TEXT));
    if (item->name[0] != '\0') {
        x += canvas_text(c, x, y, 40, style(PAINT_DIM), item->name);
        canvas_put(c, x++, y, ' ', style(PAINT_TEXT));
    }
    x += canvas_text(c, x, y, 40, style(PAINT_STRONG), item->figure);
    return x - start;
}

bool chart_legend_draw(struct canvas *c, struct area frame, const struct chart *ch)
{
    struct legend_item items[LEGEND_MAX];
    size_t count = ch->line_count < LEGEND_MAX ? ch->line_count : LEGEND_MAX;
    int title = ch->title ? text_columns(ch->title) + 3 : 0;
    int room = frame.width - title - 4, x;
    bool with_names = true;

    for (size_t i = 0; i < count; i++)
        make_item(c, ch, i, &items[i]);
    if (items_width(items, count) > room) {
        with_names = false;
        for (size_t i = 0; i < count; i++)
            items[i].name = "";
    }
    if (items_width(items, count) > room || count == 0)
        return false;
    x = frame.x + frame.width - 2 - items_width(items, count);
    for (size_t i = 0; i < count; i++)
        x += draw_item(c, x, frame.y, &items[i]);
    canvas_put(c, x, frame.y, ' ', style(PAINT_TEXT));
    return with_names;
}
