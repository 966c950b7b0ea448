/*
 * A run without a screen: what `plimsoll run` and `plimsoll http` do. Progress goes to
 * standard error (progress.h), the result table to standard output unless an export takes
 * its place there (outlet.h).
 */
#ifndef ENGINE_CLI_HEADLESS_H
#define ENGINE_CLI_HEADLESS_H

#include "engine/cli/arguments.h"
#include "engine/report/export.h"
#include "engine/rounds.h"
#include "engine/scenario.h"

/* The flags that both commands share; append to a command's own. */
#define HEADLESS_FLAGS                                                               \
    EXPORT_FLAGS, {"quick", 0, NULL, "a smaller run of the same, for a first look"}, \
        {"as-documented", 0, NULL, "the document's own values, not the defaults"},   \
        {"no-save", 0, NULL, "do not keep the run among the saved ones"},            \
        {"quiet", 'q', NULL, "no progress and no table"},                            \
        {"verbose", 'v', NULL, "print what the workers say"},                        \
    {                                                                                \
        "help", 0, NULL, "this text"                                                 \
    }

/* Run to the end; returns the exit code. */
int headless_run(const struct scenario *s, const struct options *values,
                 const struct arguments *a);

/* The exit code that the end of rounds stands for, when nothing else is wrong. */
int headless_rounds_code(const struct rounds *r);

#endif
