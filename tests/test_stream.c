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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_moves_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
