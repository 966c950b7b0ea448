/*
 * The state machine of a run, against workers that do as a script says
 * (tests/main_fakeworker.c): every outcome, every state, every way of misbehaving. Each
 * case ends in bounded time with nothing left behind.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/foreground.h"
#include "engine/program.h"
#include "engine/report/document.h"
#include "engine/report/report.h"
#include "engine/run.h"
#include "engine/statistics.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/pair.h"

#define SERVER "wait hello; ready tcp:127.0.0.1:9; wait start; wait stop; "
#define GOOD_SERVER SERVER "done stopped 0; wait end"
#define CLIENT "wait hello; ready; wait start; "
#define GOOD_CLIENT CLIENT "sample 3; sample 4; done completed 10; wait end"

struct stage {
    struct event_base *base;
    struct run *run;
    struct fail fail;
    struct options values;
    enum run_state seen[64]; /* the states, in order */
    size_t seen_count;
    unsigned samples, lines;
    char line[600];    /* the last one */
    bool is_impatient; /* limits are to be reached; else they are far away */
    enum run_state stop_in;
    unsigned stops; /* how often to stop it there */
    bool finished;
    struct event *timer;
    struct event *poke; /* carries the stops out, from the loop */
    unsigned descriptors;
    uint64_t began_ns, ended_ns;
};

static void on_changed(void *arg, struct run *r)
{
    struct stage *s = arg;

    assert_ptr_equal(r, s->run);
    assert_false(s->finished); /* DONE is the last call of all */
    if (s->seen_count < NUMBER_OF(s->seen))
        s->seen[s->seen_count++] = r->state;
    if (s->stops && r->state == s->stop_in)
        event_active(s->poke, EV_TIMEOUT, 0);
    if (r->state == RUN_DONE) {
        s->finished = true;
        s->ended_ns = now_ns();
        event_base_loopbreak(s->base);
    }
}

static void on_sampled(void *arg, struct run *r, const struct process *process,
                       const struct sample *sample)
{
    struct stage *s = arg;

    (void)r;
    assert_false(s->finished);
    assert_non_null(process);
    assert_true(sample->span_ns > 0);
    s->samples++;
}

static void on_line(void *arg, struct run *r, const char *text)
{
    struct stage *s = arg;

    (void)r;
    s->lines++;
    snprintf(s->line, sizeof(s->line), "%s", text);
}

static void on_poke(evutil_socket_t fd, short what, void *arg)
{
    struct stage *s = arg;

    (void)fd;
    (void)what;
    for (; s->stops && !s->finished; s->stops--)
        run_stop(s->run);
}

static void set(struct stage *s, const char *name, const char *text)
{
    const struct param *p = param_find(FAMILY_REQUESTS, name);

    assert_non_null(p);
    if (param_set(&s->values, p, text, &s->fail) < 0)
        print_error("%s\n", s->fail.sentence);
    assert_int_equal(s->fail.err, 0);
}

static void set_script(struct stage *s, const char *name, const char *script)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    char launcher[1500];

    snprintf(launcher, sizeof(launcher), "%s/tests/fakeworker '%s'",
             build ? build : "build", script);
    set(s, name, launcher);
}

static void stage_init(struct stage *s, const char *server, const char *client)
{
    memset(s, 0, sizeof(*s));
    s->descriptors = open_descriptors();
    s->base = pair_base();
    s->poke = event_new(s->base, -1, 0, on_poke, s);
    assert_int_equal(scenario_defaults(scenario_find("tcp-requests"), &s->values), 0);
    set(s, "client", "connection");
    set(s, "port", "0");
    set(s, "trials", "1");
    set(s, "concurrency", "8");
    set_script(s, "server_launch", server);
    set_script(s, "client_launch", client);
}

static void create(struct stage *s)
{
    static const struct run_ops ops = {on_changed, on_sampled, on_line};

    s->run =
        run_new(s->base, scenario_find("tcp-requests"), &s->values, &ops, s, &s->fail);
    if (!s->run)
        print_error("%s\n", s->fail.sentence);
    assert_non_null(s->run);
    assert_int_equal(s->run->state, RUN_NEW);
    s->run->patience = s->is_impatient ? (struct run_patience){2000, 400, 800, 100}
                                       : (struct run_patience){20000, 20000, 20000, 100};
}

static void begin(struct stage *s)
{
    create(s);
    s->began_ns = now_ns();
    run_start(s->run);
}

