/* Workers as their parent sees them: started by every kind of launcher, and over only
 * when nothing of them is left. */
#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/child.h"
#include "engine/message.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/pair.h"

#define PATIENCE_MS 150

struct stage {
    struct event_base *base;
    struct child *child;
    struct fail fail;
    unsigned messages, lines, longest;
    enum message_type type; /* of the last message */
    char line[256];         /* the last one */
    bool ended, free_in_ended;
    int status;
    uint64_t ended_ns;
    unsigned descriptors;
};

static void on_message(void *arg, const cJSON *object)
{
    struct stage *s = arg;

    assert_false(s->ended);
    s->messages++;
    s->type = message_type(object);
}

static void on_line(void *arg, const char *text)
{
    struct stage *s = arg;

    assert_false(s->ended);
    s->lines++;
    if (strlen(text) > s->longest)
        s->longest = (unsigned)strlen(text);
    snprintf(s->line, sizeof(s->line), "%.255s", text);
}

static void on_ended(void *arg, int status)
{
    struct stage *s = arg;

    assert_false(s->ended);
    s->ended = true;
    s->status = status;
    s->ended_ns = now_ns();
    event_base_loopbreak(s->base);
    if (s->free_in_ended) {
        child_free(s->child);
        s->child = NULL;
    }
}

static const struct child_ops ops = {on_message, on_line, on_ended};

static void stage_init(struct stage *s)
{
    memset(s, 0, sizeof(*s));
    s->descriptors = open_descriptors();
    s->base = pair_base();
}

static const char *fake(void)
{
    static char path[512];
    const char *build = getenv("PLIMSOLL_BUILD");

    snprintf(path, sizeof(path), "%s/tests/fakeworker", build ? build : "build");
    return path;
}

/* Start the fake worker with a script. */
static void start(struct stage *s, const char *script)
{
    char launcher[1024];

    snprintf(launcher, sizeof(launcher), "\"%s\" '%s'", fake(), script);
    s->child = child_new(s->base, launcher, "/nonexistent", &ops, s, &s->fail);
    if (!s->child)
        print_error("%s\n", s->fail.sentence);
    assert_non_null(s->child);
    child_set_patience(s->child, PATIENCE_MS);
}

/* Whether a process of the group runs; zombies are init's, which takes its time. */
static bool group_lives(pid_t pid)
{
    DIR *d = opendir("/proc");
    bool lives = false;

    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[300];
        char state = 'Z';
        int group = 0;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
        f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (!f)
            continue;
        if (fscanf(f, "%*d (%*[^)]) %c %*d %d", &state, &group) == 2)
            lives |= group == pid && state != 'Z' && state != 'X';
        fclose(f);
    }
    closedir(d);
    return lives;
}

/* An orphan in the group was killed and may still be dying. */
static void assert_group_goes(pid_t pid)
{
    for (int n = 0; n < 2000 && group_lives(pid); n++)
        usleep(1000);
    assert_false(group_lives(pid));
}

static void turn_until(struct stage *s, const bool *flag, unsigned span_ms)
{
    pair_turn(s->base, flag, span_ms);
}

/* Until it has said something. */
static void await_message(struct stage *s)
{
    for (int n = 0; n < 10000 && !s->messages && !s->ended; n++)
        turn_until(s, &s->ended, 1);
    assert_true(s->messages > 0);
}

/* Until it is over; then neither a process nor a zombie nor a descriptor is left. */
static void finish(struct stage *s)
{
    pid_t pid = s->child ? child_pid(s->child) : 0;

    turn_until(s, &s->ended, 10000);
    assert_true(s->ended);
    /* A killed process closes its output a moment before it is dead. */
    if (pid)
        assert_group_goes(pid);
    child_free(s->child);
    event_base_free(s->base);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(open_descriptors(), s->descriptors);
}

static void messages_and_lines_come_before_the_end(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    start(
        &s,
        "tell one; ready x; say not JSON; sample 5; tell two; done completed 5; exit 7");
    finish(&s);
    assert_int_equal(s.messages, 3);
    assert_int_equal(s.type, MESSAGE_DONE);
    assert_int_equal(s.lines, 3);
    assert_true(WIFEXITED(s.status));
    assert_int_equal(WEXITSTATUS(s.status), 7);
}

