/*
 * Multicast: a group of receivers that each get a copy of every datagram sent to its
 * address. The option "multicast" names the group, an IPv4 one, and "host" the interface
 * that it is joined and sent on, by an address of it: 127.0.0.1 keeps all of it on this
 * machine.
 */
#ifndef PROTOCOLS_UDP_UDP_GROUP_H
#define PROTOCOLS_UDP_UDP_GROUP_H

#include <netinet/in.h>
#include <stdbool.h>

#include "protocols/fail.h"
#include "protocols/options.h"

#define UDP_RECEIVERS_MAX 16 /* of one server */

struct udp_group {
    bool is_set; /* otherwise the rest is zero */
    struct in_addr address;
    struct in_addr interface;
};

/* 0, or a negative errno with a sentence that names the parameter. */
int udp_group_read(struct udp_group *g, const struct options *o, struct fail *fail);

/* Receive what is sent to the group, and nothing else. 0 or -errno; before bind(2). */
int udp_group_join(const struct udp_group *g, int fd);

/*
 * For a sender, which may be elsewhere than the receivers: the interface by which their
 * host is reached. 0, or a negative errno with a sentence.
 */
int udp_group_find_way(struct udp_group *g, struct fail *fail);

/* Send to the group on its interface. 0 or -errno; nothing to do without a group. */
int udp_group_aim(const struct udp_group *g, int fd);

#endif
