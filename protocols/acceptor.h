/*
 * The listener of a stream server: listens as the options ask (transport.h,
 * listener_open), reports to the engine the endpoint that is really bound, and hands each
 * accepted connection to its owner. Refusals are counted in the meter's errors
 * ("accept EMFILE"); when descriptors run out it waits a little for some to be freed
 * instead of spinning, and remembers the fact as the server's outcome.
 */
#ifndef PROTOCOLS_ACCEPTOR_H
#define PROTOCOLS_ACCEPTOR_H

#include <stdbool.h>

#include "protocols/role.h"
#include "protocols/transport.h"

struct acceptor;

/* Takes the connection over: it must close it, now or later. */
typedef void (*acceptor_accepted)(void *owner, const struct conn *conn);

/*
 * Listen; sets env->endpoint and the fact "congestion". 0, or a negative
 * errno with a sentence and *out NULL. The meter's `connections` and
 * `open_connections` are kept here, so the owner calls acceptor_closed.
 */
int acceptor_new(struct acceptor **out, struct flow_env *env, acceptor_accepted accepted,
                 void *owner, struct fail *fail);
void acceptor_free(struct acceptor *a);

const struct transport *acceptor_transport(const struct acceptor *a);

/* The owner has closed one of its connections. */
void acceptor_closed(struct acceptor *a);

/* Take no more clients, so that new ones are refused; what is open stays open. */
void acceptor_shut(struct acceptor *a);

/*
 * Why clients had to wait, as a sentence, when descriptors ran out at some time;
 * NULL when they never did.
 */
const char *acceptor_exhausted(const struct acceptor *a);

#endif
