/*
 * The UDP strategies against what the machine gives: each is run in turn with a bare
 * program that only makes the same system calls, with a constant payload and no
 * statistics, to a receiver that only counts bytes. Both ends are processes of their own
 * in both cases. Printed are medians over the rounds, of messages a second and of the CPU
 * time of each end for a message, and the ratio of ours to the bare one's. What the
 * statistics alone cost is measured apart, without system calls.
 *
 *   bench_udp [ROUNDS]
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/statistics.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/pacer_timer.h"
#include "protocols/role.h"
#include "protocols/udp/datagram.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#define UDP_GRO 104
#endif

#define SIZE 52 /* label STRICT_LOOP and a stamp */
#define LABEL "STRICT_LOOP"
#define ROUNDS_MAX 51
#define RECEIVE_BUFFER (4 << 20)
#define SEGMENTS 64

enum way { FRESH_SERIES, FRESH_WINDOW, FRESH_ALL, SINGLE, BATCH, GSO };

struct strategy {
    const char *name;
    enum way way;
    uint64_t messages;
    unsigned batch; /* or window */
    const char *options;
};

static const struct strategy strategies[] = {
    {"fresh series", FRESH_SERIES, 20000, 1, "socket=fresh dispatch=series"},
    {"fresh parallel, window 64", FRESH_WINDOW, 20000, 64,
     "socket=fresh dispatch=parallel window=64"},
    {"fresh parallel, all open", FRESH_ALL, 15000, 1, "socket=fresh dispatch=parallel"},
    {"cached series", SINGLE, 100000, 1, "socket=cached dispatch=series connected=1"},
    {"cached parallel", SINGLE, 100000, 1, "socket=cached dispatch=parallel connected=1"},
    {"cached parallel, batch 64", BATCH, 200000, 64,
     "socket=cached dispatch=parallel connected=1 batch=64"},
    {"cached parallel, gso and gro", GSO, 3000000, SEGMENTS,
     "socket=cached dispatch=parallel connected=1 gso=1"},
};

/* What one round measured; shared with the processes. */
struct result {
    volatile uint64_t port, done;
    uint64_t send_ns, send_cpu_ns, sent;
    uint64_t receive_cpu_ns, received;
};

static void stop_if(bool failed, const char *what)
{
    if (!failed)
        return;
    perror(what);
    exit(1);
}

/* The bare program. */

static int bare_bind(struct result *r, bool gro)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t len = sizeof(in);
    int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = RECEIVE_BUFFER, one = 1;

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    stop_if(fd < 0, "socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    if (gro)
        setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
    stop_if(bind(fd, (struct sockaddr *)&in, sizeof(in)) < 0, "bind");
    stop_if(getsockname(fd, (struct sockaddr *)&in, &len) < 0, "getsockname");
    r->port = ntohs(in.sin_port);
    return fd;
}

