/*
 * The role "udp-client": sends datagrams by one of four strategies.
 *
 * Options
 *   socket         "fresh": a socket made, used once and closed for each message;
 *                  "cached": one socket for all
 *   dispatch       "series": the next message starts when the last has been accepted by
 *                  the kernel; "parallel": all are handed over without waiting
 *   messages       to send in all (100,000); 0: until the duration is over
 *   duration       ns; 0: until all are sent
 *   rate           messages a second by schedule; 0: as fast as it goes
 *   size           bytes of payload; 0: label and stamp alone
 *   payload        "stamped" or "plain"; label, run_id, sender: what the stamp says
 *   senders        client processes of the run; their schedules are interleaved
 *   window         fresh in parallel: sockets open at once; 0: no limit, so that all
 *                  are opened before the first is used
 *   batch          cached in parallel: messages in one sendmmsg(2)
 *   gso            1, cached in parallel: messages in one send that the kernel cuts
 *                  (UDP_SEGMENT); with batch 1 as many as fit
 *   connected      1: connect(2) the socket
 *   resolve        "each": look the name of the target up for every message
 *   host           the name for that, if it is not the endpoint's
 *   send_buffer    bytes for SO_SNDBUF; 0: the system's default
 *
 * What is counted
 *   A message is *attempted* when it is handed over, *sent* when the kernel accepted it
 *   and *refused* when the kernel did not, by errno in the tally of errors. A full send
 *   buffer is neither: the message waits until there is room, and is backlog as long.
 *   At the end attempted = sent + refused + unfinished. Sequence numbers are given to
 *   accepted messages only, so a refused one is no gap at the receiver.
 *
 *   METER_HIST_service is the sending call, for each message of a batch the whole call;
 *   METER_HIST_connect the making of a fresh socket, with its name lookup;
 *   METER_HIST_pacing how much later than scheduled a send began. The clock is read
 *   once a call: the end of one send is the start of the next.
 *
 * The stamp's time is the intended time where there is a rate, and the start of the send
 * elsewhere.
 *
 * How it works: udp_client_slice sends for SLICE_NS at most, then other events have their
 * turn. `handed` counts messages handed over, `settled` those accepted or refused.
 */
#include "protocols/udp/udp_client.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocols/clock.h"

#define SLICE_NS (2 * NS_PER_MS)

/* ---- ending ---- */

static void count_handed(struct flow *f)
{
    f->meter->counters.attempted += f->handed - f->counted_handed;
    f->counted_handed = f->handed;
}

void udp_client_on_closing(int fd, short what, void *arg)
{
    static const struct timeval at_once;
    struct flow *f = arg;

    (void)fd;
    (void)what;
    if (udp_fresh_close_some(f)) {
        event_add(f->closing, &at_once);
        return;
    }
    f->env->finished(f->env, f->outcome, *f->reason ? f->reason : NULL);
}

static void tell_waits(struct flow *f)
{
    char text[32];

    if (!f->waits)
        return;
    snprintf(text, sizeof(text), "%" PRIu64, f->waits);
    f->env->fact(f->env, "send_buffer_full", text);
}

enum step udp_client_end(struct flow *f, enum outcome outcome, const char *reason)
{
    if (f->is_over)
        return STEP_ENDED;
    f->is_over = true;
    f->outcome = outcome;
    snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "");
    pacer_timer_rest(&f->timer);
    count_handed(f);
    f->meter->counters.unfinished += f->handed - f->settled;
    tell_waits(f);
    event_del(f->writable);
    event_del(f->deadline);
    udp_client_on_closing(-1, 0, f);
    return STEP_ENDED;
}

/* ---- counting ---- */

static void settle(struct flow *f, size_t n)
{
    f->settled += n;
    if (f->rate)
        f->taken_at += n;
    if (f->handed < f->settled)
        f->handed = f->settled;
}

void udp_client_accept(struct flow *f, size_t n, uint64_t now)
{
    struct meter_counters *c = &f->meter->counters;
    uint64_t span_ns = now - f->clock_ns;

    c->sent_messages += n;
    c->succeeded += n;
    c->sent_bytes += n * f->form.size_bytes;
    c->sent_wire_bytes += n * f->form.size_bytes;
    hist_record_n(f->meter->hists[METER_HIST_service], span_ns, n);
    for (size_t i = 0; f->rate && i < n; i++)
        meter_record(f->meter, METER_HIST_pacing,
                     f->clock_ns - udp_client_intended_ns(f, i));
    f->sequence += n;
    settle(f, n);
}

/* Errors after which no other message would be accepted either. */
static bool is_lasting(int err)
{
    return err == EMSGSIZE || err == EINVAL || err == EACCES || err == EAFNOSUPPORT ||
           err == EDESTADDRREQ || err == ENOTSOCK || err == EBADF || err == EOPNOTSUPP;
}

static enum step end_refused(struct flow *f, const char *phase, int err)
{
    char reason[160];

    if (f->gso && (err == EMSGSIZE || err == EINVAL))
        snprintf(reason, sizeof(reason),
                 "datagrams of %zu bytes cannot be sent by gso: each must fit the link "
                 "whole, and all of a send into %d bytes",
                 f->form.size_bytes, DATAGRAM_MAX_IPV4);
    else if (err == EMSGSIZE)
        snprintf(
            reason, sizeof(reason),
            "datagrams of %zu bytes cannot be sent to this target: %s (UDP over IPv4 "
            "carries at most %d)",
            f->form.size_bytes, strerror(err), DATAGRAM_MAX_IPV4);
    else
        snprintf(reason, sizeof(reason), "%s failed: %s", phase, strerror(err));
    return udp_client_end(f, OUTCOME_FAILED, reason);
}

