#include "engine/cli/headless.h"

#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/command.h"
#include "engine/cli/outlet.h"
#include "engine/recorder.h"
#include "engine/report/report.h"
#include "engine/run.h"
#include "engine/threshold.h"
#include "engine/units.h"

struct headless {
    struct event_base *base;
    struct event *interrupt, *terminate, *hangup, *tick;
    struct run *run;
    struct recorder *recorder; /* NULL: the run is not saved */
    bool interrupted;
    bool progress; /* standard error is a terminal, and not quiet */
    bool verbose;
};

void headless_clear(void)
{
    fputs("\r\033[K", stderr);
}

static void clear_line(const struct headless *h)
{
    if (h->progress)
        headless_clear();
}

static void tell_warning(const struct headless *h)
{
    const char *text = recorder_warning(h->recorder);

    if (!text)
        return;
    clear_line(h);
    fprintf(stderr, "plimsoll: %s.\n", text);
}

static void on_changed(void *arg, struct run *r)
{
    struct headless *h = arg;

    recorder_changed(h->recorder, r);
    tell_warning(h);
    if (r->state == RUN_DONE)
        event_base_loopbreak(h->base);
}

static void on_sampled(void *arg, struct run *r, const struct process *process,
                       const struct sample *sample)
{
    struct headless *h = arg;

    recorder_sampled(h->recorder, r, process, sample);
    tell_warning(h);
}

static void on_line(void *arg, struct run *r, const char *text)
{
    const struct headless *h = arg;

    (void)r;
    if (!h->verbose)
        return;
    clear_line(h);
    fprintf(stderr, "%s\n", text);
}

/* The rate of the last step that has both ends, for the progress line. */
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
    units_format_count(round(rate), count, sizeof(count));
    snprintf(text, size, "%s/s, %s ops/s", bytes, count);
}

void headless_progress(const struct run *r)
{
    double progress = run_progress(r);
    char now[80];

    describe_now(r, now, sizeof(now));
    headless_clear();
    fprintf(stderr, "%s  trial %zu of %u  %.1f s", r->scenario->name, r->trials_begun,
            r->trial_count, (double)run_clock_ns(r) / 1e9);
    if (isfinite(progress))
        fprintf(stderr, "  %.0f %%", 100 * progress);
    if (*now)
        fprintf(stderr, "  %s", now);
    if (run_is_endless(r))
        fputs("  until Ctrl-C", stderr);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    const struct headless *h = arg;

    (void)fd;
    (void)what;
    headless_progress(h->run);
}

/* The first asks for an end, with a result; the second does not wait any more. */
static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    struct headless *h = arg;

    (void)fd;
    (void)what;
    h->interrupted = true;
    run_stop(h->run);
}

static int set_up(struct headless *h)
{
    struct timeval tick = {0, 200000};

    h->interrupt = evsignal_new(h->base, SIGINT, on_signal, h);
    h->terminate = evsignal_new(h->base, SIGTERM, on_signal, h);
    h->hangup = evsignal_new(h->base, SIGHUP, on_signal, h);
    h->tick = event_new(h->base, -1, EV_PERSIST, on_tick, h);
    if (!h->interrupt || !h->terminate || !h->hangup || !h->tick ||
        event_add(h->interrupt, NULL) < 0 || event_add(h->terminate, NULL) < 0 ||
        (!command_ignores(SIGHUP) && event_add(h->hangup, NULL) < 0))
        return -ENOMEM;
    return h->progress ? event_add(h->tick, &tick) : 0;
}

static void tear_down(struct headless *h)
{
    command_hold_signals();
    if (h->interrupt)
        event_free(h->interrupt);
    if (h->terminate)
        event_free(h->terminate);
    if (h->hangup)
        event_free(h->hangup);
    if (h->tick)
        event_free(h->tick);
    recorder_free(h->recorder);
    run_free(h->run);
    if (h->base)
        event_base_free(h->base);
}

/* What the run came to comes first: a threshold is for a run that was carried out. */
static int exit_code(const struct headless *h)
{
    int done = thresholds_hold(h->run) ? EXIT_OK : EXIT_THRESHOLD;

    switch (h->run->outcome) {
    case OUTCOME_COMPLETED:
        return done;
    case OUTCOME_STOPPED:
        return EXIT_INTERRUPTED;
    case OUTCOME_EXHAUSTED:
        return h->run->scenario->exhausted_expected ? done : EXIT_EXHAUSTED;
    case OUTCOME_FAILED:
        break;
    }
    return h->interrupted ? EXIT_INTERRUPTED : EXIT_FAILED;
}

static int print_report(FILE *f, const void *what)
{
    return report_print(f, what);
}

static int report(const struct headless *h, const struct arguments *a)
{
    int code;

    clear_line(h);
    code = outlets_write(export_table(), print_report, h->run, a, exit_code(h));
    if (h->run->outcome == OUTCOME_FAILED || h->run->outcome == OUTCOME_EXHAUSTED)
        fprintf(stderr, "plimsoll: %s: %s.\n", outcome_name(h->run->outcome),
                h->run->reason);
    return code;
}

/* A run that cannot be saved is carried out all the same. */
static void begin_recording(struct headless *h, const struct arguments *a)
{
    struct fail fail = {0};

    if (arguments_flag(a, "no-save"))
        return;
    h->recorder = recorder_new(h->run, &fail);
    if (!h->recorder)
        fprintf(stderr, "plimsoll: this run will not be saved: %s.\n", fail.sentence);
}

int headless_run(const struct scenario *s, const struct options *values,
                 const struct arguments *a)
{
    static const struct run_ops ops = {on_changed, on_sampled, on_line};
    struct headless h = {.verbose = arguments_flag(a, "verbose") != NULL};
    struct fail fail = {0};
    int code;

    h.progress = isatty(STDERR_FILENO) && !arguments_flag(a, "quiet");
    h.base = event_base_new();
    if (!h.base)
        fail_set(&fail, ENOMEM, "run", "starting a run");
    else if (outlets_check(export_table(), s, a, &fail) == 0)
        h.run = run_new(h.base, s, values, &ops, &h, &fail);
    if (!h.run || set_up(&h) < 0) {
        fail_set(&fail, ENOMEM, "run", "starting a run");
        code = command_fails(&fail);
        tear_down(&h);
        return code;
    }
    begin_recording(&h, a);
    if (run_is_endless(h.run) && !arguments_flag(a, "quiet"))
        fputs("plimsoll: there is no --amount and no --duration: load goes on until "
              "Ctrl-C.\n",
              stderr);
    run_start(h.run);
    if (h.run->state != RUN_DONE)
        event_base_dispatch(h.base);
    code = report(&h, a);
    tear_down(&h);
    return code;
}
