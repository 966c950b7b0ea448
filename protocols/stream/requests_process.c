/*
 * Requests each of which is a process of its own (client=process): plimsoll-once is
 * started, does one request, records when it did what, and ends. The request has
 * ended when the pipe that the process holds has ended and its status is known.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/spawn.h"
#include "protocols/stream/requests.h"

static const char *phase_word(uint32_t phase)
{
    static const char *const words[] = {
#define X(id, word) word,
        ONESHOT_PHASES(X)
#undef X
    };

    return phase < NUMBER_OF(words) ? words[phase] : words[0];
}

/* Collect the process, which has ended or is about to. */
static int collect(struct slot *s)
{
    int status = 0;

    if (s->watched)
        event_del(&s->in);
    s->watched = false;
    if (s->alive_fd >= 0)
        close(s->alive_fd);
    s->alive_fd = -1;
    while (s->pid > 0 && waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
    return status;
}

static void abandon(struct slot *s)
{
    if (s->pid > 0)
        kill(s->pid, SIGKILL);
    collect(s);
}

static void died(struct slot *s, int status)
{
    char word[40];

    if (WIFSIGNALED(status))
        snprintf(word, sizeof(word), "process SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(word, sizeof(word), "process exit %d", WEXITSTATUS(status));
    request_failed_word(s, word);
}

static void count(struct slot *s, const struct oneshot_record *record)
{
    struct meter *m = s->requests->env->meter;

    m->counters.sent_bytes += record->sent_bytes;
    m->counters.received_bytes += record->received_bytes;
    m->counters.sent_messages += record->sent_bytes == s->requests->message.len_bytes;
    m->counters.connections += record->connected_ns > 0;
    meter_record(m, METER_HIST_spawn, record->started_ns - s->begun_ns);
}

static void succeeds(struct slot *s, const struct oneshot_record *record)
{
    struct meter *m = s->requests->env->meter;

    m->counters.received_messages++;
    meter_record(m, METER_HIST_connect, record->connected_ns - record->started_ns);
    meter_record(m, METER_HIST_exchange, record->ended_ns - record->connected_ns);
    request_succeeded(s, now_ns());
}

/* False when the process has written none, so that an earlier one's stands there. */
static bool read_record(const struct slot *s, struct oneshot_record *record)
{
    off_t at = (off_t)(s->requests->records_at + s->number * sizeof(*record));

    return pread(s->requests->job_fd, record, sizeof(*record), at) == sizeof(*record) &&
           record->magic == ONESHOT_MAGIC && record->started_ns >= s->begun_ns;
}

static void process_ended(evutil_socket_t fd, short what, void *arg)
{
    struct slot *s = arg;
    struct oneshot_record record;
    int status = collect(s);
    const char *fault;

    (void)fd;
    (void)what;
    if (!read_record(s, &record)) {
        died(s, status);
        return;
    }
    count(s, &record);
    fault = request_reply_fault(s->requests, record.received_bytes);
    if (record.err)
        request_failed(s, phase_word(record.phase), -record.err);
    else if (fault)
        request_failed_word(s, fault);
    else
        succeeds(s, &record);
}

static void begin(struct slot *s)
{
    struct requests *r = s->requests;
    char number[24];
    char *argv[] = {r->program, number, NULL};
    int ends[2];
    int fds[] = {r->null_fd, r->null_fd, STDERR_FILENO, -1, r->job_fd};
    int err = pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0;

    if (err) {
        request_failed(s, "spawn", err);
        return;
    }
    snprintf(number, sizeof(number), "%zu", s->number);
    fds[ONESHOT_ALIVE] = ends[1];
    err = spawn_start(&s->pid, argv, fds, ONESHOT_JOB + 1);
    close(ends[1]);
    if (err) {
        s->pid = 0;
        close(ends[0]);
        request_failed(s, "spawn", err);
        return;
    }
    s->alive_fd = ends[0];
    event_assign(&s->in, r->env->base, ends[0], EV_READ, process_ended, s);
    event_add(&s->in, NULL);
    s->watched = true;
}

/* Beside the program that runs, unless the engine says where it is. */
static int find_program(struct requests *r, struct fail *fail)
{
    char path[PATH_MAX] = "";
    const char *given = options_text(r->env->options, OPTION_oneshot_program, "");
    ssize_t n = *given ? 0 : readlink("/proc/self/exe", path, sizeof(path) - 32);

    if (n > 0) {
        path[n] = '\0';
        snprintf(strrchr(path, '/') + 1, 32, "plimsoll-once");
        given = path;
    }
    r->program = strdup(given);
    if (!r->program)
        return fail_set(fail, ENOMEM, "prepare", "the client cannot be made");
    if (access(r->program, X_OK) < 0)
        return fail_set(fail, errno, "program",
                        "the program for one request, \"%.200s\", cannot be run", given);
    return 0;
}

/* The job file; pages of a memfd are shared by all that read them. */
static int write_job(struct requests *r, struct fail *fail)
{
    const struct target *t = &r->target;
    struct oneshot_job job = {
        .magic = ONESHOT_MAGIC,
        .message_bytes = r->message.len_bytes,
        .records_at = sizeof(job) + r->message.len_bytes,
        .address_len = t->address_len,
        .address = t->address,
    };
    const char *bytes = r->message.bytes;
    size_t left = r->message.len_bytes;
    ssize_t n;

    memcpy(job.path, t->endpoint.path, sizeof(job.path));
    memcpy(job.congestion, t->setup.congestion, sizeof(job.congestion));
    r->records_at = job.records_at;
    r->job_fd = memfd_create("plimsoll-job", MFD_CLOEXEC);
    n = r->job_fd < 0 ? -1 : write(r->job_fd, &job, sizeof(job));
    for (; n > 0 && left > 0; bytes += n, left -= (size_t)n)
        n = write(r->job_fd, bytes, left);
    if (n <= 0)
        return fail_set(fail, errno, "prepare", "the message cannot be stored");
    return 0;
}

static void done(struct requests *r)
{
    if (r->job_fd >= 0)
        close(r->job_fd);
    if (r->null_fd >= 0)
        close(r->null_fd);
    r->job_fd = r->null_fd = -1;
    free(r->program);
    r->program = NULL;
}

static int prepare(struct requests *r, struct fail *fail)
{
    int err = find_program(r, fail);

    if (!err)
        err = write_job(r, fail);
    if (err)
        return err;
    r->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC); /* once, not in each child */
    if (r->null_fd < 0)
        return fail_set(fail, errno, "prepare", "/dev/null cannot be opened");
    if (meter_use(r->env->meter, METER_HIST_spawn) < 0 ||
        meter_use(r->env->meter, METER_HIST_connect) < 0 ||
        meter_use(r->env->meter, METER_HIST_exchange) < 0)
        return fail_set(fail, ENOMEM, "prepare", "the client cannot be made");
    return 0;
}

const struct request_kind request_process = {
    .name = "process",
    .prepare = prepare,
    .done = done,
    .begin = begin,
    .abandon = abandon,
};
