/*
 * How stream servers and clients find each other: addresses that cannot be listened at or
 * reached, named pipes, and programs that are not this one.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/endpoint.h"
#include "protocols/transport.h"
#include "tests/stage.h"

/* What a server cannot listen at. */

static void an_address_in_use_is_said_so(void **state)
{
    static const char *const words[] = {"Address already in use", "listens at",
                                        "listens at"};

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        struct stage s;
        struct actor first;
        struct endpoint e;
        char word[160];

        stage_init(&s, "bulk-server", "bulk-client");
        stage_transport(&s, stage_transports[t]);
        stage_both(&s, "size:1000");
        actor_init(&first, "requests-server", s.base);
        snprintf(word, sizeof(word), "transport=%s", stage_transports[t]);
        actor_options(&first, word, "port:0", NULL);
        assert_int_equal(actor_prepare(&first), 0);
        assert_int_equal(endpoint_parse(&e, first.env.endpoint, NULL), 0);
        snprintf(word, sizeof(word), "port:%u", e.port);
        actor_options(&s.server, word, NULL);
        snprintf(word, sizeof(word), "path=%s", e.path);
        actor_options(&s.server, word, NULL);
        stage_expect_refusal(&s, words[t]);
        actor_done(&first);
        stage_done(&s);
    }
}

static void a_long_path_is_refused(void **state)
{
    char word[256] = "path=/tmp/";
    struct stage s;

    (void)state;
    memset(word + strlen(word), 'x', 120);
    for (size_t t = 1; t < 3; t++) {
        stage_init(&s, "requests-server", "bulk-client");
        stage_transport(&s, stage_transports[t]);
        actor_options(&s.server, word, NULL);
        stage_expect_refusal(&s, "125 bytes; a socket path has at most 107");
        stage_done(&s);
    }
}

static void a_file_of_another_kind_is_left_alone(void **state)
{
    char path[128], word[160];
    struct stage s;
    struct stat st;

    (void)state;
    for (size_t t = 1; t < 3; t++) {
        stage_init(&s, "requests-server", "requests-client");
        stage_transport(&s, stage_transports[t]);
        snprintf(path, sizeof(path), "%s/precious", s.directory);
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        snprintf(word, sizeof(word), "path=%s", path);
        actor_options(&s.server, word, NULL);
        stage_expect_refusal(&s, "left alone");
        assert_int_equal(stat(path, &st), 0);

        /* Nor does a client write to it. */
        snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "%s:%s",
                 stage_transports[t], path);
        assert_int_equal(actor_prepare(&s.client), 0);
        assert_true(actor_run(&s.client));
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, 0);
        unlink(path);
        stage_done(&s);
    }
}

/* A killed server leaves its file; the next one replaces it. */
static void a_stale_file_is_replaced(void **state)
{
    (void)state;
    for (size_t t = 1; t < 3; t++) {
        struct stage s;
        struct stage_child c;
        char word[160];

        stage_init(&s, "requests-server", "requests-client");
        snprintf(word, sizeof(word), "path=%s/here", s.directory);
        stage_child_start(&c, "requests-server", stage_transports[t], word);
        kill(c.pid, SIGKILL);
        waitpid(c.pid, NULL, 0);
        stage_transport(&s, stage_transports[t]);
        actor_options(&s.server, word, NULL);
        pair_prepare(&s.server, &s.client);
        assert_true(actor_run(&s.client));
        assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
        stage_done(&s);
    }
}

/* What a client cannot reach. */

static void a_pipe_without_a_reader_is_said_so(void **state)
{
    char path[128], endpoint[160];
    struct stage s;

    (void)state;
    for (int k = 0; k < 2; k++) {
        stage_init(&s, "bulk-server", k ? "requests-client" : "bulk-client");
        snprintf(path, sizeof(path), "%s/fifo", s.directory);
        snprintf(endpoint, sizeof(endpoint), "pipe:%s", path);
        assert_int_equal(mkfifo(path, 0600), 0);
        actor_options(&s.client, "size:1000", "requests:3", NULL);
        stage_run_alone(&s, endpoint);
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, "no server reads the named pipe"));
        unlink(path);
        stage_done(&s);
    }
}

