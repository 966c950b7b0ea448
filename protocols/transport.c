#include "protocols/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "protocols/array.h"
#include "protocols/resolve.h"
#include "protocols/words.h"

const struct transport *transport_of(enum endpoint_kind kind)
{
    static const struct transport *const transports[] = {
#define X(kind, id, name, form) [ENDPOINT_##kind] = &transport_##id,
        ENDPOINT_STREAMS(X)
#undef X
    };

    return kind < NUMBER_OF(transports) ? transports[kind] : NULL;
}

static const struct transport *transport_find(const char *name)
{
    enum endpoint_kind kind;

    return endpoint_kind_find(&kind, name) == 0 ? transport_of(kind) : NULL;
}

const struct transport *transport_asked(const struct options *o)
{
    return transport_find(options_text(o, OPTION_transport, ""));
}

const char *transport_name(const struct transport *t)
{
    return endpoint_kind_name(t->kind);
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

int stream_setup_init(struct stream_setup *s, const struct transport *t,
                      const struct options *o, struct fail *fail)
{
    memset(s, 0, sizeof(*s));
    return t->congestion ? t->congestion(s, o, fail) : 0;
}

/* The endpoint that the options ask for; the path of a file may be empty. */
static int wanted_endpoint(struct endpoint *e, const struct options *o, struct fail *fail)
{
    const char *path = options_text(o, OPTION_path, "");
    uint64_t port = options_number(o, OPTION_port, 4000);

    if (!endpoint_has_port(e->kind))
        return *path ? endpoint_set_path(e, path, fail) : 0;
    if (port > 65535)
        return fail_usage(fail, "port", "the port %llu is above 65535",
                          (unsigned long long)port);
    e->port = (unsigned)port;
    return endpoint_set_host(e, options_text(o, OPTION_host, "127.0.0.1"), fail);
}

static int refuse_name(const char *name, struct fail *fail)
{
    static const char *const names[] = {
#define X(kind, id, name, form) name,
        ENDPOINT_STREAMS(X)
#undef X
    };
    char list[80];

    words_or(names, NUMBER_OF(names), list, sizeof(list));
    return fail_usage(fail, "transport", "\"%s\" is not a transport: %s", name, list);
}

/* The transport that the options ask for, and where on it. */
static int wanted_place(const struct transport **t, struct endpoint *e,
                        const struct options *o, struct fail *fail)
{
    const char *name = options_text(o, OPTION_transport, NULL);

    memset(e, 0, sizeof(*e));
    *t = name ? transport_find(name) : &transport_tcp;
    if (!*t)
        return refuse_name(name, fail);
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
        err = stream_setup_init(&l->setup, l->transport, o, fail);
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
        return fail_usage(fail, "transport", "%s is not a stream endpoint", endpoint);
    if (endpoint_form(t->endpoint.kind) != ENDPOINT_FIFO_PATH)
        err = resolve_address(&t->endpoint, &t->address, &t->address_len, fail);
    return err ? err : stream_setup_init(&t->setup, t->transport, o, fail);
}

void target_explain(const struct target *t, int err, char *text, size_t size)
{
    char where[160];

    if (t->transport->explain && t->transport->explain(t, err, text, size))
        return;
    endpoint_format(&t->endpoint, where, sizeof(where));
    if (err == -ECONNREFUSED)
        snprintf(text, size, "no server listens at %s", where);
    else if (err == -ETIMEDOUT)
        snprintf(text, size, "the server at %s did not take the connection in time",
                 where);
    else
        snprintf(text, size, "cannot connect to %s: %s", where, strerror(-err));
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

static ssize_t socket_send_file(int out, int file, off_t offset, size_t len)
{
    return sendfile(out, file, &offset, len);
}

const struct zero_copy socket_zero_copy = {.name = "sendfile", .send = socket_send_file};
