/*
 * The stream data path: bulk and requests over every transport, and what happens when
 * something is wrong with the other side.
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "protocols/stream/content.h"
#include "protocols/transport.h"
#include "tests/pair.h"

static const char *const transports[] = {"tcp", "unix", "pipe"};

/* Each test has a loop, a server and a client, and an empty directory. */
struct stage {
    struct event_base *base;
    struct actor server, client;
    char directory[64];
    unsigned descriptors;
};

static void stage_init(struct stage *s, const char *server, const char *client)
{
    memset(s, 0, sizeof(*s));
    /* In memory where that is: some disks are slow at making and removing FIFOs. */
    snprintf(s->directory, sizeof(s->directory), "%s/plimsoll-test-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(s->directory));
    setenv("XDG_RUNTIME_DIR", s->directory, 1);
    s->descriptors = open_descriptors();
    s->base = pair_base();
    actor_init(&s->server, server, s->base);
    actor_init(&s->client, client, s->base);
}

/* Nothing may be left: neither on disk nor among the descriptors. */
static void stage_done(struct stage *s)
{
    actor_done(&s->client);
    actor_done(&s->server);
    event_base_free(s->base);
    assert_int_equal(open_descriptors(), s->descriptors);
    assert_int_equal(rmdir(s->directory), 0);
}

static void stage_transport(struct stage *s, const char *transport)
{
    char word[32];

    snprintf(word, sizeof(word), "transport=%s", transport);
    actor_options(&s->server, word, "port:0", NULL);
    actor_options(&s->client, "timeout:5000000000", NULL);
}

static void both_options(struct stage *s, const char *word)
{
    actor_options(&s->server, word, NULL);
    actor_options(&s->client, word, NULL);
}

static const struct meter_counters *counters(const struct actor *a)
{
    return &a->env.meter->counters;
}

/* ---- bulk ---- */

#define SIZE 3000001u /* not a multiple of anything */

static void run_bulk(const char *transport, const char *direction, const char *method)
{
    struct stage s;
    uint64_t up = strcmp(direction, "direction=down") == 0 ? 0 : SIZE;
    uint64_t down = strcmp(direction, "direction=up") == 0 ? 0 : SIZE;

    stage_init(&s, "bulk-server", "bulk-client");
    stage_transport(&s, transport);
    both_options(&s, direction);
    both_options(&s, method);
    both_options(&s, "size:3000001");
    both_options(&s, "verify:1");
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_string_equal(s.client.reason, "");
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_true(actor_stop(&s.server));
    assert_string_equal(s.server.reason, "");
    assert_int_equal(s.server.outcome, OUTCOME_COMPLETED);

    assert_int_equal(counters(&s.client)->sent_bytes, up);
    assert_int_equal(counters(&s.server)->received_bytes, up);
    assert_int_equal(counters(&s.server)->sent_bytes, down);
    assert_int_equal(counters(&s.client)->received_bytes, down);
    assert_int_equal(counters(&s.client)->attempted, 1);
    assert_int_equal(counters(&s.client)->succeeded, 1);
    assert_int_equal(s.client.env.meter->hists[METER_HIST_latency]->count, 1);
    if (up)
        assert_string_equal(actor_fact(&s.client, "sent_crc32"),
                            actor_fact(&s.server, "received_crc32"));
    if (down)
        assert_string_equal(actor_fact(&s.server, "sent_crc32"),
                            actor_fact(&s.client, "received_crc32"));
    if (strcmp(transport, "tcp") == 0)
        assert_string_equal(actor_fact(&s.client, "congestion"),
                            actor_fact(&s.server, "congestion"));
    assert_int_equal(actor_fact(&s.client, "congestion")[0] != 0,
                     strcmp(transport, "tcp") == 0);
    if (strcmp(method, "method=copy") == 0)
        assert_string_equal(actor_fact(up ? &s.client : &s.server, "method"), "copy");
    else
        assert_string_not_equal(actor_fact(up ? &s.client : &s.server, "method"), "copy");
    stage_done(&s);
}

static void bulk_moves_every_byte(void **state)
{
    static const char *const directions[] = {"direction=both", "direction=up",
                                             "direction=down"};
    static const char *const methods[] = {"method=auto", "method=copy",
                                          "method=zero-copy"};

    (void)state;
    for (size_t t = 0; t < 3; t++)
        for (size_t d = 0; d < 3; d++)
            for (size_t m = 0; m < 3; m++)
                run_bulk(transports[t], directions[d], methods[m]);
}

/* ---- requests ---- */

static void once_program(struct actor *client)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    char word[512];

    snprintf(word, sizeof(word), "once_program=%s/plimsoll-once",
             build ? build : "build");
    actor_options(client, word, NULL);
}

