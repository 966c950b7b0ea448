/*
 * What a run is told from outside, with workers that do as a script says
 * (tests/scripted.h): stops, changes and pauses, signals, values that are refused.
 */
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/foreground.h"
#include "engine/program.h"
#include "engine/run.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/pair.h"
#include "tests/scripted.h"

/* Stopping. */

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
            struct scripted s;

            scripted_init(&s, rows[i].server, rows[i].client);
            scripted_set(&s, "trials", "3");
            s.stop_in = rows[i].when;
            s.stops = stops;
            scripted_begin(&s);
            scripted_turn_to_end(&s);
            assert_int_equal(s.run->outcome, OUTCOME_STOPPED);
            assert_int_equal(s.run->trials_begun, 1);
            assert_in_range(s.ended_ns - s.began_ns, 0, 3 * NS_PER_S);
            scripted_done(&s);
        }
}

/* All load was carried out, and all of it is reported: there is nothing left to stop. */
static void a_stop_while_draining_takes_nothing_back(void **state)
{
    static const struct {
        const char *server; /* what it does when the drain begins */
        const char *trials;
        unsigned stops;
        enum outcome trial, run;
    } rows[] = {
        {GOOD_SERVER, "1", 1, OUTCOME_COMPLETED, OUTCOME_COMPLETED},
        {GOOD_SERVER, "2", 1, OUTCOME_COMPLETED, OUTCOME_STOPPED},
        {SERVER "silent", "1", 2, OUTCOME_STOPPED, OUTCOME_STOPPED},
        {SERVER "done stopped 0; silent", "1", 2, OUTCOME_COMPLETED, OUTCOME_COMPLETED},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct scripted s;

        scripted_init(&s, rows[i].server, GOOD_CLIENT);
        scripted_set(&s, "trials", rows[i].trials);
        scripted_begin(&s);
        while (s.run->state != RUN_DRAINING)
            event_base_loop(s.base, EVLOOP_ONCE);
        if (strstr(rows[i].server, "silent") && rows[i].trial == OUTCOME_COMPLETED)
            while (!run_trial(s.run)->processes[0].reported)
                event_base_loop(s.base, EVLOOP_ONCE);
        for (unsigned n = 0; n < rows[i].stops; n++)
            run_stop(s.run);
        scripted_turn_to_end(&s);
        assert_int_equal(s.run->trials_begun, 1);
        assert_int_equal(run_trial(s.run)->outcome, rows[i].trial);
        assert_int_equal(s.run->outcome, rows[i].run);
        if (rows[i].run != OUTCOME_COMPLETED)
            assert_non_null(strstr(s.run->reason, "stopped before its end"));
        else
            assert_string_equal(s.run->reason, "");
        scripted_done(&s);
    }
}

/* It does not stop when told: it is given up, and the second time at once. */
static void a_deaf_worker_does_not_keep_a_stopped_run(void **state)
{
    struct scripted s;

    (void)state;
    for (unsigned stops = 1; stops <= 2; stops++) {
        scripted_init(&s, SERVER "silent", CLIENT "silent");
        s.is_impatient = true;
        s.stop_in = RUN_RUNNING;
        s.stops = stops;
        scripted_begin(&s);
        scripted_turn_to_end(&s);
        assert_int_equal(s.run->outcome, stops == 1 ? OUTCOME_FAILED : OUTCOME_STOPPED);
        if (stops == 1)
            scripted_assert_failed(&s, "the client did not report within 400ms");
        scripted_done(&s);
    }
}

static void a_run_may_be_freed_in_each_state(void **state)
{
    static const char *const servers[] = {"wait hello; silent", "orphan; silent",
                                          SERVER "silent", GOOD_SERVER};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(servers); i++)
        for (unsigned span_ms = 0; span_ms <= 120; span_ms += 40) {
            struct scripted s;

            scripted_init(&s, servers[i], CLIENT "sample 1; silent");
            scripted_begin(&s);
            pair_turn(s.base, &s.finished, span_ms);
            scripted_done(&s);
        }
    /* And before it has begun. */
    {
        struct scripted s;

        scripted_init(&s, GOOD_SERVER, GOOD_CLIENT);
        scripted_create(&s);
        run_stop(s.run);
        assert_int_equal(s.run->state, RUN_NEW);
        assert_null(run_trial(s.run));
        scripted_done(&s);
    }
    run_free(NULL);
}

