/* The JSON document of a run (engine/document.h). */
#include <errno.h>

#include "engine/document.h"
#include "engine/export.h"

int export_write_json(FILE *f, const struct run *r)
{
    cJSON *document = document_new(r);
    char *text = document ? cJSON_Print(document) : NULL;
    int rc = text ? 0 : -ENOMEM;

    if (text) {
        fputs(text, f);
        fputc('\n', f);
    }
    cJSON_free(text);
    cJSON_Delete(document);
    return rc;
}
