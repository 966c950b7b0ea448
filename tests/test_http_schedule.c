/*
 * What the HTTP load client promises as a load generator: exact amounts, kept rates,
 * durations, pauses and changes while running.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef stop /* of cmocka 2; roles have a member of this name */

#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/bench.h"

/* Exactly N reach the server, whatever N and C. */
static void exact_amounts(void **state)
{
    static const unsigned cases[][3] = {
        {1, 1, 1},   {1, 200, 1}, {401, 400, 1}, {400, 401, 1}, {7, 3, 1},
        {100, 7, 5}, {1, 1, 10},  {23, 2, 16},   {999, 50, 3},
    };
    char amount[32], connections[32], pipelining[32];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        struct bench b;

        bench_init(&b, HELLO);
        snprintf(amount, sizeof(amount), "amount:%u", cases[i][0]);
        snprintf(connections, sizeof(connections), "connections:%u", cases[i][1]);
        snprintf(pipelining, sizeof(pipelining), "pipelining:%u", cases[i][2]);
        actor_options(&b.client, amount, connections, pipelining, NULL);
        bench_run(&b);
        assert_int_equal(b.client.outcome, OUTCOME_COMPLETED);
        assert_int_equal(b.server.requests, cases[i][0]);
        assert_int_equal(bench_counts(&b)->succeeded, cases[i][0]);
        assert_int_equal(bench_counts(&b)->sent_messages, cases[i][0]);
        assert_int_equal(bench_counts(&b)->received_messages, cases[i][0]);
        assert_true(b.server.connections <= cases[i][1]);
        assert_string_equal(actor_fact(&b.client, "ended_by"), "amount");
        bench_done(&b);
    }
}

/* With a rate too, and with a rate on each connection. */
static void exact_amounts_at_a_rate(void **state)
{
    static const char *const rates[] = {"rate:5000", "connection_rate:1000"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench b;

        bench_init(&b, HELLO);
        actor_options(&b.client, "amount:301", "connections:5", rates[i], NULL);
        bench_run(&b);
        assert_int_equal(b.server.requests, 301);
        assert_int_equal(bench_counts(&b)->succeeded, 301);
        assert_int_equal(b.server.connections, 5);
        assert_int_equal(b.client.env.meter->hists[METER_HIST_pacing]->count, 301);
        assert_int_equal(b.client.env.meter->hists[METER_HIST_service]->count, 301);
        bench_done(&b);
    }
}

/* 500/s for 0.4 s is 200 requests, evenly spaced: never the burst of a closed loop. */
static void rate_is_kept(void **state)
{
    struct bench b;
    uint64_t begun_ns;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "amount:200", "connections:10", "rate:500", NULL);
    begun_ns = now_ns();
    bench_run(&b);
    /* The last is due after 199 gaps of 2 ms; earlier would be a rate not kept. */
    assert_true(now_ns() - begun_ns >= 398 * NS_PER_MS);
    assert_int_equal(bench_counts(&b)->succeeded, 200);
    bench_done(&b);
}

/* Latency counts from the intended time: a server that freezes shows in every request. */
static void a_stall_is_seen_from_the_schedule(void **state)
{
    struct bench b;
    const struct meter *m;

    (void)state;
    bench_init(&b, HELLO);
    b.server.is_silent = true;
    actor_options(&b.client, "amount:100", "connections:1", "rate:1000", NULL);
    bench_prepare(&b);
    b.client.role->start(b.client.flow, now_ns());
    pair_turn(b.base, NULL, 300);
    bench_turn_until(&b, &b.server.requests, 1);
    b.client.role->gauge(b.client.flow);
    assert_int_equal(b.client.env.meter->gauges.backlog, 99);
    assert_int_equal(b.client.env.meter->gauges.in_flight, 1);
    b.server.is_silent = false;
    odd_server_close(&b.server);
    assert_true(odd_server_open(&b.server, b.base, b.server.port));
    assert_true(pair_turn(b.base, &b.client.finished, 20000));
    bench_check_identity(&b);
    m = b.client.env.meter;
    assert_int_equal(m->counters.succeeded, 99);
    assert_int_equal(bench_errors(&b, "closed before the reply") +
                         bench_errors(&b, "read ECONNRESET"),
                     1);
    /* All 99 waited for the freeze, though each was served at once when it was sent. */
    assert_true(hist_quantile(m->hists[METER_HIST_latency], 0.01) > 150 * NS_PER_MS);
    assert_true(hist_quantile(m->hists[METER_HIST_service], 0.5) <
                hist_quantile(m->hists[METER_HIST_latency], 0.01));
    bench_done(&b);
}

