/*
 * What an HTTP load client was asked to do: its options, read and checked once.
 *
 *   url             text; http://HOST[:PORT]/PATH. Where it is missing, the endpoint
 *                   lent by the engine and `path` take its place; where both are given,
 *                   the endpoint is dialled (a Unix socket, say) and the URL says the
 *                   Host and the path
 *   socket_path     text, a Unix socket to dial, in place of the endpoint
 *   congestion      text, as in transport.h
 *   path            text, "/" by default
 *   method          text, GET by default
 *   headers         text, lines joined by '\n', each as headers_add reads it
 *   body            text
 *   input           text, a file whose bytes are the body
 *   connections     at most this many at once; 1 by default
 *   amount          requests in all, 0: no limit
 *   duration        ns from the end of the warm-up, 0: no limit
 *   warmup          ns of load that is left out of the result
 *   rate            requests over all connections per `rate_per`, 0: as fast as replies
 *                   come; `rate_per` is in ns, 1 s by default
 *   arrivals, arrivals_seed, sender, senders: protocols/schedule.h
 *   connection_rate requests a second on each connection, in place of `rate`
 *   pipelining      requests in flight on a connection, 1 by default
 *   timeout         ns for a reply, and for a connection, 10 s by default
 *   drain           ns for requests still open when the load ends, 1 s by default
 *   close           1: a new connection for each request
 *   remote_target   1: the address need not be this machine's
 */
#ifndef PROTOCOLS_HTTP_HTTP_PLAN_H
#define PROTOCOLS_HTTP_HTTP_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "protocols/endpoint.h"
#include "protocols/fail.h"
#include "protocols/http/http_request.h"
#include "protocols/options.h"
#include "protocols/transport.h"

struct http_plan {
    struct endpoint endpoint; /* to dial */
    struct sockaddr_storage address;
    socklen_t address_len;
    struct stream_setup setup;
    struct http_request request;
    bool is_text; /* Topper */
    bool is_head;
    bool no_type; /* there is a body and no Content-Type */

    unsigned connections;
    unsigned depth;
    uint64_t amount; /* UINT64_MAX: no limit */
    uint64_t duration_ns, warmup_ns, timeout_ns, drain_ns;
    uint64_t rate, rate_per_ns; /* rate 0: unpaced */
    bool is_per_connection;     /* connection_rate */
};

/*
 * Read and check. 0, or a negative errno with a sentence; on an error nothing needs
 * http_plan_done.
 */
int http_plan_read(struct http_plan *p, const struct options *o, const char *endpoint,
                   struct fail *fail);

/*
 * The same for Topper, whose request is a message: the task named by the option `call`
 * ("Sum" by default) with `body` as its payload, sent as a line to the endpoint or to
 * `socket_path`. It must be a task that answers with one line. Of the other options
 * those hold that are not about HTTP.
 */
int http_plan_read_topper(struct http_plan *p, const struct options *o,
                          const char *endpoint, struct fail *fail);

void http_plan_done(struct http_plan *p);

/*
 * Raise the limit of open files to what `connections` sockets need, or say what is
 * needed, what there is and where it is raised. 0, or -EMFILE with the sentence.
 */
int http_plan_open_files(unsigned connections, struct fail *fail);

#endif
