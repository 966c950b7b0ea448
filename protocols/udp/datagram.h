/*
 * Payloads of the UDP scenarios, and what a receiver may conclude from them. No I/O
 * and no clock in here: times are handed in.
 *
 * A *label* is a short text that says which strategy a datagram belongs to. Labels
 * come from the network, so they are bytes of any value: at most DATAGRAM_LABEL_MAX
 * of them count, and at most DATAGRAM_LABELS different ones.
 *
 * A *plain* payload is the label and nothing else, padded with zero bytes when a
 * larger size is asked for. A *stamped* payload begins with a *prefix*, the same in
 * every datagram of one sender, and goes on with what changes:
 *
 *   prefix   label | 0 | "PLm1" | length 4 | run 8 | sender 4
 *   change   sequence 8 | time 8 | check 4
 *   padding  zero bytes up to the length
 *
 * Numbers are big-endian. *length* is the whole payload's, so a cut datagram is
 * known for one. *time* is an instant of the sender's monotonic clock. *check* is a
 * hash of prefix, sequence and time: it finds what was not written by this program
 * or was damaged on the way, and is no protection against someone who forges on
 * purpose; for that the run's number is random and unknown to others.
 *
 * A *stream* is what one sender sent in one run under one label: all payloads with
 * the same prefix. Its sequence numbers are 0, 1, 2 ... of the messages that the
 * sender's kernel accepted, so a number that is missing is a message that was lost
 * after that.
 */
#ifndef PROTOCOLS_UDP_DATAGRAM_H
#define PROTOCOLS_UDP_DATAGRAM_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "protocols/fail.h"
#include "protocols/tally.h"

#define DATAGRAM_LABEL_MAX (TALLY_NAME_MAX - 1) /* bytes of a label */
#define DATAGRAM_PREFIX_MAX (DATAGRAM_LABEL_MAX + 21)
#define DATAGRAM_STAMP_BYTES 41 /* a stamped payload less its label */
#define DATAGRAM_SEQUENCE_MAX (UINT64_MAX >> 1)

/* The largest payload of one datagram (RFC 768, RFC 791). */
#define DATAGRAM_MAX_IPV4 65507

/* A server that is sent exactly these bytes prints all its counts. */
#define DATAGRAM_FULL_PRINT "__FULL_PRINT__"

/* The sender's side. */

/* What every payload of one stream has in common. */
struct datagram_form {
    bool stamped;
    size_t size_bytes;
    size_t prefix_bytes;
    uint64_t seed; /* hash of the prefix, from which the check goes on */
    unsigned char prefix[DATAGRAM_PREFIX_MAX];
};

/*
 * A form for stamped payloads. size_bytes 0 is the natural length, label and stamp.
 * -EINVAL with a sentence when the label is too long or the stamp does not fit.
 */
int datagram_form_stamped(struct datagram_form *form, const char *label,
                          size_t size_bytes, uint64_t run, uint32_t sender,
                          struct fail *fail);

/*
 * A form for plain payloads. size_bytes 0 is the label's length (an empty label
 * gives empty datagrams); less than it cuts the label. -EINVAL when it is too long.
 */
int datagram_form_plain(struct datagram_form *form, const char *label, size_t size_bytes,
                        struct fail *fail);

/* Write a whole payload of size_bytes, a stamp with sequence and time still missing. */
void datagram_fill(const struct datagram_form *form, unsigned char *payload);

