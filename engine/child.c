#include "engine/child.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/channel.h"
#include "protocols/clock.h"
#include "protocols/event.h"

/* A line of standard error that is longer comes in pieces. */
#define ERROR_LINE_MAX 4096

enum escalation { NOT_ASKED, INPUT_CLOSED, TERMINATED, KILLED, GIVEN_UP };

struct child {
    pid_t pid;                   /* 0: none was started, or it is reaped */
    const struct child_ops *ops; /* borrowed */
    void *arg;                   /* borrowed */
    struct channel *channel;
    struct evbuffer *errors; /* of its standard error, up to the last newline */
    int error_fd;
    struct event *error_readable, *died, *patience, *over;
    int status;
    unsigned patience_ms;
    enum escalation escalation;
    bool output_ended, errors_ended, dead;
};

/* The group's number is ours until its leader is reaped, so the kill comes first. */
static void reap(struct child *c)
{
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        ;
    c->pid = 0;
}

/* Three conditions, since what it said on standard error may be the reason. */
static void end_if_over(struct child *c)
{
    if (!c->output_ended || !c->errors_ended || !c->dead || !c->pid)
        return;
    reap(c);
    event_active(c->over, EV_TIMEOUT, 0);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;

    (void)fd;
    (void)what;
    event_del(c->patience);
    c->ops->ended(c->arg, c->status);
}

static void on_message(void *arg, const cJSON *object, const char *line)
{
    struct child *c = arg;

    if (object)
        c->ops->message(c->arg, object);
    else
        c->ops->line(c->arg, line);
}

/* A process whose output has ended can report nothing more: it is asked to end. */
static void on_closed(void *arg, int err)
{
    struct child *c = arg;

    if (err == EMSGSIZE)
        c->ops->line(c->arg, "it wrote a line longer than any message");
    c->output_ended = true;
    child_end(c);
    end_if_over(c);
}

static void tell_line(struct child *c, size_t len)
{
    char text[ERROR_LINE_MAX + 1];

    evbuffer_remove(c->errors, text, len);
    text[len] = '\0';
    c->ops->line(c->arg, text);
}

static void on_errors(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;
    int n = evbuffer_read(c->errors, fd, ERROR_LINE_MAX);
    char *line;

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    while ((line = evbuffer_readln(c->errors, NULL, EVBUFFER_EOL_LF))) {
        c->ops->line(c->arg, line);
        free(line);
    }
    while (evbuffer_get_length(c->errors) >= ERROR_LINE_MAX)
        tell_line(c, ERROR_LINE_MAX);
    if (n > 0)
        return;
    if (evbuffer_get_length(c->errors))
        tell_line(c, evbuffer_get_length(c->errors));
    event_del(c->error_readable);
    c->errors_ended = true;
    end_if_over(c);
}

static void wait_patiently(struct child *c)
{
    struct timeval patience = timeval_from_ns(c->patience_ms * NS_PER_MS);

    event_add(c->patience, &patience);
}

static void escalate(struct child *c)
{
    c->escalation++;
    switch (c->escalation) {
    case NOT_ASKED:
    case INPUT_CLOSED:
        channel_finish(c->channel);
        break;
    case TERMINATED:
        kill(-c->pid, SIGTERM);
        break;
    case KILLED:
        kill(-c->pid, SIGKILL);
        break;
    case GIVEN_UP:
        /* Whoever holds its output open now has left the group: not ours to end. */
        c->output_ended = c->errors_ended = true;
        event_del(c->error_readable);
        end_if_over(c);
        return;
    }
    wait_patiently(c);
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;

    (void)fd;
    (void)what;
    if (c->pid)
        escalate(c);
}

/*
 * SIGCHLD: whose it was is asked without reaping. What a dead launcher started may
 * live on and hold its output open: it is ended as well, by the same steps.
 */
static void on_died(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;
    siginfo_t dead = {0};

    (void)fd;
    (void)what;
    if (c->dead || waitid(P_PID, (id_t)c->pid, &dead, WEXITED | WNOHANG | WNOWAIT) ||
        dead.si_pid != c->pid)
        return;
    c->dead = true;
    end_if_over(c);
    if (c->pid && c->escalation < TERMINATED) {
        c->escalation = INPUT_CLOSED;
        escalate(c);
    }
}

void child_set_patience(struct child *c, unsigned patience_ms)
{
    c->patience_ms = patience_ms;
}

void child_end(struct child *c)
{
    if (c->pid && c->escalation == NOT_ASKED)
        escalate(c);
}

void child_kill(struct child *c)
{
    if (!c->pid || c->escalation >= KILLED)
        return;
    c->escalation = TERMINATED;
    escalate(c);
}

/* Append words[i] = start of a word in `to`; the quotes vanish. */
static int split_into(const char *text, char *to, char **words, size_t *count)
{
    char quote = '\0';
    bool in_word = false;

    for (; *text; text++) {
        if (!quote && (*text == ' ' || *text == '\t')) {
            if (in_word)
                *to++ = '\0';
            in_word = false;
            continue;
        }
        if (!in_word)
            words[(*count)++] = to;
        in_word = true;
        if (quote ? *text == quote : *text == '\'' || *text == '"')
            quote = quote ? '\0' : *text;
        else
            *to++ = *text;
    }
    *to = '\0';
    words[*count] = NULL;
    return quote ? -EINVAL : 0;
}

int launcher_split(const char *text, char ***words, size_t *count)
{
    size_t most = strlen(text) / 2 + 2; /* words and the final NULL */
    char **array = malloc(most * sizeof(char *) + strlen(text) + 1);
    int rc;

    if (!array)
        return -ENOMEM;
    *count = 0;
    rc = split_into(text, (char *)(array + most), array, count);
    if (rc < 0) {
        free(array);
        return rc;
    }
    *words = array;
    return 0;
}

