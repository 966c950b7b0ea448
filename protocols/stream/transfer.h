/*
 * One connection that carries bulk bytes both ways at once. Each side sends its
 * content, ends its own sending (half-close), and goes on receiving until the other
 * side has ended too. Either direction may be left out: a side that sends nothing
 * ends its sending at once.
 *
 * A path may take bytes long before it passes them on, so having sent all is not the end
 * of a transfer. One of the two sides can be made to end its sending *last*, when it has
 * received all: its end then tells the other that nothing is under way any more.
 *
 * The cheapest way that was measured: the transport's zero copy to send,
 * read(2) into one reused buffer to receive, a block of each in turn until both
 * directions would block, and only then the event loop. The buffer is read into and
 * not looked at, unless the plan asks for a checksum.
 */
#ifndef PROTOCOLS_STREAM_TRANSFER_H
#define PROTOCOLS_STREAM_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/meter.h"
#include "protocols/transport.h"

struct event;
struct event_base;

/* What all transfers of a role have in common; outlives them. */
struct transfer_plan {
    int file;                          /* borrowed; read by offsets only */
    uint64_t send_bytes;               /* 0: send nothing */
    size_t block_bytes;                /* asked of the kernel in one call */
    const struct zero_copy *zero_copy; /* NULL: pread and write, the method copy */
    int refused;    /* errno with which the kernel refused zero copy; it is NULL now */
    bool checksum;  /* keep the CRC-32 of what is received */
    bool ends_last; /* not on both sides, who would wait for each other */
    char *received; /* block_bytes, overwritten by every read */
    struct meter *meter;
};

struct transfer {
    struct transfer_plan *plan; /* borrowed */
    struct conn conn;           /* owned */
    struct event *in;
    struct event *out;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint32_t received_crc32;
    uint64_t connected_ns; /* when the connection was known to be there, 0 before */
    bool send_done;
    bool receive_done;
    char *copied; /* method copy: a block read from the file, [from, to) unsent */
    size_t copied_from, copied_to;

    /*
     * Both directions have ended (err 0), or one failed: a negative errno and the
     * phase ("connect", "send", "receive"). The owner may free the transfer in it.
     */
    void (*ended)(struct transfer *t, int err, const char *phase);
    void *owner;
};

/*
 * Take over a connection and begin. Nothing is called back before the loop turns.
 * 0, or -ENOMEM; transfer_done is due in both cases.
 */
int transfer_init(struct transfer *t, struct transfer_plan *plan, const struct conn *c,
                  struct event_base *base);

/* "copy", or the name of the zero copy. */
const char *transfer_method(const struct transfer_plan *plan);

/* Move nothing until it is called with false. */
void transfer_pause(struct transfer *t, bool paused);

/* Close the connection and release everything. Harmless on a zeroed transfer. */
void transfer_done(struct transfer *t);

#endif
