/*
 * The state machine of a run, against workers that do as a script says
 * (tests/scripted.h): every outcome, every way of misbehaving. Each case ends in bounded
 * time with nothing left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "engine/run.h"
#include "engine/statistics.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/pair.h"
#include "tests/scripted.h"

/* Outcomes. */

static void a_run_completes(void **state)
{
    static const enum run_state states[] = {RUN_SPAWNING, RUN_RUNNING, RUN_DRAINING,
                                            RUN_DONE};
    struct scripted s;
    const struct trial *t;

    (void)state;
    scripted_run(&s, GOOD_SERVER, GOOD_CLIENT);
    scripted_assert_states(&s, states);
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    assert_string_equal(s.run->reason, ""); /* all went well: nothing to explain */
    assert_int_equal(s.samples, 2);
    t = run_trial(s.run);
    assert_int_equal(t->process_count, 2);
    assert_true(t->processes[1].reported);
    /* The totals are what `done` says, not the sum of the samples. */
    assert_int_equal(t->counters[PLACE_CLIENT].attempted, 10);
    assert_float_equal(t->seconds, 0.1, 1e-9);
    assert_float_equal(t->metrics[METRIC_requests_per_second], 100, 1e-6);
    scripted_done(&s);
}

static void a_worker_says_how_it_ended(void **state)
{
    static const struct {
        const char *server, *client;
        enum outcome outcome;
    } rows[] = {
        {SERVER "done completed 0; wait end", CLIENT "done completed 1; wait end",
         OUTCOME_COMPLETED},
        {GOOD_SERVER, CLIENT "done stopped 1; wait end", OUTCOME_STOPPED},
        {GOOD_SERVER, CLIENT "done exhausted 1; wait end", OUTCOME_EXHAUSTED},
        {GOOD_SERVER, CLIENT "done failed 1; wait end", OUTCOME_FAILED},
        {GOOD_SERVER, CLIENT "done nonsense 1; wait end", OUTCOME_FAILED},
        {SERVER "done exhausted 0; wait end", GOOD_CLIENT, OUTCOME_EXHAUSTED},
        {SERVER "done failed 0; wait end", GOOD_CLIENT, OUTCOME_FAILED},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct scripted s;

        scripted_run(&s, rows[i].server, rows[i].client);
        assert_int_equal(s.run->outcome, rows[i].outcome);
        assert_string_equal(s.run->reason, rows[i].outcome ? "as told" : "");
        scripted_done(&s);
    }
}

static void trials_are_counted(void **state)
{
    struct scripted s;
    struct statistics statistics;

    (void)state;
    scripted_init(&s, GOOD_SERVER, GOOD_CLIENT);
    scripted_set(&s, "trials", "4");
    scripted_begin(&s);
    scripted_turn_to_end(&s);
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    assert_int_equal(s.run->trials_begun, 4);
    for (unsigned i = 0; i < 4; i++) {
        const struct trial *t = s.run->trials[i];

        assert_int_equal(t->number, i + 1);
        /* The time of the series is that of every trial's samples. */
        assert_int_equal((t->start_ns - s.run->first_ns) % SAMPLE_STEP_NS, 0);
        assert_int_equal(run_origin_ns(s.run, t), t->start_ns - s.run->first_ns);
    }
    assert_int_equal(s.samples, 8);
    run_statistics(s.run, METRIC_requests_per_second, &statistics);
    assert_int_equal(statistics.n, 4);
    assert_float_equal(statistics.median, 100, 1e-6);
    scripted_done(&s);
}

static void several_clients_add_up(void **state)
{
    struct scripted s;
    const struct trial *t;

    (void)state;
    scripted_init(&s, GOOD_SERVER, GOOD_CLIENT);
    scripted_set(&s, "workers", "4");
    scripted_begin(&s);
    scripted_turn_to_end(&s);
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    t = run_trial(s.run);
    assert_int_equal(t->process_count, 5);
    assert_int_equal(t->counters[PLACE_CLIENT].attempted, 40);
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(t->processes[i].index, i - 1);
    scripted_done(&s);
}

