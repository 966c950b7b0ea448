#include "engine/message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/json.h"
#include "protocols/clock.h"

static const char *const type_names[] = {
#define X(id, text) text,
    MESSAGE_TYPES(X)
#undef X
};

cJSON *message_new(enum message_type type)
{
    cJSON *m = cJSON_CreateObject();

    if (m && !cJSON_AddStringToObject(m, "type", type_names[type])) {
        cJSON_Delete(m);
        m = NULL;
    }
    return m;
}

enum message_type message_type(const cJSON *object)
{
    const char *text = json_text(object, "type", "");

    for (int i = 0; i < MESSAGE_UNKNOWN; i++)
        if (strcmp(type_names[i], text) == 0)
            return (enum message_type)i;
    return MESSAGE_UNKNOWN;
}

int message_add_values(cJSON *object, const struct options *values)
{
    cJSON *o = cJSON_AddObjectToObject(object, "values");

    if (!o)
        return -ENOMEM;
    for (size_t i = 0; i < values->count; i++) {
        const struct option_value *v = &values->values[i];

        /* Not json_add_text: between ourselves a text is bytes. */
        if (v->text ? !cJSON_AddStringToObject(o, option_name(v->option), v->text)
                    : !json_add_u64(o, option_name(v->option), v->number))
            return -ENOMEM;
    }
    return 0;
}

cJSON *message_hello(const struct hello *hello)
{
    cJSON *m = message_new(MESSAGE_HELLO);

    if (!m)
        return NULL;
    if (!json_add_u64(m, "version", MESSAGE_VERSION) ||
        !cJSON_AddStringToObject(m, "role", hello->role) ||
        !json_add_u64(m, "index", hello->index) ||
        !cJSON_AddStringToObject(m, "endpoint", hello->endpoint) ||
        !cJSON_AddStringToObject(m, "upstream", hello->upstream) ||
        !cJSON_AddStringToObject(m, "pin", hello->pin) ||
        message_add_values(m, &hello->values) < 0) {
        cJSON_Delete(m);
        return NULL;
    }
    return m;
}

int message_read_values(const cJSON *object, struct options *values)
{
    const cJSON *v;
    uint64_t number;
    int rc = 0;

    cJSON_ArrayForEach(v, cJSON_GetObjectItemCaseSensitive(object, "values"))
    {
        /* The elements of an array have no name; other versions may have others. */
        enum option option = v->string ? option_find(v->string) : OPTION_NONE;

        if (option == OPTION_NONE)
            continue;
        if (json_is_u64(v, &number))
            rc = options_set_number(values, option, number);
        else if (cJSON_IsString(v))
            rc = options_set_text(values, option, v->valuestring);
        if (rc < 0)
            break;
    }
    return rc;
}

int message_read_hello(const cJSON *object, struct hello *hello, struct fail *fail)
{
    uint64_t version = json_u64(object, "version", 0);

    memset(hello, 0, sizeof(*hello));
    if (version != MESSAGE_VERSION)
        return fail_usage(
            fail, "hello",
            "the two programs are of different versions: this worker speaks "
            "version %d, the other end %u",
            MESSAGE_VERSION, (unsigned)version);
    snprintf(hello->role, sizeof(hello->role), "%s", json_text(object, "role", ""));
    snprintf(hello->endpoint, sizeof(hello->endpoint), "%s",
             json_text(object, "endpoint", ""));
    snprintf(hello->upstream, sizeof(hello->upstream), "%s",
             json_text(object, "upstream", ""));
    snprintf(hello->pin, sizeof(hello->pin), "%s", json_text(object, "pin", ""));
    hello->index = (unsigned)json_u64(object, "index", 0);
    if (message_read_values(object, &hello->values) < 0) {
        options_done(&hello->values);
        return fail_set(fail, ENOMEM, "hello", "reading the values");
    }
    return 0;
}

cJSON *message_start(uint64_t at_ns, uint64_t delay_ns, const char *boot)
{
    cJSON *m = message_new(MESSAGE_START);

    if (m && json_add_u64(m, "at_ns", at_ns) && json_add_u64(m, "delay_ns", delay_ns) &&
        cJSON_AddStringToObject(m, "boot", boot))
        return m;
    cJSON_Delete(m);
    return NULL;
}

uint64_t message_read_start(const cJSON *object, const char *own_boot)
{
    const char *boot = json_text(object, "boot", "");

    if (*boot && strcmp(boot, own_boot) == 0)
        return json_u64(object, "at_ns", now_ns());
    return now_ns() + json_u64(object, "delay_ns", 0);
}

const char *message_boot(char *text, unsigned long size)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    text[0] = '\0';
    if (f) {
        if (!fgets(text, (int)size, f))
            text[0] = '\0';
        fclose(f);
    }
    text[strcspn(text, "\n")] = '\0';
    return text;
}

cJSON *message_fail(const struct fail *fail)
{
    cJSON *m = message_new(MESSAGE_FAIL);

    if (m && json_add_u64(m, "errno", (uint64_t)fail->err) &&
        json_add_text(m, "step", fail->step) &&
        json_add_text(m, "sentence", fail->sentence))
        return m;
    cJSON_Delete(m);
    return NULL;
}

void message_read_fail(const cJSON *object, struct fail *fail)
{
    fail->err = (int)json_u64(object, "errno", EPROTO);
    if (!fail->err)
        fail->err = EPROTO;
    snprintf(fail->step, sizeof(fail->step), "%s", json_text(object, "step", "worker"));
    snprintf(fail->sentence, sizeof(fail->sentence), "%s",
             json_text(object, "sentence", "the worker failed without saying why"));
}

cJSON *message_done(const struct sample *totals, enum outcome outcome, const char *reason)
{
    cJSON *m = message_new(MESSAGE_DONE);

    if (m && cJSON_AddStringToObject(m, "outcome", outcome_name(outcome)) &&
        json_add_text(m, "reason", reason ? reason : "") &&
        sample_encode(totals, true, m) == 0)
        return m;
    cJSON_Delete(m);
    return NULL;
}

enum outcome message_read_outcome(const cJSON *object)
{
    const char *text = json_text(object, "outcome", "failed");

    for (int o = OUTCOME_COMPLETED; o < OUTCOME_FAILED; o++)
        if (strcmp(outcome_name((enum outcome)o), text) == 0)
            return (enum outcome)o;
    return OUTCOME_FAILED;
}