static _Noreturn void bare_receive(struct result *r, bool gro)
{
    enum { MESSAGES = 64, BYTES = 65536 };
    struct mmsghdr messages[MESSAGES] = {0};
    struct iovec vectors[MESSAGES];
    unsigned char *buffers = malloc((size_t)MESSAGES * (BYTES + 192));
    int fd = bare_bind(r, gro);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    uint64_t bytes = 0;

    stop_if(!buffers, "malloc");
    for (size_t i = 0; i < MESSAGES; i++) {
        vectors[i] = (struct iovec){buffers + i * (BYTES + 192), BYTES};
        messages[i].msg_hdr.msg_iov = &vectors[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (;;) {
        int n = recvmmsg(fd, messages, MESSAGES, MSG_DONTWAIT, NULL);

        for (int i = 0; i < n; i++)
            bytes += messages[i].msg_len;
        if (n <= 0 && poll(&poll_fd, 1, 20) == 0 && r->done)
            break;
    }
    r->received = bytes / SIZE;
    r->receive_cpu_ns = cpu_time_ns();
    exit(0);
}

static int bare_socket(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    stop_if(fd < 0, "socket");
    return fd;
}

static void bare_fresh(const struct strategy *s, const struct sockaddr_in *to,
                       size_t window)
{
    unsigned char payload[SIZE] = {1};
    int *fds = calloc(window, sizeof(*fds));
    uint64_t opened = 0, n;

    stop_if(!fds, "calloc");
    for (; opened < window && opened < s->messages; opened++)
        fds[opened] = bare_socket();
    for (n = 0; n < s->messages; n++) {
        int *fd = &fds[n % window];

        sendto(*fd, payload, SIZE, 0, (const struct sockaddr *)to, sizeof(*to));
        close(*fd);
        if (opened < s->messages) {
            *fd = bare_socket();
            opened++;
        }
    }
}

static void bare_cached(const struct strategy *s, const struct sockaddr_in *to)
{
    static unsigned char payload[SIZE * SEGMENTS];
    struct mmsghdr messages[64] = {0};
    struct iovec vector = {payload, SIZE};
    int fd = bare_socket(), bytes = SIZE;

    stop_if(connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0, "connect");
    if (s->way == GSO)
        setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &bytes, sizeof(bytes));
    for (size_t i = 0; i < 64; i++) {
        messages[i].msg_hdr.msg_iov = &vector;
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (uint64_t n = 0; n < s->messages; n += s->batch) {
        if (s->way == SINGLE)
            stop_if(send(fd, payload, SIZE, 0) < 0, "send");
        else if (s->way == BATCH)
            stop_if(sendmmsg(fd, messages, s->batch, 0) != (int)s->batch, "sendmmsg");
        else
            stop_if(send(fd, payload, sizeof(payload), 0) < 0, "send");
    }
}

static _Noreturn void bare_send(const struct strategy *s, struct result *r)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)r->port)};
    uint64_t begin_ns, begin_cpu_ns;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    begin_cpu_ns = cpu_time_ns();
    begin_ns = now_ns();
    if (s->way <= FRESH_ALL)
        bare_fresh(s, &to,
                   s->way == FRESH_ALL      ? s->messages
                   : s->way == FRESH_WINDOW ? s->batch
                                            : 1);
    else
        bare_cached(s, &to);
    r->send_ns = now_ns() - begin_ns;
    r->send_cpu_ns = cpu_time_ns() - begin_cpu_ns;
    r->sent = s->messages;
    exit(0);
}

/* Ours. */

struct peer {
    struct flow_env env;
    struct options options;
    struct flow *flow;
    const struct role *role;
};

static void on_finished(struct flow_env *env, enum outcome outcome, const char *reason)
{
    if (outcome != OUTCOME_COMPLETED) {
        fprintf(stderr, "%s: %s\n", outcome_name(outcome), reason ? reason : "");
        exit(1);
    }
    event_base_loopbreak(env->base);
}

static void on_note(struct flow_env *env, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void on_note(struct flow_env *env, const char *format, ...)
{
    (void)env;
    (void)format;
}

static void on_fact(struct flow_env *env, const char *name, const char *text)
{
    (void)env;
    (void)name;
    (void)text;
}

static void set_options(struct options *o, const char *text)
{
    char copy[300], *state;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *w = strtok_r(copy, " ", &state); w; w = strtok_r(NULL, " ", &state)) {
        char *value = strchr(w, '=');

        *value++ = '\0';
        if (strspn(value, "0123456789") == strlen(value))
            options_set_number(o, option_find(w), strtoull(value, NULL, 10));
        else
            options_set_text(o, option_find(w), value);
    }
}

/* The 100 ms timer of a worker is there, and does what it does: read the gauges. */
static void on_interval(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;

    (void)fd;
    (void)what;
    p->role->gauge(p->flow);
}

static struct peer *peer_new(const struct role *role, const char *endpoint,
                             const char *options)
{
    struct peer *p = calloc(1, sizeof(*p));
    struct fail fail = {0};
    struct timeval interval = {.tv_usec = 100000};

    stop_if(!p, "calloc");
    set_options(&p->options, options);
    p->role = role;
    p->env = (struct flow_env){.base = pacer_timer_base(),
                               .meter = meter_new(),
                               .options = &p->options,
                               .finished = on_finished,
                               .note = on_note,
                               .fact = on_fact};
    snprintf(p->env.endpoint, sizeof(p->env.endpoint), "%s", endpoint);
    if (role->prepare(&p->env, &p->flow, &fail) < 0) {
        fprintf(stderr, "%s\n", fail.sentence);
        exit(1);
    }
    event_add(event_new(p->env.base, -1, EV_PERSIST, on_interval, p), &interval);
    return p;
}

