#include "protocols/pacer_timer.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include <event2/event.h>

#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/pacer.h"

#define FINE_GAP_NS (NS_PER_S / PACER_TIMER_FINE)

/* So near the target another turn of the loop (2 to 3 us) could miss it. */
#define SPIN_NS 4000u

/* The bounds of early_ns, and the step of its search. */
#define EARLY_MIN_NS 10000u
#define EARLY_MAX_NS 100000u
#define EARLY_STEP_NS 1000u

struct event_base *pacer_timer_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config && event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
#ifdef PR_SET_TIMERSLACK
    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
#endif
    return base;
}

/*
 * Follow the lateness of the wake-ups so that nine of ten come in time: a late one
 * moves the aim nine steps, one in time a step back. Waiting awake is kept below a
 * quarter of the time between wake-ups.
 */
static void learn(struct pacer_timer *t, uint64_t now_ns)
{
    uint64_t between = t->is_ticking ? t->tick_ns : pacer_gap_ns(t->pacer);
    uint64_t max = EARLY_MAX_NS;

    if (t->tick_ns && between / 4 < max)
        max = between / 4;
    if (now_ns > t->target_ns)
        t->early_ns += 9 * EARLY_STEP_NS;
    else if (t->early_ns >= EARLY_MIN_NS + EARLY_STEP_NS)
        t->early_ns -= EARLY_STEP_NS;
    if (t->early_ns > max)
        t->early_ns = max;
}

/* Sleep until it is time to wait awake, or take a turn of the loop if it is. */
static void wait_on(struct pacer_timer *t, uint64_t now_ns)
{
    struct timeval span = {0};

    t->wake_ns = 0;
    if (t->target_ns > now_ns + t->early_ns) {
        t->wake_ns = t->target_ns - t->early_ns;
        span = timeval_from_ns(t->wake_ns - now_ns);
    }
    event_add(t->event, &span);
}

static void on_timer(evutil_socket_t fd, short events, void *arg)
{
    struct pacer_timer *t = arg;
    uint64_t now = now_ns();

    (void)fd;
    (void)events;
    if (t->wake_ns && now >= t->wake_ns)
        learn(t, now);
    if (now + SPIN_NS < t->target_ns) {
        wait_on(t, now);
        return;
    }
    while (now < t->target_ns)
        now = now_ns();
    t->target_ns = 0;
    t->called_ns = now;
    t->ready(t->arg);
}

int pacer_timer_init(struct pacer_timer *t, struct event_base *base, struct pacer *pacer,
                     void (*ready)(void *arg), void *arg)
{
    memset(t, 0, sizeof(*t));
    t->pacer = pacer;
    t->ready = ready;
    t->arg = arg;
    t->tick_ns = PACER_TIMER_TICK_NS;
    t->early_ns = EARLY_MAX_NS;
    t->event = evtimer_new(base, on_timer, t);
    return t->event ? 0 : -ENOMEM;
}

void pacer_timer_done(struct pacer_timer *t)
{
    event_drop(t->event);
    t->event = NULL;
}

/* A tick after the last call, unless the owner works off a backlog. */
static uint64_t next_tick(const struct pacer_timer *t, uint64_t target, uint64_t now_ns)
{
    uint64_t tick = t->called_ns + t->tick_ns;

    return target >= tick || target + t->tick_ns < now_ns ? target : tick;
}

void pacer_timer_arm(struct pacer_timer *t)
{
    uint64_t target = pacer_next_ns(t->pacer), gap = pacer_gap_ns(t->pacer);
    uint64_t now;

    if (target == UINT64_MAX) {
        pacer_timer_rest(t);
        return;
    }
    now = now_ns();
    t->is_ticking = t->tick_ns > 0 && gap > 0 && gap < FINE_GAP_NS;
    if (t->is_ticking)
        target = next_tick(t, target, now);
    if (target == t->target_ns)
        return;
    t->target_ns = target;
    wait_on(t, now);
}

void pacer_timer_rest(struct pacer_timer *t)
{
    t->target_ns = 0;
    event_del(t->event);
}