static void turn_to_end(struct stage *s)
{
    pair_turn(s->base, &s->finished, 15000);
    if (!s->finished)
        print_error("state %d, outcome %d: %s\n", s->run->state, s->run->outcome,
                    s->run->reason);
    assert_true(s->finished);
    assert_int_equal(s->run->state, RUN_DONE);
}

/* Whatever happened, its result can be told, and nothing is left. */
static void stage_done(struct stage *s)
{
    cJSON *document;
    FILE *null = fopen("/dev/null", "we");

    if (s->run) {
        document = document_new(s->run);
        assert_non_null(document);
        cJSON_Delete(document);
        report_print(null, s->run);
    }
    fclose(null);
    run_free(s->run);
    event_free(s->poke);
    options_done(&s->values);
    event_base_free(s->base);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(open_descriptors(), s->descriptors);
}

static void run_to_end(struct stage *s, const char *server, const char *client)
{
    stage_init(s, server, client);
    begin(s);
    turn_to_end(s);
}

static void assert_states(const struct stage *s, const enum run_state *wanted)
{
    size_t i = 0;

    do {
        assert_true(i < s->seen_count);
        assert_int_equal(s->seen[i], wanted[i]);
    } while (wanted[i++] != RUN_DONE);
    assert_int_equal(i, s->seen_count);
}

static void assert_failed(const struct stage *s, const char *said)
{
    assert_int_equal(s->run->outcome, OUTCOME_FAILED);
    if (!strstr(s->run->reason, said))
        print_error("'%s', not '%s'\n", s->run->reason, said);
    assert_non_null(strstr(s->run->reason, said));
    assert_string_equal(run_trial(s->run)->reason, s->run->reason);
}

/* --- outcomes --- */

static void a_run_completes(void **state)
{
    static const enum run_state states[] = {RUN_SPAWNING, RUN_RUNNING, RUN_DRAINING,
                                            RUN_DONE};
    struct stage s;
    const struct trial *t;

    (void)state;
    run_to_end(&s, GOOD_SERVER, GOOD_CLIENT);
    assert_states(&s, states);
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
    stage_done(&s);
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
        struct stage s;

        run_to_end(&s, rows[i].server, rows[i].client);
        assert_int_equal(s.run->outcome, rows[i].outcome);
        assert_string_equal(s.run->reason, rows[i].outcome ? "as told" : "");
        stage_done(&s);
    }
}

static void trials_are_counted(void **state)
{
    struct stage s;
    struct statistics statistics;

    (void)state;
    stage_init(&s, GOOD_SERVER, GOOD_CLIENT);
    set(&s, "trials", "4");
    begin(&s);
    turn_to_end(&s);
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    assert_int_equal(s.run->trials_begun, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(s.run->trials[i]->number, i + 1);
    assert_int_equal(s.samples, 8);
    run_statistics(s.run, METRIC_requests_per_second, &statistics);
    assert_int_equal(statistics.n, 4);
    assert_float_equal(statistics.median, 100, 1e-6);
    stage_done(&s);
}

static void several_clients_add_up(void **state)
{
    struct stage s;
    const struct trial *t;

    (void)state;
    stage_init(&s, GOOD_SERVER, GOOD_CLIENT);
    set(&s, "workers", "4");
    begin(&s);
    turn_to_end(&s);
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    t = run_trial(s.run);
    assert_int_equal(t->process_count, 5);
    assert_int_equal(t->counters[PLACE_CLIENT].attempted, 40);
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(t->processes[i].index, i - 1);
    stage_done(&s);
}

/* A failed trial is the last one: the next would fail as well. */
static void a_failed_trial_ends_the_run(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, GOOD_SERVER, CLIENT "sample 5; fail The disk is full");
    set(&s, "trials", "3");
    begin(&s);
    turn_to_end(&s);
    assert_failed(&s, "client: The disk is full");
    assert_int_equal(s.run->trials_begun, 1);
    /* What was measured until then stays. */
    assert_int_equal(run_trial(s.run)->counters[PLACE_CLIENT].attempted, 5);
    stage_done(&s);
}

static void the_first_cause_is_told(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, SERVER "die 9", CLIENT "fail First cause");
    set(&s, "workers", "3");
    begin(&s);
    turn_to_end(&s);
    assert_failed(&s, "client: First cause");
    stage_done(&s);
}

/* --- workers that fail, die, or say nothing, in every state --- */