static void assert_identity(const struct actor *client)
{
    const struct meter_counters *c = counters(client);

    assert_int_equal(c->attempted,
                     c->succeeded + c->failed + c->timed_out + c->unfinished);
    assert_int_equal(c->failed, tally_sum(&client->env.meter->errors));
    assert_int_equal(client->env.meter->hists[METER_HIST_latency]->count, c->succeeded);
}

struct load {
    const char *transport, *client, *requests, *concurrency, *size;
};

static void run_requests(const struct load *load)
{
    const size_t length = strcmp(load->size, "message_size:0") == 0 ? 43 : 300000;
    uint64_t n = strtoull(strchr(load->requests, ':') + 1, NULL, 10);
    struct stage s;

    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, load->transport);
    both_options(&s, load->size);
    once_program(&s.client);
    actor_options(&s.client, load->client, load->requests, load->concurrency, NULL);
    if (strcmp(load->client, "client=persistent") == 0)
        actor_options(&s.server, "persistent:1", NULL);
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_string_equal(s.client.reason, "");
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_string_equal(actor_fact(&s.client, "ended_by"), "requests");
    assert_true(actor_stop(&s.server));
    assert_int_equal(s.server.outcome, OUTCOME_COMPLETED);

    assert_identity(&s.client);
    assert_int_equal(counters(&s.client)->succeeded, n);
    assert_int_equal(counters(&s.client)->sent_messages, n);
    assert_int_equal(counters(&s.client)->received_messages, n);
    assert_int_equal(counters(&s.client)->sent_bytes, n * length);
    assert_int_equal(counters(&s.client)->received_bytes, n * length);
    assert_int_equal(counters(&s.server)->received_messages, n);
    assert_int_equal(counters(&s.server)->sent_messages, n);
    assert_int_equal(counters(&s.server)->received_bytes, n * length);
    assert_int_equal(counters(&s.server)->connections, counters(&s.client)->connections);
    assert_int_equal(tally_sum(&s.server.env.meter->errors), 0);
    if (strcmp(load->client, "client=persistent") != 0)
        assert_int_equal(counters(&s.client)->connections, n);
    stage_done(&s);
}

static void every_client_kind_does_exactly_n(void **state)
{
    static const struct {
        const char *client, *one, *many;
    } kinds[] = {
        {"client=process", "requests:20", "requests:150"},
        {"client=connection", "requests:50", "requests:1000"},
        {"client=persistent", "requests:50", "requests:1000"},
    };

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        for (size_t k = 0; k < 3; k++) {
            struct load load = {transports[t], kinds[k].client, kinds[k].one,
                                "concurrency:1", "message_size:0"};

            run_requests(&load);
            load.requests = kinds[k].many;
            load.concurrency = "concurrency:100";
            run_requests(&load);
            load.requests = "requests:10";
            load.concurrency = "concurrency:3";
            load.size = "message_size:300000";
            run_requests(&load);
        }
    }
}

/* ---- a server in a process of its own, which may be killed ---- */

struct child {
    pid_t pid;
    char endpoint[256];
};

static void child_serve(int report, const char *role, const char *transport,
                        const char *option) __attribute__((noreturn));

static void child_serve(int report, const char *role, const char *transport,
                        const char *option)
{
    struct event_base *base = pair_base();
    struct actor server;

    actor_init(&server, role, base);
    actor_options(&server, transport, "port:0", option, NULL);
    if (actor_prepare(&server) < 0)
        _exit(1);
    if (write(report, server.env.endpoint, sizeof(server.env.endpoint)) < 0)
        _exit(1);
    pair_turn(base, NULL, 30000);
    _exit(0);
}

static void child_start(struct child *c, const char *role, const char *transport,
                        const char *option)
{
    char word[32];
    int ends[2];

    snprintf(word, sizeof(word), "transport=%s", transport);
    assert_int_equal(pipe(ends), 0);
    c->pid = fork();
    if (c->pid == 0) {
        close(ends[0]);
        child_serve(ends[1], role, word, option);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], c->endpoint, sizeof(c->endpoint)),
                     sizeof(c->endpoint));
    close(ends[0]);
}