/* A failed trial is the last one: the next would fail as well. */
static void a_failed_trial_ends_the_run(void **state)
{
    struct scripted s;

    (void)state;
    scripted_init(&s, GOOD_SERVER, CLIENT "sample 5; fail The disk is full");
    scripted_set(&s, "trials", "3");
    scripted_begin(&s);
    scripted_turn_to_end(&s);
    scripted_assert_failed(&s, "client: The disk is full");
    assert_int_equal(s.run->trials_begun, 1);
    /* What was measured until then stays. */
    assert_int_equal(run_trial(s.run)->counters[PLACE_CLIENT].attempted, 5);
    scripted_done(&s);
}

static void the_first_cause_is_told(void **state)
{
    struct scripted s;

    (void)state;
    scripted_init(&s, SERVER "die 9", CLIENT "fail First cause");
    scripted_set(&s, "workers", "3");
    scripted_begin(&s);
    scripted_turn_to_end(&s);
    scripted_assert_failed(&s, "client: First cause");
    scripted_done(&s);
}

/* Workers that fail, die, or say nothing, in every state. */

/* Workers that do what they should not, and what is said of it. */
struct mishap {
    const char *server, *client, *said;
};

static void expect_told(const struct mishap *rows, size_t count, bool is_impatient)
{
    for (size_t i = 0; i < count; i++) {
        struct scripted s;

        scripted_init(&s, rows[i].server, rows[i].client);
        s.is_impatient = is_impatient;
        scripted_begin(&s);
        scripted_turn_to_end(&s);
        scripted_assert_failed(&s, rows[i].said);
        assert_in_range(s.ended_ns - s.began_ns, 0, 6 * NS_PER_S);
        scripted_done(&s);
    }
}

static void whatever_goes_wrong_is_told(void **state)
{
    static const struct mishap rows[] = {
        /* spawning */
        {"wait hello; fail Address in use", GOOD_CLIENT, "server: Address in use"},
        {"exit 1", GOOD_CLIENT, "the server process ended with exit status 1"},
        {"die 9", GOOD_CLIENT, "the server process was killed by signal 9 (Killed)"},
        {"tell out of luck; exit 5", GOOD_CLIENT, "exit status 5: out of luck"},
        {"deaf; wait hello; close; silent", GOOD_CLIENT, "was killed by signal 9"},
        {"say rubbish; say more; exit 0", GOOD_CLIENT, "ended with exit status 0: more"},
        {"huge; silent", GOOD_CLIENT, ": it wrote a line longer than any message"},
        {GOOD_SERVER, "die 10", "the client process was killed by signal 10"},
        {GOOD_SERVER, "wait hello; fail No route", "client: No route"},
        {"wait hello; ready tcp:127.0.0.1:9; die 15", "wait hello; pause",
         "the server process was killed by signal 15"},
        /* running */
        {GOOD_SERVER, CLIENT "sample 1; die 6",
         "the client process was killed by signal 6"},
        {GOOD_SERVER, CLIENT "exit 0", "the client process ended with exit status 0"},
        {GOOD_SERVER, CLIENT "fail It broke", "client: It broke"},
        {GOOD_SERVER, "deaf; " CLIENT "close; silent",
         "the client process was killed by signal 9"},
        {GOOD_SERVER, CLIENT "huge; silent", ": it wrote a line longer than any message"},
        {"wait hello; ready tcp:127.0.0.1:9; wait start; die 9",
         CLIENT "wait stop; done stopped 1; wait end",
         "the server process was killed by signal 9"},
        {"wait hello; ready tcp:127.0.0.1:9; wait start; fail Out of ports",
         CLIENT "wait stop; done stopped 1; wait end", "server: Out of ports"},
        {GOOD_SERVER,
         CLIENT "say {\"type\":\"done\",\"outcome\":\"completed\"}; wait end",
         "the totals of the client could not be read"},
        {GOOD_SERVER,
         CLIENT "say {\"type\":\"done\",\"at_ns\":1e15,\"span_ns\":1}; wait end",
         "the totals of the client could not be read"},
        /* draining */
        {SERVER "die 9", GOOD_CLIENT, "the server process was killed by signal 9"},
        {SERVER "exit 0", GOOD_CLIENT, "the server process ended with exit status 0"},
        {SERVER "fail Lost count", GOOD_CLIENT, "server: Lost count"},
        {"deaf; " SERVER "close; silent", GOOD_CLIENT,
         "the server process was killed by signal 9"},
    };

    (void)state;
    expect_told(rows, NUMBER_OF(rows), false);
}

