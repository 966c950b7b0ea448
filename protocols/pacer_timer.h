/*
 * Waiting for a pacer's messages in an event loop, precisely and cheaply.
 *
 * The owner has one function that sends what it can, and arms the timer if it could
 * send more; it calls that function to start, from the timer and whenever room comes
 * back (a slot is free, a socket is writable), after a resume and a change of rate:
 *
 *     static void fill(void *arg)
 *     {
 *         struct client *c = arg;
 *         uint64_t intended_ns;
 *
 *         for (int i = 0; i < BATCH && has_room(c); i++) {
 *             if (pacer_take(&c->pacer, now_ns(), &intended_ns, 1) == 0)
 *                 break;
 *             send_one(c, intended_ns);
 *         }
 *         if (has_room(c))
 *             pacer_timer_arm(&c->timer);
 *     }
 *
 * BATCH bounds one go, so that replies are read between two of them while a backlog is
 * worked off. Without room the timer rests and costs nothing.
 *
 * How the waiting is done, with what it costs and gives: a timer alone wakes some 50 us
 * late, so it aims earlier, by what it sees itself being late, and the rest is
 * waited for in the loop without sleeping, where other events go on being served. At
 * more than PACER_TIMER_FINE messages a second that would take a whole core; there the
 * loop wakes at most once in tick_ns, and what has become due is sent together, half a
 * tick late on average. tests/bench_pacer.c prints the lateness and the CPU time.
 *
 * The event base must have precise timers, or every wake-up is 2 to 4 ms late: take it
 * from pacer_timer_base.
 */
#ifndef PROTOCOLS_PACER_TIMER_H
#define PROTOCOLS_PACER_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct event_base;
struct pacer;

#define PACER_TIMER_FINE 5000u /* messages per second */
#define PACER_TIMER_TICK_NS 200000ull

/* Embedded by value. All is private but tick_ns. */
struct pacer_timer {
    /*
     * PACER_TIMER_TICK_NS from pacer_timer_init on. The owner may set it to 0 to have
     * every message sent in its own time at any rate, at the price of a whole core.
     */
    uint64_t tick_ns;

    struct pacer *pacer; /* borrowed: outlives the timer */
    struct event *event;
    void (*ready)(void *arg);
    void *arg;
    uint64_t target_ns; /* when to call ready; 0: not armed */
    uint64_t wake_ns;   /* what the sleep before it aims at; 0: not asleep */
    uint64_t called_ns; /* when ready was called last */
    bool is_ticking;    /* one call a tick, not one a message */
    uint64_t early_ns;  /* how much before the target to wake */
};

/*
 * A new event base with precise timers (EVENT_BASE_FLAG_PRECISE_TIMER), and the
 * process's timer slack as small as it goes (prctl(2), PR_SET_TIMERSLACK). NULL when
 * out of memory or descriptors. To be freed by event_base_free.
 */
struct event_base *pacer_timer_base(void);

/* `ready` is called from the loop, never from within a function here. 0 or -ENOMEM. */
int pacer_timer_init(struct pacer_timer *t, struct event_base *base, struct pacer *pacer,
                     void (*ready)(void *arg), void *arg);
void pacer_timer_done(struct pacer_timer *t);

/*
 * Call `ready` once, when the next message not taken is due; soon if it is due already,
 * after other events had their turn. Never while the pacer is paused: arm again after
 * the resume. Armed already, the timer is set anew; cheap when nothing has changed.
 */
void pacer_timer_arm(struct pacer_timer *t);

/* Do not call `ready` until the timer is armed again. */
void pacer_timer_rest(struct pacer_timer *t);

#endif