/* Live changes, pauses, the clock. */

static void turn_until_settled(struct scripted *s, unsigned settled)
{
    for (int n = 0; n < 10000 && s->settled < settled; n++)
        pair_turn(s->base, &s->finished, 1);
    assert_int_equal(s->settled, settled);
}

static void live_values_reach_the_clients_in_shares(void **state)
{
    struct scripted s;

    (void)state;
    scripted_init(&s, GOOD_SERVER, CLIENT "obey 0 0; done stopped 1; wait end");
    scripted_set(&s, "workers", "3");
    scripted_begin(&s);
    assert_int_equal(run_set(s.run, OPTION_rate, 100), -EINVAL); /* not running yet */
    run_pause(s.run, true);
    assert_false(s.run->paused);
    while (s.run->state != RUN_RUNNING)
        event_base_loop(s.base, EVLOOP_ONCE);
    assert_false(run_trial(s.run)->rate_changed);
    assert_int_equal(run_set(s.run, OPTION_rate, 100), 0);
    assert_int_equal(run_set(s.run, OPTION_rate, 90), -EBUSY);
    assert_int_equal(options_number(&s.run->values, OPTION_rate, 0), 0);
    turn_until_settled(&s, 1);
    assert_int_equal(s.set_err, 0);
    assert_true(run_trial(s.run)->rate_changed);
    assert_int_equal(options_number(&s.run->values, OPTION_rate, 0), 100);
    assert_int_equal(s.lines, 3);
    assert_non_null(strstr("client: set 34, client: set 33", s.line));
    assert_int_equal(run_set(s.run, OPTION_rate, 2), -EINVAL); /* not one for each */
    assert_int_equal(run_set(s.run, OPTION_rate, 0), 0);       /* no limit */
    turn_until_settled(&s, 2);
    assert_int_equal(run_set(s.run, OPTION_rate, 1ull << 60), -EINVAL);
    assert_int_equal(run_set(s.run, OPTION_trials, 2), -EINVAL);
    assert_int_equal(run_set(s.run, OPTION_NONE, 2), -EINVAL);
    assert_int_equal(s.lines, 6);
    assert_string_equal(s.line, "client: set 0");
    run_pause(s.run, true);
    run_pause(s.run, true);
    assert_true(s.run->paused);
    run_stop(s.run); /* ends the pause as well */
    assert_false(s.run->paused);
    scripted_turn_to_end(&s);
    assert_int_equal(s.run->outcome, OUTCOME_STOPPED);
    assert_int_equal(s.run->series->mark_count, 4); /* two sets, paused, resumed */
    scripted_done(&s);
}

/* One client of three cannot take it: the others go back, and nothing has changed. */
static void a_refused_value_is_not_in_force(void **state)
{
    struct scripted s;

    (void)state;
    scripted_init(&s, GOOD_SERVER, CLIENT "obey 24 1; done stopped 1; wait end");
    scripted_set(&s, "workers", "3");
    scripted_set(&s, "rate", "30");
    scripted_begin(&s);
    while (s.run->state != RUN_RUNNING)
        event_base_loop(s.base, EVLOOP_ONCE);
    assert_int_equal(run_set(s.run, OPTION_rate, 300), 0);
    turn_until_settled(&s, 1);
    assert_int_equal(s.set_err, -EMFILE);
    assert_int_equal(options_number(&s.run->values, OPTION_rate, 0), 30);
    assert_int_equal(s.run->series->mark_count, 0);
    assert_int_equal(s.lines, 5);
    assert_string_equal(s.line, "client: set 10");
    assert_true(run_trial(s.run)->rate_changed); /* for a moment, of two of them */
    run_stop(s.run);
    scripted_turn_to_end(&s);
    scripted_done(&s);
}

