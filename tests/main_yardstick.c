/*
 * Yardsticks for tests/bench_stream.sh and tests/bench_http.sh: what a small program of
 * one purpose needs for the same work as a scenario, with the same system calls and no
 * statistics.
 *
 *   yardstick bulk TRANSPORT FILE   the file each way at once, half-close, counts checked
 *   yardstick kept TRANSPORT N      N messages each way on one connection, one at a time
 *   yardstick conn TRANSPORT N K    N connections with a message each way, K at once
 *   yardstick exec TRANSPORT N      the same, with a process of its own for each
 *   yardstick once TRANSPORT PLACE  that process
 *   yardstick http PORT N K         N requests to an HTTP server of the loopback, K kept
 *                                   connections; a reply is taken to come in one piece
 *   yardstick paced PORT N K RATE   the same, RATE of them due a second; prints too how
 *                                   late they were sent
 *
 * TRANSPORT is tcp, unix or (bulk and kept) pipe. It prints "sec=S"; whatever fails ends
 * it with a sentence and exit status 1. Server and client are processes of one thread.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/stream/block.h"

static int accept_from(int listener, int flags)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);

    return accept4(listener, (struct sockaddr *)&peer, &len, flags);
}

#define MESSAGE "The quick brown fox jumps over the lazy dog."
#define LEN (sizeof(MESSAGE) - 1)
#define BLOCK (256 * 1024)
#define MOST 1024 /* connections at once */

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "yardstick: %s: %s\n", what, strerror(errno));
    exit(1);
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Places. */

struct place {
    struct sockaddr_storage address;
    socklen_t len;
};

