/* A trial settled: its metrics, its loss, and what its checks say of them. And the
 * statistics over trials, against published values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run.h"
#include "engine/statistics.h"
#include "engine/trial.h"
#include "protocols/array.h"
#include "protocols/clock.h"

/* cmocka's own compares as float. */
#define assert_near(got, wanted, by)                        \
    do {                                                    \
        double got_ = (got), wanted_ = (wanted);            \
        if (!(fabs(got_ - wanted_) <= (by)))                \
            print_error("%.9g, not %.9g\n", got_, wanted_); \
        assert_true(fabs(got_ - wanted_) <= (by));          \
    } while (0)

struct stage {
    struct trial trial;
    struct options values;
    struct sample sample; /* to fill and add */
};

/* A server and `clients` clients, all there and reported. */
static void stage_init(struct stage *s, const char *scenario, size_t clients)
{
    memset(s, 0, sizeof(*s));
    assert_int_equal(trial_init(&s->trial, scenario_find(scenario), 1, clients + 1), 0);
    assert_int_equal(scenario_defaults(scenario_find(scenario), &s->values), 0);
    assert_int_equal(sample_init(&s->sample), 0);
    s->trial.start_ns = 1000 * NS_PER_S;
    for (size_t i = 0; i <= clients; i++) {
        struct process *p = &s->trial.processes[i];

        p->place = i == 0 ? PLACE_SERVER : PLACE_CLIENT;
        p->index = i == 0 ? 0 : (unsigned)i - 1;
        p->ready = p->reported = true;
    }
}

static void stage_done(struct stage *s)
{
    trial_done(&s->trial);
    options_done(&s->values);
    sample_done(&s->sample);
}

static struct process *server(struct stage *s)
{
    return &s->trial.processes[0];
}

static struct process *client(struct stage *s)
{
    return &s->trial.processes[1];
}

static struct meter_counters *counters(struct process *p)
{
    return &p->totals.meter->counters;
}

static void settle(struct stage *s)
{
    assert_int_equal(trial_compute(&s->trial, &s->values), 0);
}

static const struct check *find_check(const struct trial *t, const char *name)
{
    for (size_t i = 0; i < t->check_count; i++)
        if (strcmp(t->checks[i].name, name) == 0)
            return &t->checks[i];
    return NULL;
}

static void assert_verdict(const struct stage *s, const char *name, enum verdict verdict)
{
    const struct check *c = find_check(&s->trial, name);

    if (!c || c->verdict != verdict)
        print_error("%s: %d, %s\n", name, c ? (int)c->verdict : -1,
                    c ? c->detail : "no such check");
    assert_non_null(c);
    assert_int_equal(c->verdict, verdict);
    assert_true(*c->detail);
}

static double metric(const struct stage *s, enum metric m)
{
    return s->trial.metrics[m];
}

/* Identity and counts. */

static void counts_that_add_up_pass(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 2);
    for (size_t i = 1; i <= 2; i++) {
        struct process *p = &s.trial.processes[i];

        *counters(p) = (struct meter_counters){.attempted = 100,
                                               .succeeded = 90,
                                               .failed = 5,
                                               .timed_out = 3,
                                               .unfinished = 2,
                                               .sent_bytes = 1000,
                                               .received_bytes = 500};
        p->totals.at_ns = i * NS_PER_S;
    }
    settle(&s);
    assert_verdict(&s, "identity", VERDICT_PASS);
    assert_near(s.trial.seconds, 2, 1e-9); /* until the last client */
    assert_near(metric(&s, METRIC_requests_per_second), 90, 1e-9);
    assert_near(metric(&s, METRIC_error_percent), 8, 1e-9);
    /* With failures, bytes under way are lost: nothing can be said of them. */
    assert_verdict(&s, "counts at both ends", VERDICT_UNKNOWN);
    stage_done(&s);
}

static void counts_that_do_not_add_up_fail(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    *counters(client(&s)) = (struct meter_counters){.attempted = 100, .succeeded = 99};
    settle(&s);
    assert_verdict(&s, "identity", VERDICT_FAIL);
    assert_non_null(strstr(find_check(&s.trial, "identity")->detail, "100 attempted"));
    stage_done(&s);
}

static void without_a_report_nothing_is_claimed(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    *counters(client(&s)) = (struct meter_counters){.attempted = 100, .succeeded = 99};
    client(&s)->reported = false;
    settle(&s);
    assert_verdict(&s, "identity", VERDICT_UNKNOWN);
    assert_verdict(&s, "counts at both ends", VERDICT_UNKNOWN);
    stage_done(&s);
}

static void streams_lose_nothing(void **state)
{
    struct stage s;

    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        stage_init(&s, "tcp-bulk", 1);
        *counters(client(&s)) = (struct meter_counters){
            .sent_bytes = 1000, .received_bytes = 2000, .attempted = 1, .succeeded = 1};
        *counters(server(&s)) = (struct meter_counters){
            .sent_bytes = 2000, .received_bytes = 1000 - (unsigned)lost};
        client(&s)->totals.at_ns = 2 * NS_PER_S;
        settle(&s);
        assert_verdict(&s, "counts at both ends", lost ? VERDICT_FAIL : VERDICT_PASS);
        assert_near(metric(&s, METRIC_throughput_down), 1000, 1e-9);
        if (!lost) {
            assert_near(metric(&s, METRIC_throughput_up), 500, 1e-9);
            assert_near(metric(&s, METRIC_throughput), 1500, 1e-9);
        }
        /* A transfer has no distribution of latencies. */
        assert_true(isnan(metric(&s, METRIC_latency_p50_ns)));
        assert_true(isnan(metric(&s, METRIC_requests_per_second)));
        stage_done(&s);
    }
}

static void add_fact(struct process *p, const char *name, const char *text)
{
    snprintf(p->facts[p->fact_count].name, sizeof(p->facts[0].name), "%s", name);
    snprintf(p->facts[p->fact_count].text, sizeof(p->facts[0].text), "%s", text);
    p->fact_count++;
}

/* A command is timed with the start of its process: that of the slowest client. */
static void a_command_begins_with_its_process(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-bulk", 2);
    s.trial.processes[1].totals.at_ns = 2 * NS_PER_S;
    s.trial.processes[2].totals.at_ns = 2 * NS_PER_S;
    settle(&s);
    assert_true(isnan(metric(&s, METRIC_seconds_command)));
    s.trial.processes[0].start_ns = 90 * NS_PER_MS; /* the server's is no part of it */
    s.trial.processes[1].start_ns = 40 * NS_PER_MS;
    s.trial.processes[2].start_ns = 50 * NS_PER_MS;
    settle(&s);
    assert_near(metric(&s, METRIC_seconds), 2, 1e-9);
    assert_near(metric(&s, METRIC_seconds_command), 2.05, 1e-9);
    stage_done(&s);
}

