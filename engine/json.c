#include "engine/json.h"

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

uint64_t json_u64(const cJSON *object, const char *name, uint64_t fallback)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble >= 0x1p64)
        return fallback;
    return (uint64_t)item->valuedouble;
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
