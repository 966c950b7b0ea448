/*
 * One request, then exit: connect, send the message, end the sending, receive until
 * the server ends. It is started by the requests client once for each request
 * (client=process), so its start is what is measured: no library but the C one, no
 * output, nothing read but the job (oneshot.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/congestion.h"
#include "protocols/stream/oneshot.h"

#define CHUNK_BYTES 2048 /* on the stack: each page that is touched costs a fault */
#define PAIR_MAX 192

struct oneshot {
    struct oneshot_job job;
    struct oneshot_record record;
    int in, out; /* the same for a socket */
    int hold;    /* named pipe: see pipe.c */
};

static int fails(struct oneshot *o, enum oneshot_phase phase)
{
    o->record.err = errno ? errno : EPROTO;
    o->record.phase = phase;
    return -1;
}

static int connect_socket(struct oneshot *o)
{
    const struct oneshot_job *job = &o->job;
    int fd = socket(job->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    congestion_set(fd, job->congestion);
    o->in = o->out = fd;
    return connect(fd, (const void *)&job->address, (socklen_t)job->address_len);
}

static char *append(char *to, const char *from)
{
    while (*from)
        *to++ = *from++;
    *to = '\0';
    return to;
}

static char *append_number(char *to, uint64_t n, unsigned base)
{
    char digits[24];
    size_t len = 0;

    do
        digits[len++] = "0123456789abcdef"[n % base];
    while ((n /= base) > 0);
    while (len > 0)
        *to++ = digits[--len];
    *to = '\0';
    return to;
}

/* "PATH.PID-CLOCK.up" and ".down"; returns where NAME begins. stdio would cost a page. */
static const char *name_pair(const struct oneshot *o, char *up, char *down)
{
    char *name = append(append(up, o->job.path), ".");
    char *end = append_number(name, (uint64_t)getpid(), 10);

    end = append_number(append(end, "-"), now_ns(), 16);
    append(append(down, up), ".down");
    append(end, ".up");
    return name;
}

static int open_pair(struct oneshot *o, const char *up, const char *down)
{
    o->in = open(down, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    o->hold = open(up, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    o->out = open(up, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return o->in < 0 || o->hold < 0 || o->out < 0 ? -1 : 0;
}

/* NAME without ".up", the mark that both ends are open, a line's end: one write. */
static int announce(int rendezvous, const char *name)
{
    char line[PAIR_MAX];
    size_t len = (size_t)(strrchr(name, '.') - name);

    memcpy(line, name, len);
    line[len++] = '!';
    line[len++] = '\n';
    return write(rendezvous, line, len) < 0 ? -1 : 0;
}

static void remove_pair(const char *up, const char *down)
{
    int err = errno;

    unlink(up);
    unlink(down);
    errno = err;
}

static int connect_pipe(struct oneshot *o)
{
    char up[PAIR_MAX], down[PAIR_MAX];
    const char *name;
    struct stat st;
    int rendezvous = open(o->job.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

    if (rendezvous < 0)
        return -1;
    if (fstat(rendezvous, &st) < 0 || !S_ISFIFO(st.st_mode)) {
        errno = EPROTOTYPE;
        return -1;
    }
    name = name_pair(o, up, down);
    if (mkfifo(up, 0600) < 0)
        return -1;
    if (mkfifo(down, 0600) < 0 || open_pair(o, up, down) < 0 ||
        announce(rendezvous, name) < 0) {
        remove_pair(up, down);
        return -1;
    }
    return 0;
}

static int wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};

    return poll(&p, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

static int write_all(struct oneshot *o, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(o->out, bytes, len);

        if (n < 0 && (errno != EAGAIN || wait_for(o->out, POLLOUT) < 0))
            return -1;
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
            o->record.sent_bytes += (uint64_t)n;
        }
    }
    return 0;
}

/* `first` is what was read of the message together with the job. */
static int send_message(struct oneshot *o, const char *first, size_t first_len)
{
    char chunk[CHUNK_BYTES];
    uint64_t left = o->job.message_bytes;
    size_t len = left < first_len ? (size_t)left : first_len;

    if (write_all(o, first, len) < 0)
        return -1;
    for (left -= len; left > 0; left -= len) {
        off_t at = (off_t)(sizeof(o->job) + (o->job.message_bytes - left));
        ssize_t n =
            pread(ONESHOT_JOB, chunk, left < sizeof(chunk) ? left : sizeof(chunk), at);

        if (n <= 0 || write_all(o, chunk, (size_t)n) < 0)
            return -1;
        len = (size_t)n;
    }
    return 0;
}

/* A named pipe is finished when the server has surely opened it: when it answered. */
static int finish(struct oneshot *o)
{
    if (o->hold < 0)
        return shutdown(o->out, SHUT_WR);
    if (wait_for(o->in, POLLIN) < 0)
        return -1;
    close(o->hold);
    return close(o->out);
}

static int receive(struct oneshot *o)
{
    char chunk[CHUNK_BYTES];
    ssize_t n;

    while ((n = read(o->in, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && (errno != EAGAIN || wait_for(o->in, POLLIN) < 0))
            return -1;
        if (n > 0)
            o->record.received_bytes += (uint64_t)n;
    }
    return 0;
}

static int request(struct oneshot *o, const char *first, size_t first_len)
{
    if ((o->job.address_len ? connect_socket : connect_pipe)(o) < 0)
        return fails(o, ONESHOT_CONNECT);
    o->record.connected_ns = now_ns();
    if (send_message(o, first, first_len) < 0 || finish(o) < 0)
        return fails(o, ONESHOT_SEND);
    if (receive(o) < 0)
        return fails(o, ONESHOT_RECEIVE);
    return 0;
}

static off_t record_offset(const struct oneshot *o, const char *slot)
{
    uint64_t n = 0;

    for (; *slot >= '0' && *slot <= '9'; slot++)
        n = n * 10 + (uint64_t)(*slot - '0');
    return (off_t)(o->job.records_at + n * sizeof(o->record));
}

int main(int argc, char **argv)
{
    static const char usage[] =
        "plimsoll-once is started by plimsoll itself, once for each request.\n";
    struct oneshot o = {.record = {.magic = ONESHOT_MAGIC, .started_ns = now_ns()}};
    char bytes[sizeof(o.job) + CHUNK_BYTES];
    ssize_t n = pread(ONESHOT_JOB, bytes, sizeof(bytes), 0);

    if (n >= (ssize_t)sizeof(o.job))
        memcpy(&o.job, bytes, sizeof(o.job));
    if (o.job.magic != ONESHOT_MAGIC || argc != 2) {
        (void)!write(STDERR_FILENO, usage, sizeof(usage) - 1);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a client that was killed leaves none behind */
    o.hold = -1;
    request(&o, bytes + sizeof(o.job), (size_t)n - sizeof(o.job));
    o.record.ended_ns = now_ns();
    (void)!pwrite(ONESHOT_JOB, &o.record, sizeof(o.record), record_offset(&o, argv[1]));
    _exit(o.record.err ? 1 : 0);
}