/* Kill it, and remove what it could not. */
static void child_end(struct child *c)
{
    struct endpoint e;

    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    assert_int_equal(endpoint_parse(&e, c->endpoint, NULL), 0);
    endpoint_remove(&e);
}

/* A file that never ends, as far as a test can see, and takes no room. */
static void endless_file(const struct stage *s, char *word, size_t size)
{
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/endless", s->directory);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, 1ll << 40), 0);
    close(fd);
    snprintf(word, size, "file=%s", path);
}

static void remove_endless(const struct stage *s)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/endless", s->directory);
    assert_int_equal(unlink(path), 0);
}

static bool moved(const struct actor *a)
{
    return counters(a)->sent_bytes > 1000000 && counters(a)->received_bytes > 1000000;
}

static void turn_until_moved(struct stage *s, const struct actor *a)
{
    for (int i = 0; i < 2000 && !moved(a) && !a->finished; i++)
        pair_turn(s->base, &a->finished, 5);
    assert_true(moved(a));
    assert_false(a->finished);
}

static void begin_endless(struct stage *s, struct child *c, const char *transport,
                          const char *timeout)
{
    char word[160];

    stage_init(s, "bulk-server", "bulk-client");
    endless_file(s, word, sizeof(word));
    child_start(c, "bulk-server", transport, word);
    actor_options(&s->client, word, timeout, NULL);
    snprintf(s->client.env.endpoint, sizeof(s->client.env.endpoint), "%s", c->endpoint);
    assert_int_equal(actor_prepare(&s->client), 0);
    s->client.role->start(s->client.flow, now_ns());
    turn_until_moved(s, &s->client);
}

static void a_killed_server_is_noticed(void **state)
{
    struct stage s;
    struct child c;

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        begin_endless(&s, &c, transports[t], "timeout:5000000000");
        child_end(&c);
        assert_true(pair_turn(s.base, &s.client.finished, 10000));
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, " of 1099511627776 "));
        assert_int_equal(counters(&s.client)->failed, 1);
        remove_endless(&s);
        stage_done(&s);
    }
}

static void a_frozen_server_is_timed_out(void **state)
{
    struct stage s;
    struct child c;

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        begin_endless(&s, &c, transports[t], "timeout:1000000000");
        kill(c.pid, SIGSTOP);
        assert_true(pair_turn(s.base, &s.client.finished, 10000));
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_int_equal(counters(&s.client)->timed_out, 1);
        assert_int_equal(counters(&s.client)->failed, 0);
        child_end(&c);
        remove_endless(&s);
        stage_done(&s);
    }
}

static void a_stopped_bulk_client_is_unfinished(void **state)
{
    struct stage s;
    struct child c;

    (void)state;
    begin_endless(&s, &c, "unix", "timeout:5000000000");
    s.client.role->pause(s.client.flow, true);
    s.client.role->pause(s.client.flow, false);
    assert_true(actor_stop(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_STOPPED);
    assert_int_equal(counters(&s.client)->unfinished, 1);
    child_end(&c);
    remove_endless(&s);
    stage_done(&s);
}

/* A client in a process of its own is killed; the server goes on with the next one. */
static void a_server_survives_a_killed_client(void **state)
{
    (void)state;
    for (size_t t = 0; t < 3; t++) {
        struct stage s;
        pid_t pid;

        stage_init(&s, "bulk-server", "bulk-client");
        stage_transport(&s, transports[t]);
        both_options(&s, "size:20000000");
        assert_int_equal(actor_prepare(&s.server), 0);
        pid = fork();
        if (pid == 0) {
            struct target target;
            struct conn conn;

            target_init(&target, s.server.env.endpoint, &s.client.options, NULL);
            if (target.transport->connect(&target, &conn) < 0 ||
                write(conn.out, "hello", 5) < 5)
                _exit(1);
            pause();
        }
        for (int i = 0; i < 2000 && counters(&s.server)->received_bytes < 5; i++)
            pair_turn(s.base, NULL, 5);
        assert_int_equal(counters(&s.server)->received_bytes, 5);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);

        memcpy(s.client.env.endpoint, s.server.env.endpoint,
               sizeof(s.server.env.endpoint));
        assert_int_equal(actor_prepare(&s.client), 0);
        assert_true(actor_run(&s.client));
        assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
        assert_true(actor_stop(&s.server));
        assert_int_equal(counters(&s.server)->connections, 2);
        assert_int_equal(tally_sum(&s.server.env.meter->errors), 1);
        stage_done(&s);
    }
}

/* ---- what a server cannot listen at ---- */