static void what_is_sent_arrives(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    start(&s, "wait start; wait stop; ready x; wait end; exit 0");
    assert_int_equal(child_send(s.child, message_new(MESSAGE_START)), 0);
    assert_int_equal(child_send(s.child, message_new(MESSAGE_STOP)), 0);
    await_message(&s);
    assert_int_equal(s.messages, 1);
    assert_false(s.ended);
    child_set_patience(s.child, 60000); /* it ends by itself */
    child_end(s.child);
    finish(&s);
    assert_true(WIFEXITED(s.status));
    assert_int_equal(WEXITSTATUS(s.status), 0);
}

/* The process is dead at once, its last words are still in the pipe. */
static void a_dead_process_is_heard_to_its_end(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    start(&s, "sample 1; sample 2; sample 3; tell why; die 9");
    /* It is long dead when the loop turns for the first time. */
    while (kill(child_pid(s.child), 0) == 0) {
        siginfo_t dead = {0};

        waitid(P_PID, (id_t)child_pid(s.child), &dead, WEXITED | WNOWAIT);
        if (dead.si_pid)
            break;
    }
    finish(&s);
    assert_int_equal(s.messages, 3);
    assert_string_equal(s.line, "why");
    assert_true(WIFSIGNALED(s.status));
    assert_int_equal(WTERMSIG(s.status), SIGKILL);
}

/* Its output has ended, the process lives: that is not its end, but leads to it. */
static void a_process_without_output_is_ended(void **state)
{
    struct stage s;
    uint64_t began_ns = now_ns();

    (void)state;
    stage_init(&s);
    start(&s, "deaf; ready x; close; silent");
    turn_until(&s, &s.ended, PATIENCE_MS / 2);
    assert_false(s.ended);
    finish(&s);
    assert_true(WIFSIGNALED(s.status));
    assert_int_equal(WTERMSIG(s.status), SIGKILL);
    assert_in_range(s.ended_ns - began_ns, PATIENCE_MS * NS_PER_MS, 8 * NS_PER_S);
}

/* The process is dead, what it started holds the output and is deaf to SIGTERM. */
static void what_a_dead_process_left_is_ended(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    start(&s, "orphan; orphan; ready x; exit 4");
    finish(&s);
    assert_int_equal(s.messages, 1);
    assert_true(WIFEXITED(s.status));
    assert_int_equal(WEXITSTATUS(s.status), 4);
}

