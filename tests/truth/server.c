/*
 * A server whose answers are known beforehand, to measure the measurer with:
 *
 *     truth_server PROTOCOL MODEL
 *
 *     http       every request head is answered by a reply of 2 bytes
 *     echo:N     every N bytes are a request, and N bytes the answer
 *
 *     delay:NS            each is answered NS after it has come
 *     freeze:FROM:NS      at once, but from FROM after the first request nothing is done
 *                         for NS; what has come by then is answered at its end
 *     hang:FROM           at once, and never again from FROM after the first request on
 *     close               the connection is closed instead of an answer
 *     sink                everything is read, nothing answered, closed after the other
 * end even:NS             one worker, a queue, NS for each exponential:NS:SEED one
 * worker, a queue, a time drawn for each, NS in the mean
 *
 * It prints its port, and when its standard input ends one line of JSON: what it has seen
 * and done, how late it was itself, and its own response times. The work is arithmetic:
 * an answer is due when the worker would be ready, however late this process wakes, so
 * being late is no part of the next one's wait. `late_ns` says how much it was, and is
 * the error of this yardstick.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/random.h"

#define CONNECTIONS_MAX 4096
#define HTTP_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define MESSAGE_MAX 65536

enum model {
    MODEL_DELAY,
    MODEL_FREEZE,
    MODEL_HANG,
    MODEL_CLOSE,
    MODEL_SINK,
    MODEL_QUEUE
};

struct answer {
    int fd;
    unsigned generation; /* of the connection on that descriptor */
    uint64_t came_ns, due_ns;
};

struct connection {
    unsigned generation;
    bool is_open, has_ended; /* the other end sends no more */
    unsigned owed;           /* answers */
    size_t have;             /* of a request: bytes, or of the end of a head */
};

struct numbers {
    uint64_t *values;
    size_t count, room;
};

struct server {
    enum model model;
    size_t message_bytes; /* echo; 0: HTTP */
    bool is_exponential;
    uint64_t from_ns, span_ns, state;

    uint64_t first_ns; /* when the first request came */
    uint64_t ready_ns; /* when the worker is through with all that has come */
    struct connection connections[CONNECTIONS_MAX];
    struct answer *answers; /* in the order in which they are due */
    size_t first, count, room;
    struct numbers response, late;
    uint64_t accepted, came, answered;
    double work_ns;
    int poll, listener, timer;
};

static void die(const char *what) __attribute__((noreturn));

