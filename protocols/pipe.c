/*
 * Named pipes. A POSIX FIFO carries bytes one way and mixes its writers, so a
 * connection is a pair of FIFOs of its own, and the server's path is a third, the
 * *rendezvous*, at which clients announce their pair:
 *
 *   server   makes PATH (mode 0600), reads lines from it
 *   client   chooses NAME, makes PATH.NAME.up and PATH.NAME.down (mode 0600), opens
 *            them, and writes "NAME!\n" to PATH: one write of at most PIPE_BUF bytes,
 *            which is atomic however many clients do it at once (POSIX write)
 *   server   opens up for reading and down for writing, then unlinks both: nothing is
 *            left on disk while the connection lasts, and the link count 0 tells the
 *            client that the server is there
 *
 * NAME is 1 to 64 characters of A-Z a-z 0-9 . _ - and does not begin with a dot. The
 * mark behind it says that both ends are open. Without it the pair is unlinked when the
 * connection is closed: a client that opens down first must still find up.
 * Until the server has opened the pair, the client also holds a reading end of up:
 * what it writes is kept by the kernel, and it need not wait.
 *
 * From a shell, against `plimsoll serve pipe --path /tmp/p`:
 *
 *   mkfifo /tmp/p.me.up /tmp/p.me.down; echo me > /tmp/p
 *   cat file > /tmp/p.me.up & cat /tmp/p.me.down > received
 *
 * The server waits WAIT_NS for a client that opens its ends after it announced them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/socket_path.h"
#include "protocols/transport.h"

#define NAME_LEN_MAX 64
#define OPEN_MARK "!"
#define PAIR_MAX (sizeof(((struct endpoint *)0)->path) + NAME_LEN_MAX + 2)
#define END_MAX (PAIR_MAX + sizeof(".down"))
#define CHOOSE_TRIES 5
#define FIFO_BYTES (1 << 20) /* what an ordinary user may set, pipe-max-size */
#define LATE_MAX 1024        /* clients that have announced themselves and are not open */
#define AGAIN_NS (5 * NS_PER_MS)
#define WAIT_NS (10 * NS_PER_S)

/* A client that has announced itself and has not opened its ends yet. */
struct late {
    char name[NAME_LEN_MAX + 2];
    int up; /* -1, or open already, so that the client's own open returns */
    uint64_t until_ns;
};

struct waiting {
    int keep; /* our own writing end: without it the last client ends the input */
    char text[PIPE_BUF]; /* read from the rendezvous, not split into lines yet */
    size_t used;
    bool skip; /* in a line that was too long */
    size_t late_count;
    struct late late[LATE_MAX];
};

static bool is_fifo(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static void end_path(char *path, const char *pair, const char *end)
{
    snprintf(path, END_MAX, "%s.%s", pair, end);
}

static void unlink_pair(const char *pair)
{
    char path[END_MAX];

    /* The client watches the link count of `up`, so that goes last. */
    end_path(path, pair, "down");
    unlink(path);
    end_path(path, pair, "up");
    unlink(path);
}

/* A FIFO, not followed and never waited for; -EBADMSG for anything else. */
static int open_end(const char *pair, const char *end, int flags)
{
    char path[END_MAX];
    int fd;

    end_path(path, pair, end);
    fd = open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    if (is_fifo(fd))
        return fd;
    close(fd);
    return -EBADMSG;
}

/* Server. */

static int make_rendezvous(const char *path, struct waiting *w, int *fd)
{
    int err = 0;

    if (mkfifo(path, 0600) < 0)
        return -errno;
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (*fd >= 0)
        w->keep = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (*fd < 0 || w->keep < 0) {
        err = -errno;
        unlink(path);
    }
    return err;
}

static int make_chosen(struct listener *l, struct fail *fail)
{
    char *path = l->bound.path;
    int err = -ENOENT;

    for (int i = 0; i < CHOOSE_TRIES && (err == -ENOENT || err == -EEXIST); i++) {
        err = socket_path_private(path, sizeof(l->bound.path), "pipe", fail);
        if (!err)
            err = make_rendezvous(path, l->waiting, &l->fd);
    }
    return err;
}

static int make_wanted(struct listener *l, struct fail *fail)
{
    int err = socket_path_clear_fifo(l->bound.path, fail);

    return err ? err : make_rendezvous(l->bound.path, l->waiting, &l->fd);
}

static void pipe_unlisten(struct listener *l)
{
    struct waiting *w = l->waiting;

    for (size_t i = 0; w && i < w->late_count; i++)
        if (w->late[i].up >= 0)
            close(w->late[i].up);
    if (w && w->keep >= 0)
        close(w->keep);
    if (l->fd >= 0)
        close(l->fd);
    free(w);
    l->waiting = NULL;
    if (!l->remove)
        return;
    unlink(l->bound.path);
    socket_path_clear_pairs(l->bound.path);
    socket_path_leave(l->bound.path);
}

static int pipe_listen(struct listener *l, const struct endpoint *wanted,
                       struct fail *fail)
{
    int err;

    l->bound = *wanted;
    l->waiting = calloc(1, sizeof(*l->waiting));
    if (!l->waiting)
        return fail_set(fail, ENOMEM, "listen", "cannot listen at a named pipe");
    l->waiting->keep = -1;
    err = wanted->path[0] ? make_wanted(l, fail) : make_chosen(l, fail);
    if (!err) {
        l->remove = true;
        return 0;
    }
    fail_set(fail, -err, "listen", "cannot make the named pipe %s", l->bound.path);
    pipe_unlisten(l);
    if (!wanted->path[0])
        socket_path_leave(l->bound.path);
    l->fd = -1;
    return err;
}

static bool valid_name(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                              "0123456789._-");

    return len > 0 && len <= NAME_LEN_MAX && name[0] != '.' &&
           (!name[len] || strcmp(name + len, OPEN_MARK) == 0);
}

