#include "engine/channel.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/json.h"
#include "protocols/clock.h"
#include "protocols/event.h"

struct channel {
    int read_fd, write_fd;
    const struct channel_ops *ops; /* borrowed */
    void *arg;                     /* borrowed */
    struct event *readable, *writable;
    struct evbuffer *in, *out;
    size_t searched; /* bytes of `in` that hold no end of a line */
    bool busy;       /* a callback is running */
    bool doomed;     /* freed from within a callback */
    bool finishing;  /* close the writing side when `out` is empty */
};

static void destroy(struct channel *c)
{
    event_drop(c->readable);
    event_drop(c->writable);
    if (c->in)
        evbuffer_free(c->in);
    if (c->out)
        evbuffer_free(c->out);
    if (c->read_fd >= 0)
        close(c->read_fd);
    if (c->write_fd >= 0 && c->write_fd != c->read_fd)
        close(c->write_fd);
    free(c);
}

void channel_free(struct channel *c)
{
    if (!c)
        return;
    if (c->busy)
        c->doomed = true;
    else
        destroy(c);
}

static void end(struct channel *c, int err)
{
    event_del(c->readable);
    c->ops->closed(c->arg, err);
}

static void deliver(struct channel *c, const char *line)
{
    /* Nothing may follow the object: it would be something else's output. */
    cJSON *object = json_parse(line, strlen(line));

    if (object && !cJSON_IsObject(object)) {
        cJSON_Delete(object);
        object = NULL;
    }
    c->ops->message(c->arg, object, line);
    cJSON_Delete(object);
}

/* The next whole line, NULL when there is none. What was searched is not again. */
static char *next_line(struct channel *c)
{
    struct evbuffer_ptr from;

    if (evbuffer_ptr_set(c->in, &from, c->searched, EVBUFFER_PTR_SET) < 0 ||
        evbuffer_search_eol(c->in, &from, NULL, EVBUFFER_EOL_LF).pos < 0) {
        c->searched = evbuffer_get_length(c->in);
        return NULL;
    }
    c->searched = 0;
    return evbuffer_readln(c->in, NULL, EVBUFFER_EOL_LF);
}

static void deliver_lines(struct channel *c)
{
    char *line;

    while (!c->doomed && (line = next_line(c))) {
        deliver(c, line);
        free(line);
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct channel *c = arg;
    int n = evbuffer_read(c->in, fd, 1 << 18);
    int err = n < 0 ? errno : 0;

    (void)what;
    if (n < 0 && (err == EAGAIN || err == EINTR))
        return;
    c->busy = true;
    if (n > 0) {
        deliver_lines(c);
        if (!c->doomed && evbuffer_get_length(c->in) > CHANNEL_LINE_MAX)
            end(c, EMSGSIZE);
    } else {
        end(c, err);
    }
    c->busy = false;
    if (c->doomed)
        destroy(c);
}

static void close_write_side(struct channel *c)
{
    if (c->write_fd < 0)
        return;
    event_del(c->writable);
    if (c->write_fd == c->read_fd) {
        shutdown(c->write_fd, SHUT_WR);
        return; /* the reader still needs the descriptor */
    }
    close(c->write_fd);
    c->write_fd = -1;
}

static void write_out(struct channel *c)
{
    while (evbuffer_get_length(c->out)) {
        int n = evbuffer_write(c->out, c->write_fd);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            event_add(c->writable, NULL);
            return;
        }
        if (n <= 0) {
            /* The reader is gone; end of input will say so on the other side. */
            evbuffer_drain(c->out, evbuffer_get_length(c->out));
            break;
        }
    }
    if (c->finishing)
        close_write_side(c);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    write_out(arg);
}

static int set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return 0;
}

struct channel *channel_new(struct event_base *base, int read_fd, int write_fd,
                            const struct channel_ops *ops, void *arg)
{
    struct channel *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->read_fd = read_fd;
    c->write_fd = write_fd;
    c->ops = ops;
    c->arg = arg;
    c->in = evbuffer_new();
    c->out = evbuffer_new();
    c->readable = event_new(base, read_fd, EV_READ | EV_PERSIST, on_readable, c);
    c->writable = event_new(base, write_fd, EV_WRITE, on_writable, c);
    if (c->in && c->out && c->readable && c->writable && set_nonblocking(write_fd) == 0 &&
        set_nonblocking(read_fd) == 0 && event_add(c->readable, NULL) == 0)
        return c;
    c->read_fd = c->write_fd = -1;
    destroy(c);
    return NULL;
}

int channel_send(struct channel *c, cJSON *object)
{
    char *text = object ? cJSON_PrintUnformatted(object) : NULL;
    int rc = text ? 0 : -ENOMEM;

    cJSON_Delete(object);
    if (text && (c->write_fd < 0 || c->finishing))
        rc = -EPIPE;
    if (rc == 0 && (evbuffer_add(c->out, text, strlen(text)) < 0 ||
                    evbuffer_add(c->out, "\n", 1) < 0))
        rc = -ENOMEM;
    if (rc == 0)
        write_out(c);
    cJSON_free(text);
    return rc;
}

size_t channel_pending(const struct channel *c)
{
    return evbuffer_get_length(c->out);
}

void channel_flush(struct channel *c, int timeout_ms)
{
    uint64_t until_ns = now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
    struct pollfd p = {.fd = c->write_fd, .events = POLLOUT};

    for (uint64_t now = now_ns(); channel_pending(c) && now < until_ns; now = now_ns()) {
        if (poll(&p, 1, (int)((until_ns - now) / NS_PER_MS)) <= 0 || p.revents & POLLERR)
            return;
        write_out(c);
    }
}

void channel_finish(struct channel *c)
{
    c->finishing = true;
    if (!channel_pending(c))
        close_write_side(c);
}
