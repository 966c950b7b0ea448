#include "tui/screens.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "engine/drive.h"
#include "engine/run.h"
#include "engine/units.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "tui/app.h"
#include "tui/run_board.h"
#include "tui/run_use.h"
#include "tui/text.h"

#define TICK_MS 100 /* the picture follows the samples, no faster */
#define LOG_LINES 64
#define LOG_BYTES 200

struct queued {
    const struct scenario *scenario; /* borrowed: the table's */
    struct options values;
    struct run *run; /* NULL: not begun, or it could not be */
};

struct screen_run {
    struct app *app; /* borrowed */
    size_t count, at;
    struct queued queue[RUN_QUEUE_MAX];
    struct drive drive; /* of the run under way */
    struct event *tick, *advance;
    struct run_board board;
    bool stopping;   /* by the user: nothing of the queue is begun any more */
    bool restarting; /* the same again when this one has ended */
    bool ended;      /* all of it, while another screen lay over this one */
    unsigned mark_count;
    size_t log_used; /* lines ever written; the ring holds the last ones */
    char log[LOG_LINES][LOG_BYTES];
    struct summary_request summary;
};

static struct run *current(const struct screen_run *u)
{
    return u->queue[u->at].run;
}

/* The engine's callbacks. */

static void screen_run_on_line(void *arg, struct run *r, const char *text)
{
    struct screen_run *u = arg;

    (void)r;
    snprintf(u->log[u->log_used % LOG_LINES], LOG_BYTES, "%s", text);
    u->log_used++;
}

/* A run goes on without its recording. */
static void screen_run_on_warning(void *arg, const char *sentence)
{
    struct screen_run *u = arg;

    app_warn(u->app, "%c%s.", toupper((unsigned char)sentence[0]), sentence + 1);
}

/* What of a run may change while it goes on. */
static const struct live {
    enum option option;
    const char *name, *unit;
} lives[] = {
    {OPTION_rate, "The rate is", " a second, all clients together"},
    {OPTION_connection_rate, "The rate is", " a second on each connection"},
    {OPTION_connections, "The connections are", ", all clients together"},
};

static void screen_run_on_set(void *arg, struct run *r, const struct param *param,
                              uint64_t value, int err)
{
    struct screen_run *u = arg;
    const struct live *l = lives;
    char wanted[24], present[24];

    while (l->option != param->option && l + 1 < lives + NUMBER_OF(lives))
        l++;
    units_format_count((double)value, wanted, sizeof(wanted));
    units_format_count((double)options_number(&r->values, param->option, 0), present,
                       sizeof(present));
    if (err == 0)
        app_say(u->app, "%s now %s%s.", l->name, present, l->unit);
    else
        app_warn(u->app, "%s still %s%s: %s was refused (%s).", l->name, present, l->unit,
                 wanted, strerror(-err));
}

/* What has come is drawn by the tick, ten times a second. */
static void screen_run_on_changed(void *arg, struct run *r)
{
    struct screen_run *u = arg;

    /* A run may not be freed or followed by another from within its own call. */
    if (r->state == RUN_DONE)
        event_active(u->advance, EV_TIMEOUT, 0);
    app_dirty(u->app);
}

static const struct drive_ops ops = {screen_run_on_changed, screen_run_on_line,
                                     screen_run_on_set, screen_run_on_warning};

/* The queue. */

/* Begin the run at u->at. False when it could not be made; the reason was shown. */
static bool screen_run_begin(struct screen_run *u)
{
    struct queued *q = &u->queue[u->at];
    struct fail fail = {0};

    u->drive = (struct drive){.ops = &ops, .arg = u};
    q->run = drive_make(&u->drive, app_base(u->app), q->scenario, &q->values, &fail);
    if (!q->run) {
        app_warn(u->app, "%s was not started: %s.", q->scenario->name, fail.sentence);
        return false;
    }
    if (drive_record(&u->drive, q->run, &fail) < 0)
        app_warn(u->app, "This run is not saved: %s.", fail.sentence);
    run_board_set_run(&u->board, q->run);
    run_start(q->run);
    return true;
}

