/*
 * The congestion control of a TCP socket. What stands here alone is inline, since the
 * program of one request (stream/oneshot_main.c) is linked with no library of ours;
 * which one a run sets, and why, is decided in tcp.c.
 */
#ifndef PROTOCOLS_CONGESTION_H
#define PROTOCOLS_CONGESTION_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

/* Set the one of this name; "" leaves the socket as it is. 0 or a negative errno. */
static inline int congestion_set(int fd, const char *name)
{
    if (!*name)
        return 0;
    return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) < 0
               ? -errno
               : 0;
}

#endif
