#include "tests/odd_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocols/event.h"

struct odd_conn {
    struct odd_server *server;
    struct odd_conn *next;
    int fd;
    struct event *readable, *writable;
    char in[65536];
    size_t in_len;
    unsigned owed; /* replies to send */
    size_t out_at; /* in the present reply */
    bool rests;    /* byte by byte: every other turn, so that each is read alone */
};

static void drop(struct odd_conn *c)
{
    struct odd_conn **at = &c->server->conns;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->server->open--;
    event_free(c->readable);
    event_free(c->writable);
    close(c->fd);
    free(c);
}

/* The length of the first whole request in the buffer, or 0. */
static size_t whole_request(const struct odd_conn *c)
{
    const char *end = memmem(c->in, c->in_len, "\r\n\r\n", 4);
    const char *length;
    const char *line = memchr(c->in, '\n', c->in_len);
    size_t head, body = 0;

    if (c->server->takes_lines)
        return line ? (size_t)(line - c->in) + 1 : 0;
    if (!end)
        return 0;
    head = (size_t)(end - c->in) + 4;
    length = memmem(c->in, head, "Content-Length: ", 16);
    if (length)
        body = strtoul(length + 16, NULL, 10);
    return c->in_len >= head + body ? head + body : 0;
}

static void take_requests(struct odd_conn *c)
{
    struct odd_server *s = c->server;
    size_t len;

    while ((len = whole_request(c)) > 0) {
        size_t kept = len < sizeof(s->last) - 1 ? len : sizeof(s->last) - 1;

        memcpy(s->last, c->in, kept);
        s->last[kept] = '\0';
        memmove(c->in, c->in + len, c->in_len - len);
        c->in_len -= len;
        s->requests++;
        if (s->silent_every && s->requests % s->silent_every == 0)
            continue;
        c->owed++;
    }
    if (c->owed && !s->is_silent)
        event_add(c->writable, NULL);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct odd_conn *c = arg;
    ssize_t n = read((int)fd, c->in + c->in_len, sizeof(c->in) - c->in_len);

    (void)what;
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        drop(c);
        return;
    }
    c->in_len += (size_t)n;
    if (c->server->answers_early) {
        event_del(c->readable);
        c->owed = 1;
        event_add(c->writable, NULL);
        return;
    }
    take_requests(c);
}

/* What remains of the present reply, as much as may be sent now. */
static size_t sendable(const struct odd_conn *c)
{
    const struct odd_server *s = c->server;
    size_t end = s->reply_len;

    if (s->stalls_at && s->stalls_at < end)
        end = s->stalls_at;
    if (s->is_bytewise && end > c->out_at + 1)
        end = c->out_at + 1;
    return end > c->out_at ? end - c->out_at : 0;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct odd_conn *c = arg;
    struct odd_server *s = c->server;
    size_t len = sendable(c);
    ssize_t n;

    (void)what;
    c->rests = s->is_bytewise && !c->rests;
    if (c->rests) {
        event_add(c->writable, NULL);
        return;
    }
    n = len ? send((int)fd, s->reply + c->out_at, len, MSG_NOSIGNAL) : 0;
    if (n < 0) {
        if (errno == EAGAIN)
            event_add(c->writable, NULL);
        else
            drop(c);
        return;
    }
    c->out_at += (size_t)n;
    if (c->out_at < s->reply_len) {
        if (n > 0)
            event_add(c->writable, NULL);
        return;
    }
    c->out_at = 0;
    c->owed--;
    if (s->closes || s->answers_early)
        drop(c);
    else if (c->owed)
        event_add(c->writable, NULL);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
    struct odd_server *s = arg;
    int client = accept4((int)fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int one = 1;
    struct odd_conn *c;

    (void)what;
    if (client < 0)
        return;
    s->connections++;
    if (s->closes_at_once || (s->drops_every && s->connections % s->drops_every == 0)) {
        close(client);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    c = calloc(1, sizeof(*c));
    c->server = s;
    c->fd = client;
    c->next = s->conns;
    s->conns = c;
    s->open++;
    c->readable = event_new(s->base, client, EV_READ | EV_PERSIST, on_readable, c);
    c->writable = event_new(s->base, client, EV_WRITE, on_writable, c);
    event_add(c->readable, NULL);
}

static bool listen_at(struct odd_server *s, const void *address, socklen_t len)
{
    int one = 1;

    setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(s->fd, address, len) < 0 || listen(s->fd, 1024) < 0)
        return false;
    s->accept = event_new(s->base, s->fd, EV_READ | EV_PERSIST, on_accept, s);
    event_add(s->accept, NULL);
    return true;
}

bool odd_server_open(struct odd_server *s, struct event_base *base, unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof(a);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->base = base;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || !listen_at(s, &a, len) ||
        getsockname(s->fd, (struct sockaddr *)&a, &len) < 0)
        return false;
    s->port = ntohs(a.sin_port);
    snprintf(s->endpoint, sizeof(s->endpoint), "tcp:127.0.0.1:%u", s->port);
    return true;
}

bool odd_server_open_unix(struct odd_server *s, struct event_base *base, const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    s->base = base;
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    snprintf(s->endpoint, sizeof(s->endpoint), "unix:%s", path);
    return s->fd >= 0 && listen_at(s, &a, sizeof(a));
}

void odd_server_reply(struct odd_server *s, const char *text)
{
    s->reply = text;
    s->reply_len = strlen(text);
}

void odd_server_close(struct odd_server *s)
{
    while (s->conns)
        drop(s->conns);
    event_drop(s->accept);
    s->accept = NULL;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}
