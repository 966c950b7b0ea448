#include "protocols/http/http_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/http/url.h"
#include "protocols/topper_client.h"

#define BODY_MAX (1024ll * 1024 * 1024)
#define CONNECTIONS_MAX 1000000u
#define DEPTH_MAX 1024u
#define SPARE_FILES 64u /* what a process needs besides its connections */

/* Where to go and what to ask for, before it is a request. */
struct resource {
    char authority[128];
    char *path; /* owned */
};

static void authority_of(const struct endpoint *e, char authority[128])
{
    const char *bracket = strchr(e->host, ':') ? "[" : "";

    if (!endpoint_has_port(e->kind))
        snprintf(authority, 128, "localhost");
    else if (e->port == 80)
        snprintf(authority, 128, "%s%s%s", bracket, e->host, *bracket ? "]" : "");
    else
        snprintf(authority, 128, "%s%s%s:%u", bracket, e->host, *bracket ? "]" : "",
                 e->port);
}

/* From the URL: host and port to dial, unless an endpoint is given. */
static int read_url(struct http_plan *p, struct resource *t, const char *text,
                    bool has_endpoint, struct fail *fail)
{
    struct url u;
    int err = url_parse(&u, text, fail);

    if (err)
        return err;
    if (!has_endpoint) {
        p->endpoint.kind = ENDPOINT_TCP;
        p->endpoint.port = u.port;
        snprintf(p->endpoint.host, sizeof(p->endpoint.host), "%s", u.host);
    }
    snprintf(t->authority, sizeof(t->authority), "%s", u.authority);
    t->path = u.target;
    return 0;
}

/* Where to dial: the socket option, or the endpoint. `has` says whether there is one. */
static int read_endpoint(struct http_plan *p, const struct options *o,
                         const char *endpoint, bool *has, struct fail *fail)
{
    const char *socket_path = options_text(o, OPTION_socket_path, "");
    char unix_endpoint[sizeof("unix:") + sizeof(p->endpoint.path)];

    if (*socket_path) {
        if (strlen(socket_path) >= sizeof(p->endpoint.path))
            return fail_usage(
                fail, "socket",
                "--socket-path has %zu bytes; the path of a Unix socket has "
                "at most %zu",
                strlen(socket_path), sizeof(p->endpoint.path) - 1);
        snprintf(unix_endpoint, sizeof(unix_endpoint), "unix:%s", socket_path);
        endpoint = unix_endpoint;
    }
    *has = endpoint && *endpoint;
    if (*has && endpoint_parse_target(&p->endpoint, endpoint, fail) < 0)
        return -EINVAL;
    if (*has && p->endpoint.kind != ENDPOINT_TCP && p->endpoint.kind != ENDPOINT_UNIX)
        return fail_usage(fail, "target",
                          "requests go over TCP or a Unix socket, not to %s", endpoint);
    return 0;
}

static int read_target(struct http_plan *p, struct resource *t, const struct options *o,
                       const char *endpoint, struct fail *fail)
{
    const char *url = options_text(o, OPTION_url, "");
    bool has_endpoint;
    int err = read_endpoint(p, o, endpoint, &has_endpoint, fail);

    if (err)
        return err;
    if (*url)
        return read_url(p, t, url, has_endpoint, fail);
    if (!has_endpoint)
        return fail_usage(fail, "url", "there is no URL to send requests to");
    authority_of(&p->endpoint, t->authority);
    return url_target(&t->path, options_text(o, OPTION_path, "/"), fail);
}

/* The bytes of a file that was opened as fd; NULL with a sentence. */
static char *read_all(int fd, const char *path, size_t *len, struct fail *fail)
{
    struct stat st;
    char *bytes;
    ssize_t n = 1;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > BODY_MAX) {
        fail_usage(fail, "input", "--input %.200s is not a regular file of at most 1 GiB",
                   path);
        return NULL;
    }
    bytes = malloc((size_t)st.st_size + 1);
    for (*len = 0; bytes && n != 0 && *len < (size_t)st.st_size;) {
        n = read(fd, bytes + *len, (size_t)st.st_size - *len);
        if (n > 0)
            *len += (size_t)n;
        else if (n < 0 && errno != EINTR)
            break;
    }
    if (bytes && n >= 0)
        return bytes;
    fail_set(fail, bytes ? errno : ENOMEM, "input", "--input %.200s cannot be read",
             path);
    free(bytes);
    return NULL;
}

