/*
 * How the requests client and the program that does one request (oneshot_main.c) speak.
 * Both are built together and run on one machine, so plain structs do:
 *
 *   descriptor ONESHOT_JOB    a file: one struct oneshot_job, the message, and from
 *                             records_at on a struct oneshot_record for each slot
 *   argv[1]                   the slot, in decimal: the record that the program writes
 *                             just before it ends
 *   descriptor ONESHOT_ALIVE  a pipe that is never written to; that it ends tells the
 *                             client that the program has ended. So the client is woken
 *                             once a request, and not for the record as well
 *
 * Instants are of CLOCK_MONOTONIC, which the processes of a machine share.
 */
#ifndef PROTOCOLS_STREAM_ONESHOT_H
#define PROTOCOLS_STREAM_ONESHOT_H

#include <stdint.h>
#include <sys/socket.h>

#define ONESHOT_ALIVE 3
#define ONESHOT_JOB 4
#define ONESHOT_MAGIC 0x706c696d736f6c31u

/* Where it failed. X(identifier, word in the errors tally) */
#define ONESHOT_PHASES(X) \
    X(START, "start")     \
    X(CONNECT, "connect") \
    X(SEND, "send")       \
    X(RECEIVE, "receive")

enum oneshot_phase {
#define X(id, word) ONESHOT_##id,
    ONESHOT_PHASES(X)
#undef X
};

struct oneshot_job {
    uint64_t magic;
    uint64_t message_bytes;
    uint64_t records_at;  /* offset in the file */
    uint64_t address_len; /* 0: no socket, but the rendezvous at `path` (pipe.c) */
    struct sockaddr_storage address;
    char path[108];
    char congestion[16]; /* to set, or "" */
};

struct oneshot_record {
    uint64_t magic;
    int32_t err;         /* 0 or a positive errno */
    uint32_t phase;      /* where */
    uint64_t started_ns; /* a record from before the request is an earlier one's */
    uint64_t connected_ns;
    uint64_t ended_ns;
    uint64_t sent_bytes;
    uint64_t received_bytes;
};

#endif