static void pair_path(const struct listener *l, const char *name, char *pair)
{
    snprintf(pair, PAIR_MAX, "%s.%.*s", l->bound.path, (int)strcspn(name, OPEN_MARK),
             name);
}

/* The server's ends of a pair. *up keeps what is open when `down` has no reader yet. */
static int open_pair(struct listener *l, const char *name, int *up, struct conn *c)
{
    bool is_open = strpbrk(name, OPEN_MARK) != NULL;
    char pair[PAIR_MAX];
    int down;

    pair_path(l, name, pair);
    if (*up < 0)
        *up = open_end(pair, "up", O_RDONLY);
    if (*up < 0)
        return *up;
    down = open_end(pair, "down", O_WRONLY);
    if (down < 0)
        return down;
    conn_init(c);
    if (is_open)
        unlink_pair(pair);
    else
        c->pair = strdup(pair);
    c->transport = &transport_pipe;
    c->in = *up;
    c->out = down;
    c->unopened = true;
    return 0;
}

static bool worth_waiting(int err)
{
    return err == -ENXIO || err == -EMFILE || err == -ENFILE;
}

/* Open the pair of a name; keep it for later when its client is not there yet. */
static int admit(struct listener *l, const char *name, struct conn *c)
{
    struct waiting *w = l->waiting;
    int up = -1;
    int err = open_pair(l, name, &up, c);

    if (!err)
        return 0;
    if (worth_waiting(err) && w->late_count < LATE_MAX) {
        struct late *late = &w->late[w->late_count++];

        snprintf(late->name, sizeof(late->name), "%s", name);
        late->up = up;
        late->until_ns = now_ns() + WAIT_NS;
        return err == -ENXIO ? -EAGAIN : err;
    }
    if (up >= 0)
        close(up);
    return err;
}

/* Cut the next line off the text. A line too long to be a name is an empty name. */
static bool next_name(struct waiting *w, char name[NAME_LEN_MAX + 2])
{
    char *end = memchr(w->text, '\n', w->used);
    size_t len = end ? (size_t)(end - w->text) : w->used;
    bool skipped = w->skip;

    if (!end && w->used < sizeof(w->text))
        return false;
    w->skip = !end;
    snprintf(name, NAME_LEN_MAX + 2, "%.*s", skipped || !end ? 0 : (int)len, w->text);
    len += end ? 1 : 0;
    w->used -= len;
    memmove(w->text, w->text + len, w->used);
    return true;
}

static bool read_names(struct listener *l)
{
    struct waiting *w = l->waiting;
    ssize_t n = read(l->fd, w->text + w->used, sizeof(w->text) - w->used);

    if (n > 0)
        w->used += (size_t)n;
    return n > 0;
}

static void drop_late(struct waiting *w, size_t i)
{
    w->late[i] = w->late[--w->late_count];
}

/* Try again those that were not there; give up those that have had their time. */
static int admit_late(struct listener *l, struct conn *c)
{
    struct waiting *w = l->waiting;
    char pair[PAIR_MAX];
    int err;

    for (size_t i = 0; i < w->late_count; i++) {
        struct late *late = &w->late[i];

        err = open_pair(l, late->name, &late->up, c);
        if (worth_waiting(err) && now_ns() < late->until_ns)
            continue;
        if (err) {
            pair_path(l, late->name, pair);
            unlink_pair(pair);
            if (late->up >= 0)
                close(late->up);
        }
        drop_late(w, i);
        return err == -ENXIO ? -ETIMEDOUT : err;
    }
    return -EAGAIN;
}

/* A name that has been read makes no descriptor readable, so it is called for at once. */
static uint64_t again_ns(const struct waiting *w)
{
    if (memchr(w->text, '\n', w->used))
        return 1;
    return w->late_count ? AGAIN_NS : 0;
}

static int pipe_accept(struct listener *l, struct conn *c)
{
    struct waiting *w = l->waiting;
    char name[NAME_LEN_MAX + 2];
    int err = -EAGAIN;

    do {
        while (err == -EAGAIN && next_name(w, name))
            err = valid_name(name) ? admit(l, name, c) : -EBADMSG;
    } while (err == -EAGAIN && read_names(l));
    if (err == -EAGAIN && w->late_count)
        err = admit_late(l, c);
    l->again_ns = again_ns(w);
    return err;
}