static void expect_refusal(struct stage *s, const char *words)
{
    assert_true(actor_prepare(&s->server) < 0);
    assert_null(s->server.flow);
    assert_non_null(strstr(s->server.fail.sentence, words));
}

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
        stage_transport(&s, transports[t]);
        both_options(&s, "size:1000");
        actor_init(&first, "requests-server", s.base);
        snprintf(word, sizeof(word), "transport=%s", transports[t]);
        actor_options(&first, word, "port:0", NULL);
        assert_int_equal(actor_prepare(&first), 0);
        assert_int_equal(endpoint_parse(&e, first.env.endpoint, NULL), 0);
        snprintf(word, sizeof(word), "port:%u", e.port);
        actor_options(&s.server, word, NULL);
        snprintf(word, sizeof(word), "path=%s", e.path);
        actor_options(&s.server, word, NULL);
        expect_refusal(&s, words[t]);
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
        stage_transport(&s, transports[t]);
        actor_options(&s.server, word, NULL);
        expect_refusal(&s, "125 bytes; a socket path has at most 107");
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
        stage_transport(&s, transports[t]);
        snprintf(path, sizeof(path), "%s/precious", s.directory);
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        snprintf(word, sizeof(word), "path=%s", path);
        actor_options(&s.server, word, NULL);
        expect_refusal(&s, "left alone");
        assert_int_equal(stat(path, &st), 0);

        /* Nor does a client write to it. */
        snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "%s:%s",
                 transports[t], path);
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
        struct child c;
        char word[160];

        stage_init(&s, "requests-server", "requests-client");
        snprintf(word, sizeof(word), "path=%s/here", s.directory);
        child_start(&c, "requests-server", transports[t], word);
        kill(c.pid, SIGKILL);
        waitpid(c.pid, NULL, 0);
        stage_transport(&s, transports[t]);
        actor_options(&s.server, word, NULL);
        pair_prepare(&s.server, &s.client);
        assert_true(actor_run(&s.client));
        assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
        stage_done(&s);
    }
}

/* ---- what a client cannot reach ---- */

static void run_alone(struct stage *s, const char *endpoint)
{
    snprintf(s->client.env.endpoint, sizeof(s->client.env.endpoint), "%s", endpoint);
    assert_int_equal(actor_prepare(&s->client), 0);
    assert_true(actor_run(&s->client));
    assert_identity(&s->client);
}

static void a_refused_connection_is_counted(void **state)
{
    static const char *const kinds[] = {"client=connection", "client=persistent",
                                        "client=process"};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct stage s;

        stage_init(&s, "requests-server", "requests-client");
        stage_transport(&s, "tcp");
        assert_int_equal(actor_prepare(&s.server), 0);
        s.server.role->free(s.server.flow); /* its port is free again, and nobody's */
        s.server.flow = NULL;
        once_program(&s.client);
        actor_options(&s.client, kinds[k], "requests:10", "concurrency:3", NULL);
        run_alone(&s, s.server.env.endpoint);
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, "None of 10 requests succeeded"));
        assert_non_null(strstr(s.client.reason, "No server listens at tcp:127.0.0.1:"));
        assert_int_equal(tally_get(&s.client.env.meter->errors, "connect ECONNREFUSED"),
                         10);
        stage_done(&s);
    }
}

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
        run_alone(&s, endpoint);
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, "No server reads the named pipe"));
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
        once_program(&s.client);
        actor_options(&s.client, kinds[k], "requests:4", "concurrency:2",
                      "timeout:200000000", NULL);
        run_alone(&s, endpoint);
        assert_int_equal(counters(&s.client)->timed_out, 4);
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
        run_alone(&s, endpoint);
        assert_int_equal(counters(&s.client)->timed_out, k ? 1 : 2);
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, k ? "in time" : "within the timeout"));
        close(fd);
        unlink(path);
        stage_done(&s);
    }
}

/* Connections are taken by the kernel and nobody answers. */
static void a_silent_server_times_requests_out(void **state)
{
    static const char *const kinds[] = {"client=connection", "client=persistent",
                                        "client=process"};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct listener l;
        struct options o = {0};
        char endpoint[160];
        struct stage s;

        stage_init(&s, "bulk-server", "requests-client");
        options_set_number(&o, "port", 0);
        assert_int_equal(listener_open(&l, &o, NULL), 0);
        endpoint_format(&l.bound, endpoint, sizeof(endpoint));
        once_program(&s.client);
        actor_options(&s.client, kinds[k], "requests:6", "concurrency:3",
                      "timeout:200000000", NULL);
        run_alone(&s, endpoint);
        assert_int_equal(counters(&s.client)->timed_out, 6);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
        assert_int_equal(errno, ECHILD);
        listener_close(&l);
        options_done(&o);
        stage_done(&s);
    }
}

