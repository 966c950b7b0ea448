/*
 * plimsoll run SCENARIO --against OTHER: rounds of two contestants and their comparison.
 * OTHER is PARAM=VALUE (the same run with that changed; may be repeated), the name of a
 * scenario of the same family, or a saved run, whose scenario and values are used.
 */
#ifndef ENGINE_CLI_AGAINST_H
#define ENGINE_CLI_AGAINST_H

#include "engine/cli/arguments.h"
#include "engine/compare.h"
#include "engine/scenario.h"

#define AGAINST_ROUNDS 10

/* The flags of a command that compares; `against` adds those of rounds. */
#define COMPARE_FLAGS                                                       \
    {"metric", 0, "METRIC", "judge by this metric alone; may be repeated"}, \
        {"at-least", 0, "PERCENT",                                          \
         "a smaller difference is no better and no worse; default 1"},      \
    {                                                                       \
        "fail-on", 0, "worse", "exit with 1 when a metric is worse"         \
    }

#define AGAINST_FLAGS                                                               \
    {"against", 0, "OTHER",                                                         \
     "compare with PARAM=VALUE, a scenario or a saved run, in rounds of one trial " \
     "each"},                                                                       \
        {"rounds", 0, "N", "with --against: how many; default 10"}, COMPARE_FLAGS

/* Fill the options from those flags. 0 or -EINVAL with a sentence. */
int compare_read_options(const struct arguments *a, struct compare_options *options,
                         struct fail *fail);

/* The exit code of a comparison by --fail-on; `code` otherwise. */
int compare_exit_code(const struct comparison *c, const struct arguments *a, int code);

/* The whole; returns the exit code. */
int against_run(const struct scenario *s, const struct options *values,
                const struct arguments *a);

#endif
