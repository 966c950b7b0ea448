#include "protocols/topper_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <event2/event.h>

#include "protocols/buffer.h"
#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/event.h"
#include "protocols/resolve.h"
#include "protocols/sum.h"

#define READ_BYTES 4096u

struct topper_line {
    struct event_base *base;
    struct sockaddr_storage address;
    socklen_t address_len;
    enum topper_reply_end end;
    int fd;
    struct event *readable, *writable; /* NULL while closed */
    struct event *timer;               /* the timeout, and the silence */
    bool is_used;

    topper_replied *replied; /* NULL while nothing is under way */
    void *arg;
    char *out; /* the message; owned */
    size_t out_len, out_at;
    char *in; /* the reply so far; owned */
    size_t in_len, in_size;
    uint64_t deadline_ns;
    uint64_t replied_ns;
    int failure; /* came at once, and is to be reported from the loop */
};

static void close_line(struct topper_line *l)
{
    event_drop(l->readable);
    event_drop(l->writable);
    l->readable = NULL;
    l->writable = NULL;
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    l->is_used = false;
}

/* The message is over. Nothing of the line is touched after the call. */
static void finish(struct topper_line *l, int err)
{
    topper_replied *replied = l->replied;
    char *text = l->in;
    size_t len = l->in_len;

    evtimer_del(l->timer);
    if (err)
        close_line(l);
    else
        l->is_used = l->fd >= 0;
    free(l->out);
    l->out = NULL;
    l->replied = NULL;
    l->in = NULL;
    l->in_len = 0;
    l->in_size = 0;
    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    replied(l->arg, err, err ? "" : text, err ? 0 : len);
    free(text);
}

static void arm(struct topper_line *l, uint64_t at_ns)
{
    uint64_t now = now_ns();
    struct timeval wait = timeval_from_ns(at_ns > now ? at_ns - now : 0);

    evtimer_add(l->timer, &wait);
}

/* Silence after some of the reply is its end; before it, the time is over. */
static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct topper_line *l = arg;
    bool is_reply = l->in_len > 0 && l->end == TOPPER_AT_SILENCE;

    (void)fd;
    (void)what;
    if (l->failure)
        finish(l, l->failure);
    else
        finish(l, is_reply ? 0 : -ETIMEDOUT);
}

/* What follows the first line belongs to no later message: the line is not used again. */
static void take_line(struct topper_line *l, const char *line_end)
{
    size_t len = (size_t)(line_end - l->in) + 1;

    if (len < l->in_len)
        close_line(l);
    l->in_len = len;
    finish(l, 0);
}

static void take(struct topper_line *l, size_t n)
{
    const char *line_end = memchr(l->in + l->in_len, '\n', n);
    uint64_t quiet_ns;

    l->replied_ns = now_ns();
    quiet_ns = l->replied_ns + TOPPER_REPLY_QUIET_NS;
    l->in_len += n;
    if (line_end && l->end == TOPPER_AT_LINE_END)
        take_line(l, line_end);
    else if (l->in_len > TOPPER_REPLY_MAX)
        finish(l, -EMSGSIZE);
    else if (l->end == TOPPER_AT_SILENCE)
        arm(l, quiet_ns < l->deadline_ns ? quiet_ns : l->deadline_ns);
}

/* The server has closed: that ends a reply, and is an error without one. */
static void ended(struct topper_line *l, int err)
{
    bool is_reply = l->in_len > 0 && err == 0;

    close_line(l);
    if (l->replied)
        finish(l, is_reply ? 0 : err ? err : -ECONNRESET);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct topper_line *l = arg;
    ssize_t n;

    (void)what;
    if (buffer_reserve(&l->in, &l->in_size, l->in_len + READ_BYTES) < 0) {
        ended(l, -ENOMEM);
        return;
    }
    n = read((int)fd, l->in + l->in_len, l->in_size - l->in_len);
    if (n > 0 && l->replied)
        take(l, (size_t)n);
    else if (n >= 0)
        ended(l, 0); /* or it said something that nobody asked for */
    else if (errno != EAGAIN && errno != EINTR)
        ended(l, -errno);
}