/* What has left the group cannot be ended; it must not keep the run from ending. */
static void what_has_left_the_group_is_not_waited_for(void **state)
{
    struct stage s;
    pid_t stray;

    (void)state;
    stage_init(&s);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    start(&s, "stray; ready x; exit 0");
    turn_until(&s, &s.ended, 10000);
    assert_true(s.ended);
    child_free(s.child);
    event_base_free(s.base);
    assert_int_equal(open_descriptors(), s.descriptors);
    stray = waitpid(-1, NULL, WNOHANG);
    assert_int_equal(stray, 0);        /* there is one, and it lives */
    assert_int_equal(end_strays(), 1); /* ours to end, since the test started it */
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void each_step_is_harder(void **state)
{
    static const struct {
        const char *script;
        unsigned least_ms, signal;
    } rows[] = {
        {"ready x; wait end; exit 0", 0, 0},
        {"ready x; pause", PATIENCE_MS, SIGTERM},
        {"deaf; ready x; silent", 2 * PATIENCE_MS, SIGKILL},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;
        uint64_t began_ns;

        stage_init(&s);
        start(&s, rows[i].script);
        await_message(&s);
        if (!rows[i].signal)
            child_set_patience(s.child, 60000);
        began_ns = now_ns();
        child_end(s.child);
        child_end(s.child); /* asking again changes nothing */
        finish(&s);
        assert_in_range(s.ended_ns - began_ns, rows[i].least_ms * NS_PER_MS,
                        8 * NS_PER_S);
        if (rows[i].signal)
            assert_int_equal(WTERMSIG(s.status), rows[i].signal);
        else
            assert_int_equal(s.status, 0);
    }
}

static void a_kill_does_not_wait(void **state)
{
    struct stage s;
    uint64_t began_ns;

    (void)state;
    stage_init(&s);
    start(&s, "ready x; silent");
    child_set_patience(s.child, 60000);
    turn_until(&s, NULL, 50);
    began_ns = now_ns();
    child_end(s.child);
    child_kill(s.child);
    child_kill(s.child);
    s.free_in_ended = true;
    finish(&s);
    assert_true(s.ended_ns - began_ns < 8 * NS_PER_S);
    assert_int_equal(WTERMSIG(s.status), SIGKILL);
}

static void freeing_a_running_child_leaves_nothing(void **state)
{
    static const char *const scripts[] = {"wait end; exit 0", "silent",
                                          "orphan; silent",   "orphan; exit 0",
                                          "close; silent",    "exit 0"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(scripts); i++)
        for (unsigned span_ms = 0; span_ms <= 40; span_ms += 40) {
            struct stage s;
            pid_t pid;

            stage_init(&s);
            start(&s, scripts[i]);
            pid = child_pid(s.child);
            turn_until(&s, &s.ended, span_ms);
            child_free(s.child);
            assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
            assert_group_goes(pid);
            event_base_free(s.base);
            assert_int_equal(open_descriptors(), s.descriptors);
        }
}

static void a_flood_of_errors_does_not_stop_it(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    start(&s, "flood; tell .; tell end; exit 0");
    finish(&s);
    assert_true(WIFEXITED(s.status));
    assert_true(s.lines > 50);
    assert_true(s.longest <= 4096);
    assert_string_equal(s.line, "end");
}

static void a_huge_line_ends_it(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    start(&s, "huge; silent");
    finish(&s);
    assert_int_equal(s.messages, 0);
}

static void many_children_die_at_once(void **state)
{
    struct stage stages[20];
    struct event_base *base = pair_base();
    unsigned descriptors = open_descriptors();

    (void)state;
    for (size_t i = 0; i < 20; i++) {
        memset(&stages[i], 0, sizeof(stages[i]));
        stages[i].base = base;
        start(&stages[i], i % 2 ? "ready x; exit 3" : "wait end; die 15");
        child_set_patience(stages[i].child, 60000); /* they end by themselves */
    }
    for (size_t i = 0; i < 20; i++)
        child_end(stages[i].child);
    for (size_t i = 0; i < 20; i++) {
        turn_until(&stages[i], &stages[i].ended, 10000);
        assert_true(stages[i].ended);
        assert_true(i % 2 ? WEXITSTATUS(stages[i].status) == 3
                          : WTERMSIG(stages[i].status) == SIGTERM);
        child_free(stages[i].child);
    }
    assert_int_equal(open_descriptors(), descriptors);
    event_base_free(base);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Launchers. */

static void expect_words(const char *text, size_t count, const char *const *wanted)
{
    char **words;
    size_t n;

    assert_int_equal(launcher_split(text, &words, &n), 0);
    assert_int_equal(n, count);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(words[i], wanted[i]);
    assert_null(words[n]);
    free(words);
}

static void launchers_are_split_into_words(void **state)
{
    static const char *const open[] = {"'", "\"", "a 'b", "a\"b c", "'a\"", "a ''b'"};
    char **words;
    size_t n;

    (void)state;
    expect_words("", 0, NULL);
    expect_words(" \t ", 0, NULL);
    expect_words("ip netns exec A", 4, (const char *const[]){"ip", "netns", "exec", "A"});
    expect_words("  a\tb  ", 2, (const char *const[]){"a", "b"});
    expect_words("'a b' \"c d\"", 2, (const char *const[]){"a b", "c d"});
    expect_words("a'b c'd", 1, (const char *const[]){"ab cd"});
    expect_words("\"it's\" 'a \"b\"'", 2, (const char *const[]){"it's", "a \"b\""});
    expect_words("'' a \"\"", 3, (const char *const[]){"", "a", ""});
    expect_words("ssh -o 'User me' host", 4,
                 (const char *const[]){"ssh", "-o", "User me", "host"});
    for (size_t i = 0; i < NUMBER_OF(open); i++)
        assert_int_equal(launcher_split(open[i], &words, &n), -EINVAL);
}

static void expect_refused(const char *launcher, const char *program, const char *said)
{
    struct stage s;

    stage_init(&s);
    s.child = child_new(s.base, launcher, program, &ops, &s, &s.fail);
    assert_null(s.child);
    assert_int_not_equal(s.fail.err, 0);
    if (!strstr(s.fail.sentence, said))
        print_error("%s\n", s.fail.sentence);
    assert_non_null(strstr(s.fail.sentence, said));
    event_base_free(s.base);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(open_descriptors(), s.descriptors);
}

static void a_launcher_that_does_not_exist_is_named(void **state)
{
    (void)state;
    expect_refused("/no/such/launcher x", "/bin/true", "'/no/such/launcher' cannot be");
    expect_refused("no-such-launcher-anywhere", "/bin/true",
                   "'no-such-launcher-anywhere'");
    expect_refused("/etc/passwd", "/bin/true", "Permission denied");
    expect_refused("a 'b", "/bin/true", "open quote");
    expect_refused("", "/no/such/program", "'/no/such/program' cannot be");
    expect_refused("''", "/bin/true", "cannot be started");
}

/* The program's own path needs no quoting. */
static void any_path_of_the_program_will_do(void **state)
{
    char directory[] = "/tmp/plimsoll \"it's\" XXXXXX";
    char path[128];
    struct stage s;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/program", directory);
    f = fopen(path, "we");
    assert_non_null(f);
    fputs("#!/bin/sh\necho \"{\\\"type\\\":\\\"$1\\\"}\"\n"
          "[ \"$1\" = worker ] && echo '{\"type\":\"ready\"}'\n",
          f);
    fclose(f);
    chmod(path, 0700);
    stage_init(&s);
    s.child = child_new(s.base, "env -u HOME", path, &ops, &s, &s.fail);
    assert_non_null(s.child);
    finish(&s);
    assert_int_equal(s.messages, 2);
    assert_int_equal(s.type, MESSAGE_READY);
    unlink(path);
    rmdir(directory);
}

/* A worker must start with the signals and the group that it expects. */
static void a_child_starts_clean(void **state)
{
    struct stage s;
    int descriptors = 0;
    unsigned long long blocked = 1, ignored = ~0ull;

    (void)state;
    signal(SIGINT, SIG_IGN);
    stage_init(&s);
    s.child = child_new(s.base,
                        "sh -c 'echo $(ls /proc/self/fd | wc -l) "
                        "$(grep -E \"SigBlk|SigIgn\" /proc/self/status) >&2'",
                        "/bin/true", &ops, &s, &s.fail);
    assert_non_null(s.child);
    assert_int_equal(getpgid(child_pid(s.child)), child_pid(s.child));
    finish(&s);
    signal(SIGINT, SIG_DFL);
    /* 0, 1, 2 and the directory that ls reads: no descriptor of ours leaks. */
    assert_int_equal(
        sscanf(s.line, "%d SigBlk: %llx SigIgn: %llx", &descriptors, &blocked, &ignored),
        3);
    assert_int_equal(descriptors, 4);
    assert_int_equal(blocked, 0);
    assert_int_equal(ignored & (1u << (SIGINT - 1) | 1u << (SIGPIPE - 1)), 0);
}

int main(void)
{
    /* What the test was started with is not the engine's to close. */
    for (int fd = 3; fd < 1024; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_and_lines_come_before_the_end),
        cmocka_unit_test(what_is_sent_arrives),
        cmocka_unit_test(a_dead_process_is_heard_to_its_end),
        cmocka_unit_test(a_process_without_output_is_ended),
        cmocka_unit_test(what_a_dead_process_left_is_ended),
        cmocka_unit_test(what_has_left_the_group_is_not_waited_for),
        cmocka_unit_test(each_step_is_harder),
        cmocka_unit_test(a_kill_does_not_wait),
        cmocka_unit_test(freeing_a_running_child_leaves_nothing),
        cmocka_unit_test(a_flood_of_errors_does_not_stop_it),
        cmocka_unit_test(a_huge_line_ends_it),
        cmocka_unit_test(many_children_die_at_once),
        cmocka_unit_test(launchers_are_split_into_words),
        cmocka_unit_test(a_launcher_that_does_not_exist_is_named),
        cmocka_unit_test(any_path_of_the_program_will_do),
        cmocka_unit_test(a_child_starts_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
