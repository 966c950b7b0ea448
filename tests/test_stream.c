/*
 * The stream data path: bulk and requests over every transport, and what happens when
 * something is wrong with the other side.
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
#include "protocols/content.h"
#include "protocols/transport.h"
#include "tests/pair.h"

static const char *const transports[] = {"tcp", "unix", "pipe"};

/* Each test has a loop, a server and a client, and an empty directory. */
struct stage {
    struct event_base *base;
    struct actor server, client;
    char directory[64];
    unsigned descriptors;
};

static void stage_init(struct stage *s, const char *server, const char *client)
{
    memset(s, 0, sizeof(*s));
    snprintf(s->directory, sizeof(s->directory), "/tmp/plimsoll-test-XXXXXX");
    assert_non_null(mkdtemp(s->directory));
    setenv("XDG_RUNTIME_DIR", s->directory, 1);
    s->descriptors = open_descriptors();
    s->base = pair_base();
    actor_init(&s->server, server, s->base);
    actor_init(&s->client, client, s->base);
}

/* Nothing may be left: neither on disk nor among the descriptors. */
static void stage_done(struct stage *s)
{
    actor_done(&s->client);
    actor_done(&s->server);
    event_base_free(s->base);
    assert_int_equal(open_descriptors(), s->descriptors);
    assert_int_equal(rmdir(s->directory), 0);
}

static void stage_transport(struct stage *s, const char *transport)
{
    char word[32];

    snprintf(word, sizeof(word), "transport=%s", transport);
    actor_options(&s->server, word, "port:0", NULL);
    actor_options(&s->client, "timeout:5000000000", NULL);
}

static void both_options(struct stage *s, const char *word)
{
    actor_options(&s->server, word, NULL);
    actor_options(&s->client, word, NULL);
}

static const struct meter_counters *counters(const struct actor *a)
{
    return &a->env.meter->counters;
}

/* ---- bulk ---- */

#define SIZE 3000001u /* not a multiple of anything */

static void run_bulk(const char *transport, const char *direction, const char *method)
{
    struct stage s;
    uint64_t up = strcmp(direction, "direction=down") == 0 ? 0 : SIZE;
    uint64_t down = strcmp(direction, "direction=up") == 0 ? 0 : SIZE;

    stage_init(&s, "bulk-server", "bulk-client");
    stage_transport(&s, transport);
    both_options(&s, direction);
    both_options(&s, method);
    both_options(&s, "size:3000001");
    both_options(&s, "verify:1");
    pair_prepare(&s.server, &s.client);
    assert_true(actor_run(&s.client));
    assert_string_equal(s.client.reason, "");
    assert_int_equal(s.client.outcome, OUTCOME_COMPLETED);
    assert_true(actor_stop(&s.server));
    assert_string_equal(s.server.reason, "");
    assert_int_equal(s.server.outcome, OUTCOME_COMPLETED);

    assert_int_equal(counters(&s.client)->sent_bytes, up);
    assert_int_equal(counters(&s.server)->received_bytes, up);
    assert_int_equal(counters(&s.server)->sent_bytes, down);
    assert_int_equal(counters(&s.client)->received_bytes, down);
    assert_int_equal(counters(&s.client)->attempted, 1);
    assert_int_equal(counters(&s.client)->succeeded, 1);
    assert_int_equal(s.client.env.meter->hists[METER_HIST_latency]->count, 1);
    if (up)
        assert_string_equal(actor_fact(&s.client, "sent_crc32"),
                            actor_fact(&s.server, "received_crc32"));
    if (down)
        assert_string_equal(actor_fact(&s.server, "sent_crc32"),
                            actor_fact(&s.client, "received_crc32"));
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
                run_bulk(transports[t], directions[d], methods[m]);
}

/* ---- requests ---- */

static void once_program(struct actor *client)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    char word[512];

    snprintf(word, sizeof(word), "once_program=%s/plimsoll-once",
             build ? build : "build");
    actor_options(client, word, NULL);
}

static void assert_identity(const struct actor *client)
{
    const struct meter_counters *c = counters(client);

    assert_int_equal(c->attempted,
                     c->succeeded + c->failed + c->timed_out + c->unfinished);
    assert_int_equal(c->failed, tally_sum(&client->env.meter->errors));
    assert_int_equal(client->env.meter->hists[METER_HIST_latency]->count, c->succeeded);
}

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
    both_options(&s, load->size);
    once_program(&s.client);
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

    assert_identity(&s.client);
    assert_int_equal(counters(&s.client)->succeeded, n);
    assert_int_equal(counters(&s.client)->sent_messages, n);
    assert_int_equal(counters(&s.client)->received_messages, n);
    assert_int_equal(counters(&s.client)->sent_bytes, n * length);
    assert_int_equal(counters(&s.client)->received_bytes, n * length);
    assert_int_equal(counters(&s.server)->received_messages, n);
    assert_int_equal(counters(&s.server)->sent_messages, n);
    assert_int_equal(counters(&s.server)->received_bytes, n * length);
    assert_int_equal(counters(&s.server)->connections, counters(&s.client)->connections);
    assert_int_equal(tally_sum(&s.server.env.meter->errors), 0);
    if (strcmp(load->client, "client=persistent") != 0)
        assert_int_equal(counters(&s.client)->connections, n);
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
            struct load load = {transports[t], kinds[k].client, kinds[k].one,
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_moves_every_byte),
        cmocka_unit_test(every_client_kind_does_exactly_n),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
