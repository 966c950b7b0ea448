/*
 * The strategies with a socket for each message: made, used once and closed. In parallel
 * the open sockets stand in a ring, in the order in which they were made.
 */
#include "protocols/udp/udp_client.h"

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
    return udp_client_end(f, OUTCOME_EXHAUSTED, reason);
}

/*
 * Why a lookup failed: it needs a descriptor as well, and does not say that it got none.
 * Returns the error that any socket would have now, or else `err`.
 */
static int lookup_error(int err)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    close(fd);
    return err;
}

/* A socket for the next message, by its name if it is to be looked up; or -errno. */
static int next_socket(struct flow *f, enum step *step)
{
    int err = udp_client_look_up(f);
    int fd = err < 0 ? lookup_error(err) : udp_client_socket(f);
    uint64_t now = now_ns();

    if (fd >= 0) {
        meter_record(f->meter, METER_HIST_connect, now - f->clock_ns);
    } else {
        *step = udp_client_refuse(f, err < 0 ? "lookup" : "socket", -fd, now);
        if (fd == -EMFILE || fd == -ENFILE)
            *step = end_exhausted(f, -fd);
    }
    f->clock_ns = now;
    return fd;
}

/* The one message of a fresh socket, which is closed with it. */
static enum step use_socket(struct flow *f, int fd)
{
    enum step step = STEP_ON;
    ssize_t n;
    int err;
    uint64_t now;

    datagram_stamp(&f->form, f->payloads, f->sequence, udp_client_intended_ns(f, 0));
    do
        n = udp_client_send(f, fd, f->form.size_bytes);
    while (n < 0 && errno == EINTR);
    err = errno;
    now = now_ns();
    /* A new socket has an empty send buffer: EAGAIN means that no port is left. */
    if (n >= 0)
        udp_client_accept(f, 1, now);
    else
        step = udp_client_refuse(f, "send", err, now);
    close(fd);
    f->clock_ns = now_ns();
    return step;
}

enum step udp_fresh_series(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        int fd = next_socket(f, &step);

        if (fd >= 0)
            step = use_socket(f, fd);
    }
    return step;
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

static enum step open_one(struct flow *f)
{
    enum step step = STEP_ON;
    int fd;

    if (!make_room(f))
        return udp_client_end(f, OUTCOME_FAILED, "out of memory for the open sockets");
    f->handed++;
    fd = next_socket(f, &step);
    if (fd < 0)
        return step;
    f->sockets[(f->oldest + f->open) % f->room] = fd;
    f->open++;
    return step;
}

static enum step use_oldest(struct flow *f)
{
    int fd = f->sockets[f->oldest];

    f->oldest = (f->oldest + 1) % f->room;
    f->open--;
    return use_socket(f, fd);
}

/* Opens as many as the window and the messages allow, then uses the oldest, and so on. */
enum step udp_fresh_parallel(struct flow *f, uint64_t upto)
{
    enum step step = STEP_ON;

    while (step == STEP_ON && f->settled < upto && f->clock_ns < f->slice_end_ns) {
        if (f->handed < upto && f->open < f->window)
            step = open_one(f);
        else
            step = use_oldest(f);
    }
    return step;
}
