/* plimsoll compare: two saved runs, or two sets of them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/against.h"
#include "engine/cli/command.h"
#include "engine/cli/outlet.h"
#include "engine/recording.h"
#include "engine/report/compare_report.h"
#include "engine/store.h"

static const struct flag flags[] = {
    {"paired", 0, NULL, "the n-th trial of A and of B were made one after the other"},
    COMPARE_FLAGS,
    OUTLET_FLAGS,
    EXPORT_SECRETS_FLAG,
    {"quiet", 'q', NULL, "no text"},
    {"help", 0, NULL, "this text"},
    {0},
};

struct side {
    char name[80];
    size_t count;
    struct run *runs[OPERANDS_MAX];
};

static int load_side(struct side *side, const char *const *words, size_t count,
                     struct fail *fail)
{
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];

        if (store_find(words[i], path, sizeof(path), fail) < 0)
            return -fail->err;
        side->runs[i] = recording_load(path, fail);
        if (!side->runs[i])
            return -fail->err;
        side->count++;
    }
    return 0;
}

static void free_side(struct side *side)
{
    for (size_t i = 0; i < side->count; i++)
        run_free(side->runs[i]);
}

/*
 * A side is called by its run's id where it is one run, else A and B. The same run on
 * both sides is A and B as well.
 */
static void name_sides(struct side *a, struct side *b)
{
    bool by_id = a->count == 1 && b->count == 1 && *a->runs[0]->id && *b->runs[0]->id &&
                 strcmp(a->runs[0]->id, b->runs[0]->id) != 0;

    snprintf(a->name, sizeof(a->name), "%s", by_id ? a->runs[0]->id : "A");
    snprintf(b->name, sizeof(b->name), "%s", by_id ? b->runs[0]->id : "B");
}

/* How many operands belong to A: those before "--"; one of two without it. */
static int split(const struct arguments *a, size_t before, bool separated, size_t *first,
                 struct fail *fail)
{
    *first = separated ? before : 1;
    if (separated ? before >= 1 && a->operand_count > before : a->operand_count == 2)
        return 0;
    return fail_usage(
        fail, "compare",
        "which runs? plimsoll compare A B, or several: compare A... -- B...; "
        "last is the newest, last~1 the one before, plimsoll runs lists them");
}

static int compare_runs(const struct arguments *a, size_t first, int *code,
                        struct fail *fail)
{
    struct compare_options options = {.paired = arguments_flag(a, "paired") != NULL};
    struct side *sides = calloc(2, sizeof(*sides));
    struct comparison *c = NULL;

    if (!sides)
        return fail_set(fail, ENOMEM, "compare", "comparing");
    if (compare_read_options(a, &options, fail) == 0 &&
        outlets_check(compare_formats, NULL, a, fail) == 0 &&
        load_side(&sides[0], a->operands, first, fail) == 0 &&
        load_side(&sides[1], a->operands + first, a->operand_count - first, fail) == 0) {
        name_sides(&sides[0], &sides[1]);
        for (int i = 0; i < 2; i++)
            outlets_secrets(a, sides[i].runs, sides[i].count);
        c = comparison_new(
            &(struct compare_side){sides[0].name, sides[0].count, sides[0].runs},
            &(struct compare_side){sides[1].name, sides[1].count, sides[1].runs},
            &options, fail);
    }
    if (c)
        *code = compare_exit_code(
            c, a, outlets_write(compare_formats, compare_write_text, c, a, EXIT_OK));
    comparison_free(c);
    free_side(&sides[0]);
    free_side(&sides[1]);
    free(sides);
    return -fail->err;
}

/* Whether there is a "--", which is taken out of argv; *argc and *before are set. */
static bool take_separator(int *argc, char **argv, int *before)
{
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        *before = i;
        memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i - 1) * sizeof(*argv));
        --*argc;
        return true;
    }
    return false;
}

static int compare(const struct command *command, int argc, char **argv)
{
    struct arguments a = {0}, front = {0};
    struct fail fail = {0};
    int before = 0, code = EXIT_OK;
    bool separated = take_separator(&argc, argv, &before);
    size_t first;

    /* The words before the separator alone say how many runs are A's. */
    if (arguments_parse(&front, before, argv, 0, flags, NULL, &fail) == 0 &&
        arguments_parse(&a, argc, argv, 0, flags, NULL, &fail) == 0) {
        if (arguments_flag(&a, "help"))
            command_help(command, 0, NULL);
        else if (split(&a, front.operand_count, separated, &first, &fail) == 0)
            compare_runs(&a, first, &code, &fail);
    }
    arguments_done(&front);
    arguments_done(&a);
    return fail.err ? command_fails(&fail) : code;
}

const struct command command_compare = {
    .name = "compare",
    .usage = "compare A B | compare A... -- B...",
    .help = "two saved runs, or two sets: what is better, worse, or not known",
    .flags = flags,
    .run = compare,
};
