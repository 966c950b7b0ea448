/*
 * Stream transports: TCP, Unix sockets and named pipes behind one table of
 * functions and traits, so that nobody else knows any of them by name. A transport is
 * one file and one row of ENDPOINT_STREAMS (endpoint.h).
 *
 * Words: a *listener* is where a server can be reached; a *target* is that place
 * as its client sees it; a *conn* is one connection, open in both directions,
 * each of which ends by itself: *finish* ends one's own sending (half-close),
 * end-of-file says that the other side did so.
 *
 * All descriptors are non-blocking and close on exec. Functions return 0 or a
 * negative errno; -EAGAIN means "not yet". The process must ignore SIGPIPE, since
 * neither sendfile(2) nor a write to a FIFO can be told not to raise it.
 */
#ifndef PROTOCOLS_TRANSPORT_H
#define PROTOCOLS_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "protocols/endpoint.h"
#include "protocols/fail.h"
#include "protocols/options.h"

struct transport;
struct waiting; /* pipe.c: clients that announced themselves and are not open yet */

/* How sockets are set up. */
struct stream_setup {
    char congestion[16]; /* TCP: the congestion control to set, "" to leave it */
    char in_force[16];   /* TCP: the one that a socket then has; "" elsewhere */
};

/*
 * One connection. For sockets `in` and `out` are the same descriptor; a named pipe
 * has one for each direction. -1: that direction is closed.
 */
struct conn {
    const struct transport *transport;
    int in;
    int out;

    /*
     * Named pipes: a read() of 0 bytes means end-of-file only after the descriptor
     * was reported readable once; before, it may mean that the other side has not
     * opened its end yet. Whoever waits for `in` clears it.
     */
    bool unopened;

    /*
     * Named pipe, client: until the server has opened the pair, the client's own
     * reading end of `out` (else what it wrote would be lost), and the name of the
     * pair on disk, owned. -1 and NULL afterwards and elsewhere.
     */
    int hold;
    char *pair;
};

struct target {
    const struct transport *transport;
    struct endpoint endpoint;
    struct sockaddr_storage address;
    socklen_t address_len; /* 0: it has none, and the endpoint's path is all */
    struct stream_setup setup;
};

struct listener {
    const struct transport *transport;
    struct endpoint bound; /* what was really bound: port and path filled in */
    int fd;                /* readable when accept may succeed */
    uint64_t again_ns;     /* 0, or: call accept once more after this span */
    bool remove;           /* the path is on disk and ours */
    struct waiting *waiting;
    struct stream_setup setup;
};

/* A way to send the bytes of a file that does not copy them through this process. */
struct zero_copy {
    const char *name; /* "sendfile" */

    /* As sendfile(2): from `offset` of `file` on, at most `len` bytes. */
    ssize_t (*send)(int out, int file, off_t offset, size_t len);

    /* Not required: have the kernel hold as much of what is sent as it may. */
    void (*widen)(int out);
};

struct transport {
    enum endpoint_kind kind; /* its name, and how its address is written */
    const char *help;        /* what a server on it does: one line, no full stop */
    const struct zero_copy *zero_copy;

    /* Descriptors that a connection keeps, at most, at each end. */
    unsigned client_fds;
    unsigned server_fds;

    /*
     * Listen at `wanted` (port 0 and the empty path: choose one). Fills l->fd and
     * l->bound; l->setup is filled before. Failures have a sentence.
     */
    int (*listen)(struct listener *l, const struct endpoint *wanted, struct fail *fail);

    /* The next client, -EAGAIN when there is none now. */
    int (*accept)(struct listener *l, struct conn *c);

    /* Stop listening and remove what lies on disk. */
    void (*unlisten)(struct listener *l);

    /*
     * Begin a connection. 0: it may be written to at once; it need not be there yet,
     * then writing gives EAGAIN (or the error of connect) and `connected` says so.
     * -EAGAIN: the server's queue is full, try again later.
     */
    int (*connect)(const struct target *t, struct conn *c);

    /* 0 when the server has it, -EAGAIN not yet, or why it failed. Cheap. */
    int (*connected)(struct conn *c);

    /* End one's own sending. -EAGAIN: not possible yet, call it again on an event. */
    int (*finish)(struct conn *c);

    void (*close)(struct conn *c);

    /*
     * Not required: why connect failed, where the errno alone does not say it: false
     * when there is nothing to add to that.
     */
    bool (*explain)(const struct target *t, int err, char *text, size_t size);

    /*
     * Only where there is congestion control: choose it from the option `congestion`.
     * Failures have a sentence.
     */
    int (*congestion)(struct stream_setup *s, const struct options *o, struct fail *fail);
};

#define X(kind, id, name, form) extern const struct transport transport_##id;
ENDPOINT_STREAMS(X)
#undef X

/* NULL when the kind is no stream transport's. */
const struct transport *transport_of(enum endpoint_kind kind);

/* The one that the option `transport` names; NULL when it is not set or names none. */
const struct transport *transport_asked(const struct options *o);

const char *transport_name(const struct transport *t); /* "tcp" */

/* The setup that the options ask for. 0, or a negative errno with a sentence. */
int stream_setup_init(struct stream_setup *s, const struct transport *t,
                      const struct options *o, struct fail *fail);

/* A connection that is not open; closing it is harmless. */
void conn_init(struct conn *c);

/* Close what is open and leave it initialised. */
void conn_close(struct conn *c);

/*
 * What a server was asked to listen on: options `transport` (TCP), `host` (127.0.0.1),
 * `port` (4000), `path` (empty), `congestion`. On failure nothing is left behind.
 */
int listener_open(struct listener *l, const struct options *o, struct fail *fail);
void listener_close(struct listener *l);

/* Whether listener_open can make sense of the options, wherever that is. */
int listener_check(const struct options *o, struct fail *fail);

/* A server's endpoint as a client's target; the name of a host is looked up here. */
int target_init(struct target *t, const char *endpoint, const struct options *o,
                struct fail *fail);

/* Why a connection could not be made, as a sentence; err is a negative errno. */
void target_explain(const struct target *t, int err, char *text, size_t size);

/* For the transports that are sockets: what they have in common. */
extern const struct zero_copy socket_zero_copy;
int socket_accept(struct listener *l, struct conn *c);
int socket_finish(struct conn *c);
void socket_close(struct conn *c);

#endif
