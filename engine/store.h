/*
 * The store: the directory in which runs are kept, one recording (engine/recording.h) a
 * file. It is $XDG_STATE_HOME/plimsoll/runs, else ~/.local/state/plimsoll/runs, made at
 * the first run with mode 0700; files have mode 0600.
 *
 *   20261130-112000-123_tcp-bulk_k3f9x2ab.jsonl      UTC time, scenario, id
 *
 * An id is eight letters and digits; any prefix of it names the run as long as no other
 * run's id begins with it. A recording that is being written is locked (fcntl(2)), so
 * that a listing distinguishes it from one whose program was killed. Names sort by time.
 *
 * Files are never followed (symbolic links), waited for (FIFOs) or changed unless they
 * are recordings; what is not a recording is named and passed over.
 */
#ifndef ENGINE_STORE_H
#define ENGINE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "engine/trial.h"
#include "protocols/fail.h"

#define STORE_ID_LEN 8
#define STORE_PREFIX_MIN 4 /* shorter prefixes are taken too, but not shown */

enum store_state {
    STORE_ENDED,       /* the recording has its end */
    STORE_RUNNING,     /* somebody is writing it now */
    STORE_INTERRUPTED, /* nobody is, and it has no end */
};

struct store_entry {
    char name[256];               /* of the file */
    char id[STORE_ID_LEN + 1];    /* "" for what is not a recording */
    char shown[STORE_ID_LEN + 1]; /* its shortest unique prefix */
    char problem[320];            /* why it is passed over, a sentence with its path; then
                                  nothing below is set */
    enum store_state state;
    enum outcome outcome; /* ENDED */
    char reason[320];
    time_t started;
    char scenario[40];
    unsigned trials; /* begun, when ENDED; else asked for */
    uint64_t size_bytes;
    double medians[METRIC_COUNT]; /* ENDED; NaN where not measured */
};

/* Where the directory is; it need not exist. -ENOENT when there is no home. */
int store_directory(char *path, size_t size, struct fail *fail);

/*
 * A new, empty, locked recording for a run of the scenario: a descriptor for appending.
 * Fills id (STORE_ID_LEN + 1 bytes) and path.
 */
int store_create(const char *scenario, char *id, char *path, size_t size,
                 struct fail *fail);

/*
 * What is there, newest first, files that are no recordings at the end. A directory
 * that does not exist is empty. The entries are freed with free(3).
 */
int store_list(struct store_entry **entries, size_t *count, struct fail *fail);

/* "completed", "running", "interrupted", ...: what a listing says of an entry. */
const char *store_outcome(const struct store_entry *entry);

/*
 * The file that a user means: a prefix of an id, "last" (the newest; "last~1" the one
 * before it), a file name in the store, or a path with a '/'. 0, or -ENOENT or -EINVAL
 * with a sentence.
 */
int store_find(const char *word, char *path, size_t size, struct fail *fail);

/* Remove one recording by its path. A run that is being recorded is refused (EBUSY). */
int store_delete(const char *path, struct fail *fail);

#endif
