/* What limits a run: one verdict, while it runs and in its report. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/bottleneck.h"
#include "protocols/array.h"
#include "tests/synthetic.h"
#include "tui/run_use.h"

#define NO (double)NAN

static void each_limit_has_its_sentence(void **state)
{
    static const struct {
        double server, endpoint, client, waited;
        enum bottleneck limit;
        const char *said;
    } rows[] = {
        {NO, NO, NO, NO, BOTTLENECK_UNKNOWN, ""},
        {99, NO, NO, NO, BOTTLENECK_UNKNOWN, ""},
        {NO, NO, 40, NO, BOTTLENECK_NONE,
         "client 40 % busy; the server was not measured"},
        {NO, 30, 40, NO, BOTTLENECK_NONE,
         "client 40 %, endpoint 30 % busy; the server was not measured"},
        {30, NO, 40, 19.9, BOTTLENECK_NONE,
         "client 40 %, server 30 % busy: neither end's CPU is the limit"},
        {0, NO, 0.2, NO, BOTTLENECK_NONE,
         "client < 1 %, server 0 % busy: neither end's CPU is the limit"},
        {30, 50, 40, NO, BOTTLENECK_NONE,
         "client 40 %, endpoint 50 %, server 30 % busy: no process's CPU is the limit"},
        {30, NO, 90, NO, BOTTLENECK_GENERATOR,
         "client 90 % busy: this is the generator's limit"},
        {95, NO, 40, NO, BOTTLENECK_SERVER,
         "server 95 % busy: this is the server's limit"},
        {91, 95, 40, NO, BOTTLENECK_SERVER,
         "endpoint 95 % busy: this is the endpoint's limit"},
        {99, NO, 95, NO, BOTTLENECK_BOTH,
         "client 95 %, server 99 % busy: both are at their limit"},
        {99, NO, 95, 20, BOTTLENECK_CORES,
         "the server waited 20 % of the time for a core: other work distorts this"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct busy b = busy_unknown();
        char text[160];

        b.cpu_percent[PLACE_SERVER] = rows[i].server;
        b.cpu_percent[PLACE_ENDPOINT] = rows[i].endpoint;
        b.cpu_percent[PLACE_CLIENT] = rows[i].client;
        b.waited_percent[PLACE_SERVER] = rows[i].waited;
        assert_int_equal(bottleneck_find(&b, text, sizeof(text)), rows[i].limit);
        assert_string_equal(text, rows[i].said);
        assert_int_equal(busy_is_crowded(&b), rows[i].limit == BOTTLENECK_CORES);
    }
}

static void the_live_verdict_is_that_of_the_report(void **state)
{
    struct synthetic how = {
        .scenario = "unix-requests", .trials = 1, .steps = 20, .seed = 7, .speed = 1};
    struct run *r = synthetic_run(&how);
    struct run_view *v = run_view_new();
    char live[160], reported[160];

    (void)state;
    assert_non_null(r);
    assert_non_null(v);
    run_view_set_run(v, r);
    run_use_verdict(v, live, sizeof(live));
    trial_bottleneck(run_trial(r), reported, sizeof(reported));
    assert_string_equal(live, reported);
    assert_non_null(strstr(live, "client 63 %, server 41 % busy"));
    run_view_free(v);
    run_free(r);
}

/* Descriptors, not processors: the outcome has said what the limit was. */
static void what_ran_out_is_the_limit(void **state)
{
    struct synthetic how = {.scenario = "udp-fresh-parallel",
                            .trials = 1,
                            .steps = 5,
                            .seed = 7,
                            .speed = 1,
                            .outcome = OUTCOME_EXHAUSTED};
    struct run *r = synthetic_run(&how);
    char text[160];

    (void)state;
    assert_non_null(r);
    trial_bottleneck(run_trial(r), text, sizeof(text));
    assert_string_equal(text, "");
    run_free(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_has_its_sentence),
        cmocka_unit_test(the_live_verdict_is_that_of_the_report),
        cmocka_unit_test(what_ran_out_is_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
