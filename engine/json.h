/*
 * Small helpers over cJSON (libcjson). cJSON prints 15 significant digits; counters
 * may have more, so integers are written as exact text here. An unknown number
 * (NaN, infinity) is null, never 0.
 */
#ifndef ENGINE_JSON_H
#define ENGINE_JSON_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

cJSON *json_add_u64(cJSON *object, const char *name, uint64_t value);
cJSON *json_add_number(cJSON *object, const char *name, double value);

/* A text of any bytes: what is not UTF-8 is replaced by U+FFFD. */
cJSON *json_add_text(cJSON *object, const char *name, const char *text);

/* "2026-11-30T11:20:00Z": a wall-clock time as a document has it. */
void json_time(time_t t, char *text, size_t size);

/* The item as a number or text; the fallback when it is absent or of another kind. */
uint64_t json_u64(const cJSON *object, const char *name, uint64_t fallback);
double json_number(const cJSON *object, const char *name,
                   double fallback); /* null: NaN */
const char *json_text(const cJSON *object, const char *name, const char *fallback);

/*
 * Write a document, indented, with a line feed behind it, and free it. 0, or -ENOMEM,
 * also for NULL, a document that could not be made. Whether the file took it all is
 * for its owner to ask.
 */
int json_write(FILE *f, cJSON *document);

#endif