/* Client, endpoint and microservice: what one sent the next has received, and back. */
static void services_are_counted_at_every_end(void **state)
{
    static const struct {
        uint64_t heard, heard_bytes, got_bytes, unfinished;
        enum verdict verdict;
    } rows[] = {
        {100, 3500, 1200, 0, VERDICT_PASS}, /* Topper's line end is not counted there */
        {99, 3465, 1200, 0, VERDICT_FAIL},  {100, 3499, 1200, 0, VERDICT_FAIL},
        {100, 3500, 1199, 0, VERDICT_FAIL}, {100, 3500, 1200, 1, VERDICT_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;
        struct process *endpoint;

        stage_init(&s, "rest-topper", 2);
        endpoint = &s.trial.processes[2];
        endpoint->place = PLACE_ENDPOINT;
        *counters(client(&s)) =
            (struct meter_counters){.attempted = 100,
                                    .succeeded = 100,
                                    .unfinished = rows[i].unfinished,
                                    .sent_messages = 100,
                                    .sent_bytes = 4000,
                                    .received_messages = 100,
                                    .received_bytes = rows[i].got_bytes};
        *counters(endpoint) = (struct meter_counters){.received_messages = 100,
                                                      .received_bytes = 4000,
                                                      .sent_messages = 100,
                                                      .sent_bytes = 1200};
        *counters(server(&s)) =
            (struct meter_counters){.received_messages = rows[i].heard,
                                    .received_bytes = rows[i].heard_bytes,
                                    .sent_messages = 100,
                                    .sent_bytes = 1600};
        endpoint->fact_count = 3;
        endpoint->facts[0] = (struct fact){"upstream_messages", "100"};
        endpoint->facts[1] = (struct fact){"upstream_sent_bytes", "3600"};
        endpoint->facts[2] = (struct fact){"upstream_received_bytes", "1600"};
        settle(&s);
        assert_verdict(&s, "counts at both ends", rows[i].verdict);
        stage_done(&s);
    }
}

static void checksums_are_compared_both_ways(void **state)
{
    static const struct {
        const char *sent, *received;
        enum verdict verdict;
    } rows[] = {{"01234567", "01234567", VERDICT_PASS},
                {"01234567", "01234568", VERDICT_FAIL}};
    struct stage s;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        stage_init(&s, "tcp-bulk", 1);
        add_fact(client(&s), "sent_crc32", "aaaaaaaa");
        add_fact(server(&s), "received_crc32", "aaaaaaaa");
        add_fact(server(&s), "sent_crc32", rows[i].sent);
        add_fact(client(&s), "received_crc32", rows[i].received);
        settle(&s);
        assert_verdict(&s, "checksums", rows[i].verdict);
        stage_done(&s);
    }
    stage_init(&s, "tcp-bulk", 1);
    settle(&s);
    assert_null(find_check(&s.trial, "checksums")); /* not asked for */
    stage_done(&s);
}

/* Loss. */

static void set_datagrams(struct stage *s, uint64_t accepted, uint64_t received)
{
    *counters(client(s)) = (struct meter_counters){.attempted = accepted + 7,
                                                   .succeeded = accepted,
                                                   .failed = 7,
                                                   .refused = 7,
                                                   .sent_messages = accepted};
    *counters(server(s)) = (struct meter_counters){.received_messages = received + 3,
                                                   .unique = received,
                                                   .duplicate = 3,
                                                   .late = 1,
                                                   .out_of_order = 2,
                                                   .foreign = 4};
    client(s)->totals.at_ns = NS_PER_S;
}

/*
 * Of 1000 messages 961 came. What the buffer dropped is certain only if all of it was
 * the run's, and each drop one message.
 */
static void loss_is_attributed(void **state)
{
    static const struct {
        uint64_t received, drops, overflow, foreign, duplicate, late;
        int64_t explained[2], unexplained[2]; /* at least, at most */
        enum verdict verdict;
    } rows[] = {
        {1000, 0, 0, 0, 0, 0, {0, 0}, {0, 0}, VERDICT_PASS},
        {961, 39, 39, 0, 0, 0, {39, 39}, {0, 0}, VERDICT_PASS},
        {961, 30, 30, 0, 0, 0, {30, 30}, {9, 9}, VERDICT_FAIL},
        {961, 0, 0, 4, 3, 0, {0, 0}, {39, 39}, VERDICT_FAIL},
        {961, 39, 39, 0, 0, 2, {0, 37}, {2, 39}, VERDICT_FAIL}, /* late ones came */
        /* strangers' datagrams, or duplicates, may be what was dropped */
        {961, 39, 39, 1, 0, 0, {0, 39}, {0, 39}, VERDICT_UNKNOWN},
        {961, 39, 39, 0, 1, 0, {0, 39}, {0, 39}, VERDICT_UNKNOWN},
        {400, 5000, 5000, 900, 0, 0, {0, 600}, {0, 600}, VERDICT_UNKNOWN},
        {961, 50, 50, 0, 0, 0, {0, 39}, {0, 39}, VERDICT_UNKNOWN},
        {961, 30, 30, 1, 0, 0, {0, 30}, {9, 39}, VERDICT_FAIL},
        /* GRO: a drop is one message or many */
        {961, 3, 39, 0, 0, 0, {3, 39}, {0, 36}, VERDICT_UNKNOWN},
        {961, 39, 39, 0, 0, 0, {39, 39}, {0, 0}, VERDICT_PASS},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;
        const struct loss *l = &s.trial.loss;
        struct meter_counters *c;

        stage_init(&s, "udp-cached-series", 1);
        set_datagrams(&s, 1000, rows[i].received);
        c = counters(server(&s));
        c->drops = rows[i].drops;
        c->overflow = rows[i].overflow;
        c->foreign = rows[i].foreign;
        c->duplicate = rows[i].duplicate;
        c->late = rows[i].late;
        settle(&s);
        assert_int_equal(l->accepted, 1000);
        assert_int_equal(l->refused, 7);
        assert_int_equal(l->lost, 1000 - rows[i].received);
        assert_int_equal(l->overflow_least, rows[i].explained[0]);
        assert_int_equal(l->overflow, rows[i].explained[1]);
        assert_int_equal(l->unexplained, rows[i].unexplained[0]);
        assert_int_equal(l->unexplained_most, rows[i].unexplained[1]);
        assert_int_equal(l->duplicate, rows[i].duplicate);
        assert_int_equal(l->foreign, rows[i].foreign);
        assert_verdict(&s, "counts at both ends", VERDICT_PASS);
        assert_verdict(&s, "loss explained", rows[i].verdict);
        assert_near(metric(&s, METRIC_loss_percent), (double)l->lost / 10, 1e-9);
        stage_done(&s);
    }
}

