/* plimsoll export RUN: a saved run in any of the formats. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/cli/outlet.h"
#include "engine/recording.h"
#include "engine/report/export.h"
#include "engine/store.h"

#define FORMAT_NAME(id, name, letter, extension, families, holds, help) " " name

static const struct flag flags[] = {
    {"format", 'f', "FORMAT", "one of" EXPORT_LIST(FORMAT_NAME)},
    {"output", 'o', "FILE",
     "where to; - is standard output, the default; its name chooses the format if "
     "--format "
     "does not"},
    {"force", 0, NULL, "replace a file that exists"},
    EXPORT_SECRETS_FLAG,
    {"help", 0, NULL, "this text"},
    {0},
};

static int unknown_format(const char *name, struct fail *fail)
{
    const char *names[64];
    size_t n = 0;
    const char *near;

    for (const struct export_format *const *f = export_table(); *f && n < 64; f++)
        names[n++] = (*f)->name;
    near = nearest_word(name, names, n);
    return fail_usage(
        fail, "format",
        "there is no format '%.60s'%s%s%s; there are" EXPORT_LIST(FORMAT_NAME), name,
        near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* The format whose extension the file has: the longest, ".series.csv" before ".csv". */
static const struct export_format *format_of_file(const char *path)
{
    const struct export_format *found = NULL;

    for (const struct export_format *const *f = export_table(); *f; f++) {
        size_t len = strlen((*f)->extension);

        if (strlen(path) > len &&
            strcmp(path + strlen(path) - len, (*f)->extension) == 0 &&
            (!found || len > strlen(found->extension)))
            found = *f;
    }
    return found;
}

static int choose_format(const struct arguments *a, const char *path,
                         const struct export_format **format, struct fail *fail)
{
    const char *name = arguments_flag(a, "format");

    *format = name ? export_find(name) : format_of_file(path);
    if (*format)
        return 0;
    if (name)
        return unknown_format(name, fail);
    return fail_usage(fail, "format",
                      "which --format? There are" EXPORT_LIST(FORMAT_NAME));
}

static int export_run(const struct arguments *a, struct fail *fail)
{
    const char *output = arguments_flag(a, "output");
    const struct export_format *format;
    char path[PATH_MAX];
    struct run *r;
    int rc;

    if (a->operand_count != 1)
        return fail_usage(fail, "run",
                          "which run? plimsoll export RUN --format FORMAT; last is the "
                          "newest, plimsoll runs lists them");
    if (!output)
        output = "-";
    if (choose_format(a, output, &format, fail) < 0 ||
        store_find(a->operands[0], path, sizeof(path), fail) < 0)
        return -fail->err;
    r = recording_load(path, fail);
    if (!r)
        return -fail->err;
    outlets_secrets(a, &r, 1);
    rc = export_check(format, r->scenario, output, arguments_flag(a, "force") != NULL,
                      fail);
    if (rc == 0)
        rc = export_to_file(format, r, output, arguments_flag(a, "force") != NULL, fail);
    run_free(r);
    return rc;
}

const struct command command_export = {
    .name = "export",
    .usage = "export RUN --format FORMAT [-o FILE]",
    .help = "a saved run in another format",
    .flags = flags,
    .operand = OPERAND_RUN,
    .act = export_run,
};
