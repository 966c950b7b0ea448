/*
 * What a report of several runs (a comparison, a shoot-out) can be written as, besides
 * the text on standard output: a table of these, ended by a NULL name, and the flags
 * that ask for them. Files are made as by engine/report/export.h.
 */
#ifndef ENGINE_CLI_OUTLET_H
#define ENGINE_CLI_OUTLET_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/cli/arguments.h"
#include "protocols/fail.h"

struct outlet {
    const char *name; /* of the flag: "html" */
    int (*write)(FILE *f, const void *what);
};

#define OUTLET_FLAGS                                                                   \
    {"json", 'j', "FILE", "write it as one JSON document; - is standard output"},      \
        {"markdown", 0, "FILE", "write it as tables to paste; - is standard output"},  \
        {"html", 0, "FILE", "write it as one page with charts; - is standard output"}, \
    {                                                                                  \
        "force", 0, NULL, "replace files that exist"                                   \
    }

/* Before the work: whether the files that are asked for could be made. 0 or -EINVAL. */
int outlets_check(const struct outlet *outlets, const struct arguments *a,
                  struct fail *fail);

/*
 * Write what is asked for. *took_stdout is set when one went to standard output. One that
 * fails does not keep the others from being written. Returns `code`, or the code of a
 * failure, which has been told.
 */
int outlets_write(const struct outlet *outlets, const void *what,
                  const struct arguments *a, bool *took_stdout, int code);

#endif
