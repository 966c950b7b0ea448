/*
 * A shoot-out: one of the documents as one table. Its scenarios are carried out in
 * rounds whose order is drawn anew each time, so that nothing that changes with time
 * favours one of them; their figures stand beside the documented ones.
 *
 *   stream     bulk and requests over TCP, a Unix socket and a pipe, and the requests
 *              again at sizes from 1 B to 1 MiB on one kept connection: which is the
 *              fastest at which size, and where one overtakes another
 *   udp        the four strategies of sending, and the steps from the document's way of
 *              each to the cheapest
 *   services   REST in front of REST, and REST in front of Topper
 *
 * Contestants that are compared with each other form a *group*: the bulk scenarios, the
 * transports at one size. Within a group every pair is tested (Mann and Whitney, with
 * Holm's method over all pairs of the table, 5 %); whoever is not known to be slower than
 * the best is named with it. A *crossing* is where one of two is known to be faster at a
 * smaller size and the other at a larger one: the size at which the ratio of their
 * medians, interpolated between sizes, is one, and an interval of it from 2,000
 * resamplings of the rounds (percentiles; fixed seed).
 *
 * A *step* is from one contestant to another that differs in one thing: by what factor
 * the time differs, with the interval of Hodges and Lehmann.
 */
#ifndef ENGINE_SHOOTOUT_H
#define ENGINE_SHOOTOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/ranks.h"
#include "engine/rounds.h"

#define SHOOTOUT_CONTESTANTS 64
#define SHOOTOUT_GROUPS 16
#define SHOOTOUT_MEMBERS 5
#define SHOOTOUT_PAIRS (SHOOTOUT_GROUPS * 10)
#define SHOOTOUT_CROSSINGS 8
#define SHOOTOUT_STEPS 12

enum shootout_table { SHOOTOUT_DOCUMENTED, SHOOTOUT_SIZES, SHOOTOUT_TABLES };

struct shootout_group {
    enum shootout_table table;
    char title[32];      /* "bulk", "4 KiB" */
    enum metric metric;  /* that decides */
    uint64_t size_bytes; /* of a message; 0 in the table of documented scenarios */
    size_t count;
    size_t members[SHOOTOUT_MEMBERS]; /* contestants */

    /* Judged: */
    bool any;                       /* somebody was measured */
    size_t best;                    /* the member with the best median */
    bool is_near[SHOOTOUT_MEMBERS]; /* not known to be slower than it; itself as well */
};

struct shootout_pair {
    size_t group, x, y; /* members of the group */
    struct shift shift; /* of the logarithms, y less x */
    double p_adjusted;
    int evident; /* -1: x is the faster one, 1: y, 0: not known */
};

struct shootout_crossing {
    size_t below, above; /* members: the faster one at smaller and at larger sizes */
    size_t first, last;  /* groups between which it lies */
    double size_bytes, low, high;
};

struct shootout_step {
    size_t from, to;    /* contestants */
    const char *what;   /* "the name is looked up once" */
    struct shift shift; /* judged: of the logarithms of the time, `to` less `from` */
};

struct shootout {
    const char *name;  /* "stream" */
    const char *title; /* what it repeats: a sentence */
    bool quick;        /* smaller than documented */
    uint64_t each_ns;  /* of a trial at one size */
    struct rounds rounds;
    struct contestant *contestants; /* owned: SHOOTOUT_CONTESTANTS of them */
    size_t documented_count;        /* of them, from 0, repeat documented scenarios */
    size_t group_count;
    struct shootout_group groups[SHOOTOUT_GROUPS];
    size_t pair_count;
    struct shootout_pair pairs[SHOOTOUT_PAIRS];
    size_t crossing_count;
    struct shootout_crossing crossings[SHOOTOUT_CROSSINGS];
    size_t step_count;
    struct shootout_step steps[SHOOTOUT_STEPS];
    double seconds; /* that it took */
};

/* Of the scenarios of the named shoot-out; all where there is none of that name. */
unsigned shootout_families(const char *name);

/*
 * Prepare the named shoot-out. `typed` are parameters that a user gave, for every
 * contestant that has them. 0, or -EINVAL with a sentence; shootout_done either way.
 */
int shootout_make(struct shootout *s, const char *name, bool quick,
                  const struct options *typed, struct fail *fail);

/* Carry the rounds out and judge. 0 whatever they came to, or an error of the first run
 * that could not be begun. */
int shootout_carry_out(struct shootout *s, struct fail *fail);

/* Work out what the runs so far show. */
void shootout_judge(struct shootout *s);
void shootout_done(struct shootout *s);

/* How many runs there are, and in how many a process waited long for a core. */
size_t shootout_runs(const struct shootout *s, size_t *crowded);

/* Whether the contestant is one at a message size, measured for a while. */
bool shootout_has_size(const struct shootout *s, size_t contestant);

/* A contestant's values of a metric, from its completed trials; returns how many. */
size_t shootout_values(const struct contestant *c, enum metric metric,
                       double values[ROUNDS_MAX]);

/*
 * Turns of the event loop and sending calls that a message took, medians over the
 * completed trials. False where there is nothing to be said.
 */
bool shootout_sending(const struct contestant *c, double *turns, double *calls);

/* The factor between the documented times of a step's two ends; NaN without such. */
double shootout_documented_factor(const struct shootout *s,
                                  const struct shootout_step *step);

/* How the contestant's last run ended, when it did not complete; "" otherwise. */
const char *shootout_problem(const struct contestant *c);

/* The name of a group's member: the scenario's, or the transport's at a size. */
const char *shootout_member(const struct shootout *s, const struct shootout_group *g,
                            size_t member);

#endif
