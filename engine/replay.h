/*
 * A recording played by the clock: the samples of a saved run reach whoever listens as
 * those of a live one did, through the same `struct run_ops` and the same `struct run`,
 * at any speed, with pauses, and from any place in it.
 *
 * The position is series time: nanoseconds since the first trial's start. The run is in
 * state RUN_NEW until the first trial, then RUN_RUNNING, and RUN_DONE when everything
 * has been played; a seek from there takes it back. The run's address stays the same;
 * after a seek everything in it may be another (`changed` says so).
 */
#ifndef ENGINE_REPLAY_H
#define ENGINE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"

#define REPLAY_SPEED_MIN 0.01
#define REPLAY_SPEED_MAX 1000.0

struct replay;

/*
 * Open a recording by its path (store_find gives it) and read it through once, for its
 * length. Stands still at 0. `ops` and `arg` are borrowed. NULL and a sentence.
 */
struct replay *replay_new(struct event_base *base, const char *path,
                          const struct run_ops *ops, void *arg, struct fail *fail);
void replay_free(struct replay *p); /* with its run; not from an op; NULL is fine */

struct run *replay_run(const struct replay *p); /* borrowed */
uint64_t replay_length_ns(const struct replay *p);
uint64_t replay_at_ns(const struct replay *p);

/* Play from here on, and stand still; both are fine again and again. */
void replay_play(struct replay *p);
void replay_hold(struct replay *p);
bool replay_is_playing(const struct replay *p);

/* How much faster than it was: a number out of range is taken as the nearer end. */
void replay_set_speed(struct replay *p, double speed);
double replay_speed(const struct replay *p);

/* Go to a position, playing or not. 0, or a negative errno when the file cannot be read
 * any more. Not from an op. */
int replay_seek(struct replay *p, uint64_t at_ns);

#endif
