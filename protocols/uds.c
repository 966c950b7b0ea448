/*
 * Unix stream sockets, by a file (mode 0600) or a Linux abstract name, unix(7).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocols/socket_path.h"
#include "protocols/transport.h"

#define BACKLOG 4096   /* the kernel cuts it to net.core.somaxconn */
#define CHOOSE_TRIES 5 /* another process may remove the directory just then */

static bool on_disk(const struct endpoint *e)
{
    return e->path[0] != '@';
}

/* The file is born with mode 0600: nobody else can connect in between. */
static int bind_private(int fd, const struct endpoint *e, struct fail *fail)
{
    struct sockaddr_storage address;
    socklen_t len;
    mode_t before;
    int err = endpoint_address(e, &address, &len, fail);

    if (err)
        return err;
    before = umask(0177);
    err = bind(fd, (const void *)&address, len) < 0 ? -errno : 0;
    umask(before);
    return err;
}

static int bind_chosen(int fd, struct endpoint *e, struct fail *fail)
{
    int err = -ENOENT;

    for (int i = 0; i < CHOOSE_TRIES && (err == -ENOENT || err == -EADDRINUSE); i++) {
        err = socket_path_private(e->path, sizeof(e->path), "unix", fail);
        if (!err)
            err = bind_private(fd, e, fail);
    }
    return err;
}

static int bind_wanted(int fd, struct endpoint *e, struct fail *fail)
{
    int err = on_disk(e) ? socket_path_clear(e->path, fail) : 0;

    return err ? err : bind_private(fd, e, fail);
}

static void uds_unlisten(struct listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (!l->remove)
        return;
    unlink(l->bound.path);
    socket_path_leave(l->bound.path);
}

static int uds_listen(struct listener *l, const struct endpoint *wanted,
                      struct fail *fail)
{
    int err;

    l->bound = *wanted;
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return fail_set(fail, errno, "socket", "no Unix socket can be made");
    err = (wanted->path[0] ? bind_wanted : bind_chosen)(l->fd, &l->bound, fail);
    if (!err) {
        l->remove = on_disk(&l->bound);
        err = listen(l->fd, BACKLOG) < 0 ? -errno : 0;
    }
    if (!err)
        return 0;
    fail_set(fail, -err, "listen", "cannot listen at %s", l->bound.path);
    uds_unlisten(l);
    if (!wanted->path[0])
        socket_path_leave(l->bound.path);
    l->fd = -1;
    l->remove = false;
    return err;
}

static int uds_connect(const struct target *t, struct conn *c)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int err;

    if (fd < 0)
        return -errno;
    if (connect(fd, (const void *)&t->address, t->address_len) < 0) {
        err = -errno;
        close(fd);
        return err;
    }
    conn_init(c);
    c->transport = &transport_uds;
    c->in = c->out = fd;
    return 0;
}

/* A Unix socket is connected by connect(2) or not at all. */
static int uds_connected(struct conn *c)
{
    (void)c;
    return 0;
}

const struct transport transport_uds = {
    .kind = ENDPOINT_UNIX,
    .help = "the same on a Unix socket",
    .zero_copy = &socket_zero_copy,
    .client_fds = 1,
    .server_fds = 1,
    .listen = uds_listen,
    .accept = socket_accept,
    .unlisten = uds_unlisten,
    .connect = uds_connect,
    .connected = uds_connected,
    .finish = socket_finish,
    .close = socket_close,
};
