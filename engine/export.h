/*
 * Export formats. A format is a const table entry with one function; a further one is
 * a file engine/export_NAME.c and a line in EXPORT_LIST. Each is an option of `run`
 * (--NAME FILE) and an entry of the console's export dialog.
 */
#ifndef ENGINE_EXPORT_H
#define ENGINE_EXPORT_H

#include <stdio.h>

#include "engine/run.h"
#include "protocols/fail.h"

struct export_format {
    const char *name;      /* "json" */
    const char *extension; /* ".json" */
    const char *help;      /* one line */
    /* Write the whole; errors of the stream are found by the caller. 0 or -errno. */
    int (*write)(FILE *f, const struct run *r);
};

#define EXPORT_LIST(X) X(json)

#define X(id) extern const struct export_format export_##id;
EXPORT_LIST(X)
#undef X

/* Ended by NULL. */
const struct export_format *const *export_table(void);
const struct export_format *export_find(const char *name);

/*
 * Write to a file: under a temporary name in the same directory, then renamed, so that
 * nobody ever sees half of one. "-" is standard output. With `force` false a file that
 * exists is refused (EEXIST). 0 or -errno with a sentence.
 */
int export_to_file(const struct export_format *format, const struct run *r,
                   const char *path, int force, struct fail *fail);

#endif
