/* plimsoll replay RUN: a saved run once more, by the clock, and its report. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/cli/progress.h"
#include "engine/foreground.h"
#include "engine/replay.h"
#include "engine/report/report.h"
#include "engine/store.h"

static const struct flag flags[] = {
    {"speed", 0, "X", "this many times faster: 0.01..1000; default 1"},
    {"quiet", 'q', NULL, "no progress"},
    {"help", 0, NULL, "this text"},
    {0},
};

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
    return fail_usage(fail, "speed",
                      "--speed cannot be '%.60s': it takes 0.01..1000, as 1 or 10 or 0.5",
                      text);
}

static int play(const struct arguments *a, struct fail *fail)
{
    static const struct run_ops nothing = {0};
    struct progress progress;
    struct foreground f = {.show = progress_show, .arg = &progress};
    struct replay *replay = NULL;
    char path[PATH_MAX];
    double speed;
    int code = EXIT_OK;

    if (a->operand_count != 1)
        return fail_usage(fail, "run", "which run? plimsoll replay RUN");
    if (read_speed(a, &speed, fail) < 0 ||
        store_find(a->operands[0], path, sizeof(path), fail) < 0)
        return -fail->err;
    progress_init(&progress, a);
    if (foreground_init(&f) < 0)
        fail_set(fail, ENOMEM, "replay", "playing %s", path);
    else
        replay = replay_new(f.base, path, &nothing, NULL, fail);
    if (replay) {
        replay_set_speed(replay, speed);
        replay_play(replay);
        foreground_wait(&f, replay_run(replay));
        if (f.interrupted)
            code = EXIT_INTERRUPTED;
        else /* command_flush says where it could not be written */
            report_print(stdout, replay_run(replay));
    }
    replay_free(replay);
    foreground_done(&f);
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
