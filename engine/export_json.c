/* The JSON document of a run (engine/document.h). */
#include "engine/document.h"
#include "engine/export.h"
#include "engine/json.h"

int export_write_json(FILE *f, const struct run *r)
{
    return json_write(f, document_new(r));
}
