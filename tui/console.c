#include "tui/console.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "engine/state_dir.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "tui/app.h"
#include "tui/display.h"

#define FRAME_NS (NS_PER_S / CONSOLE_FRAMES_PER_S)

static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                              SIGTSTP, SIGCONT, SIGWINCH};
#define SIGNALS NUMBER_OF(signals)

struct console {
    struct event_base *base;
    struct app *app;
    struct display *display;
    struct canvas canvas;
    struct event *input;
    struct event *frame;
    struct event *signals[SIGNALS];
    uint64_t last_frame_ns;
    int width, height;
    bool pasting;
    int killed_by; /* the signal that ended it, or 0 */
};

/* Frames. */

/* Draw now if the last frame is old enough, else when it will be. */
static void want_frame(void *owner)
{
    struct console *k = owner;
    uint64_t since_ns = now_ns() - k->last_frame_ns;
    struct timeval wait = timeval_from_ns(since_ns < FRAME_NS ? FRAME_NS - since_ns : 0);

    if (!event_pending(k->frame, EV_TIMEOUT, NULL))
        event_add(k->frame, &wait);
}

static void console_draw(struct console *k)
{
    if (display_measure(k->display, &k->width, &k->height) ||
        k->canvas.width != k->width || k->canvas.height != k->height) {
        if (canvas_resize(&k->canvas, k->width, k->height) < 0)
            return;
    }
    app_draw(k->app, &k->canvas);
    display_show(k->display, &k->canvas, app_theme(k->app));
    k->last_frame_ns = now_ns();
}

static void on_frame(evutil_socket_t fd, short what, void *arg)
{
    struct console *k = arg;

    (void)fd;
    (void)what;
    if (!app_turn(k->app)) {
        event_base_loopbreak(k->base);
        return;
    }
    if (app_is_dirty(k->app))
        console_draw(k);
}

/* Input. */

static void console_take(struct console *k, const struct input *input)
{
    switch (input->kind) {
    case INPUT_PASTE_BEGIN:
        k->pasting = true;
        break;
    case INPUT_PASTE_END:
        k->pasting = false;
        break;
    case INPUT_MOUSE:
        app_mouse(k->app, &input->mouse);
        break;
    case INPUT_PRESS:
        if (k->pasting)
            app_paste(k->app, input->press);
        else if (input->press != PRESS_NONE)
            app_press(k->app, input->press);
        break;
    case INPUT_NONE:
        break;
    }
    app_turn(k->app);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    struct console *k = arg;
    struct input input = display_read(k->display);

    (void)fd;
    (void)what;
    if (input.kind == INPUT_NONE && display_is_gone(k->display)) {
        event_del(k->input); /* it would stay readable and burn the processor */
        app_quit(k->app, 128 + SIGHUP);
        return;
    }
    for (; input.kind != INPUT_NONE; input = display_read(k->display))
        console_take(k, &input);
    want_frame(k);
}

/* Signals. */

/* Stop as any program stops: by the default action, which the shell sees. */
static void suspend(struct console *k)
{
    struct sigaction plain = {.sa_handler = SIG_DFL}, before;

    display_leave(k->display);
    sigemptyset(&plain.sa_mask);
    sigaction(SIGTSTP, &plain, &before);
    raise(SIGTSTP);
    /* Here it has been continued. */
    sigaction(SIGTSTP, &before, NULL);
    display_enter(k->display);
}

static void console_on_signal(evutil_socket_t number, short what, void *arg)
{
    struct console *k = arg;

    (void)what;
    switch (number) {
    case SIGINT:
        app_interrupt(k->app);
        break;
    case SIGTSTP:
        suspend(k);
        break;
    case SIGCONT:
        display_forget(k->display);
        break;
    case SIGWINCH:
        break;
    default:
        k->killed_by = (int)number;
        app_quit(k->app, 128 + (int)number);
        break;
    }
    app_dirty(k->app);
}

/* Pictures. */

/* A name that is not taken yet: by the second, with a number if need be. */
static void picture_name(char *path, size_t size, const char *directory)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;

    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    snprintf(path, size, "%s/%s.svg", directory, stamp);
    for (int i = 2; i < 100 && access(path, F_OK) == 0; i++)
        snprintf(path, size, "%s/%s-%d.svg", directory, stamp, i);
}

