/*
 * A path with known faults between a client and a server on this machine:
 *
 *     truth_relay udp PORT [FAULT ...]     towards the server at PORT
 *     truth_relay tcp PORT [FAULT ...]
 *
 *     drop:K    every K-th datagram is dropped
 *     twice:K   every K-th comes twice
 *     swap:K    every K-th comes behind the one after it
 *     rate:N    N a second pass, datagrams or bytes; the others wait
 *     room:N    at most so many wait; more datagrams are dropped, bytes are not read
 *
 * Only what goes to the server is so treated. It prints its own port, and when its
 * standard input ends one line of JSON with what it did. `overflow` counts datagrams that
 * its own socket's full buffer has dropped before it saw them: 0, or it is no yardstick.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "protocols/clock.h"

#define DATAGRAM_MAX 65536
#define CONNECTIONS_MAX 256

/* What waits to pass on: datagrams with their lengths, or bytes. */
struct queue {
    char *bytes;
    size_t first, used, room;
    size_t *lengths;
    size_t first_length, count, lengths_room;
};

/* A TCP connection; each way its bytes, only those to the server kept waiting. */
struct connection {
    int client, server;
    struct queue up;
    bool up_ended, up_closed, down_ended;
    uint64_t passed, since_ns;
};

struct relay {
    uint64_t drop, twice, swap, rate, room;
    uint64_t came, dropped, doubled, swapped, passed, overflow;
    uint64_t began_ns;
    struct queue waiting;
    char held[DATAGRAM_MAX]; /* the one that is to come behind the next */
    size_t held_len;
    bool is_holding;
    struct sockaddr_in server;
    int in, out; /* udp: towards clients, the server; tcp: in listens */
    struct connection connections[CONNECTIONS_MAX];
    size_t connection_count;
};

static void die(const char *what) __attribute__((noreturn));

