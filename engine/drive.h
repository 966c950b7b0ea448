/*
 * A run that is saved while it goes on: what the console, `run` and its rounds carry out.
 * It shows nothing itself; what there is to show goes to `struct drive_ops`.
 *
 *   struct drive d = {.ops = &ops, .arg = me};
 *   run = drive_make(&d, base, scenario, values, &fail);
 *   drive_record(&d, run, &fail);    where it is to be saved
 *   run_start(run); ...              until it is RUN_DONE
 *   drive_end(&d);
 */
#ifndef ENGINE_DRIVE_H
#define ENGINE_DRIVE_H

#include "engine/recorder.h"
#include "engine/run.h"

/* Any member may be NULL; all are called from the loop. */
struct drive_ops {
    void (*changed)(void *arg, struct run *run);                /* as in struct run_ops */
    void (*line)(void *arg, struct run *run, const char *text); /* as well */
    void (*was_set)(void *arg, struct run *run, const struct param *param, uint64_t value,
                    int err); /* as well */
    /* The recording has a gap from here on: a sentence without its full stop. */
    void (*warning)(void *arg, const char *sentence);
};

struct drive {
    const struct drive_ops *ops; /* borrowed */
    void *arg;                   /* borrowed */
    struct recorder *recorder;   /* NULL: the run is not saved */
};

/*
 * Make a run, which is the caller's (run_free). `d` stays where it is until the run is
 * done or freed. NULL with a sentence, as of run_new.
 */
struct run *drive_make(struct drive *d, struct event_base *base,
                       const struct scenario *scenario, const struct options *values,
                       struct fail *fail);

/*
 * Save the run, before it is started. 0, or a negative errno with a sentence: it is
 * carried out all the same.
 */
int drive_record(struct drive *d, struct run *run, struct fail *fail);

/* Close the recording, which has an end if the run is done. Before run_free. */
void drive_end(struct drive *d);

#endif
