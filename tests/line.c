#include "tests/line.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/endpoint.h"
#include "tests/pair.h"

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct line *l = arg;
    ssize_t n = read((int)fd, l->in + l->len, sizeof(l->in) - 1 - l->len);

    (void)what;
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        l->ended = true;
        event_del(l->readable);
    } else {
        l->len += (size_t)n;
        l->in[l->len] = '\0';
    }
    l->found = l->wanted ? strstr(l->in, l->wanted) != NULL : l->ended;
    if (l->found)
        event_base_loopbreak(l->base);
}

struct line *line_open(struct event_base *base, const char *endpoint)
{
    struct line *l = calloc(1, sizeof(*l));
    struct sockaddr_storage address;
    struct endpoint e;
    socklen_t len;

    l->base = base;
    assert_int_equal(endpoint_parse(&e, endpoint, NULL), 0);
    assert_int_equal(endpoint_address(&e, &address, &len, NULL), 0);
    l->fd = socket(address.ss_family, SOCK_STREAM, 0);
    assert_int_equal(connect(l->fd, (struct sockaddr *)&address, len), 0);
    fcntl(l->fd, F_SETFL, O_NONBLOCK);
    l->readable = event_new(base, l->fd, EV_READ | EV_PERSIST, on_readable, l);
    event_add(l->readable, NULL);
    return l;
}

/* All of it; the other side, in the same loop, reads what the kernel does not hold. */
void line_say(struct line *l, const char *text)
{
    assert_true(pair_write(l->base, l->fd, text, strlen(text)));
}

void line_expect(struct line *l, const char *text)
{
    l->wanted = text;
    l->found = text ? strstr(l->in, text) != NULL : l->ended;
    if (!pair_turn(l->base, &l->found, 5000))
        fail_msg("expected '%s', got '%s'", text ? text : "the end", l->in);
}

void line_expect_exactly(struct line *l, const char *text)
{
    line_expect(l, text);
    assert_string_equal(l->in, text);
    l->len = 0;
    l->in[0] = '\0';
}

void line_close(struct line *l)
{
    event_free(l->readable);
    close(l->fd);
    free(l);
}