static void sending_is_said_with_its_turns_and_calls(void **state)
{
    struct stage s;
    struct meter_counters *c;
    char text[200];

    (void)state;
    stage_init(&s, "udp-cached-parallel", 1);
    set_datagrams(&s, 993, 993);
    c = counters(client(&s));
    c->turns = 500;
    c->send_calls = 2000;
    settle(&s);
    trial_sending(&s.trial, text, sizeof(text));
    assert_string_equal(text, "500 turns of the event loop and 2000 sending calls, 0.5 "
                              "and 2 a message");
    add_fact(client(&s), "backlog_peak", "1000");
    trial_sending(&s.trial, text, sizeof(text));
    assert_string_equal(text, "peak of the backlog 1000; 500 turns of the event loop and "
                              "2000 sending calls, 0.5 and 2 a message");
    stage_done(&s);
    stage_init(&s, "tcp-requests", 1);
    settle(&s);
    trial_sending(&s.trial, text, sizeof(text));
    assert_string_equal(text, "");
    stage_done(&s);
}

static void a_part_of_the_loss_is_said_with_its_bounds(void **state)
{
    char text[64];

    (void)state;
    loss_range(600, 600, text, sizeof(text));
    assert_string_equal(text, "600");
    loss_range(0, 600, text, sizeof(text));
    assert_string_equal(text, "between 0 and 600");
    loss_range(-1, -1, text, sizeof(text));
    assert_string_equal(text, "-");
}

static void nothing_sent_has_no_share_lost(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "udp-cached-series", 1);
    set_datagrams(&s, 0, 0);
    settle(&s);
    assert_int_equal(s.trial.loss.lost, 0);
    assert_true(isnan(metric(&s, METRIC_loss_percent)));
    stage_done(&s);
}

static void more_received_than_sent_is_no_negative_loss(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "udp-cached-series", 1);
    set_datagrams(&s, 100, 105);
    settle(&s);
    assert_int_equal(s.trial.loss.lost, 0);
    assert_verdict(&s, "counts at both ends", VERDICT_FAIL);
    stage_done(&s);
}

static void without_the_receivers_report_loss_is_unknown(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "udp-cached-series", 1);
    set_datagrams(&s, 1000, 500);
    server(&s)->reported = false;
    settle(&s);
    assert_int_equal(s.trial.loss.accepted, 1000);
    assert_int_equal(s.trial.loss.received, -1);
    assert_int_equal(s.trial.loss.lost, -1);
    assert_int_equal(s.trial.loss.unexplained, -1);
    assert_true(isnan(metric(&s, METRIC_loss_percent)));
    assert_verdict(&s, "counts at both ends", VERDICT_UNKNOWN);
    stage_done(&s);
}

static void streams_have_no_loss(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    settle(&s);
    assert_int_equal(s.trial.loss.attempted, -1);
    assert_true(isnan(metric(&s, METRIC_loss_percent)));
    stage_done(&s);
}

/* Seconds. */

static void add(struct stage *s, struct process *p, double end, double span, uint64_t n)
{
    s->sample.at_ns = (uint64_t)(end * 1e9);
    s->sample.span_ns = (uint64_t)(span * 1e9);
    s->sample.meter->counters = (struct meter_counters){.attempted = n,
                                                        .succeeded = n,
                                                        .received_bytes = 100 * n,
                                                        .received_messages = n};
    assert_int_equal(trial_sample(&s->trial, p, &s->sample), 0);
}

static struct second_summary requests(const struct stage *s)
{
    struct second_summary summary;

    trial_seconds(&s->trial, offsetof(struct second, requests), &summary);
    return summary;
}

static void whole_seconds_are_summed_up(void **state)
{
    static const uint64_t a_second[] = {100, 200, 300, 400};
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    for (size_t i = 0; i < 4; i++)
        for (int tenth = 1; tenth <= 10; tenth++)
            add(&s, client(&s), (double)i + tenth / 10.0, 0.1, a_second[i] / 10);
    add(&s, client(&s), 4.5, 0.5, 9999); /* a begun second counts for no statistics */
    settle(&s);
    assert_near(s.trial.seconds, 4.5, 1e-9);
    assert_int_equal(requests(&s).count, 4);
    assert_near(requests(&s).mean, 250, 1e-6);
    assert_near(requests(&s).max, 400, 1e-6);
    assert_near(requests(&s).stdev, 111.803398875, 1e-6); /* the population's */
    assert_near(metric(&s, METRIC_requests_per_second_max), 400, 1e-6);
    assert_near(metric(&s, METRIC_requests_per_second_stdev), 111.803398875, 1e-6);
    stage_done(&s);
}

/* A sample across seconds is shared out by time, and nothing of it is lost. */
static void a_sample_across_seconds_is_shared_out(void **state)
{
    struct stage s;
    double sum = 0;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    add(&s, client(&s), 3.25, 2.5, 1000); /* 0.75 .. 3.25 */
    for (size_t i = 0; i < s.trial.second_count; i++)
        sum += s.trial.seconds_list[i].requests;
    assert_near(sum, 1000, 1e-6);
    assert_near(s.trial.seconds_list[0].requests, 100, 1e-6);
    assert_near(s.trial.seconds_list[1].requests, 400, 1e-6);
    assert_near(s.trial.seconds_list[2].requests, 400, 1e-6);
    assert_near(s.trial.seconds_list[3].requests, 100, 1e-6);
    stage_done(&s);
}

/* Under two seconds the rates are over tenths, as the meter samples. */
static void a_short_run_has_rates_by_tenths(void **state)
{
    struct second_summary rates;
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    for (int tenth = 1; tenth <= 12; tenth++)
        add(&s, client(&s), tenth / 10.0, 0.1, tenth % 2 ? 10 : 30);
    add(&s, client(&s), 1.25, 0.05, 999); /* a begun tenth counts for no statistics */
    settle(&s);
    trial_rates(&s.trial, offsetof(struct second, requests), &rates);
    assert_int_equal(rates.count, 12);
    assert_near(rates.step_s, 0.1, 1e-9);
    assert_near(rates.mean, 200, 1e-6);
    assert_near(metric(&s, METRIC_requests_per_second_max), 300, 1e-6);
    assert_near(metric(&s, METRIC_requests_per_second_stdev), 100, 1e-6);
    stage_done(&s);
}

static void too_short_for_a_second_is_not_known(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    add(&s, client(&s), 0.9, 0.9, 100);
    settle(&s);
    assert_int_equal(requests(&s).count, 0);
    assert_true(isnan(requests(&s).mean) && isnan(requests(&s).max));
    assert_true(isnan(metric(&s, METRIC_requests_per_second_max)));
    assert_near(metric(&s, METRIC_requests_per_second), 100 / 0.9, 1e-6);
    stage_done(&s);
}

