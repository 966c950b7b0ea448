/* plimsoll replay RUN: a saved run once more, by the clock, and its report. */
#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/command.h"
#include "engine/cli/headless.h"
#include "engine/replay.h"
#include "engine/report/report.h"
#include "engine/store.h"

static const struct flag flags[] = {
    {"speed", 0, "X", "this many times faster: 0.01..1000; default 1"},
    {"quiet", 'q', NULL, "no progress"},
    {"help", 0, NULL, "this text"},
    {0},
};

struct player {
    struct event_base *base;
    struct event *interrupt, *tick;
    struct replay *replay;
    bool progress;
    bool interrupted;
};

static void on_changed(void *arg, struct run *r)
{
    const struct player *k = arg;

    if (r->state == RUN_DONE)
        event_base_loopbreak(k->base);
}

static void on_sampled(void *arg, struct run *r, const struct process *process,
                       const struct sample *sample)
{
    (void)arg;
    (void)r;
    (void)process;
    (void)sample;
}

static void on_line(void *arg, struct run *r, const char *text)
{
    (void)arg;
    (void)r;
    (void)text;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    const struct player *k = arg;

    (void)fd;
    (void)what;
    headless_progress(replay_run(k->replay));
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    struct player *k = arg;

    (void)fd;
    (void)what;
    k->interrupted = true;
    event_base_loopbreak(k->base);
}

static int read_speed(const struct arguments *a, double *speed, struct fail *fail)
{
    const char *text = arguments_flag(a, "speed");
    char *end;

    *speed = 1;
    if (!text)
        return 0;
    *speed = strtod(text, &end);
    if (end != text && (strcmp(end, "") == 0 || strcmp(end, "x") == 0) &&
        *speed >= REPLAY_SPEED_MIN && *speed <= REPLAY_SPEED_MAX)
        return 0;
    return fail_set(fail, EINVAL, "speed",
                    "--speed cannot be '%.60s': it takes 0.01..1000, as 1 or 10 or 0.5",
                    text);
}

static int set_up(struct player *k, const char *path, struct fail *fail)
{
    static const struct run_ops ops = {on_changed, on_sampled, on_line};
    struct timeval tick = {0, 200000};

    k->base = event_base_new();
    if (!k->base)
        return fail_set(fail, ENOMEM, "replay", "playing %s", path);
    k->interrupt = evsignal_new(k->base, SIGINT, on_signal, k);
    k->tick = event_new(k->base, -1, EV_PERSIST, on_tick, k);
    if (!k->interrupt || !k->tick || event_add(k->interrupt, NULL) < 0 ||
        (k->progress && event_add(k->tick, &tick) < 0))
        return fail_set(fail, ENOMEM, "replay", "playing %s", path);
    k->replay = replay_new(k->base, path, &ops, k, fail);
    return k->replay ? 0 : -EINVAL;
}

static void tear_down(struct player *k)
{
    replay_free(k->replay);
    if (k->interrupt)
        event_free(k->interrupt);
    if (k->tick)
        event_free(k->tick);
    if (k->base)
        event_base_free(k->base);
}

static int play(const struct arguments *a, struct fail *fail)
{
    struct player k = {.progress = isatty(STDERR_FILENO) && !arguments_flag(a, "quiet")};
    char path[PATH_MAX];
    double speed;
    int code = EXIT_OK;

    if (a->operand_count != 1)
        return fail_set(fail, EINVAL, "run", "which run? plimsoll replay RUN");
    if (read_speed(a, &speed, fail) < 0 ||
        store_find(a->operands[0], path, sizeof(path), fail) < 0)
        return -fail->err;
    if (set_up(&k, path, fail) == 0) {
        replay_set_speed(k.replay, speed);
        replay_play(k.replay);
        event_base_dispatch(k.base);
        if (k.progress)
            headless_clear();
        if (k.interrupted)
            code = EXIT_INTERRUPTED;
        else if (report_print(stdout, replay_run(k.replay)) < 0)
            fail_set(fail, EIO, "output", "the report could not be written");
    }
    tear_down(&k);
    return code;
}

const struct command command_replay = {
    .name = "replay",
    .usage = "replay RUN [--speed X]",
    .help = "play a saved run by the clock; at a terminal, on the screen",
    .flags = flags,
    .operand = OPERAND_RUN,
    .act = play,
};
