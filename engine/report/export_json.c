/* The JSON document of a run (engine/report/document.h). */
#include "engine/json.h"
#include "engine/report/document.h"
#include "engine/report/export.h"

int export_write_json(FILE *f, const struct run *r)
{
    return json_write(f, document_new(r));
}
