#include "tui/run_board.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "protocols/array.h"
#include "tui/run_use.h"

static const double windows[] = {5, 10, 30, 60, 120, 300, 600, 3600};
#define WINDOWS NUMBER_OF(windows)

int run_board_init(struct run_board *b)
{
    *b = (struct run_board){.view = run_view_new()};
    return b->view ? 0 : -ENOMEM;
}

void run_board_done(struct run_board *b)
{
    run_view_free(b->view);
    b->view = NULL;
}

void run_board_set_run(struct run_board *b, const struct run *run)
{
    b->frozen = false;
    run_view_set_run(b->view, run);
}

/* Keys. */

void run_board_zoom(struct run_board *b)
{
    b->zoomed = !b->zoomed;
}

void run_board_choose(struct run_board *b, int step)
{
    b->focused = (b->focused + (step < 0 ? RUN_CHART_COUNT - 1 : 1)) % RUN_CHART_COUNT;
    /* The charts beyond the grid are only seen large. */
    if (b->focused >= RUN_CHART_GRID)
        b->zoomed = true;
}

void run_board_freeze(struct run_board *b)
{
    b->frozen = !b->frozen;
    b->frozen_s = run_view_end_s(b->view);
}

/* By a quarter of what is shown. */
void run_board_scroll(struct run_board *b, int step)
{
    double span_s = b->view->to_s - b->view->from_s;

    if (!b->frozen)
        run_board_freeze(b);
    b->frozen_s += step * span_s / 4;
    b->frozen_s = fmin(b->frozen_s, run_view_end_s(b->view));
    b->frozen_s = fmax(b->frozen_s, span_s);
}

void run_board_stretch(struct run_board *b, int step)
{
    const struct run_view *v = b->view;
    double shown_s = b->window_s > 0 ? b->window_s : v->to_s - v->from_s;
    double end_s = run_view_end_s(v);
    size_t i = step < 0 ? WINDOWS : 0;

    if (step < 0) {
        while (i > 0 && windows[i - 1] >= shown_s)
            i--;
        b->window_s = windows[i > 0 ? i - 1 : 0];
        return;
    }
    while (i + 1 < WINDOWS && windows[i] <= shown_s)
        i++;
    /* No longer than the run is so far: all of it goes on to be all of it. */
    b->window_s = shown_s >= end_s && end_s <= VIEW_LONGEST_S ? 0 : windows[i];
}

void run_board_say_span(const struct run_board *b, char *text, size_t size)
{
    if (b->window_s > 0)
        snprintf(text, size, "The charts show %g s.", b->window_s);
    else
        snprintf(text, size, "The charts show all of the run, up to its last minute.");
}

/* Drawing. */

static void draw_charts(struct run_board *b, struct canvas *c, struct area a)
{
    struct area top, bottom, cells[RUN_CHART_GRID];

    if (b->zoomed) {
        run_chart(b->focused)->draw(b->view, c, a, true);
        return;
    }
    /* Room enough for the map below the four? */
    if (a.height >= 44) {
        struct area map = area_take_bottom(&a, a.height / 3);

        run_chart(RUN_CHART_heat)->draw(b->view, c, map, b->focused == RUN_CHART_heat);
    }
    bottom = a;
    top = area_take_top(&bottom, (a.height + 1) / 2);
    cells[1] = top;
    cells[0] = area_take_left(&cells[1], a.width / 2);
    cells[3] = bottom;
    cells[2] = area_take_left(&cells[3], a.width / 2);
    for (size_t i = 0; i < RUN_CHART_GRID; i++)
        run_chart(i)->draw(b->view, c, cells[i], b->focused == i);
}

static void draw_use(const struct run_board *b, struct canvas *c, struct area a,
                     bool boxed)
{
    static const enum place order[] = {PLACE_CLIENT, PLACE_ENDPOINT, PLACE_SERVER};
    char text[160];
    enum paint paint;

    if (boxed) {
        canvas_box(c, a, "processes", false);
        a = area_inside(a);
    }
    area_take_left(&a, 1);
    for (size_t i = 0; i < 3; i++)
        if (run_view_has(b->view, order[i]) && a.height > 0)
            run_use_draw(b->view, order[i], c, area_take_top(&a, 1));
    if (a.height == 0)
        return;
    paint = run_use_verdict(b->view, text, sizeof(text));
    canvas_text(c, a.x, a.y, a.width - 1, style(paint), text);
}

static int count_places(const struct run_view *v)
{
    int n = 0;

    for (int p = 0; p < PLACE_COUNT; p++)
        n += run_view_has(v, (enum place)p);
    return n;
}

void run_board_draw(struct run_board *b, struct canvas *c, struct area a)
{
    bool boxed = a.height >= 24;
    struct area use = area_take_bottom(&a, count_places(b->view) + 1 + (boxed ? 2 : 0));

    run_view_set_span(b->view, b->frozen ? b->frozen_s : run_view_end_s(b->view),
                      b->window_s);
    draw_charts(b, c, a);
    draw_use(b, c, use, boxed);
}