/* Somebody reads the rendezvous and never opens a pair: give up, leave nothing. */
static void a_pipe_server_that_does_nothing_is_timed_out(void **state)
{
    static const char *const kinds[] = {"client=connection", "client=persistent",
                                        "client=process"};
    char path[128], endpoint[160];
    struct stage s;
    int fd;

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        stage_init(&s, "bulk-server", "requests-client");
        snprintf(path, sizeof(path), "%s/fifo", s.directory);
        snprintf(endpoint, sizeof(endpoint), "pipe:%s", path);
        assert_int_equal(mkfifo(path, 0600), 0);
        fd = open(path, O_RDWR | O_CLOEXEC);
        stage_oneshot_program(&s.client);
        actor_options(&s.client, kinds[k], "requests:4", "concurrency:2",
                      "timeout:200000000", NULL);
        stage_run_alone(&s, endpoint);
        assert_int_equal(actor_counters(&s.client)->timed_out, 4);
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        close(fd);
        if (k == 2) { /* a killed process cannot clear up; the owner of the path does */
            struct endpoint e;

            assert_int_equal(endpoint_parse(&e, endpoint, NULL), 0);
            endpoint_remove(&e);
        } else {
            unlink(path);
        }
        stage_done(&s);
    }
}

/* The rendezvous is full and nobody reads it: wait for room, then give up. */
static void a_full_named_pipe_is_waited_for(void **state)
{
    char path[128], endpoint[160];
    struct stage s;
    int fd;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        stage_init(&s, "bulk-server", k ? "bulk-client" : "requests-client");
        snprintf(path, sizeof(path), "%s/fifo", s.directory);
        snprintf(endpoint, sizeof(endpoint), "pipe:%s", path);
        assert_int_equal(mkfifo(path, 0600), 0);
        fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        while (write(fd, "0123456789abcdef", 16) == 16)
            ;
        assert_int_equal(errno, EAGAIN);
        actor_options(&s.client, "requests:2", "size:1000", "timeout:200000000", NULL);
        stage_run_alone(&s, endpoint);
        assert_int_equal(actor_counters(&s.client)->timed_out, k ? 1 : 2);
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, k ? "in time" : "within the timeout"));
        close(fd);
        unlink(path);
        stage_done(&s);
    }
}

/* Other people's clients and servers. */

/* A shell runs the script, with the path as $0. */
static pid_t shell(const char *script, const char *path)
{
    pid_t pid = fork();

    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", script, path, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int turn_until_ended(struct stage *s, pid_t pid)
{
    int status = -1;

    for (int i = 0; i < 3000 && waitpid(pid, &status, WNOHANG) == 0; i++)
        pair_turn(s->base, NULL, 5);
    return status;
}

/*
 * More clients of a named pipe than are taken in one go, all announced in one read: the
 * server does not wait for a further one before it takes the rest.
 */
static void clients_announced_together_are_all_taken(void **state)
{
    enum { CLIENTS = 100 };
    struct conn conns[CLIENTS];
    struct target target;
    struct stage s;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "pipe");
    assert_int_equal(actor_prepare(&s.server), 0);
    assert_int_equal(target_init(&target, s.server.env.endpoint, &s.client.options, NULL),
                     0);
    for (size_t i = 0; i < CLIENTS; i++)
        assert_int_equal(target.transport->connect(&target, &conns[i]), 0);
    for (int i = 0; i < 1000 && actor_counters(&s.server)->connections < CLIENTS; i++)
        pair_turn(s.base, NULL, 2);
    assert_int_equal(actor_counters(&s.server)->connections, CLIENTS);
    for (size_t i = 0; i < CLIENTS; i++)
        conn_close(&conns[i]);
    assert_true(actor_stop(&s.server));
    stage_done(&s);
}

