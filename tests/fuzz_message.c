/*
 * libFuzzer entry: any line as a message from the other end of a channel, read as each
 * kind of message by engine and worker. What is read can be written, and reads back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/json.h"
#include "engine/message.h"
#include "engine/series.h"
#include "engine/trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void read_hello(const cJSON *object)
{
    struct fail fail = {0};
    struct hello hello;
    cJSON *m;

    if (message_read_hello(object, &hello, &fail) < 0) {
        if (!fail.err || !*fail.sentence || hello.values.count)
            abort();
        return;
    }
    m = message_hello(&hello);
    if (!m)
        abort();
    cJSON_Delete(m);
    options_done(&hello.values);
}

static void read_fail(const cJSON *object)
{
    struct fail fail = {0};

    message_read_fail(object, &fail);
    if (!fail.err || memchr(fail.sentence, 0, sizeof(fail.sentence)) == NULL)
        abort();
}

/* As the engine does with a sample that it believes. */
static void use_sample(const struct sample *s)
{
    struct series *series = series_new();
    struct trial t;
    struct options values = {0};

    if (!series || trial_init(&t, scenario_find("tcp-requests"), 1, 1) < 0)
        abort();
    t.processes[0].place = PLACE_CLIENT;
    t.processes[0].ready = t.processes[0].reported = true;
    if (s->at_ns < 3600000000000u)
        trial_sample(&t, &t.processes[0], s);
    series_add(series, PLACE_CLIENT, 0, s, true);
    if (series->used > SERIES_SLOTS || series->label_count > SERIES_LABELS)
        abort();
    if (trial_compute(&t, &values) < 0)
        abort();
    trial_done(&t);
    series_free(series);
}

static void read_sample(const cJSON *object)
{
    struct sample a, b;
    cJSON *m;
    cJSON *back;
    char *text;

    if (sample_init(&a) < 0 || sample_init(&b) < 0)
        abort();
    if (sample_decode(&a, object) == 0) {
        use_sample(&a);
        m = message_done(&a, message_read_outcome(object), "");
        text = m ? cJSON_PrintUnformatted(m) : NULL;
        back = text ? json_parse(text, strlen(text)) : NULL;
        if (!back || message_type(back) != MESSAGE_DONE || sample_decode(&b, back) < 0 ||
            memcmp(&a.meter->counters, &b.meter->counters, sizeof(a.meter->counters)) !=
                0 ||
            a.meter->hists[METER_HIST_latency]->count !=
                b.meter->hists[METER_HIST_latency]->count)
            abort();
        cJSON_free(text);
        cJSON_Delete(m);
        cJSON_Delete(back);
    }
    sample_done(&a);
    sample_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *line = malloc(len + 1);
    cJSON *object;

    if (!line)
        abort();
    memcpy(line, bytes, len);
    line[len] = '\0';
    object = json_parse(line, len);
    if (object) {
        if (message_type(object) > MESSAGE_UNKNOWN)
            abort();
        read_hello(object);
        read_fail(object);
        read_sample(object);
        message_read_start(object, "boot");
    }
    cJSON_Delete(object);
    free(line);
    return 0;
}
