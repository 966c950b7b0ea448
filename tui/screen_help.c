#include "tui/screens.h"

#include <stdlib.h>

#include "tui/app.h"
#include "tui/page.h"

struct screen_help {
    struct app *app; /* borrowed */
    struct help_subject subject;
    int offset;     /* lines scrolled past */
    int offset_max; /* known since the last drawing */
};

static void *screen_help_init(struct app *app, const void *argument)
{
    struct screen_help *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    h->app = app;
    h->subject = *(const struct help_subject *)argument;
    return h;
}

static void screen_help_free(void *self)
{
    free(self);
}

static void screen_help_go_back(void *self, uint32_t press)
{
    struct screen_help *h = self;

    (void)press;
    app_pop(h->app);
}

static void screen_help_scroll(void *self, uint32_t press)
{
    struct screen_help *h = self;

    h->offset = page_scroll(h->offset, h->offset_max, press);
}

static bool screen_help_is_long(const void *self)
{
    return ((const struct screen_help *)self)->offset_max > 0;
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ESC, 'q', '?', PRESS_F1, PRESS_ENTER}, "Esc", "back",
     "Go back", screen_help_go_back, NULL, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN}, "\xe2\x86\x91\xe2\x86\x93", "scroll",
     "Scroll the list", screen_help_scroll, screen_help_is_long, NULL},
    {.label = NULL},
};
/* clang-format on */

static void screen_help_row(struct page *p, const char *label, const char *text)
{
    struct style bold = style(PAINT_STRONG);

    bold.attributes = ATTR_BOLD;
    page_entry(p, 14, bold, label, text);
}

static void table(struct page *p, const struct key *k)
{
    for (; k->label; k++)
        screen_help_row(p, k->label, k->help);
    page_gap(p);
}

static void numbers(struct page *p)
{
    page_heading(p, "What the figures mean");
    screen_help_row(p, "throughput",
                    "Application bytes as the receiver counts them, in decimal units "
                    "(1 MB = 10^6 B); up is client to server");
    screen_help_row(p, "latency",
                    "With a rate set: from the intended send time (response time). "
                    "Without: from the start of each operation (service time)");
    screen_help_row(p, "received",
                    "Messages that the receiving process has read, per second");
    screen_help_row(p, "loss",
                    "Accepted by the sender's kernel and not received after the drain; "
                    "split into receive-buffer overflow and unexplained");
    screen_help_row(p, "- or gap", "Not measured, or not known yet; never drawn as zero");
}

static void screen_help_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_help *h = self;
    struct page p;

    canvas_box(c, a, h->subject.screen->name, true);
    a = area_inside(a);
    area_take_left(&a, 1);
    area_take_right(&a, 1);
    p = page_begin(c, a, h->offset);
    page_heading(&p, "Keys of this screen");
    table(&p, h->subject.screen->keys);
    page_heading(&p, "Keys everywhere");
    table(&p, app_keys());
    numbers(&p);
    h->offset_max = page_end(&p);
    h->offset = page_scroll(h->offset, h->offset_max, PRESS_NONE);
}

static void screen_help_mouse(void *self, const struct mouse *m)
{
    if (m->kind == POINT_WHEEL_UP)
        screen_help_scroll(self, PRESS_UP);
    else if (m->kind == POINT_WHEEL_DOWN)
        screen_help_scroll(self, PRESS_DOWN);
}

const struct screen screen_help = {
    .name = "help",
    .keys = keys,
    .init = screen_help_init,
    .draw = screen_help_draw,
    .mouse = screen_help_mouse,
    .free = screen_help_free,
};
