#include "protocols/acceptor.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "protocols/clock.h"
#include "protocols/event.h"

#define ACCEPTS_PER_CALL 64 /* then the loop turns, so that open clients are served */
#define PAUSE_NS (10 * NS_PER_MS)

struct acceptor {
    struct flow_env *env; /* borrowed */
    struct listener listener;
    acceptor_accepted accepted;
    void *owner; /* borrowed */
    struct event *ready;
    struct event *again;
    unsigned open;
    char exhausted[160];
};

static bool out_of_descriptors(int err)
{
    return err == -EMFILE || err == -ENFILE || err == -ENOBUFS || err == -ENOMEM;
}

static void note_exhausted(struct acceptor *a, int err)
{
    struct rlimit limit = {0};

    if (a->exhausted[0])
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    snprintf(
        a->exhausted, sizeof(a->exhausted),
        "the server ran out of descriptors with %u connections open (%s, limit %llu)",
        a->open, strerrorname_np(-err), (unsigned long long)limit.rlim_cur);
    a->env->note(a->env, "%s", a->exhausted);
}

/* Leave the listener alone for a moment: a level-triggered event would spin. */
static void rest(struct acceptor *a, uint64_t span_ns)
{
    struct timeval span = timeval_from_ns(span_ns);

    event_del(a->ready);
    event_add(a->again, &span);
}

static void take(struct acceptor *a, const struct conn *c)
{
    a->open++;
    a->env->meter->counters.connections++;
    a->env->meter->gauges.open_connections = a->open;
    a->accepted(a->owner, c);
}

static void accept_ready(evutil_socket_t fd, short what, void *arg)
{
    struct acceptor *a = arg;
    const struct transport *t = a->listener.transport;
    struct timeval span;
    struct conn c;

    (void)fd;
    (void)what;
    for (int i = 0; i < ACCEPTS_PER_CALL; i++) {
        int err = t->accept(&a->listener, &c);

        if (err == -EAGAIN)
            break;
        if (!err) {
            take(a, &c);
            continue;
        }
        tally_errno(&a->env->meter->errors, "accept", -err);
        if (out_of_descriptors(err)) {
            note_exhausted(a, err);
            rest(a, PAUSE_NS);
            return;
        }
    }
    if (a->listener.again_ns) {
        span = timeval_from_ns(a->listener.again_ns);
        event_add(a->again, &span);
    }
}

static void accept_again(evutil_socket_t fd, short what, void *arg)
{
    struct acceptor *a = arg;

    event_add(a->ready, NULL);
    accept_ready(fd, what, a);
}

static int open_listener(struct acceptor *a, struct fail *fail)
{
    struct flow_env *env = a->env;
    int err = listener_open(&a->listener, env->options, fail);

    if (err)
        return err;
    a->ready =
        event_new(env->base, a->listener.fd, EV_READ | EV_PERSIST, accept_ready, a);
    a->again = evtimer_new(env->base, accept_again, a);
    if (!a->ready || !a->again || event_add(a->ready, NULL) < 0)
        return fail_set(fail, ENOMEM, "listen", "the listener cannot be watched");
    endpoint_format(&a->listener.bound, env->endpoint, sizeof(env->endpoint));
    if (a->listener.setup.in_force[0])
        env->fact(env, "congestion", a->listener.setup.in_force);
    return 0;
}

int acceptor_new(struct acceptor **out, struct flow_env *env, acceptor_accepted accepted,
                 void *owner, struct fail *fail)
{
    struct acceptor *a = calloc(1, sizeof(*a));
    int err;

    *out = NULL;
    if (!a)
        return fail_set(fail, ENOMEM, "listen", "the server cannot be made");
    a->env = env;
    a->accepted = accepted;
    a->owner = owner;
    a->listener.fd = -1;
    err = open_listener(a, fail);
    if (err)
        acceptor_free(a);
    else
        *out = a;
    return err;
}

void acceptor_free(struct acceptor *a)
{
    if (!a)
        return;
    acceptor_shut(a);
    free(a);
}

const struct transport *acceptor_transport(const struct acceptor *a)
{
    return a->listener.transport;
}

void acceptor_closed(struct acceptor *a)
{
    a->open--;
    a->env->meter->gauges.open_connections = a->open;
}

void acceptor_shut(struct acceptor *a)
{
    event_drop(a->ready);
    event_drop(a->again);
    a->ready = a->again = NULL;
    listener_close(&a->listener);
}

const char *acceptor_exhausted(const struct acceptor *a)
{
    return a->exhausted[0] ? a->exhausted : NULL;
}
