#include "protocols/udp/udp_fresh.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "protocols/clock.h"

#define CLOSE_AT_ONCE 512 /* sockets closed between two turns of the event loop */

bool udp_fresh_close_some(struct flow *f)
{
    for (int n = 0; f->open && n < CLOSE_AT_ONCE; n++) {
        close(f->sockets[f->oldest]);
        f->oldest = (f->oldest + 1) % f->room;
        f->open--;
    }
    return f->open > 0;
}

static uint64_t descriptor_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

static enum step end_exhausted(struct flow *f, int err)
{
    char reason[120];

    if (err == EMFILE)
        snprintf(reason, sizeof(reason),
                 "out of file handles after %zu sockets (limit %" PRIu64 ")", f->open,
                 descriptor_limit());
    else
        snprintf(reason, sizeof(reason),
                 "out of file handles after %zu sockets (the limit of the whole system)",
                 f->open);
    return udp_flow_over(f, OUTCOME_EXHAUSTED, reason);
}

static bool is_exhausted(int err)
{
    return err == EMFILE || err == ENFILE;
}

static enum step refuse(struct flow *f, const char *phase, int err)
{
    uint64_t now = now_ns();
    enum step step = udp_flow_refuse(f, phase, err, now);

    f->clock_ns = now;
    return is_exhausted(err) ? end_exhausted(f, err) : step;
}

/* Room for one more in the ring of open sockets. */
static bool make_room(struct flow *f)
{
    size_t room = f->room ? 2 * f->room : 1024;
    int *grown;

    if (f->open < f->room)
        return true;
    grown = malloc(room * sizeof(*grown));
    if (!grown)
        return false;
    for (size_t i = 0; i < f->open; i++)
        grown[i] = f->sockets[(f->oldest + i) % f->room];
    free(f->sockets);
    f->sockets = grown;
    f->oldest = 0;
    f->room = room;
    return true;
}

/* A socket for the next message. */
static enum step open_one(struct flow *f)
{
    uint64_t now;
    int fd;

    if (!make_room(f))
        return udp_flow_over(f, OUTCOME_FAILED, "out of memory for the open sockets");
    udp_flow_hand_over(f, f->handed + 1);
    fd = udp_flow_socket(f);
    if (fd < 0)
        return refuse(f, "socket", -fd);
    f->sockets[(f->oldest + f->open) % f->room] = fd;
    f->open++;
    now = now_ns();
    meter_record(f->meter, METER_HIST_connect, now - f->clock_ns);
    f->clock_ns = now;
    return STEP_ON;
}

/* A new socket has an empty send buffer: EAGAIN means that no port is left. */
static enum step send_one(struct flow *f, int fd)
{
    int err = -udp_flow_connect(f, fd);
    ssize_t n = -1;

    if (err)
        return refuse(f, "connect", err);
    datagram_stamp(&f->form, f->payloads, f->sequence, udp_flow_intended_ns(f, 0));
    do
        n = udp_flow_send(f, fd, f->form.size_bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return refuse(f, "send", errno);
    udp_flow_accept(f, 1, now_ns());
    return STEP_ON;
}

/* The oldest socket sends its message, if there was an address for it, and is closed. */
static enum step use_oldest(struct flow *f, ssize_t addressed)
{
    int fd = f->sockets[f->oldest];
    enum step step;

    f->oldest = (f->oldest + 1) % f->room;
    f->open--;
    if (addressed < 0) {
        step = refuse(f, "lookup", (int)-addressed);
    } else {
        step = send_one(f, fd);
        udp_flow_use_addresses(f, 1);
    }
    close(fd);
    f->clock_ns = now_ns();
    return step;
}

enum step udp_fresh_send(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && udp_flow_goes_on(f, upto)) {
        ssize_t addressed;

        if (f->handed < udp_flow_reach(f, upto)) {
            step = open_one(f);
            continue;
        }
        addressed = udp_flow_addressed(f, 1);
        step = addressed ? use_oldest(f, addressed) : STEP_AWAIT;
    }
    return step;
}
