/*
 * A recording: one run as a file of lines, one JSON object each, written while the run
 * goes on (engine/recorder.h) and read back into a `struct run` that every report,
 * export and comparison takes like a live one.
 *
 *   {"schema":"plimsoll.recording/1", id, scenario, started, trials, values, environment}
 *   {"type":"trial", number, started, origin_ns, processes[]}    a trial's common start
 *   {"type":"sample", process, ...}                              as in engine/sample.h
 *   {"type":"mark", at_ns, text}  {"type":"set", name, value}    what happened meanwhile
 *   {"type":"paused", paused_ns, seconds[]}                      of the trial so far
 *   {"type":"done", process, outcome, reason, facts, ...}        totals, whole histograms
 *   {"type":"trial_end", outcome, reason, rate_changed, processes[]}
 *   {"type":"end", outcome, reason, trials, medians{}}
 *
 * `process` counts the trial's processes from 0. Types and members that are not known
 * are passed over, so that a later version may add some; a schema of another number is
 * refused. A recording may end anywhere: what is there is a result, and the run is
 * marked interrupted. So is one with a damaged line, up to that line.
 *
 * The run is rebuilt by the functions that make a live one (trial_sample, series_add,
 * run_account), so its document is the same, member by member.
 *
 * Besides being loaded at once a recording can be played: recording_peek tells the time
 * of the next line and recording_step applies it to the run, whose series, trials and
 * state are those of that moment. engine/replay.h does so by the clock.
 */
#ifndef ENGINE_RECORDING_H
#define ENGINE_RECORDING_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"

#define RECORDING_SCHEMA "plimsoll.recording/1"

/* Reading. */

struct recording;

enum recording_kind {
    RECORDING_SAMPLED, /* a sample was added to its trial and to the series */
    RECORDING_CHANGED, /* the run's state or its trial is another one */
    RECORDING_OTHER,   /* a mark, a live change, totals */
};

struct recording_event {
    enum recording_kind kind;
    uint64_t at_ns; /* series time: since the first trial's start; never steps back */
    const struct process *process; /* SAMPLED: whose; borrowed from the run */
    const struct sample *sample;   /* SAMPLED: borrowed until the next step */
};

/*
 * The whole recording as a run in state RUN_DONE, which the caller frees (run_free).
 * NULL and a sentence that names the file when it is no recording of ours: not a
 * regular file (symbolic links are not followed), another schema, an unknown scenario.
 */
struct run *recording_load(const char *path, struct fail *fail);

/* Read the header; the run is in state RUN_NEW. NULL and a sentence as above. */
struct recording *recording_open(const char *path, struct fail *fail);
void recording_free(struct recording *rec); /* with its run; NULL is fine */

/* The run as it is at this point. Borrowed: it stays where it is until recording_free,
 * but a seek replaces what it owns. */
struct run *recording_run(const struct recording *rec);

/* True, and the time of the next line; false at the end. */
bool recording_peek(struct recording *rec, uint64_t *at_ns);

/*
 * Apply the next line: true, and what it was. False at the end, where the last call puts
 * the run into RUN_DONE. `event` may be a null pointer.
 */
bool recording_step(struct recording *rec, struct recording_event *event);

/*
 * Go to a time: every line up to it has been applied. Going back reads from the
 * beginning. 0, or a negative errno when the file can no longer be read.
 */
int recording_seek(struct recording *rec, uint64_t at_ns);

/*
 * What a listing needs, from the first line and the last one alone; `fd` is an open
 * regular file, `path` its name for the sentence. 0 or a sentence. The header object and
 * the end object (NULL: there is no end) are the caller's to delete.
 */
int recording_ends(int fd, const char *path, cJSON **header, cJSON **end,
                   struct fail *fail);

/* A regular file for reading, without following links or waiting for anybody: a
 * descriptor, or a negative errno with a sentence. */
int recording_open_file(const char *path, struct fail *fail);

/* The lines, for the recorder: NULL when out of memory. */

cJSON *recording_header(const struct run *r);
cJSON *recording_trial(const struct run *r, const struct trial *t);
cJSON *recording_sample(size_t process, const struct sample *sample);
cJSON *recording_mark(const struct series_mark *mark);
cJSON *recording_set(const char *name, uint64_t value);
cJSON *recording_paused(const struct trial *t);
cJSON *recording_done(size_t process, const struct process *p);
cJSON *recording_trial_end(const struct trial *t);
cJSON *recording_end(const struct run *r);

#endif
