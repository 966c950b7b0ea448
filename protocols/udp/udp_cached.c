#include "protocols/udp/udp_cached.h"

#include <errno.h>

#include "protocols/clock.h"

/* The kernel's report of a refused port comes with the next send, and is queued too. */
static void drop_error_queue(int fd)
{
    struct msghdr m = {0};

    for (int i = 0; i < 64; i++)
        if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return;
}

static enum step not_sent(struct flow *f, int err, uint64_t now)
{
    enum step step;

    if (err == EINTR)
        return STEP_ON;
    if (err == EAGAIN || err == EWOULDBLOCK) {
        f->waits++;
        udp_flow_hand_over(f, f->done + 1); /* it has begun */
        return STEP_FULL;
    }
    step = udp_flow_refuse(f, "send", err, now);
    udp_flow_use_addresses(f, 1);
    if (err == ECONNREFUSED)
        drop_error_queue(f->fd);
    return step;
}

/* Stamp the next n messages. */
static void stamp(struct flow *f, size_t n)
{
    if (!f->rate) {
        datagram_stamp_run(&f->form, f->payloads, n, f->sequence, f->clock_ns);
        return;
    }
    for (size_t i = 0; i < n; i++)
        datagram_stamp(&f->form, f->payloads + i * f->form.size_bytes, f->sequence + i,
                       udp_flow_intended_ns(f, i));
}

/* Each of the messages goes to the address that was found for it. */
static ssize_t send_several(struct flow *f, size_t n)
{
    for (size_t i = 0; i < n && f->lookups; i++) {
        struct answer *a = &f->answers[f->answered_at + i];
        struct msghdr *m = &f->calls[i].msg_hdr;
        bool fits = a->address.ss_family == f->target.ss_family;

        m->msg_name = fits ? &a->address : &f->target;
        m->msg_namelen = fits ? a->len : f->target_len;
    }
    f->meter->counters.send_calls++;
    return sendmmsg(f->fd, f->calls, (unsigned)n, MSG_DONTWAIT);
}

/* Returns how many of n stamped messages the kernel accepted, or -1 and errno. */
static ssize_t send_stamped(struct flow *f, size_t n)
{
    if (n > 1 && !f->gso)
        return send_several(f, n);
    return udp_flow_send(f, f->fd, n * f->form.size_bytes) < 0 ? -1 : (ssize_t)n;
}

static enum step send_next(struct flow *f, size_t n)
{
    enum step step = STEP_ON;
    ssize_t accepted;
    uint64_t now;
    int err;

    stamp(f, n);
    accepted = send_stamped(f, n);
    err = errno;
    now = now_ns();
    if (accepted >= 0) {
        udp_flow_accept(f, (size_t)accepted, now);
        udp_flow_use_addresses(f, (size_t)accepted);
    } else {
        step = not_sent(f, err, now);
    }
    f->clock_ns = now;
    return step;
}

static enum step not_found(struct flow *f, int err)
{
    uint64_t now = now_ns();
    enum step step = udp_flow_refuse(f, "lookup", err, now);

    f->clock_ns = now;
    return step;
}

enum step udp_cached_send(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && udp_flow_goes_on(f, upto)) {
        uint64_t left = upto - f->done;
        ssize_t n;

        udp_flow_hand_over(f, udp_flow_reach(f, upto));
        n = udp_flow_addressed(f, left < f->batch ? (size_t)left : (size_t)f->batch);
        if (n == 0)
            return STEP_AWAIT;
        step = n < 0 ? not_found(f, (int)-n) : send_next(f, (size_t)n);
    }
    return step;
}