static void a_program_that_fails_is_counted(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "tcp");
    actor_options(&s.client, "client=process", "once_program=/bin/false", "requests:5",
                  NULL);
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_FAILED);
    assert_identity(&s.client);
    assert_int_equal(tally_get(&s.client.env.meter->errors, "process exit 1"), 5);
    stage_done(&s);

    stage_init(&s, "requests-server", "requests-client");
    actor_options(&s.client, "client=process", "once_program=/nonexistent/once", NULL);
    snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "tcp:127.0.0.1:9");
    assert_true(actor_prepare(&s.client) < 0);
    assert_non_null(strstr(s.client.fail.sentence, "/nonexistent/once"));
    stage_done(&s);
}

/* ---- content ---- */

static void expect_bad_content(const char *word, const char *words)
{
    struct stage s;

    stage_init(&s, "bulk-server", "bulk-client");
    stage_transport(&s, "tcp");
    actor_options(&s.server, word, NULL);
    expect_refusal(&s, words);
    stage_done(&s);
}

static void bad_content_is_refused(void **state)
{
    char path[] = "/tmp/plimsoll-test-file-XXXXXX";
    char word[64];
    int fd = mkstemp(path);
    uid_t root = geteuid();

    (void)state;
    snprintf(word, sizeof(word), "file=%s", path);
    expect_bad_content(word, "is empty");
    assert_int_equal(write(fd, "x", 1), 1);
    assert_int_equal(fchmod(fd, 0), 0);
    if (root == 0)
        assert_int_equal(seteuid(65534), 0); /* root may read everything */
    {
        struct options o = {0};
        struct content c;
        struct fail fail = {0};

        options_set_text(&o, "file", path);
        assert_int_equal(content_open(&c, &o, &fail), -EINVAL);
        assert_non_null(strstr(fail.sentence, "cannot be read: Permission denied"));
        options_done(&o);
    }
    if (root == 0)
        assert_int_equal(seteuid(0), 0);
    close(fd);
    unlink(path);
    expect_bad_content(word, "cannot be read: No such file");
    expect_bad_content("file=/tmp", "is a directory");
    expect_bad_content("file=/dev/zero", "not a regular file");
    expect_bad_content("size:0", "from 1 byte");
    expect_bad_content("direction=sideways", "not a direction");
    expect_bad_content("method=magic", "not a method");
    expect_bad_content("block:0", "block");
    expect_bad_content("transport=carrier", "not a transport");
    expect_bad_content("congestion=nonesuch", "\"nonesuch\" cannot be set");
    expect_bad_content("port:65536", "above 65535");
    expect_bad_content("host=nowhere.invalid", "not known");
}

static int make_content(struct content *c, uint64_t seed)
{
    uint64_t done = 0;
    int err = content_begin(c->size_bytes, &c->fd, NULL);

    while (!err && done < c->size_bytes)
        err = content_extend(c->fd, c->size_bytes, seed, &done, NULL);
    return err;
}

static void content_depends_on_its_seed_alone(void **state)
{
    struct content a = {.size_bytes = 1234567}, b = a, c = a;
    uint32_t crc_a, crc_b, crc_c;

    (void)state;
    assert_int_equal(make_content(&a, 7), 0);
    assert_int_equal(make_content(&b, 7), 0);
    assert_int_equal(make_content(&c, 8), 0);
    assert_int_equal(content_crc32(&a, &crc_a, NULL), 0);
    assert_int_equal(content_crc32(&b, &crc_b, NULL), 0);
    assert_int_equal(content_crc32(&c, &crc_c, NULL), 0);
    assert_int_equal(lseek(a.fd, 0, SEEK_END), 1234567);
    assert_int_equal(crc_a, crc_b);
    assert_int_not_equal(crc_a, crc_c);
    content_close(&a);
    content_close(&b);
    content_close(&c);
}

