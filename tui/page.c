#include "tui/page.h"

#include "tui/keys.h"

struct page page_begin(struct canvas *c, struct area area, int offset)
{
    struct page p = {.c = c, .area = area, .offset = offset};

    p.before = canvas_clip(c, area);
    return p;
}

int page_end(struct page *p)
{
    int over = p->line - p->area.height;

    canvas_unclip(p->c, p->before);
    canvas_more(p->c, p->area, over > 0 && p->offset > 0, over > p->offset);
    return over > 0 ? over : 0;
}

struct area page_rows(struct page *p, int rows)
{
    struct area row = {p->area.x, p->area.y + p->line - p->offset, p->area.width, rows};

    p->line += rows;
    return row;
}

void page_gap(struct page *p)
{
    p->line++;
}

void page_heading(struct page *p, const char *text)
{
    struct area row = page_rows(p, 1);
    struct style s = style(PAINT_ACCENT);

    s.attributes = ATTR_BOLD;
    canvas_text(p->c, row.x, row.y, row.width, s, text);
}

void page_text(struct page *p, struct style s, const char *text)
{
    page_entry(p, 0, s, "", text);
}

void page_entry(struct page *p, int columns, struct style label_style, const char *label,
                const char *text)
{
    struct area rest = page_rows(p, 0);
    struct style s = columns > 0 ? style(PAINT_TEXT) : label_style;

    canvas_text(p->c, rest.x, rest.y, columns - 1, label_style, label);
    area_take_left(&rest, columns);
    rest.height = 200; /* as long as it is; the clip area cuts it */
    p->line += canvas_paragraph(p->c, rest, s, text);
}

int page_scroll(int offset, int offset_max, uint32_t press)
{
    switch (press) {
    case PRESS_UP:
    case 'k':
        offset--;
        break;
    case PRESS_DOWN:
    case 'j':
        offset++;
        break;
    case PRESS_PAGE_UP:
        offset -= 10;
        break;
    case PRESS_PAGE_DOWN:
    case ' ':
        offset += 10;
        break;
    case PRESS_HOME:
        offset = 0;
        break;
    case PRESS_END:
        offset = offset_max;
        break;
    default:
        break;
    }
    offset = offset > offset_max ? offset_max : offset;
    return offset < 0 ? 0 : offset;
}
