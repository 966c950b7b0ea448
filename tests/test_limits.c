/* The limits of the machine: what a run needs of them follows from its values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/limits.h"
#include "protocols/array.h"

/* What a run of the scenario with these settings, in pairs, needs of a limit; -1: none.
 */
static int64_t need(const char *name, const char *scenario, const char *const *settings)
{
    const struct scenario *s = scenario_find(scenario);
    struct limit limits[LIMITS_MAX];
    struct options values = {0};
    int64_t found = -1;
    size_t n;

    assert_int_equal(scenario_defaults(s, &values), 0);
    for (; settings && *settings; settings += 2)
        assert_int_equal(param_set(&values, param_find(s->family->bit, settings[0]),
                                   settings[1], NULL),
                         0);
    n = limits_for(s, &values, limits);
    for (size_t i = 0; i < n; i++)
        if (strcmp(limits[i].name, name) == 0)
            found = (int64_t)limits[i].need;
    options_done(&values);
    return found;
}

static int64_t files(const char *scenario, const char *const *settings)
{
    return need("open files", scenario, settings);
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static void files_are_those_of_what_is_open_at_once(void **state)
{
    int64_t besides = files("http", WITH("connections", "1")) - 1;

    (void)state;
    assert_int_equal(files("http", WITH("connections", "500")) - besides, 500);
    /* All of them are opened, however little there is to do. */
    assert_int_equal(files("http", WITH("connections", "500", "amount", "7")) - besides,
                     500);
    assert_int_equal(files("tcp-requests", WITH("concurrency", "50")) - besides, 50);
    assert_int_equal(
        files("tcp-requests", WITH("concurrency", "50", "requests", "7")) - besides, 7);
    assert_int_equal(files("udp-fresh-parallel", WITH("window", "64")) - besides, 64);
    assert_int_equal(files("udp-fresh-parallel", NULL), 0); /* to run out is the result */
    assert_int_equal(files("tcp-bulk", NULL), 0);
}

static void an_endpoint_holds_the_way_in_and_the_way_on(void **state)
{
    int64_t besides = files("http", WITH("connections", "1")) - 1;

    (void)state;
    assert_int_equal(files("rest-rest", WITH("connections", "500")) - besides, 1000);
    assert_int_equal(files("rest-direct", WITH("connections", "500")) - besides, 500);
}

/* The busier end counts: the client's of a named pipe, until it has several processes. */
static void a_named_pipe_is_three_at_its_client_and_two_at_its_server(void **state)
{
    int64_t besides = files("http", WITH("connections", "1")) - 1;

    (void)state;
    assert_int_equal(
        files("pipe-requests", WITH("client", "connection", "concurrency", "50")) -
            besides,
        150);
    assert_int_equal(files("pipe-requests", WITH("client", "persistent", "concurrency",
                                                 "50", "workers", "2")) -
                         besides,
                     100);
    assert_int_equal(
        files("pipe-requests", WITH("client", "process", "concurrency", "50")) - besides,
        100);
    assert_int_equal(
        files("unix-requests", WITH("client", "connection", "concurrency", "50")) -
            besides,
        50);
}

static void ports_are_used_up_by_closed_connections(void **state)
{
    static const struct {
        const char *scenario, *name, *value;
        int64_t need;
    } rows[] = {
        {"tcp-requests", "client", "process", 100},
        {"tcp-requests", "client", "connection", 100},
        {"tcp-requests", "client", "persistent", 0},
        {"unix-requests", "client", "process", 0},
        {"rest-rest", "close", "off", 0},
        {"rest-rest", "close", "on", 5000},
        {"udp-cached-series", "messages", "7", -1},
        {"tcp-bulk", "size", "7", -1},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        assert_int_equal(
            need("ephemeral ports", rows[i].scenario, WITH(rows[i].name, rows[i].value)),
            rows[i].need);
}

static void buffers_and_memory_are_of_those_that_use_them(void **state)
{
    (void)state;
    assert_int_equal(need("bytes of receive buffer", "udp-cached-series",
                          WITH("receive_buffer", "1MiB")),
                     1 << 20);
    assert_int_equal(need("bytes of receive buffer", "tcp-requests", NULL), -1);
    assert_int_equal(need("bytes of memory", "unix-bulk", WITH("size", "1MiB")), 1 << 20);
    assert_int_equal(need("bytes of memory", "unix-bulk", WITH("file", "/dev/null")), 0);
    assert_int_equal(need("bytes of memory", "rest-rest", NULL), -1);
    assert_int_equal(need("congestion control", "tcp-bulk", NULL), 0);
    assert_int_equal(need("congestion control", "unix-bulk", NULL), -1);
}

static void without_a_scenario_all_are_told(void **state)
{
    static const char *const names[] = {"open files",      "bytes of receive buffer",
                                        "ephemeral ports", "congestion control",
                                        "bytes of memory", "cores",
                                        "idle cores"};
    struct limit limits[LIMITS_MAX];

    (void)state;
    assert_int_equal(limits_for(NULL, NULL, limits), 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(limits[i].name, names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_those_of_what_is_open_at_once),
        cmocka_unit_test(a_named_pipe_is_three_at_its_client_and_two_at_its_server),
        cmocka_unit_test(an_endpoint_holds_the_way_in_and_the_way_on),
        cmocka_unit_test(ports_are_used_up_by_closed_connections),
        cmocka_unit_test(buffers_and_memory_are_of_those_that_use_them),
        cmocka_unit_test(without_a_scenario_all_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
