/*
 * The sending of one "udp-client": what its files share. udp_prepare.c makes a flow from
 * options, udp_cached.c and udp_fresh.c are the strategies, udp_client.c is the role and
 * calls the strategy in turns of the event loop.
 *
 * A message is first *handed over*, in a fresh strategy with a socket of its own; then,
 * if each is to be, its name is looked up; then it is sent, and *done*: accepted by the
 * kernel or refused. In series one message is under way at a time (`ahead` is 1), and a
 * turn of the loop does one: its completion is delivered before the next is handed over.
 * In parallel all are handed over at once, and a turn does as many as it can.
 *
 * A strategy is a function that sends messages until `upto` are done or its turn is over.
 */
#ifndef PROTOCOLS_UDP_UDP_FLOW_H
#define PROTOCOLS_UDP_UDP_FLOW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "protocols/endpoint.h"
#include "protocols/lookups.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"
#include "protocols/role.h"
#include "protocols/schedule.h"
#include "protocols/udp/datagram.h"
#include "protocols/udp/udp_group.h"

struct event;

#define UDP_BATCH_MAX 1024 /* UIO_MAXIOV: what sendmmsg(2) takes */
#define UDP_TAKE_MAX 1024  /* messages taken from the schedule at one go */

/* What a strategy's step came to. */
enum step {
    STEP_ON,    /* go on */
    STEP_FULL,  /* the send buffer is full: wait for room */
    STEP_AWAIT, /* no address is known yet: wait for a lookup */
    STEP_ENDED, /* the flow is over, with `outcome` and `reason` */
};

struct flow {
    struct flow_env *env;
    struct meter *meter;
    enum step (*send)(struct flow *f, uint64_t upto); /* the strategy */
    bool is_fresh, is_parallel, connected, resolve_each, gso;
    uint64_t messages; /* UINT64_MAX: no limit */
    uint64_t duration_ns;
    uint64_t batch;
    uint64_t ahead; /* messages that may be handed over and not done; fresh: sockets */
    int send_buffer_bytes;

    struct endpoint name; /* of the target, as it is to be looked up */
    struct sockaddr_storage target;
    socklen_t target_len;
    struct udp_group group; /* that the target is, if one */
    struct datagram_form form;

    uint64_t handed, done;
    uint64_t peak;     /* the most that were handed over and not done */
    uint64_t sequence; /* of the next message: how many were accepted */
    uint64_t counted_handed;
    uint64_t start_ns, deadline_ns, paused_ns;
    uint64_t clock_ns;    /* the latest reading, at which the next send starts */
    uint64_t turn_end_ns; /* when to give other events their turn */
    uint64_t turn_upto;   /* how many may be done when it is over */
    bool is_over, is_paused;
    bool full_print; /* the server is still to be asked for it */

    struct pacer pacer;
    struct pacer_timer timer;
    uint64_t room_ns; /* since when the socket takes messages; 0: from the start */
    struct schedule_away away;
    uint64_t rate;
    uint64_t intended_ns[UDP_TAKE_MAX]; /* of messages taken from the pacer */
    size_t taken, taken_at;             /* those from taken_at on are not done */

    struct lookups *lookups; /* owned; NULL: `target` is known to be right */
    size_t answered, answered_at;
    struct answer answers[UDP_BATCH_MAX]; /* those from answered_at on are not used up */

    int fd;                 /* the cached socket; -1: none */
    struct event *turn;     /* the next turn of the loop */
    struct event *writable; /* room in the send buffer */
    struct event *closing;
    struct event *deadline; /* the next message by a slow schedule may be far behind it */
    unsigned char *payloads; /* owned: `batch` payloads, one after the other */
    struct mmsghdr *calls;   /* owned, for sendmmsg */
    struct iovec *vectors;

    int *sockets; /* owned, fresh: a ring of those that are open */
    size_t room, open, oldest;
    uint64_t waits; /* times that the send buffer was full */
    enum outcome outcome;
    char reason[160];
};

/* Whether a strategy goes on in this turn. */
static inline bool udp_flow_goes_on(const struct flow *f, uint64_t upto)
{
    return f->done < upto && f->done < f->turn_upto && f->clock_ns < f->turn_end_ns;
}

/* When the i-th message not done was intended; without a rate it is now. */
static inline uint64_t udp_flow_intended_ns(const struct flow *f, size_t i)
{
    return f->rate ? f->intended_ns[f->taken_at + i] : f->clock_ns;
}

/* How many messages may be handed over now, since the start. */
uint64_t udp_flow_reach(const struct flow *f, uint64_t upto);

/* The first n messages are handed over; n may be what it was. */
void udp_flow_hand_over(struct flow *f, uint64_t n);

/* Take the answers that have come. They are delivered by a turn of their own. */
void udp_flow_take_answers(struct flow *f);

/*
 * How many of the next messages have an address, `max` at most; the first one's is the
 * target now. 0: there is no answer yet. -errno: the name could not be looked up for the
 * next message, whose answer is used up by that.
 */
ssize_t udp_flow_addressed(struct flow *f, size_t max);

/* The addresses of n messages, accepted or refused, are used up. */
void udp_flow_use_addresses(struct flow *f, size_t n);

/* n messages were accepted by one call, which took from f->clock_ns to now_ns. */
void udp_flow_accept(struct flow *f, size_t n, uint64_t now_ns);

/* One message was refused, in a step of it that began at f->clock_ns. */
enum step udp_flow_refuse(struct flow *f, const char *phase, int err, uint64_t now_ns);

/* The flow is over. Returns STEP_ENDED. */
enum step udp_flow_over(struct flow *f, enum outcome outcome, const char *reason);

/* A socket for sending, not connected. Returns it, or -errno. */
int udp_flow_socket(const struct flow *f);

/* Connect it to the target if sockets are to be connected. 0 or -errno. */
int udp_flow_connect(const struct flow *f, int fd);

/* Send the first len bytes of the payloads, without waiting; as send(2). */
ssize_t udp_flow_send(struct flow *f, int fd, size_t len);

#endif