/* What a worker has as its standard descriptors, 0 to 2, and the parent's other ends. */
struct ends {
    int child[3], parent[3];
};

static int set_actions(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                       const int *standard)
{
    sigset_t defaults, none;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    if (posix_spawn_file_actions_adddup2(actions, standard[0], 0) ||
        posix_spawn_file_actions_adddup2(actions, standard[1], 1) ||
        posix_spawn_file_actions_adddup2(actions, standard[2], 2) ||
        posix_spawnattr_setpgroup(attributes, 0) ||
        posix_spawnattr_setsigmask(attributes, &none) ||
        posix_spawnattr_setsigdefault(attributes, &defaults))
        return ENOMEM;
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                                    POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
}

/* 0 or a positive errno. */
static int spawn(pid_t *pid, const char **argv, const int *standard)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int err = posix_spawn_file_actions_init(&actions);

    if (err)
        return err;
    err = posix_spawnattr_init(&attributes);
    if (!err) {
        err = set_actions(&actions, &attributes, standard);
        if (!err)
            err =
                posix_spawnp(pid, argv[0], &actions, &attributes, (char **)argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return err;
}

/* launcher words + program + "worker". `words` holds the texts; both are freed. */
static int make_argv(const char *launcher, const char *program, char ***words,
                     const char ***argv, struct fail *fail)
{
    size_t count;
    int rc = launcher_split(launcher, words, &count);

    if (rc == -EINVAL)
        return fail_usage(fail, "launch", "the launcher '%s' has an open quote",
                          launcher);
    *argv = rc == 0 ? malloc((count + 3) * sizeof(**argv)) : NULL;
    if (!*argv) {
        fail_set(fail, ENOMEM, "launch", "starting a worker");
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        (*argv)[i] = (*words)[i];
    (*argv)[count] = program;
    (*argv)[count + 1] = "worker";
    (*argv)[count + 2] = NULL;
    return 0;
}

/*
 * Three pipes. One socket for input and output would be one open file, which the worker
 * makes non-blocking as a whole: a launcher that reads or writes between it and us would
 * find its own end changed.
 */
static int open_ends(struct ends *e)
{
    for (int i = 0; i < 3; i++) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
            return -errno;
        e->child[i] = fds[i != 0];
        e->parent[i] = fds[i == 0];
    }
    return fcntl(e->parent[2], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int launch(struct child *c, const char *launcher, const char *program,
                  struct ends *ends, struct fail *fail)
{
    char **words = NULL;
    const char **argv = NULL;
    int err = -open_ends(ends);

    if (err)
        return fail_set(fail, err, "launch", "no descriptors for a worker");
    err = -make_argv(launcher, program, &words, &argv, fail);
    if (!err) {
        err = spawn(&c->pid, argv, ends->child);
        if (err) {
            c->pid = 0;
            fail_set(fail, err, "launch", "'%s' cannot be started", argv[0]);
        }
    }
    free(argv);
    free(words);
    return -err;
}

static int watch(struct child *c, struct event_base *base, struct ends *ends)
{
    static const struct channel_ops ops = {on_message, on_closed};

    c->errors = evbuffer_new();
    c->error_readable = event_new(base, c->error_fd, EV_READ | EV_PERSIST, on_errors, c);
    c->died = evsignal_new(base, SIGCHLD, on_died, c);
    c->patience = evtimer_new(base, on_patience, c);
    c->over = event_new(base, -1, 0, on_over, c);
    c->channel = channel_new(base, ends->parent[1], ends->parent[0], &ops, c);
    if (c->channel)
        ends->parent[0] = ends->parent[1] = -1; /* taken over */
    if (!c->errors || !c->error_readable || !c->died || !c->patience || !c->over ||
        !c->channel)
        return -ENOMEM;
    if (event_add(c->error_readable, NULL) < 0 || event_add(c->died, NULL) < 0)
        return -ENOMEM;
    /* It may have ended before the signal was watched. */
    event_active(c->died, EV_SIGNAL, 1);
    return 0;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

struct child *child_new(struct event_base *base, const char *launcher,
                        const char *program, const struct child_ops *ops, void *arg,
                        struct fail *fail)
{
    struct child *c = calloc(1, sizeof(*c));
    struct ends ends = {{-1, -1, -1}, {-1, -1, -1}};
    int rc;

    if (!c) {
        fail_set(fail, ENOMEM, "launch", "starting a worker");
        return NULL;
    }
    c->ops = ops;
    c->arg = arg;
    c->patience_ms = CHILD_PATIENCE_MS;
    rc = launch(c, launcher, program, &ends, fail);
    for (int i = 0; i < 3; i++)
        close_if_open(ends.child[i]);
    c->error_fd = ends.parent[2];
    if (rc == 0 && watch(c, base, &ends) < 0)
        rc = fail_set(fail, ENOMEM, "launch", "watching a worker");
    close_if_open(ends.parent[0]);
    close_if_open(ends.parent[1]);
    if (rc == 0)
        return c;
    child_free(c);
    return NULL;
}

void child_free(struct child *c)
{
    if (!c)
        return;
    if (c->pid)
        reap(c);
    channel_free(c->channel);
    event_drop(c->error_readable);
    event_drop(c->died);
    event_drop(c->patience);
    event_drop(c->over);
    if (c->errors)
        evbuffer_free(c->errors);
    close_if_open(c->error_fd);
    free(c);
}

int child_send(struct child *c, cJSON *object)
{
    return channel_send(c->channel, object);
}

pid_t child_pid(const struct child *c)
{
    return c->pid;
}