static void duration_ends_it(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "duration:200000000", "connections:4", NULL);
    bench_run(&b);
    assert_int_equal(b.client.outcome, OUTCOME_COMPLETED);
    assert_true(bench_counts(&b)->succeeded > 0);
    assert_int_equal(bench_counts(&b)->unfinished, 0);
    assert_int_equal(b.server.requests, bench_counts(&b)->attempted);
    assert_string_equal(actor_fact(&b.client, "ended_by"), "duration");
    bench_done(&b);
}

/* What the server owes when the drain is over is unfinished, and told with its age. */
static void unfinished_requests(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    b.server.is_silent = true;
    actor_options(&b.client, "duration:300000000", "drain:50000000", "connections:3",
                  "pipelining:2", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->unfinished, 6);
    assert_int_equal(bench_counts(&b)->attempted, 6);
    assert_non_null(
        strstr(actor_fact(&b.client, "unfinished"), "6 requests, the oldest"));
    bench_done(&b);
}

static void stop_at_any_time(void **state)
{
    (void)state;
    for (unsigned ms = 0; ms < 12; ms += 3) {
        struct bench b;

        bench_init(&b, HELLO);
        actor_options(&b.client, "connections:20", "pipelining:3", NULL);
        bench_prepare(&b);
        b.client.role->start(b.client.flow, now_ns());
        if (ms)
            pair_turn(b.base, NULL, ms);
        assert_true(actor_stop(&b.client));
        bench_check_identity(&b);
        assert_int_equal(b.client.outcome, OUTCOME_STOPPED);
        assert_int_equal(bench_counts(&b)->unfinished, 0);
        b.client.role->stop(b.client.flow); /* again is ignored */
        bench_done(&b);
    }
}

static void stop_before_the_start(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:2", NULL);
    bench_prepare(&b);
    assert_true(actor_stop(&b.client));
    assert_int_equal(bench_counts(&b)->attempted, 0);
    bench_done(&b);
}

static void free_while_running(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:20", "rate:1000", "warmup:1000000000", NULL);
    bench_prepare(&b);
    b.client.role->start(b.client.flow, now_ns());
    pair_turn(b.base, NULL, 20);
    bench_done(&b);
}

/* The warm-up reaches the server and is not in the result. */
static void warmup_is_left_out(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:2", "warmup:100000000", "amount:50", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->succeeded, 50);
    assert_int_equal(bench_status(&b, "200"), 50);
    assert_true(b.server.requests > 50);
    assert_true(bench_counts(&b)->received_messages >= 50 &&
                bench_counts(&b)->received_messages <= 54);
    bench_done(&b);
}

static void change_while_running(void **state)
{
    struct bench b;
    const struct role *r;
    uint64_t before, begun_ns;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:2", "rate:100", NULL);
    bench_prepare(&b);
    r = b.client.role;
    r->start(b.client.flow, now_ns());
    bench_turn_until(&b, &b.server.open, 2);
    assert_int_equal(r->set(b.client.flow, OPTION_connections, 6), 0);
    assert_int_equal(r->set(b.client.flow, OPTION_rate, 4000), 0);
    bench_turn_until(&b, &b.server.open, 6);
    begun_ns = now_ns();
    before = bench_counts(&b)->succeeded;
    for (int n = 0; n < 10000 && bench_counts(&b)->succeeded < before + 200; n++)
        pair_turn(b.base, NULL, 1);
    assert_true(bench_counts(&b)->succeeded >= before + 200);
    assert_true(now_ns() - begun_ns < 2 * NS_PER_S); /* as long as at the old rate */
    assert_int_equal(r->set(b.client.flow, OPTION_connections, 1), 0);
    bench_turn_until(&b, &b.server.open, 1);
    assert_int_equal(r->set(b.client.flow, OPTION_rate, 0), -EINVAL);
    assert_int_equal(r->set(b.client.flow, OPTION_connections, 0), -EINVAL);
    assert_int_equal(r->set(b.client.flow, OPTION_timeout, 1), -ENOTSUP);
    assert_true(actor_stop(&b.client));
    bench_check_identity(&b);
    bench_done(&b);
}

static void more_connections_in_a_closed_loop(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:1", NULL);
    bench_prepare(&b);
    b.client.role->start(b.client.flow, now_ns());
    bench_turn_until(&b, &b.server.open, 1);
    assert_int_equal(b.client.role->set(b.client.flow, OPTION_connections, 9), 0);
    bench_turn_until(&b, &b.server.open, 9);
    b.client.role->gauge(b.client.flow);
    assert_int_equal(b.client.env.meter->gauges.open_connections, 9);
    assert_true(actor_stop(&b.client));
    bench_check_identity(&b);
    bench_done(&b);
}

/* Until nothing is under way; 10 s at most. */
static void turn_until_idle(struct bench *b)
{
    const struct meter *m = b->client.env.meter;

    for (int n = 0; n < 10000; n++) {
        pair_turn(b->base, NULL, 1);
        b->client.role->gauge(b->client.flow);
        if (m->gauges.in_flight == 0 && b->server.requests == m->counters.attempted)
            return;
    }
    fail_msg("%u requests came", b->server.requests);
}

