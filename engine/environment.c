#include "engine/environment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/json.h"

/* sysconf(3) returns -1 for what it does not know. */
static uint64_t online_cpus(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (uint64_t)n : 0;
}

void environment_capture(struct environment *e, const struct scenario *scenario,
                         const struct options *values)
{
    struct limit limits[LIMITS_MAX];
    struct utsname u;

    memset(e, 0, sizeof(*e));
    snprintf(e->program, sizeof(e->program), "plimsoll %s", PLIMSOLL_VERSION);
    if (uname(&u) == 0) {
        snprintf(e->host, sizeof(e->host), "%s", u.nodename);
        snprintf(e->kernel, sizeof(e->kernel), "%s", u.release);
        snprintf(e->machine, sizeof(e->machine), "%s", u.machine);
    }
    e->cpus = online_cpus();
    e->limit_count = limits_for(scenario, values, limits);
    for (size_t i = 0; i < e->limit_count; i++) {
        struct environment_limit *to = &e->limits[i];

        snprintf(to->name, sizeof(to->name), "%s", limits[i].name);
        snprintf(to->text, sizeof(to->text), "%s", limits[i].text);
        to->known = limits[i].known;
        to->enough = limits[i].enough;
        to->need = limits[i].need;
        to->have = limits[i].have;
    }
}

static int add_limit(cJSON *limits, const struct environment_limit *l)
{
    cJSON *row = cJSON_AddObjectToObject(limits, l->name);
    const cJSON *have;

    if (!row || !json_add_u64(row, "need", l->need))
        return -ENOMEM;
    have = !l->known  ? cJSON_AddNullToObject(row, "have")
           : *l->text ? json_add_text(row, "have", l->text)
                      : json_add_u64(row, "have", l->have);
    return have && cJSON_AddBoolToObject(row, "enough", l->enough) ? 0 : -ENOMEM;
}

int environment_add(const struct environment *e, cJSON *object)
{
    cJSON *o = cJSON_AddObjectToObject(object, "environment");
    cJSON *limits;

    if (!o || !json_add_text(o, "program", e->program) ||
        !json_add_text(o, "host", e->host) || !json_add_text(o, "kernel", e->kernel) ||
        !json_add_text(o, "machine", e->machine) || !json_add_u64(o, "cpus", e->cpus))
        return -ENOMEM;
    limits = cJSON_AddObjectToObject(o, "limits");
    if (!limits)
        return -ENOMEM;
    for (size_t i = 0; i < e->limit_count; i++)
        if (add_limit(limits, &e->limits[i]) < 0)
            return -ENOMEM;
    return 0;
}

static void read_text(const cJSON *object, const char *name, char *text, size_t size)
{
    snprintf(text, size, "%s", json_text(object, name, ""));
}

void environment_read(struct environment *e, const cJSON *object)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(object, "environment");
    const cJSON *row;

    memset(e, 0, sizeof(*e));
    read_text(o, "program", e->program, sizeof(e->program));
    read_text(o, "host", e->host, sizeof(e->host));
    read_text(o, "kernel", e->kernel, sizeof(e->kernel));
    read_text(o, "machine", e->machine, sizeof(e->machine));
    e->cpus = json_u64(o, "cpus", 0);
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(o, "limits"))
    {
        struct environment_limit *l = &e->limits[e->limit_count];
        const cJSON *have = cJSON_GetObjectItemCaseSensitive(row, "have");

        if (e->limit_count == LIMITS_MAX)
            break;
        if (!row->string)
            continue; /* an element of an array: nothing of ours */
        e->limit_count++;
        snprintf(l->name, sizeof(l->name), "%s", row->string);
        read_text(row, "have", l->text, sizeof(l->text));
        l->known = have && !cJSON_IsNull(have);
        l->enough = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "enough"));
        l->need = json_u64(row, "need", 0);
        l->have = json_u64(row, "have", 0);
    }
}
