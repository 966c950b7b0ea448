/*
 * TCP. The congestion control matters even on loopback: bbr, the default of some
 * systems, paces it to a third of what reno carries, so "auto" sets reno, which any
 * user may where net.ipv4.tcp_allowed_congestion_control lists it (Linux tcp(7)), and
 * "system" sets none.
 * Accepted sockets inherit it from the listener.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocols/congestion.h"
#include "protocols/transport.h"

#define BACKLOG 4096 /* the kernel cuts it to net.core.somaxconn */

static void allowed(char *names, size_t size)
{
    FILE *f = fopen("/proc/sys/net/ipv4/tcp_allowed_congestion_control", "re");

    snprintf(names, size, "unknown");
    if (!f)
        return;
    if (fgets(names, (int)size, f))
        names[strcspn(names, "\n")] = '\0';
    fclose(f);
}

static void read_congestion(int fd, char *name, size_t size)
{
    socklen_t len = (socklen_t)(size - 1);

    memset(name, 0, size);
    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len) < 0)
        name[0] = '\0';
}

/*
 * Try the wish on a socket of its own, once. What is the default already need not
 * be set on each socket, which saves a call for each connection.
 */
static int tcp_congestion(struct stream_setup *s, const struct options *o,
                          struct fail *fail)
{
    const char *wish = options_text(o, OPTION_congestion, "auto");
    bool is_auto = strcmp(wish, "auto") == 0;
    bool is_system = strcmp(wish, "system") == 0;
    char before[sizeof(s->in_force)];
    char names[128];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int err;

    if (fd < 0)
        return fail_set(fail, errno, "socket", "no TCP socket can be made");
    read_congestion(fd, before, sizeof(before));
    err = congestion_set(fd, is_auto ? "reno" : is_system ? "" : wish);
    read_congestion(fd, s->in_force, sizeof(s->in_force));
    close(fd);
    if (err && !is_auto) {
        allowed(names, sizeof(names));
        return fail_usage(fail, "congestion",
                          "--congestion \"%.40s\" cannot be set: %s (allowed here: %s)",
                          wish, strerror(-err), names);
    }
    if (strcmp(before, s->in_force) != 0)
        snprintf(s->congestion, sizeof(s->congestion), "%s", s->in_force);
    return 0;
}

static int bind_and_listen(int fd, const struct sockaddr_storage *address, socklen_t len)
{
    const int on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (const void *)address, len) < 0 || listen(fd, BACKLOG) < 0)
        return -errno;
    return 0;
}

static int tcp_listen(struct listener *l, const struct endpoint *wanted,
                      struct fail *fail)
{
    struct sockaddr_storage address;
    socklen_t len;
    int err = endpoint_address(wanted, &address, &len, fail);

    if (err)
        return err;
    l->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return fail_set(fail, errno, "socket", "no TCP socket can be made");
    congestion_set(l->fd, l->setup.congestion);
    err = bind_and_listen(l->fd, &address, len);
    len = sizeof(address);
    if (!err && getsockname(l->fd, (void *)&address, &len) < 0)
        err = -errno;
    if (err) {
        close(l->fd);
        l->fd = -1;
        return fail_set(fail, -err, "listen", "cannot listen on TCP port %u of %s",
                        wanted->port, wanted->host);
    }
    endpoint_from_address(&l->bound, ENDPOINT_TCP, &address);
    return 0;
}

static void tcp_unlisten(struct listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
}

static int tcp_connect(const struct target *t, struct conn *c)
{
    int fd = socket(t->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int err;

    if (fd < 0)
        return -errno;
    congestion_set(fd, t->setup.congestion);
    if (connect(fd, (const void *)&t->address, t->address_len) < 0 &&
        errno != EINPROGRESS) {
        err = -errno;
        close(fd);
        /* No free local port; as EAGAIN it would look like a full queue. */
        return err == -EAGAIN ? -EADDRNOTAVAIL : err;
    }
    conn_init(c);
    c->transport = &transport_tcp;
    c->in = c->out = fd;
    return 0;
}

static int tcp_connected(struct conn *c)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);
    int err = 0;

    if (getpeername(c->in, (void *)&peer, &len) == 0)
        return 0;
    len = sizeof(err);
    if (getsockopt(c->in, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
        err = errno;
    return err ? -err : -EAGAIN;
}

const struct transport transport_tcp = {
    .kind = ENDPOINT_TCP,
    .help = "sends a message, or a file, to each client and counts what it receives",
    .zero_copy = &socket_zero_copy,
    .client_fds = 1,
    .server_fds = 1,
    .listen = tcp_listen,
    .accept = socket_accept,
    .unlisten = tcp_unlisten,
    .connect = tcp_connect,
    .connected = tcp_connected,
    .finish = socket_finish,
    .close = socket_close,
    .congestion = tcp_congestion,
};