/* The recipe of pipe.c's head, with the ends opened late and one after the other. */
static void a_shell_is_a_client_of_a_named_pipe(void **state)
{
    struct stage s;
    char path[128], word[160];

    (void)state;
    stage_init(&s, "bulk-server", "bulk-client");
    snprintf(path, sizeof(path), "%s/p", s.directory);
    snprintf(word, sizeof(word), "path=%s", path);
    stage_transport(&s, "pipe");
    actor_options(&s.server, word, "size:100000", "foreign:1", NULL);
    assert_int_equal(actor_prepare(&s.server), 0);
    assert_int_equal(turn_until_ended(&s, shell("p=$0; mkfifo $p.me.up $p.me.down\n"
                                                "echo me > $p\n"
                                                "(sleep 0.3; echo hello > $p.me.up) &\n"
                                                "test $(wc -c < $p.me.down) -eq 100000",
                                                path)),
                     0);
    for (int i = 0; i < 2000 && !s.server.notes; i++)
        pair_turn(s.base, NULL, 5);
    assert_string_equal(s.server.note, "client 1: sent 100000 bytes, received 6 bytes");
    assert_true(actor_stop(&s.server));
    assert_int_equal(s.server.outcome, OUTCOME_COMPLETED);
    stage_done(&s);
}

static void nonsense_at_a_named_pipe_is_refused(void **state)
{
    struct stage s;
    struct endpoint e;
    char line[9000];
    int fd;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "pipe");
    pair_prepare(&s.server, &s.client);
    assert_int_equal(endpoint_parse(&e, s.server.env.endpoint, NULL), 0);
    fd = open(e.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    assert_true(pair_write(s.base, fd, line, sizeof(line)));
    assert_true(pair_write(s.base, fd, "\n../up\n.hidden\nabsent\na b\n", 26));
    close(fd);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_int_equal(actor_counters(&s.client)->succeeded, 100);
    assert_true(tally_get(&s.server.env.meter->errors, "accept EBADMSG") >= 5);
    assert_int_equal(tally_get(&s.server.env.meter->errors, "accept ENOENT"), 1);
    stage_done(&s);
}

/* Announced and gone, or not taken yet, when the server ends: nothing is left. */
static void a_pipe_server_removes_the_pairs_of_others(void **state)
{
    struct stage s;
    struct target target;
    struct conn conn;
    pid_t pid;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "pipe");
    assert_int_equal(actor_prepare(&s.server), 0);
    assert_int_equal(target_init(&target, s.server.env.endpoint, &s.client.options, NULL),
                     0);
    pid = fork();
    if (pid == 0)
        _exit(target.transport->connect(&target, &conn) < 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid); /* its pair is on disk, announced */
    stage_done(&s);
}

/* As nc -N does: send, half-close, read to the end. */
static void a_foreign_client_is_served(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        struct stage s;
        pid_t pid;

        stage_init(&s, "bulk-server", "bulk-client");
        stage_transport(&s, stage_transports[t]);
        actor_options(&s.server, "size:300000", "foreign:1", NULL);
        assert_int_equal(actor_prepare(&s.server), 0);
        pid = fork();
        if (pid == 0) {
            int fd = stage_connect(s.server.env.endpoint);
            char bytes[4096];
            size_t got = 0;
            ssize_t n;

            if (write(fd, "seven..", 7) != 7 || shutdown(fd, SHUT_WR) < 0)
                _exit(1);
            while ((n = read(fd, bytes, sizeof(bytes))) > 0)
                got += (size_t)n;
            _exit(got == 300000 ? 0 : 2);
        }
        assert_int_equal(turn_until_ended(&s, pid), 0);
        for (int i = 0; i < 2000 && !s.server.notes; i++)
            pair_turn(s.base, NULL, 5);
        assert_string_equal(s.server.note,
                            "client 1: sent 300000 bytes, received 7 bytes");
        assert_true(actor_stop(&s.server));
        assert_int_equal(s.server.outcome, OUTCOME_COMPLETED);
        stage_done(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_in_use_is_said_so),
        cmocka_unit_test(a_long_path_is_refused),
        cmocka_unit_test(a_file_of_another_kind_is_left_alone),
        cmocka_unit_test(a_stale_file_is_replaced),
        cmocka_unit_test(a_pipe_without_a_reader_is_said_so),
        cmocka_unit_test(a_pipe_server_that_does_nothing_is_timed_out),
        cmocka_unit_test(a_full_named_pipe_is_waited_for),
        cmocka_unit_test(clients_announced_together_are_all_taken),
        cmocka_unit_test(a_shell_is_a_client_of_a_named_pipe),
        cmocka_unit_test(nonsense_at_a_named_pipe_is_refused),
        cmocka_unit_test(a_pipe_server_removes_the_pairs_of_others),
        cmocka_unit_test(a_foreign_client_is_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