static bool begin_next(struct screen_run *u)
{
    while (!u->stopping && u->at + 1 < u->count) {
        u->at++;
        if (screen_run_begin(u))
            return true;
    }
    return false;
}

/* All that ran goes to the summary; it takes the runs over when it is made. */
static void screen_run_finish(struct screen_run *u)
{
    /* Help that is being read stays; the summary comes after it. */
    if (!app_is_top(u->app, u)) {
        u->ended = true;
        app_say(u->app, "The run has ended; its summary comes next.");
        return;
    }
    u->summary.count = 0;
    for (size_t i = 0; i < u->count; i++)
        if (u->queue[i].run)
            u->summary.runs[u->summary.count++] = &u->queue[i].run;
    run_board_set_run(&u->board, NULL);
    if (u->summary.count > 0)
        app_replace(u->app, &screen_summary, &u->summary);
    else
        app_pop(u->app);
}

static void on_advance(evutil_socket_t fd, short what, void *arg)
{
    struct screen_run *u = arg;
    bool again = u->restarting;

    (void)fd;
    (void)what;
    drive_end(&u->drive);
    u->restarting = false;
    if (again) {
        run_board_set_run(&u->board, NULL);
        run_free(current(u));
        u->queue[u->at].run = NULL;
        u->stopping = false;
        if (screen_run_begin(u))
            return;
    }
    if (!begin_next(u))
        screen_run_finish(u);
}

static void screen_run_on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct screen_run *u = arg;

    (void)fd;
    (void)what;
    if (!u->board.frozen)
        app_dirty(u->app);
}

/* Life. */

static void screen_run_free(void *self)
{
    struct screen_run *u = self;

    drive_end(&u->drive);
    for (size_t i = 0; i < u->count; i++) {
        run_free(u->queue[i].run);
        options_done(&u->queue[i].values);
    }
    event_drop(u->tick);
    event_drop(u->advance);
    run_board_done(&u->board);
    free(u);
}

static int take_request(struct screen_run *u, const struct run_request *request)
{
    int rc = 0;

    for (; rc == 0 && u->count < request->count; u->count++) {
        u->queue[u->count].scenario = request->runs[u->count].scenario;
        rc = options_copy(&u->queue[u->count].values, request->runs[u->count].values);
    }
    return rc;
}

static void *screen_run_init(struct app *app, const void *argument)
{
    struct timeval tick = {0, TICK_MS * 1000};
    struct screen_run *u = calloc(1, sizeof(*u));

    if (!u)
        return NULL;
    u->app = app;
    u->tick = event_new(app_base(app), -1, EV_PERSIST, screen_run_on_tick, u);
    u->advance = event_new(app_base(app), -1, 0, on_advance, u);
    if (run_board_init(&u->board) < 0 || take_request(u, argument) < 0 || !u->tick ||
        !u->advance || event_add(u->tick, &tick) < 0) {
        app_warn(app, "There is no memory for a run.");
        screen_run_free(u);
        return NULL;
    }
    if (screen_run_begin(u) || begin_next(u))
        return u;
    screen_run_free(u);
    return NULL;
}

/* Keys. */

static void stop(void *self, uint32_t press)
{
    struct screen_run *u = self;

    (void)press;
    if (!u->stopping)
        app_say(u->app,
                "Stopping: what is under way is finished and reported. The same key "
                "again does not wait for it.");
    u->stopping = true;
    u->restarting = false;
    run_stop(current(u));
}

static void restart(void *self, uint32_t press)
{
    struct screen_run *u = self;

    (void)press;
    u->restarting = true;
    run_stop(current(u));
}

static bool screen_run_is_zoomed(const void *self)
{
    return ((const struct screen_run *)self)->board.zoomed;
}