/* What has left the group of its worker lives on; here the test ends it. */
static void a_stray_keeps_no_run_from_ending(void **state)
{
    struct scripted s;

    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    scripted_run(&s, "orphan; stray; exit 3", GOOD_CLIENT);
    scripted_assert_failed(&s, "ended with exit status 3");
    assert_in_range(end_strays(), 1, 2); /* the orphan has been killed already */
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    scripted_done(&s);
}

static void what_does_not_come_is_given_up(void **state)
{
    static const struct mishap rows[] = {
        {"wait hello; tell thinking; silent", GOOD_CLIENT,
         "the server was not ready within 2s: thinking"},
        {GOOD_SERVER, "wait hello; silent", "the client was not ready within 2s"},
        {GOOD_SERVER, CLIENT "sample 1; silent", "has said nothing for 800ms"},
        {"wait hello; ready tcp:127.0.0.1:9; wait start; silent",
         CLIENT "wait stop; done stopped 1; wait end", "has said nothing for 800ms"},
        {"wait hello; ready tcp:127.0.0.1:9; wait start; die 9", CLIENT "silent",
         "the server process was killed by signal 9"},
        {SERVER "silent", GOOD_CLIENT, "the server did not report within 400ms"},
    };

    (void)state;
    expect_told(rows, NUMBER_OF(rows), true);
}