static int make_socket(const struct place *p, int flags)
{
    int fd = socket(p->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

    check(fd >= 0, "socket");
    if (p->address.ss_family == AF_INET)
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    return fd;
}

/* A port of the loopback, or a path. */
static void read_place(struct place *p, const char *transport, const char *text)
{
    struct sockaddr_in *in = (void *)&p->address;
    struct sockaddr_un *un = (void *)&p->address;

    memset(p, 0, sizeof(*p));
    if (is(transport, "tcp")) {
        in->sin_family = AF_INET;
        in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        in->sin_port = htons((uint16_t)atoi(text));
        p->len = sizeof(*in);
    } else {
        un->sun_family = AF_UNIX;
        snprintf(un->sun_path, sizeof(un->sun_path), "%s", text);
        p->len = sizeof(*un);
    }
}

/* Listen somewhere; `text` then says where. */
static int listen_at(struct place *p, const char *transport, char text[100])
{
    int fd;

    snprintf(text, 100, is(transport, "tcp") ? "0" : "/tmp/plimsoll-yardstick-%d",
             (int)getpid());
    read_place(p, transport, text);
    fd = make_socket(p, SOCK_NONBLOCK);
    check(bind(fd, (void *)&p->address, p->len) == 0, "bind");
    check(listen(fd, 4096) == 0, "listen");
    check(getsockname(fd, (void *)&p->address, &p->len) == 0, "getsockname");
    if (is(transport, "tcp"))
        snprintf(text, 100, "%d", ntohs(((struct sockaddr_in *)&p->address)->sin_port));
    return fd;
}

/* One connection: [0] is the server's end, [1] the client's, each in and out. */
struct pair {
    int in[2], out[2];
};

static void pair_of_pipes(struct pair *p)
{
    int up[2], down[2];

    check(pipe2(up, O_CLOEXEC) == 0 && pipe2(down, O_CLOEXEC) == 0, "pipe");
    fcntl(up[1], F_SETPIPE_SZ, 1 << 20);
    fcntl(down[1], F_SETPIPE_SZ, 1 << 20);
    *p = (struct pair){{up[0], down[0]}, {down[1], up[1]}};
}

static void pair_of_sockets(struct pair *p, const char *transport)
{
    struct place place;
    char text[100];
    int listener = listen_at(&place, transport, text);
    int client = make_socket(&place, 0);
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    int server;

    check(connect(client, (void *)&place.address, place.len) == 0, "connect");
    check(poll(&ready, 1, 5000) == 1, "poll");
    server = accept_from(listener, SOCK_CLOEXEC);
    check(server >= 0, "accept");
    close(listener);
    if (!is(transport, "tcp"))
        unlink(text);
    *p = (struct pair){{server, client}, {server, client}};
}

static void pair_init(struct pair *p, const char *transport)
{
    if (is(transport, "pipe"))
        pair_of_pipes(p);
    else
        pair_of_sockets(p, transport);
    for (int i = 0; i < 2; i++) {
        fcntl(p->in[i], F_SETFL, O_NONBLOCK);
        fcntl(p->out[i], F_SETFL, O_NONBLOCK);
    }
}

/* The other side's ends must not be open here, or its ending would not be seen. */
static void keep_end(const struct pair *p, int mine)
{
    close(p->in[!mine]);
    if (p->out[!mine] != p->in[!mine])
        close(p->out[!mine]);
}

/* Bulk. */

static void finish(int in, int out)
{
    if (in == out)
        check(shutdown(out, SHUT_WR) == 0, "shutdown");
    else
        close(out);
}

/* One block. False when it would block. */
static bool send_some(int out, bool is_pipe, int file, off_t *at, off_t size)
{
    size_t len = size - *at < BLOCK ? (size_t)(size - *at) : BLOCK;
    ssize_t n = is_pipe ? splice(file, at, out, NULL, len, SPLICE_F_NONBLOCK)
                        : sendfile(out, file, at, len);

    check(n > 0 || errno == EAGAIN, "send");
    return n > 0;
}

static void bulk_end(int in, int out, const char *path)
{
    bool is_pipe = in != out, sent = false, received = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char *block = block_new(BLOCK);
    off_t at = 0, got = 0;
    struct stat st;

    check(file >= 0 && fstat(file, &st) == 0 && st.st_size > 0 && block, path);
    while (!sent || !received) {
        struct pollfd fds[2] = {{.fd = received ? -1 : in, .events = POLLIN},
                                {.fd = sent ? -1 : out, .events = POLLOUT}};
        bool moved = false;

        if (!sent && at == st.st_size) {
            finish(in, out);
            sent = true;
        } else if (!sent) {
            moved = send_some(out, is_pipe, file, &at, st.st_size);
        }
        if (!received) {
            ssize_t n = read(in, block, BLOCK);

            check(n >= 0 || errno == EAGAIN, "receive");
            received = n == 0;
            got += n > 0 ? n : 0;
            moved |= n >= 0;
        }
        if (!moved && !(sent && received))
            poll(fds, 2, -1);
    }
    check(got == st.st_size, "the bytes received are not as many as were sent");
    free(block);
}

/* A kept connection. */

static void wait_for(int epoll)
{
    struct epoll_event event;

    check(epoll_wait(epoll, &event, 1, -1) == 1, "epoll_wait");
}

static void receive_message(int epoll, int in)
{
    char bytes[LEN];

    for (size_t got = 0; got < LEN;) {
        ssize_t n = read(in, bytes, LEN - got);

        check(n > 0 || (n < 0 && errno == EAGAIN), "receive");
        if (n < 0)
            wait_for(epoll);
        else
            got += (size_t)n;
    }
}

static void kept_end(int in, int out, long count, bool is_client)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    check(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event) == 0, "epoll");
    for (long i = 0; i < count; i++) {
        if (is_client)
            check(write(out, MESSAGE, LEN) == (ssize_t)LEN, "send");
        wait_for(epoll);
        receive_message(epoll, in);
        if (!is_client)
            check(write(out, MESSAGE, LEN) == (ssize_t)LEN, "send");
    }
}

/* A connection a request. */

static void watch(int epoll, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};

    check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

/* Read what there is; true when the other side has ended. */
static bool drained(int fd)
{
    char bytes[2048];
    ssize_t n;

    do
        n = read(fd, bytes, sizeof(bytes));
    while (n > 0);
    check(n == 0 || errno == EAGAIN, "receive");
    return n == 0;
}

static void serve(int epoll, int fd)
{
    check(write(fd, MESSAGE, LEN) == (ssize_t)LEN, "send");
    shutdown(fd, SHUT_WR);
    if (drained(fd))
        close(fd);
    else
        watch(epoll, fd, EPOLLIN);
}

