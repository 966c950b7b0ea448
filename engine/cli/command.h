/*
 * The commands of the command line, one file each (engine/cli/cmd_NAME.c). A command is a
 * const table entry; one more is a file and a line in COMMAND_LIST.
 */
#ifndef ENGINE_CLI_COMMAND_H
#define ENGINE_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/cli/arguments.h"
#include "protocols/fail.h"

/* Exit codes of every command. X(name, code, help) */
#define EXIT_CODES(X)                                                               \
    X(OK, 0, "done; every threshold held")                                          \
    X(THRESHOLD, 1, "a threshold was crossed, or a comparison found a regression")  \
    X(USAGE, 2, "the command line or a value is wrong")                             \
    X(FAILED, 3, "it could not be carried out")                                     \
    X(EXHAUSTED, 4, "a limit was reached, and the scenario does not document that") \
    X(INTERRUPTED, 130, "interrupted")

enum {
#define X(name, code, help) EXIT_##name = (code),
    EXIT_CODES(X)
#undef X
};

/* Whether a word asks for help: --help or -h. */
bool command_is_help(const char *word);

/* One of the words that the first operand of a command may be: a scenario. */
struct command_word {
    const char *name;
    const char *help;
    unsigned family; /* of the parameters that come with it; 0: none */
};

/* What operands a command takes, for the manual and the shells' completion. */
enum command_operand { OPERAND_TEXT, OPERAND_WORD, OPERAND_RUN };

struct command {
    const char *name;
    const char *usage;        /* "run SCENARIO [options]" */
    const char *help;         /* one line */
    const struct flag *flags; /* NULL: none */
    enum command_operand operand;
    /* OPERAND_WORD: fills in the i-th word; false when there are no more. */
    bool (*word)(size_t i, struct command_word *word);
    unsigned family; /* of its parameters, where they do not depend on a word */
    /*
     * What it does, one of the two. `act` is for a command whose flags and operands are
     * all that it takes, once they are read and no help was asked for; `run` reads its
     * words itself, which begin after the command's name. Both return the exit code; a
     * failure that `act` sets counts instead, and a negative errno without one is of
     * standard output, which command_flush judges.
     */
    int (*act)(const struct arguments *a, struct fail *fail);
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
    X(compare)                                                                           \
    X(shootout)                                                                          \
    X(export)                                                                            \
    X(delete)                                                                            \
    X(prune)
/* clang-format on */

/* Those that no help, manual or completion lists: they are for the build. */
#define COMMAND_HIDDEN_LIST(X) X(manual)

#define X(id) extern const struct command command_##id;
COMMAND_LIST(X)
COMMAND_HIDDEN_LIST(X)
#undef X

/* NULL when there is none; hidden ones are found as well. */
const struct command *command_find(const char *name);

/* In the order of COMMAND_LIST, without the hidden ones, ended by NULL. */
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

/* For a command whose operand is a scenario. */
bool command_scenario_word(size_t i, struct command_word *word);

/* Usage, flags, and the parameters of a family (0: none), on standard output. */
void command_help(const struct command *command, unsigned family,
                  const struct options *defaults);

#endif