static void die(const char *what)
{
    fprintf(stderr, "truth_relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Queues. */

static void make_room(struct queue *q, size_t len)
{
    if (q->first + q->used + len <= q->room)
        return;
    if (q->first)
        memmove(q->bytes, q->bytes + q->first, q->used);
    q->first = 0;
    if (q->used + len <= q->room)
        return;
    q->room = 2 * (q->used + len) + (1u << 20);
    q->bytes = realloc(q->bytes, q->room);
    if (!q->bytes)
        die("memory");
}

static void queue_add(struct queue *q, const char *bytes, size_t len)
{
    make_room(q, len);
    memcpy(q->bytes + q->first + q->used, bytes, len);
    q->used += len;
}

static void queue_add_datagram(struct queue *q, const char *bytes, size_t len)
{
    if (q->first_length + q->count == q->lengths_room) {
        if (q->first_length)
            memmove(q->lengths, q->lengths + q->first_length,
                    q->count * sizeof(*q->lengths));
        q->first_length = 0;
        q->lengths_room = 2 * q->count + 1024;
        q->lengths = realloc(q->lengths, q->lengths_room * sizeof(*q->lengths));
        if (!q->lengths)
            die("memory");
    }
    q->lengths[q->first_length + q->count++] = len;
    queue_add(q, bytes, len);
}

static void queue_drop(struct queue *q, size_t len)
{
    q->first += len;
    q->used -= len;
}

/* What a rate lets pass from a beginning until now. */
static uint64_t allowed(uint64_t rate, uint64_t since_ns, uint64_t now)
{
    return (uint64_t)((double)(now - since_ns) * (double)rate / 1e9);
}

/* UDP. */

static void pass(struct relay *r, const char *bytes, size_t len)
{
    while (send(r->out, bytes, len, 0) < 0)
        if (errno != EINTR && errno != ECONNREFUSED && errno != EAGAIN)
            die("send");
    r->passed++;
}

static void pass_waiting(struct relay *r)
{
    struct queue *q = &r->waiting;
    uint64_t upto = allowed(r->rate, r->began_ns, now_ns());

    while (q->count && r->passed < upto) {
        size_t len = q->lengths[q->first_length++];

        q->count--;
        pass(r, q->bytes + q->first, len);
        queue_drop(q, len);
    }
    /* What was not used while nothing waited is not there later. */
    if (q->count == 0 && upto > r->passed)
        r->began_ns = now_ns() - (uint64_t)((double)r->passed * 1e9 / (double)r->rate);
}

static void send_on(struct relay *r, const char *bytes, size_t len)
{
    if (!r->rate) {
        pass(r, bytes, len);
    } else if (r->room && r->waiting.count >= r->room) {
        r->dropped++;
    } else {
        queue_add_datagram(&r->waiting, bytes, len);
    }
}

static void treat(struct relay *r, const char *bytes, size_t len)
{
    uint64_t n = ++r->came;

    if (r->drop && n % r->drop == 0) {
        r->dropped++;
        return;
    }
    if (r->swap && n % r->swap == 0 && !r->is_holding) {
        memcpy(r->held, bytes, len);
        r->held_len = len;
        r->is_holding = true;
        return;
    }
    send_on(r, bytes, len);
    if (r->twice && n % r->twice == 0) {
        send_on(r, bytes, len);
        r->doubled++;
    }
    if (r->is_holding) {
        r->is_holding = false;
        r->swapped++;
        send_on(r, r->held, r->held_len);
    }
}

/* The kernel tells the sum of all that it dropped at this socket. */
static void note_overflow(struct relay *r, struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
            uint32_t dropped;

            memcpy(&dropped, CMSG_DATA(c), sizeof(dropped));
            r->overflow = dropped;
        }
}

static void hear_datagrams(struct relay *r)
{
    static char bytes[DATAGRAM_MAX];
    char control[64];
    struct iovec part = {bytes, sizeof(bytes)};

    for (int i = 0; i < 256; i++) {
        struct msghdr m = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(r->in, &m, MSG_DONTWAIT);

        if (n < 0)
            return;
        note_overflow(r, &m);
        if (r->came == 0)
            r->began_ns = now_ns();
        treat(r, bytes, (size_t)n);
    }
}

static void open_udp(struct relay *r)
{
    int one = 1, bytes = 256 << 20;

    r->in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    r->out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (r->in < 0 || r->out < 0 ||
        connect(r->out, (struct sockaddr *)&r->server, sizeof(r->server)) < 0)
        die("socket");
    setsockopt(r->in, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof(one));
    if (setsockopt(r->in, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
        setsockopt(r->in, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

/* TCP. */

static void greet(struct relay *r)
{
    struct connection *c = &r->connections[r->connection_count];
    struct sockaddr_storage from;
    socklen_t len = sizeof(from);
    int client = accept4(r->in, (struct sockaddr *)&from, &len, SOCK_CLOEXEC);

    if (client < 0)
        return;
    if (r->connection_count == CONNECTIONS_MAX) {
        close(client);
        return;
    }
    *c = (struct connection){.client = client, .since_ns = now_ns()};
    c->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->server < 0 ||
        connect(c->server, (struct sockaddr *)&r->server, sizeof(r->server)) < 0)
        die("connect");
    r->connection_count++;
    r->came++;
}

static bool has_room(const struct relay *r, const struct connection *c)
{
    return !r->room || c->up.used < r->room;
}

static void hear_up(struct connection *c)
{
    char bytes[65536];
    ssize_t n = recv(c->client, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (n > 0)
        queue_add(&c->up, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        c->up_ended = true;
}

/* The way back is as wide as it is: what comes is handed over at once. */
static void hear_down(struct connection *c)
{
    char bytes[65536];
    ssize_t n = recv(c->server, bytes, sizeof(bytes), MSG_DONTWAIT);

    for (ssize_t sent = 0; n > 0 && sent < n;) {
        ssize_t m = send(c->client, bytes + sent, (size_t)(n - sent), MSG_NOSIGNAL);

        if (m < 0)
            n = 0;
        else
            sent += m;
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        c->down_ended = true;
        shutdown(c->client, SHUT_WR);
    }
}

static void pass_up(struct relay *r, struct connection *c)
{
    uint64_t now = now_ns();
    uint64_t upto = r->rate ? allowed(r->rate, c->since_ns, now) : UINT64_MAX;
    size_t len = c->up.used;
    ssize_t n;

    if (c->up.used == 0 && r->rate) {
        c->since_ns = now;
        c->passed = 0;
        upto = 0;
    }
    if (len > upto - c->passed)
        len = (size_t)(upto - c->passed);
    n = len ? send(c->server, c->up.bytes + c->up.first, len, MSG_NOSIGNAL | MSG_DONTWAIT)
            : 0;
    if (n > 0) {
        queue_drop(&c->up, (size_t)n);
        c->passed += (uint64_t)n;
        r->passed += (uint64_t)n;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        c->up_ended = true;
        c->up.used = 0;
    }
    if (c->up_ended && c->up.used == 0 && !c->up_closed) {
        shutdown(c->server, SHUT_WR);
        c->up_closed = true;
    }
}

/* The program. */

static bool read_fault(struct relay *r, const char *text)
{
    return sscanf(text, "drop:%" SCNu64, &r->drop) == 1 ||
           sscanf(text, "twice:%" SCNu64, &r->twice) == 1 ||
           sscanf(text, "swap:%" SCNu64, &r->swap) == 1 ||
           sscanf(text, "rate:%" SCNu64, &r->rate) == 1 ||
           sscanf(text, "room:%" SCNu64, &r->room) == 1;
}

static void open_here(struct relay *r, bool is_udp)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    if (is_udp)
        open_udp(r);
    else
        r->in = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(r->in, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        (!is_udp && listen(r->in, 256) < 0) ||
        getsockname(r->in, (struct sockaddr *)&address, &len) < 0)
        die("listen");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
}

/* Until standard input ends. What waits for its time is looked at each 0.2 ms. */
static void carry(struct relay *r, bool is_udp)
{
    struct pollfd polled[2 + 2 * CONNECTIONS_MAX];
    struct timespec tick = {.tv_nsec = 200000};
    bool is_waiting = false;
    char byte;

    for (;;) {
        size_t n = 2;

        polled[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = r->in, .events = POLLIN};
        for (size_t i = 0; i < r->connection_count; i++) {
            struct connection *c = &r->connections[i];

            polled[n++] = (struct pollfd){
                .fd = c->up_ended || !has_room(r, c) ? -1 : c->client, .events = POLLIN};
            polled[n++] =
                (struct pollfd){.fd = c->down_ended ? -1 : c->server, .events = POLLIN};
        }
        if (ppoll(polled, n, is_waiting ? &tick : NULL, NULL) < 0 && errno != EINTR)
            die("poll");
        if (polled[0].revents && read(STDIN_FILENO, &byte, 1) <= 0)
            return;
        if (polled[1].revents && is_udp)
            hear_datagrams(r);
        is_waiting = false;
        if (is_udp && r->rate) {
            pass_waiting(r);
            is_waiting = r->waiting.count > 0;
        }
        for (size_t i = 0; 2 + 2 * i + 1 < n; i++) {
            struct connection *c = &r->connections[i];

            if (polled[2 + 2 * i].revents)
                hear_up(c);
            if (polled[3 + 2 * i].revents)
                hear_down(c);
            pass_up(r, c);
            is_waiting |= c->up.used > 0;
        }
        if (polled[1].revents && !is_udp)
            greet(r);
    }
}

int main(int argc, char **argv)
{
    static struct relay r;
    bool is_udp = argc > 2 && strcmp(argv[1], "udp") == 0;
    bool is_good = argc > 2 && (is_udp || strcmp(argv[1], "tcp") == 0);

    for (int i = 3; is_good && i < argc; i++)
        is_good = read_fault(&r, argv[i]);
    if (!is_good) {
        fprintf(stderr, "usage: truth_relay udp|tcp PORT [FAULT ...]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
    r.server = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                    .sin_port = htons((uint16_t)atoi(argv[2]))};
    open_here(&r, is_udp);
    carry(&r, is_udp);
    printf("{\"came\": %" PRIu64 ", \"dropped\": %" PRIu64 ", \"doubled\": %" PRIu64
           ", \"swapped\": %" PRIu64 ", \"passed\": %" PRIu64 ", \"overflow\": %" PRIu64
           "}\n",
           r.came, r.dropped, r.doubled, r.swapped, r.passed, r.overflow);
    return 0;
}