/* The sender has ended: stop, once its count is known. */
static void on_poll(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;
    struct result *r = p->env.owner;

    (void)fd;
    (void)what;
    if (!r->done)
        return;
    p->role->set(p->flow, OPTION_accepted, r->sent);
    p->role->stop(p->flow);
}

static _Noreturn void our_receive(const struct strategy *s, struct result *r)
{
    char options[200];
    struct timeval interval = {.tv_usec = 10000};
    struct endpoint e;
    struct peer *p;

    snprintf(options, sizeof(options),
             "port=0 run_id=7 shared_clock=1 receive_buffer=%d gro=%d", RECEIVE_BUFFER,
             s->way == GSO);
    p = peer_new(&role_udp_server, "", options);
    p->env.owner = r;
    stop_if(endpoint_parse(&e, p->env.endpoint, NULL) < 0, "endpoint");
    event_add(event_new(p->env.base, -1, EV_PERSIST, on_poll, p), &interval);
    r->port = e.port;
    event_base_dispatch(p->env.base);
    r->received = p->env.meter->counters.unique;
    r->receive_cpu_ns = cpu_time_ns();
    exit(0);
}

static _Noreturn void our_send(const struct strategy *s, struct result *r)
{
    char options[300], endpoint[64];
    uint64_t begin_ns, begin_cpu_ns;
    struct peer *p;

    snprintf(options, sizeof(options), "run_id=7 label=" LABEL " messages=%" PRIu64 " %s",
             s->messages, s->options);
    snprintf(endpoint, sizeof(endpoint), "udp:127.0.0.1:%" PRIu64, r->port);
    p = peer_new(&role_udp_client, endpoint, options);
    begin_cpu_ns = cpu_time_ns();
    begin_ns = now_ns();
    p->role->start(p->flow, begin_ns);
    event_base_dispatch(p->env.base);
    r->send_ns = now_ns() - begin_ns;
    r->send_cpu_ns = cpu_time_ns() - begin_cpu_ns;
    r->sent = p->env.meter->counters.sent_messages;
    exit(0);
}

/* Rounds. */

static void wait_for(pid_t pid)
{
    int status;

    stop_if(waitpid(pid, &status, 0) != pid, "waitpid");
    if (status != 0) {
        fprintf(stderr, "a process of the bench failed\n");
        exit(1);
    }
}

static void run_once(const struct strategy *s, bool ours, struct result *r)
{
    pid_t receiver, sender;

    memset(r, 0, sizeof(*r));
    fflush(NULL);
    receiver = fork();
    stop_if(receiver < 0, "fork");
    if (receiver == 0) {
        if (ours)
            our_receive(s, r);
        bare_receive(r, s->way == GSO);
    }
    while (!r->port && waitpid(receiver, NULL, WNOHANG) == 0)
        usleep(200);
    sender = fork();
    stop_if(sender < 0, "fork");
    if (sender == 0) {
        if (ours)
            our_send(s, r);
        bare_send(s, r);
    }
    wait_for(sender);
    r->done = 1;
    wait_for(receiver);
}

struct figures {
    double rate[ROUNDS_MAX], send_cpu_ns[ROUNDS_MAX], receive_cpu_ns[ROUNDS_MAX];
    double loss[ROUNDS_MAX];
};

static void keep(struct figures *f, int round, const struct result *r)
{
    double sent = (double)r->sent, received = (double)r->received;

    f->rate[round] = sent / (double)r->send_ns * 1e9;
    f->send_cpu_ns[round] = (double)r->send_cpu_ns / sent;
    f->receive_cpu_ns[round] = (double)r->receive_cpu_ns / received;
    f->loss[round] = 100 * (sent - received) / sent;
}

static double median(const double *values, int n)
{
    double sorted[ROUNDS_MAX];

    memcpy(sorted, values, (size_t)n * sizeof(*sorted));
    statistics_sort(sorted, (size_t)n);
    return statistics_median(sorted, (size_t)n);
}

/* The median of the rounds' ratios: what disturbed one round disturbed both. */
static double ratio(const double *ours, const double *bare, int n)
{
    double ratios[ROUNDS_MAX];

    for (int i = 0; i < n; i++)
        ratios[i] = ours[i] / bare[i];
    return median(ratios, n);
}