/* It ends with the value unanswered, or dies of it: the change is off, the run is not. */
static void a_value_that_nobody_takes_is_off(void **state)
{
    static const char *const clients[] = {CLIENT "wait set; done completed 5; wait end",
                                          CLIENT "wait set; exit 1"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(clients); i++) {
        struct scripted s;

        scripted_init(&s, GOOD_SERVER, clients[i]);
        scripted_begin(&s);
        while (s.run->state != RUN_RUNNING)
            event_base_loop(s.base, EVLOOP_ONCE);
        assert_int_equal(run_set(s.run, OPTION_rate, 300), 0);
        scripted_turn_to_end(&s);
        assert_int_equal(s.run->outcome, i == 0 ? OUTCOME_COMPLETED : OUTCOME_FAILED);
        assert_int_equal(s.settled, 1);
        assert_int_equal(s.set_err, -ECANCELED);
        assert_false(run_trial(s.run)->rate_changed);
        assert_int_equal(s.run->series->mark_count, 0);
        scripted_done(&s);
    }
}

static void the_clock_leaves_pauses_out(void **state)
{
    struct scripted s;
    uint64_t at_pause, resume_ns, real_ns;

    (void)state;
    scripted_init(&s, GOOD_SERVER, CLIENT "wait stop; done stopped 1; wait end");
    scripted_begin(&s);
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
    scripted_turn_to_end(&s);
    scripted_done(&s);
}

/* What was in flight when it was paused ends the trial; the next one begins unpaused. */
static void a_pause_ends_with_its_trial(void **state)
{
    struct scripted s;
    uint64_t paused_ns;

    (void)state;
    scripted_init(&s, GOOD_SERVER,
                  CLIENT "wait pause; sample 3; done completed 10; wait end");
    scripted_set(&s, "trials", "2");
    scripted_begin(&s);
    for (unsigned trial = 1; trial <= 2; trial++) {
        while (s.run->state != RUN_RUNNING || s.run->trials_begun != trial)
            event_base_loop(s.base, EVLOOP_ONCE);
        while (run_clock_ns(s.run) == 0)
            pair_turn(s.base, NULL, 1);
        assert_false(s.run->paused);
        run_pause(s.run, true);
        while (s.run->state == RUN_RUNNING)
            event_base_loop(s.base, EVLOOP_ONCE);
        assert_false(s.run->paused);
        paused_ns = run_trial(s.run)->paused_ns;
        assert_true(paused_ns > 0);
        assert_true(paused_ns <= now_ns() - run_trial(s.run)->start_ns);
    }
    scripted_turn_to_end(&s);
    assert_int_equal(s.run->outcome, OUTCOME_COMPLETED);
    scripted_done(&s);
}

static void progress_is_by_amount_or_time(void **state)
{
    struct scripted s;

    (void)state;
    scripted_init(&s, GOOD_SERVER,
                  CLIENT "sample 25; wait stop; done stopped 25; wait end");
    scripted_begin(&s);
    assert_true(isnan(run_progress(s.run)) || run_progress(s.run) <= 0);
    while (!s.samples)
        event_base_loop(s.base, EVLOOP_ONCE);
    assert_float_equal(run_progress(s.run), 0.25, 1e-9); /* of 100 requests */
    run_stop(s.run);
    scripted_turn_to_end(&s);
    scripted_done(&s);
}