static void send_rest(struct topper_line *l)
{
    while (l->out_at < l->out_len) {
        ssize_t n = send(l->fd, l->out + l->out_at, l->out_len - l->out_at, MSG_NOSIGNAL);

        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            event_add(l->writable, NULL);
            return;
        }
        if (n < 0) {
            ended(l, -errno);
            return;
        }
        l->out_at += (size_t)n;
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct topper_line *l = arg;
    socklen_t len = sizeof(int);
    int err = 0;

    (void)what;
    if (getsockopt((int)fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
        err = errno;
    if (err)
        ended(l, -err);
    else
        send_rest(l);
}

static int connect_line(struct topper_line *l)
{
    l->fd = socket(l->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0)
        return -errno;
    l->readable = event_new(l->base, l->fd, EV_READ | EV_PERSIST, on_readable, l);
    l->writable = event_new(l->base, l->fd, EV_WRITE, on_writable, l);
    if (!l->readable || !l->writable || event_add(l->readable, NULL) < 0)
        return -ENOMEM;
    if (connect(l->fd, (const struct sockaddr *)&l->address, l->address_len) < 0 &&
        errno != EINPROGRESS && errno != EINTR)
        return -errno;
    return 0;
}

struct topper_line *topper_line_new(struct event_base *base,
                                    const struct sockaddr_storage *address, socklen_t len,
                                    enum topper_reply_end end)
{
    struct topper_line *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->base = base;
    l->address = *address;
    l->address_len = len;
    l->end = end;
    l->fd = -1;
    l->timer = evtimer_new(base, on_timer, l);
    if (l->timer)
        return l;
    free(l);
    return NULL;
}

void topper_line_free(struct topper_line *l)
{
    if (!l)
        return;
    close_line(l);
    event_free(l->timer);
    free(l->out);
    free(l->in);
    free(l);
}

bool topper_line_is_used(const struct topper_line *l)
{
    return l->is_used;
}

uint64_t topper_line_replied_ns(const struct topper_line *l)
{
    return l->replied_ns;
}

int topper_line_ask(struct topper_line *l, const char *message, size_t len,
                    uint64_t timeout_ns, topper_replied *replied, void *arg)
{
    int err;

    l->out = malloc(len ? len : 1);
    if (!l->out)
        return -ENOMEM;
    memcpy(l->out, message, len);
    l->out_len = len;
    l->out_at = 0;
    l->replied = replied;
    l->arg = arg;
    l->deadline_ns = now_ns() + timeout_ns;
    err = l->fd < 0 ? connect_line(l) : 0;
    l->failure = err;
    if (err) {
        close_line(l);
        event_active(l->timer, EV_TIMEOUT, 0);
        return 0;
    }
    arm(l, l->deadline_ns);
    /* On loopback the connection stands already; a refusal is seen by the send too. */
    event_active(l->writable, EV_WRITE, 0);
    return 0;
}

/* A call to several servers. */

struct call {
    struct event_base *base;
    struct topper_line *line;
    struct topper_result *result;
    uint64_t begun_ns;
    size_t *waiting; /* calls without an answer */
};

static bool is_json_container(const cJSON *json)
{
    return cJSON_IsObject(json) || cJSON_IsArray(json);
}

/* "TASK payload", "TASK" or "payload", and then the ending. */
static char *join(const char *task, const char *payload, const char *ending)
{
    size_t size = strlen(task) + strlen(payload) + strlen(ending) + 2;
    char *text = malloc(size);

    if (text)
        snprintf(text, size, "%s%s%s%s", task, *task && *payload ? " " : "", payload,
                 ending);
    return text;
}

char *topper_message(const char *task, const char *payload, struct fail *fail)
{
    cJSON *json = payload ? sum_parse(payload, strlen(payload)) : NULL;
    char *compact = json ? sum_compact(payload, strlen(payload)) : NULL;
    char *text = NULL;

    if (task && (!*task || strpbrk(task, " \t\r\n")))
        fail_usage(fail, "task", "the task '%.40s' is not one word", task);
    else if (payload && !json && strpbrk(payload, "\r\n"))
        fail_usage(fail, "payload",
                   "a payload that is not JSON cannot have several lines");
    else if (is_json_container(json) && compact)
        text = join(task ? task : "", compact, "");
    else
        text = join(task ? task : "", payload ? payload : "", "\n");
    if (!text)
        fail_set(fail, ENOMEM, "call", "no memory for the message");
    free(compact);
    cJSON_Delete(json);
    return text;
}

static void on_replied(void *arg, int err, const char *text, size_t len)
{
    struct call *c = arg;

    c->result->err = err;
    c->result->elapsed_ns =
        (err ? now_ns() : topper_line_replied_ns(c->line)) - c->begun_ns;
    c->result->reply = strndup(text, len);
    if (!c->result->reply)
        c->result->err = -ENOMEM;
    if (--*c->waiting == 0)
        event_base_loopbreak(c->base);
}

/* "HOST:PORT" is short for "tcp:HOST:PORT". */
static int server_address(const char *server, struct sockaddr_storage *address,
                          socklen_t *len, struct fail *fail)
{
    struct endpoint e;
    char text[256];
    bool is_endpoint =
        strncmp(server, "tcp:", 4) == 0 || strncmp(server, "unix:", 5) == 0;

    snprintf(text, sizeof(text), "%s%s", is_endpoint ? "" : "tcp:", server);
    if (endpoint_parse_target(&e, text, fail) < 0)
        return -EINVAL;
    return resolve_address(&e, address, len, fail);
}

static int begin(struct call *c, const char *server, const char *message,
                 uint64_t timeout_ns, struct fail *fail)
{
    struct sockaddr_storage address;
    socklen_t len;
    int err = server_address(server, &address, &len, fail);

    if (err)
        return err;
    c->line = topper_line_new(c->base, &address, len, TOPPER_AT_SILENCE);
    c->begun_ns = now_ns();
    if (!c->line ||
        topper_line_ask(c->line, message, strlen(message), timeout_ns, on_replied, c) < 0)
        return fail_set(fail, ENOMEM, "call", "no memory for a call");
    ++*c->waiting;
    return 0;
}

int topper_call(const char *const *servers, size_t count, const char *task,
                const char *payload, uint64_t timeout_ns, struct topper_result *results,
                struct fail *fail)
{
    char *message = topper_message(task, payload, fail);
    struct event_base *base = message ? event_base_new() : NULL;
    struct call *calls = calloc(count ? count : 1, sizeof(*calls));
    size_t waiting = 0;
    int err = message ? 0 : -EINVAL;

    memset(results, 0, count * sizeof(*results));
    if (!err && (!base || !calls))
        err = fail_set(fail, ENOMEM, "call", "no memory for the calls");
    for (size_t i = 0; i < count && !err; i++) {
        calls[i] =
            (struct call){.base = base, .result = &results[i], .waiting = &waiting};
        err = begin(&calls[i], servers[i], message, timeout_ns, fail);
    }
    if (!err && waiting)
        event_base_dispatch(base);
    for (size_t i = 0; i < count && calls; i++)
        topper_line_free(calls[i].line);
    free(calls);
    free(message);
    if (base)
        event_base_free(base);
    return err;
}

void topper_results_done(struct topper_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(results[i].reply);
    memset(results, 0, count * sizeof(*results));
}