static void die(const char *what)
{
    fprintf(stderr, "truth_server: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *grown(void *old, size_t *room, size_t size)
{
    *room = *room ? 2 * *room : 1024;
    old = realloc(old, *room * size);
    if (!old)
        die("memory");
    return old;
}

static void add(struct numbers *n, uint64_t value)
{
    if (n->count == n->room)
        n->values = grown(n->values, &n->room, sizeof(*n->values));
    n->values[n->count++] = value;
}

/* The model. */

static uint64_t draw_work_ns(struct server *s)
{
    double u = (double)((random_next(&s->state) >> 11) + 1) * 0x1p-53;

    return s->is_exponential ? (uint64_t)(-log(u) * (double)s->span_ns) : s->span_ns;
}

/* When a request that comes now is answered; UINT64_MAX: never. */
static uint64_t due_ns(struct server *s, uint64_t came_ns)
{
    uint64_t age_ns = came_ns - s->first_ns, work_ns;

    switch (s->model) {
    case MODEL_DELAY:
        return came_ns + s->span_ns;
    case MODEL_FREEZE:
        if (age_ns < s->from_ns || age_ns >= s->from_ns + s->span_ns)
            return came_ns;
        return s->first_ns + s->from_ns + s->span_ns;
    case MODEL_HANG:
        return age_ns < s->from_ns ? came_ns : UINT64_MAX;
    case MODEL_QUEUE:
        work_ns = draw_work_ns(s);
        s->work_ns += (double)work_ns;
        s->ready_ns = (s->ready_ns > came_ns ? s->ready_ns : came_ns) + work_ns;
        return s->ready_ns;
    case MODEL_CLOSE:
    case MODEL_SINK:
        break;
    }
    return UINT64_MAX;
}

/* Connections. */

static void hang_up(struct server *s, int fd)
{
    s->connections[fd].is_open = false;
    s->connections[fd].generation++;
    close(fd);
}

static void greet(struct server *s)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct sockaddr_storage from;
    socklen_t len = sizeof(from);
    int one = 1, fd;

    while ((fd = accept4(s->listener, (struct sockaddr *)&from, &len,
                         SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct connection *c;

        len = sizeof(from);
        if (fd >= CONNECTIONS_MAX) {
            close(fd);
            continue;
        }
        c = &s->connections[fd];
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        *c = (struct connection){.generation = c->generation, .is_open = true};
        event.data.fd = fd;
        if (epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &event) < 0)
            die("epoll");
        s->accepted++;
    }
}

/* Requests that end within these bytes. */
static unsigned count_requests(const struct server *s, struct connection *c,
                               const char *bytes, size_t len)
{
    static const char end[] = "\r\n\r\n";
    unsigned n = 0;

    if (s->message_bytes) {
        c->have += len;
        n = (unsigned)(c->have / s->message_bytes);
        c->have %= s->message_bytes;
        return n;
    }
    for (size_t i = 0; i < len; i++) {
        c->have = bytes[i] == end[c->have] ? c->have + 1 : bytes[i] == '\r';
        if (c->have == 4) {
            c->have = 0;
            n++;
        }
    }
    return n;
}

static void take_request(struct server *s, int fd, uint64_t now)
{
    struct answer *a;
    uint64_t due;

    if (s->came++ == 0)
        s->first_ns = now;
    due = due_ns(s, now);
    if (due == UINT64_MAX)
        return;
    if (s->first + s->count == s->room) {
        if (s->first)
            memmove(s->answers, s->answers + s->first, s->count * sizeof(*s->answers));
        s->first = 0;
        if (s->count == s->room)
            s->answers = grown(s->answers, &s->room, sizeof(*s->answers));
    }
    a = &s->answers[s->first + s->count++];
    *a = (struct answer){fd, s->connections[fd].generation, now, due};
    s->connections[fd].owed++;
}

static void hear(struct server *s, int fd)
{
    struct connection *c = &s->connections[fd];
    char bytes[65536];
    ssize_t n;

    while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
        unsigned requests = count_requests(s, c, bytes, (size_t)n);
        uint64_t now = now_ns();

        for (unsigned i = 0; i < requests; i++)
            take_request(s, fd, now);
        if (requests && s->model == MODEL_CLOSE) {
            hang_up(s, fd);
            return;
        }
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    c->has_ended = true;
    if (n < 0 || c->owed == 0)
        hang_up(s, fd);
    else
        epoll_ctl(s->poll, EPOLL_CTL_DEL, fd, NULL);
}

static void say(struct server *s, const struct answer *a)
{
    static const char message[MESSAGE_MAX];
    struct connection *c = &s->connections[a->fd];
    size_t len = s->message_bytes ? s->message_bytes : sizeof(HTTP_REPLY) - 1;
    uint64_t now;

    if (!c->is_open || c->generation != a->generation)
        return;
    if (send(a->fd, s->message_bytes ? message : HTTP_REPLY, len, MSG_NOSIGNAL) !=
        (ssize_t)len) {
        hang_up(s, a->fd);
        return;
    }
    now = now_ns();
    add(&s->response, now - a->came_ns);
    add(&s->late, now - a->due_ns);
    s->answered++;
    if (--c->owed == 0 && c->has_ended)
        hang_up(s, a->fd);
}

static void answer_due(struct server *s)
{
    struct itimerspec when = {0};

    while (s->count && s->answers[s->first].due_ns <= now_ns()) {
        s->count--;
        say(s, &s->answers[s->first++]);
    }
    if (s->count) {
        uint64_t due = s->answers[s->first].due_ns;

        when.it_value.tv_sec = (time_t)(due / NS_PER_S);
        when.it_value.tv_nsec = (long)(due % NS_PER_S);
    }
    timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Its own account. */

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void print_numbers(const char *name, struct numbers *n)
{
    static const double quantiles[] = {0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};
    double sum = 0;

    if (n->count)
        qsort(n->values, n->count, sizeof(*n->values), ascending);
    for (size_t i = 0; i < n->count; i++)
        sum += (double)n->values[i];
    printf(", \"%s\": {\"count\": %zu, \"mean\": %.0f", name, n->count,
           n->count ? sum / (double)n->count : 0);
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        size_t rank = (size_t)ceil(quantiles[i] * (double)n->count);

        printf(", \"p%.7g\": %" PRIu64, 100 * quantiles[i],
               rank ? n->values[rank - 1] : 0);
    }
    printf("}");
}

static void print_account(struct server *s)
{
    printf("{\"accepted\": %" PRIu64 ", \"came\": %" PRIu64 ", \"answered\": %" PRIu64
           ", \"work_ns\": %.0f",
           s->accepted, s->came, s->answered, s->work_ns);
    print_numbers("response_ns", &s->response);
    print_numbers("late_ns", &s->late);
    printf("}\n");
}

/* The program. */

static bool read_model(struct server *s, const char *text)
{
    if (sscanf(text, "delay:%" SCNu64, &s->span_ns) == 1)
        s->model = MODEL_DELAY;
    else if (sscanf(text, "freeze:%" SCNu64 ":%" SCNu64, &s->from_ns, &s->span_ns) == 2)
        s->model = MODEL_FREEZE;
    else if (sscanf(text, "hang:%" SCNu64, &s->from_ns) == 1)
        s->model = MODEL_HANG;
    else if (sscanf(text, "even:%" SCNu64, &s->span_ns) == 1)
        s->model = MODEL_QUEUE;
    else if (sscanf(text, "exponential:%" SCNu64 ":%" SCNu64, &s->span_ns, &s->state) ==
             2) {
        s->model = MODEL_QUEUE;
        s->is_exponential = true;
    } else if (strcmp(text, "close") == 0)
        s->model = MODEL_CLOSE;
    else if (strcmp(text, "sink") == 0)
        s->model = MODEL_SINK;
    else
        return false;
    return true;
}

static void listen_here(struct server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listener < 0 ||
        bind(s->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(s->listener, 4096) < 0 ||
        getsockname(s->listener, (struct sockaddr *)&address, &len) < 0)
        die("listen");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
}

static void watch(struct server *s, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (fd < 0 || epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &event) < 0)
        die("epoll");
}

/* Until standard input ends. */
static void serve(struct server *s)
{
    struct epoll_event events[64];
    uint64_t ticks;
    bool goes_on = true;

    while (goes_on) {
        int n = epoll_wait(s->poll, events, 64, -1);

        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;

            if (fd == STDIN_FILENO)
                goes_on = read(fd, &ticks, sizeof(ticks)) > 0;
            else if (fd == s->listener)
                greet(s);
            else if (fd == s->timer)
                goes_on = read(fd, &ticks, sizeof(ticks)) >= 0 || errno == EAGAIN;
            else if (s->connections[fd].is_open)
                hear(s, fd);
        }
        answer_due(s);
    }
}

int main(int argc, char **argv)
{
    static struct server s;

    if (argc != 3 || !read_model(&s, argv[2]) ||
        (strcmp(argv[1], "http") != 0 &&
         (sscanf(argv[1], "echo:%zu", &s.message_bytes) != 1 || !s.message_bytes ||
          s.message_bytes > MESSAGE_MAX))) {
        fprintf(stderr, "usage: truth_server http|echo:N MODEL\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
    s.poll = epoll_create1(EPOLL_CLOEXEC);
    s.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    listen_here(&s);
    watch(&s, s.listener);
    watch(&s, s.timer);
    watch(&s, STDIN_FILENO);
    serve(&s);
    print_account(&s);
    free(s.answers);
    free(s.response.values);
    free(s.late.values);
    return 0;
}
