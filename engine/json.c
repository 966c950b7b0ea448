#include "engine/json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/utf8.h"

cJSON *json_add_u64(cJSON *object, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return cJSON_AddRawToObject(object, name, text);
}

cJSON *json_add_number(cJSON *object, const char *name, double value)
{
    if (!isfinite(value))
        return cJSON_AddNullToObject(object, name);
    return cJSON_AddNumberToObject(object, name, value);
}

cJSON *json_add_interval(cJSON *object, const char *name, double low, double high)
{
    const double ends[] = {low, high};
    cJSON *array;

    if (!isfinite(low) || !isfinite(high))
        return cJSON_AddNullToObject(object, name);
    array = cJSON_CreateDoubleArray(ends, 2);
    cJSON_AddItemToObject(object, name, array);
    return array;
}

cJSON *json_add_text(cJSON *object, const char *name, const char *text)
{
    char *clean = malloc(3 * strlen(text) + 1);
    size_t used = 0;
    cJSON *item;

    if (!clean)
        return NULL;
    while (*text) {
        size_t n = utf8_length((const unsigned char *)text);

        memcpy(clean + used, n ? text : "\xef\xbf\xbd", n ? n : 3);
        used += n ? n : 3;
        text += n ? n : 1;
    }
    clean[used] = '\0';
    item = cJSON_AddStringToObject(object, name, clean);
    free(clean);
    return item;
}

void json_time(time_t t, char *text, size_t size)
{
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

#define EXACT_DIGITS 15 /* a double holds every whole number of so many */

/* A text, and how far it was gone through. */
struct reader {
    const char *text;
    size_t len, at;
};

/* Past a string, on its first quote. */
static void skip_string(struct reader *r)
{
    for (r->at++; r->at < r->len && r->text[r->at] != '"'; r->at++)
        r->at += r->text[r->at] == '\\';
    r->at++;
}

/* The next number of a text that is JSON: where it begins, and its length; 0 for none. */
static size_t next_number(struct reader *r, const char **number)
{
    size_t from;

    while (r->at < r->len && !isdigit((unsigned char)r->text[r->at]) &&
           r->text[r->at] != '-') {
        if (r->text[r->at] == '"')
            skip_string(r);
        else
            r->at++;
    }
    for (from = r->at; r->at < r->len; r->at++)
        if (!r->text[r->at] || !strchr("0123456789+-.eE", r->text[r->at]))
            break;
    *number = r->text + from;
    return r->at > from ? r->at - from : 0;
}

static bool is_long_integer(const char *number, size_t len)
{
    if (len <= EXACT_DIGITS)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isdigit((unsigned char)number[i]))
            return false;
    return true;
}

static int keep_digits(cJSON *item, const char *number, size_t len)
{
    item->valuestring = cJSON_malloc(len + 1);
    if (!item->valuestring)
        return -ENOMEM;
    memcpy(item->valuestring, number, len);
    item->valuestring[len] = '\0';
    return 0;
}

/* The numbers of a document stand in its text in the order in which they are met here. */
static int add_digits(cJSON *item, struct reader *r)
{
    cJSON *open[CJSON_NESTING_LIMIT + 1]; /* those whose children are gone through */
    size_t depth = 0;

    while (item) {
        const char *number = "";
        size_t len = cJSON_IsNumber(item) ? next_number(r, &number) : 0;

        if (is_long_integer(number, len) && keep_digits(item, number, len) < 0)
            return -ENOMEM;
        if (item->child) {
            open[depth++] = item;
            item = item->child;
            continue;
        }
        while (!item->next && depth)
            item = open[--depth];
        item = item->next;
    }
    return 0;
}

static bool has_long_integer(const char *text, size_t len)
{
    struct reader r = {text, len, 0};
    const char *number;
    size_t n;

    while ((n = next_number(&r, &number)))
        if (is_long_integer(number, n))
            return true;
    return false;
}

static cJSON *parse_all(const char *text, size_t len)
{
    const char *end = NULL;
    cJSON *item = cJSON_ParseWithLengthOpts(text, len, &end, 0);

    while (item && end < text + len && isspace((unsigned char)*end))
        end++;
    if (item && end == text + len)
        return item;
    cJSON_Delete(item);
    return NULL;
}

cJSON *json_parse(const char *text, size_t len)
{
    struct reader r = {text, len, 0};
    cJSON *item = parse_all(text, len);

    if (!item || !has_long_integer(text, len) || add_digits(item, &r) == 0)
        return item;
    cJSON_Delete(item);
    return NULL;
}

bool json_is_u64(const cJSON *item, uint64_t *value)
{
    if (!cJSON_IsNumber(item) || item->valuedouble < 0)
        return false;
    if (item->valuestring) {
        errno = 0;
        *value = strtoull(item->valuestring, NULL, 10);
        return errno == 0;
    }
    if (item->valuedouble >= 0x1p64)
        return false;
    *value = (uint64_t)item->valuedouble;
    return true;
}

uint64_t json_u64(const cJSON *object, const char *name, uint64_t fallback)
{
    uint64_t value;

    return json_is_u64(cJSON_GetObjectItemCaseSensitive(object, name), &value) ? value
                                                                               : fallback;
}

double json_number(const cJSON *object, const char *name, double fallback)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    if (cJSON_IsNull(item))
        return (double)NAN;
    return cJSON_IsNumber(item) ? item->valuedouble : fallback;
}

const char *json_text(const cJSON *object, const char *name, const char *fallback)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsString(item) ? item->valuestring : fallback;
}

int json_write(FILE *f, cJSON *document)
{
    char *text = document ? cJSON_Print(document) : NULL;

    if (text)
        fprintf(f, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(document);
    return text ? 0 : -ENOMEM;
}