/* A file that shrinks while it is sent is a failure and no endless loop. */
static void a_file_that_shrinks_fails_the_transfer(void **state)
{
    struct stage s;
    char path[128], word[160];
    int fd;

    (void)state;
    stage_init(&s, "bulk-server", "bulk-client");
    stage_transport(&s, "unix");
    snprintf(path, sizeof(path), "%s/file", s.directory);
    snprintf(word, sizeof(word), "file=%s", path);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, 1000000), 0);
    both_options(&s, word);
    pair_prepare(&s.server, &s.client);
    assert_int_equal(ftruncate(fd, 1000), 0);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_FAILED);
    close(fd);
    unlink(path);
    stage_done(&s);
}

/* ---- other people's clients and servers ---- */

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
    fd = open(e.path, O_WRONLY | O_CLOEXEC);
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
    assert_int_equal(write(fd, "\n../up\n.hidden\nabsent\na b\n", 26), 26);
    close(fd);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_int_equal(counters(&s.client)->succeeded, 100);
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

static int connect_raw(const char *endpoint)
{
    struct endpoint e;
    struct sockaddr_storage address;
    socklen_t len;
    int fd;

    assert_int_equal(endpoint_parse(&e, endpoint, NULL), 0);
    assert_int_equal(endpoint_address(&e, &address, &len, NULL), 0);
    fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (void *)&address, len), 0);
    return fd;
}

/* As nc -N does: send, half-close, read to the end. */
static void a_foreign_client_is_served(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        struct stage s;
        pid_t pid;

        stage_init(&s, "bulk-server", "bulk-client");
        stage_transport(&s, transports[t]);
        actor_options(&s.server, "size:300000", "foreign:1", NULL);
        assert_int_equal(actor_prepare(&s.server), 0);
        pid = fork();
        if (pid == 0) {
            int fd = connect_raw(s.server.env.endpoint);
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

/* Without `foreign` the sizes must agree, at both ends. */
static void a_wrong_size_fails_both_ends(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "bulk-server", "bulk-client");
    stage_transport(&s, "tcp");
    actor_options(&s.server, "size:100000", NULL);
    actor_options(&s.client, "size:200000", NULL);
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_FAILED);
    assert_non_null(strstr(s.client.reason, "received 100000 of 200000 bytes"));
    assert_true(actor_stop(&s.server));
    assert_int_equal(s.server.outcome, OUTCOME_FAILED);
    assert_non_null(
        strstr(s.server.reason, "received 200000 of 100000 bytes from client 1"));
    stage_done(&s);
}

/* ---- limits ---- */

static void with_descriptors(unsigned more, struct rlimit *before)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
    limit = *before;
    limit.rlim_cur = open_descriptors() + more;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void running_out_of_descriptors_is_a_result(void **state)
{
    static const char *const kinds[] = {"client=persistent", "client=process"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        for (size_t t = 0; t < 3; t++) {
            struct rlimit before;
            struct stage s;
            struct child c;

            stage_init(&s, "requests-server", "requests-client");
            child_start(&c, "requests-server", transports[t], k ? NULL : "persistent:1");
            once_program(&s.client);
            actor_options(&s.client, kinds[k], "requests:1000", "concurrency:200",
                          "timeout:5000000000", NULL);
            snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "%s",
                     c.endpoint);
            assert_int_equal(actor_prepare(&s.client), 0);
            with_descriptors(20, &before);
            assert_true(actor_run(&s.client));
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
            assert_int_equal(s.client.outcome, OUTCOME_EXHAUSTED);
            assert_non_null(strstr(s.client.reason, "Out of descriptors (limit "));
            assert_identity(&s.client);
            assert_int_equal(counters(&s.client)->failed, 1);
            child_end(&c);
            stage_done(&s);
        }
    }
}

static void a_server_out_of_descriptors_recovers(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        struct rlimit before;
        struct stage s;
        pid_t pid;

        stage_init(&s, "requests-server", "requests-client");
        stage_transport(&s, transports[t]);
        actor_options(&s.server, "persistent:1", NULL);
        assert_int_equal(actor_prepare(&s.server), 0);
        pid = fork();
        if (pid == 0) {
            for (int i = 0; i < 40; i++)
                if (connect_raw(s.server.env.endpoint) < 0)
                    _exit(1);
            pause();
        }
        with_descriptors(20, &before);
        for (int i = 0; i < 2000 && !s.server.notes; i++)
            pair_turn(s.base, NULL, 5);
        assert_non_null(strstr(s.server.note, "ran out of descriptors"));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

        memcpy(s.client.env.endpoint, s.server.env.endpoint,
               sizeof(s.server.env.endpoint));
        actor_options(&s.client, "client=persistent", "requests:10", NULL);
        assert_int_equal(actor_prepare(&s.client), 0);
        assert_true(actor_run(&s.client));
        assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
        assert_true(actor_stop(&s.server));
        assert_int_equal(s.server.outcome, OUTCOME_EXHAUSTED);
        stage_done(&s);
    }
}