/* Client. */

static int make_pair(const char *pair)
{
    char path[END_MAX];
    int err;

    end_path(path, pair, "up");
    if (mkfifo(path, 0600) < 0)
        return -errno;
    end_path(path, pair, "down");
    if (mkfifo(path, 0600) == 0)
        return 0;
    err = -errno;
    unlink_pair(pair);
    return err;
}

/* The client's ends, in an order in which none has to wait for the server. */
static int open_client_ends(struct conn *c)
{
    c->in = open_end(c->pair, "down", O_RDONLY);
    if (c->in < 0)
        return c->in;
    c->hold = open_end(c->pair, "up", O_RDONLY);
    if (c->hold < 0)
        return c->hold;
    c->out = open_end(c->pair, "up", O_WRONLY);
    return c->out < 0 ? c->out : 0;
}

/* -ENXIO: nobody reads it. -EPROTOTYPE: it is a file of another kind. */
static int open_rendezvous(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (is_fifo(fd))
        return fd;
    close(fd);
    return -EPROTOTYPE;
}

static int announce(int rendezvous, const char *name)
{
    char line[NAME_LEN_MAX + 3];
    int len = snprintf(line, sizeof(line), "%s" OPEN_MARK "\n", name);

    return write(rendezvous, line, (size_t)len) < 0 ? -errno : 0;
}

/* The pair "PATH.NAME", made, open and announced. The clock makes NAME unique. */
static int open_announced(struct conn *c, const char *path, int rendezvous)
{
    char name[NAME_LEN_MAX + 1];
    char pair[PAIR_MAX];
    int err;

    snprintf(name, sizeof(name), "%d-%llx", (int)getpid(), (unsigned long long)now_ns());
    snprintf(pair, sizeof(pair), "%s.%s", path, name);
    err = make_pair(pair);
    if (err)
        return err;
    c->pair = strdup(pair);
    if (!c->pair) {
        unlink_pair(pair);
        return -ENOMEM;
    }
    err = open_client_ends(c);
    return err ? err : announce(rendezvous, name);
}

static int pipe_connect(const struct target *t, struct conn *c)
{
    int rendezvous = open_rendezvous(t->endpoint.path);
    int err;

    if (rendezvous < 0)
        return rendezvous;
    conn_init(c);
    c->transport = &transport_pipe;
    c->unopened = true;
    err = open_announced(c, t->endpoint.path, rendezvous);
    close(rendezvous);
    if (err)
        conn_close(c);
    return err;
}

static int pipe_connected(struct conn *c)
{
    struct stat st;

    if (c->hold < 0)
        return 0;
    if (fstat(c->hold, &st) < 0)
        return -errno;
    if (st.st_nlink > 0)
        return -EAGAIN;
    close(c->hold);
    c->hold = -1;
    free(c->pair);
    c->pair = NULL;
    return 0;
}

/* What was written goes with the last descriptor, so the server must have its own. */
static int pipe_finish(struct conn *c)
{
    int err = pipe_connected(c);

    if (err)
        return err;
    if (c->out >= 0)
        close(c->out);
    c->out = -1;
    return 0;
}

static void pipe_close(struct conn *c)
{
    if (c->in >= 0)
        close(c->in);
    if (c->out >= 0)
        close(c->out);
    if (c->hold >= 0)
        close(c->hold);
    if (c->pair)
        unlink_pair(c->pair);
    free(c->pair);
}

static bool pipe_explain(const struct target *t, int err, char *text, size_t size)
{
    const char *path = t->endpoint.path;

    if (err == -ENXIO)
        snprintf(text, size, "no server reads the named pipe %s", path);
    else if (err == -EPROTOTYPE)
        snprintf(text, size, "%s is not a named pipe", path);
    else
        return false;
    return true;
}

static ssize_t pipe_splice(int out, int file, off_t offset, size_t len)
{
    return splice(file, &offset, out, NULL, len, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
}

/* A wish: an ordinary user has a limit over all pipes. */
static void pipe_widen(int out)
{
    fcntl(out, F_SETPIPE_SZ, FIFO_BYTES);
}

static const struct zero_copy pipe_zero_copy = {
    .name = "splice",
    .send = pipe_splice,
    .widen = pipe_widen,
};

const struct transport transport_pipe = {
    .kind = ENDPOINT_PIPE,
    .help = "the same on named pipes",
    .zero_copy = &pipe_zero_copy,
    .client_fds =
        3, /* in, out and hold; the rendezvous is closed by the time of the next */
    .server_fds = 2,
    .listen = pipe_listen,
    .accept = pipe_accept,
    .unlisten = pipe_unlisten,
    .connect = pipe_connect,
    .connected = pipe_connected,
    .finish = pipe_finish,
    .close = pipe_close,
    .explain = pipe_explain,
};