/* Workers that do what they should not, and what is said of it. */
struct mishap {
    const char *server, *client, *said;
};

static void expect_told(const struct mishap *rows, size_t count, bool is_impatient)
{
    for (size_t i = 0; i < count; i++) {
        struct stage s;

        stage_init(&s, rows[i].server, rows[i].client);
        s.is_impatient = is_impatient;
        begin(&s);
        turn_to_end(&s);
        assert_failed(&s, rows[i].said);
        assert_in_range(s.ended_ns - s.began_ns, 0, 6 * NS_PER_S);
        stage_done(&s);
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
    struct stage s;

    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    run_to_end(&s, "orphan; stray; exit 3", GOOD_CLIENT);
    assert_failed(&s, "ended with exit status 3");
    assert_in_range(end_strays(), 1, 2); /* the orphan has been killed already */
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    stage_done(&s);
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
        struct stage s;

        run_to_end(&s, rows[i].server, rows[i].client);
        if (s.run->outcome != OUTCOME_COMPLETED)
            print_error("%s\n", s.run->reason);
        assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
        assert_int_equal(run_trial(s.run)->counters[PLACE_CLIENT].attempted, 1);
        stage_done(&s);
    }
}

static void what_is_no_message_does_no_harm(void **state)
{
    struct stage s;

    (void)state;
    run_to_end(&s,
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
    stage_done(&s);
}

static void a_fact_told_again_replaces_the_first(void **state)
{
    static const char fact[] =
        "say {\"type\":\"fact\",\"name\":\"f%d\",\"text\":\"%s\"}; ";
    char script[1400] = CLIENT;
    struct stage s;
    const struct process *p;

    (void)state;
    for (int i = 0; i < 14; i++)
        snprintf(script + strlen(script), sizeof(script) - strlen(script), fact, i, "a");
    snprintf(script + strlen(script), sizeof(script) - strlen(script), fact, 3, "b");
    strcat(script, "done completed 1; wait end");
    run_to_end(&s, GOOD_SERVER, script);
    p = &run_trial(s.run)->processes[1];
    assert_int_equal(p->fact_count, PROCESS_FACTS);
    assert_string_equal(process_fact(p, "f3"), "b");
    assert_string_equal(process_fact(p, "f11"), "a");
    assert_null(process_fact(p, "f12"));
    stage_done(&s);
}

static void a_client_may_be_done_before_the_start(void **state)
{
    struct stage s;

    (void)state;
    run_to_end(&s, GOOD_SERVER, "wait hello; ready; done completed 1; wait end");
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    stage_done(&s);
}

static void a_launcher_that_does_not_exist_is_an_outcome(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, GOOD_SERVER, GOOD_CLIENT);
    set(&s, "client_launch", "/no/such/launcher");
    begin(&s);
    turn_to_end(&s);
    assert_failed(&s, "client: '/no/such/launcher' cannot be started");
    stage_done(&s);
}

/* Some of the clients are there, the next one cannot be started. */
static void descriptors_may_run_out_while_spawning(void **state)
{
    struct rlimit before, low;
    struct stage s;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    stage_init(&s, GOOD_SERVER, GOOD_CLIENT);
    set(&s, "workers", "8");
    create(&s);
    run_start(s.run); /* raises the soft limit */
    low = before;
    low.rlim_cur = s.descriptors + 10;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    turn_to_end(&s);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_failed(&s, "client: no descriptors for a worker: Too many open files");
    stage_done(&s);
}

/* On one machine all workers read one clock; a server that cannot rely on it is told. */
static void servers_learn_whether_the_clock_is_shared(void **state)
{
    static const char *const boots[][2] = {{"a", "a"}, {"a", "b"}, {"", ""}, {"a", ""}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char server[500], client[500];
        struct stage s;

        snprintf(
            server, sizeof(server),
            "wait hello; say {\"type\":\"ready\",\"boot\":\"%s\",\"endpoint\":"
            "\"tcp:127.0.0.1:9\"}; %s wait start; wait stop; done stopped 0; wait end",
            boots[i][0], i == 0 ? "" : "wait set;");
        snprintf(client, sizeof(client),
                 "wait hello; say {\"type\":\"ready\",\"boot\":\"%s\"}; wait start; "
                 "done completed 1; wait end",
                 boots[i][1]);
        run_to_end(&s, server, client);
        assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
        stage_done(&s);
    }
}

/* --- stopping --- */

