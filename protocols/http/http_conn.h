/*
 * One connection of a load client: a socket, the requests in flight on it, and the
 * parser of their replies, which are HTTP, or lines of text for Topper. It costs one send
 * and one receive a request, and nothing else: the read buffer and the bytes of the
 * request are shared, and no memory is allocated after http_conn_new.
 *
 * A connection is closed, connecting or open. Requests may be pushed in any state:
 * http_conn_send connects first where it must. What happens is reported by the
 * functions of struct http_shared, from the event loop or from within http_conn_send:
 *
 *   opened    connected; requests that were pushed are on their way
 *   replied   a reply is complete; its request is no longer in flight
 *   idle      an event has been worked off: there may be room for more requests
 *   lost      the connection is closed; the requests left in flight will get no reply
 *             and are to be taken with http_conn_pop
 *
 * A reply that ends the connection in the orderly way (`Connection: close`, HTTP/1.0,
 * a body up to the end) is no loss. Pipelined requests behind it have not been
 * processed (RFC 9112 section 9.6): they are sent again on the next connection.
 */
#ifndef PROTOCOLS_HTTP_HTTP_CONN_H
#define PROTOCOLS_HTTP_HTTP_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "protocols/http/http_parse.h"
#include "protocols/http/http_request.h"
#include "protocols/meter.h"
#include "protocols/topper.h"

struct http_conn;

/* A request in flight. All instants are of now_ns; 0: has not happened. */
struct http_slot {
    uint64_t intended_ns; /* by the schedule */
    uint64_t start_ns;    /* pushed: its connection may still have to be set up */
    uint64_t sent_ns;     /* handed to the kernel */
    uint64_t first_ns;    /* first byte of the reply */
};

/* What all connections of a client share. Borrowed by them. */
struct http_shared {
    struct event_base *base;
    struct sockaddr_storage address;
    socklen_t address_len;
    const char *congestion; /* TCP: to set, "" to leave it */
    const struct http_request *request;
    char *stream;      /* the request `copies` times over, for pipelining */
    unsigned copies;   /* at least 1 */
    unsigned depth;    /* requests in flight on a connection at most */
    bool no_body;      /* replies have no body: HEAD */
    bool is_text;      /* replies are lines (Topper), not HTTP */
    short read_events; /* EV_READ | EV_PERSIST, and EV_CLOSED where the base has it */
    char *buffer;      /* for reading; shared, since nothing is kept in it */
    size_t buffer_size;
    struct http_seen seen;
    struct meter *meter; /* bytes, messages and connections are counted here */

    void (*opened)(struct http_conn *c, uint64_t now_ns);
    void (*replied)(struct http_conn *c, const struct http_slot *slot, uint64_t now_ns);
    void (*idle)(struct http_conn *c, uint64_t now_ns);
    /* `what` is "connect", "write", "read" with an errno value, or the whole story. */
    void (*lost)(struct http_conn *c, const char *what, int err);
};

enum http_conn_state { HTTP_CLOSED, HTTP_CONNECTING, HTTP_OPEN };

struct http_conn {
    /* The owner's. */
    void *owner;
    struct http_conn *next, *previous; /* in a list of the owner's */
    uint64_t room_ns; /* since when a request more may be pushed; 0: always */
    bool is_listed;
    bool is_retired;
    bool is_waiting;    /* for `retry` */
    unsigned failures;  /* in a row, for the back-off */
    struct event retry; /* assigned by the owner */
    uint64_t *due;      /* intended times assigned to it and not pushed yet */
    size_t due_first, due_count, due_size;

    /* To read. */
    enum http_conn_state state;
    unsigned in_flight;
    uint64_t connect_ns;      /* when the present connection was begun */
    uint64_t replies;         /* on the present connection, or the last one */
    struct http_parse parse;  /* of the reply, within `replied` */
    struct topper_reply line; /* the same for text */

    /* Private. */
    struct http_shared *shared;
    int fd;
    int write_err;   /* the server has stopped reading; it may still reply */
    bool is_blocked; /* the socket is full; `writable` is waited for */
    struct event readable, writable;
    size_t pending; /* bytes of pushed requests that are not sent */
    size_t offset;  /* of the next one, in the request */
    unsigned head;  /* slots[head] is the oldest in flight */
    struct http_slot slots[];
};

/* A closed connection; NULL when out of memory. `owner` is for its functions. */
struct http_conn *http_conn_new(struct http_shared *shared, void *owner);

/* Closes it. The owner's event and queue are the owner's to release before. */
void http_conn_free(struct http_conn *c);

/* Add a request to send. There must be room: in_flight < depth. */
void http_conn_push(struct http_conn *c, uint64_t intended_ns, uint64_t now_ns);

/* Send what was pushed, connecting first where needed; without requests only connect. */
void http_conn_send(struct http_conn *c, uint64_t now_ns);

/* Close without `lost`. Requests in flight stay, to be taken with http_conn_pop. */
void http_conn_close(struct http_conn *c);

/* Take the oldest request in flight; the connection must be closed, and have one. */
struct http_slot http_conn_pop(struct http_conn *c);

/* The oldest request in flight; NULL when there is none. */
static inline const struct http_slot *http_conn_oldest(const struct http_conn *c)
{
    return c->in_flight ? &c->slots[c->head] : NULL;
}

#endif
