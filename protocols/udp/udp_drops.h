/*
 * How many datagrams the kernel dropped at a UDP socket because its receive buffer
 * was full. Linux keeps one 32-bit count a socket and shows it in three places:
 *
 *   SO_RXQ_OVFL     as ancillary data of each datagram read: the count when that
 *                   datagram was queued, so drops after the last one are missing
 *   SO_MEMINFO      at any time, the present count (Linux 4.12)
 *   /proc/net/udp   the same, for anyone to see: the confirmation
 *
 * The count wraps; here it is extended to 64 bits. It is right as long as it is looked
 * at once in 2^31 drops. A datagram with a bad checksum is counted by the kernel too.
 */
#ifndef PROTOCOLS_UDP_UDP_DROPS_H
#define PROTOCOLS_UDP_UDP_DROPS_H

#include <stdint.h>
#include <sys/socket.h>

/* Zero bytes are a valid beginning for a socket that has dropped nothing yet. */
struct udp_drops {
    uint64_t total;
    uint32_t latest; /* the kernel's count as far as it is known */
};

/*
 * The kernel said `count`. Returns how many drops are new; an older count than one
 * seen before, which SO_RXQ_OVFL gives after SO_MEMINFO, is none.
 */
uint64_t udp_drops_advance(struct udp_drops *d, uint32_t count);

/* The count in the ancillary data of a datagram. 0, or -ENODATA when it has none. */
int udp_drops_attached(const struct msghdr *message, uint32_t *count);

/*
 * The present count and the bytes that the receive buffer holds, as the kernel charges
 * them (a small datagram 832 bytes). 0, or -ENOTSUP where there is no SO_MEMINFO.
 */
int udp_drops_ask(int fd, uint32_t *count, uint64_t *queued_bytes);

/* The count in /proc/net/udp or udp6. 0, or -ENOENT when it cannot be found there. */
int udp_drops_listed(int fd, uint64_t *count);

#endif
