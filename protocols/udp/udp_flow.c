#include "protocols/udp/udp_flow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Handing over. */

/* Without an amount there is no "all": only what waits for an address is handed over. */
uint64_t udp_flow_reach(const struct flow *f, uint64_t upto)
{
    uint64_t ahead = f->ahead;

    if (upto == UINT64_MAX && ahead > UDP_BATCH_MAX && !f->is_fresh)
        ahead = f->lookups ? UDP_BATCH_MAX : 0;
    return upto - f->done < ahead ? upto : f->done + ahead;
}

void udp_flow_hand_over(struct flow *f, uint64_t n)
{
    if (n <= f->handed)
        return;
    if (f->lookups)
        lookups_ask(f->lookups, n - f->handed);
    f->handed = n;
    if (f->handed - f->done > f->peak)
        f->peak = f->handed - f->done;
    if (f->handed == f->messages && f->is_parallel)
        f->env->note(f->env, "done sending, backlog at %" PRIu64, f->handed - f->done);
}

void udp_flow_take_answers(struct flow *f)
{
    size_t left = f->answered - f->answered_at;

    if (!f->lookups)
        return;
    memmove(f->answers, f->answers + f->answered_at, left * sizeof(f->answers[0]));
    f->answered_at = 0;
    f->answered =
        left + lookups_take(f->lookups, f->answers + left, UDP_BATCH_MAX - left);
}

/* The server may be at the name's other kind of address (protocols/resolve.h). */
static void aim(struct flow *f, const struct answer *a)
{
    if (a->address.ss_family != f->target.ss_family)
        return;
    f->target = a->address;
    f->target_len = a->len;
}

ssize_t udp_flow_addressed(struct flow *f, size_t max)
{
    const struct answer *next;
    size_t n = 0;

    if (!f->lookups)
        return (ssize_t)max;
    next = &f->answers[f->answered_at];
    while (n < max && f->answered_at + n < f->answered && next[n].err == 0)
        n++;
    if (n)
        aim(f, next);
    else if (f->answered_at < f->answered) {
        udp_flow_use_addresses(f, 1);
        return next->err;
    }
    return (ssize_t)n;
}

void udp_flow_use_addresses(struct flow *f, size_t n)
{
    for (size_t i = 0; f->lookups && i < n; i++)
        meter_record(f->meter, METER_HIST_lookup, f->answers[f->answered_at++].span_ns);
}

/* Counting. */

static void account(struct flow *f, size_t n)
{
    f->done += n;
    if (f->rate)
        f->taken_at += n;
    if (f->handed < f->done)
        f->handed = f->done;
}

void udp_flow_accept(struct flow *f, size_t n, uint64_t now)
{
    struct meter_counters *c = &f->meter->counters;
    uint64_t span_ns = now - f->clock_ns;

    c->sent_messages += n;
    c->succeeded += n;
    c->sent_bytes += n * f->form.size_bytes;
    c->sent_wire_bytes += n * f->form.size_bytes;
    hist_record_n(f->meter->hists[METER_HIST_service], span_ns, n);
    for (size_t i = 0; f->rate && i < n; i++)
        schedule_note(f->meter, &f->away, udp_flow_intended_ns(f, i), f->room_ns,
                      f->clock_ns);
    f->sequence += n;
    account(f, n);
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
    return udp_flow_over(f, OUTCOME_FAILED, reason);
}

enum step udp_flow_refuse(struct flow *f, const char *phase, int err, uint64_t now)
{
    tally_errno(&f->meter->errors, phase, err);
    f->meter->counters.refused++;
    f->meter->counters.failed++;
    meter_record(f->meter, METER_HIST_failure, now - f->clock_ns);
    account(f, 1);
    return is_lasting(err) ? end_refused(f, phase, err) : STEP_ON;
}

enum step udp_flow_over(struct flow *f, enum outcome outcome, const char *reason)
{
    f->outcome = outcome;
    snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "");
    return STEP_ENDED;
}

/* Sockets. */

static int set_send_buffer(const struct flow *f, int fd)
{
    int bytes = f->send_buffer_bytes;

    return bytes ? setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)) : 0;
}

int udp_flow_socket(const struct flow *f)
{
    int fd = socket(f->target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int err;

    if (fd < 0)
        return -errno;
    err = set_send_buffer(f, fd) < 0 ? -errno : udp_group_aim(&f->group, fd);
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

int udp_flow_connect(const struct flow *f, int fd)
{
    if (f->connected &&
        connect(fd, (const struct sockaddr *)&f->target, f->target_len) < 0)
        return -errno;
    return 0;
}

ssize_t udp_flow_send(struct flow *f, int fd, size_t len)
{
    f->meter->counters.send_calls++;
    if (f->connected)
        return send(fd, f->payloads, len, MSG_DONTWAIT);
    return sendto(fd, f->payloads, len, MSG_DONTWAIT, (const struct sockaddr *)&f->target,
                  f->target_len);
}