static void screen_run_zoom(void *self, uint32_t press)
{
    struct screen_run *u = self;

    (void)press;
    run_board_zoom(&u->board);
}

static void screen_run_choose_chart(void *self, uint32_t press)
{
    struct screen_run *u = self;

    run_board_choose(&u->board, press == PRESS_BACKTAB ? -1 : 1);
}

static void freeze(void *self, uint32_t press)
{
    struct screen_run *u = self;

    (void)press;
    run_board_freeze(&u->board);
}

static void screen_run_scroll(void *self, uint32_t press)
{
    struct screen_run *u = self;

    run_board_scroll(&u->board, press == PRESS_LEFT ? -1 : 1);
}

static void screen_run_change_window(void *self, uint32_t press)
{
    struct screen_run *u = self;
    char text[80];

    run_board_stretch(&u->board, press == '<' ? -1 : 1);
    run_board_say_span(&u->board, text, sizeof(text));
    app_say(u->app, "%s", text);
}

static bool can_rate(const void *self)
{
    const struct screen_run *u = self;

    return scenario_param(u->queue[u->at].scenario, OPTION_rate) != NULL;
}

/* A quarter more or less, in two significant digits: what a person would say. */
static uint64_t next_value(double value, bool up)
{
    double wanted = up ? value * 1.25 : value / 1.25;
    double power = fmax(1, pow(10, floor(log10(fmax(wanted, 1))) - 1));

    wanted = round(wanted / power) * power;
    wanted = up ? fmax(wanted, value + 1) : fmin(wanted, value - 1);
    return (uint64_t)fmax(1, wanted);
}

static void ask_for(struct screen_run *u, enum option option, uint64_t value)
{
    int rc = run_set(current(u), option, value);

    if (rc == -EBUSY)
        app_say(u->app, "The change before this one is not in force yet.");
    else if (rc < 0)
        app_warn(u->app, "This cannot be changed now.");
}

static bool can_connect(const void *self)
{
    const struct screen_run *u = self;

    return scenario_param(u->queue[u->at].scenario, OPTION_connections) != NULL;
}

static void change_connections(void *self, uint32_t press)
{
    struct screen_run *u = self;
    uint64_t present = options_number(&current(u)->values, OPTION_connections, 0);

    ask_for(u, OPTION_connections, next_value((double)present, press == ']'));
}

/* What is done per second now: where a rate begins that was none before. */
static double present_rate(const struct screen_run *u)
{
    struct run_use use;

    run_use_of(u->board.view, PLACE_CLIENT, &use);
    return use.known ? use.operations_per_s : UNKNOWN;
}

/* A rate of each connection, where that was asked for, is changed as such. */
static bool is_per_connection(const struct run *r)
{
    return options_number(&r->values, OPTION_connection_rate, 0) > 0;
}

static void change_rate(void *self, uint32_t press)
{
    struct screen_run *u = self;
    struct run *r = current(u);
    enum option option = is_per_connection(r) ? OPTION_connection_rate : OPTION_rate;
    double rate = (double)options_number(&r->values, option, 0);
    bool up = press == '+' || press == '=';

    if (rate <= 0 && up) {
        app_say(u->app, "No rate is set: it goes as fast as it can. \"-\" sets one.");
        return;
    }
    if (rate <= 0)
        rate = present_rate(u);
    if (!(rate > 0)) {
        app_say(u->app, "There is no rate to lower yet.");
        return;
    }
    ask_for(u, option, next_value(rate, up));
}

static void pause_load(void *self, uint32_t press)
{
    struct screen_run *u = self;
    struct run *r = current(u);

    (void)press;
    if (r->state != RUN_RUNNING) {
        app_say(u->app, "There is no load to pause yet.");
        return;
    }
    run_pause(r, !r->paused);
    app_say(u->app, r->paused ? "Paused: no load is offered, and the clock stands still. "
                                "p goes on."
                              : "Load is offered again.");
}

