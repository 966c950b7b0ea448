/* plimsoll delete RUN... and plimsoll prune --keep N: saved runs that may go. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/store.h"
#include "engine/units.h"

static const struct flag delete_flags[] = {
    {"help", 0, NULL, "this text"},
    {0},
};

static const struct flag prune_flags[] = {
    {"keep", 0, "N", "how many of the newest runs stay"},
    {"scenario", 0, "SCENARIO", "count and delete only runs of this scenario"},
    {"dry-run", 'n', NULL, "only say what would go"},
    {"help", 0, NULL, "this text"},
    {0},
};

/* All are looked up before the first goes, so that a slip deletes nothing. */
static int delete_runs(const struct arguments *a, struct fail *fail)
{
    char(*paths)[PATH_MAX] = calloc(OPERANDS_MAX, sizeof(*paths));
    int rc = paths ? 0 : fail_set(fail, ENOMEM, "delete", "deleting runs");

    if (rc == 0 && !a->operand_count)
        rc = fail_usage(fail, "run", "which runs? plimsoll delete RUN...");
    for (size_t i = 0; rc == 0 && i < a->operand_count; i++)
        rc = store_find(a->operands[i], paths[i], sizeof(paths[i]), fail);
    for (size_t i = 0; rc == 0 && i < a->operand_count; i++)
        rc = store_delete(paths[i], fail);
    free(paths);
    return rc;
}

static int read_keep(const struct arguments *a, uint64_t *keep, struct fail *fail)
{
    const char *text = arguments_flag(a, "keep");

    if (!text)
        return fail_usage(fail, "keep", "how many stay? plimsoll prune --keep N");
    if (units_parse(UNIT_COUNT, text, keep) < 0)
        return fail_usage(fail, "keep", "--keep cannot be '%.60s': it takes a count",
                          text);
    if (arguments_flag(a, "scenario") &&
        !scenario_named(arguments_flag(a, "scenario"), fail))
        return -EINVAL;
    return arguments_no_more(a, 0, fail);
}

/* Those that are being recorded stay, and count. */
static int prune_entry(const struct arguments *a, const struct store_entry *e,
                       struct fail *fail)
{
    char path[PATH_MAX];
    int rc = 0;

    if (e->state == STORE_RUNNING)
        return 0;
    if (!arguments_flag(a, "dry-run")) {
        rc = store_find(e->name, path, sizeof(path), fail);
        rc = rc ? rc : store_delete(path, fail);
    }
    if (rc == 0)
        printf("%s  %s\n", e->shown, e->name);
    return rc;
}

static int prune_runs(const struct arguments *a, struct fail *fail)
{
    const char *scenario = arguments_flag(a, "scenario");
    struct store_entry *entries = NULL;
    size_t count = 0;
    uint64_t keep = 0;
    uint64_t seen = 0;
    int rc = read_keep(a, &keep, fail);

    rc = rc ? rc : store_list(&entries, &count, fail);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct store_entry *e = &entries[i];

        if (*e->problem || (scenario && strcmp(scenario, e->scenario) != 0))
            continue;
        if (seen++ >= keep)
            rc = prune_entry(a, e, fail);
    }
    free(entries);
    return rc;
}

const struct command command_delete = {
    .name = "delete",
    .usage = "delete RUN...",
    .help = "delete saved runs",
    .flags = delete_flags,
    .operand = OPERAND_RUN,
    .act = delete_runs,
};

const struct command command_prune = {
    .name = "prune",
    .usage = "prune --keep N [options]",
    .help = "delete all but the newest saved runs",
    .flags = prune_flags,
    .act = prune_runs,
};