enum step udp_client_refuse(struct flow *f, const char *phase, int err, uint64_t now)
{
    tally_errno(&f->meter->errors, phase, err);
    f->meter->counters.refused++;
    f->meter->counters.failed++;
    meter_record(f->meter, METER_HIST_failure, now - f->clock_ns);
    settle(f, 1);
    return is_lasting(err) ? end_refused(f, phase, err) : STEP_ON;
}

/* ---- what the strategies share ---- */

int udp_client_look_up(struct flow *f)
{
    struct sockaddr_storage found;
    struct fail ignored = {0};
    socklen_t len;
    int err;

    if (!f->resolve_each)
        return 0;
    err = endpoint_address(&f->name, &found, &len, &ignored);
    /* The server may be at the name's other kind of address (protocols/resolve.h). */
    if (err == 0 && found.ss_family == f->target.ss_family) {
        f->target = found;
        f->target_len = len;
    }
    return err;
}

ssize_t udp_client_send(const struct flow *f, int fd, size_t len)
{
    if (f->connected)
        return send(fd, f->payloads, len, MSG_DONTWAIT);
    return sendto(fd, f->payloads, len, MSG_DONTWAIT, (const struct sockaddr *)&f->target,
                  f->target_len);
}

static int set_send_buffer(const struct flow *f, int fd)
{
    int bytes = f->send_buffer_bytes;

    return bytes ? setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)) : 0;
}

int udp_client_socket(const struct flow *f)
{
    int fd = socket(f->target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int err;

    if (fd < 0)
        return -errno;
    if (set_send_buffer(f, fd) == 0 &&
        (!f->connected ||
         connect(fd, (const struct sockaddr *)&f->target, f->target_len) == 0))
        return fd;
    err = errno;
    close(fd);
    return -err;
}

/* ---- the run of it ---- */

/* Take what is due by the schedule; returns up to which message that is. */
static uint64_t take_due(struct flow *f)
{
    size_t have = f->taken - f->taken_at;
    uint64_t left = f->messages - f->settled - have;
    size_t max = left < UDP_TAKE_MAX - have ? (size_t)left : UDP_TAKE_MAX - have;

    memmove(f->intended_ns, f->intended_ns + f->taken_at,
            have * sizeof(f->intended_ns[0]));
    f->taken_at = 0;
    f->taken = have + pacer_take(&f->pacer, f->clock_ns, f->intended_ns + have, max);
    return f->settled + f->taken;
}

/* Send what may be sent now, as long as the slice lasts. */
static enum step send_some(struct flow *f)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->clock_ns < f->slice_end_ns) {
        uint64_t upto = f->rate ? take_due(f) : f->messages;

        if (upto == f->settled)
            break;
        if (f->is_parallel && !f->is_fresh && upto != UINT64_MAX && upto > f->handed)
            f->handed = upto;
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

void udp_client_slice(void *arg)
{
    struct flow *f = arg;
    enum step step;

    if (f->is_over || f->is_paused)
        return;
    f->clock_ns = now_ns();
    if (f->clock_ns >= f->deadline_ns) {
        udp_client_end(f, OUTCOME_COMPLETED, NULL);
        return;
    }
    f->slice_end_ns = f->clock_ns + SLICE_NS;
    if (f->slice_end_ns > f->deadline_ns)
        f->slice_end_ns = f->deadline_ns;
    step = send_some(f);
    count_handed(f);
    if (step == STEP_ENDED)
        return;
    if (f->settled == f->messages)
        udp_client_end(f, OUTCOME_COMPLETED, NULL);
    else if (step == STEP_FULL)
        wait_for_room(f);
    else
        pacer_timer_arm(&f->timer);
}

void udp_client_on_writable(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    udp_client_slice(arg);
}

/* The schedules of several client processes are interleaved evenly. */
static uint64_t schedule_base_ns(const struct flow *f)
{
    const struct options *o = f->env->options;

    return f->start_ns + pacer_phase_ns(f->rate, NS_PER_S,
                                        options_number(o, OPTION_sender, 0),
                                        options_number(o, OPTION_senders, 1));
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
    pacer_start(&f->pacer, schedule_base_ns(f), f->rate, NS_PER_S);
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
        event_del(f->writable);
        event_del(f->deadline);
        return;
    }
    pacer_resume(&f->pacer, now);
    if (f->duration_ns)
        f->deadline_ns += now - f->paused_ns;
    arm_deadline(f, now);
    udp_client_slice(f);
}

static void client_gauge(struct flow *f)
{
    struct meter_gauges *g = &f->meter->gauges;

    g->backlog = f->handed - f->settled;
    if (f->rate && !f->is_over)
        g->backlog += pacer_backlog(&f->pacer, now_ns());
    g->open_connections = f->open + (f->fd >= 0);
}

static void client_stop(struct flow *f)
{
    udp_client_end(f, OUTCOME_STOPPED, NULL);
}

const struct role role_udp_client = {
    .name = "udp-client",
    .check = udp_client_check,
    .prepare = udp_client_prepare,
    .start = client_start,
    .set = client_set,
    .pause = client_pause,
    .gauge = client_gauge,
    .stop = client_stop,
    .free = udp_client_free,
};
