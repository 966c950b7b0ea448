/*
 * Roles run inside a test: an `actor` is one role with its own meter and options; all
 * actors of a test share one event loop, which is bounded by time.
 */
#ifndef TESTS_PAIR_H
#define TESTS_PAIR_H

#include <event2/event.h>

#include "protocols/role.h"

#define ACTOR_FACTS 16

struct actor {
    struct flow_env env;
    struct options options;
    const struct role *role;
    struct flow *flow;
    struct fail fail;
    bool finished;
    enum outcome outcome;
    char reason[400];
    char note[400]; /* the last one */
    unsigned notes;
    struct {
        char name[32];
        char text[160];
    } facts[ACTOR_FACTS];
    size_t fact_count;
};

struct event_base *pair_base(void);

void actor_init(struct actor *a, const char *role, struct event_base *base);
void actor_done(struct actor *a);

/* "name=text", or "name:number" (decimal); several, ended by NULL. */
void actor_options(struct actor *a, ...);

/* The role's prepare: its result, with a->fail filled. */
int actor_prepare(struct actor *a);

/*
 * A server with up to two options (NULL: none) at a free port, in front of another actor
 * or of none, prepared and started; the running cmocka test fails when it cannot be.
 */
void actor_serve(struct actor *a, const char *role, struct event_base *base,
                 const char *option, const char *other, const struct actor *upstream);

/* Prepare a server and the client that uses it; both must succeed. */
void pair_prepare(struct actor *server, struct actor *client);

/* Start the actor now and turn the loop until it has finished: true, or 20 s: false. */
bool actor_run(struct actor *a);

/* Turn the loop for at most this span, or until *flag. */
bool pair_turn(struct event_base *base, const bool *flag, unsigned span_ms);

/*
 * Write all of it to a descriptor that does not block, and turn the loop while there is
 * no room; false on another error.
 */
bool pair_write(struct event_base *base, int fd, const void *bytes, size_t len);

/* Stop the actor and wait until it has finished. */
bool actor_stop(struct actor *a);

const struct meter_counters *actor_counters(const struct actor *a);

/* The text of a fact, or "". */
const char *actor_fact(const struct actor *a, const char *name);

/*
 * Kill and reap every child of this process; with PR_SET_CHILD_SUBREAPER those are also
 * the processes that its own children have left behind. Returns how many there were.
 */
unsigned end_strays(void);

/* How many descriptors this process has open. */
unsigned open_descriptors(void);

#endif
