/* What is worked out of a trial: shares of time, sums with an unknown part, advice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/trial.h"
#include "protocols/array.h"
#include "protocols/clock.h"

/* A trial of one second with a server, if wanted, and a client that both reported. */
struct stage {
    struct trial trial;
    struct options values;
    struct process *server, *client;
};

static void set_up(struct stage *s, const char *scenario, bool with_server)
{
    size_t count = with_server ? 2 : 1;

    memset(s, 0, sizeof(*s));
    assert_int_equal(trial_init(&s->trial, scenario_find(scenario), 1, count), 0);
    s->client = &s->trial.processes[count - 1];
    s->client->place = PLACE_CLIENT;
    if (with_server) {
        s->server = &s->trial.processes[0];
        s->server->place = PLACE_SERVER;
    }
    for (size_t i = 0; i < count; i++) {
        struct process *p = &s->trial.processes[i];

        p->ready = p->reported = true;
        p->totals.at_ns = p->totals.span_ns = NS_PER_S;
    }
    assert_int_equal(scenario_defaults(s->trial.scenario, &s->values), 0);
}

static void tear_down(struct stage *s)
{
    trial_done(&s->trial);
    options_done(&s->values);
}

static void fact(struct process *p, const char *name, const char *text)
{
    snprintf(p->facts[p->fact_count].name, sizeof(p->facts[0].name), "%s", name);
    snprintf(p->facts[p->fact_count].text, sizeof(p->facts[0].text), "%s", text);
    p->fact_count++;
}

static double metric(const struct stage *s, enum metric m)
{
    return s->trial.metrics[m];
}

/* Its wait for what may still come is no idleness. */
static void a_server_is_judged_by_the_time_of_the_load(void **state)
{
    struct stage s;
    char text[160];

    (void)state;
    set_up(&s, "udp-cached-parallel", true);
    s.server->totals.span_ns = 2 * NS_PER_S;
    s.server->totals.use.cpu_system_us = 950000;
    s.client->totals.use.cpu_user_us = 500000;
    assert_int_equal(trial_compute(&s.trial, &s.values), 0);
    assert_float_equal(metric(&s, METRIC_server_cpu_percent), 95, 1e-9);
    assert_float_equal(metric(&s, METRIC_client_cpu_percent), 50, 1e-9);
    trial_bottleneck(&s.trial, text, sizeof(text));
    assert_string_equal(text, "server 95 % busy: this is the server's limit");
    tear_down(&s);
}

static void no_share_of_one_thread_is_above_the_whole(void **state)
{
    struct stage s;
    char text[160];

    (void)state;
    set_up(&s, "udp-cached-parallel", true);
    s.server->totals.use.cpu_system_us = 1100000;
    s.client->totals.use.run_wait_us = 1300000;
    assert_int_equal(trial_compute(&s.trial, &s.values), 0);
    assert_float_equal(metric(&s, METRIC_server_cpu_percent), 100, 1e-9);
    trial_bottleneck(&s.trial, text, sizeof(text));
    assert_non_null(strstr(text, "a client waited 100 % of the time for a core"));
    tear_down(&s);
    /* A process for each request is more than one thread. */
    set_up(&s, "tcp-requests", true);
    s.client->totals.use.cpu_user_us = 1700000;
    assert_int_equal(trial_compute(&s.trial, &s.values), 0);
    assert_float_equal(metric(&s, METRIC_client_cpu_percent), 170, 1e-9);
    tear_down(&s);
}

static void a_share_of_no_time_is_unknown(void **state)
{
    struct stage s;

    (void)state;
    set_up(&s, "tcp-requests", true);
    s.server->totals.span_ns = 0;
    s.client->totals.at_ns = s.client->totals.span_ns = 0;
    assert_int_equal(trial_compute(&s.trial, &s.values), 0);
    assert_true(isnan(metric(&s, METRIC_server_cpu_percent)));
    assert_true(isnan(metric(&s, METRIC_client_cpu_percent)));
    tear_down(&s);
}

static void a_sum_with_an_unknown_part_is_unknown(void **state)
{
    static const struct {
        const char *scenario;
        bool with_server;
        uint64_t sent;
        double up, throughput;
    } rows[] = {
        {"tcp-bulk", true, 1000, 1000, 3000},
        {"tcp-bulk", false, 1000, (double)NAN, (double)NAN},
        {"tcp-bulk", false, 0, (double)NAN, 2000}, /* nothing went up */
        {"unix-requests", false, 1000, (double)NAN, (double)NAN},
        {"http", false, 1000, (double)NAN, 2000}, /* what is read is what is told */
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;

        set_up(&s, rows[i].scenario, rows[i].with_server);
        s.client->totals.meter->counters.sent_bytes = rows[i].sent;
        s.client->totals.meter->counters.received_bytes = 2000;
        if (s.server)
            s.server->totals.meter->counters.received_bytes = rows[i].sent;
        assert_int_equal(trial_compute(&s.trial, &s.values), 0);
        assert_float_equal(metric(&s, METRIC_throughput_down), 2000, 1e-9);
        assert_true(isnan(rows[i].up) ? isnan(metric(&s, METRIC_throughput_up))
                                      : metric(&s, METRIC_throughput_up) == rows[i].up);
        assert_true(isnan(rows[i].throughput)
                        ? isnan(metric(&s, METRIC_throughput))
                        : metric(&s, METRIC_throughput) == rows[i].throughput);
        tear_down(&s);
    }
}

static void advice_on_loss_names_the_buffer(void **state)
{
    static const struct {
        const char *buffer, *limit;
        uint64_t overflow;
        const char *advice;
    } rows[] = {
        {"212992", "4194304", 7,
         "a larger receive buffer (it has 213 kB; --receive-buffer 4194304), or a lower "
         "--rate"},
        {"425984", "212992", 7,
         "a larger receive buffer (it has 426 kB; sysctl -w net.core.rmem_max=851968), "
         "or a lower --rate"},
        {"212992", NULL, 7,
         "a larger receive buffer (it has 213 kB; sysctl -w net.core.rmem_max=851968), "
         "or a lower --rate"},
        {"212992", "4194304", 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;
        char text[200];

        set_up(&s, "udp-cached-parallel", true);
        s.client->totals.meter->counters.sent_messages = 100;
        s.server->totals.meter->counters.unique = 90;
        s.server->totals.meter->counters.overflow = rows[i].overflow;
        fact(s.server, "receive_buffer_bytes", rows[i].buffer);
        if (rows[i].limit)
            fact(s.server, "receive_buffer_limit_bytes", rows[i].limit);
        assert_int_equal(trial_compute(&s.trial, &s.values), 0);
        trial_advice(&s.trial, text, sizeof(text));
        assert_string_equal(text, rows[i].advice);
        tear_down(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_is_judged_by_the_time_of_the_load),
        cmocka_unit_test(no_share_of_one_thread_is_above_the_whole),
        cmocka_unit_test(a_share_of_no_time_is_unknown),
        cmocka_unit_test(a_sum_with_an_unknown_part_is_unknown),
        cmocka_unit_test(advice_on_loss_names_the_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