static void print_row(const struct strategy *s, const struct figures *ours,
                      const struct figures *bare, int n)
{
    printf("| %-28s | %8.0f | %8.0f | %5.2f | %6.0f | %6.0f | %5.2f | %6.0f | %6.0f | "
           "%5.2f | %4.1f | %4.1f |\n",
           s->name, median(bare->rate, n), median(ours->rate, n),
           ratio(ours->rate, bare->rate, n), median(bare->send_cpu_ns, n),
           median(ours->send_cpu_ns, n), ratio(ours->send_cpu_ns, bare->send_cpu_ns, n),
           median(bare->receive_cpu_ns, n), median(ours->receive_cpu_ns, n),
           ratio(ours->receive_cpu_ns, bare->receive_cpu_ns, n), median(bare->loss, n),
           median(ours->loss, n));
}

static void bench(const struct strategy *s, struct result *r, int rounds)
{
    static struct figures ours, bare;

    for (int i = 0; i < rounds; i++) {
        bool ours_first = i % 2;

        run_once(s, ours_first, r);
        keep(ours_first ? &ours : &bare, i, r);
        run_once(s, !ours_first, r);
        keep(ours_first ? &bare : &ours, i, r);
    }
    print_row(s, &ours, &bare, rounds);
}

/* Statistics alone. */

#define TURNS 2000000u

static void print_cost(const char *what, uint64_t span_ns)
{
    printf("| %-60s | %5.1f |\n", what, (double)span_ns / TURNS);
}

static void bench_statistics(void)
{
    struct datagram_form form;
    struct datagram_streams *streams = calloc(1, sizeof(*streams));
    struct hist *latency = hist_new(), *jitter = hist_new();
    unsigned char payload[SIZE];
    struct datagram d;
    uint64_t begin_ns, sequence, time_ns, new = 0, previous = 0, sum = 0;

    stop_if(!streams || !latency || !jitter, "calloc");
    datagram_streams_init(streams);
    datagram_form_stamped(&form, LABEL, 0, 7, 0, NULL);
    datagram_fill(&form, payload);

    begin_ns = now_ns();
    for (uint64_t i = 0; i < TURNS; i++)
        sum += now_ns();
    print_cost("clock, once a call at each end", now_ns() - begin_ns);

    begin_ns = now_ns();
    for (uint64_t i = 0; i < TURNS; i++) {
        datagram_stamp(&form, payload, i, begin_ns + i * 100);
        hist_record_n(latency, 3000 + i % 512, 1);
    }
    print_cost("client: stamp, service time", now_ns() - begin_ns);

    datagram_read(&d, payload, SIZE);
    datagram_stream_find(streams, &d, payload, SIZE);
    begin_ns = now_ns();
    for (uint64_t i = 0; i < TURNS; i++) {
        struct datagram_stream *stream;
        uint64_t latency_ns;

        datagram_stamp(&form, payload, i, begin_ns + i * 100);
        stream = datagram_same_stream(streams, payload, SIZE, &sequence, &time_ns);
        if (!stream)
            exit(1);
        new += datagram_window_add(&stream->window, sequence, &streams->budget) ==
               DATAGRAM_NEXT;
        latency_ns = 5000 + time_ns % 1000;
        hist_record(latency, latency_ns);
        hist_record(jitter, latency_ns > previous ? latency_ns - previous
                                                  : previous - latency_ns);
        previous = latency_ns;
    }
    print_cost("server: check, window, latency, jitter (and a stamp)",
               now_ns() - begin_ns);
    if (new != TURNS || sum == 0)
        exit(1);
    datagram_streams_done(streams);
    free(streams);
    hist_free(latency);
    hist_free(jitter);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 7;
    struct result *r =
        mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    stop_if(r == MAP_FAILED, "mmap");
    if (rounds < 1 || rounds > ROUNDS_MAX)
        rounds = 7;
    printf("UDP, %d bytes, medians of %d rounds; bare: the same system calls alone\n\n",
           SIZE, rounds);
    printf("| strategy                     | bare/s   | ours/s   | ratio | send CPU ns, "
           "bare, "
           "ours, ratio | receive CPU ns, bare, ours, ratio | lost %%, bare, ours |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < NUMBER_OF(strategies); i++)
        bench(&strategies[i], r, rounds);
    printf("\n| statistics, without system calls                             | ns    |\n"
           "|---|---|\n");
    bench_statistics();
    return 0;
}
