#include "tui/bars.h"

#include "tui/text.h"

void bars_draw(struct canvas *c, struct area a, const struct bar *bars, size_t count,
               double top)
{
    int labels = 0, figures = 0, room;

    for (size_t i = 0; i < count; i++) {
        int l = text_columns(bars[i].label), f = text_columns(bars[i].figure);

        labels = l > labels ? l : labels;
        figures = f > figures ? f : figures;
        if (top <= 0 || bars[i].value > top)
            top = bars[i].value > top ? bars[i].value : top;
    }
    room = a.width - labels - figures - 2;
    for (size_t i = 0; i < count && (int)i < a.height; i++) {
        int y = a.y + (int)i;
        double share = top > 0 ? bars[i].value / top : 0;

        canvas_text(c, a.x, y, a.width, style(PAINT_DIM), bars[i].label);
        if (room >= 6) /* a shorter bar compares nothing */
            canvas_bar(c, a.x + labels + 1, y, room, share, style(bars[i].paint));
        if (a.width > labels)
            canvas_text_right(c, a.x + labels + 1, y, a.width - labels - 1,
                              style(PAINT_STRONG), bars[i].figure);
    }
}
