#include "protocols/endpoint.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "protocols/array.h"
#include "protocols/socket_path.h"
#include "protocols/words.h"

static const struct {
    const char *name;
    enum endpoint_form form;
} kinds[] = {
#define X(kind, id, name, form) [ENDPOINT_##kind] = {name, ENDPOINT_##form},
    ENDPOINT_KINDS(X)
#undef X
};

#define KINDS NUMBER_OF(kinds)

const char *endpoint_kind_name(enum endpoint_kind kind)
{
    assert(kind < KINDS);
    return kinds[kind].name;
}

enum endpoint_form endpoint_form(enum endpoint_kind kind)
{
    assert(kind < KINDS);
    return kinds[kind].form;
}

bool endpoint_has_port(enum endpoint_kind kind)
{
    return endpoint_form(kind) == ENDPOINT_HOST_PORT;
}

int endpoint_kind_find(enum endpoint_kind *kind, const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *kind = (enum endpoint_kind)i;
            return 0;
        }
    return -ENOENT;
}

int endpoint_set_path(struct endpoint *e, const char *path, struct fail *fail)
{
    if (!*path || strcmp(path, "@") == 0)
        return fail_usage(fail, "path", "\"%s:%s\" has no path",
                          endpoint_kind_name(e->kind), path);
    if (strlen(path) >= sizeof(e->path))
        return fail_usage(
            fail, "path",
            "the path %.60s... has %zu bytes; a socket path has at most %zu", path,
            strlen(path), sizeof(e->path) - 1);
    if (*path == '@' && endpoint_form(e->kind) != ENDPOINT_SOCKET_PATH)
        return fail_usage(fail, "path",
                          "\"%s:%s\" is an abstract name, which only Unix sockets have",
                          endpoint_kind_name(e->kind), path);
    snprintf(e->path, sizeof(e->path), "%s", path);
    return 0;
}

static int parse_port(unsigned *port, const char *digits, const char *text,
                      struct fail *fail)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || errno || n > 65535)
        return fail_usage(
            fail, "endpoint",
            "\"%.40s\" in \"%.100s\" is not a port: a number from 0 to 65535", digits,
            text);
    *port = (unsigned)n;
    return 0;
}

/* HOST:PORT or [HOST]:PORT; an IPv6 address needs its brackets. */
static int parse_host_port(struct endpoint *e, const char *rest, const char *text,
                           struct fail *fail)
{
    const char *host = rest;
    const char *end;
    const char *colon;

    if (*rest == '[') {
        host = rest + 1;
        end = strchr(host, ']');
        colon = end ? end + 1 : NULL;
    } else {
        end = colon = strchr(rest, ':');
        if (colon && strchr(colon + 1, ':'))
            return fail_usage(fail, "endpoint",
                              "\"%.100s\" has several colons: an IPv6 address stands in "
                              "brackets, as in tcp:[::1]:4000",
                              text);
    }
    if (!colon || *colon != ':')
        return fail_usage(fail, "endpoint", "\"%.100s\" has no port", text);
    if (end == host)
        return fail_usage(fail, "endpoint", "\"%.100s\" has no host", text);
    if ((size_t)(end - host) >= sizeof(e->host))
        return fail_usage(fail, "endpoint", "the host of \"%.60s...\" is too long", text);
    snprintf(e->host, sizeof(e->host), "%.*s", (int)(end - host), host);
    return parse_port(&e->port, colon + 1, text, fail);
}

#define WRITTEN_HOST_PORT "HOST:PORT"
#define WRITTEN_SOCKET_PATH "PATH"
#define WRITTEN_FIFO_PATH "PATH"

static int refuse(const char *text, struct fail *fail)
{
    static const char *const written[] = {
#define X(kind, id, name, form) name ":" WRITTEN_##form,
        ENDPOINT_KINDS(X)
#undef X
    };
    char kind_list[160];

    words_or(written, KINDS, kind_list, sizeof(kind_list));
    return fail_usage(fail, "endpoint", "\"%.100s\" is not an endpoint: write %s", text,
                      kind_list);
}

int endpoint_parse(struct endpoint *e, const char *text, struct fail *fail)
{
    size_t len = strcspn(text, ":");
    char name[16];

    memset(e, 0, sizeof(*e));
    snprintf(name, sizeof(name), "%.*s", (int)len, text);
    if (!text[len] || len >= sizeof(name) || endpoint_kind_find(&e->kind, name) < 0)
        return refuse(text, fail);
    return endpoint_has_port(e->kind) ? parse_host_port(e, text + len + 1, text, fail)
                                      : endpoint_set_path(e, text + len + 1, fail);
}

int endpoint_parse_target(struct endpoint *e, const char *text, struct fail *fail)
{
    int err = endpoint_parse(e, text, fail);

    if (err == 0 && endpoint_has_port(e->kind) && e->port == 0)
        err = fail_usage(fail, "endpoint",
                         "\"%.100s\" has port 0, where nobody can listen", text);
    return err;
}

