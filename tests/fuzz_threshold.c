/* libFuzzer entry: any text as thresholds; what is read is finite and bounded. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/threshold.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct threshold list[THRESHOLDS_MAX];
    char *text = malloc(len + 1);
    struct fail fail = {0};
    size_t count;

    memcpy(text, bytes, len);
    text[len] = '\0';
    if (thresholds_parse(text, list, &count, &fail) < 0) {
        if (!fail.sentence[0])
            abort();
    } else {
        if (count > THRESHOLDS_MAX)
            abort();
        for (size_t i = 0; i < count; i++)
            if (!isfinite(list[i].limit) || list[i].limit < 0 ||
                list[i].metric >= METRIC_COUNT)
                abort();
    }
    free(text);
    return 0;
}
