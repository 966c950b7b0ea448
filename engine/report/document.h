/*
 * The JSON document of a run, "plimsoll.run/1": what `--json` writes and what every
 * other program should read. Its schema is shipped (engine/report/run.schema.json). A
 * number that was not measured is null, never 0; latencies are nanoseconds, times
 * seconds, sizes bytes. It is one valid document whatever way the run ended.
 */
#ifndef ENGINE_REPORT_DOCUMENT_H
#define ENGINE_REPORT_DOCUMENT_H

#include <cjson/cJSON.h>

#include "engine/run.h"

#define DOCUMENT_SCHEMA "plimsoll.run/1"

/* The caller deletes it; NULL when out of memory. The run may still be under way. */
cJSON *document_new(const struct run *r);

/* Add the array "thresholds" with the verdicts, as the document has it. */
void document_thresholds(cJSON *object, const struct run *r);

#endif