int endpoint_set_host(struct endpoint *e, const char *host, struct fail *fail)
{
    if (!*host)
        return fail_usage(fail, "host",
                          "--host is empty; it takes an address of "
                          "this machine, such as 127.0.0.1");
    if (strlen(host) >= sizeof(e->host))
        return fail_usage(fail, "host", "--host '%.40s...' has more than %zu bytes", host,
                          sizeof(e->host) - 1);
    snprintf(e->host, sizeof(e->host), "%s", host);
    return 0;
}

void endpoint_format(const struct endpoint *e, char *text, unsigned long size)
{
    const char *name = endpoint_kind_name(e->kind);

    if (!endpoint_has_port(e->kind))
        snprintf(text, size, "%s:%s", name, e->path);
    else if (strchr(e->host, ':'))
        snprintf(text, size, "%s:[%s]:%u", name, e->host, e->port);
    else
        snprintf(text, size, "%s:%s:%u", name, e->host, e->port);
}

static void unix_address(const struct endpoint *e, struct sockaddr_storage *address,
                         socklen_t *len)
{
    struct sockaddr_un *un = (void *)address;

    un->sun_family = AF_UNIX;
    snprintf(un->sun_path, sizeof(un->sun_path), "%s", e->path);
    *len = (socklen_t)sizeof(*un);
    if (e->path[0] == '@') {
        un->sun_path[0] = '\0';
        *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(e->path));
    }
}

/* IPv4 first: that is where servers that bind 127.0.0.1 are reached by "localhost". */
const struct addrinfo *endpoint_preferred(const struct addrinfo *list)
{
    assert(list);
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        if (a->ai_family == AF_INET)
            return a;
    return list;
}

static bool is_localhost(const char *host)
{
    static const char name[] = "localhost";
    size_t len = strlen(host), own = sizeof(name) - 1;

    return len >= own && strcasecmp(host + len - own, name) == 0 &&
           (len == own || host[len - own - 1] == '.');
}

int endpoint_look_up(const struct endpoint *e, struct addrinfo **list, struct fail *fail)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_flags = AI_NUMERICSERV};
    char port[8];
    int err;

    hints.ai_socktype = e->kind == ENDPOINT_UDP ? SOCK_DGRAM : SOCK_STREAM;
    snprintf(port, sizeof(port), "%u", e->port);
    *list = NULL;
    err = getaddrinfo(e->host, port, &hints, list);
    if (!err && *list)
        return 0;
    /* Without a host it gives the addresses of the loopback. */
    if (is_localhost(e->host) && getaddrinfo(NULL, port, &hints, list) == 0 && *list)
        return 1;
    return fail_usage(fail, "address", "the host \"%s\" is not known: %s", e->host,
                      gai_strerror(err));
}

int endpoint_address(const struct endpoint *e, struct sockaddr_storage *address,
                     socklen_t *len, struct fail *fail)
{
    const struct addrinfo *found;
    struct addrinfo *list;
    int err;

    memset(address, 0, sizeof(*address));
    if (endpoint_form(e->kind) == ENDPOINT_FIFO_PATH)
        return fail_usage(fail, "address", "a named pipe has no socket address");
    if (endpoint_form(e->kind) == ENDPOINT_SOCKET_PATH) {
        unix_address(e, address, len);
        return 0;
    }
    err = endpoint_look_up(e, &list, fail);
    if (err < 0)
        return err;
    found = endpoint_preferred(list);
    memcpy(address, found->ai_addr, found->ai_addrlen);
    *len = found->ai_addrlen;
    freeaddrinfo(list);
    return 0;
}

static bool is_loopback6(const struct in6_addr *a)
{
    if (IN6_IS_ADDR_V4MAPPED(a))
        return a->s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(a);
}

bool endpoint_is_loopback(const struct endpoint *e,
                          const struct sockaddr_storage *address)
{
    const struct sockaddr_in *in = (const void *)address;
    const struct sockaddr_in6 *in6 = (const void *)address;

    if (!endpoint_has_port(e->kind))
        return true;
    if (address->ss_family == AF_INET)
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    return address->ss_family == AF_INET6 && is_loopback6(&in6->sin6_addr);
}

void endpoint_remove(const struct endpoint *e)
{
    enum endpoint_form form = endpoint_form(e->kind);

    if (form == ENDPOINT_HOST_PORT || e->path[0] == '@')
        return;
    if (form == ENDPOINT_SOCKET_PATH)
        socket_path_clear(e->path, NULL);
    else if (socket_path_clear_fifo(e->path, NULL) == 0)
        socket_path_clear_pairs(e->path);
    socket_path_leave(e->path);
}

void endpoint_from_address(struct endpoint *e, enum endpoint_kind kind,
                           const struct sockaddr_storage *address)
{
    const struct sockaddr_in *in = (const void *)address;
    const struct sockaddr_in6 *in6 = (const void *)address;

    memset(e, 0, sizeof(*e));
    e->kind = kind;
    if (address->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &in6->sin6_addr, e->host, sizeof(e->host));
        e->port = ntohs(in6->sin6_port);
    } else {
        inet_ntop(AF_INET, &in->sin_addr, e->host, sizeof(e->host));
        e->port = ntohs(in->sin_port);
    }
}
