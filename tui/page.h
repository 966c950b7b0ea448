/*
 * A column of lines that may be longer than its area: drawn from the top, scrolled by an
 * offset, clipped to the area. Drawing it counts its lines. The area
 * stands in a frame, which says whether there is more above or below.
 */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include "tui/canvas.h"

struct page {
    struct canvas *c;
    struct area area, before; /* before: the clip area to go back to */
    int line, offset;
};

struct page page_begin(struct canvas *c, struct area area, int offset);

/* Ends the clipping; returns how far the page can be scrolled at most, 0 if it fits. */
int page_end(struct page *p);

/* The next line, or the next `rows` of them, as an area; it may lie outside. */
struct area page_rows(struct page *p, int rows);

void page_gap(struct page *p);
void page_heading(struct page *p, const char *text);
void page_text(struct page *p, struct style s, const char *text); /* broken at blanks */

/* A label in the first `columns` columns and a text that is broken beside it. */
void page_entry(struct page *p, int columns, struct style label_style, const char *label,
                const char *text);

/* What a scrolling press does to an offset; other presses leave it. */
int page_scroll(int offset, int offset_max, uint32_t press);

#endif
