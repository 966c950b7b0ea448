/*
 * What the files of the role "udp-client" share: udp_client.c is the role, udp_prepare.c
 * turns options into a flow, udp_cached.c and udp_fresh.c are the strategies.
 *
 * A strategy is a function that sends messages until `upto` are settled or the slice is
 * over. `handed` counts messages handed over, `settled` those accepted or refused;
 * clock_ns is the latest reading of the clock, at which the next send starts.
 */
#ifndef PROTOCOLS_UDP_UDP_CLIENT_H
#define PROTOCOLS_UDP_UDP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "protocols/endpoint.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"
#include "protocols/role.h"
#include "protocols/udp/datagram.h"

struct event;

#define UDP_BATCH_MAX 1024
#define UDP_TAKE_MAX 1024 /* messages taken from the schedule at one go */

/* What a strategy's step came to. */
enum step {
    STEP_ON,    /* go on */
    STEP_FULL,  /* the send buffer is full: wait for room */
    STEP_ENDED, /* the flow is ending */
};

struct flow {
    struct flow_env *env;
    struct meter *meter;
    enum step (*send)(struct flow *f, uint64_t upto); /* the strategy */
    bool is_fresh, is_parallel, connected, resolve_each, gso;
    uint64_t messages; /* UINT64_MAX: no limit */
    uint64_t duration_ns;
    uint64_t batch;
    uint64_t window;
    int send_buffer_bytes;

    struct endpoint name; /* of the target, as it is to be looked up */
    struct sockaddr_storage target;
    socklen_t target_len;
    struct datagram_form form;

    uint64_t handed, settled;
    uint64_t sequence; /* of the next message: how many were accepted */
    uint64_t counted_handed;
    uint64_t start_ns, deadline_ns, paused_ns;
    uint64_t clock_ns;     /* the latest reading */
    uint64_t slice_end_ns; /* when to give other events their turn */
    bool is_over, is_paused;

    struct pacer pacer;
    struct pacer_timer timer;
    uint64_t rate;
    uint64_t intended_ns[UDP_TAKE_MAX]; /* of messages taken from the pacer */
    size_t taken, taken_at;             /* those from taken_at on are not settled */

    int fd; /* the cached socket; -1: none */
    struct event *writable, *closing;
    struct event *deadline; /* the next message by a slow schedule may be far behind it */
    unsigned char *payloads; /* owned: `batch` payloads, one after the other */
    struct mmsghdr *calls;   /* owned, for sendmmsg */
    struct iovec *vectors;

    int *sockets; /* owned, fresh in parallel: a ring of those that are open */
    size_t room, open, oldest;
    uint64_t waits; /* times that the send buffer was full */
    enum outcome outcome;
    char reason[160];
};

/* ---- udp_client.c ---- */

/* When the i-th message not settled was intended; without a rate it is now. */
static inline uint64_t udp_client_intended_ns(const struct flow *f, size_t i)
{
    return f->rate ? f->intended_ns[f->taken_at + i] : f->clock_ns;
}

/* n messages were accepted by one call, which took from f->clock_ns to now_ns. */
void udp_client_accept(struct flow *f, size_t n, uint64_t now_ns);

/* One message was refused, in a step of it that began at f->clock_ns. */
enum step udp_client_refuse(struct flow *f, const char *phase, int err, uint64_t now_ns);

/* The flow is over: count what is unfinished, close what is open, say so. */
enum step udp_client_end(struct flow *f, enum outcome outcome, const char *reason);

/* Send for a while; then other events have their turn. The arg is the flow. */
void udp_client_slice(void *arg);
void udp_client_on_writable(int fd, short what, void *arg);
void udp_client_on_closing(int fd, short what, void *arg);

/* Find the target anew if each message is to. 0 or -errno. */
int udp_client_look_up(struct flow *f);

/* A socket ready to send to the target. Returns it, or -errno. */
int udp_client_socket(const struct flow *f);

/* Send the first len bytes of the payloads, without waiting; as send(2). */
ssize_t udp_client_send(const struct flow *f, int fd, size_t len);

/* ---- udp_prepare.c ---- */

int udp_client_check(const struct options *o, struct fail *fail);
int udp_client_prepare(struct flow_env *env, struct flow **flow, struct fail *fail);
void udp_client_free(struct flow *f);

/* ---- the strategies ---- */

enum step udp_cached_single(struct flow *f, uint64_t upto);
enum step udp_cached_batch(struct flow *f, uint64_t upto); /* sendmmsg, or gso */
enum step udp_fresh_series(struct flow *f, uint64_t upto);
enum step udp_fresh_parallel(struct flow *f, uint64_t upto);

/* Close some of the sockets in the ring; whether there are more. */
bool udp_fresh_close_some(struct flow *f);

#endif
