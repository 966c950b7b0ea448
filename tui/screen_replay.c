#include "tui/screens.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "engine/replay.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "tui/app.h"
#include "tui/run_board.h"

#define TICK_MS 100
#define SEEK_S 5

struct screen_replay {
    struct app *app; /* borrowed */
    struct replay *replay;
    struct event *tick;
    struct run_board board;
};

/* The engine's callbacks. */

static void screen_replay_on_changed(void *arg, struct run *run)
{
    struct screen_replay *y = arg;

    /* After a seek everything in the run may be another. */
    run_board_set_run(&y->board, run);
    app_dirty(y->app);
}

static const struct run_ops ops = {.changed = screen_replay_on_changed};

static void screen_replay_on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct screen_replay *y = arg;

    (void)fd;
    (void)what;
    if (replay_is_playing(y->replay))
        app_dirty(y->app);
}

/* Life. */

static void screen_replay_free(void *self)
{
    struct screen_replay *y = self;

    event_drop(y->tick);
    run_board_done(&y->board);
    replay_free(y->replay);
    free(y);
}

static void *screen_replay_init(struct app *app, const void *argument)
{
    const struct replay_request *request = argument;
    struct timeval tick = {0, TICK_MS * 1000};
    struct screen_replay *y = calloc(1, sizeof(*y));
    struct fail fail = {0};

    if (!y)
        return NULL;
    y->app = app;
    y->tick = event_new(app_base(app), -1, EV_PERSIST, screen_replay_on_tick, y);
    if (!y->tick || event_add(y->tick, &tick) < 0 || run_board_init(&y->board) < 0)
        fail_set(&fail, ENOMEM, "replay", "there is no room for it");
    else
        y->replay = replay_new(app_base(app), request->path, &ops, y, &fail);
    if (!y->replay) {
        app_warn(app, "The run cannot be played: %s.", fail.sentence);
        screen_replay_free(y);
        return NULL;
    }
    run_board_set_run(&y->board, replay_run(y->replay));
    replay_play(y->replay);
    return y;
}

/* Keys. */

static void screen_replay_go_back(void *self, uint32_t press)
{
    struct screen_replay *y = self;

    (void)press;
    app_pop(y->app);
}

static bool screen_replay_is_zoomed(const void *self)
{
    return ((const struct screen_replay *)self)->board.zoomed;
}

static void screen_replay_zoom(void *self, uint32_t press)
{
    struct screen_replay *y = self;

    (void)press;
    run_board_zoom(&y->board);
}

static void screen_replay_choose_chart(void *self, uint32_t press)
{
    struct screen_replay *y = self;

    run_board_choose(&y->board, press == PRESS_BACKTAB ? -1 : 1);
}

static void seek_to(struct screen_replay *y, double at_s)
{
    double length_s = (double)replay_length_ns(y->replay) / 1e9;
    int rc;

    at_s = fmin(fmax(at_s, 0), length_s);
    rc = replay_seek(y->replay, (uint64_t)(at_s * 1e9));
    if (rc < 0)
        app_warn(y->app, "The recording can no longer be read: %s.", strerror(-rc));
}

static void screen_replay_hold(void *self, uint32_t press)
{
    struct screen_replay *y = self;

    (void)press;
    if (replay_is_playing(y->replay)) {
        replay_hold(y->replay);
        return;
    }
    if (replay_at_ns(y->replay) >= replay_length_ns(y->replay))
        seek_to(y, 0); /* once more from the beginning */
    replay_play(y->replay);
}

static void scrub(void *self, uint32_t press)
{
    struct screen_replay *y = self;
    double at_s = (double)replay_at_ns(y->replay) / 1e9;
    double length_s = (double)replay_length_ns(y->replay) / 1e9;
    double step_s = fmin(SEEK_S, length_s / 10);

    switch (press) {
    case PRESS_HOME:
        seek_to(y, 0);
        break;
    case PRESS_END:
        seek_to(y, length_s);
        break;
    default:
        seek_to(y, press == PRESS_LEFT ? at_s - step_s : at_s + step_s);
    }
}

