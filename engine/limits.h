/*
 * The limits of this machine that would distort or end a run: what is needed, what is
 * there, and the cure. Asked before a run is started (a run that cannot fit is refused
 * with these figures) and by `plimsoll doctor`.
 */
#ifndef ENGINE_LIMITS_H
#define ENGINE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/scenario.h"

struct limit {
    const char *name; /* "open files" */
    bool known;       /* whether the system says `have` */
    bool enough;
    bool fatal;    /* a run that needs more cannot work at all */
    uint64_t need; /* 0: nothing in particular is needed */
    uint64_t have;
    char text[160]; /* "reno bbr", for what is not a number; "" otherwise */
    char why[160];  /* what it does to a run */
    char cure[160]; /* what to do; "" when enough */
};

#define LIMITS_MAX 16

/*
 * The limits that matter to a run with these values; with scenario NULL those of the
 * machine in general. Fills at most LIMITS_MAX rows and returns how many.
 */
size_t limits_for(const struct scenario *scenario, const struct options *values,
                  struct limit limits[LIMITS_MAX]);

/* Raise the soft limit of open files to the hard one: for this process and its children.
 */
void limits_raise_files(void);

#endif
