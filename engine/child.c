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
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/channel.h"

struct child {
    pid_t pid;
    const struct child_ops *ops; /* borrowed */
    void *arg;                   /* borrowed */
    struct channel *channel;
    struct evbuffer *errors; /* of its standard error, up to the last newline */
    int error_fd;
    struct event *error_readable, *reaped, *patience, *over;
    int status;
    int escalation; /* 0 not asked, 1 input closed, 2 SIGTERM, 3 SIGKILL */
    bool output_ended, errors_ended, status_known;
};

/* Three conditions, since what it said on standard error may be the reason. */
static void end_if_over(struct child *c)
{
    if (c->output_ended && c->errors_ended && c->status_known)
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

static void on_closed(void *arg, int err)
{
    struct child *c = arg;

    (void)err;
    c->output_ended = true;
    end_if_over(c);
}

static void on_errors(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;
    int n = evbuffer_read(c->errors, fd, 4096);
    char *line;

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    while ((line = evbuffer_readln(c->errors, NULL,
                                   n > 0 ? EVBUFFER_EOL_LF : EVBUFFER_EOL_ANY))) {
        c->ops->line(c->arg, line);
        free(line);
    }
    if (n > 0 && evbuffer_get_length(c->errors) < 65536)
        return;
    if (n <= 0 && evbuffer_get_length(c->errors)) {
        evbuffer_add(c->errors, "", 1);
        c->ops->line(c->arg, (char *)evbuffer_pullup(c->errors, -1));
    }
    event_del(c->error_readable);
    c->errors_ended = true;
    end_if_over(c);
}

static void on_reaped(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;
    siginfo_t dead = {0};

    (void)fd;
    (void)what;
    if (c->status_known ||
        waitid(P_PID, (id_t)c->pid, &dead, WEXITED | WNOHANG | WNOWAIT) ||
        dead.si_pid != c->pid)
        return;
    /* What a dead launcher started may still hold its output open. The group's number
     * is ours as long as its leader is not reaped. */
    kill(-c->pid, SIGTERM);
    waitpid(c->pid, &c->status, 0);
    c->status_known = true;
    end_if_over(c);
}

static void escalate(struct child *c)
{
    struct timeval patience = {CHILD_PATIENCE_MS / 1000, CHILD_PATIENCE_MS % 1000 * 1000};

    c->escalation++;
    if (c->escalation == 1)
        channel_finish(c->channel);
    else if (c->escalation == 2)
        kill(-c->pid, SIGTERM);
    else
        kill(-c->pid, SIGKILL);
    if (c->escalation < 3)
        event_add(c->patience, &patience);
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    escalate(arg);
}

void child_end(struct child *c)
{
    if (c->escalation == 0)
        escalate(c);
}

void child_kill(struct child *c)
{
    c->escalation = 2;
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

static int set_actions(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                       int channel_fd, int error_fd)
{
    sigset_t defaults, none;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    if (posix_spawn_file_actions_adddup2(actions, channel_fd, 0) ||
        posix_spawn_file_actions_adddup2(actions, channel_fd, 1) ||
        posix_spawn_file_actions_adddup2(actions, error_fd, 2) ||
        posix_spawnattr_setpgroup(attributes, 0) ||
        posix_spawnattr_setsigmask(attributes, &none) ||
        posix_spawnattr_setsigdefault(attributes, &defaults))
        return ENOMEM;
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                                    POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
}

/* 0 or a positive errno. */
static int spawn(pid_t *pid, char **argv, int channel_fd, int error_fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int err = posix_spawn_file_actions_init(&actions);

    if (err)
        return err;
    err = posix_spawnattr_init(&attributes);
    if (!err) {
        err = set_actions(&actions, &attributes, channel_fd, error_fd);
        if (!err)
            err = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return err;
}

/* launcher words + program + "worker": in one allocation that the caller frees. */
static int make_argv(const char *launcher, const char *program, char ***argv,
                     struct fail *fail)
{
    char *text;
    size_t count;
    int rc = asprintf(&text, "%s \"%s\" worker", launcher, program) < 0 ? -ENOMEM : 0;

    if (rc == 0) {
        rc = launcher_split(text, argv, &count);
        free(text);
    }
    if (rc == -EINVAL)
        return fail_set(fail, EINVAL, "launch", "the launcher '%s' has an open quote",
                        launcher);
    return rc < 0 ? fail_set(fail, ENOMEM, "launch", "starting a worker") : 0;
}

static int launch(struct child *c, const char *launcher, const char *program, int fds[2],
                  int error_fds[2], struct fail *fail)
{
    char **argv;
    int err;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
        pipe2(error_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return fail_set(fail, errno, "launch", "no descriptors for a worker");
    /* The child's end of the pipe must block, or its messages would be cut. */
    fcntl(error_fds[1], F_SETFL, 0);
    if (make_argv(launcher, program, &argv, fail) < 0)
        return -EINVAL;
    err = spawn(&c->pid, argv, fds[1], error_fds[1]);
    if (err)
        fail_set(fail, err, "launch", "'%s' cannot be started", argv[0]);
    free(argv);
    return -err;
}

static int watch(struct child *c, struct event_base *base, int channel_fd)
{
    static const struct channel_ops ops = {on_message, on_closed};

    c->errors = evbuffer_new();
    c->error_readable = event_new(base, c->error_fd, EV_READ | EV_PERSIST, on_errors, c);
    c->reaped = evsignal_new(base, SIGCHLD, on_reaped, c);
    c->patience = evtimer_new(base, on_patience, c);
    c->over = event_new(base, -1, 0, on_over, c);
    c->channel = channel_new(base, channel_fd, channel_fd, &ops, c);
    if (!c->channel)
        close(channel_fd);
    if (!c->errors || !c->error_readable || !c->reaped || !c->patience || !c->over ||
        !c->channel)
        return -ENOMEM;
    if (event_add(c->error_readable, NULL) < 0 || event_add(c->reaped, NULL) < 0)
        return -ENOMEM;
    /* It may have ended before the signal was watched. */
    event_active(c->reaped, EV_SIGNAL, 1);
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
    int fds[2] = {-1, -1};
    int error_fds[2] = {-1, -1};
    int rc;

    if (!c) {
        fail_set(fail, ENOMEM, "launch", "starting a worker");
        return NULL;
    }
    c->ops = ops;
    c->arg = arg;
    rc = launch(c, launcher, program, fds, error_fds, fail);
    close_if_open(fds[1]);
    close_if_open(error_fds[1]);
    c->error_fd = error_fds[0];
    if (rc < 0) {
        close_if_open(fds[0]);
        c->status_known = true; /* there is no process */
    } else if (watch(c, base, fds[0]) < 0) {
        rc = fail_set(fail, ENOMEM, "launch", "watching a worker");
    }
    if (rc == 0)
        return c;
    child_free(c);
    return NULL;
}

void child_free(struct child *c)
{
    if (!c)
        return;
    if (!c->status_known) {
        kill(-c->pid, SIGKILL);
        while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
            ;
    }
    channel_free(c->channel);
    if (c->error_readable)
        event_free(c->error_readable);
    if (c->reaped)
        event_free(c->reaped);
    if (c->patience)
        event_free(c->patience);
    if (c->over)
        event_free(c->over);
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
