#include "protocols/sum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53: whole numbers below it are exact */

const char *sum_of(const cJSON *document, struct sum *sum)
{
    const cJSON *numbers = cJSON_GetObjectItemCaseSensitive(document, "numbers");
    const cJSON *number;

    sum->count = 0;
    sum->total = 0;
    if (!cJSON_IsObject(document) || !cJSON_IsArray(numbers))
        return "the payload must be an object such as {\"numbers\": [1, 2, 3]}";
    cJSON_ArrayForEach(number, numbers)
    {
        if (!cJSON_IsNumber(number))
            return "the array numbers holds something that is not a number";
        if (!isfinite(number->valuedouble))
            return "the array numbers holds a number that is too large";
        sum->total += number->valuedouble;
        sum->count++;
    }
    if (sum->count == 0)
        return "the array numbers is empty";
    if (!isfinite(sum->total))
        return "the sum is too large for a number";
    return NULL;
}

void sum_format(double value, char text[SUM_TEXT_MAX])
{
    cJSON number = {.type = cJSON_Number, .valuedouble = value};

    if (fabs(value) < EXACT_MAX && floor(value) == value) {
        snprintf(text, SUM_TEXT_MAX, "%.0f", value + 0.0);
        return;
    }
    if (!cJSON_PrintPreallocated(&number, text, SUM_TEXT_MAX, 0))
        snprintf(text, SUM_TEXT_MAX, "%s", "null");
}

cJSON *sum_parse(const char *text, size_t len)
{
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithLengthOpts(text, len, &end, 0);

    while (json && end < text + len &&
           (*end == ' ' || *end == '\t' || *end == '\r' || *end == '\n'))
        end++;
    if (json && end != text + len) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

char *sum_compact(const char *text, size_t len)
{
    char *compact = strndup(text, len);

    if (!compact)
        return NULL;
    cJSON_Minify(compact);
    /* What is left stands raw in a string, where cJSON lets it pass. */
    for (char *c = compact; (c = strpbrk(c, "\r\n"));)
        *c = ' ';
    return compact;
}
