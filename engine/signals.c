#include "engine/signals.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>

#include "protocols/array.h"
#include "protocols/event.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

#define NUMBERS (NUMBER_OF(numbers))

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    const struct signals *s = arg;

    (void)number;
    (void)what;
    s->caught(s->arg);
}

static bool is_ignored(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

int signals_catch(struct signals *s, struct event_base *base, void (*caught)(void *arg),
                  void *arg)
{
    s->caught = caught;
    s->arg = arg;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers[i] == SIGHUP && is_ignored(SIGHUP))
            continue;
        s->events[i] = evsignal_new(base, numbers[i], on_signal, s);
        if (!s->events[i] || event_add(s->events[i], NULL) < 0)
            return -ENOMEM;
    }
    return 0;
}

void signals_hold(struct signals *s)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < NUMBERS; i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < NUMBERS; i++) {
        event_drop(s->events[i]);
        s->events[i] = NULL;
    }
}
