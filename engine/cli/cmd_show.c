/* plimsoll show RUN: the report of a saved run. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/cli/command.h"
#include "engine/cli/outlet.h"
#include "engine/recording.h"
#include "engine/report/export.h"
#include "engine/report/report.h"
#include "engine/store.h"

static const struct flag flags[] = {
    {"json", 'j', NULL, "the whole result as one JSON document"},
    EXPORT_SECRETS_FLAG,
    {"help", 0, NULL, "this text"},
    {0},
};

static void print_origin(const struct run *r)
{
    char when[32];
    struct tm tm;

    localtime_r(&r->started, &tm);
    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    printf("run %s of %s, on %s (%s), %s\n\n", r->id, when, r->environment.host,
           r->environment.kernel, r->environment.program);
}

static int show_run(const struct arguments *a, struct fail *fail)
{
    char path[PATH_MAX];
    struct run *r;
    int rc;

    if (a->operand_count != 1)
        return fail_usage(
            fail, "run",
            "which run? plimsoll show RUN; last is the newest, plimsoll runs "
            "lists them");
    if (store_find(a->operands[0], path, sizeof(path), fail) < 0)
        return -fail->err;
    r = recording_load(path, fail);
    if (!r)
        return -fail->err;
    outlets_secrets(a, &r, 1);
    if (arguments_flag(a, "json")) {
        rc = export_to_file(export_find("json"), r, "-", 0, fail);
    } else {
        print_origin(r);
        rc = 0;
        report_print(stdout, r); /* command_flush says where it could not be written */
    }
    run_free(r);
    return rc;
}

const struct command command_show = {
    .name = "show",
    .usage = "show RUN [--json]",
    .help = "the report of a saved run",
    .flags = flags,
    .operand = OPERAND_RUN,
    .act = show_run,
};
