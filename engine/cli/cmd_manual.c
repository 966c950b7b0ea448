/* plimsoll manual NAME: the manual page or a shell's completion; asked for by the build.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/cli/manual.h"
#include "protocols/array.h"

static const struct flag flags[] = {
    {"help", 0, NULL, "this text"},
    {0},
};

static const struct {
    const char *name;
    void (*print)(FILE *f);
} manuals[] = {
#define X(id) {#id, manual_##id},
    MANUAL_LIST(X)
#undef X
};

static int print_manual(const struct arguments *a, struct fail *fail)
{
    const char *name = a->operand_count == 1 ? a->operands[0] : "";

    for (size_t i = 0; i < NUMBER_OF(manuals); i++)
        if (strcmp(manuals[i].name, name) == 0) {
            manuals[i].print(stdout);
            return EXIT_OK;
        }
    return fail_usage(fail, "manual", "the manual is there as roff, bash, zsh and fish");
}

const struct command command_manual = {
    .name = "manual",
    .usage = "manual roff|bash|zsh|fish",
    .help = "the manual page, or the completion of a shell, on standard output",
    .flags = flags,
    .act = print_manual,
};
