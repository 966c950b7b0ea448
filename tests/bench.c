#include "tests/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void bench_init(struct bench *b, const char *reply)
{
    memset(b, 0, sizeof(*b));
    b->base = pair_base();
    assert_true(odd_server_open(&b->server, b->base, 0));
    odd_server_reply(&b->server, reply);
    actor_init(&b->client, "http-client", b->base);
    snprintf(b->client.env.endpoint, sizeof(b->client.env.endpoint), "%s",
             b->server.endpoint);
}

void bench_prepare(struct bench *b)
{
    if (actor_prepare(&b->client) < 0)
        fail_msg("%s: %s", b->client.fail.step, b->client.fail.sentence);
}

const struct meter_counters *bench_counts(const struct bench *b)
{
    return &b->client.env.meter->counters;
}

void bench_turn_until(struct bench *b, const unsigned *number, unsigned wanted)
{
    for (int n = 0; n < 10000 && *number != wanted; n++)
        pair_turn(b->base, NULL, 1);
    assert_int_equal(*number, wanted);
}

void bench_check_identity(const struct bench *b)
{
    const struct meter *m = b->client.env.meter;
    const struct meter_counters *c = &m->counters;

    assert_int_equal(c->attempted,
                     c->succeeded + c->failed + c->timed_out + c->unfinished);
    assert_int_equal(tally_sum(&m->errors), c->failed);
    assert_int_equal(m->hists[METER_HIST_latency]->count, c->succeeded);
    assert_int_equal(m->hists[METER_HIST_failure]->count, c->failed + c->timed_out);
}

void bench_run(struct bench *b)
{
    bench_prepare(b);
    assert_true(actor_run(&b->client));
    bench_check_identity(b);
}

void bench_done(struct bench *b)
{
    actor_done(&b->client);
    odd_server_close(&b->server);
    event_base_free(b->base);
}

uint64_t bench_errors(const struct bench *b, const char *name)
{
    return tally_get(&b->client.env.meter->errors, name);
}

uint64_t bench_status(const struct bench *b, const char *name)
{
    return tally_get(&b->client.env.meter->status, name);
}