static void set_mark(void *self, uint32_t press)
{
    struct screen_run *u = self;
    char text[8];

    (void)press;
    snprintf(text, sizeof(text), "m%u", ++u->mark_count);
    run_mark(current(u), text);
    app_say(u->app, "Marked as %s, here and in the result.", text);
}

static void screen_run_shown(void *self)
{
    struct screen_run *u = self;

    if (u->ended)
        screen_run_finish(u);
}

static bool screen_run_interrupt(void *self)
{
    struct screen_run *u = self;

    if (u->stopping || u->ended)
        return false; /* the second Ctrl-C ends the console */
    stop(u, 0);
    return true;
}

/* clang-format off */
static const struct key keys[] = {
    {{PRESS_ESC}, "Esc", "grid", "Show all charts again",
     screen_run_zoom, screen_run_is_zoomed, NULL},
    {{'q', PRESS_ESC}, "q", "stop",
     "Stop the run and show its summary; again: without waiting for what is under way",
     stop, NULL, NULL},
    {{'p'}, "p", "pause",
     "Pause the load and go on; the pause is taken out of the clock",
     pause_load, NULL, NULL},
    {{'f'}, "f", "freeze", "Freeze the picture; the run goes on", freeze, NULL, NULL},
    {{'z', PRESS_ENTER}, "z", "zoom",
     "Show the chosen chart large, and all again", screen_run_zoom, NULL, NULL},
    {{PRESS_TAB, PRESS_BACKTAB}, "Tab", "chart",
     "Choose the next chart; the heat map comes after the four",
     screen_run_choose_chart, NULL, NULL},
    {{'-', '+', '='}, "- +", "rate",
     "Raise or lower the rate by a quarter, while it runs", change_rate, can_rate, NULL},
    {{'[', ']'}, "[ ]", "connections",
     "Open a quarter more connections or close some, while it runs",
     change_connections, can_connect, NULL},
    {{'m'}, "m", "mark",
     "Mark this moment on the charts and in the result", set_mark, NULL, NULL},
    {{'r'}, "r", "restart",
     "Stop and begin the same run anew; the result so far is dropped",
     restart, NULL, NULL},
    {{PRESS_LEFT, PRESS_RIGHT}, "\xe2\x86\x90 \xe2\x86\x92", "scroll",
     "Freeze and scroll back in time, and forth", screen_run_scroll, NULL, NULL},
    {{'<', '>'}, "< >", "span",
     "Show a shorter or a longer span of time", screen_run_change_window, NULL, NULL},
    {.label = NULL},
};
/* clang-format on */

/* Drawing. */

static const char *state_word(const struct screen_run *u, enum paint *paint)
{
    const struct run *r = current(u);

    *paint = PAINT_WARN;
    if (r->paused)
        return "PAUSED";
    switch (r->state) {
    case RUN_NEW:
    case RUN_SPAWNING:
        return "STARTING";
    case RUN_RUNNING:
        *paint = u->stopping ? PAINT_WARN : PAINT_GOOD;
        return u->stopping ? "STOPPING" : "RUNNING";
    case RUN_DRAINING:
        return "DRAINING";
    case RUN_DONE:
        break;
    }
    return "DONE";
}

static void clock_text(uint64_t ns, char *out, size_t size)
{
    uint64_t tenths = ns / (NS_PER_S / 10);

    snprintf(out, size, "%02u:%02u.%u", (unsigned)(tenths / 600),
             (unsigned)(tenths / 10 % 60), (unsigned)(tenths % 10));
}

/* What is left by the pace so far; "" when nobody can know. */
static void left_text(double progress, uint64_t clock_ns, char *out, size_t size)
{
    double left_s = (double)clock_ns / 1e9 * (1 - progress) / progress;

    if (!(progress > 0.02) || progress >= 1 || clock_ns < NS_PER_S / 5)
        snprintf(out, size, "%s", "");
    else if (left_s < 100)
        snprintf(out, size, "%.1f s left", left_s);
    else
        snprintf(out, size, "%.0f min left", left_s / 60);
}

