#include "protocols/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PROBE_MS 1000

/* 1: somebody listens there, 0: nobody, or why the kernel could not be asked. */
static int ask_kernel(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
    int one = 1;
    int err = 0;

    if (fd < 0)
        return -errno;
    /* Connections of an earlier server that linger are nobody. */
    if (a->ai_socktype == SOCK_STREAM)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, a->ai_addr, a->ai_addrlen) < 0)
        err = errno;
    close(fd);
    return err == EADDRINUSE ? 1 : -err;
}

static bool connects(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    socklen_t len = sizeof(int);
    int err = 0;

    if (fd < 0)
        return false;
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
        err = errno;
    if (err == EINPROGRESS && (poll(&ready, 1, PROBE_MS) != 1 ||
                               getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0))
        err = ETIMEDOUT;
    close(fd);
    return err == 0;
}

static bool is_foreign(const struct addrinfo *a)
{
    return ask_kernel(a) == -EADDRNOTAVAIL;
}

static bool answers(const struct addrinfo *a)
{
    int asked = ask_kernel(a);

    return asked >= 0 ? asked : a->ai_socktype == SOCK_DGRAM || connects(a);
}

static const struct addrinfo *choose(const struct addrinfo *list)
{
    const struct addrinfo *first = endpoint_preferred(list);
    bool may_leave = is_foreign(first);

    if (answers(first))
        return first;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        if (a != first && (may_leave || !is_foreign(a)) && answers(a))
            return a;
    return first;
}

int resolve_address(const struct endpoint *e, struct sockaddr_storage *address,
                    socklen_t *len, struct fail *fail)
{
    struct addrinfo *list;
    const struct addrinfo *found;
    int err;

    if (!endpoint_has_port(e->kind))
        return endpoint_address(e, address, len, fail);
    err = endpoint_look_up(e, &list, fail);
    if (err < 0)
        return err;
    found = list->ai_next ? choose(list) : list;
    memset(address, 0, sizeof(*address));
    memcpy(address, found->ai_addr, found->ai_addrlen);
    *len = found->ai_addrlen;
    freeaddrinfo(list);
    return 0;
}
