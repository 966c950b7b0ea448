/*
 * What a command writes of its result: a text on standard output, and a file in each
 * format that a flag asks for (--json FILE; engine/report/export.h).
 */
#ifndef ENGINE_CLI_OUTLET_H
#define ENGINE_CLI_OUTLET_H

#include "engine/cli/arguments.h"
#include "engine/report/export.h"

/* The flags for the formats of comparisons and shoot-outs; EXPORT_FLAGS are a run's. */
#define OUTLET_FLAGS                                                                   \
    {"json", 'j', "FILE", "write it as one JSON document; - is standard output"},      \
        {"markdown", 0, "FILE", "write it as tables to paste; - is standard output"},  \
        {"html", 0, "FILE", "write it as one page with charts; - is standard output"}, \
    {                                                                                  \
        "force", 0, NULL, "replace files that exist"                                   \
    }

/* With --keep-secrets, let whatever is written of the runs have them (engine/secret.h).
 */
void outlets_secrets(const struct arguments *a, struct run *const *runs, size_t count);

/*
 * Before the work: whether the files that are asked for could be made. `scenario` is
 * that of the run, or NULL (export_check). 0 or -EINVAL with a sentence.
 */
int outlets_check(const struct export_format *const *formats,
                  const struct scenario *scenario, const struct arguments *a,
                  struct fail *fail);

/*
 * Write the files, and the text unless one of them goes to standard output or --quiet is
 * given. One that fails does not keep the others from being written. Returns `code`, or
 * the code of a failure, which has been reported.
 */
int outlets_write(const struct export_format *const *formats,
                  int (*text)(FILE *f, const void *what), const void *what,
                  const struct arguments *a, int code);

#endif
