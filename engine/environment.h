/*
 * Where a run was measured: the program's version, the machine, and the limits of
 * engine/limits.h as they were when the run was made. It is captured once and is plain
 * values from then on, so that a saved run names its own machine and not of the one
 * on which it is read.
 */
#ifndef ENGINE_ENVIRONMENT_H
#define ENGINE_ENVIRONMENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/limits.h"

struct environment_limit {
    char name[40];
    bool known, enough;
    uint64_t need, have;
    char text[160]; /* in place of `have` for what is not a number; "" otherwise */
};

struct environment {
    char program[64]; /* "plimsoll 0.1.0" */
    char host[72];    /* "" when not known */
    char kernel[72];
    char machine[72];
    uint64_t cpus; /* online */
    size_t limit_count;
    struct environment_limit limits[LIMITS_MAX];
};

/* Look at this machine, for a run of the scenario with these values. */
void environment_capture(struct environment *e, const struct scenario *scenario,
                         const struct options *values);

/*
 * As the object "environment" of a document (engine/report/document.h), and read from
 * one; what the object lacks is empty. environment_add returns 0 or -ENOMEM.
 */
int environment_add(const struct environment *e, cJSON *object);
void environment_read(struct environment *e, const cJSON *object);

#endif