static void a_pause_is_in_neither_clock_nor_seconds(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    for (int tenth = 1; tenth <= 100; tenth++)
        add(&s, client(&s), tenth / 10.0, 0.1,
            tenth > 25 && tenth <= 65 ? 0 : 10); /* 2.5 .. 6.5 paused */
    assert_int_equal(trial_pause(&s.trial, s.trial.start_ns + 2500 * NS_PER_MS,
                                 s.trial.start_ns + 6500 * NS_PER_MS),
                     0);
    settle(&s);
    assert_near(s.trial.seconds, 6, 1e-9);
    assert_int_equal(requests(&s).count, 5); /* 0, 1, 7, 8, 9 */
    assert_near(requests(&s).mean, 100, 1e-6);
    assert_near(requests(&s).stdev, 0, 1e-6);
    assert_near(metric(&s, METRIC_requests_per_second), 100, 1e-6);
    stage_done(&s);
}

static void a_pause_before_the_start_counts_from_the_start(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    trial_pause(&s.trial, s.trial.start_ns - 5 * NS_PER_S, s.trial.start_ns - NS_PER_S);
    assert_int_equal(s.trial.paused_ns, 0);
    trial_pause(&s.trial, s.trial.start_ns - 5 * NS_PER_S, s.trial.start_ns + NS_PER_S);
    assert_int_equal(s.trial.paused_ns, NS_PER_S);
    stage_done(&s);
}

static void throughput_comes_from_the_receivers(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-bulk", 1);
    add(&s, client(&s), 1, 1, 5);
    add(&s, server(&s), 1, 1, 7);
    assert_near(s.trial.seconds_list[0].throughput_bytes, 1200, 1e-6);
    assert_near(s.trial.seconds_list[0].received_messages, 5, 1e-6);
    stage_done(&s);
    stage_init(&s, "udp-cached-series", 1);
    add(&s, client(&s), 1, 1, 5);
    s.sample.meter->counters.unique = 6;
    s.sample.meter->counters.succeeded = 0;
    assert_int_equal(trial_sample(&s.trial, server(&s), &s.sample), 0);
    assert_near(s.trial.seconds_list[0].received_messages, 6, 1e-6);
    stage_done(&s);
}

/* Latency, CPU, and the checks on the load itself. */

static void latencies_are_told_where_they_were_measured(void **state)
{
    static const struct {
        const char *scenario;
        bool at_server;
    } rows[] = {{"tcp-requests", false}, {"udp-cached-series", true}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct stage s;
        struct process *p;

        stage_init(&s, rows[i].scenario, 1);
        p = rows[i].at_server ? server(&s) : client(&s);
        for (uint64_t v = 1; v <= 1000; v++)
            meter_record(p->totals.meter, METER_HIST_latency, v * 1000);
        settle(&s);
        assert_near(metric(&s, METRIC_latency_mean_ns), 500500, 1);
        assert_near(metric(&s, METRIC_latency_p50_ns), 500000, 500);
        assert_near(metric(&s, METRIC_latency_p99_ns), 990000, 1000);
        assert_near(metric(&s, METRIC_latency_max_ns), 1000000, 0.1);
        assert_verdict(&s, "enough for the percentiles", VERDICT_PASS);
        stage_done(&s);
    }
}

static void few_latencies_carry_no_percentile(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    for (uint64_t v = 1; v <= 100; v++)
        meter_record(client(&s)->totals.meter, METER_HIST_latency, v * 1000);
    settle(&s);
    assert_verdict(&s, "enough for the percentiles", VERDICT_UNKNOWN);
    stage_done(&s);
}

/* What hangs is under way as well, and so is what failed. */
static void littles_law_counts_what_did_not_end(void **state)
{
    struct stage s;
    struct meter *m;

    (void)state;
    stage_init(&s, "http", 1);
    options_set_number(&s.values, OPTION_connections, 30);
    m = client(&s)->totals.meter;
    m->counters.attempted = 130;
    m->counters.succeeded = 90;
    m->counters.failed = 10;
    m->counters.unfinished = 30;
    client(&s)->totals.at_ns = 10 * NS_PER_S;
    assert_int_equal(meter_use(m, METER_HIST_failure), 0);
    assert_int_equal(meter_use(m, METER_HIST_unfinished), 0);
    hist_record_n(m->hists[METER_HIST_latency], 100 * NS_PER_MS, 90);
    hist_record_n(m->hists[METER_HIST_failure], 100 * NS_PER_MS, 10);
    hist_record_n(m->hists[METER_HIST_unfinished], 9 * NS_PER_S, 30);
    settle(&s);
    assert_verdict(&s, "Little's law", VERDICT_PASS);
    /* 9 s, 1 s and 270 s in 10 s. */
    assert_non_null(strstr(find_check(&s.trial, "Little's law")->detail, "= 28.00 "));
    stage_done(&s);
}

/*
 * 1,000 that took up to 10 ms on ten connections, and so many that are open since so
 * long. What is long or more than there is room for is overdue, and then an error.
 */
static void what_is_overdue_is_an_error(void **state)
{
    static const struct {
        uint64_t unfinished, never_begun, ms;
        uint64_t overdue;
        bool is_bound; /* the maximum */
    } rows[] = {
        {3, 0, 5, 0, false},     {10, 0, 4000, 10, true}, {10, 490, 50, 500, true},
        {0, 10, 4000, 10, true}, {0, 3, 20, 0, true},     {0, 0, 1, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < 2 * NUMBER_OF(rows); i++) {
        size_t k = i / 2;
        uint64_t open = rows[k].unfinished + rows[k].never_begun;
        bool ignored = i % 2;
        struct stage s;
        struct meter *m;

        stage_init(&s, "http", 1);
        options_set_number(&s.values, OPTION_connections, 10);
        if (ignored)
            options_set_text(&s.values, OPTION_unfinished, "ignore");
        m = client(&s)->totals.meter;
        m->counters.succeeded = 1000;
        m->counters.unfinished = rows[k].unfinished;
        m->counters.attempted = 1000 + rows[k].unfinished;
        m->counters.never_begun = rows[k].never_begun;
        for (uint64_t n = 1; n <= 1000; n++)
            meter_record(m, METER_HIST_latency, n * NS_PER_MS / 100);
        assert_int_equal(meter_use(m, METER_HIST_unfinished), 0);
        if (open)
            hist_record_n(m->hists[METER_HIST_unfinished], rows[k].ms * NS_PER_MS, open);
        settle(&s);
        assert_int_equal(s.trial.overdue, rows[k].overdue);
        assert_near(metric(&s, METRIC_unfinished_percent),
                    100.0 * (double)open / (double)(1000 + open), 1e-9);
        assert_near(metric(&s, METRIC_error_percent),
                    ignored ? 0 : 100.0 * (double)rows[k].overdue / (double)(1000 + open),
                    1e-9);
        assert_int_equal(s.trial.is_bound[METRIC_latency_max_ns], rows[k].is_bound);
        assert_false(s.trial.is_bound[METRIC_latency_p50_ns]);
        if (rows[k].overdue)
            assert_verdict(&s, "answered to the end",
                           ignored ? VERDICT_UNKNOWN : VERDICT_FAIL);
        else
            assert_null(find_check(&s.trial, "answered to the end"));
        stage_done(&s);
    }
}

static void littles_law_is_checked(void **state)
{
    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        struct stage s;

        stage_init(&s, "tcp-requests", 1);
        options_set_number(&s.values, OPTION_concurrency, 4);
        counters(client(&s))->attempted = counters(client(&s))->succeeded = 1000;
        client(&s)->totals.at_ns = NS_PER_S;
        /* 1000 of 4 ms each in a second are 4 at once; of 5 ms they would be 5. */
        for (int i = 0; i < 1000; i++)
            meter_record(client(&s)->totals.meter, METER_HIST_latency,
                         (4 + (unsigned)broken) * NS_PER_MS);
        settle(&s);
        assert_verdict(&s, "Little's law", broken ? VERDICT_FAIL : VERDICT_PASS);
        stage_done(&s);
    }
}

