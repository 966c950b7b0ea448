/*
 * A tally: a small table of names with a 64-bit count each. Errors by phase and
 * errno ("connect ECONNREFUSED"), HTTP statuses ("200") and datagram labels are
 * tallies. It is bounded, since names may come from the network: the name
 * TALLY_OTHER collects what does not fit, so the sum is always exact.
 */
#ifndef PROTOCOLS_TALLY_H
#define PROTOCOLS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#define TALLY_MAX 32      /* names in one tally, TALLY_OTHER among them */
#define TALLY_NAME_MAX 40 /* bytes of a name, the final NUL among them */
#define TALLY_OTHER "other"

struct tally_row {
    char name[TALLY_NAME_MAX];
    uint64_t count;
};

/* Zero bytes are a valid empty tally. Rows stand in the order of first use. */
struct tally {
    size_t used;
    struct tally_row rows[TALLY_MAX];
};

/*
 * Add n to the row of `name`, making the row if need be. A name of
 * TALLY_NAME_MAX bytes or more, or one that finds the table full, is counted as
 * TALLY_OTHER. Returns the row, valid as long as the tally is: a caller on a hot
 * path keeps it and adds to its count.
 */
struct tally_row *tally_add(struct tally *t, const char *name, uint64_t n);

/* The count of a name; 0 when it has no row. */
uint64_t tally_get(const struct tally *t, const char *name);

uint64_t tally_sum(const struct tally *t);

/* Add every row of `from` to `into`. */
void tally_merge(struct tally *into, const struct tally *from);

/* Set all counts to 0 and keep the rows, so that row pointers stay valid. */
void tally_zero(struct tally *t);

/* Count a failed system call: the row is "PHASE ERRNONAME", "send ENOBUFS". */
void tally_errno(struct tally *t, const char *phase, int err);

#endif
