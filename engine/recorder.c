#include "engine/recorder.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/recording.h"
#include "engine/store.h"
#include "protocols/buffer.h"

struct recorder {
    int fd;
    char path[PATH_MAX];
    char *pending; /* lines, or the rest of one, that are not written yet */
    size_t used, room;
    bool warned;       /* since the last line that went through */
    const char *fresh; /* a warning nobody has asked for yet */
    char warning[320];
    struct options values; /* as last recorded */
    uint64_t marks;        /* written, of run->series->marks_ever */
    uint64_t paused_ns;    /* of the trial, as last recorded */
    bool trial_written;    /* the line that begins the present trial */
    size_t trials_ended;
    bool *reported; /* process of the present trial: its done line is written */
    bool ended;
};

/* The file. */

static void warn(struct recorder *rec, int err)
{
    struct fail fail = {0};

    if (rec->warned)
        return;
    rec->warned = true;
    fail_set(&fail, err, "recording", "the run goes on but cannot be saved in %.200s",
             rec->path);
    snprintf(rec->warning, sizeof(rec->warning), "%s", fail.sentence);
    rec->fresh = rec->warning;
}

/* Give the kernel what waits; what it does not take goes on waiting. */
static void flush(struct recorder *rec)
{
    size_t done = 0;

    while (done < rec->used) {
        ssize_t n = write(rec->fd, rec->pending + done, rec->used - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            warn(rec, n < 0 ? errno : ENOSPC);
            break;
        }
        done += (size_t)n;
    }
    rec->used -= done;
    if (rec->used)
        memmove(rec->pending, rec->pending + done, rec->used);
    else
        rec->warned = false;
}

static int append(struct recorder *rec, const char *text, size_t len)
{
    if (buffer_reserve(&rec->pending, &rec->room, rec->used + len) < 0)
        return -ENOMEM;
    memcpy(rec->pending + rec->used, text, len);
    rec->used += len;
    return 0;
}

/* Takes the line over. */
static void put(struct recorder *rec, cJSON *line)
{
    char *text = line ? cJSON_PrintUnformatted(line) : NULL;

    cJSON_Delete(line);
    if (!text || append(rec, text, strlen(text)) < 0 || append(rec, "\n", 1) < 0)
        warn(rec, ENOMEM);
    cJSON_free(text);
    flush(rec);
}

/* What has changed since the last call. */

static bool is_over(const struct recorder *rec, const struct run *r)
{
    return rec->trials_ended + 1 < r->trials_begun || r->state == RUN_DONE;
}

static void write_values(struct recorder *rec, const struct run *r)
{
    for (size_t i = 0; i < r->values.count; i++) {
        const struct option_value *v = &r->values.values[i];

        if (v->text ||
            options_number(&rec->values, v->option, v->number + 1) == v->number)
            continue;
        put(rec, recording_set(option_name(v->option), v->number));
        if (options_set_number(&rec->values, v->option, v->number) < 0)
            warn(rec, ENOMEM);
    }
}

static void write_marks(struct recorder *rec, const struct run *r)
{
    const struct series *s = r->series;

    for (; rec->marks < s->marks_ever; rec->marks++) {
        uint64_t behind = s->marks_ever - rec->marks;

        if (behind <= s->mark_count)
            put(rec, recording_mark(&s->marks[s->mark_count - behind]));
    }
}

static void write_begin(struct recorder *rec, const struct run *r, const struct trial *t)
{
    if (rec->trial_written)
        return;
    free(rec->reported);
    rec->reported = calloc(t->process_count, sizeof(*rec->reported));
    if (!rec->reported) {
        warn(rec, ENOMEM);
        return;
    }
    rec->trial_written = true;
    put(rec, recording_trial(r, t));
}

static void write_reports(struct recorder *rec, const struct trial *t)
{
    for (size_t i = 0; rec->trial_written && i < t->process_count; i++) {
        const struct process *p = &t->processes[i];

        if (!p->reported || rec->reported[i] || !p->totals.meter)
            continue;
        put(rec, recording_done(i, p));
        rec->reported[i] = true;
    }
}

static void write_trial(struct recorder *rec, const struct run *r, const struct trial *t)
{
    bool over = is_over(rec, r);

    if (over || (r->state != RUN_NEW && r->state != RUN_SPAWNING))
        write_begin(rec, r, t);
    if (t->paused_ns != rec->paused_ns) {
        put(rec, recording_paused(t));
        rec->paused_ns = t->paused_ns;
    }
    write_reports(rec, t);
    if (!over)
        return;
    put(rec, recording_trial_end(t));
    rec->trials_ended++;
    rec->trial_written = false;
    rec->paused_ns = 0;
}

void recorder_changed(struct recorder *rec, const struct run *r)
{
    if (!rec || rec->ended)
        return;
    write_values(rec, r);
    write_marks(rec, r);
    while (rec->trials_ended < r->trials_begun) {
        bool over = is_over(rec, r);

        write_trial(rec, r, r->trials[rec->trials_ended]);
        if (!over)
            break;
    }
    if (r->state != RUN_DONE)
        return;
    put(rec, recording_end(r));
    rec->ended = true;
}

void recorder_sampled(struct recorder *rec, const struct run *r,
                      const struct process *process, const struct sample *sample)
{
    const struct trial *t = run_trial(r);

    if (!rec || !t)
        return;
    recorder_changed(rec, r);
    if (!rec->trial_written)
        return;
    if (rec->used > RECORDER_PENDING_MAX)
        flush(rec); /* and leave the sample out: a gap in the series */
    else
        put(rec, recording_sample((size_t)(process - t->processes), sample));
}

static int copy_numbers(struct options *to, const struct options *from)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < from->count; i++)
        if (!from->values[i].text)
            rc = options_set_number(to, from->values[i].option, from->values[i].number);
    return rc;
}

struct recorder *recorder_new(struct run *run, struct fail *fail)
{
    struct recorder *rec = calloc(1, sizeof(*rec));

    if (!rec || copy_numbers(&rec->values, &run->values) < 0) {
        free(rec);
        fail_set(fail, ENOMEM, "recording", "saving the run");
        return NULL;
    }
    static_assert(sizeof(run->id) > STORE_ID_LEN, "a run has room for its id");
    rec->fd =
        store_create(run->scenario->name, run->id, rec->path, sizeof(rec->path), fail);
    if (rec->fd < 0) {
        run->id[0] = '\0';
        recorder_free(rec);
        return NULL;
    }
    put(rec, recording_header(run));
    return rec;
}

void recorder_free(struct recorder *rec)
{
    if (!rec)
        return;
    if (rec->fd >= 0) {
        flush(rec);
        close(rec->fd);
    }
    options_done(&rec->values);
    free(rec->reported);
    free(rec->pending);
    free(rec);
}

const char *recorder_warning(struct recorder *rec)
{
    const char *text = rec ? rec->fresh : NULL;

    if (rec)
        rec->fresh = NULL;
    return text;
}
