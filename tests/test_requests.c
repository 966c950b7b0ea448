/*
 * Requests over every transport and with every kind of client: how many, at which rate
 * and for how long, and what becomes of those that cannot be carried out.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/transport.h"
#include "tests/stage.h"

struct load {
    const char *transport, *client, *requests, *concurrency, *size;
};

static void run_requests(const struct load *load)
{
    const size_t length = strcmp(load->size, "message_size:0") == 0 ? 44 : 300000;
    uint64_t n = strtoull(strchr(load->requests, ':') + 1, NULL, 10);
    struct stage s;

    stage_init(&s, "requests-server", "requests-client");
    stage_transport(&s, load->transport);
    stage_both(&s, load->size);
    stage_oneshot_program(&s.client);
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

    stage_assert_identity(&s.client);
    assert_int_equal(actor_counters(&s.client)->succeeded, n);
    assert_int_equal(actor_counters(&s.client)->sent_messages, n);
    assert_int_equal(actor_counters(&s.client)->received_messages, n);
    assert_int_equal(actor_counters(&s.client)->sent_bytes, n * length);
    assert_int_equal(actor_counters(&s.client)->received_bytes, n * length);
    assert_int_equal(actor_counters(&s.server)->received_messages, n);
    assert_int_equal(actor_counters(&s.server)->sent_messages, n);
    assert_int_equal(actor_counters(&s.server)->received_bytes, n * length);
    assert_int_equal(actor_counters(&s.server)->connections,
                     actor_counters(&s.client)->connections);
    assert_int_equal(tally_sum(&s.server.env.meter->errors), 0);
    if (strcmp(load->client, "client=persistent") != 0)
        assert_int_equal(actor_counters(&s.client)->connections, n);
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
            struct load load = {stage_transports[t], kinds[k].client, kinds[k].one,
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

/* Requests that nobody answers. */

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
        stage_oneshot_program(&s.client);
        actor_options(&s.client, kinds[k], "requests:10", "concurrency:3", NULL);
        stage_run_alone(&s, s.server.env.endpoint);
        assert_int_equal(s.client.outcome, OUTCOME_FAILED);
        assert_non_null(strstr(s.client.reason, "none of 10 requests succeeded"));
        assert_non_null(strstr(s.client.reason, "no server listens at tcp:127.0.0.1:"));
        assert_int_equal(tally_get(&s.client.env.meter->errors, "connect ECONNREFUSED"),
                         10);
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
        options_set_number(&o, OPTION_port, 0);
        assert_int_equal(listener_open(&l, &o, NULL), 0);
        endpoint_format(&l.bound, endpoint, sizeof(endpoint));
        stage_oneshot_program(&s.client);
        actor_options(&s.client, kinds[k], "requests:6", "concurrency:3",
                      "timeout:200000000", NULL);
        stage_run_alone(&s, endpoint);
        assert_int_equal(actor_counters(&s.client)->timed_out, 6);
        stage_assert_identity(&s.client);
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
    actor_options(&s.client, "client=process", "oneshot_program=/bin/false", "requests:5",
                  NULL);
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_int_equal(s.client.outcome, OUTCOME_FAILED);
    stage_assert_identity(&s.client);
    assert_int_equal(tally_get(&s.client.env.meter->errors, "process exit 1"), 5);
    stage_done(&s);

    stage_init(&s, "requests-server", "requests-client");
    actor_options(&s.client, "client=process", "oneshot_program=/nonexistent/once", NULL);
    snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "tcp:127.0.0.1:9");
    assert_true(actor_prepare(&s.client) < 0);
    assert_non_null(strstr(s.client.fail.sentence, "/nonexistent/once"));
    stage_done(&s);
}

/* Limits. */

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
            struct stage_child c;

            stage_init(&s, "requests-server", "requests-client");
            stage_child_start(&c, "requests-server", stage_transports[t],
                              k ? NULL : "persistent:1");
            stage_oneshot_program(&s.client);
            actor_options(&s.client, kinds[k], "requests:1000", "concurrency:200",
                          "timeout:5000000000", NULL);
            snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "%s",
                     c.endpoint);
            assert_int_equal(actor_prepare(&s.client), 0);
            with_descriptors(20, &before);
            assert_true(actor_run(&s.client));
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
            assert_int_equal(s.client.outcome, OUTCOME_EXHAUSTED);
            assert_non_null(strstr(s.client.reason, "out of descriptors (limit "));
            stage_assert_identity(&s.client);
            assert_int_equal(actor_counters(&s.client)->failed, 1);
            stage_child_end(&c);
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
        stage_transport(&s, stage_transports[t]);
        actor_options(&s.server, "persistent:1", NULL);
        assert_int_equal(actor_prepare(&s.server), 0);
        pid = fork();
        if (pid == 0) {
            for (int i = 0; i < 40; i++)
                if (stage_connect(s.server.env.endpoint) < 0)
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

/* The schedule, and changes while running. */

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
    stage_assert_identity(&s.client);
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
    assert_true(actor_counters(&s.client)->succeeded > 5);
    stage_assert_identity(&s.client);
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
        assert_in_range(actor_counters(&s.client)->attempted, 1, 4);
        all |=
            actor_counters(&s.client)->attempted == 4; /* a busy machine may miss one */
        stage_assert_identity(&s.client);
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
    assert_in_range(actor_counters(&s.client)->attempted, 1, 4);
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
    assert_true(actor_counters(c)->succeeded > 0);
    stage_assert_identity(c);
    stage_done(&s);
}

