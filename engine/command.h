/*
 * The commands of the command line, one file each (engine/cmd_NAME.c). A command is a
 * const table entry; one more is a file and a line in COMMAND_LIST.
 */
#ifndef ENGINE_COMMAND_H
#define ENGINE_COMMAND_H

#include "engine/arguments.h"
#include "protocols/fail.h"

/* Exit codes of every command. */
enum {
    EXIT_OK = 0,        /* done; every threshold held */
    EXIT_THRESHOLD = 1, /* a threshold was crossed, or a comparison found a regression */
    EXIT_USAGE = 2,     /* the command line or a value is wrong */
    EXIT_FAILED = 3,    /* it could not be carried out */
    EXIT_EXHAUSTED = 4, /* a limit was reached, and the scenario does not document that */
    EXIT_INTERRUPTED = 130,
};

struct command {
    const char *name;
    const char *usage;        /* "run SCENARIO [options]" */
    const char *help;         /* one line */
    const struct flag *flags; /* NULL: none */
    /* argv begins after the command's name. Returns the exit code. */
    int (*run)(const struct command *command, int argc, char **argv);
};

/* clang-format off */
#define COMMAND_LIST(X)                                                                  \
    X(list)                                                                              \
    X(run)                                                                               \
    X(http)                                                                              \
    X(serve)                                                                             \
    X(call)                                                                              \
    X(doctor)                                                                            \
    X(runs)                                                                              \
    X(show)                                                                              \
    X(replay)                                                                            \
    X(export)                                                                            \
    X(delete)                                                                            \
    X(prune)
/* clang-format on */

#define X(id) extern const struct command command_##id;
COMMAND_LIST(X)
#undef X

/* NULL when there is none; the table is in the order of COMMAND_LIST, ended by NULL. */
const struct command *command_find(const char *name);
const struct command *const *command_table(void);

/*
 * Carry a whole command line out (argv with the program's name): commands, --help,
 * --version. `console` is what runs when there is no command: NULL in a program
 * without a screen. Returns the exit code.
 */
int command_main(int argc, char **argv, int (*console)(int argc, char **argv));

/*
 * Flush standard output at the end of a command: returns `code`, or EXIT_FAILED with a
 * sentence when the output could not be written. A reader that has gone away
 * (`| head -1`) has what it wanted: that is no failure.
 */
int command_flush(int code);

/* "plimsoll: SENTENCE" on standard error; returns the exit code for that failure. */
int command_fails(const struct fail *fail);

/* Usage, flags, and the parameters of a family (0: none), on standard output. */
void command_help(const struct command *command, unsigned family,
                  const struct options *defaults);

#endif
