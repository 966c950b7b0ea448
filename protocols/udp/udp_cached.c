/* The strategies with one socket for all messages: one a call, or several. */
#include "protocols/udp/udp_client.h"

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
        if (f->handed == f->settled)
            f->handed++; /* it has begun */
        return STEP_FULL;
    }
    step = udp_client_refuse(f, "send", err, now);
    if (err == ECONNREFUSED)
        drop_error_queue(f->fd);
    return step;
}

enum step udp_cached_single(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        int err = udp_client_look_up(f);
        uint64_t now;
        ssize_t n;

        if (err < 0) {
            now = now_ns();
            step = udp_client_refuse(f, "lookup", -err, now);
            f->clock_ns = now;
            continue;
        }
        datagram_stamp(&f->form, f->payloads, f->sequence, udp_client_intended_ns(f, 0));
        n = udp_client_send(f, f->fd, f->form.size_bytes);
        err = errno;
        now = now_ns();
        if (n >= 0)
            udp_client_accept(f, 1, now);
        else
            step = not_sent(f, err, now);
        f->clock_ns = now;
    }
    return step;
}

/* Stamp the next messages, up to `batch` of them; returns how many. */
static size_t stamp_batch(struct flow *f, uint64_t upto)
{
    uint64_t left = upto - f->settled;
    size_t n = left < f->batch ? (size_t)left : (size_t)f->batch;

    if (!f->rate) {
        datagram_stamp_run(&f->form, f->payloads, n, f->sequence, f->clock_ns);
        return n;
    }
    for (size_t i = 0; i < n; i++)
        datagram_stamp(&f->form, f->payloads + i * f->form.size_bytes, f->sequence + i,
                       udp_client_intended_ns(f, i));
    return n;
}

/* Returns how many of n stamped messages the kernel accepted, or -1 and errno. */
static ssize_t send_stamped(struct flow *f, size_t n)
{
    if (f->gso)
        return udp_client_send(f, f->fd, n * f->form.size_bytes) < 0 ? -1 : (ssize_t)n;
    return sendmmsg(f->fd, f->calls, (unsigned)n, MSG_DONTWAIT);
}

enum step udp_cached_batch(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        size_t n = stamp_batch(f, upto);
        ssize_t accepted = send_stamped(f, n);
        int err = errno;
        uint64_t now = now_ns();

        if (accepted >= 0)
            udp_client_accept(f, (size_t)accepted, now);
        else
            step = not_sent(f, err, now);
        f->clock_ns = now;
    }
    return step;
}