static void a_rate_that_was_not_kept_is_told(void **state)
{
    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        struct stage s;

        stage_init(&s, "tcp-requests", 1);
        options_set_number(&s.values, OPTION_rate, 1000);
        counters(client(&s))->attempted = broken ? 900 : 995;
        client(&s)->totals.at_ns = NS_PER_S;
        settle(&s);
        assert_verdict(&s, "rate kept", broken ? VERDICT_FAIL : VERDICT_PASS);
        assert_null(find_check(&s.trial, "Little's law"));
        stage_done(&s);
    }
}

/* Several rates have no one to be kept: how late the sends were is told all the same. */
static void a_changed_rate_is_not_judged(void **state)
{
    struct stage s;
    const struct check *c;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    options_set_number(&s.values, OPTION_rate, 1000);
    s.trial.rate_changed = true;
    counters(client(&s))->attempted = 300;
    client(&s)->totals.at_ns = NS_PER_S;
    settle(&s);
    assert_verdict(&s, "rate kept", VERDICT_UNKNOWN);
    c = find_check(&s.trial, "rate kept");
    assert_non_null(strstr(c->detail, "changed while it ran, last to 1000/s"));
    stage_done(&s);
}

static void set_cpu(struct process *p, double share)
{
    p->totals.span_ns = p->totals.at_ns = 10 * NS_PER_S;
    p->totals.use.cpu_user_us = (uint64_t)(share * 6e6);
    p->totals.use.cpu_system_us = (uint64_t)(share * 4e6);
}

static void the_bottleneck_is_named(void **state)
{
    static const struct {
        double client, server;
        enum verdict verdict;
        const char *said;
    } rows[] = {
        {0.97, 0.50, VERDICT_UNKNOWN, "generator's limit"},
        {0.50, 0.97, VERDICT_PASS, "server's limit"},
        {0.95, 0.99, VERDICT_PASS,
         "client 95 %, server 99 % busy: both are at their limit"},
        {0.40, 0.30, VERDICT_PASS, "neither end's CPU"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;
        char text[200];

        stage_init(&s, "tcp-requests", 2);
        set_cpu(client(&s), rows[i].client);
        set_cpu(&s.trial.processes[2], rows[i].client / 2); /* the busiest counts */
        set_cpu(server(&s), rows[i].server);
        settle(&s);
        assert_near(metric(&s, METRIC_client_cpu_percent), 100 * rows[i].client, 1e-6);
        assert_near(metric(&s, METRIC_server_cpu_percent), 100 * rows[i].server, 1e-6);
        assert_verdict(&s, "generator not saturated", rows[i].verdict);
        trial_bottleneck(&s.trial, text, sizeof(text));
        if (!strstr(text, rows[i].said))
            print_error("%s\n", text);
        assert_non_null(strstr(text, rows[i].said));
        stage_done(&s);
    }
}

/* Without a rate or a threshold it is no fault to go as fast as the generator can. */
static void a_saturated_generator_fails_what_depends_on_it(void **state)
{
    static const struct {
        double used, waited;
        enum option option;
        const char *value;
        enum verdict verdict;
    } rows[] = {
        {0.97, 0, OPTION_NONE, NULL, VERDICT_UNKNOWN},
        {0.97, 0, OPTION_rate, NULL, VERDICT_FAIL},
        {0.97, 0, OPTION_connection_rate, NULL, VERDICT_FAIL},
        {0.97, 0, OPTION_threshold, "p99<5ms", VERDICT_FAIL},
        {0.49, 0.49, OPTION_rate, NULL, VERDICT_FAIL}, /* as good as all of a core */
        {0.49, 0, OPTION_rate, NULL, VERDICT_PASS},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;

        stage_init(&s, "http", 1);
        if (rows[i].value)
            options_set_text(&s.values, rows[i].option, rows[i].value);
        else if (rows[i].option != OPTION_NONE)
            options_set_number(&s.values, rows[i].option, 1000);
        set_cpu(client(&s), rows[i].used);
        client(&s)->totals.use.run_wait_us = (uint64_t)(rows[i].waited * 1e7);
        settle(&s);
        assert_verdict(&s, "generator not saturated", rows[i].verdict);
        stage_done(&s);
    }
}

/* Receiver's counts by the receiver's time: what waits in the path is not received yet.
 */
static void a_rate_divides_by_the_time_of_what_it_counts(void **state)
{
    struct stage s;
    struct meter *m;

    (void)state;
    stage_init(&s, "udp-cached-series", 1);
    client(&s)->totals.at_ns = 80 * NS_PER_MS;
    client(&s)->totals.meter->offered = (struct meter_span){0, 77 * NS_PER_MS};
    counters(client(&s))->attempted = counters(client(&s))->sent_messages = 20001;
    m = server(&s)->totals.meter;
    m->received = (struct meter_span){NS_PER_S, 3 * NS_PER_S};
    m->counters.unique = m->counters.received_messages = 20001;
    m->counters.received_bytes = 20001 * 60;
    settle(&s);
    assert_near(metric(&s, METRIC_seconds), 0.08, 1e-9);
    assert_near(metric(&s, METRIC_offered_seconds), 0.077, 1e-9);
    assert_near(metric(&s, METRIC_received_seconds), 2.0001, 1e-9);
    assert_near(metric(&s, METRIC_received_per_second), 10000, 1e-6);
    assert_near(metric(&s, METRIC_throughput), 600000, 1e-4);
    stage_done(&s);
}

/*
 * The drain is no time of load. Nine hung requests of a load of 2 s; a schedule of 5 s
 * against a server of 500 ms; one slow reply behind the end; a server that works off
 * what has queued up, and never did more than 5,000 a second.
 */
static void a_drain_dilutes_no_rate(void **state)
{
    static const struct {
        uint64_t rate, succeeded, drained, offered_ms, first_ms, last_ms, end_ms;
        double requests_per_second;
    } rows[] = {
        {0, 3748, 0, 2000, 1, 2000, 3000, 1874},
        {100, 501, 50, 5010, 500, 5500, 5500, 100},
        {0, 3749, 1, 2000, 1, 2900, 2900, 1874},
        {0, 15000, 5000, 2000, 1, 3000, 3000, 5000},
        {10000, 15001, 5001, 2000, 1, 3001, 3001, 5000},
        {0, 20, 4, 200, 50, 250, 250, 80},
        {0, 4, 4, 0, 50, 50, 50, 80},
        {0, 1000, 0, 5000, 1, 1000, 6000, 200}, /* it hung after 1 s */
        {100, 101, 0, 5000, 1, 1001, 6000, 20.2},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;
        struct meter *m;

        stage_init(&s, "http", 1);
        options_set_number(&s.values, OPTION_rate, rows[i].rate);
        m = client(&s)->totals.meter;
        client(&s)->totals.at_ns = rows[i].end_ms * NS_PER_MS;
        m->offered =
            (struct meter_span){0, rows[i].offered_ms * NS_PER_MS + !rows[i].offered_ms};
        m->received = (struct meter_span){rows[i].first_ms * NS_PER_MS,
                                          rows[i].last_ms * NS_PER_MS};
        m->counters.attempted = m->counters.succeeded = rows[i].succeeded;
        m->counters.received_messages = rows[i].succeeded;
        m->counters.drained = rows[i].drained;
        settle(&s);
        assert_near(metric(&s, METRIC_requests_per_second), rows[i].requests_per_second,
                    1e-3);
        if (rows[i].rate == 100)
            assert_near(metric(&s, METRIC_offered_seconds),
                        (double)rows[i].offered_ms / 1e3, 1e-9);
        stage_done(&s);
    }
}

static void a_rate_beside_the_series(void **state)
{
    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        struct stage s;

        stage_init(&s, "http", 1);
        /* 1,000 in each of two seconds, called the work of one. */
        for (uint64_t n = 1; n <= 20; n++) {
            struct meter *m = s.sample.meter;

            meter_reset(m);
            m->counters.attempted = m->counters.succeeded = 100;
            s.sample.at_ns = n * 100 * NS_PER_MS;
            s.sample.span_ns = 100 * NS_PER_MS;
            assert_int_equal(trial_sample(&s.trial, client(&s), &s.sample), 0);
        }
        client(&s)->totals.meter->offered =
            (struct meter_span){0, (2 - (unsigned)broken) * NS_PER_S};
        client(&s)->totals.meter->received = client(&s)->totals.meter->offered;
        settle(&s);
        assert_verdict(&s, "rates match the series",
                       broken ? VERDICT_FAIL : VERDICT_PASS);
        stage_done(&s);
    }
}

