/*
 * A pacer is the schedule of an open-loop load: it says when each message is
 * intended to be sent, whatever became of the ones before. It is arithmetic alone:
 * instants come from the caller (now_ns of protocols/clock.h, or a test's own), and
 * waiting is the business of protocols/pacer_timer.h.
 *
 * Message n, counted from 0, is intended for
 *
 *     base + n * per_ns / messages            (exactly, rounded down to 1 ns)
 *
 * so a schedule does not drift, however long it runs. A rate is two whole numbers,
 * `messages` per `per_ns`: 5/s is 5 per NS_PER_S; one message in two minutes is 1 per
 * 120 * NS_PER_S; a rate of R/s shared by W clients is R per W * NS_PER_S in each,
 * with the base of client k later by its phase (pacer_phase_ns), which interleaves them
 * evenly.
 *
 * The words:
 *  - A message is *due* from its intended time on. The caller *takes* due messages,
 *    in order and each once, and sends them. Latency counts from the intended time
 *    that it gets with each.
 *  - Due and not taken is the *backlog*. A client whose slots are all in flight, or
 *    whose socket is full, leaves messages there and takes them when it can: they
 *    keep their intended times, so the wait is part of their latency. Nothing is ever
 *    dropped or joined together; after a stall all that became due is there to take.
 *    How much of it is sent at one go is the caller's choice.
 *  - *Lateness* is the real time of a send less its intended time. The caller
 *    records it (METER_HIST_pacing).
 *  - A rate of 0 is *unpaced*: from the base on a message is always due, intended for
 *    the instant at which it is taken. So a closed-loop client needs no code of its
 *    own: it takes a message whenever it has room.
 *
 * That is an *even* schedule. A *Poisson* one (pacer_poisson) has users who know nothing
 * of each other: the gaps are drawn from the exponential distribution with the same mean,
 * so that messages come in clusters. A message lies anywhere between two places of the
 * even schedule, the first one exponential gap behind the base; the place stays when the
 * rate changes, and only the time at which the place comes moves. The gaps follow from
 * the seed alone.
 *
 * A change of the rate keeps the phase: if 30 % of the gap to the next message had
 * still to pass, 30 % of the new gap has. There is neither burst nor gap, and no
 * intended time that had come changes. Each change may move the schedule by less than
 * 1 ns. A pause stops the clock of the schedule: all messages not taken, the backlog
 * among them, are intended later by the length of the pause.
 */
#ifndef PROTOCOLS_PACER_H
#define PROTOCOLS_PACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Rates that the backlog may span. Changes beyond that, while messages of the first
 * rate are still waiting, join the two oldest stretches into one of even spacing.
 */
#define PACER_STRETCHES 32

/* The most that `messages` and `per_ns` of a rate may be: 104 days in ns. */
#define PACER_RATE_MAX (1ull << 53)

/* Places from `first` up to the next stretch, at one rate. */
struct pacer_stretch {
    uint64_t since_ns; /* when the rate was set */
    uint64_t place;    /* where the schedule was then: a part of the way behind it */
    double part;
    uint64_t first;
    uint64_t start_ns; /* the time of `first` */
    uint64_t messages; /* 0: unpaced */
    uint64_t per_ns;
};

/* A message and its place: `number` itself in an even schedule. */
struct pacer_message {
    uint64_t number;
    uint64_t place;
    double part;    /* Poisson: of the way to the place behind it, 0..1 */
    uint64_t state; /* Poisson: of the generator */
};

/* Private; embedded by value. Nothing to release. */
struct pacer {
    struct pacer_message next; /* the one that is taken next */
    struct pacer_message due;  /* Poisson: the first that was not due, when last asked */
    bool is_poisson;
    uint64_t base_ns;   /* the time of place 0 */
    uint64_t paused_ns; /* when the pause began */
    bool is_paused;
    unsigned used; /* stretches[0..used-1]; the first holds `next` */
    struct pacer_stretch stretches[PACER_STRETCHES];
};

/* Begin a schedule, not paused. `messages` 0 is unpaced; per_ns must not be 0 even so. */
void pacer_start(struct pacer *p, uint64_t base_ns, uint64_t messages, uint64_t per_ns);

/*
 * How much later than the first the schedule of client `k` of `n` begins, each of which
 * has this rate: k/n of the gap, rounded down. 0 when unpaced, and when k is not below n.
 */
uint64_t pacer_phase_ns(uint64_t messages, uint64_t per_ns, uint64_t k, uint64_t n);

/*
 * Make the schedule a Poisson one: after pacer_start, before any other call. Clients that
 * share a rate need seeds of their own; together they are one such schedule of the sum.
 */
void pacer_poisson(struct pacer *p, uint64_t seed);

/*
 * Change the rate from now on; before the base or while paused too. The same rate
 * again changes nothing.
 */
void pacer_set_rate(struct pacer *p, uint64_t messages, uint64_t per_ns, uint64_t now_ns);

/* Stop and go on. While paused nothing can be taken. Again is harmless. */
void pacer_pause(struct pacer *p, uint64_t now_ns);
void pacer_resume(struct pacer *p, uint64_t now_ns);

/*
 * Take up to `max` due messages: their intended times are put into intended_ns[],
 * in order. Returns how many; 0 when nothing is due or the pacer is paused.
 */
size_t pacer_take(struct pacer *p, uint64_t now_ns, uint64_t *intended_ns, size_t max);

/*
 * The intended time of the next message not taken, which may have passed. Unpaced:
 * an instant that has passed, or the base. UINT64_MAX while paused.
 */
uint64_t pacer_next_ns(const struct pacer *p);

/*
 * How many messages are due at an instant, those taken among them; UINT64_MAX: unpaced.
 * Of a Poisson schedule each is drawn once, so it must not be asked of earlier instants.
 */
uint64_t pacer_due(struct pacer *p, uint64_t now_ns);

/* Due by the schedule and not taken. Messages that were never scheduled do not count. */
uint64_t pacer_backlog(struct pacer *p, uint64_t now_ns);

/* The intended time of message n, which must not be taken yet, at the present rate. */
uint64_t pacer_intended_ns(const struct pacer *p, uint64_t n);

/* The mean gap between messages at the present rate, rounded down; 0: unpaced. */
uint64_t pacer_gap_ns(const struct pacer *p);

#endif