/* ---- the schedule, and changes while running ---- */

static void a_rate_is_kept_and_measured(void **state)
{
    struct stage s;
    uint64_t begun_ns;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "unix");
    actor_options(&s.client, "rate:200", "requests:40", "concurrency:10", NULL);
    pair_prepare(&s.server, &s.client);
    begun_ns = now_ns();
    assert_true(actor_run(&s.client));
    assert_true(now_ns() - begun_ns >= 39 * 5 * NS_PER_MS); /* the last is due then */
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_identity(&s.client);
    assert_int_equal(s.client.env.meter->hists[METER_HIST_pacing]->count, 40);
    assert_int_equal(s.client.env.meter->hists[METER_HIST_service]->count, 40);
    stage_done(&s);
}

static void a_duration_ends_the_load(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "tcp");
    actor_options(&s.client, "requests:0", "duration:500000000", "concurrency:5", NULL);
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_string_equal(actor_fact(&s.client, "ended_by"), "duration");
    assert_true(counters(&s.client)->succeeded > 5);
    assert_identity(&s.client);
    stage_done(&s);
}

/* 20/s for 0.2 s are the ones due at 0, 50, 100 and 150 ms; the fifth is not. */
static void a_rate_for_a_duration_is_so_many(void **state)
{
    bool all = false;

    (void)state;
    for (int i = 0; i < 40 && !all; i++) {
        struct stage s;

        stage_init(&s, "requests-server", "requests-client");
        stage_transport(&s, "unix");
        actor_options(&s.server, "persistent:1", NULL);
        actor_options(&s.client, "client=persistent", "requests:0", "duration:200000000",
                      "rate:20", NULL);
        pair_prepare(&s.server, &s.client);
        assert_true(actor_run(&s.client));
        assert_string_equal(actor_fact(&s.client, "ended_by"), "duration");
        assert_in_range(counters(&s.client)->attempted, 1, 4);
        all |= counters(&s.client)->attempted == 4; /* a busy machine may miss one */
        assert_identity(&s.client);
        stage_done(&s);
    }
    assert_true(all);
}

/* Started 30 ms late: the schedule and its end are those of the start all the same. */
static void a_late_start_adds_nothing_to_a_rate(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "unix");
    actor_options(&s.server, "persistent:1", NULL);
    actor_options(&s.client, "client=persistent", "requests:0", "duration:200000000",
                  "rate:20", NULL);
    pair_prepare(&s.server, &s.client);
    s.client.role->start(s.client.flow, now_ns() - 30 * NS_PER_MS);
    assert_true(pair_turn(s.base, &s.client.finished, 20000));
    assert_in_range(counters(&s.client)->attempted, 1, 4);
    stage_done(&s);
}

/* Load is offered for the duration, whatever pauses there are in it. */
static void a_pause_is_no_part_of_the_duration(void **state)
{
    struct stage s;
    struct actor *c = &s.client;
    uint64_t begin_ns;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "unix");
    actor_options(&s.server, "persistent:1", NULL);
    actor_options(c, "client=persistent", "requests:0", "duration:300000000", NULL);
    pair_prepare(&s.server, c);
    begin_ns = now_ns();
    c->role->start(c->flow, begin_ns);
    c->role->pause(c->flow, true);
    pair_turn(s.base, &c->finished, 400); /* longer than the whole */
    assert_false(c->finished);
    c->role->pause(c->flow, false);
    assert_true(pair_turn(s.base, &c->finished, 10000));
    assert_true(now_ns() - begin_ns >= 700 * NS_PER_MS);
    assert_int_equal(c->outcome, OUTCOME_COMPLETED);
    assert_true(counters(c)->succeeded > 0);
    assert_identity(c);
    stage_done(&s);
}

