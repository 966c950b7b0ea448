/*
 * libFuzzer entry: any bytes as a recording. What loads is a whole run that the report
 * and the document can tell of; what does not is refused with a sentence. Playing it in
 * steps gives the same run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/recording.h"
#include "engine/report/document.h"
#include "engine/threshold_verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char *write_input(const uint8_t *bytes, size_t len)
{
    static char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/dev/shm/plimsoll-fuzz-%ld", (long)getpid());
    f = fopen(path, "we");
    if (!f || fwrite(bytes, 1, len, f) != len || fclose(f) != 0)
        abort();
    return path;
}

static char *text_of(const struct run *r)
{
    cJSON *document = document_new(r);
    char *text = cJSON_PrintUnformatted(document);

    cJSON_Delete(document);
    return text;
}

/* Once through by halves, back, and to the end. */
static void play(const char *path, const char *loaded)
{
    struct recording *rec = recording_open(path, NULL);
    char *played;

    if (!rec)
        abort();
    recording_seek(rec, 1000000000);
    recording_seek(rec, 100000000);
    recording_seek(rec, UINT64_MAX);
    while (recording_step(rec, NULL))
        continue;
    played = text_of(recording_run(rec));
    if (strcmp(played, loaded) != 0)
        abort();
    cJSON_free(played);
    recording_free(rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    const char *path = write_input(bytes, len);
    struct fail fail = {0};
    struct run *r = recording_load(path, &fail);
    char *text;

    if (!r) {
        if (!fail.sentence[0])
            abort();
    } else {
        if (r->state != RUN_DONE)
            abort();
        thresholds_judge(r, verdicts);
        text = text_of(r);
        if (len % 8 == 0) /* it costs three times the loading */
            play(path, text);
        cJSON_free(text);
        run_free(r);
    }
    unlink(path);
    return 0;
}