static int read_body_file(const char *path, char **bytes, size_t *len, struct fail *fail)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_usage(fail, "input", "--input %.200s cannot be opened: %s", path,
                          strerror(errno));
    *bytes = read_all(fd, path, len, fail);
    close(fd);
    return *bytes ? 0 : -(fail && fail->err ? fail->err : EIO);
}

static int build(struct http_plan *p, const struct options *o, const struct resource *t,
                 const struct headers *headers, struct fail *fail)
{
    const char *input = options_text(o, OPTION_input, NULL);
    struct http_request_args args = {
        .method = options_text(o, OPTION_method, "GET"),
        .target = t->path,
        .authority = t->authority,
        .headers = headers,
        .body = options_text(o, OPTION_body, NULL),
        .close = options_number(o, OPTION_close, 0) != 0,
    };
    char *bytes = NULL;
    int err = 0;

    if (args.body && !*args.body)
        args.body = NULL;
    if (args.body && input && *input)
        return fail_usage(fail, "body",
                          "there are two bodies: give --body or --input, not both");
    args.body_len = args.body ? strlen(args.body) : 0;
    if (input && *input) {
        err = read_body_file(input, &bytes, &args.body_len, fail);
        args.body = bytes;
    }
    if (!err)
        err = http_request_build(&p->request, &args, fail);
    p->is_head = strcmp(args.method, "HEAD") == 0;
    p->no_type = args.body && !headers_get(headers, "Content-Type");
    free(bytes);
    return err;
}

static int build_request(struct http_plan *p, const struct options *o,
                         const struct resource *t, struct fail *fail)
{
    struct headers headers = {0};
    int err = headers_add_lines(&headers, options_text(o, OPTION_headers, ""), fail);

    if (!err)
        err = build(p, o, t, &headers, fail);
    headers_done(&headers);
    return err;
}

/*
 * Whether an address is this machine's own: only to such a one can a socket be bound.
 */
static bool is_own(const struct sockaddr_storage *address, socklen_t len)
{
    struct sockaddr_storage any_port = *address;
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool own;

    /* The port has the same place in sockaddr_in and sockaddr_in6. */
    memset((char *)&any_port + 2, 0, 2);
    own = fd >= 0 && bind(fd, (const struct sockaddr *)&any_port, len) == 0;
    if (fd >= 0)
        close(fd);
    return own;
}

static int resolve(struct http_plan *p, const struct options *o, struct fail *fail)
{
    int err = endpoint_address(&p->endpoint, &p->address, &p->address_len, fail);

    if (err)
        return err;
    if (options_number(o, OPTION_remote_target, 0) ||
        endpoint_is_loopback(&p->endpoint, &p->address) ||
        is_own(&p->address, p->address_len))
        return 0;
    return fail_usage(fail, "target",
                      "%s is not an address of this machine; load can harm a server, so "
                      "sending it elsewhere needs --remote-target",
                      p->endpoint.host);
}

