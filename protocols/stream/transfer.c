#include "protocols/stream/transfer.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/stream/block.h"

#define TURN_NS (2 * NS_PER_MS) /* at most, before timers and others have their turn */

/* What one call achieved. */
enum step { STEP_BLOCKED, STEP_MOVED, STEP_ENDED };

const char *transfer_method(const struct transfer_plan *plan)
{
    return plan->zero_copy ? plan->zero_copy->name : "copy";
}

static void end(struct transfer *t, int err, const char *phase)
{
    if (t->in)
        event_del(t->in);
    if (t->out)
        event_del(t->out);
    t->ended(t, err, phase);
}

static bool refused(int err)
{
    return err == EINVAL || err == ENOSYS || err == EOPNOTSUPP || err == EXDEV;
}

/* A short write leaves the rest of the block for the next call. */
static ssize_t send_copy(struct transfer *t, size_t len)
{
    ssize_t n;

    if (!t->copied)
        t->copied = block_new(t->plan->block_bytes);
    if (!t->copied) {
        errno = ENOMEM;
        return -1;
    }
    if (t->copied_from == t->copied_to) {
        n = pread(t->plan->file, t->copied, len, (off_t)t->sent_bytes);
        if (n <= 0)
            return n;
        t->copied_from = 0;
        t->copied_to = (size_t)n;
    }
    n = write(t->conn.out, t->copied + t->copied_from, t->copied_to - t->copied_from);
    if (n > 0)
        t->copied_from += (size_t)n;
    return n;
}

static ssize_t send_block(struct transfer *t)
{
    struct transfer_plan *plan = t->plan;
    uint64_t left = plan->send_bytes - t->sent_bytes;
    size_t len = left < plan->block_bytes ? (size_t)left : plan->block_bytes;
    ssize_t n;

    if (plan->zero_copy) {
        n = plan->zero_copy->send(t->conn.out, plan->file, (off_t)t->sent_bytes, len);
        if (n >= 0 || !refused(errno))
            return n;
        plan->refused = errno;
        plan->zero_copy = NULL;
    }
    return send_copy(t, len);
}

/*
 * Whether the end of the sending has to wait for the end of the receiving. Not where the
 * two are apart: nothing lies in the path of a named pipe but what the kernel holds, and
 * that its pair is open may be known by the end of one alone.
 */
static bool must_wait(const struct transfer *t)
{
    return t->plan->ends_last && !t->receive_done && t->conn.in == t->conn.out;
}

/* Not before the server has the connection: a shutdown would cut it off. */
static int try_finish(struct transfer *t)
{
    int err =
        t->connected_ns && !must_wait(t) ? t->conn.transport->finish(&t->conn) : -EAGAIN;

    if (err)
        return err;
    t->send_done = true;
    event_drop(t->out);
    t->out = NULL;
    return 0;
}

/* Negative errno, or a step. */
static int send_step(struct transfer *t)
{
    ssize_t n;
    int err;

    if (t->sent_bytes == t->plan->send_bytes) {
        err = try_finish(t);
        /* What has room would spin; `in` tells in time. */
        if (err == -EAGAIN && (t->conn.unopened || must_wait(t)))
            event_del(t->out);
        return err == -EAGAIN ? STEP_BLOCKED : err ? err : STEP_ENDED;
    }
    n = send_block(t);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? STEP_BLOCKED : -errno;
    if (n == 0)
        return -ENODATA; /* the file became shorter while it was sent */
    t->sent_bytes += (uint64_t)n;
    t->plan->meter->counters.sent_bytes += (uint64_t)n;
    return STEP_MOVED;
}

static int receive_step(struct transfer *t)
{
    struct transfer_plan *plan = t->plan;
    ssize_t n = read(t->conn.in, plan->received, plan->block_bytes);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? STEP_BLOCKED : -errno;
    if (n == 0) {
        t->receive_done = true;
        event_free(t->in);
        t->in = NULL;
        if (t->out) /* it may have waited for this */
            event_add(t->out, NULL);
        return STEP_ENDED;
    }
    t->received_bytes += (uint64_t)n;
    plan->meter->counters.received_bytes += (uint64_t)n;
    meter_span_reach(&plan->meter->received, now_ns());
    if (plan->checksum)
        t->received_crc32 =
            (uint32_t)crc32(t->received_crc32, (unsigned char *)plan->received, (uInt)n);
    return STEP_MOVED;
}

static int check_connected(struct transfer *t)
{
    int err = t->connected_ns ? 0 : t->conn.transport->connected(&t->conn);

    if (!err && !t->connected_ns)
        t->connected_ns = now_ns();
    return err == -EAGAIN ? 0 : err;
}

/* A block each way in turn, until both would block or the turn is over. */
static void pump(struct transfer *t)
{
    uint64_t until_ns = now_ns() + TURN_NS;
    int sent, received;

    do {
        int err = check_connected(t);

        if (err) {
            end(t, err, "connect");
            return;
        }
        sent = t->send_done ? STEP_BLOCKED : send_step(t);
        if (sent < 0) {
            end(t, sent, t->connected_ns ? "send" : "connect");
            return;
        }
        received = t->receive_done || t->conn.unopened ? STEP_BLOCKED : receive_step(t);
        if (received < 0) {
            end(t, received, t->connected_ns ? "receive" : "connect");
            return;
        }
        if (t->send_done && t->receive_done) {
            end(t, 0, "receive");
            return;
        }
    } while ((sent != STEP_BLOCKED || received != STEP_BLOCKED) && now_ns() < until_ns);
}

static void in_ready(evutil_socket_t fd, short what, void *arg)
{
    struct transfer *t = arg;

    (void)fd;
    (void)what;
    t->conn.unopened = false;
    pump(t);
}

static void out_ready(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pump(arg);
}

int transfer_init(struct transfer *t, struct transfer_plan *plan, const struct conn *c,
                  struct event_base *base)
{
    memset(t, 0, sizeof(*t));
    t->plan = plan;
    t->conn = *c;
    if (plan->zero_copy && plan->zero_copy->widen)
        plan->zero_copy->widen(t->conn.out);
    t->in = event_new(base, t->conn.in, EV_READ | EV_PERSIST, in_ready, t);
    t->out = event_new(base, t->conn.out, EV_WRITE | EV_PERSIST, out_ready, t);
    if (!t->in || !t->out || event_add(t->in, NULL) < 0 || event_add(t->out, NULL) < 0)
        return -ENOMEM;
    return 0;
}

void transfer_pause(struct transfer *t, bool paused)
{
    struct event *both[] = {t->in, t->out};

    for (size_t i = 0; i < 2; i++) {
        if (both[i] && paused)
            event_del(both[i]);
        else if (both[i])
            event_add(both[i], NULL);
    }
}

void transfer_done(struct transfer *t)
{
    event_drop(t->in);
    event_drop(t->out);
    free(t->copied);
    if (t->conn.transport)
        conn_close(&t->conn);
    memset(t, 0, sizeof(*t));
}
