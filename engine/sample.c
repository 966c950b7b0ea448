#include "engine/sample.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "engine/json.h"

int sample_init(struct sample *s)
{
    memset(s, 0, sizeof(*s));
    s->meter = meter_new();
    if (!s->meter || meter_use(s->meter, METER_HIST_latency) < 0) {
        sample_done(s);
        return -ENOMEM;
    }
    return 0;
}

void sample_done(struct sample *s)
{
    meter_free(s->meter);
    s->meter = NULL;
}

static uint64_t timeval_us(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

/* The second figure of /proc/self/schedstat: ns spent waiting on a run queue. */
static uint64_t run_wait_us(void)
{
    uint64_t on_cpu = 0;
    uint64_t waited = 0;
    FILE *f = fopen("/proc/self/schedstat", "re");

    if (!f)
        return 0;
    if (fscanf(f, "%" SCNu64 " %" SCNu64, &on_cpu, &waited) != 2)
        waited = 0;
    fclose(f);
    return waited / 1000;
}

uint64_t process_descriptors(void)
{
    uint64_t n = 0;
    struct stat st;
    DIR *d;

    /* Linux since 6.2 gives the number as the size; counting thousands is expensive. */
    if (stat("/proc/self/fd", &st) == 0 && st.st_size > 0)
        return (uint64_t)st.st_size;
    d = opendir("/proc/self/fd");
    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n > 3 ? n - 3 : 0; /* ".", ".." and the directory itself */
}

void process_use_read(struct process_use *use)
{
    struct rusage ru;

    memset(use, 0, sizeof(*use));
    if (getrusage(RUSAGE_SELF, &ru) < 0)
        return;
    use->cpu_user_us = timeval_us(ru.ru_utime);
    use->cpu_system_us = timeval_us(ru.ru_stime);
    use->voluntary_switches = (uint64_t)ru.ru_nvcsw;
    use->involuntary_switches = (uint64_t)ru.ru_nivcsw;
    use->max_rss_bytes = (uint64_t)ru.ru_maxrss * 1024;
    use->run_wait_us = run_wait_us();
    /* A worker that starts a process a request: their time is its cost. */
    if (getrusage(RUSAGE_CHILDREN, &ru) == 0) {
        use->cpu_user_us += timeval_us(ru.ru_utime);
        use->cpu_system_us += timeval_us(ru.ru_stime);
    }
}

void process_use_subtract(struct process_use *later, const struct process_use *earlier)
{
#define X(name, unit, help) later->name -= earlier->name;
    PROCESS_COUNTERS(X)
#undef X
}

void process_use_add(struct process_use *into, const struct process_use *use)
{
#define X(name, unit, help) into->name += use->name;
    PROCESS_COUNTERS(X)
#undef X
    if (use->max_rss_bytes > into->max_rss_bytes)
        into->max_rss_bytes = use->max_rss_bytes;
    if (use->clock_late_us > into->clock_late_us)
        into->clock_late_us = use->clock_late_us;
    into->open_descriptors += use->open_descriptors;
}

static int encode_tally(cJSON *object, const char *name, const struct tally *t)
{
    cJSON *rows;

    if (!tally_sum(t))
        return 0;
    rows = cJSON_AddObjectToObject(object, name);
    for (size_t i = 0; rows && i < t->used; i++)
        if (t->rows[i].count && !json_add_u64(rows, t->rows[i].name, t->rows[i].count))
            return -ENOMEM;
    return rows ? 0 : -ENOMEM;
}

static void decode_tally(struct tally *t, const cJSON *object, const char *name)
{
    const cJSON *row;
    uint64_t count;

    t->used = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(object, name))
    {
        /* The elements of an array have no name. */
        if (row->string && json_is_u64(row, &count))
            tally_add(t, row->string, count);
    }
}

/*
 * In quotes by ourselves: a histogram's text needs no escapes, and looking for them in
 * ten thousand characters while load is offered is time that the load would see.
 */
static int encode_hist(cJSON *object, const char *name, const struct hist *h)
{
    size_t room = 64 << 10;
    char *text = malloc(room);
    size_t len = text ? hist_encode(h, text + 1, room - 2) : 0;
    cJSON *item = NULL;

    if (text && len > room - 3) {
        free(text);
        room = len + 3;
        text = malloc(room);
        if (text)
            hist_encode(h, text + 1, room - 2);
    }
    if (text) {
        text[0] = '"';
        memcpy(text + 1 + len, "\"", 2);
        item = cJSON_AddRawToObject(object, name, text);
    }
    free(text);
    return item ? 0 : -ENOMEM;
}

