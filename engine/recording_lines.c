/* The lines of a recording, on the way out: declared in engine/recording.h. */
#include <errno.h>
#include <math.h>

#include "engine/json.h"
#include "engine/message.h"
#include "engine/recording.h"
#include "engine/statistics.h"

/* Hand the line over, or nothing at all. */
static cJSON *whole(cJSON *line, int rc)
{
    if (rc == 0)
        return line;
    cJSON_Delete(line);
    return NULL;
}

static cJSON *typed(const char *type)
{
    cJSON *o = cJSON_CreateObject();

    return o ? whole(o, cJSON_AddStringToObject(o, "type", type) ? 0 : -ENOMEM) : NULL;
}

static int add_u64(cJSON *o, const char *name, uint64_t value)
{
    return json_add_u64(o, name, value) ? 0 : -ENOMEM;
}

static int add_text(cJSON *o, const char *name, const char *text)
{
    return json_add_text(o, name, text) ? 0 : -ENOMEM;
}

cJSON *recording_header(const struct run *r)
{
    cJSON *o = cJSON_CreateObject();
    char when[32];
    int rc;

    if (!o)
        return NULL;
    json_time(r->started, when, sizeof(when));
    rc = add_text(o, "schema", RECORDING_SCHEMA);
    rc = rc ? rc : add_text(o, "id", r->id);
    rc = rc ? rc : add_text(o, "scenario", r->scenario->name);
    rc = rc ? rc : add_u64(o, "started", (uint64_t)r->started);
    rc = rc ? rc : add_text(o, "when", when);
    rc = rc ? rc : add_u64(o, "trials", r->trial_count);
    rc = rc ? rc : message_add_values(o, &r->values);
    rc = rc ? rc : environment_add(&r->environment, o);
    return whole(o, rc);
}

static int add_facts(cJSON *o, const struct process *p)
{
    cJSON *array = cJSON_AddArrayToObject(o, "facts");

    if (!array)
        return -ENOMEM;
    for (size_t i = 0; i < p->fact_count; i++) {
        cJSON *row = cJSON_CreateObject();

        if (!row || !cJSON_AddItemToArray(array, row))
            return -ENOMEM;
        if (add_text(row, "name", p->facts[i].name) < 0 ||
            add_text(row, "text", p->facts[i].text) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Everything about a process but its totals. */
static int describe(cJSON *o, const struct process *p)
{
    int rc = add_text(o, "place", place_name(p->place));

    rc = rc ? rc : add_u64(o, "index", p->index);
    rc = rc ? rc : add_u64(o, "pid", (uint64_t)p->pid);
    rc = rc ? rc : add_text(o, "endpoint", p->endpoint);
    rc = rc ? rc : add_text(o, "boot", p->boot);
    rc = rc ? rc : add_u64(o, "start_ns", p->start_ns);
    if (rc == 0 && (!cJSON_AddBoolToObject(o, "ready", p->ready) ||
                    !cJSON_AddBoolToObject(o, "reported", p->reported)))
        rc = -ENOMEM;
    rc = rc ? rc : add_text(o, "outcome", outcome_name(p->outcome));
    rc = rc ? rc : add_text(o, "reason", p->reason);
    return rc ? rc : add_facts(o, p);
}

static int add_processes(cJSON *o, const struct trial *t)
{
    cJSON *array = cJSON_AddArrayToObject(o, "processes");

    if (!array)
        return -ENOMEM;
    for (size_t i = 0; i < t->process_count; i++) {
        cJSON *row = cJSON_CreateObject();

        if (!row || !cJSON_AddItemToArray(array, row) ||
            describe(row, &t->processes[i]) < 0)
            return -ENOMEM;
    }
    return 0;
}

cJSON *recording_trial(const struct run *r, const struct trial *t)
{
    uint64_t origin = t->start_ns && r->first_ns ? t->start_ns - r->first_ns : 0;
    cJSON *o = typed("trial");
    int rc;

    if (!o)
        return NULL;
    rc = add_u64(o, "number", t->number);
    rc = rc ? rc : add_u64(o, "started", (uint64_t)t->started);
    /* A trial that never began has no origin. */
    if (rc == 0 && t->start_ns)
        rc = add_u64(o, "origin_ns", origin);
    return whole(o, rc ? rc : add_processes(o, t));
}

cJSON *recording_sample(size_t process, const struct sample *sample)
{
    cJSON *o = typed("sample");
    int rc;

    if (!o)
        return NULL;
    rc = add_u64(o, "process", process);
    return whole(o, rc ? rc : sample_encode(sample, false, o));
}

cJSON *recording_mark(const struct series_mark *mark)
{
    cJSON *o = typed("mark");
    int rc;

    if (!o)
        return NULL;
    rc = add_u64(o, "at_ns", mark->at_ns);
    return whole(o, rc ? rc : add_text(o, "text", mark->text));
}

cJSON *recording_set(const char *name, uint64_t value)
{
    cJSON *o = typed("set");
    int rc;

    if (!o)
        return NULL;
    rc = add_text(o, "name", name);
    return whole(o, rc ? rc : add_u64(o, "value", value));
}

cJSON *recording_paused(const struct trial *t)
{
    cJSON *o = typed("paused");
    cJSON *seconds;
    int rc;

    if (!o)
        return NULL;
    rc = add_u64(o, "paused_ns", t->paused_ns);
    seconds = cJSON_AddArrayToObject(o, "seconds");
    for (size_t i = 0; seconds && i < t->second_room; i++)
        if (t->seconds_list[i].paused)
            cJSON_AddItemToArray(seconds, cJSON_CreateNumber((double)i));
    return whole(o, seconds ? rc : -ENOMEM);
}

cJSON *recording_done(size_t process, const struct process *p)
{
    cJSON *o = typed("done");
    int rc;

    if (!o)
        return NULL;
    rc = add_u64(o, "process", process);
    rc = rc ? rc : add_text(o, "outcome", outcome_name(p->outcome));
    rc = rc ? rc : add_text(o, "reason", p->reason);
    rc = rc ? rc : add_facts(o, p);
    return whole(o, rc ? rc : sample_encode(&p->totals, true, o));
}

cJSON *recording_trial_end(const struct trial *t)
{
    cJSON *o = typed("trial_end");
    int rc;

    if (!o)
        return NULL;
    rc = add_text(o, "outcome", outcome_name(t->outcome));
    rc = rc ? rc : add_text(o, "reason", t->reason);
    /* Also where it is again what it was, and no "set" was written. */
    if (rc == 0 && t->rate_changed && !cJSON_AddTrueToObject(o, "rate_changed"))
        rc = -ENOMEM;
    return whole(o, rc ? rc : add_processes(o, t));
}

cJSON *recording_end(const struct run *r)
{
    cJSON *o = typed("end");
    cJSON *medians;
    int rc;

    if (!o)
        return NULL;
    rc = add_text(o, "outcome", outcome_name(r->outcome));
    rc = rc ? rc : add_text(o, "reason", r->reason);
    rc = rc ? rc : add_u64(o, "trials", r->trials_begun);
    medians = cJSON_AddObjectToObject(o, "medians");
    for (int i = 0; medians && rc == 0 && i < METRIC_COUNT; i++) {
        struct statistics s;

        run_statistics(r, (enum metric)i, &s);
        if (s.n && !json_add_number(medians, metric_row((enum metric)i)->name, s.median))
            rc = -ENOMEM;
    }
    return whole(o, medians ? rc : -ENOMEM);
}