/* Each connection's rate is a rate of all; and where nobody says, nothing is claimed. */
static void a_rate_on_each_connection_is_judged(void **state)
{
    static const struct {
        uint64_t attempted, pace;
        enum verdict verdict;
    } rows[] = {
        {2000, 1, VERDICT_PASS}, {1500, 1, VERDICT_FAIL}, {0, 0, VERDICT_UNKNOWN}};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;

        stage_init(&s, "http", 1);
        options_set_number(&s.values, OPTION_connections, 2);
        options_set_number(&s.values, OPTION_connection_rate, 1000);
        client(&s)->totals.meter->counters.attempted = rows[i].attempted;
        client(&s)->totals.meter->counters.succeeded = rows[i].attempted;
        client(&s)->totals.at_ns = rows[i].pace * NS_PER_S;
        /* Latencies from the schedule say nothing of how many are under way. */
        meter_record(client(&s)->totals.meter, METER_HIST_latency, 3600 * NS_PER_S);
        settle(&s);
        assert_verdict(&s, "rate kept", rows[i].verdict);
        assert_null(find_check(&s.trial, "Little's law"));
        stage_done(&s);
    }
}

/*
 * What the generator kept back itself is in the latency, and not the server's: a tenth of
 * it, or a millisecond, is nothing to speak of.
 */
static void a_late_generator_is_told_from_a_slow_server(void **state)
{
    static const struct {
        uint64_t own_us, latency_us;
        enum verdict verdict;
    } rows[] = {{924000, 928000, VERDICT_FAIL},
                {900, 950, VERDICT_PASS},
                {50000, 928000, VERDICT_PASS}};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;
        struct meter *m;

        stage_init(&s, "http", 1);
        options_set_number(&s.values, OPTION_rate, 100);
        m = client(&s)->totals.meter;
        m->counters.attempted = m->counters.succeeded = 100;
        client(&s)->totals.at_ns = NS_PER_S;
        assert_int_equal(meter_use(m, METER_HIST_generator), 0);
        hist_record_n(m->hists[METER_HIST_generator], 1000, 90);
        hist_record_n(m->hists[METER_HIST_generator], rows[i].own_us * 1000, 10);
        hist_record_n(m->hists[METER_HIST_latency], 10000, 90);
        hist_record_n(m->hists[METER_HIST_latency], rows[i].latency_us * 1000, 10);
        settle(&s);
        assert_verdict(&s, "generator in time", rows[i].verdict);
        stage_done(&s);
    }
}

static void who_was_held_up_is_told(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 2);
    settle(&s);
    assert_null(find_check(&s.trial, "nobody held up"));
    stage_done(&s);
    stage_init(&s, "tcp-requests", 2);
    for (uint64_t n = 1; n <= 3; n++) {
        s.sample.at_ns = n * 100 * NS_PER_MS;
        s.sample.span_ns = 100 * NS_PER_MS;
        s.sample.use.clock_late_us = n == 2 ? 1400000 : 50;
        assert_int_equal(trial_sample(&s.trial, client(&s), &s.sample), 0);
    }
    settle(&s);
    assert_verdict(&s, "nobody held up", VERDICT_FAIL);
    assert_non_null(strstr(find_check(&s.trial, "nobody held up")->detail,
                           "a client was held up for 1.40 s"));
    stage_done(&s);
}

/* By chance 100 a second may be 90 in one second, but not 90 in each of 100. */
static void a_poisson_rate_is_judged_by_its_chance(void **state)
{
    static const struct {
        uint64_t seconds;
        enum verdict verdict;
    } rows[] = {{1, VERDICT_PASS}, {100, VERDICT_FAIL}};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct stage s;

        stage_init(&s, "http", 1);
        options_set_number(&s.values, OPTION_rate, 100);
        options_set_text(&s.values, OPTION_arrivals, "poisson");
        client(&s)->totals.meter->counters.attempted = 90 * rows[i].seconds;
        client(&s)->totals.meter->counters.succeeded = 90 * rows[i].seconds;
        client(&s)->totals.at_ns = rows[i].seconds * NS_PER_S;
        settle(&s);
        assert_verdict(&s, "rate kept", rows[i].verdict);
        stage_done(&s);
    }
}

