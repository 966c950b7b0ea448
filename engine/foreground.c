#include "engine/foreground.h"

#include <errno.h>
#include <event2/event.h>

#include "protocols/event.h"

#define TICK_MS 200

static void on_signal(void *arg)
{
    struct foreground *f = arg;

    f->interrupted = true;
    if (f->run)
        run_stop(f->run);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    const struct foreground *f = arg;

    (void)fd;
    (void)what;
    f->show(f->arg, f->run);
}

int foreground_init(struct foreground *f)
{
    f->base = event_base_new();
    if (f->base)
        f->tick = event_new(f->base, -1, EV_PERSIST, on_tick, f);
    return f->tick ? signals_catch(&f->signals, f->base, on_signal, f) : -ENOMEM;
}

/* A replay has no processes, and nothing to stop. */
static bool is_over(const struct foreground *f)
{
    return f->run->state == RUN_DONE || (f->interrupted && !f->run->private);
}

void foreground_wait(struct foreground *f, struct run *run)
{
    struct timeval tick = {0, TICK_MS * 1000};

    f->run = run;
    if (f->show)
        event_add(f->tick, &tick);
    while (!is_over(f) && event_base_loop(f->base, EVLOOP_ONCE) == 0)
        ;
    event_del(f->tick);
    if (f->show)
        f->show(f->arg, NULL);
    f->run = NULL;
}

void foreground_done(struct foreground *f)
{
    signals_hold(&f->signals);
    event_drop(f->tick);
    if (f->base)
        event_base_free(f->base);
}