static inline uint32_t datagram_check(uint64_t seed, uint64_t sequence, uint64_t time_ns)
{
    uint64_t h = (seed ^ sequence) * 0x9e3779b97f4a7c15u;

    h = (h ^ h >> 32 ^ time_ns) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

/* Give a filled payload its sequence number and time; nothing for a plain one. */
static inline void datagram_stamp(const struct datagram_form *form,
                                  unsigned char *payload, uint64_t sequence,
                                  uint64_t time_ns)
{
    uint64_t words[2] = {htobe64(sequence), htobe64(time_ns)};
    uint32_t check = htobe32(datagram_check(form->seed, sequence, time_ns));

    if (!form->stamped)
        return;
    memcpy(payload + form->prefix_bytes, words, sizeof(words));
    memcpy(payload + form->prefix_bytes + sizeof(words), &check, sizeof(check));
}

/* The same for n filled payloads, one after the other, that go out together. */
static inline void datagram_stamp_run(const struct datagram_form *form,
                                      unsigned char *payloads, size_t n,
                                      uint64_t sequence, uint64_t time_ns)
{
    const struct datagram_form f = *form; /* the payloads might alias it */
    unsigned char *end = payloads + n * f.size_bytes;

    for (unsigned char *p = payloads; p < end && f.stamped; p += f.size_bytes)
        datagram_stamp(&f, p, sequence++, time_ns);
}

/* Reading one payload. */

enum datagram_kind {
    DATAGRAM_PLAIN,
    DATAGRAM_STAMPED,
    DATAGRAM_BROKEN, /* has a stamp's mark, but is cut, damaged or forged */
};

struct datagram {
    enum datagram_kind kind;
    const unsigned char *label; /* borrowed: within the bytes that were read */
    size_t label_bytes;         /* a plain one ends at its first zero byte, if any */

    /* Of a stamped one only. */
    size_t prefix_bytes;
    uint64_t seed, run, sequence, time_ns;
    uint32_t sender;
};

/* Any bytes may be given; never fails, never reads beyond len. */
void datagram_read(struct datagram *d, const unsigned char *bytes, size_t len);

/* Labels. */

#define DATAGRAM_LABELS TALLY_MAX /* rows, the one for all further labels among them */

struct datagram_label {
    size_t label_bytes;
    unsigned char label[DATAGRAM_LABEL_MAX];
    /*
     * Safe to print, and different for different labels: bytes that are not
     * printable ASCII, and the backslash, as "\xHH". The empty label is "(empty)";
     * a label that reads "(empty)" or TALLY_OTHER has its first byte escaped.
     */
    char name[TALLY_NAME_MAX];
    uint64_t count;    /* messages since the start */
    uint64_t first_ns; /* when the first one was received */
    uint64_t last_ns;  /* when the latest one was */
    uint64_t nth_ns;   /* when the n-th was; 0 before that */
};

/* Zero bytes are a valid empty table. It is not to be moved. */
struct datagram_labels {
    size_t used;
    struct datagram_label *other; /* the row named TALLY_OTHER; NULL: not needed yet */
    struct datagram_label rows[DATAGRAM_LABELS];
};

/*
 * The row of a label, made if need be. A label whose safe name does not fit, or
 * that finds the table full, gets the row named TALLY_OTHER. Never NULL; a row stays
 * where it is.
 */
struct datagram_label *datagram_label_find(struct datagram_labels *labels,
                                           const unsigned char *label, size_t len);

/* Sequence numbers. */

/*
 * Which numbers of a stream have arrived: a bitmap over a window that begins at the
 * oldest number still missing and grows as it must, up to DATAGRAM_WINDOW_MAX
 * numbers. So a stream without loss needs 8 KiB however long it is, and what the
 * window says is exact for every message that arrives less than DATAGRAM_WINDOW_MAX
 * numbers behind the highest one. Only if a number had to be forgotten unseen can an
 * older arrival not be told from a duplicate; it is counted as one, and in `stale`.
 */
#define DATAGRAM_WINDOW_MIN (1u << 16)
#define DATAGRAM_WINDOW_MAX (1u << 24) /* 2 MiB */

struct datagram_window {
    uint64_t base; /* first number in the window, a multiple of 64 */
    uint64_t next; /* highest number seen, plus 1: what the numbers imply was sent */
    uint64_t size; /* numbers in the window, a power of two; 0: nothing allocated */
    uint64_t stale;
    uint64_t *bits; /* owned; a ring, bit n % size is number n; 0 from next on */
    bool forgot;    /* the window moved past a number that had not arrived */
};

enum datagram_arrival {
    DATAGRAM_NEXT,         /* new, and higher than all before */
    DATAGRAM_OUT_OF_ORDER, /* new, and lower than one before */
    DATAGRAM_DUPLICATE,
};

/*
 * The number `sequence` (at most DATAGRAM_SEQUENCE_MAX) has arrived. *budget is what
 * windows may still grow by in all, in numbers; it is lowered by what is taken. When
 * it or memory is used up the window moves on instead of growing.
 */
enum datagram_arrival datagram_window_add(struct datagram_window *w, uint64_t sequence,
                                          uint64_t *budget);

/*
 * Numbers sequence .. sequence + n - 1 have arrived, in this order and nothing else in
 * between, as with one segmented send. True if they are the next ones and have room in
 * the window: then they are in it. False: nothing is changed, and each must be added.
 */
bool datagram_window_add_run(struct datagram_window *w, uint64_t sequence, uint64_t n);

/* Frees, and gives the numbers back to *budget. */
void datagram_window_done(struct datagram_window *w, uint64_t *budget);

/* Streams. */

#define DATAGRAM_STREAMS 256

struct datagram_stream {
    struct datagram_window window;
    struct datagram_label *label; /* borrowed from the receiver's table */
    uint64_t run;
    uint64_t seed;
    uint64_t arrival_ns; /* of its latest message; 0: none yet */
    uint64_t transit_ns; /* arrival less time of that message, modulo 2^64 */
    uint32_t sender;
    size_t size_bytes; /* of each of its payloads */
    size_t prefix_bytes;
    unsigned char prefix[DATAGRAM_PREFIX_MAX];
};

/*
 * All streams and labels of one server. Bounded: DATAGRAM_STREAMS streams, of which
 * the one that has been silent longest makes room for a further one, and windows of
 * 1 Gi numbers (128 MiB) in all. Zero bytes plus datagram_streams_init.
 */
struct datagram_streams {
    struct datagram_labels labels;
    struct datagram_stream *last; /* of the latest message: most often the next one's */
    uint64_t budget;
    uint64_t replaced; /* streams that made room for others */
    size_t used;
    struct datagram_stream *rows[DATAGRAM_STREAMS]; /* owned */
};

void datagram_streams_init(struct datagram_streams *s);
void datagram_streams_done(struct datagram_streams *s);

/*
 * The stream that a stamped payload belongs to, made if need be; NULL when out of
 * memory. `bytes` are the payload that d was read from.
 */
struct datagram_stream *datagram_stream_find(struct datagram_streams *s,
                                             const struct datagram *d,
                                             const unsigned char *bytes, size_t len);

/*
 * The short way: if the payload belongs to the latest message's stream and its check
 * holds, that stream with *sequence and *time_ns, else NULL, and the payload must be
 * read with datagram_read.
 */
static inline struct datagram_stream *
datagram_same_stream(const struct datagram_streams *s, const unsigned char *bytes,
                     size_t len, uint64_t *sequence, uint64_t *time_ns)
{
    struct datagram_stream *stream = s->last;
    uint64_t words[2];
    uint32_t check;

    if (!stream || len != stream->size_bytes ||
        memcmp(bytes, stream->prefix, stream->prefix_bytes) != 0)
        return NULL;
    memcpy(words, bytes + stream->prefix_bytes, sizeof(words));
    memcpy(&check, bytes + stream->prefix_bytes + sizeof(words), sizeof(check));
    *sequence = be64toh(words[0]);
    *time_ns = be64toh(words[1]);
    if (be32toh(check) != datagram_check(stream->seed, *sequence, *time_ns) ||
        *sequence > DATAGRAM_SEQUENCE_MAX)
        return NULL;
    return stream;
}

#endif
