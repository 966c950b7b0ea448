/*
 * The role "udp-client": sends datagrams by one of four strategies.
 *
 * Options
 *   socket         "fresh": a socket made, used once and closed for each message;
 *                  "cached": one socket for all
 *   dispatch       "series": the next message is handed over when the completion of the
 *                  last has been delivered, a turn of the event loop for each;
 * "parallel": all are handed over at once and sent in as few turns and calls as it takes
 *   messages       to send in all (100,000); 0: until the duration is over
 *   duration       ns; 0: until all are sent
 *   rate           messages a second by schedule; 0: as fast as it goes
 *   size           bytes of payload; 0: label and stamp alone
 *   payload        "stamped" or "plain"; label, run_id, sender: what the stamp says
 *   arrivals, arrivals_seed, senders   protocols/schedule.h
 *   window         fresh in parallel: sockets open at once; 0: no limit, so that all
 *                  are opened before the first is used
 *   batch          cached in parallel: the most messages in one sendmmsg(2)
 *   gso            1, cached in parallel: messages in one send that the kernel cuts
 *                  (UDP_SEGMENT), as many as fit
 *   connected      1: connect(2) the socket
 *   resolve        "each": look the name of the target up for every message, by threads
 *                  (protocols/lookups.h)
 *   host           the name for that, if it is not the endpoint's
 *   send_buffer    bytes for SO_SNDBUF; 0: the system's default
 *   full_print     1: the first sender asks the server for its counts when it is over,
 *                  `drain` ns later, so that there is room for the question
 *
 * What is counted
 *   A message is *attempted* when it is handed over, *sent* when the kernel accepted it
 *   and *refused* when the kernel did not, by errno in the tally of errors. A full send
 *   buffer is neither: the message waits until there is room, and is backlog until then.
 *   At the end attempted = sent + refused + unfinished. Sequence numbers are given to
 *   accepted messages only, so a refused one is no gap at the receiver.
 *
 *   METER_HIST_service is the sending call, for each message of a batch the whole call,
 *   and of a fresh socket that is connected its connect(2) as well; METER_HIST_connect
 *   the making of a fresh socket; METER_HIST_lookup a name lookup; METER_HIST_pacing how
 *   much later than scheduled a send began. The clock is read once a call: the end of
 *   one send is the start of the next.
 *
 *   `turns` are turns of the event loop that the sending took, `send_calls` its sending
 *   system calls. In series a message takes a turn, and one more where its name is looked
 *   up.
 *
 * The stamp's time is the intended time where there is a rate, and the start of the send
 * elsewhere.
 *
 * Fact: backlog_peak, the most messages that were handed over and neither accepted nor
 * refused, if more than one.
 *
 * A turn lasts TURN_NS at most; then other events have theirs.
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/schedule.h"
#include "protocols/udp/udp_flow.h"
#include "protocols/udp/udp_fresh.h"
#include "protocols/udp/udp_prepare.h"

#define TURN_NS (2 * NS_PER_MS)
#define DRAIN_NS (200 * NS_PER_MS)

/* Ending. */

static void count_handed(struct flow *f)
{
    f->meter->counters.attempted += f->handed - f->counted_handed;
    f->counted_handed = f->handed;
}

