/*
 * Counting datagrams: what a UDP server makes of the bytes that it read. It is given
 * each datagram once and writes to the meter; it reads no socket, and no clock but for
 * the times of day of a full print.
 *
 * A datagram is the run's or foreign. One of the run is new or a duplicate; a new one is
 * `unique`, or `late` if it comes after the drain. So at the end
 *
 *     received_messages = unique + duplicate + late
 *     accepted          = unique + lost,  lost = overflow + unexplained
 *
 * where accepted is the senders' count and a late message is among the unexplained. Plain
 * payloads have no numbers: each counts as new.
 *
 * `drops` is the kernel's count at the socket, `overflow` the most messages that it may
 * stand for: as many, or with GRO, where the kernel drops and counts what would have been
 * read at one go, UDP_COUNT_SEGMENTS times as many, but not more than are missing. Both
 * include foreign datagrams and duplicates. What of the loss it explains is known only
 * where there were none of these (struct loss in engine/trial.h).
 *
 * Options: run_id, payload, label, size, shared_clock and nth, as udp_server.c says.
 */
#ifndef PROTOCOLS_UDP_UDP_COUNT_H
#define PROTOCOLS_UDP_UDP_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/role.h"
#include "protocols/udp/datagram.h"
#include "protocols/udp/udp_drops.h"

#define UDP_COUNT_SEGMENTS 128 /* UDP_MAX_SEGMENTS of Linux, 64 in older ones */

/* Embedded by value, not to be moved. */
struct udp_count {
    struct flow_env *env;            /* borrowed */
    struct meter_counters *counters; /* borrowed: the meter's */
    uint64_t run;                    /* 0: every datagram is counted */
    bool plain;                      /* the run's messages have no stamps */
    const char *label;               /* borrowed: the plain run's, of label_bytes */
    size_t label_bytes;
    bool shared_clock;
    bool coalesced; /* the kernel's drops may hold several messages each */
    uint64_t nth;

    bool is_late; /* the owner's: the drain is over, new messages are late */
    uint64_t unique, expected, overflow,
        drops_told; /* since the start, as in the meter */
    bool is_mixed;  /* there were foreign datagrams or duplicates, so of the drops, too */
    uint64_t arrival_ns; /* of the run's latest datagram */
    uint64_t printed_ns;
    struct udp_drops drops;

    struct tally_row *rows[DATAGRAM_LABELS]; /* by row of streams.labels */
    struct datagram_label *plain_label;      /* of the latest plain datagram */
    struct datagram_streams streams;
};

/*
 * Reads the options. `coalesced`: what is read at one go may be several messages. 0 or
 * -ENOMEM. udp_count_done may be called after a failure, and for zero bytes.
 */
int udp_count_init(struct udp_count *c, struct flow_env *env, bool coalesced);
void udp_count_done(struct udp_count *c);

/*
 * One read of the socket: `len` bytes that are datagrams of `step` bytes each, the last
 * one maybe shorter; step is len where the kernel joined none. now_ns is the arrival of
 * all of them.
 */
void udp_count_take(struct udp_count *c, const unsigned char *bytes, size_t len,
                    size_t step, uint64_t now_ns);

/* The kernel says that `count` datagrams were dropped at the socket so far. */
void udp_count_drops(struct udp_count *c, uint32_t count);

/* Messages of those accepted by the senders' kernels that have not come; 0: none. */
uint64_t udp_count_missing(const struct udp_count *c, uint64_t accepted);

/* Whether the kernel's drops surely explain them all, or none is missing. */
bool udp_count_is_explained(const struct udp_count *c, uint64_t accepted);

/* The last word, after the drain: overflow, and facts that need all of the run. */
void udp_count_close(struct udp_count *c, uint64_t accepted);

#endif