static const char *const hist_names[] = {
#define X(name, help) #name,
    METER_HISTS(X)
#undef X
};

static int encode_hists(const struct meter *m, bool all, cJSON *object)
{
    cJSON *hists = cJSON_AddObjectToObject(object, "hists");
    int last = all ? METER_HIST_COUNT : METER_HIST_latency + 1;

    if (!hists)
        return -ENOMEM;
    for (int i = 0; i < last; i++)
        if (m->hists[i] && m->hists[i]->count &&
            encode_hist(hists, hist_names[i], m->hists[i]) < 0)
            return -ENOMEM;
    return 0;
}

static int decode_hists(struct meter *m, const cJSON *object)
{
    const cJSON *hists = cJSON_GetObjectItemCaseSensitive(object, "hists");

    for (enum meter_hist i = 0; i < METER_HIST_COUNT; i++) {
        const char *text = json_text(hists, hist_names[i], NULL);

        if (!text)
            continue;
        if (meter_use(m, i) < 0)
            return -ENOMEM;
        if (hist_decode(m->hists[i], text) < 0)
            return -EINVAL;
    }
    return 0;
}

static int encode_span(cJSON *object, const char *name, const struct meter_span *s)
{
    cJSON *pair;

    if (!s->last_ns)
        return 0;
    pair = cJSON_AddObjectToObject(object, name);
    return pair && json_add_u64(pair, "first_ns", s->first_ns) &&
                   json_add_u64(pair, "last_ns", s->last_ns)
               ? 0
               : -ENOMEM;
}

static void decode_span(struct meter_span *s, const cJSON *object, const char *name)
{
    const cJSON *pair = cJSON_GetObjectItemCaseSensitive(object, name);

    s->first_ns = json_u64(pair, "first_ns", 0);
    s->last_ns = json_u64(pair, "last_ns", 0);
    if (s->first_ns > s->last_ns)
        *s = (struct meter_span){0, 0};
}

int sample_encode(const struct sample *s, bool all, cJSON *object)
{
    const struct meter *m = s->meter;

    if (!json_add_u64(object, "at_ns", s->at_ns) ||
        !json_add_u64(object, "span_ns", s->span_ns))
        return -ENOMEM;
#define X(name, unit, help)                                                 \
    if (m->counters.name && !json_add_u64(object, #name, m->counters.name)) \
        return -ENOMEM;
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help)                                             \
    if (m->gauges.name && !json_add_u64(object, #name, m->gauges.name)) \
        return -ENOMEM;
    METER_GAUGES(X)
#undef X
#define X(name, unit, help)                                       \
    if (s->use.name && !json_add_u64(object, #name, s->use.name)) \
        return -ENOMEM;
    PROCESS_COUNTERS(X)
    PROCESS_GAUGES(X)
#undef X
#define X(name, help)                              \
    if (encode_tally(object, #name, &m->name) < 0) \
        return -ENOMEM;
    METER_TALLIES(X)
#undef X
#define X(name, help)                                    \
    if (all && encode_span(object, #name, &m->name) < 0) \
        return -ENOMEM;
    METER_SPANS(X)
#undef X
    return encode_hists(m, all, object);
}

int sample_decode(struct sample *s, const cJSON *object)
{
    struct meter *m = s->meter;

    meter_reset(m);
    s->at_ns = json_u64(object, "at_ns", UINT64_MAX);
    s->span_ns = json_u64(object, "span_ns", UINT64_MAX);
    if (s->at_ns == UINT64_MAX || s->span_ns == UINT64_MAX)
        return -EINVAL;
#define X(name, unit, help) m->counters.name = json_u64(object, #name, 0);
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) m->gauges.name = json_u64(object, #name, 0);
    METER_GAUGES(X)
#undef X
#define X(name, unit, help) s->use.name = json_u64(object, #name, 0);
    PROCESS_COUNTERS(X)
    PROCESS_GAUGES(X)
#undef X
#define X(name, help) decode_tally(&m->name, object, #name);
    METER_TALLIES(X)
#undef X
#define X(name, help) decode_span(&m->name, object, #name);
    METER_SPANS(X)
#undef X
    return decode_hists(m, object);
}