static void a_run_stops_in_each_state(void **state)
{
    static const struct {
        enum run_state when;
        const char *server, *client;
    } rows[] = {
        {RUN_SPAWNING, "wait hello; wait end", GOOD_CLIENT},
        {RUN_SPAWNING, "silent", GOOD_CLIENT},
        {RUN_RUNNING, GOOD_SERVER, CLIENT "wait stop; done stopped 3; wait end"},
        {RUN_RUNNING, GOOD_SERVER, GOOD_CLIENT},
        {RUN_DRAINING, GOOD_SERVER, GOOD_CLIENT},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        for (unsigned stops = 1; stops <= 3; stops++) {
            struct stage s;

            stage_init(&s, rows[i].server, rows[i].client);
            set(&s, "trials", "3");
            s.stop_in = rows[i].when;
            s.stops = stops;
            begin(&s);
            turn_to_end(&s);
            assert_int_equal(s.run->outcome, OUTCOME_STOPPED);
            assert_int_equal(s.run->trials_begun, 1);
            assert_in_range(s.ended_ns - s.began_ns, 0, 3 * NS_PER_S);
            stage_done(&s);
        }
}

/* It does not stop when told: it is given up, and the second time at once. */
static void a_deaf_worker_does_not_keep_a_stopped_run(void **state)
{
    struct stage s;

    (void)state;
    for (unsigned stops = 1; stops <= 2; stops++) {
        stage_init(&s, SERVER "silent", CLIENT "silent");
        s.is_impatient = true;
        s.stop_in = RUN_RUNNING;
        s.stops = stops;
        begin(&s);
        turn_to_end(&s);
        assert_int_equal(s.run->outcome, stops == 1 ? OUTCOME_FAILED : OUTCOME_STOPPED);
        if (stops == 1)
            assert_failed(&s, "the client did not report within 400ms");
        stage_done(&s);
    }
}

static void a_run_may_be_freed_in_each_state(void **state)
{
    static const char *const servers[] = {"wait hello; silent", "orphan; silent",
                                          SERVER "silent", GOOD_SERVER};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(servers); i++)
        for (unsigned span_ms = 0; span_ms <= 120; span_ms += 40) {
            struct stage s;

            stage_init(&s, servers[i], CLIENT "sample 1; silent");
            begin(&s);
            pair_turn(s.base, &s.finished, span_ms);
            stage_done(&s);
        }
    /* And before it has begun. */
    {
        struct stage s;

        stage_init(&s, GOOD_SERVER, GOOD_CLIENT);
        create(&s);
        run_stop(s.run);
        assert_int_equal(s.run->state, RUN_NEW);
        assert_null(run_trial(s.run));
        stage_done(&s);
    }
    run_free(NULL);
}

/* --- live changes, pauses, the clock --- */

static void live_values_reach_the_clients_in_shares(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, GOOD_SERVER,
               CLIENT "wait set; say {\"type\":\"note\",\"text\":\"heard\"}; wait pause; "
                      "wait resume; wait stop; done stopped 1; wait end");
    set(&s, "workers", "3");
    begin(&s);
    assert_int_equal(run_set(s.run, OPTION_rate, 100), -EINVAL); /* not running yet */
    run_pause(s.run, true);
    assert_false(s.run->paused);
    while (s.run->state != RUN_RUNNING)
        event_base_loop(s.base, EVLOOP_ONCE);
    assert_false(run_trial(s.run)->rate_changed);
    assert_int_equal(run_set(s.run, OPTION_rate, 100), 0);
    assert_true(run_trial(s.run)->rate_changed);
    assert_int_equal(options_number(&s.run->values, OPTION_rate, 0), 100);
    assert_int_equal(run_set(s.run, OPTION_rate, 2), -EINVAL); /* not one for each */
    assert_int_equal(run_set(s.run, OPTION_rate, 0), 0);       /* no limit */
    assert_int_equal(run_set(s.run, OPTION_rate, 1ull << 60), -EINVAL);
    assert_int_equal(run_set(s.run, OPTION_trials, 2), -EINVAL);
    assert_int_equal(run_set(s.run, OPTION_NONE, 2), -EINVAL);
    for (int n = 0; n < 10000 && s.lines < 3; n++)
        pair_turn(s.base, &s.finished, 1);
    assert_int_equal(s.lines, 3);
    assert_string_equal(s.line, "client: heard");
    run_pause(s.run, true);
    run_pause(s.run, true);
    assert_true(s.run->paused);
    run_stop(s.run); /* ends the pause as well */
    assert_false(s.run->paused);
    turn_to_end(&s);
    assert_int_equal(s.run->outcome, OUTCOME_STOPPED);
    assert_int_equal(s.run->series->mark_count, 4); /* two sets, paused, resumed */
    stage_done(&s);
}