/* Having reported, a worker may end as it likes. */
static void after_the_report_nothing_is_a_failure(void **state)
{
    static const struct {
        const char *server, *client;
    } rows[] = {
        {SERVER "done stopped 0; exit 1", CLIENT "done completed 1; die 9"},
        {SERVER "done stopped 0; silent", CLIENT "done completed 1; wait end"},
        {SERVER "done stopped 0; close; silent", CLIENT "done completed 1; close; pause"},
        {SERVER "done stopped 0; orphan; exit 0",
         CLIENT "done completed 1; orphan; pause"},
        {SERVER "done stopped 0; fail late; done failed 3; wait end",
         CLIENT "done completed 1; sample 7; done failed 9; ready; wait end"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct scripted s;

        scripted_run(&s, rows[i].server, rows[i].client);
        if (s.run->outcome != OUTCOME_COMPLETED)
            print_error("%s\n", s.run->reason);
        assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
        assert_int_equal(run_trial(s.run)->counters[PLACE_CLIENT].attempted, 1);
        scripted_done(&s);
    }
}

static void what_is_no_message_does_no_harm(void **state)
{
    struct scripted s;

    (void)state;
    scripted_run(&s,
                 "wait hello; say; say [1]; say {}; say {\"type\":\"later\"}; "
                 "ready tcp:127.0.0.1:9; ready tcp:6.6.6.6:6; wait start; say {\"type\"; "
                 "wait stop; done stopped 0; wait end",
                 CLIENT
                 "say {\"type\":\"sample\"}; "
                 "say {\"type\":\"sample\",\"at_ns\":9e18,\"span_ns\":9e18}; "
                 "say {\"type\":\"sample\",\"at_ns\":1,\"span_ns\":1,\"errors\":[1]}; "
                 "say {\"type\":\"hello\"}; say {\"type\":\"fact\"}; "
                 "say {\"type\":\"note\",\"text\":7}; sample 2; "
                 "done completed 5; wait end");
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    assert_int_equal(s.samples, 2);
    assert_string_equal(run_trial(s.run)->processes[0].endpoint, "tcp:127.0.0.1:9");
    assert_int_equal(run_trial(s.run)->processes[1].fact_count, 1);
    scripted_done(&s);
}

static void a_fact_told_again_replaces_the_first(void **state)
{
    static const char fact[] =
        "say {\"type\":\"fact\",\"name\":\"f%d\",\"text\":\"%s\"}; ";
    char script[1400] = CLIENT;
    struct scripted s;
    const struct process *p;

    (void)state;
    for (int i = 0; i < 14; i++)
        snprintf(script + strlen(script), sizeof(script) - strlen(script), fact, i, "a");
    snprintf(script + strlen(script), sizeof(script) - strlen(script), fact, 3, "b");
    strcat(script, "done completed 1; wait end");
    scripted_run(&s, GOOD_SERVER, script);
    p = &run_trial(s.run)->processes[1];
    assert_int_equal(p->fact_count, PROCESS_FACTS);
    assert_string_equal(process_fact(p, "f3"), "b");
    assert_string_equal(process_fact(p, "f11"), "a");
    assert_null(process_fact(p, "f12"));
    scripted_done(&s);
}

static void a_client_may_be_done_before_the_start(void **state)
{
    struct scripted s;

    (void)state;
    scripted_run(&s, GOOD_SERVER, "wait hello; ready; done completed 1; wait end");
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    scripted_done(&s);
}

static void a_launcher_that_does_not_exist_is_an_outcome(void **state)
{
    struct scripted s;

    (void)state;
    scripted_init(&s, GOOD_SERVER, GOOD_CLIENT);
    scripted_set(&s, "client_launch", "/no/such/launcher");
    scripted_begin(&s);
    scripted_turn_to_end(&s);
    scripted_assert_failed(&s, "client: '/no/such/launcher' cannot be started");
    scripted_done(&s);
}

/* Some of the clients are there, the next one cannot be started. */
static void descriptors_may_run_out_while_spawning(void **state)
{
    struct rlimit before, low;
    struct scripted s;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    scripted_init(&s, GOOD_SERVER, GOOD_CLIENT);
    scripted_set(&s, "workers", "8");
    scripted_create(&s);
    run_start(s.run); /* raises the soft limit */
    low = before;
    low.rlim_cur = s.descriptors + 10;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    scripted_turn_to_end(&s);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    scripted_assert_failed(&s,
                           "client: no descriptors for a worker: Too many open files");
    scripted_done(&s);
}

/* On one machine all workers read one clock; a server that cannot rely on it is told. */
static void servers_learn_whether_the_clock_is_shared(void **state)
{
    static const char *const boots[][2] = {{"a", "a"}, {"a", "b"}, {"", ""}, {"a", ""}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char server[500], client[500];
        struct scripted s;

        snprintf(
            server, sizeof(server),
            "wait hello; say {\"type\":\"ready\",\"boot\":\"%s\",\"endpoint\":"
            "\"tcp:127.0.0.1:9\"}; %s wait start; wait stop; done stopped 0; wait end",
            boots[i][0], i == 0 ? "" : "wait set;");
        snprintf(client, sizeof(client),
                 "wait hello; say {\"type\":\"ready\",\"boot\":\"%s\"}; wait start; "
                 "done completed 1; wait end",
                 boots[i][1]);
        scripted_run(&s, server, client);
        assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
        scripted_done(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_completes),
        cmocka_unit_test(a_worker_says_how_it_ended),
        cmocka_unit_test(trials_are_counted),
        cmocka_unit_test(several_clients_add_up),
        cmocka_unit_test(a_failed_trial_ends_the_run),
        cmocka_unit_test(the_first_cause_is_told),
        cmocka_unit_test(whatever_goes_wrong_is_told),
        cmocka_unit_test(a_stray_keeps_no_run_from_ending),
        cmocka_unit_test(what_does_not_come_is_given_up),
        cmocka_unit_test(after_the_report_nothing_is_a_failure),
        cmocka_unit_test(what_is_no_message_does_no_harm),
        cmocka_unit_test(a_fact_told_again_replaces_the_first),
        cmocka_unit_test(a_client_may_be_done_before_the_start),
        cmocka_unit_test(a_launcher_that_does_not_exist_is_an_outcome),
        cmocka_unit_test(descriptors_may_run_out_while_spawning),
        cmocka_unit_test(servers_learn_whether_the_clock_is_shared),
    };
    const char *build = getenv("PLIMSOLL_BUILD");

    setenv("PLIMSOLL_LIBEXEC", build ? build : "build", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
