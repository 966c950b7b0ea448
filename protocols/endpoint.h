/*
 * Where a server listens, as text and as an address. The text forms:
 *
 *   tcp:HOST:PORT   tcp:[::1]:PORT   udp:HOST:PORT   HOST a name or an address
 *   unix:PATH       unix:@NAME       a socket file, or a Linux abstract name
 *   pipe:PATH       the FIFO at which clients of a named-pipe server announce
 *                   themselves (protocols/pipe.c)
 *
 * PATH of a Unix socket is at most 107 bytes (sockaddr_un.sun_path, unix(7)).
 */
#ifndef PROTOCOLS_ENDPOINT_H
#define PROTOCOLS_ENDPOINT_H

#include <stdbool.h>
#include <sys/socket.h>

#include "protocols/fail.h"

struct addrinfo;

enum endpoint_kind { ENDPOINT_TCP, ENDPOINT_UDP, ENDPOINT_UNIX, ENDPOINT_PIPE };

struct endpoint {
    enum endpoint_kind kind;
    char host[108]; /* TCP, UDP: as typed, without brackets */
    unsigned port;  /* TCP, UDP: 0..65535 */
    char path[108]; /* Unix, pipe; for an abstract name "@NAME" */
};

/* Text to endpoint. 0, or -EINVAL with a sentence that says what is wrong. */
int endpoint_parse(struct endpoint *e, const char *text, struct fail *fail);

/* The same for where a client shall go: nobody listens on port 0. */
int endpoint_parse_target(struct endpoint *e, const char *text, struct fail *fail);

/* The host, as typed (no brackets). 0, or -EINVAL for an empty or too long one. */
int endpoint_set_host(struct endpoint *e, const char *host, struct fail *fail);

/* Endpoint to text: at most `size` bytes with the final NUL; brackets IPv6 hosts. */
void endpoint_format(const struct endpoint *e, char *text, unsigned long size);

/*
 * The socket address of a TCP, UDP or Unix endpoint. A name is looked up
 * (getaddrinfo(3), IPv4 first). 0 or a negative errno with a sentence.
 */
int endpoint_address(const struct endpoint *e, struct sockaddr_storage *address,
                     socklen_t *len, struct fail *fail);

/*
 * All addresses of the host of a TCP or UDP endpoint, for freeaddrinfo(3), and the one
 * of them that endpoint_address takes. Clients use protocols/resolve.h.
 */
int endpoint_look_up(const struct endpoint *e, struct addrinfo **list, struct fail *fail);
const struct addrinfo *endpoint_preferred(const struct addrinfo *list);

/* Whether the address is one of this machine's loopback ones (Unix and pipe always). */
bool endpoint_is_loopback(const struct endpoint *e,
                          const struct sockaddr_storage *address);

/*
 * Remove what a server that was killed left on disk: the socket file, or the FIFO
 * and the pairs that clients announced at it, and the private directory made for
 * them if that is empty. Touches nothing that somebody listens on, nothing that
 * is not a socket or a FIFO; does nothing for TCP and UDP. A server that ends by
 * itself has removed its own already.
 */
void endpoint_remove(const struct endpoint *e);

/* From the address that getsockname(2) gives for a TCP or UDP socket. */
void endpoint_from_address(struct endpoint *e, enum endpoint_kind kind,
                           const struct sockaddr_storage *address);

#endif
