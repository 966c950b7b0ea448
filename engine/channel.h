/*
 * JSON lines over a pair of descriptors (which may be one and the same socket). The
 * reader hands over whole lines; the writer never blocks: what the kernel does not
 * take waits in memory. `channel_pending` says how much waits, so that a sender of
 * samples can leave an interval open when the other end is slow; what may not be lost
 * is sent all the same.
 */
#ifndef ENGINE_CHANNEL_H
#define ENGINE_CHANNEL_H

#include <cjson/cJSON.h>
#include <stddef.h>

struct channel;
struct event_base;

/* A longer line than this ends the channel: it cannot come from a worker of ours. */
#define CHANNEL_LINE_MAX (16u << 20)

struct channel_ops {
    /* One parsed object, borrowed for the call; NULL for a line that is not one, whose
     * text is given. Must not free the channel; see channel_free. */
    void (*message)(void *arg, const cJSON *object, const char *line);
    /* The other end has closed, or an error (errno value) ended the channel. */
    void (*closed)(void *arg, int err);
};

/*
 * Takes both descriptors over, makes them non-blocking, and closes them in
 * channel_free. NULL with errno set on failure, the descriptors then stay the
 * caller's. `ops` and `arg` are borrowed. read_fd may be -1.
 */
struct channel *channel_new(struct event_base *base, int read_fd, int write_fd,
                            const struct channel_ops *ops, void *arg);

/* May be called from a callback: the rest is then done when that has returned. */
void channel_free(struct channel *c);

/* Send and delete `object`; NULL is taken as out of memory. 0 or a negative errno. */
int channel_send(struct channel *c, cJSON *object);

size_t channel_pending(const struct channel *c); /* bytes that the kernel has not taken */

/* Write what is pending, waiting up to timeout_ms. For the last word of a process. */
void channel_flush(struct channel *c, int timeout_ms);

/* Close the writing side: the other end reads end of input. */
void channel_finish(struct channel *c);

#endif