/*
 * The machine was away for longer than the timeout: what was open then is given up, and
 * what is begun in its place, within the same look at all requests, has its whole time.
 * A turn that took longer than the timeout itself says nothing, and is tried again.
 */
static void a_request_just_begun_is_not_timed_out(void **state)
{
    const uint64_t timeout_ns = 200 * NS_PER_MS;
    bool judged = false;

    (void)state;
    for (int i = 0; i < 40 && !judged; i++) {
        struct timespec away = {0, (long)timeout_ns + NS_PER_MS};
        struct listener l;
        struct options o = {0};
        char endpoint[160];
        uint64_t begun, turned_ns;
        struct stage s;
        struct actor *c = &s.client;

        stage_init(&s, "bulk-server", "requests-client");
        options_set_number(&o, OPTION_port, 0);
        assert_int_equal(listener_open(&l, &o, NULL), 0);
        endpoint_format(&l.bound, endpoint, sizeof(endpoint));
        snprintf(c->env.endpoint, sizeof(c->env.endpoint), "%s", endpoint);
        actor_options(c, "client=connection", "requests:1000", "concurrency:500",
                      "rate:20", "timeout:200000000", NULL);
        assert_int_equal(actor_prepare(c), 0);
        c->role->start(c->flow, now_ns());
        for (int n = 0; n < 10000 && actor_counters(c)->attempted == 0; n++)
            pair_turn(s.base, NULL, 1);
        begun = actor_counters(c)->attempted;
        assert_true(begun > 0);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &away, NULL);
        c->role->set(c->flow, OPTION_rate, 100000);
        turned_ns = now_ns();
        while (actor_counters(c)->timed_out == 0)
            event_base_loop(s.base, EVLOOP_ONCE);
        judged = now_ns() - turned_ns < timeout_ns;
        if (judged)
            assert_in_range(actor_counters(c)->timed_out, 1, begun);
        actor_stop(c);
        listener_close(&l);
        options_done(&o);
        stage_done(&s);
    }
    assert_true(judged);
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
    actor_options(c, "client=persistent", "requests:1000000000", "concurrency:8", NULL);
    pair_prepare(&s.server, c);
    c->role->start(c->flow, now_ns());
    for (int i = 0; i < 10000 && actor_counters(c)->attempted == 0; i++)
        pair_turn(s.base, NULL, 1);
    c->role->pause(c->flow, true);
    before = actor_counters(c)->attempted;
    assert_true(before > 0);
    pair_turn(s.base, NULL, 50);
    assert_int_equal(actor_counters(c)->attempted, before);
    c->role->pause(c->flow, false);
    for (int i = 0; i < 10000 && c->env.meter->gauges.open_connections != 8; i++)
        pair_turn(s.base, NULL, 1);
    assert_int_equal(c->env.meter->gauges.open_connections, 8);
    assert_int_equal(c->role->set(c->flow, OPTION_rate, 1), 0);
    assert_int_equal(c->role->set(c->flow, OPTION_rate, 0), 0);
    assert_int_equal(c->role->set(c->flow, OPTION_size, 1), -ENOTSUP);
    assert_int_equal(c->role->set(c->flow, OPTION_concurrency, 8), -ENOTSUP);
    c->role->gauge(c->flow);
    assert_true(actor_stop(c));
    assert_int_equal(c->outcome, OUTCOME_STOPPED);
    stage_assert_identity(c);
    assert_int_equal(actor_counters(c)->unfinished, 0);
    stage_done(&s);
}

/* A server that is gone is noticed by kept connections, and requests fail, not hang. */
static void a_lost_connection_fails_its_request(void **state)
{
    struct stage s;
    struct stage_child c;

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        stage_init(&s, "requests-server", "requests-client");
        stage_child_start(&c, "requests-server", stage_transports[t], "persistent:1");
        actor_options(&s.client, "client=persistent", "requests:1000000", "concurrency:4",
                      "timeout:2000000000", NULL);
        snprintf(s.client.env.endpoint, sizeof(s.client.env.endpoint), "%s", c.endpoint);
        assert_int_equal(actor_prepare(&s.client), 0);
        s.client.role->start(s.client.flow, now_ns());
        for (int i = 0; i < 2000 && actor_counters(&s.client)->succeeded < 100; i++)
            pair_turn(s.base, NULL, 2);
        stage_child_end(&c);
        for (int i = 0; i < 2000 && actor_counters(&s.client)->failed < 100; i++)
            pair_turn(s.base, NULL, 2);
        assert_true(actor_counters(&s.client)->failed >= 100);
        assert_true(actor_stop(&s.client));
        stage_assert_identity(&s.client);
        stage_done(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_client_kind_does_exactly_n),
        cmocka_unit_test(a_refused_connection_is_counted),
        cmocka_unit_test(a_silent_server_times_requests_out),
        cmocka_unit_test(a_program_that_fails_is_counted),
        cmocka_unit_test(running_out_of_descriptors_is_a_result),
        cmocka_unit_test(a_server_out_of_descriptors_recovers),
        cmocka_unit_test(a_rate_is_kept_and_measured),
        cmocka_unit_test(a_duration_ends_the_load),
        cmocka_unit_test(a_rate_for_a_duration_is_so_many),
        cmocka_unit_test(a_late_start_adds_nothing_to_a_rate),
        cmocka_unit_test(a_pause_is_no_part_of_the_duration),
        cmocka_unit_test(a_request_just_begun_is_not_timed_out),
        cmocka_unit_test(load_is_paused_changed_and_stopped),
        cmocka_unit_test(a_lost_connection_fails_its_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
