/*
 * A role is what one worker process does: the bulk server, the HTTP load client.
 * Each is a const table of functions in a file of its own, listed in ROLE_LIST; the
 * engine runs it without knowing what it does, and it knows nothing of the engine:
 * what it needs is lent through `struct flow_env`.
 *
 * Life of a role:
 *
 *   check     whether the values go together, before there is a worker: what is the
 *             person's mistake, and not the machine's.
 *   prepare   everything that can fail: read options, listen, open files, allocate.
 *             No load yet. A server is reachable when it returns.
 *   start     client roles begin to offer load at start_ns; server roles serve from
 *             prepare on and learn here when the clock of the run starts.
 *   set       change one value while running (rate, connections).
 *   pause     stop offering load and resume, the schedule shifted by the pause.
 *   stop      offer no more load, finish what is open within the drain time, then
 *             call env->finished. A client that reaches its amount or duration calls
 *             env->finished by itself; stop may then still come and is ignored.
 *   free      release everything; called once, after finished or on a failure, with
 *             events possibly pending: free them before what they point to.
 */
#ifndef PROTOCOLS_ROLE_H
#define PROTOCOLS_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/fail.h"
#include "protocols/meter.h"
#include "protocols/options.h"

struct event_base;
struct flow; /* a role's own state: each role's file defines what it means */

/* How a role, a trial or a run ended. The higher value is the worse. */
enum outcome {
    OUTCOME_COMPLETED, /* all that was asked for was done */
    OUTCOME_STOPPED,   /* ended early because it was told to */
    OUTCOME_EXHAUSTED, /* a limit of the machine was reached by what is measured */
    OUTCOME_FAILED,    /* it could not be carried out; the first cause is known */
};

/* What the engine lends a flow. Everything is borrowed and outlives the flow. */
struct flow_env {
    struct event_base *base;
    struct meter *meter;
    const struct options *options;

    /*
     * Server roles: the endpoint that is really bound, in the form that
     * endpoint_parse reads ("tcp:127.0.0.1:40123"), set before prepare returns.
     * Client roles: the endpoint of the server to use, set by the engine.
     */
    char endpoint[256];

    /* Further endpoints, for a role with an upstream: the microservice's. */
    char upstream[256];

    /*
     * When the load ended, an instant of now_ns, for a role that has something left to do
     * then and calls finished later: that is not the load's time. 0: it ends with that.
     */
    uint64_t load_end_ns;

    /*
     * The role has ended. `reason` is a sentence for the user without a final full
     * stop, or NULL; needed for exhausted and failed. Called at most once, never
     * from within prepare. It may be called from within start, set or stop, and the
     * flow is not freed before it has returned to the event loop.
     */
    void (*finished)(struct flow_env *env, enum outcome outcome, const char *reason);

    /* A line for the log that a person reads ("client 3 sent 44 bytes, ..."). */
    void (*note)(struct flow_env *env, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

    /*
     * A result that is neither counter nor latency (a checksum, an explanation);
     * appears in the document of the run under the process. The text is copied.
     */
    void (*fact)(struct flow_env *env, const char *name, const char *text);

    void *owner; /* the engine's, not for roles */
};

struct role {
    const char *name; /* "bulk-server" */

    /*
     * Not required: 0, or a negative errno with a sentence that names the parameter
     * (--message), for values that prepare would refuse on whatever machine the worker
     * is. Called in the engine's process, often while a person types: it is quick and
     * leaves nothing behind. prepare does not count on it.
     */
    int (*check)(const struct options *options, struct fail *fail);

    /* Required. Returns 0 and sets *flow, or a negative errno and fills *fail. */
    int (*prepare)(struct flow_env *env, struct flow **flow, struct fail *fail);

    /* Required. start_ns is an instant of now_ns, possibly a little in the future. */
    void (*start)(struct flow *flow, uint64_t start_ns);

    /* Not required: 0, -ENOTSUP for a value that cannot change live, -EINVAL. */
    int (*set)(struct flow *flow, enum option option, uint64_t value);

    /* Not required. */
    void (*pause)(struct flow *flow, bool paused);

    /* Not required: called before an interval closes, to set the meter's gauges. */
    void (*gauge)(struct flow *flow);

    /* Required. */
    void (*stop)(struct flow *flow);
    void (*free)(struct flow *flow);
};

/*
 * X(identifier): the table is `const struct role role_IDENTIFIER`, in the first of these
 * files; behind it those that it is made of:
 *
 *   bulk_server       stream/bulk.c: transfer.c, content.c
 *   bulk_client       stream/bulk.c: the same
 *   requests_server   stream/requests_server.c: requests_message.c
 *   requests_client   stream/requests.c: requests_connection.c, requests_process.c and
 *                     the program that it starts, oneshot_main.c; requests_message.c
 *   udp_server        udp/udp_server.c: udp_count.c, udp_drops.c, udp_group.c, datagram.c
 *   udp_client        udp/udp_client.c: udp_prepare.c, udp_flow.c, udp_cached.c,
 *                     udp_fresh.c, datagram.c
 *   http_client       http/http_load.c: http_plan.c, http_offer.c, http_request.c,
 *                     http_conn.c, http_parse.c, http_result.c
 *   rest              http/rest_sum.c: http_service.c
 *   gateway           http/gateway.c: http_service.c; topper_client.c, beside this file
 *   topper            topper/topper_server.c; topper.c, beside this file
 *   topper_client     http/http_load.c: as http_client, with Topper's text for HTTP
 */
#define ROLE_LIST(X)   \
    X(bulk_server)     \
    X(bulk_client)     \
    X(requests_server) \
    X(requests_client) \
    X(udp_server)      \
    X(udp_client)      \
    X(http_client)     \
    X(rest)            \
    X(gateway)         \
    X(topper)          \
    X(topper_client)

#define X(id) extern const struct role role_##id;
ROLE_LIST(X)
#undef X

/* NULL when there is no role of that name. */
const struct role *role_find(const char *name);

const char *outcome_name(enum outcome outcome); /* "completed" */

#endif