static void ask_full_print(struct flow *f)
{
    int fd = udp_flow_socket(f);

    f->full_print = false;
    if (fd < 0 ||
        sendto(fd, DATAGRAM_FULL_PRINT, strlen(DATAGRAM_FULL_PRINT), MSG_DONTWAIT,
               (const struct sockaddr *)&f->target, f->target_len) < 0)
        f->env->note(f->env, "the server could not be asked for its full print: %s",
                     strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void on_closing(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once;
    struct flow *f = arg;

    (void)fd;
    (void)what;
    if (f->full_print)
        ask_full_print(f);
    if (udp_fresh_close_some(f)) {
        event_add(f->closing, &at_once);
        return;
    }
    f->env->finished(f->env, f->outcome, *f->reason ? f->reason : NULL);
}

static void say_number(struct flow *f, const char *fact, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    f->env->fact(f->env, fact, text);
}

/* A schedule lasts until a message more would be due. */
static uint64_t offered_until_ns(const struct flow *f)
{
    uint64_t now = now_ns(), next_ns = pacer_next_ns(&f->pacer);

    if (now >= f->deadline_ns)
        return f->deadline_ns;
    return f->rate && f->done == f->messages && next_ns > now ? next_ns : now;
}

/* Count what is unfinished, close what is open, and say so. */
static void end_flow(struct flow *f)
{
    if (f->is_over)
        return;
    f->is_over = true;
    if (f->start_ns)
        f->meter->offered = (struct meter_span){f->start_ns, offered_until_ns(f)};
    count_handed(f);
    f->meter->counters.unfinished += f->handed - f->done;
    if (f->waits)
        say_number(f, "send_buffer_full", f->waits);
    if (f->peak > 1)
        say_number(f, "backlog_peak", f->peak);
    lookups_free(f->lookups);
    f->lookups = NULL;
    pacer_timer_rest(&f->timer);
    event_del(f->turn);
    event_del(f->writable);
    event_del(f->deadline);
    if (f->full_print) {
        struct timeval quiet =
            timeval_from_ns(options_number(f->env->options, OPTION_drain, DRAIN_NS));

        f->env->load_end_ns = now_ns();
        event_add(f->closing, &quiet);
    } else {
        on_closing(-1, 0, f);
    }
}

/* Sending. */

/* Take what is due by the schedule; returns up to which message that is. */
static uint64_t take_due(struct flow *f)
{
    size_t have = f->taken - f->taken_at;
    uint64_t left = f->messages - f->done - have;
    size_t max = left < UDP_TAKE_MAX - have ? (size_t)left : UDP_TAKE_MAX - have;

    memmove(f->intended_ns, f->intended_ns + f->taken_at,
            have * sizeof(f->intended_ns[0]));
    f->taken_at = 0;
    f->taken = have + pacer_take(&f->pacer, f->clock_ns, f->intended_ns + have, max);
    return f->done + f->taken;
}

/* Send what may be sent now, as long as the turn lasts. */
static enum step send_some(struct flow *f)
{
    enum step step = STEP_ON;

    while (step == STEP_ON) {
        uint64_t upto = f->rate ? take_due(f) : f->messages;

        if (!udp_flow_goes_on(f, upto))
            break;
        step = f->send(f, upto);
    }
    return step;
}

static void wait_for_room(struct flow *f)
{
    uint64_t left_ns = f->deadline_ns - f->clock_ns;
    struct timeval tv = timeval_from_ns(left_ns < NS_PER_S ? left_ns : NS_PER_S);

    event_add(f->writable, &tv);
}

/* What is due has the next turn of the loop; what is not waits for its time. */
static void go_on(struct flow *f)
{
    static const struct timeval at_once;

    if (!f->rate || f->taken_at < f->taken)
        event_add(f->turn, &at_once);
    else
        pacer_timer_arm(&f->timer);
}

/* One turn of the event loop: send for a while. The arg is the flow. */
static void take_turn(void *arg)
{
    struct flow *f = arg;
    enum step step;

    if (f->is_over || f->is_paused)
        return;
    f->clock_ns = now_ns();
    if (f->clock_ns >= f->deadline_ns) {
        end_flow(f);
        return;
    }
    f->meter->counters.turns++;
    f->turn_end_ns = f->clock_ns + TURN_NS;
    if (f->turn_end_ns > f->deadline_ns)
        f->turn_end_ns = f->deadline_ns;
    f->turn_upto = f->is_parallel ? UINT64_MAX : f->done + 1;
    udp_flow_take_answers(f);
    step = send_some(f);
    count_handed(f);
    if (step == STEP_ENDED || f->done == f->messages)
        end_flow(f);
    else if (step == STEP_FULL)
        wait_for_room(f);
    else if (step == STEP_ON)
        go_on(f);
    else if (f->rate && f->is_parallel) /* what is due next need not await these */
        pacer_timer_arm(&f->timer);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;

    (void)fd;
    if (what & EV_WRITE)
        f->room_ns = now_ns();
    take_turn(f);
}

static void arm_deadline(struct flow *f, uint64_t now)
{
    struct timeval tv;

    if (!f->duration_ns)
        return;
    tv = timeval_from_ns(f->deadline_ns > now ? f->deadline_ns - now : 0);
    event_add(f->deadline, &tv);
}

static void client_start(struct flow *f, uint64_t start_ns)
{
    f->clock_ns = now_ns();
    f->start_ns = start_ns > f->clock_ns ? start_ns : f->clock_ns;
    f->deadline_ns = f->duration_ns ? f->start_ns + f->duration_ns : UINT64_MAX;
    schedule_start(&f->pacer, f->start_ns, f->rate, NS_PER_S, f->env->options);
    arm_deadline(f, f->clock_ns);
    if (f->is_paused) {
        f->paused_ns = f->clock_ns;
        pacer_pause(&f->pacer, f->clock_ns);
    }
    pacer_timer_arm(&f->timer);
}

static int client_set(struct flow *f, enum option option, uint64_t value)
{
    if (option != OPTION_rate)
        return -ENOTSUP;
    if (f->is_over)
        return 0;
    if (!value != !f->rate) /* what was taken by the schedule keeps no intended time */
        f->taken = f->taken_at = 0;
    f->rate = value;
    pacer_set_rate(&f->pacer, value, NS_PER_S, now_ns());
    if (!f->is_paused && f->start_ns)
        pacer_timer_arm(&f->timer);
    return 0;
}

static void client_pause(struct flow *f, bool paused)
{
    uint64_t now = now_ns();

    if (paused == f->is_paused || f->is_over)
        return;
    f->is_paused = paused;
    if (!f->start_ns)
        return;
    if (paused) {
        f->paused_ns = now;
        pacer_pause(&f->pacer, now);
        pacer_timer_rest(&f->timer);
        event_del(f->turn);
        event_del(f->writable);
        event_del(f->deadline);
        return;
    }
    pacer_resume(&f->pacer, now);
    if (f->duration_ns)
        f->deadline_ns += now - f->paused_ns;
    arm_deadline(f, now);
    take_turn(f);
}

static void client_gauge(struct flow *f)
{
    struct meter_gauges *g = &f->meter->gauges;

    g->backlog = f->handed - f->done;
    if (f->rate && !f->is_over)
        g->backlog += pacer_backlog(&f->pacer, now_ns());
    g->open_connections = f->open + (f->fd >= 0);
}

static void client_stop(struct flow *f)
{
    if (f->is_over) { /* and maybe waiting to ask for the full print */
        event_active(f->closing, EV_TIMEOUT, 0);
        return;
    }
    udp_flow_over(f, OUTCOME_STOPPED, NULL);
    end_flow(f);
}

/* The role. */

static int make_events(struct flow *f, struct fail *fail)
{
    struct event_base *base = f->env->base;

    pacer_start(&f->pacer, now_ns(), f->rate, NS_PER_S);
    f->turn = evtimer_new(base, on_turn, f);
    f->writable = event_new(base, f->fd, f->fd < 0 ? 0 : EV_WRITE, on_turn, f);
    f->closing = event_new(base, -1, 0, on_closing, f);
    f->deadline = evtimer_new(base, on_turn, f);
    if (!f->turn || !f->writable || !f->closing || !f->deadline ||
        pacer_timer_init(&f->timer, base, &f->pacer, take_turn, f) < 0)
        return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    if (!f->resolve_each)
        return 0;
    f->lookups = lookups_new(base, &f->name, take_turn, f);
    return f->lookups ? 0
                      : fail_set(fail, errno, "prepare",
                                 "no threads to look the name of the target up");
}

static void client_free(struct flow *f)
{
    lookups_free(f->lookups);
    pacer_timer_done(&f->timer);
    event_drop(f->turn);
    event_drop(f->writable);
    event_drop(f->closing);
    event_drop(f->deadline);
    while (udp_fresh_close_some(f))
        continue;
    udp_prepare_free(f);
}

static int client_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    struct flow *f = NULL;
    int err = udp_prepare(env, &f, fail);

    if (err < 0)
        return err;
    err = make_events(f, fail);
    if (err < 0)
        client_free(f);
    else
        *flow = f;
    return err;
}

const struct role role_udp_client = {
    .name = "udp-client",
    .check = udp_prepare_check,
    .prepare = client_prepare,
    .start = client_start,
    .set = client_set,
    .pause = client_pause,
    .gauge = client_gauge,
    .stop = client_stop,
    .free = client_free,
};
