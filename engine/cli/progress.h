/*
 * What a command says on standard error while runs go on: on a terminal one line of how
 * far they are, which is written over again and again, and is gone before anything else
 * is printed; warnings of the recording; and with --verbose what the workers say.
 */
#ifndef ENGINE_CLI_PROGRESS_H
#define ENGINE_CLI_PROGRESS_H

#include <stdbool.h>

#include "engine/cli/arguments.h"
#include "engine/drive.h"
#include "engine/rounds.h"

struct progress {
    bool is_shown; /* standard error is a terminal, and --quiet was not given */
    bool verbose;  /* false at first: not every command has --verbose */
};

void progress_init(struct progress *p, const struct arguments *a);

/* All of these take a struct progress as their argument. */
extern const struct drive_ops progress_of_run;
extern const struct rounds_ops progress_of_rounds;

/* The line of a single run or a replay, for struct foreground. */
void progress_show(void *arg, const struct run *run);

#endif