static _Noreturn void server_loop(int listener)
{
    struct epoll_event events[64];
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    watch(epoll, listener, EPOLLIN);
    for (;;) {
        int n = epoll_wait(epoll, events, 64, -1);

        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;

            if (fd == listener)
                while ((fd = accept_from(listener, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
                    serve(epoll, fd);
            else if (drained(fd))
                close(fd);
        }
    }
}

/* Send when connected; true when the whole is done. */
static bool client_step(int epoll, int fd, uint32_t events)
{
    struct epoll_event only_in = {.events = EPOLLIN, .data.fd = fd};

    if (events & EPOLLOUT) {
        check(write(fd, MESSAGE, LEN) == (ssize_t)LEN, "send");
        shutdown(fd, SHUT_WR);
        epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &only_in);
    }
    return events & EPOLLIN && drained(fd);
}

/* False when the server's queue is full. */
static bool client_begin(int epoll, const struct place *place)
{
    int fd = make_socket(place, SOCK_NONBLOCK);

    if (connect(fd, (const void *)&place->address, place->len) < 0 &&
        errno != EINPROGRESS) {
        check(errno == EAGAIN, "connect");
        close(fd);
        return false;
    }
    watch(epoll, fd, EPOLLIN | EPOLLOUT);
    return true;
}

static void client_loop(const struct place *place, long count, long at_once)
{
    struct epoll_event events[64];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    long begun = 0, done = 0;

    while (done < count) {
        int n;

        while (begun < count && begun - done < at_once && client_begin(epoll, place))
            begun++;
        n = epoll_wait(epoll, events, 64, begun == done ? 1 : -1);
        for (int i = 0; i < n; i++) {
            if (!client_step(epoll, events[i].data.fd, events[i].events))
                continue;
            close(events[i].data.fd);
            done++;
        }
    }
}

/* A process a request. */

static void once(const char *transport, const char *text)
{
    struct place place;
    char bytes[2048];
    int fd;

    read_place(&place, transport, text);
    fd = make_socket(&place, 0);
    check(connect(fd, (void *)&place.address, place.len) == 0, "connect");
    check(write(fd, MESSAGE, LEN) == (ssize_t)LEN, "send");
    shutdown(fd, SHUT_WR);
    while (read(fd, bytes, sizeof(bytes)) > 0)
        continue;
}

static void exec_loop(const char *transport, const char *text, long count)
{
    const char *argv[] = {"yardstick", "once", transport, text, NULL};

    for (long i = 0; i < count; i++) {
        int status;
        pid_t pid;

        check(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char **)argv, environ) ==
                  0,
              "posix_spawn");
        check(waitpid(pid, &status, 0) == pid && status == 0, "the process of a request");
    }
}

/* HTTP requests. */

static void send_request(int fd)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

    check(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1,
          "send");
}

static void receive_reply(int fd)
{
    char bytes[2048];
    ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

    check(n > 12 && memcmp(bytes, "HTTP/1.1 200", 12) == 0, "receive");
}

/* K connections to a port of the loopback, watched for replies. */
static void http_connect(int fds[], long at_once, const char *port, int epoll)
{
    struct place place;

    check(epoll >= 0 && at_once > 0 && at_once <= MOST, "the number of connections");
    read_place(&place, "tcp", port);
    for (long i = 0; i < at_once; i++) {
        fds[i] = make_socket(&place, 0);
        check(connect(fds[i], (void *)&place.address, place.len) == 0, "connect");
        watch(epoll, fds[i], EPOLLIN);
    }
}

static void http_loop(const char *port, long count, long at_once)
{
    struct epoll_event events[64];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int fds[MOST];
    long begun = 0, done = 0;

    http_connect(fds, at_once, port, epoll);
    for (; begun < at_once && begun < count; begun++)
        send_request(fds[begun]);
    while (done < count) {
        int n = epoll_wait(epoll, events, 64, -1);

        for (int i = 0; i < n; i++, done++) {
            receive_reply(events[i].data.fd);
            if (begun < count) {
                send_request(events[i].data.fd);
                begun++;
            }
        }
    }
}

/* The same by a schedule. */

struct schedule {
    uint64_t begin_ns, period_ns;
    long begun;
};

static uint64_t due_ns(const struct schedule *s)
{
    return s->begin_ns + (uint64_t)s->begun * s->period_ns;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void arm(int timer, uint64_t at_ns)
{
    struct itimerspec at = {.it_value = {.tv_sec = (time_t)(at_ns / 1000000000),
                                         .tv_nsec = (long)(at_ns % 1000000000)}};

    check(timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) == 0, "timerfd_settime");
}