static void draw_progress(const struct screen_run *u, struct canvas *c, struct area row)
{
    const struct run *r = current(u);
    double progress = run_progress(r);
    uint64_t clock_ns = run_clock_ns(r);
    enum paint paint;
    const char *word = state_word(u, &paint);
    struct style bold = style(paint), strong = style(PAINT_STRONG);
    char clock[24], left[32], text[64] = "";
    int x = row.x + 1, room;

    bold.attributes = ATTR_BOLD;
    x += canvas_text(c, x, row.y, 12, bold, word) + 2;
    x += canvas_print(c, x, row.y, row.width - x, style(PAINT_TEXT), "trial %zu of %u",
                      r->trials_begun, r->trial_count) +
         2;
    if (u->count > 1)
        x += canvas_print(c, x, row.y, row.width - x, style(PAINT_TEXT), "run %zu of %zu",
                          u->at + 1, u->count) +
             2;
    clock_text(clock_ns, clock, sizeof(clock));
    x += canvas_text(c, x, row.y, row.width - x, strong, clock) + 2;
    if (u->board.frozen)
        x +=
            canvas_text(c, x, row.y, row.width - x, style(PAINT_WARN), "picture frozen") +
            2;
    left_text(progress, clock_ns, left, sizeof(left));
    if (!isnan(progress))
        snprintf(text, sizeof(text), "%3.0f %%  %s", 100 * progress, left);
    canvas_text_right(c, row.x, row.y, row.width - 1, strong, text);
    room = row.x + row.width - 22 - x;
    if (!isnan(progress) && room >= 6)
        canvas_bar(c, x, row.y, room, progress, style(PAINT_ACCENT));
}

static void draw_log(const struct screen_run *u, struct canvas *c, struct area a)
{
    size_t shown = u->log_used < LOG_LINES ? u->log_used : LOG_LINES;

    if (shown > (size_t)a.height)
        shown = (size_t)a.height;
    for (size_t i = 0; i < shown; i++)
        canvas_text(c, a.x + 1, a.y + (int)i, a.width - 2, style(PAINT_DIM),
                    u->log[(u->log_used - shown + i) % LOG_LINES]);
}

static void screen_run_draw(void *self, struct canvas *c, struct area a)
{
    struct screen_run *u = self;
    struct area progress = area_take_top(&a, 1);
    struct area log = area_take_bottom(&a, a.height >= 40 ? 3 : 1);

    if (!current(u))
        return;
    draw_progress(u, c, progress);
    run_board_draw(&u->board, c, a);
    draw_log(u, c, log);
}

static void screen_run_header(void *self, struct canvas *c, struct area a)
{
    const struct screen_run *u = self;
    struct style s = style_on(PAINT_HEADER, PAINT_BAR);

    s.attributes = ATTR_BOLD;
    canvas_text_right(c, a.x, a.y, a.width, s, u->queue[u->at].scenario->name);
}

static void screen_run_mouse(void *self, const struct mouse *m)
{
    struct screen_run *u = self;

    if (m->kind == POINT_WHEEL_UP || m->kind == POINT_WHEEL_DOWN)
        screen_run_scroll(u, m->kind == POINT_WHEEL_UP ? PRESS_LEFT : PRESS_RIGHT);
    else if (m->kind == POINT_DOUBLE)
        run_board_zoom(&u->board);
}

const struct screen screen_run = {
    .name = "run",
    .keys = keys,
    .init = screen_run_init,
    .draw = screen_run_draw,
    .header = screen_run_header,
    .mouse = screen_run_mouse,
    .shown = screen_run_shown,
    .interrupt = screen_run_interrupt,
    .free = screen_run_free,
};
