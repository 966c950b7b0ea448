/* The JSON document of a run (engine/document.h). */
#include <errno.h>
#include <stdlib.h>

#include "engine/document.h"
#include "engine/export.h"

static int write_json(FILE *f, const struct run *r)
{
    cJSON *document = document_new(r);
    char *text = document ? cJSON_Print(document) : NULL;
    int rc = text ? 0 : -ENOMEM;

    if (text && (fputs(text, f) == EOF || fputc('\n', f) == EOF))
        rc = -EIO;
    cJSON_free(text);
    cJSON_Delete(document);
    return rc;
}

const struct export_format export_json = {
    .name = "json",
    .extension = ".json",
    .help = "the whole result as one JSON document",
    .write = write_json,
};
