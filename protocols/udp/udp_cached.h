/* The strategies with one socket for all messages: one in a call, or several. */
#ifndef PROTOCOLS_UDP_UDP_CACHED_H
#define PROTOCOLS_UDP_UDP_CACHED_H

#include "protocols/udp/udp_flow.h"

enum step udp_cached_send(struct flow *f, uint64_t upto);

#endif
