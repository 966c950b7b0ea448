/*
 * Small requests: what server and client of the requests scenarios share, and how the
 * client's parts fit together. Private to the files requests*.c.
 *
 * The client has `concurrency` *slots*, each of which does one request at a time. The
 * middle (requests.c) owns the slots, decides when a request begins, and counts how
 * it ends; a *kind* of client (`client` process, connection, persistent) does the
 * request:
 *
 *     middle                      kind
 *     begin(slot)  ------------>  connect, or start a process
 *                  <------------  request_succeeded or request_failed(slot), once
 *     abandon(slot) ----------->  close or kill; nothing comes back
 */
#ifndef PROTOCOLS_STREAM_REQUESTS_H
#define PROTOCOLS_STREAM_REQUESTS_H

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocols/role.h"
#include "protocols/stream/oneshot.h"
#include "protocols/transport.h"

/* The documented message: the 44 bytes that the document's programs send. */
#define REQUEST_MESSAGE "The quick brown fox jumps over the lazy dog."

#define REQUEST_CHUNK 65536 /* bytes of one read */

struct request_message {
    char *bytes; /* owned */
    size_t len_bytes;
};

/*
 * The message of the options `message` (REQUEST_MESSAGE) and `message_size` (0: the
 * length of the text; else that many bytes, the text repeated or cut), at most
 * 64 MiB. 0 or a negative errno with a sentence; request_message_check
 * says what is wrong with the options alone.
 */
int request_message_init(struct request_message *m, const struct options *o,
                         struct fail *fail);
int request_message_check(const struct options *o, struct fail *fail);
void request_message_done(struct request_message *m);

struct requests; /* the client's middle, as the kinds see it */

struct slot {
    struct requests *requests; /* borrowed */
    size_t number;
    struct slot *next_free;
    bool busy;
    uint64_t intended_ns; /* by the schedule; without a rate the real beginning */
    uint64_t begun_ns;

    /* Kinds connection and persistent. */
    struct conn conn;
    struct event in, out;
    bool watched;   /* the events are assigned */
    bool out_added; /* waiting for room to write */
    bool sent;      /* the whole message is with the kernel, and finished */
    bool received;  /* the whole reply is here, and the message is not sent yet */
    bool again;     /* the server's queue was full: connect again soon */
    size_t sent_bytes;
    size_t received_bytes;
    uint64_t connected_ns;

    /* Kind process. */
    pid_t pid;    /* 0: none */
    int alive_fd; /* ends when the process does */
};

struct request_kind {
    const char *name; /* the value of the option `client` */

    /* Not required: 0, or a negative errno with a sentence. `done` undoes it. */
    int (*prepare)(struct requests *r, struct fail *fail);
    void (*done)(struct requests *r);

    void (*begin)(struct slot *s);
    void (*abandon)(struct slot *s);

    /* Not required: a slot that was refused because a queue was full. */
    void (*again)(struct slot *s);
};

extern const struct request_kind request_process;
extern const struct request_kind request_connection;
extern const struct request_kind request_persistent;

/* What the kinds may read and use. */
struct requests {
    struct flow_env *env; /* borrowed */
    const struct request_kind *kind;
    struct target target;
    struct request_message message;
    bool foreign;        /* the server's message may be of any length */
    char *received;      /* REQUEST_CHUNK bytes, overwritten by every read */
    int job_fd;          /* kind process: the job file, -1 elsewhere */
    uint64_t records_at; /* kind process: where the records stand in the job file */
    int null_fd;         /* kind process: /dev/null, -1 elsewhere */
    char *program;       /* kind process: owned */
};

/* The request of a slot has ended: ended_ns is an instant of now_ns. */
void request_succeeded(struct slot *s, uint64_t ended_ns);

/* ... or failed: a negative errno and the phase for the errors tally. */
void request_failed(struct slot *s, const char *phase, int err);

/* ... or failed in a way that has no errno: "receive short". */
void request_failed_word(struct slot *s, const char *word);

/*
 * What is wrong with a reply of this length, a word for the errors tally, or NULL: a
 * server of somebody else's may answer as it likes, but not with nothing.
 */
const char *request_reply_fault(const struct requests *r, uint64_t len_bytes);

/* Have kind->again called for this slot a little later. */
void request_again(struct slot *s);

void request_connection_opened(struct requests *r);
void request_connection_closed(struct requests *r);

#endif
