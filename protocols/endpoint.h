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

/* How the address of a kind is written. */
enum endpoint_form {
    ENDPOINT_HOST_PORT,   /* HOST:PORT */
    ENDPOINT_SOCKET_PATH, /* PATH of a socket file, or @NAME */
    ENDPOINT_FIFO_PATH,   /* PATH of a FIFO; it has no socket address */
};

/*
 * The kinds, a row each: X(KIND, identifier, "name", FORM). Each of ENDPOINT_STREAMS is
 * a stream transport, whose own file defines `const struct transport
 * transport_IDENTIFIER` (protocols/transport.h).
 */
#define ENDPOINT_STREAMS(X)           \
    X(TCP, tcp, "tcp", HOST_PORT)     \
    X(UNIX, uds, "unix", SOCKET_PATH) \
    X(PIPE, pipe, "pipe", FIFO_PATH)

#define ENDPOINT_KINDS(X) \
    ENDPOINT_STREAMS(X)   \
    X(UDP, udp, "udp", HOST_PORT)

enum endpoint_kind {
#define X(kind, id, name, form) ENDPOINT_##kind,
    ENDPOINT_KINDS(X)
#undef X
};

struct endpoint {
    enum endpoint_kind kind;
    char host[108]; /* HOST_PORT: as typed, without brackets */
    unsigned port;  /* HOST_PORT: 0..65535 */
    char path[108]; /* the other forms */
};

const char *endpoint_kind_name(enum endpoint_kind kind); /* "tcp" */
enum endpoint_form endpoint_form(enum endpoint_kind kind);
bool endpoint_has_port(enum endpoint_kind kind);

/* The kind of a name: 0, or -ENOENT. */
int endpoint_kind_find(enum endpoint_kind *kind, const char *name);

/* Text to endpoint. 0, or -EINVAL with a sentence that says what is wrong. */
int endpoint_parse(struct endpoint *e, const char *text, struct fail *fail);

/* The same for where a client shall go: nobody listens on port 0. */
int endpoint_parse_target(struct endpoint *e, const char *text, struct fail *fail);

/* The host, as typed (no brackets). 0, or -EINVAL for an empty or too long one. */
int endpoint_set_host(struct endpoint *e, const char *host, struct fail *fail);

/* The path of an endpoint whose kind has one. 0, or -EINVAL with a sentence. */
int endpoint_set_path(struct endpoint *e, const char *path, struct fail *fail);

/* Endpoint to text: at most `size` bytes with the final NUL; brackets IPv6 hosts. */
void endpoint_format(const struct endpoint *e, char *text, unsigned long size);

/*
 * The socket address of an endpoint whose form has one. A name is looked up
 * (getaddrinfo(3), IPv4 first). 0 or a negative errno with a sentence.
 */
int endpoint_address(const struct endpoint *e, struct sockaddr_storage *address,
                     socklen_t *len, struct fail *fail);

/*
 * All addresses of the host of an endpoint with a port, for freeaddrinfo(3), and the one
 * of them that endpoint_address takes. Clients use protocols/resolve.h. "localhost" and
 * what ends with it is this machine's loopback also where the system does not know the
 * name, as in a container without a hosts file (RFC 6761 6.3): then it returns 1, else 0
 * or a negative errno.
 */
int endpoint_look_up(const struct endpoint *e, struct addrinfo **list, struct fail *fail);
const struct addrinfo *endpoint_preferred(const struct addrinfo *list);

/* Whether the address is one of this machine's loopback ones (a path always). */
bool endpoint_is_loopback(const struct endpoint *e,
                          const struct sockaddr_storage *address);

/*
 * Remove what a server that was killed left on disk: the socket file, or the FIFO
 * and the pairs that clients announced at it, and the private directory made for
 * them if that is empty. Touches nothing that somebody listens on, nothing that
 * is not a socket or a FIFO; does nothing where there is a port. A server that ends by
 * itself has removed its own already.
 */
void endpoint_remove(const struct endpoint *e);

/* From the address that getsockname(2) gives for a TCP or UDP socket. */
void endpoint_from_address(struct endpoint *e, enum endpoint_kind kind,
                           const struct sockaddr_storage *address);

#endif