static void load_is_paused_changed_and_stopped(void **state)
{
    struct stage s;
    struct actor *c = &s.client;
    uint64_t before;

    (void)state;
    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, "unix");
    actor_options(&s.server, "persistent:1", NULL);
    actor_options(c, "client=persistent", "requests:1000000000", NULL);
    pair_prepare(&s.server, c);
    c->role->start(c->flow, now_ns());
    for (int i = 0; i < 10000 && counters(c)->attempted == 0; i++)
        pair_turn(s.base, NULL, 1);
    c->role->pause(c->flow, true);
    before = counters(c)->attempted;
    assert_true(before > 0);
    pair_turn(s.base, NULL, 50);
    assert_int_equal(counters(c)->attempted, before);
    c->role->pause(c->flow, false);
    assert_int_equal(c->role->set(c->flow, "concurrency", 8), 0);
    for (int i = 0; i < 10000 && c->env.meter->gauges.open_connections != 8; i++)
        pair_turn(s.base, NULL, 1);
    assert_int_equal(c->env.meter->gauges.open_connections, 8);
    assert_int_equal(c->role->set(c->flow, "rate", 1), 0);
    assert_int_equal(c->role->set(c->flow, "rate", 0), 0);
    assert_int_equal(c->role->set(c->flow, "size", 1), -ENOTSUP);
    assert_int_equal(c->role->set(c->flow, "concurrency", 0), -EINVAL);
    c->role->gauge(c->flow);
    assert_true(actor_stop(c));
    assert_int_equal(c->outcome, OUTCOME_STOPPED);
    assert_identity(c);
    assert_int_equal(counters(c)->unfinished, 0);
    stage_done(&s);
}

/* A server that is gone is noticed by kept connections, and requests fail, not hang. */
static void a_lost_connection_fails_its_request(void **state)
{
    struct stage s;
    struct child c;

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        stage_init(&s, "requests-server", "requests-client");
        child_start(&c, "requests-server", transports[t], "persistent:1");
        actor_options(&s.client, "client=persistent", "requests:1000000", "concurrency:4",
                      "timeout:2000000000", NULL);
        snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "%s", c.endpoint);
        assert_int_equal(actor_prepare(&s.client), 0);
        s.client.role->start(s.client.flow, now_ns());
        for (int i = 0; i < 2000 && counters(&s.client)->succeeded < 100; i++)
            pair_turn(s.base, NULL, 2);
        child_end(&c);
        for (int i = 0; i < 2000 && counters(&s.client)->failed < 100; i++)
            pair_turn(s.base, NULL, 2);
        assert_true(counters(&s.client)->failed >= 100);
        assert_true(actor_stop(&s.client));
        assert_identity(&s.client);
        stage_done(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_moves_every_byte),
        cmocka_unit_test(every_client_kind_does_exactly_n),
        cmocka_unit_test(a_killed_server_is_noticed),
        cmocka_unit_test(a_frozen_server_is_timed_out),
        cmocka_unit_test(a_stopped_bulk_client_is_unfinished),
        cmocka_unit_test(a_server_survives_a_killed_client),
        cmocka_unit_test(an_address_in_use_is_said_so),
        cmocka_unit_test(a_long_path_is_refused),
        cmocka_unit_test(a_file_of_another_kind_is_left_alone),
        cmocka_unit_test(a_stale_file_is_replaced),
        cmocka_unit_test(a_refused_connection_is_counted),
        cmocka_unit_test(a_pipe_without_a_reader_is_said_so),
        cmocka_unit_test(a_pipe_server_that_does_nothing_is_timed_out),
        cmocka_unit_test(a_full_named_pipe_is_waited_for),
        cmocka_unit_test(a_silent_server_times_requests_out),
        cmocka_unit_test(a_program_that_fails_is_counted),
        cmocka_unit_test(bad_content_is_refused),
        cmocka_unit_test(content_depends_on_its_seed_alone),
        cmocka_unit_test(a_file_that_shrinks_fails_the_transfer),
        cmocka_unit_test(a_shell_is_a_client_of_a_named_pipe),
        cmocka_unit_test(nonsense_at_a_named_pipe_is_refused),
        cmocka_unit_test(a_pipe_server_removes_the_pairs_of_others),
        cmocka_unit_test(a_foreign_client_is_served),
        cmocka_unit_test(a_wrong_size_fails_both_ends),
        cmocka_unit_test(running_out_of_descriptors_is_a_result),
        cmocka_unit_test(a_server_out_of_descriptors_recovers),
        cmocka_unit_test(a_rate_is_kept_and_measured),
        cmocka_unit_test(a_duration_ends_the_load),
        cmocka_unit_test(a_rate_for_a_duration_is_so_many),
        cmocka_unit_test(a_late_start_adds_nothing_to_a_rate),
        cmocka_unit_test(a_pause_is_no_part_of_the_duration),
        cmocka_unit_test(load_is_paused_changed_and_stopped),
        cmocka_unit_test(a_lost_connection_fails_its_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
