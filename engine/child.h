/*
 * A worker process as its parent sees it: a channel to its standard input and output,
 * the lines of its standard error, and how it ended. A child is over when its output
 * and its standard error have ended AND its status is known, in whatever order: before
 * that, something it said could be lost, or its process could be left behind.
 */
#ifndef ENGINE_CHILD_H
#define ENGINE_CHILD_H

#include <cjson/cJSON.h>
#include <sys/types.h>

#include "protocols/fail.h"

struct child;
struct event_base;

/* How long a child that was asked to end may take before the next, harder step, if
 * child_set_patience says nothing else. */
#define CHILD_PATIENCE_MS 2000

struct child_ops {
    /* One message, borrowed for the call. */
    void (*message)(void *arg, const cJSON *object);
    /* A line of its standard error, or a line of output that is no message. */
    void (*line)(void *arg, const char *text);
    /* Over: `status` as of waitpid(2). The last call; child_free may be called in it. */
    void (*ended)(void *arg, int status);
};

/*
 * Start a worker: the words of `launcher` (split at spaces, quotes '…' and "…" hold a
 * word together; may be empty), then `program` and "worker". Its process group is its
 * own, so that a launcher and what it started are ended together. NULL and a sentence
 * in *fail when it cannot be started. `ops` and `arg` are borrowed.
 */
struct child *child_new(struct event_base *base, const char *launcher,
                        const char *program, const struct child_ops *ops, void *arg,
                        struct fail *fail);

/* A running child is killed and reaped: nothing is left behind. NULL is fine. */
void child_free(struct child *c);

/* 0, or a negative errno. The object is deleted. */
int child_send(struct child *c, cJSON *object);

void child_set_patience(struct child *c, unsigned patience_ms);

/*
 * Ask the child to end: its input is closed, after the patience its process group
 * gets SIGTERM, after as much again SIGKILL. `ended` follows in any case: what then
 * still holds the output open has left the group, and is not waited for. A child whose
 * output ends, or which dies while others of its group live on, is ended by itself.
 */
void child_end(struct child *c);

/* SIGKILL at once, to the whole process group; `ended` follows. */
void child_kill(struct child *c);

/* The launcher's where it does not replace itself by the worker; 0 once reaped. */
pid_t child_pid(const struct child *c);

/*
 * Split a launcher into words; *words is a NULL-terminated array in one allocation
 * with its texts. 0, -EINVAL on an open quote, -ENOMEM.
 */
int launcher_split(const char *text, char ***words, size_t *count);

#endif
