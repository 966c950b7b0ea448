#include "engine/cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/units.h"

void progress_init(struct progress *p, const struct arguments *a)
{
    *p = (struct progress){.is_shown =
                               isatty(STDERR_FILENO) && !arguments_flag(a, "quiet")};
}

static void clear_line(const struct progress *p)
{
    if (p->is_shown)
        fputs("\r\033[K", stderr);
}

static void say_warning(void *arg, const char *sentence)
{
    clear_line(arg);
    fprintf(stderr, "plimsoll: %s.\n", sentence);
}

/* A run. */

/* The rate of the last step that has both ends. */
static void describe_now(const struct run *r, char *text, size_t size)
{
    const struct series *s = r->series;
    const struct series_slot *slot;
    char bytes[32], count[32];
    double rate;

    text[0] = '\0';
    if (s->used < 2)
        return;
    slot = &s->slots[s->used - 2];
    rate = series_rate(&slot->places[PLACE_CLIENT],
                       slot->places[PLACE_CLIENT].counters.succeeded);
    units_format_bytes(series_rate(&slot->places[PLACE_CLIENT],
                                   slot->places[PLACE_CLIENT].counters.received_bytes +
                                       slot->places[PLACE_CLIENT].counters.sent_bytes),
                       bytes, sizeof(bytes));
    units_format_rate(rate, count, sizeof(count));
    snprintf(text, size, "%s/s, %s ops/s", bytes, count);
}

void progress_show(void *arg, const struct run *run)
{
    const struct progress *p = arg;
    double progress;
    char now[80];

    clear_line(p);
    if (!p->is_shown || !run)
        return;
    progress = run_progress(run);
    describe_now(run, now, sizeof(now));
    fprintf(stderr, "%s  trial %zu of %u  %.1f s", run->scenario->name, run->trials_begun,
            run->trial_count, (double)run_clock_ns(run) / 1e9);
    if (isfinite(progress))
        fprintf(stderr, "  %.0f %%", 100 * progress);
    if (*now)
        fprintf(stderr, "  %s", now);
    if (run_is_endless(run))
        fputs("  until Ctrl-C", stderr);
}

static void say_line(void *arg, struct run *run, const char *text)
{
    const struct progress *p = arg;

    (void)run;
    if (!p->verbose)
        return;
    clear_line(p);
    fprintf(stderr, "%s\n", text);
}

const struct drive_ops progress_of_run = {.line = say_line, .warning = say_warning};

/* Rounds. */

static void show_rounds(void *arg, const struct rounds *r, const struct run *run)
{
    const struct progress *p = arg;

    clear_line(p);
    if (p->is_shown && run)
        fprintf(stderr, "round %u of %u  %s  %.1f s", r->round + 1, r->rounds,
                r->contestant->name, (double)run_clock_ns(run) / 1e9);
}

static void say_contestants_line(void *arg, const struct rounds *r, const char *text)
{
    const struct progress *p = arg;

    if (!p->verbose)
        return;
    clear_line(p);
    fprintf(stderr, "%s: %s\n", r->contestant->name, text);
}

const struct rounds_ops progress_of_rounds = {
    .show = show_rounds,
    .line = say_contestants_line,
    .warning = say_warning,
};