static void what_was_not_measured_is_not_a_number(void **state)
{
    struct stage s;
    char text[200] = "x";

    (void)state;
    /* Nobody was ready. */
    stage_init(&s, "tcp-requests", 1);
    client(&s)->ready = server(&s)->ready = false;
    client(&s)->reported = server(&s)->reported = false;
    settle(&s);
    for (int i = 0; i < METRIC_COUNT; i++)
        assert_true(isnan(s.trial.metrics[i]));
    assert_int_equal(s.trial.check_count, 0);
    trial_bottleneck(&s.trial, text, sizeof(text));
    assert_string_equal(text, "");
    stage_done(&s);
    /* Only the client is ours. */
    stage_init(&s, "tcp-requests", 1);
    server(&s)->ready = server(&s)->reported = false;
    counters(client(&s))->received_bytes = 500;
    client(&s)->totals.at_ns = NS_PER_S;
    settle(&s);
    assert_true(isnan(metric(&s, METRIC_throughput_up)));
    assert_true(isnan(metric(&s, METRIC_server_cpu_percent)));
    assert_near(metric(&s, METRIC_throughput), 500, 1e-9);
    stage_done(&s);
}

static void shrinking_keeps_what_was_settled(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "tcp-requests", 1);
    meter_record(client(&s)->totals.meter, METER_HIST_latency, 5000);
    tally_add(&client(&s)->totals.meter->errors, "connect ECONNREFUSED", 3);
    settle(&s);
    trial_drop_hists(&s.trial);
    trial_drop_hists(&s.trial);
    assert_null(s.trial.places[PLACE_CLIENT]);
    assert_int_equal(s.trial.hists[PLACE_CLIENT][METER_HIST_latency].count, 1);
    assert_int_equal(tally_get(&s.trial.errors, "connect ECONNREFUSED"), 3);
    stage_done(&s);
}

/* Metrics as text. */

static void metrics_are_named_and_formatted(void **state)
{
    char text[40];

    (void)state;
    for (int i = 0; i < METRIC_COUNT; i++) {
        assert_int_equal(metric_find(metric_row((enum metric)i)->name), i);
        assert_true(metric_row((enum metric)i)->better == 1 ||
                    metric_row((enum metric)i)->better == -1);
    }
    assert_int_equal(metric_find("nothing"), METRIC_COUNT);
    metric_format(METRIC_throughput, 3.21e9, text, sizeof(text));
    assert_string_equal(text, "3.21 GB/s");
    metric_format(METRIC_requests_per_second, 12345, text, sizeof(text));
    assert_string_equal(text, "12.3k/s");
    metric_format(METRIC_latency_p50_ns, 812000, text, sizeof(text));
    assert_string_equal(text, "812 us");
    metric_format(METRIC_seconds, 2.5, text, sizeof(text));
    assert_string_equal(text, "2.50 s");
    metric_format(METRIC_client_cpu_us_per_message, 7.5, text, sizeof(text));
    assert_string_equal(text, "7.50 us");
    metric_format(METRIC_loss_percent, 0.04, text, sizeof(text));
    assert_string_equal(text, "0.040 %");
    metric_format(METRIC_loss_percent, 100.0 / 10000000, text, sizeof(text));
    assert_string_equal(text, "< 0.001 %");
    metric_format(METRIC_loss_percent, 0, text, sizeof(text));
    assert_string_equal(text, "0.00 %");
    metric_format(METRIC_requests_per_second, 1.0 / 3000, text, sizeof(text));
    assert_string_equal(text, "< 0.01/s");
    metric_format_interval(METRIC_seconds, 1.2, 1.35, text, sizeof(text));
    assert_string_equal(text, "1.20 … 1.35 s");
    metric_format_interval(METRIC_latency_p50_ns, 900e3, 1.35e6, text, sizeof(text));
    assert_string_equal(text, "900 us … 1.35 ms");
    metric_format_interval(METRIC_seconds, (double)NAN, 1, text, sizeof(text));
    assert_string_equal(text, "-");
    metric_format(METRIC_loss_percent, (double)NAN, text, sizeof(text));
    assert_string_equal(text, "-");
}

/* Statistics. */

static void statistics_of_nothing_and_one(void **state)
{
    struct statistics s;
    double one = 5;

    (void)state;
    statistics_of(NULL, 0, &s);
    assert_int_equal(s.n, 0);
    assert_true(isnan(s.median) && isnan(s.mean) && isnan(s.ci95_low));
    statistics_of(&one, 1, &s);
    assert_int_equal(s.n, 1);
    assert_true(s.median == 5 && s.mean == 5 && s.min == 5 && s.max == 5);
    assert_true(isnan(s.stdev) && isnan(s.ci95_low) && isnan(s.ci95_high));
}

/* The documented five runs of tcp-bulk on Linux, by hand. */
static void statistics_of_the_documented_runs(void **state)
{
    static const double values[] = {2.948, 2.394, 2.416, 2.316, 2.496};
    struct statistics s;

    (void)state;
    statistics_of(values, 5, &s);
    assert_near(s.median, 2.416, 1e-12);
    assert_near(s.mean, 2.514, 1e-12);
    assert_near(s.stdev, 0.250942224, 1e-9); /* n - 1 */
    assert_near(s.min, 2.316, 1e-12);
    assert_near(s.max, 2.948, 1e-12);
    /* Mean and deviation of the logarithms 0.918147 and 0.094929, t(0.975, 4) 2.7764. */
    assert_near(s.ci95_low, 2.226163, 1e-4);
    assert_near(s.ci95_high, 2.817966, 1e-4);
    assert_string_equal(statistics_method(&s), "Student's t on the logarithms");
}

static void an_even_count_has_a_middle_pair(void **state)
{
    static const double values[] = {10, 1, 3, 2};
    struct statistics s;

    (void)state;
    statistics_of(values, 4, &s);
    assert_near(s.median, 2.5, 1e-12);
}

/* Student's t, two-sided 95 %, as tabled (Abramowitz & Stegun 26.10), on logarithms. */
static void the_interval_of_few_is_students(void **state)
{
    static const double t[] = {12.706, 4.303, 3.182, 2.776};

    (void)state;
    for (size_t n = 2; n <= 5; n++) {
        double values[5], mean = 0, squares = 0, reach;
        struct statistics s;

        for (size_t k = 0; k < n; k++) {
            values[k] = exp((double)(k * k % 7));
            mean += log(values[k]) / (double)n;
        }
        for (size_t k = 0; k < n; k++)
            squares += pow(log(values[k]) - mean, 2);
        statistics_of(values, n, &s);
        reach = sqrt(squares / (double)(n - 1) / (double)n);
        assert_near((log(s.ci95_high) - mean) / reach, t[n - 2], 0.0006);
        assert_near((mean - log(s.ci95_low)) / reach, t[n - 2], 0.0006);
        assert_true(0 < s.ci95_low && s.ci95_low <= s.median && s.median <= s.ci95_high);
    }
}