/* What is handed over and waits, or is under way, is not done. */
static void progress_counts_what_is_settled(void **state)
{
    struct scripted s;

    (void)state;
    scripted_init(&s, GOOD_SERVER,
                  CLIENT "say {\"type\":\"sample\",\"at_ns\":100000000,"
                         "\"span_ns\":100000000,\"attempted\":100,\"succeeded\":20,"
                         "\"failed\":3,\"timed_out\":2,\"backlog\":75,\"hists\":{}}; "
                         "wait stop; done stopped 25; wait end");
    scripted_begin(&s);
    while (!s.samples)
        event_base_loop(s.base, EVLOOP_ONCE);
    assert_float_equal(run_progress(s.run), 0.25, 1e-9); /* of 100 requests */
    run_stop(s.run);
    scripted_turn_to_end(&s);
    scripted_done(&s);
}

/* In the foreground. */

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
static void wait_in_the_foreground(struct scripted *s, int number)
{
    static const struct run_ops nothing = {0};
    struct run marker = {0};
    struct seen seen = {0, &marker};
    struct foreground f = {.show = see, .arg = &seen};
    sigset_t before;

    sigprocmask(SIG_SETMASK, NULL, &before);
    signal(SIGHUP, SIG_DFL); /* also under nohup */
    scripted_init(s, GOOD_SERVER, GOOD_CLIENT);
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
    scripted_done(s);
}

static void a_run_needs_nobody_to_listen(void **state)
{
    struct scripted s;

    (void)state;
    wait_in_the_foreground(&s, 0);
}

static void a_signal_stops_what_is_waited_for(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct scripted s;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(numbers); i++)
        wait_in_the_foreground(&s, numbers[i]);
}

/* Refused before anything is started. */

static void expect_refused(const char *name, const char *value, int err, const char *said)
{
    struct scripted s;

    scripted_init(&s, GOOD_SERVER, GOOD_CLIENT);
    scripted_set(&s, "server_launch", "");
    scripted_set(&s, name, value);
    s.run = run_new(s.base, scenario_find("tcp-requests"), &s.values, &scripted_ops, &s,
                    &s.fail);
    if (s.run)
        print_error("--%s %s is not refused\n", name, value);
    assert_null(s.run);
    if (s.fail.err != err || !strstr(s.fail.sentence, said))
        print_error("%d '%s', not %d '%s'\n", s.fail.err, s.fail.sentence, err, said);
    assert_int_equal(s.fail.err, err);
    assert_non_null(strstr(s.fail.sentence, said));
    scripted_done(&s);
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
    struct fail fail = {0};
    char before[400], path[400];
    struct scripted s;

    (void)state;
    snprintf(before, sizeof(before), "%s", getenv("PLIMSOLL_LIBEXEC"));
    assert_int_equal(program_find("plimsoll-engine", path, sizeof(path), &fail), 0);
    assert_int_equal(access(path, X_OK), 0);
    setenv("PLIMSOLL_LIBEXEC", "/nowhere", 1);
    scripted_init(&s, GOOD_SERVER, GOOD_CLIENT);
    s.run = run_new(s.base, scenario_find("tcp-requests"), &s.values, &scripted_ops, &s,
                    &s.fail);
    assert_null(s.run);
    assert_int_equal(s.fail.err, ENOENT);
    assert_non_null(strstr(s.fail.sentence, "plimsoll-engine is not in /nowhere"));
    scripted_done(&s);
    unsetenv("PLIMSOLL_LIBEXEC");
    assert_int_equal(program_find("no-such-program", path, sizeof(path), &fail), -ENOENT);
    assert_non_null(strstr(fail.sentence, "not beside this program"));
    setenv("PLIMSOLL_LIBEXEC", before, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_stops_in_each_state),
        cmocka_unit_test(a_stop_while_draining_takes_nothing_back),
        cmocka_unit_test(a_deaf_worker_does_not_keep_a_stopped_run),
        cmocka_unit_test(a_run_may_be_freed_in_each_state),
        cmocka_unit_test(live_values_reach_the_clients_in_shares),
        cmocka_unit_test(a_refused_value_is_not_in_force),
        cmocka_unit_test(a_value_that_nobody_takes_is_off),
        cmocka_unit_test(the_clock_leaves_pauses_out),
        cmocka_unit_test(a_pause_ends_with_its_trial),
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
