/*
 * What writes the recording of a run (engine/recording.h) into the store while the run
 * goes on. engine/drive.h makes a run with a recorder beside it, and passes on what
 * `struct run_ops` reports:
 *
 *   run = run_new(...);                        changed: recorder_changed(rec, run)
 *   rec = recorder_new(run, &fail);            sampled: recorder_sampled(rec, ...)
 *   run_start(run); ...                        afterwards: recorder_free(rec)
 *
 * A run never fails because of its recording. When the file system takes no more (full,
 * read-only, gone), lines wait in memory, up to RECORDER_PENDING_MAX bytes, and are
 * tried again with the next one; beyond that samples are left out, but not what a trial
 * came to. Every line is one write(2), so a program that is killed loses the interval
 * under way. A null pointer is a recorder that records nothing.
 */
#ifndef ENGINE_RECORDER_H
#define ENGINE_RECORDER_H

#include "engine/run.h"

#define RECORDER_PENDING_MAX (4u << 20)

struct recorder;

/*
 * Make the file, give the run its id, write the header. To be called before run_start.
 * NULL and a sentence when there can be no recording: the run goes on without.
 */
struct recorder *recorder_new(struct run *run, struct fail *fail);

/* Tries once more to write what waits, and closes the file. */
void recorder_free(struct recorder *rec);

void recorder_changed(struct recorder *rec, const struct run *run);
void recorder_sampled(struct recorder *rec, const struct run *run,
                      const struct process *process, const struct sample *sample);

/*
 * A sentence for the user, once, when something could not be written; NULL otherwise.
 * Ask after every call; borrowed.
 */
const char *recorder_warning(struct recorder *rec);

#endif
