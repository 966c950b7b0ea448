/*
 * The strategies with a socket for each message: made, used once and closed. The open
 * sockets stand in a ring, in the order in which they were made; in series it has one.
 */
#ifndef PROTOCOLS_UDP_UDP_FRESH_H
#define PROTOCOLS_UDP_UDP_FRESH_H

#include "protocols/udp/udp_flow.h"

/* Opens as many as may be handed over, then uses the oldest, and so on. */
enum step udp_fresh_send(struct flow *f, uint64_t upto);

/* Close some of the sockets in the ring; whether there are more. */
bool udp_fresh_close_some(struct flow *f);

#endif
