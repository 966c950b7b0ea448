/*
 * The address at which a client finds a server. A name may lead to several, as
 * "localhost" does to 127.0.0.1 and ::1, and the server may listen on one of them only.
 * A client then goes on to the next address (RFC 8305, one after the other).
 *
 * Whether somebody listens at an address of this machine is asked of the kernel, by
 * binding to it for a moment: a server that takes one client and ends, or that counts
 * its clients, notices nothing. Where that cannot be asked (another machine's address,
 * a port below 1024 for an ordinary user) TCP connects once and closes, and waits for a
 * second at most; of UDP it is believed.
 */
#ifndef PROTOCOLS_RESOLVE_H
#define PROTOCOLS_RESOLVE_H

#include <sys/socket.h>

#include "protocols/endpoint.h"
#include "protocols/fail.h"

/*
 * As endpoint_address, but of several addresses the first at which somebody listens; the
 * very first where nobody does. A name of this machine never leads to another one. An
 * address, and a name with one, is not tried at all.
 */
int resolve_address(const struct endpoint *e, struct sockaddr_storage *address,
                    socklen_t *len, struct fail *fail);

#endif
