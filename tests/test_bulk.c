/*
 * Bulk transfers over every transport, their content, and what becomes of them when the
 * other side is killed, stopped or wrong.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "protocols/stream/content.h"
#include "protocols/transport.h"
#include "tests/stage.h"

#define SIZE 3000001u /* not a multiple of anything */

static void run_bulk(const char *transport, const char *direction, const char *method)
{
    struct stage s;
    uint64_t up = strcmp(direction, "direction=down") == 0 ? 0 : SIZE;
    uint64_t down = strcmp(direction, "direction=up") == 0 ? 0 : SIZE;

    stage_init(&s, "bulk-server", "bulk-client");
    stage_transport(&s, transport);
    stage_both(&s, direction);
    stage_both(&s, method);
    stage_both(&s, "size:3000001");
    stage_both(&s, "verify:1");
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_string_equal(s.client.reason, "");
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_true(actor_stop(&s.server));
    assert_string_equal(s.server.reason, "");
    assert_int_equal(s.server.outcome, OUTCOME_COMPLETED);

    assert_int_equal(actor_counters(&s.client)->sent_bytes, up);
    assert_int_equal(actor_counters(&s.server)->received_bytes, up);
    assert_int_equal(actor_counters(&s.server)->sent_bytes, down);
    assert_int_equal(actor_counters(&s.client)->received_bytes, down);
    assert_int_equal(actor_counters(&s.client)->attempted, 1);
    assert_int_equal(actor_counters(&s.client)->succeeded, 1);
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
                run_bulk(stage_transports[t], directions[d], methods[m]);
}

/* A side that is killed or stopped. */

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
    return actor_counters(a)->sent_bytes > 1000000 &&
           actor_counters(a)->received_bytes > 1000000;
}

static void turn_until_moved(struct stage *s, const struct actor *a)
{
    for (int i = 0; i < 2000 && !moved(a) && !a->finished; i++)
        pair_turn(s->base, &a->finished, 5);
    assert_true(moved(a));
    assert_false(a->finished);
}

static void begin_endless(struct stage *s, struct stage_child *c, const char *transport,
                          const char *timeout)
{
    char word[160];

    stage_init(s, "bulk-server", "bulk-client");
    endless_file(s, word, sizeof(word));
    stage_child_start(c, "bulk-server", transport, word);
    actor_options(&s->client, word, timeout, NULL);
    snprintf(s->client.env.endpoint, sizeof(s->client.env.endpoint), "%s", c->endpoint);
    assert_int_equal(actor_prepare(&s->client), 0);
    s->client.role->start(s->client.flow, now_ns());
    turn_until_moved(s, &s->client);
}

static void a_killed_server_is_noticed(void **state)
{
    struct stage s;
    struct stage_child c;

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        begin_endless(&s, &c, stage_transports[t], "timeout:5000000000");
        stage_child_end(&c);
        assert_true(pair_turn(s.base, &s.client.finished, 10000));
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, " of 1099511627776 "));
        assert_int_equal(actor_counters(&s.client)->failed, 1);
        remove_endless(&s);
        stage_done(&s);
    }
}

static void a_frozen_server_is_timed_out(void **state)
{
    struct stage s;
    struct stage_child c;

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        begin_endless(&s, &c, stage_transports[t], "timeout:1000000000");
        kill(c.pid, SIGSTOP);
        assert_true(pair_turn(s.base, &s.client.finished, 10000));
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_int_equal(actor_counters(&s.client)->timed_out, 1);
        assert_int_equal(actor_counters(&s.client)->failed, 0);
        stage_child_end(&c);
        remove_endless(&s);
        stage_done(&s);
    }
}

static void a_stopped_bulk_client_is_unfinished(void **state)
{
    struct stage s;
    struct stage_child c;

    (void)state;
    begin_endless(&s, &c, "unix", "timeout:5000000000");
    s.client.role->pause(s.client.flow, true);
    s.client.role->pause(s.client.flow, false);
    assert_true(actor_stop(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_STOPPED);
    assert_int_equal(actor_counters(&s.client)->unfinished, 1);
    stage_child_end(&c);
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
        stage_transport(&s, stage_transports[t]);
        stage_both(&s, "size:20000000");
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
        for (int i = 0; i < 2000 && actor_counters(&s.server)->received_bytes < 5; i++)
            pair_turn(s.base, NULL, 5);
        assert_int_equal(actor_counters(&s.server)->received_bytes, 5);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);

        memcpy(s.client.env.endpoint, s.server.env.endpoint,
               sizeof(s.server.env.endpoint));
        assert_int_equal(actor_prepare(&s.client), 0);
        assert_true(actor_run(&s.client));
        assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
        assert_true(actor_stop(&s.server));
        assert_int_equal(actor_counters(&s.server)->connections, 2);
        assert_int_equal(tally_sum(&s.server.env.meter->errors), 1);
        stage_done(&s);
    }
}

/* Content. */

static void expect_bad_content(const char *word, const char *words)
{
    struct stage s;

    stage_init(&s, "bulk-server", "bulk-client");
    stage_transport(&s, "tcp");
    actor_options(&s.server, word, NULL);
    stage_expect_refusal(&s, words);
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

        options_set_text(&o, OPTION_file, path);
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
    stage_both(&s, word);
    pair_prepare(&s.server, &s.client);
    assert_int_equal(ftruncate(fd, 1000), 0);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_FAILED);
    close(fd);
    unlink(path);
    stage_done(&s);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_moves_every_byte),
        cmocka_unit_test(a_killed_server_is_noticed),
        cmocka_unit_test(a_frozen_server_is_timed_out),
        cmocka_unit_test(a_stopped_bulk_client_is_unfinished),
        cmocka_unit_test(a_server_survives_a_killed_client),
        cmocka_unit_test(bad_content_is_refused),
        cmocka_unit_test(content_depends_on_its_seed_alone),
        cmocka_unit_test(a_file_that_shrinks_fails_the_transfer),
        cmocka_unit_test(a_wrong_size_fails_both_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