/* Until a counter has reached a number; 10 s at most. */
static void turn_until_counted(struct bench *b, const uint64_t *counter, uint64_t wanted)
{
    for (int n = 0; n < 10000 && *counter < wanted; n++)
        pair_turn(b->base, NULL, 1);
    assert_true(*counter >= wanted);
}

/*
 * A closed loop becomes a schedule when a rate is set: it goes no faster from then on,
 * and latency counts from the intended time.
 */
static void a_rate_is_set_where_there_was_none(void **state)
{
    struct bench b;
    const struct meter *m;
    uint64_t before, begun_ns, span_ns;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:4", NULL);
    bench_prepare(&b);
    m = b.client.env.meter;
    assert_null(m->hists[METER_HIST_service]);
    b.client.role->start(b.client.flow, now_ns());
    turn_until_counted(&b, &bench_counts(&b)->succeeded, 30); /* as fast as it can */
    assert_int_equal(b.client.role->set(b.client.flow, OPTION_rate, 0), -EINVAL);
    begun_ns = now_ns();
    assert_int_equal(b.client.role->set(b.client.flow, OPTION_rate, 200), 0);
    before = bench_counts(&b)->attempted;
    turn_until_counted(&b, &bench_counts(&b)->succeeded, before + 20);
    span_ns = now_ns() - begun_ns;
    /* Those due and a few that connections of the closed loop still had room for. */
    assert_true(bench_counts(&b)->attempted - before <= span_ns * 200 / NS_PER_S + 5);
    assert_true(m->hists[METER_HIST_service]->count > 0);
    assert_true(m->hists[METER_HIST_pacing]->count > 0);
    assert_true(actor_stop(&b.client));
    bench_check_identity(&b);
    bench_done(&b);
}

/* In a pause nothing is sent; after it there is no burst to catch up. */
static void pause_and_go_on(void **state)
{
    static const char *const kinds[] = {"rate:1000", "connection_rate:250", "rate:0"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench b;
        unsigned before;

        bench_init(&b, HELLO);
        actor_options(&b.client, "connections:4", "amount:1000000", kinds[i], NULL);
        bench_prepare(&b);
        b.client.role->start(b.client.flow, now_ns());
        for (int n = 0; n < 10000 && b.server.requests < 5; n++)
            pair_turn(b.base, NULL, 1);
        b.client.role->pause(b.client.flow, true);
        turn_until_idle(&b);
        before = b.server.requests;
        assert_true(before >= 5);
        pair_turn(b.base, NULL, 200);
        assert_int_equal(b.server.requests, before);
        b.client.role->pause(b.client.flow, false);
        b.client.role->gauge(b.client.flow);
        assert_true(b.client.env.meter->gauges.backlog < 50); /* of the 200 */
        for (int n = 0; n < 10000 && b.server.requests == before; n++)
            pair_turn(b.base, NULL, 1);
        assert_true(b.server.requests > before);
        assert_true(actor_stop(&b.client));
        bench_check_identity(&b);
        bench_done(&b);
    }
}

/* The deadline comes later by the pause. */
static void pause_extends_the_duration(void **state)
{
    struct bench b;
    uint64_t begun_ns;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:1", "rate:100", "duration:200000000", NULL);
    bench_prepare(&b);
    begun_ns = now_ns();
    b.client.role->start(b.client.flow, begun_ns);
    pair_turn(b.base, NULL, 50);
    b.client.role->pause(b.client.flow, true);
    pair_turn(b.base, NULL, 200);
    assert_false(b.client.finished);
    b.client.role->pause(b.client.flow, false);
    assert_true(pair_turn(b.base, &b.client.finished, 20000));
    assert_true(now_ns() - begun_ns >= 400 * NS_PER_MS);
    /* 20 are due; a machine that stalls at the very end loses the last. */
    assert_true(bench_counts(&b)->succeeded > 5 && bench_counts(&b)->succeeded <= 20);
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_amounts),
        cmocka_unit_test(exact_amounts_at_a_rate),
        cmocka_unit_test(rate_is_kept),
        cmocka_unit_test(a_stall_is_seen_from_the_schedule),
        cmocka_unit_test(duration_ends_it),
        cmocka_unit_test(unfinished_requests),
        cmocka_unit_test(stop_at_any_time),
        cmocka_unit_test(stop_before_the_start),
        cmocka_unit_test(free_while_running),
        cmocka_unit_test(warmup_is_left_out),
        cmocka_unit_test(change_while_running),
        cmocka_unit_test(more_connections_in_a_closed_loop),
        cmocka_unit_test(a_rate_is_set_where_there_was_none),
        cmocka_unit_test(pause_and_go_on),
        cmocka_unit_test(pause_extends_the_duration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
