/*
 * Small helpers over cJSON (libcjson). cJSON prints 15 significant digits and reads every
 * number as a double; counters may have more, so integers are written as exact text here
 * and read as such by json_parse with json_u64. An unknown number (NaN, infinity) is
 * null, never 0.
 */
#ifndef ENGINE_JSON_H
#define ENGINE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

cJSON *json_add_u64(cJSON *object, const char *name, uint64_t value);
cJSON *json_add_number(cJSON *object, const char *name, double value);

/* [low, high], or null where an end is not known. */
cJSON *json_add_interval(cJSON *object, const char *name, double low, double high);

/* A text of any bytes: what is not UTF-8 is replaced by U+FFFD. */
cJSON *json_add_text(cJSON *object, const char *name, const char *text);

/* "2026-11-30T11:20:00Z": a wall-clock time as a document has it. */
void json_time(time_t t, char *text, size_t size);

/*
 * A text as JSON, and nothing behind it; NULL when it is none. A whole number of so many
 * digits that a double may not hold it has them as its valuestring, for json_is_u64.
 */
cJSON *json_parse(const char *text, size_t len);

/* A number that is whole, not negative and fits, as it was written. */
bool json_is_u64(const cJSON *item, uint64_t *value);

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
