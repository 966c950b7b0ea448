/*
 * The saved runs as the screens need them: the store's listing, kept until it is read
 * anew, and what it says of one scenario.
 */
#ifndef TUI_LAST_RUNS_H
#define TUI_LAST_RUNS_H

#include <stddef.h>

#include "engine/scenario.h"
#include "engine/store.h"

/* Zero bytes are a valid empty list. */
struct last_runs {
    size_t count;
    struct store_entry *entries; /* newest first; owned */
};

/* Read the store. 0, or a negative errno with a sentence; then the list is empty. */
int last_runs_read(struct last_runs *l, struct fail *fail);
void last_runs_done(struct last_runs *l);

/*
 * The first headline of the last runs of a scenario, the newest last: fills at most
 * `room` values and returns how many. Runs without a value are left out.
 */
size_t last_runs_values(const struct last_runs *l, const struct scenario *s,
                        double *values, size_t room);

/* "3 min ago", "yesterday 14:02", "2026-11-03". */
void last_runs_age(time_t then, time_t now, char *out, size_t size);

#endif
