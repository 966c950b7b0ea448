/*
 * The command line: options of the parameter table and a command's own flags, taken
 * apart in one place so that every command reads them alike:
 *
 *   --name VALUE   --name=VALUE   -n VALUE   -nVALUE   --flag   --no-flag   --
 *
 * A parameter that is a flag takes the word behind it if that is on or off, and no
 * other: --close on, --close off, --close=yes. What is not an option is an operand.
 */
#ifndef ENGINE_CLI_ARGUMENTS_H
#define ENGINE_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/param.h"
#include "protocols/fail.h"
#include "protocols/options.h"

/* A flag of one command, beside the parameters. An array ends with a NULL name. */
struct flag {
    const char *name;  /* without dashes */
    char letter;       /* or 0 */
    const char *value; /* what the value is called in the help; NULL: takes none */
    const char *help;
};

#define OPERANDS_MAX 64
#define FLAGS_MAX 40 /* of one command */

/* Zero bytes are a valid empty set. */
struct arguments {
    const struct flag *known; /* the command's; borrowed */
    char *given[FLAGS_MAX];   /* in their order: NULL, or the text value: "" for those
                               * without; repeated ones have a line each */
    struct options typed;     /* parameters that were given */
    size_t operand_count;
    const char *operands[OPERANDS_MAX]; /* borrowed: argv's */
};

/*
 * Parse argv[0..argc-1] (no program name). Parameters of `family` (0: none) are
 * stored in `values`. 0 or -EINVAL with a sentence that names the nearest option.
 */
int arguments_parse(struct arguments *a, int argc, char **argv, unsigned family,
                    const struct flag *flags, struct options *values, struct fail *fail);
void arguments_done(struct arguments *a);

/* The value of one of the flags that were parsed for; NULL when it was not given. */
const char *arguments_flag(const struct arguments *a, const char *name);

/* 0, or -EINVAL with a sentence when there are more operands than `used`. */
int arguments_no_more(const struct arguments *a, size_t used, struct fail *fail);

/* Whether a parameter was given. */
bool arguments_typed(const struct arguments *a, enum option option);

#endif