/*
 * The ranks between which a median lies with 95 %, as tabled (Conover, Practical
 * Nonparametric Statistics, table A3; for 20, 6 and 15).
 */
static void the_interval_of_many_is_of_their_order(void **state)
{
    static const struct {
        size_t n, low, high;
    } rows[] = {{6, 1, 6},    {7, 1, 7},     {8, 1, 8},       {9, 2, 8},   {10, 2, 9},
                {11, 2, 10},  {12, 3, 10},   {15, 4, 12},     {20, 6, 15}, {30, 10, 21},
                {50, 18, 33}, {100, 40, 61}, {1000, 469, 532}};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        double *values = calloc(rows[i].n, sizeof(*values));
        struct statistics s;

        assert_non_null(values);
        for (size_t k = 0; k < rows[i].n; k++)
            values[k] = (double)(rows[i].n - k);
        statistics_of(values, rows[i].n, &s);
        if (s.ci95_low != (double)rows[i].low || s.ci95_high != (double)rows[i].high)
            fail_msg("of %zu: %g to %g", rows[i].n, s.ci95_low, s.ci95_high);
        assert_string_equal(statistics_method(&s), "order statistics");
        free(values);
    }
}

/* What cannot be negative has no interval that is, and a share none beyond the whole. */
static void an_interval_stays_within_what_can_be(void **state)
{
    static const double wide[] = {0.1e6, 2e6, 27e6}, some_lost[] = {0, 0, 1.9, 2},
                        none_lost[] = {0, 0, 0}, zeros[] = {0, 0, 0, 1, 2, 3};
    struct statistics s;

    (void)state;
    statistics_of(wide, 3, &s);
    assert_true(s.ci95_low > 0 && s.ci95_low < s.min && s.ci95_high > s.max);
    statistics_of(some_lost, 4, &s);
    assert_true(isnan(s.ci95_low) && isnan(s.ci95_high));
    assert_string_equal(statistics_method(&s), "");
    statistics_of(none_lost, 3, &s);
    assert_true(s.ci95_low == 0 && s.ci95_high == 0);
    statistics_of(zeros, 6, &s);
    assert_true(s.ci95_low == 0 && s.ci95_high == 3);
    assert_true(metric_most(METRIC_loss_percent) == 100);
    assert_true(metric_most(METRIC_client_cpu_percent) > 1e9);
}

static void a_ratio_is_said_as_people_say_it(void **state)
{
    static const struct {
        enum metric metric;
        double ratio;
        const char *text;
    } rows[] = {
        {METRIC_seconds, 0.0657, "15.2 x faster"},
        {METRIC_latency_p99_ns, 3, "3 x slower"},
        {METRIC_latency_stdev_ns, 0.5, "2 x less"},
        {METRIC_throughput, 2.5, "2.50 x more"},
        {METRIC_requests_per_second, 0.1, "10 x less"},
        {METRIC_loss_percent, 4, "4 x more"},
        {METRIC_seconds, 1.004, "the same"},
        {METRIC_seconds, 0.997, "the same"},
        {METRIC_seconds, 0, "-"},
        {METRIC_seconds, (double)NAN, "-"},
    };
    char text[40];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        metric_format_ratio(rows[i].metric, rows[i].ratio, text, sizeof(text));
        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_begins_with_its_process),
        cmocka_unit_test(services_are_counted_at_every_end),
        cmocka_unit_test(counts_that_add_up_pass),
        cmocka_unit_test(counts_that_do_not_add_up_fail),
        cmocka_unit_test(without_a_report_nothing_is_claimed),
        cmocka_unit_test(streams_lose_nothing),
        cmocka_unit_test(checksums_are_compared_both_ways),
        cmocka_unit_test(loss_is_attributed),
        cmocka_unit_test(sending_is_said_with_its_turns_and_calls),
        cmocka_unit_test(a_part_of_the_loss_is_said_with_its_bounds),
        cmocka_unit_test(nothing_sent_has_no_share_lost),
        cmocka_unit_test(more_received_than_sent_is_no_negative_loss),
        cmocka_unit_test(without_the_receivers_report_loss_is_unknown),
        cmocka_unit_test(streams_have_no_loss),
        cmocka_unit_test(whole_seconds_are_summed_up),
        cmocka_unit_test(a_sample_across_seconds_is_shared_out),
        cmocka_unit_test(a_short_run_has_rates_by_tenths),
        cmocka_unit_test(too_short_for_a_second_is_not_known),
        cmocka_unit_test(a_pause_is_in_neither_clock_nor_seconds),
        cmocka_unit_test(a_pause_before_the_start_counts_from_the_start),
        cmocka_unit_test(throughput_comes_from_the_receivers),
        cmocka_unit_test(latencies_are_told_where_they_were_measured),
        cmocka_unit_test(few_latencies_carry_no_percentile),
        cmocka_unit_test(littles_law_counts_what_did_not_end),
        cmocka_unit_test(what_is_overdue_is_an_error),
        cmocka_unit_test(littles_law_is_checked),
        cmocka_unit_test(a_rate_that_was_not_kept_is_told),
        cmocka_unit_test(a_changed_rate_is_not_judged),
        cmocka_unit_test(the_bottleneck_is_named),
        cmocka_unit_test(a_saturated_generator_fails_what_depends_on_it),
        cmocka_unit_test(a_rate_divides_by_the_time_of_what_it_counts),
        cmocka_unit_test(a_drain_dilutes_no_rate),
        cmocka_unit_test(a_rate_beside_the_series),
        cmocka_unit_test(a_rate_on_each_connection_is_judged),
        cmocka_unit_test(a_late_generator_is_told_from_a_slow_server),
        cmocka_unit_test(who_was_held_up_is_told),
        cmocka_unit_test(a_poisson_rate_is_judged_by_its_chance),
        cmocka_unit_test(what_was_not_measured_is_not_a_number),
        cmocka_unit_test(shrinking_keeps_what_was_settled),
        cmocka_unit_test(metrics_are_named_and_formatted),
        cmocka_unit_test(statistics_of_nothing_and_one),
        cmocka_unit_test(statistics_of_the_documented_runs),
        cmocka_unit_test(an_even_count_has_a_middle_pair),
        cmocka_unit_test(the_interval_of_few_is_students),
        cmocka_unit_test(the_interval_of_many_is_of_their_order),
        cmocka_unit_test(an_interval_stays_within_what_can_be),
        cmocka_unit_test(a_ratio_is_said_as_people_say_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
