#include "protocols/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocols/array.h"
#include "protocols/resolve.h"

static const struct transport *const transports[] = {
#define X(id) &transport_##id,
    TRANSPORT_LIST(X)
#undef X
};

#define TRANSPORTS NUMBER_OF(transports)

const struct transport *transport_find(const char *name)
{
    for (size_t i = 0; i < TRANSPORTS; i++)
        if (strcmp(transports[i]->name, name) == 0)
            return transports[i];
    return NULL;
}

const struct transport *transport_of(enum endpoint_kind kind)
{
    for (size_t i = 0; i < TRANSPORTS; i++)
        if (transports[i]->kind == kind)
            return transports[i];
    return NULL;
}

void conn_init(struct conn *c)
{
    memset(c, 0, sizeof(*c));
    c->in = c->out = c->hold = -1;
}

void conn_close(struct conn *c)
{
    if (c->transport)
        c->transport->close(c);
    conn_init(c);
}

static int configure(const struct transport *t, struct stream_setup *s,
                     const struct options *o, struct fail *fail)
{
    return t->configure ? t->configure(s, o, fail) : 0;
}

/* The endpoint that the options ask for; the path of a file may be empty. */
static int wanted_endpoint(struct endpoint *e, const struct options *o, struct fail *fail)
{
    const char *path = options_text(o, "path", "");
    uint64_t port = options_number(o, "port", 4000);

    if (e->kind != ENDPOINT_TCP) {
        if (strlen(path) >= sizeof(e->path))
            return fail_set(
                fail, EINVAL, "path",
                "The path %.60s... has %zu bytes; a socket path has at most %zu", path,
                strlen(path), sizeof(e->path) - 1);
        snprintf(e->path, sizeof(e->path), "%s", path);
        return 0;
    }
    if (port > 65535)
        return fail_set(fail, EINVAL, "port", "The port %llu is above 65535",
                        (unsigned long long)port);
    e->port = (unsigned)port;
    return endpoint_set_host(e, options_text(o, "host", "127.0.0.1"), fail);
}

/* The transport that the options ask for, and where on it. */
static int wanted_place(const struct transport **t, struct endpoint *e,
                        const struct options *o, struct fail *fail)
{
    const char *name = options_text(o, "transport", "tcp");

    memset(e, 0, sizeof(*e));
    *t = transport_find(name);
    if (!*t)
        return fail_set(fail, EINVAL, "transport",
                        "\"%s\" is not a transport: tcp, unix or pipe", name);
    e->kind = (*t)->kind;
    return wanted_endpoint(e, o, fail);
}

int listener_check(const struct options *o, struct fail *fail)
{
    const struct transport *t;
    struct endpoint wanted;

    return wanted_place(&t, &wanted, o, fail);
}

int listener_open(struct listener *l, const struct options *o, struct fail *fail)
{
    struct endpoint wanted;
    int err;

    memset(l, 0, sizeof(*l));
    l->fd = -1;
    err = wanted_place(&l->transport, &wanted, o, fail);
    if (!err)
        err = configure(l->transport, &l->setup, o, fail);
    return err ? err : l->transport->listen(l, &wanted, fail);
}

void listener_close(struct listener *l)
{
    if (l->transport)
        l->transport->unlisten(l);
    memset(l, 0, sizeof(*l));
    l->fd = -1;
}

int target_init(struct target *t, const char *endpoint, const struct options *o,
                struct fail *fail)
{
    int err;

    memset(t, 0, sizeof(*t));
    err = endpoint_parse_target(&t->endpoint, endpoint, fail);
    if (err)
        return err;
    t->transport = transport_of(t->endpoint.kind);
    if (!t->transport)
        return fail_set(fail, EINVAL, "transport", "%s is not a stream endpoint",
                        endpoint);
    if (t->endpoint.kind != ENDPOINT_PIPE)
        err = resolve_address(&t->endpoint, &t->address, &t->address_len, fail);
    return err ? err : configure(t->transport, &t->setup, o, fail);
}

void target_explain(const struct target *t, int err, char *text, size_t size)
{
    bool is_pipe = t->endpoint.kind == ENDPOINT_PIPE;
    char where[160];

    endpoint_format(&t->endpoint, where, sizeof(where));
    if (err == -ENXIO && is_pipe)
        snprintf(text, size, "No server reads the named pipe %s", t->endpoint.path);
    else if (err == -EPROTOTYPE && is_pipe)
        snprintf(text, size, "%s is not a named pipe", t->endpoint.path);
    else if (err == -ECONNREFUSED)
        snprintf(text, size, "No server listens at %s", where);
    else if (err == -ETIMEDOUT)
        snprintf(text, size, "The server at %s did not take the connection in time",
                 where);
    else
        snprintf(text, size, "Cannot connect to %s: %s", where, strerror(-err));
}

int socket_accept(struct listener *l, struct conn *c)
{
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    conn_init(c);
    c->transport = l->transport;
    c->in = c->out = fd;
    return 0;
}

int socket_finish(struct conn *c)
{
    return shutdown(c->out, SHUT_WR) < 0 ? -errno : 0;
}

void socket_close(struct conn *c)
{
    if (c->in >= 0)
        close(c->in);
}