static int read_numbers(struct http_plan *p, const struct options *o, struct fail *fail)
{
    uint64_t connections = options_number(o, OPTION_connections, 1);
    uint64_t depth = options_number(o, OPTION_pipelining, 1);
    uint64_t per_connection = options_number(o, OPTION_connection_rate, 0);

    if (connections < 1 || connections > CONNECTIONS_MAX)
        return fail_usage(fail, "connections", "--connections must be 1 to %u",
                          CONNECTIONS_MAX);
    if (per_connection && options_number(o, OPTION_rate, 0))
        return fail_usage(fail, "rate",
                          "--rate and --connection-rate are two rates of one load: give "
                          "one of them");
    if (depth < 1 || depth > DEPTH_MAX)
        return fail_usage(fail, "pipelining", "--pipelining must be 1 to %u", DEPTH_MAX);
    p->connections = (unsigned)connections;
    /* Behind a request that closes the connection nothing can follow. */
    p->depth = p->request.close ? 1 : (unsigned)depth;
    p->amount = options_number(o, OPTION_amount, 0);
    if (p->amount == 0)
        p->amount = UINT64_MAX;
    p->duration_ns = options_number(o, OPTION_duration, 0);
    p->warmup_ns = options_number(o, OPTION_warmup, 0);
    p->timeout_ns = options_number(o, OPTION_timeout, 10 * NS_PER_S);
    p->drain_ns = options_number(o, OPTION_drain, NS_PER_S);
    p->rate =
        per_connection ? per_connection * connections : options_number(o, OPTION_rate, 0);
    p->rate_per_ns =
        per_connection ? NS_PER_S : options_number(o, OPTION_rate_per, NS_PER_S);
    p->is_per_connection = per_connection > 0;
    if (p->timeout_ns == 0 || p->rate_per_ns == 0)
        return fail_usage(fail, "timeout", "timeout and rate_per must not be 0");
    return 0;
}

/* What follows when the request is built, for both protocols. */
static int read_rest(struct http_plan *p, const struct options *o, struct fail *fail)
{
    int err = read_numbers(p, o, fail);

    if (!err)
        err = resolve(p, o, fail);
    if (!err)
        err = stream_setup_init(&p->setup, transport_of(p->endpoint.kind), o, fail);
    if (err)
        http_plan_done(p);
    return err;
}

int http_plan_read(struct http_plan *p, const struct options *o, const char *endpoint,
                   struct fail *fail)
{
    struct resource t = {.path = NULL};
    int err;

    memset(p, 0, sizeof(*p));
    err = read_target(p, &t, o, endpoint, fail);
    if (!err)
        err = build_request(p, o, &t, fail);
    free(t.path);
    return err ? err : read_rest(p, o, fail);
}

/* A message with a line end, whatever its payload: a line is answered with a line. */
static char *topper_line_of(const char *task, const char *payload, struct fail *fail)
{
    char *message = topper_message(task, payload, fail);
    size_t len = message ? strlen(message) : 0;
    char *line;

    if (!message || message[len - 1] == '\n')
        return message;
    line = realloc(message, len + 2);
    if (!line) {
        free(message);
        fail_set(fail, ENOMEM, "request", "no memory for the message");
        return NULL;
    }
    memcpy(line + len, "\n", 2);
    return line;
}

int http_plan_read_topper(struct http_plan *p, const struct options *o,
                          const char *endpoint, struct fail *fail)
{
    const char *payload = options_text(o, OPTION_body, "");
    bool has_endpoint;
    int err;

    memset(p, 0, sizeof(*p));
    p->is_text = true;
    err = read_endpoint(p, o, endpoint, &has_endpoint, fail);
    if (!err && !has_endpoint)
        err = fail_usage(fail, "target", "there is no server to send messages to");
    if (err)
        return err;
    p->request.bytes = topper_line_of(options_text(o, OPTION_call, "Sum"),
                                      *payload ? payload : NULL, fail);
    if (!p->request.bytes)
        return -EINVAL;
    p->request.len = strlen(p->request.bytes);
    p->request.close = options_number(o, OPTION_close, 0) != 0;
    return read_rest(p, o, fail);
}

void http_plan_done(struct http_plan *p)
{
    http_request_done(&p->request);
}

int http_plan_open_files(unsigned connections, struct fail *fail)
{
    rlim_t need = (rlim_t)connections + SPARE_FILES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
        return 0;
    if (limit.rlim_max >= need) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
            return 0;
    }
    return fail_set(fail, EMFILE, "open files",
                    "%u connections need %llu open files, and the limit is %llu; use "
                    "fewer connections, several workers, or raise it (ulimit -n)",
                    connections, (unsigned long long)need,
                    (unsigned long long)limit.rlim_max);
}