static void paced_loop(const char *port, long count, long at_once, long rate)
{
    struct schedule s = {.period_ns = 1000000000 / (uint64_t)rate};
    uint64_t *late_ns = calloc((size_t)count, sizeof(*late_ns));
    struct epoll_event events[64];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int idle[MOST];
    long idles = at_once, done = 0;

    check(late_ns && timer >= 0, "starting");
    http_connect(idle, at_once, port, epoll);
    watch(epoll, timer, EPOLLIN | EPOLLET);
    s.begin_ns = now_ns();
    while (done < count) {
        for (uint64_t at_ns; s.begun < count && idles && due_ns(&s) <= (at_ns = now_ns());
             s.begun++) {
            late_ns[s.begun] = at_ns - due_ns(&s);
            send_request(idle[--idles]);
        }
        if (s.begun < count && idles)
            arm(timer, due_ns(&s));
        for (int i = 0, n = epoll_wait(epoll, events, 64, -1); i < n; i++) {
            if (events[i].data.fd == timer)
                continue;
            receive_reply(events[i].data.fd);
            idle[idles++] = events[i].data.fd;
            done++;
        }
    }
    qsort(late_ns, (size_t)count, sizeof(*late_ns), by_value);
    printf("late_us p50 %.1f p99 %.1f\n", (double)late_ns[count / 2] / 1e3,
           (double)late_ns[count - 1 - count / 100] / 1e3);
    free(late_ns);
}

/* The runs. */

static void run_pair(const char *mode, const char *transport, const char *argument)
{
    struct pair p;
    int status;
    pid_t pid;

    pair_init(&p, transport);
    pid = fork();
    check(pid >= 0, "fork");
    keep_end(&p, pid ? 1 : 0);
    if (is(mode, "bulk"))
        bulk_end(p.in[pid ? 1 : 0], p.out[pid ? 1 : 0], argument);
    else
        kept_end(p.in[pid ? 1 : 0], p.out[pid ? 1 : 0], atol(argument), pid != 0);
    if (!pid)
        _exit(0);
    check(waitpid(pid, &status, 0) == pid && status == 0, "the server");
}

static double run_connections(const char *mode, const char *transport, long count,
                              long at_once)
{
    struct place place;
    char text[100];
    int listener = listen_at(&place, transport, text);
    uint64_t begin_ns;
    double span_s;
    pid_t pid = fork();

    check(pid >= 0 && at_once > 0 && at_once <= MOST, "starting");
    if (!pid)
        server_loop(listener);
    begin_ns = now_ns();
    if (is(mode, "exec"))
        exec_loop(transport, text, count);
    else
        client_loop(&place, count, at_once);
    span_s = (double)(now_ns() - begin_ns) / 1e9;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (!is(transport, "tcp"))
        unlink(text);
    return span_s;
}

int main(int argc, char **argv)
{
    uint64_t begin_ns;
    double span_s;

    signal(SIGPIPE, SIG_IGN);
    if (argc < 4) {
        fputs("usage: yardstick bulk|kept|conn|exec|once TRANSPORT ARGUMENT [K]\n"
              "       yardstick http PORT N K\n"
              "       yardstick paced PORT N K RATE\n",
              stderr);
        return 2;
    }
    if (is(argv[1], "once")) {
        once(argv[2], argv[3]);
        return 0;
    }
    if (is(argv[1], "conn") || is(argv[1], "exec")) {
        span_s = run_connections(argv[1], argv[2], atol(argv[3]),
                                 argc > 4 ? atol(argv[4]) : 1);
    } else {
        begin_ns = now_ns();
        if (is(argv[1], "http") && argc > 4)
            http_loop(argv[2], atol(argv[3]), atol(argv[4]));
        else if (is(argv[1], "paced") && argc > 5)
            paced_loop(argv[2], atol(argv[3]), atol(argv[4]), atol(argv[5]));
        else
            run_pair(argv[1], argv[2], argv[3]);
        span_s = (double)(now_ns() - begin_ns) / 1e9;
    }
    printf("sec=%.6f\n", span_s);
    return 0;
}