static void the_clock_leaves_pauses_out(void **state)
{
    struct stage s;
    uint64_t at_pause, resume_ns, real_ns;

    (void)state;
    stage_init(&s, GOOD_SERVER, CLIENT "wait stop; done stopped 1; wait end");
    begin(&s);
    assert_int_equal(run_clock_ns(s.run), 0);
    while (s.run->state != RUN_RUNNING)
        event_base_loop(s.base, EVLOOP_ONCE);
    pair_turn(s.base, NULL, 50);
    run_pause(s.run, true);
    at_pause = run_clock_ns(s.run);
    assert_in_range(at_pause, 30 * NS_PER_MS, 5 * NS_PER_S);
    pair_turn(s.base, NULL, 60);
    assert_int_equal(run_clock_ns(s.run), at_pause);
    resume_ns = now_ns();
    run_pause(s.run, false);
    assert_true(run_clock_ns(s.run) - at_pause <= now_ns() - resume_ns);
    real_ns = now_ns() - run_trial(s.run)->start_ns;
    assert_in_range(real_ns - run_clock_ns(s.run), 60 * NS_PER_MS, 5 * NS_PER_S);
    assert_in_range(run_trial(s.run)->paused_ns, 60 * NS_PER_MS, 5 * NS_PER_S);
    run_stop(s.run);
    turn_to_end(&s);
    stage_done(&s);
}

static void progress_is_by_amount_or_time(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, GOOD_SERVER, CLIENT "sample 25; wait stop; done stopped 25; wait end");
    begin(&s);
    assert_true(isnan(run_progress(s.run)) || run_progress(s.run) <= 0);
    while (!s.samples)
        event_base_loop(s.base, EVLOOP_ONCE);
    assert_float_equal(run_progress(s.run), 0.25, 1e-9); /* of 100 requests */
    run_stop(s.run);
    turn_to_end(&s);
    stage_done(&s);
}

/* What is handed over and waits, or is under way, is not done. */
static void progress_counts_what_is_settled(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, GOOD_SERVER,
               CLIENT "say {\"type\":\"sample\",\"at_ns\":100000000,"
                      "\"span_ns\":100000000,\"attempted\":100,\"succeeded\":20,"
                      "\"failed\":3,\"timed_out\":2,\"backlog\":75,\"hists\":{}}; "
                      "wait stop; done stopped 25; wait end");
    begin(&s);
    while (!s.samples)
        event_base_loop(s.base, EVLOOP_ONCE);
    assert_float_equal(run_progress(s.run), 0.25, 1e-9); /* of 100 requests */
    run_stop(s.run);
    turn_to_end(&s);
    stage_done(&s);
}

/* --- in the foreground --- */

struct seen {
    unsigned shown;
    const struct run *last;
};

static void see(void *arg, const struct run *r)
{
    struct seen *seen = arg;

    seen->shown++;
    seen->last = r;
}

/* Carried out as a program without a screen does it, and with nobody who listens. */
static void wait_in_the_foreground(struct stage *s, int number)
{
    static const struct run_ops nothing = {0};
    struct run marker = {0};
    struct seen seen = {0, &marker};
    struct foreground f = {.show = see, .arg = &seen};
    sigset_t before;

    sigprocmask(SIG_SETMASK, NULL, &before);
    signal(SIGHUP, SIG_DFL); /* also under nohup */
    stage_init(s, GOOD_SERVER, GOOD_CLIENT);
    assert_int_equal(foreground_init(&f), 0);
    s->run =
        run_new(f.base, scenario_find("tcp-requests"), &s->values, &nothing, NULL, NULL);
    assert_non_null(s->run);
    run_start(s->run);
    if (number)
        raise(number);
    foreground_wait(&f, s->run);
    assert_int_equal(s->run->state, RUN_DONE);
    assert_int_equal(f.interrupted, number != 0);
    assert_int_equal(s->run->outcome, number ? OUTCOME_STOPPED : OUTCOME_COMPLETED);
    assert_true(seen.shown > 0);
    assert_null(seen.last); /* at the end there is nothing to be seen of it */
    run_free(s->run);
    s->run = NULL;
    foreground_done(&f);
    sigprocmask(SIG_SETMASK, &before, NULL);
    stage_done(s);
}