/* All of it or none: half a picture would be taken for one. */
static int write_file(const char *path, const struct picture *p,
                      void (*write)(const struct picture *, FILE *))
{
    FILE *f = fopen(path, "w");
    int rc = 0;

    if (!f)
        return -errno;
    write(p, f);
    if (ferror(f))
        rc = -EIO;
    if (fclose(f) != 0)
        rc = -errno;
    if (rc < 0)
        unlink(path);
    return rc;
}

static void write_titled_svg(const struct picture *p, FILE *f)
{
    picture_write_svg(p, "plimsoll", f);
}

static void on_save_picture(void *owner)
{
    struct console *k = owner;
    char directory[512], path[640], text_path[660];
    struct fail fail = {0};
    struct picture p;
    int rc;

    if (state_dir_path("screens", directory, sizeof(directory), &fail) < 0 ||
        state_dir_make(directory, &fail) < 0) {
        app_warn(k->app, "The picture was not saved: %s.", fail.sentence);
        return;
    }
    rc = display_picture(k->display, app_theme(k->app), &p);
    if (rc < 0) {
        app_warn(k->app, "The picture was not saved: %s.", strerror(-rc));
        return;
    }
    picture_name(path, sizeof(path), directory);
    snprintf(text_path, sizeof(text_path), "%.*s.txt", (int)strlen(path) - 4, path);
    rc = write_file(path, &p, write_titled_svg);
    if (rc == 0)
        rc = write_file(text_path, &p, picture_write_text);
    if (rc < 0)
        app_warn(k->app, "The picture was not saved as %s: %s.", path, strerror(-rc));
    else
        app_say(k->app, "Saved the screen as %s and .txt.", path);
    picture_done(&p);
}

static void on_redraw(void *owner)
{
    struct console *k = owner;

    display_forget(k->display);
}

/* Life. */

static int add_events(struct console *k)
{
    k->frame = event_new(k->base, -1, 0, on_frame, k);
    k->input = event_new(k->base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, k);
    if (!k->frame || !k->input || event_add(k->input, NULL) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < SIGNALS; i++) {
        k->signals[i] = evsignal_new(k->base, signals[i], console_on_signal, k);
        if (!k->signals[i] || event_add(k->signals[i], NULL) < 0)
            return -ENOMEM;
    }
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

static void free_events(struct console *k)
{
    event_drop(k->frame);
    event_drop(k->input);
    for (size_t i = 0; i < SIGNALS; i++)
        event_drop(k->signals[i]);
}

static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (!config)
        return NULL;
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static int make_app(struct console *k, const struct console_options *o)
{
    const struct app_hooks hooks = {want_frame, on_save_picture, on_redraw, k};
    const struct glyph_set *glyphs = o->glyphs;
    const struct theme *theme = o->theme;

    if (!glyphs)
        glyphs = glyphs_choose(nl_langinfo(CODESET), display_term(k->display));
    if (!theme)
        theme = theme_choose(getenv("NO_COLOR"), getenv("COLORFGBG"));
    canvas_init(&k->canvas, glyphs);
    k->canvas.colours = display_colours(k->display);
    k->app = app_new(k->base, glyphs, theme, &hooks);
    return k->app ? 0 : -ENOMEM;
}

static int loop(struct console *k, const struct console_options *o, const char *advice)
{
    int rc = make_app(k, o), status;

    if (rc == 0)
        rc = add_events(k);
    if (rc < 0)
        return rc;
    if (advice[0] != '\0')
        app_warn(k->app, "%s", advice);
    app_push(k->app, o->first, o->argument);
    while (!app_has_ended(k->app, &status))
        if (event_base_dispatch(k->base) < 0)
            return -EIO;
    return 0;
}

int console_run(const struct console_options *o, int *status, struct fail *fail)
{
    struct console k = {.base = make_base()};
    const char *advice;
    int rc;

    *status = 0;
    if (!k.base)
        return fail_set(fail, ENOMEM, "start", "cannot make the event loop");
    rc = display_open(&k.display, &advice, fail);
    if (rc == 0) {
        rc = loop(&k, o, advice);
        if (rc < 0)
            fail_set(fail, -rc, "start", "the console cannot run");
        else
            app_has_ended(k.app, status);
    }
    app_free(k.app);
    free_events(&k);
    canvas_done(&k.canvas);
    display_close(k.display);
    event_base_free(k.base);
    if (k.killed_by != 0) {
        signal(k.killed_by, SIG_DFL);
        raise(k.killed_by);
    }
    return rc;
}
