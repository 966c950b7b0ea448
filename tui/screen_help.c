#include "tui/screen_help.h"

#include <stdlib.h>

#include "tui/app.h"
#include "tui/page.h"

struct help {
    struct app *app; /* borrowed */
    struct help_subject subject;
    int offset;     /* lines scrolled past */
    int offset_max; /* known since the last drawing */
};

static void *help_init(struct app *app, const void *argument)
{
    struct help *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    h->app = app;
    h->subject = *(const struct help_subject *)argument;
    return h;
}

static void help_free(void *self)
{
    free(self);
}

static void go_back(void *self, uint32_t press)
{
    struct help *h = self;

    (void)press;
    app_pop(h->app);
}

static void scroll(void *self, uint32_t press)
{
    struct help *h = self;

    h->offset = page_scroll(h->offset, h->offset_max, press);
}

static bool is_long(const void *self)
{
    return ((const struct help *)self)->offset_max > 0;
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ESC, 'q', '?', PRESS_F1, PRESS_ENTER}, "Esc", "back",
     "Go back", go_back, NULL, NULL},
    {{PRESS_UP, PRESS_DOWN, 'k', 'j', PRESS_PAGE_UP, PRESS_PAGE_DOWN}, "\xe2\x86\x91\xe2\x86\x93", "scroll",
     "Scroll the list", scroll, is_long, NULL},
    {.label = NULL},
};
/* clang-format on */

static void row(struct page *p, const char *label, const char *text)
{
    struct style bold = style(PAINT_STRONG);

    bold.attributes = ATTR_BOLD;
    page_entry(p, 14, bold, label, text);
}

static void table(struct page *p, const struct key *k)
{
    for (; k->label; k++)
        row(p, k->label, k->help);
    page_gap(p);
}

static void numbers(struct page *p)
{
    page_heading(p, "What the figures mean");
    row(p, "throughput",
        "Application bytes as the receiver counts them, in decimal units "
        "(1 MB = 10^6 B); up is client to server");
    row(p, "latency",
        "With a rate set: from the intended send time (response time). "
        "Without: from the start of each operation (service time)");
    row(p, "received", "Messages that the receiving process has read, per second");
    row(p, "loss",
        "Accepted by the sender's kernel and not received after the drain; "
        "split into receive-buffer overflow and unexplained");
    row(p, "- or gap", "Not measured, or not known yet; never drawn as zero");
}

static void help_draw(void *self, struct canvas *c, struct area a)
{
    struct help *h = self;
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

static void help_mouse(void *self, const struct mouse *m)
{
    if (m->kind == POINT_WHEEL_UP)
        scroll(self, PRESS_UP);
    else if (m->kind == POINT_WHEEL_DOWN)
        scroll(self, PRESS_DOWN);
}

const struct screen screen_help = {
    .name = "help",
    .keys = keys,
    .init = help_init,
    .draw = help_draw,
    .mouse = help_mouse,
    .free = help_free,
};