static void a_run_needs_nobody_to_listen(void **state)
{
    struct stage s;

    (void)state;
    wait_in_the_foreground(&s, 0);
}

static void a_signal_stops_what_is_waited_for(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct stage s;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(numbers); i++)
        wait_in_the_foreground(&s, numbers[i]);
}

/* --- refused before anything is started --- */

static void expect_refused(const char *name, const char *value, int err, const char *said)
{
    static const struct run_ops ops = {on_changed, on_sampled, on_line};
    struct stage s;

    stage_init(&s, GOOD_SERVER, GOOD_CLIENT);
    set(&s, "server_launch", "");
    set(&s, name, value);
    s.run = run_new(s.base, scenario_find("tcp-requests"), &s.values, &ops, &s, &s.fail);
    if (s.run)
        print_error("--%s %s is not refused\n", name, value);
    assert_null(s.run);
    if (s.fail.err != err || !strstr(s.fail.sentence, said))
        print_error("%d '%s', not %d '%s'\n", s.fail.err, s.fail.sentence, err, said);
    assert_int_equal(s.fail.err, err);
    assert_non_null(strstr(s.fail.sentence, said));
    stage_done(&s);
}

static void impossible_values_are_refused(void **state)
{
    (void)state;
    expect_refused("workers", "9", EINVAL, "9 client processes cannot share");
    expect_refused("target", "tcp:192.0.2.1:80", EINVAL, "add --remote-target");
    expect_refused("target", "udp:127.0.0.1:80", EINVAL, "a stream target");
    expect_refused("target", "rubbish", EINVAL, "not an endpoint");
    expect_refused("server_launch", "a 'b", EINVAL, "open quote");
    expect_refused("client_launch", "\"a", EINVAL, "open quote");
    expect_refused("host", "0.0.0.0", EINVAL, "listen on loopback");
    expect_refused("host", "192.0.2.1", EINVAL, "listen on loopback");
    expect_refused("host", "::", EINVAL, "listen on loopback");
    expect_refused("host", "no.such.host.invalid", EINVAL, "not known");
}

static void the_worker_program_is_found_or_missed(void **state)
{
    static const struct run_ops ops = {on_changed, on_sampled, on_line};
    struct fail fail = {0};
    char before[400], path[400];
    struct stage s;

    (void)state;
    snprintf(before, sizeof(before), "%s", getenv("PLIMSOLL_LIBEXEC"));
    assert_int_equal(program_find("plimsoll-engine", path, sizeof(path), &fail), 0);
    assert_int_equal(access(path, X_OK), 0);
    setenv("PLIMSOLL_LIBEXEC", "/nowhere", 1);
    stage_init(&s, GOOD_SERVER, GOOD_CLIENT);
    s.run = run_new(s.base, scenario_find("tcp-requests"), &s.values, &ops, &s, &s.fail);
    assert_null(s.run);
    assert_int_equal(s.fail.err, ENOENT);
    assert_non_null(strstr(s.fail.sentence, "plimsoll-engine is not in /nowhere"));
    stage_done(&s);
    unsetenv("PLIMSOLL_LIBEXEC");
    assert_int_equal(program_find("no-such-program", path, sizeof(path), &fail), -ENOENT);
    assert_non_null(strstr(fail.sentence, "not beside this program"));
    setenv("PLIMSOLL_LIBEXEC", before, 1);
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
        cmocka_unit_test(a_run_stops_in_each_state),
        cmocka_unit_test(a_deaf_worker_does_not_keep_a_stopped_run),
        cmocka_unit_test(a_run_may_be_freed_in_each_state),
        cmocka_unit_test(live_values_reach_the_clients_in_shares),
        cmocka_unit_test(the_clock_leaves_pauses_out),
        cmocka_unit_test(progress_is_by_amount_or_time),
        cmocka_unit_test(progress_counts_what_is_settled),
        cmocka_unit_test(a_run_needs_nobody_to_listen),
        cmocka_unit_test(a_signal_stops_what_is_waited_for),
        cmocka_unit_test(impossible_values_are_refused),
        cmocka_unit_test(the_worker_program_is_found_or_missed),
    };
    const char *build = getenv("PLIMSOLL_BUILD");

    setenv("PLIMSOLL_LIBEXEC", build ? build : "build", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