static void change_speed(void *self, uint32_t press)
{
    struct screen_replay *y = self;

    replay_set_speed(y->replay, replay_speed(y->replay) * (press == '-' ? 0.5 : 2));
    app_say(y->app, "%g times as fast as it was.", replay_speed(y->replay));
}

static void screen_replay_change_window(void *self, uint32_t press)
{
    struct screen_replay *y = self;
    char text[80];

    run_board_stretch(&y->board, press == '<' ? -1 : 1);
    run_board_say_span(&y->board, text, sizeof(text));
    app_say(y->app, "%s", text);
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ESC}, "Esc", "grid", "Show all charts again",
     screen_replay_zoom, screen_replay_is_zoomed, NULL},
    {{PRESS_ESC, 'q'}, "Esc", "back", "Go back to the saved runs",
     screen_replay_go_back, NULL, NULL},
    {{' ', 'p'}, "Space", "hold", "Hold and play on; at the end, from the beginning",
     screen_replay_hold, NULL, NULL},
    {{PRESS_LEFT, PRESS_RIGHT, PRESS_HOME, PRESS_END}, "\xe2\x86\x90 \xe2\x86\x92", "scrub",
     "Go back and forth, five seconds or a tenth; Home and End to the ends",
     scrub, NULL, NULL},
    {{'+', '-', '='}, "+ -", "speed", "Play twice as fast, half as fast",
     change_speed, NULL, NULL},
    {{'z', PRESS_ENTER}, "z", "zoom", "Show the chosen chart large, and all again",
     screen_replay_zoom, NULL, NULL},
    {{PRESS_TAB, PRESS_BACKTAB}, "Tab", "chart",
     "Choose the next chart; the heat map comes after the four",
     screen_replay_choose_chart, NULL, NULL},
    {{'<', '>'}, "< >", NULL, "Show a shorter or a longer span of time",
     screen_replay_change_window, NULL, NULL},
    {.label = NULL},
};
/* clang-format on */

/* Drawing. */

static void draw_position(const struct screen_replay *y, struct canvas *c,
                          struct area row)
{
    double at_s = (double)replay_at_ns(y->replay) / 1e9;
    double length_s = (double)replay_length_ns(y->replay) / 1e9;
    bool playing = replay_is_playing(y->replay);
    struct style word = style(playing ? PAINT_GOOD : PAINT_WARN);
    char right[64];
    int x = row.x + 1, room;

    word.attributes = ATTR_BOLD;
    x += canvas_text(c, x, row.y, 12, word, playing ? "PLAYING" : "HELD") + 2;
    x += canvas_print(c, x, row.y, row.width - x, style(PAINT_TEXT), "trial %zu of %u",
                      replay_run(y->replay)->trials_begun,
                      replay_run(y->replay)->trial_count) +
         2;
    x += canvas_print(c, x, row.y, row.width - x, style(PAINT_TEXT), "x %g",
                      replay_speed(y->replay)) +
         2;
    snprintf(right, sizeof(right), "%.1f s of %.1f s", at_s, length_s);
    canvas_text_right(c, row.x, row.y, row.width - 1, style(PAINT_STRONG), right);
    room = row.x + row.width - 24 - x;
    if (room >= 6)
        canvas_bar(c, x, row.y, room, length_s > 0 ? at_s / length_s : 0,
                   style(PAINT_ACCENT));
}

static void screen_replay_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_replay *y = self;

    draw_position(y, c, area_take_top(&a, 1));
    run_board_draw(&y->board, c, a);
}

static void screen_replay_header(void *self, struct canvas *c, struct area a)
{
    const struct screen_replay *y = self;

    canvas_text_right(c, a.x, a.y, a.width, style_on(PAINT_HEADER, PAINT_BAR),
                      replay_run(y->replay)->scenario->name);
}

const struct screen screen_replay = {
    .name = "replay",
    .keys = keys,
    .init = screen_replay_init,
    .draw = screen_replay_draw,
    .header = screen_replay_header,
    .free = screen_replay_free,
};
