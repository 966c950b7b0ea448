#include "engine/cli/headless.h"

#include <errno.h>
#include <stdio.h>

#include "engine/cli/command.h"
#include "engine/cli/outlet.h"
#include "engine/cli/progress.h"
#include "engine/drive.h"
#include "engine/foreground.h"
#include "engine/report/report.h"
#include "engine/threshold_verdict.h"

/* What the run came to comes first: a threshold is for a run that was carried out. */
static int exit_code(const struct run *r, bool interrupted)
{
    int done = thresholds_hold(r) ? EXIT_OK : EXIT_THRESHOLD;

    switch (r->outcome) {
    case OUTCOME_COMPLETED:
        return done;
    case OUTCOME_STOPPED:
        return EXIT_INTERRUPTED;
    case OUTCOME_EXHAUSTED:
        return r->scenario->exhausted_expected ? done : EXIT_EXHAUSTED;
    case OUTCOME_FAILED:
        break;
    }
    return interrupted ? EXIT_INTERRUPTED : EXIT_FAILED;
}

int headless_rounds_code(const struct rounds *r)
{
    switch (r->end) {
    case ROUNDS_COMPLETED:
    case ROUNDS_TIME_UP:
        break;
    case ROUNDS_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case ROUNDS_FAILED:
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

static int print_report(FILE *f, const void *what)
{
    return report_print(f, what);
}

/* The result of the run; returns the exit code. */
static int report_run(struct run *r, bool interrupted, const struct arguments *a)
{
    int code;

    outlets_secrets(a, &r, 1);
    code = outlets_write(export_table(), print_report, r, a, exit_code(r, interrupted));

    if (r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_EXHAUSTED)
        fprintf(stderr, "plimsoll: %s: %s.\n", outcome_name(r->outcome), r->reason);
    return code;
}

/* A run that cannot be saved is carried out all the same. */
static void begin_run(struct drive *d, struct run *r, const struct arguments *a)
{
    struct fail fail = {0};

    if (!arguments_flag(a, "no-save") && drive_record(d, r, &fail) < 0)
        fprintf(stderr, "plimsoll: this run will not be saved: %s.\n", fail.sentence);
    if (run_is_endless(r) && !arguments_flag(a, "quiet"))
        fputs("plimsoll: there is no --amount and no --duration: load goes on until "
              "Ctrl-C.\n",
              stderr);
    run_start(r);
}

int headless_run(const struct scenario *s, const struct options *values,
                 const struct arguments *a)
{
    struct progress progress;
    struct foreground f = {.show = progress_show, .arg = &progress};
    struct drive drive = {.ops = &progress_of_run, .arg = &progress};
    struct run *r = NULL;
    struct fail fail = {0};
    int code;

    progress_init(&progress, a);
    progress.verbose = arguments_flag(a, "verbose") != NULL;
    if (foreground_init(&f) < 0)
        fail_set(&fail, ENOMEM, "run", "starting a run");
    else if (outlets_check(export_table(), s, a, &fail) == 0)
        r = drive_make(&drive, f.base, s, values, &fail);
    if (r) {
        begin_run(&drive, r, a);
        foreground_wait(&f, r);
        code = report_run(r, f.interrupted, a);
    } else {
        code = command_fails(&fail);
    }
    drive_end(&drive);
    run_free(r);
    foreground_done(&f);
    return code;
}
