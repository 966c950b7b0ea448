/*
 * The schedule against exact arithmetic and a clock of the test's own; the timer by
 * order and counts alone, since how late it is depends on the machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"

#define BASE 123456789012345ull
#define MANY 100000u

/* Take everything that is due; returns how many, the intended times in times[]. */
static size_t take_all(struct pacer *p, uint64_t now, uint64_t *times)
{
    size_t n = pacer_take(p, now, times, MANY);

    assert_int_not_equal(n, MANY);
    for (size_t i = 0; i < n; i++)
        assert_true(times[i] <= now && (i == 0 || times[i] >= times[i - 1]));
    return n;
}

static uint64_t *new_times(void)
{
    uint64_t *times = calloc(MANY, sizeof(*times));

    assert_non_null(times);
    return times;
}

/* floor(n * per / messages) by whole parts, in 64 bits: the pacer's way is another. */
static uint64_t offset_of(uint64_t n, uint64_t messages, uint64_t per)
{
    uint64_t whole = n / messages * per, rest = n % messages;

    return whole + (per / messages) * rest + (per % messages) * rest / messages;
}

static void intended_times_are_exact_over_a_billion(void **state)
{
    static const uint64_t rates[][2] = {
        {1, NS_PER_S},           {3, NS_PER_S},      {7, NS_PER_S},
        {997, NS_PER_S},         {1000, NS_PER_S},   {99991, NS_PER_S},
        {1000003, 4 * NS_PER_S}, {1, 10 * NS_PER_S}, {5, 2 * NS_PER_S},
        {333333333, NS_PER_S},
    };
    struct pacer p;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rates); i++) {
        uint64_t messages = rates[i][0], per = rates[i][1];

        pacer_start(&p, BASE, messages, per);
        for (uint64_t n = 0; n <= 1000000000; n += n < 1000 ? 1 : 9973) {
            uint64_t at = pacer_intended_ns(&p, n);

            assert_int_equal(at, BASE + offset_of(n, messages, per));
            assert_int_equal(pacer_due(&p, at), n + 1);
            assert_int_equal(pacer_due(&p, at - 1), n);
        }
        assert_int_equal(pacer_intended_ns(&p, 1000000000),
                         BASE + offset_of(1000000000, messages, per));
    }
    pacer_start(&p, BASE, 3, NS_PER_S);
    assert_int_equal(pacer_intended_ns(&p, 1000000000), BASE + 333333333333333333ull);
}

/* More messages than nanoseconds: several are due at one instant, none is lost. */
static void rates_above_the_clock_keep_their_count(void **state)
{
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 7000000000, NS_PER_S);
    assert_int_equal(pacer_due(&p, BASE), 7);
    assert_int_equal(pacer_due(&p, BASE + 999999999), 7000000000);
    assert_int_equal(pacer_gap_ns(&p), 0);
}

/* A tool asked for 5 a second sent 2,140; another sent all in the first 100 ms. */
static void five_a_second_are_five_a_second(void **state)
{
    uint64_t *times = new_times(), last = 0, n = 0;
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 5, NS_PER_S);
    for (uint64_t now = BASE; now < BASE + 60 * NS_PER_S; now += NS_PER_MS) {
        size_t taken = take_all(&p, now, times);

        assert_true(taken <= 1);
        if (taken && n > 0)
            assert_int_equal(times[0] - last, NS_PER_S / 5);
        if (taken)
            last = times[0];
        n += taken;
        if (now == BASE + 100 * NS_PER_MS)
            assert_int_equal(n, 1);
    }
    assert_int_equal(n, 300);
    free(times);
}

static void nothing_is_due_before_the_base(void **state)
{
    struct pacer p;
    uint64_t time;

    (void)state;
    for (uint64_t rate = 0; rate <= 1000; rate += 1000) {
        pacer_start(&p, BASE, rate, NS_PER_S);
        assert_int_equal(pacer_take(&p, BASE - 1, &time, 1), 0);
        assert_int_equal(pacer_due(&p, 0), 0);
        assert_int_equal(pacer_backlog(&p, BASE - 1), 0);
        assert_int_equal(pacer_next_ns(&p), BASE);
        assert_int_equal(pacer_take(&p, BASE, &time, 1), 1);
        assert_int_equal(time, BASE);
    }
}

/* A client that stood still for 2 s finds all that became due, with its own times. */
static void backlog_keeps_its_intended_times(void **state)
{
    uint64_t *times = new_times();
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 1000, NS_PER_S);
    assert_int_equal(take_all(&p, BASE, times), 1);
    assert_int_equal(pacer_backlog(&p, BASE + 2 * NS_PER_S), 2000);
    assert_int_equal(pacer_take(&p, BASE + 2 * NS_PER_S, times, 10), 10);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(times[i], BASE + (i + 1) * NS_PER_MS);
    assert_int_equal(pacer_backlog(&p, BASE + 2 * NS_PER_S), 1990);
    assert_int_equal(pacer_next_ns(&p), BASE + 11 * NS_PER_MS);
    assert_int_equal(take_all(&p, BASE + 2 * NS_PER_S, times), 1990);
    assert_int_equal(times[1989], BASE + 2 * NS_PER_S);
    assert_int_equal(pacer_backlog(&p, BASE + 2 * NS_PER_S), 0);
    free(times);
}

static void unpaced_is_always_due(void **state)
{
    struct pacer p;
    uint64_t times[3];

    (void)state;
    pacer_start(&p, BASE, 0, NS_PER_S);
    for (uint64_t i = 1; i < 100; i++) {
        assert_int_equal(pacer_take(&p, BASE + i, times, 3), 3);
        assert_int_equal(times[0], BASE + i);
        assert_int_equal(times[2], BASE + i);
        assert_int_equal(pacer_backlog(&p, BASE + i), 0);
        assert_true(pacer_next_ns(&p) <= BASE + i);
    }
    assert_int_equal(p.next.number, 297);
    assert_int_equal(pacer_gap_ns(&p), 0);
    pacer_pause(&p, BASE + 100);
    assert_int_equal(pacer_take(&p, BASE + 200, times, 3), 0);
    pacer_resume(&p, BASE + 300);
    assert_int_equal(pacer_take(&p, BASE + 300, times, 3), 3);
    assert_int_equal(times[0], BASE + 300);
}

/* W clients with their shares and bases send what one would have. */
static void shares_interleave_evenly(void **state)
{
    struct pacer one, part[4];

    (void)state;
    pacer_start(&one, BASE, 1000, NS_PER_S);
    for (unsigned k = 0; k < 4; k++)
        pacer_start(&part[k], BASE + pacer_phase_ns(1000, 4 * NS_PER_S, k, 4), 1000,
                    4 * NS_PER_S);
    for (uint64_t n = 0; n < 100000; n++)
        assert_int_equal(pacer_intended_ns(&part[n % 4], n / 4),
                         pacer_intended_ns(&one, n));
}

static void phase_is_a_part_of_the_gap(void **state)
{
    (void)state;
    assert_int_equal(pacer_phase_ns(250, NS_PER_S, 0, 4), 0);
    assert_int_equal(pacer_phase_ns(250, NS_PER_S, 3, 4), 3 * NS_PER_MS);
    assert_int_equal(pacer_phase_ns(3, NS_PER_S, 1, 2), 166666666);
    assert_int_equal(pacer_phase_ns(1, 120 * NS_PER_S, 1, 3), 40 * NS_PER_S);
    assert_int_equal(pacer_phase_ns(1, PACER_RATE_MAX, 255, 256),
                     PACER_RATE_MAX / 256 * 255);
    assert_int_equal(pacer_phase_ns(0, NS_PER_S, 1, 2), 0);
    assert_int_equal(pacer_phase_ns(10, NS_PER_S, 2, 2), 0);
    assert_int_equal(pacer_phase_ns(10, NS_PER_S, 0, 0), 0);
}

/* 30 % of the old gap had still to pass: 30 % of the new one has. */
static void change_of_rate_keeps_the_phase(void **state)
{
    uint64_t *times = new_times();
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 10, NS_PER_S);
    assert_int_equal(take_all(&p, BASE + 170 * NS_PER_MS, times), 2);
    pacer_set_rate(&p, 100, NS_PER_S, BASE + 170 * NS_PER_MS);
    assert_int_equal(pacer_next_ns(&p), BASE + 173 * NS_PER_MS);
    assert_int_equal(take_all(&p, BASE + 193 * NS_PER_MS, times), 3);
    assert_int_equal(times[2], BASE + 193 * NS_PER_MS);
    pacer_set_rate(&p, 1, NS_PER_S, BASE + 198 * NS_PER_MS);
    assert_int_equal(pacer_next_ns(&p), BASE + 698 * NS_PER_MS);
    /* Several changes before the next message: each keeps the phase. */
    pacer_set_rate(&p, 10, NS_PER_S, BASE + 198 * NS_PER_MS);
    pacer_set_rate(&p, 1000, NS_PER_S, BASE + 198 * NS_PER_MS);
    assert_int_equal(pacer_next_ns(&p), BASE + 198 * NS_PER_MS + 500 * NS_PER_US);
    free(times);
}

/* Ever other rates, a change every 10 ms: no gap between messages over the larger one. */
static void many_changes_leave_no_burst_and_no_gap(void **state)
{
    static const uint64_t rates[] = {100, 5000, 333, 7, 1000, 999, 20000, 50};
    uint64_t *times = new_times(), last = BASE, sent = 0;
    double expected = 0;
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, rates[0], NS_PER_S);
    for (uint64_t step = 0; step < 4000; step++) {
        uint64_t from = BASE + step * 10 * NS_PER_MS, rate = rates[step % 8];
        size_t n;

        pacer_set_rate(&p, rate, NS_PER_S, from);
        expected += (double)rate / 100;
        n = take_all(&p, from + 10 * NS_PER_MS - 1, times);
        for (size_t i = 0; i < n; i++) {
            if (i > 0)
                assert_in_range(times[i] - last, NS_PER_S / rate - 1,
                                NS_PER_S / rate + 1);
            last = times[i];
        }
        sent += n;
    }
    /* The phase adds up: as many as the rates say, over all changes. */
    assert_in_range(sent, (uint64_t)expected - 1, (uint64_t)expected + 1);
    free(times);
}

static void change_leaves_the_backlog_alone(void **state)
{
    uint64_t *times = new_times();
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 1000, NS_PER_S);
    pacer_set_rate(&p, 10, NS_PER_S, BASE + NS_PER_S);
    pacer_set_rate(&p, 2000, NS_PER_S, BASE + 2 * NS_PER_S);
    assert_int_equal(pacer_backlog(&p, BASE + 2 * NS_PER_S), 1011);
    assert_int_equal(take_all(&p, BASE + 3 * NS_PER_S, times), 3011);
    for (uint64_t i = 0; i <= 1000; i++)
        assert_int_equal(times[i], BASE + i * NS_PER_MS);
    assert_int_equal(times[1001], BASE + NS_PER_S + 100 * NS_PER_MS);
    assert_int_equal(times[1010], BASE + 2 * NS_PER_S);
    assert_int_equal(times[1011], BASE + 2 * NS_PER_S + 500 * NS_PER_US);
    free(times);
}

/* More changes than stretches while nothing is taken: the count stays exact. */
static void changes_beyond_the_stretches_keep_count_and_order(void **state)
{
    uint64_t *times = new_times(), now = BASE, expected = 1;
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 1000, NS_PER_S);
    for (unsigned i = 0; i < 5 * PACER_STRETCHES; i++) {
        uint64_t rate = i % 2 ? 1000 : 2000;

        now += 100 * NS_PER_MS;
        expected += i % 2 ? 200 : 100;
        pacer_set_rate(&p, rate, NS_PER_S, now);
        assert_int_equal(pacer_due(&p, now), expected);
        assert_true(p.used <= PACER_STRETCHES);
    }
    assert_int_equal(take_all(&p, now, times), expected);
    assert_int_equal(times[0], BASE);
    assert_int_equal(times[expected - 1], now);
    free(times);
}

static void same_rate_again_changes_nothing(void **state)
{
    struct pacer p, before;

    (void)state;
    pacer_start(&p, BASE, 300, NS_PER_S);
    before = p;
    pacer_set_rate(&p, 300, NS_PER_S, BASE + 12345678);
    pacer_set_rate(&p, 600, 2 * NS_PER_S, BASE + 22345678);
    assert_memory_equal(&p, &before, sizeof(p));
}

static void change_before_the_base_keeps_the_base(void **state)
{
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 10, NS_PER_S);
    pacer_set_rate(&p, 1000, NS_PER_S, BASE - NS_PER_S);
    assert_int_equal(pacer_next_ns(&p), BASE);
    assert_int_equal(pacer_intended_ns(&p, 5), BASE + 5 * NS_PER_MS);
}

static void rate_comes_and_goes(void **state)
{
    uint64_t *times = new_times(), now = BASE + 100 * NS_PER_MS;
    struct pacer p;

    (void)state;
    /* Paced to unpaced: what was due stays first, with its times. */
    pacer_start(&p, BASE, 100, NS_PER_S);
    pacer_set_rate(&p, 0, NS_PER_S, now);
    assert_int_equal(pacer_backlog(&p, now), 11);
    assert_int_equal(pacer_take(&p, now + 5, times, 13), 13);
    assert_int_equal(times[10], now);
    assert_int_equal(times[11], now + 5);
    assert_int_equal(pacer_backlog(&p, now + 5), 0);
    /* And back: one at once, then evenly. */
    pacer_set_rate(&p, 100, NS_PER_S, now + NS_PER_S);
    assert_int_equal(take_all(&p, now + NS_PER_S + 20 * NS_PER_MS, times), 3);
    assert_int_equal(times[0], now + NS_PER_S);
    assert_int_equal(times[2], now + NS_PER_S + 20 * NS_PER_MS);
    /* Off and on with a backlog: it is neither lost nor doubled. */
    now += 2 * NS_PER_S;
    pacer_set_rate(&p, 0, NS_PER_S, now);
    pacer_set_rate(&p, 1000, NS_PER_S, now + NS_PER_S);
    assert_int_equal(pacer_backlog(&p, now + NS_PER_S - 1), 98);
    assert_int_equal(take_all(&p, now + NS_PER_S + NS_PER_MS, times), 98 + 2);
    free(times);
}

/* The schedule stands still: what was not taken is intended later by the pause. */
static void pause_shifts_the_schedule(void **state)
{
    uint64_t *times = new_times();
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 10, NS_PER_S);
    assert_int_equal(take_all(&p, BASE + 120 * NS_PER_MS, times), 2);
    pacer_pause(&p, BASE + 150 * NS_PER_MS);
    pacer_pause(&p, BASE + 160 * NS_PER_MS);
    assert_int_equal(pacer_next_ns(&p), UINT64_MAX);
    assert_int_equal(take_all(&p, BASE + 99 * NS_PER_S, times), 0);
    assert_int_equal(pacer_due(&p, BASE + 99 * NS_PER_S), 2);
    pacer_resume(&p, BASE + 5150 * NS_PER_MS);
    pacer_resume(&p, BASE + 9000 * NS_PER_MS);
    assert_int_equal(pacer_next_ns(&p), BASE + 5200 * NS_PER_MS);
    assert_int_equal(take_all(&p, BASE + 5300 * NS_PER_MS, times), 2);
    assert_int_equal(times[1], BASE + 5300 * NS_PER_MS);
    free(times);
}

static void pause_shifts_the_backlog_and_a_new_rate(void **state)
{
    uint64_t *times = new_times();
    struct pacer p;

    (void)state;
    pacer_start(&p, BASE, 10, NS_PER_S);
    pacer_pause(&p, BASE + 250 * NS_PER_MS);
    assert_int_equal(pacer_backlog(&p, BASE + NS_PER_S), 3);
    pacer_set_rate(&p, 100, NS_PER_S, BASE + 2 * NS_PER_S);
    pacer_resume(&p, BASE + 1250 * NS_PER_MS);
    assert_int_equal(take_all(&p, BASE + 1265 * NS_PER_MS, times), 5);
    assert_int_equal(times[0], BASE + NS_PER_S);
    assert_int_equal(times[2], BASE + 1200 * NS_PER_MS);
    assert_int_equal(times[3], BASE + 1255 * NS_PER_MS);
    assert_int_equal(times[4], BASE + 1265 * NS_PER_MS);
    free(times);
}

/* The timer, in real time. */

struct client {
    struct event_base *base;
    struct pacer pacer;
    struct pacer_timer timer;
    struct event *done; /* a message in flight comes back */
    uint64_t amount, sent, last_ns, calls;
    unsigned slots; /* messages that may still be put in flight */
    unsigned in_flight;
    bool is_limited;
    bool is_wrong; /* a message came early, out of order or not at its place */
};

static void client_fill(struct client *c)
{
    struct timeval at_once = {0};
    uint64_t now = now_ns(), intended;

    while (c->sent < c->amount && c->slots > 0 &&
           pacer_take(&c->pacer, now, &intended, 1) == 1) {
        c->is_wrong |= intended > now || intended < c->last_ns;
        c->last_ns = intended;
        c->sent++;
        c->slots -= c->is_limited;
        c->in_flight += c->is_limited;
    }
    if (c->in_flight)
        event_add(c->done, &at_once);
    if (c->sent == c->amount && c->in_flight == 0)
        event_base_loopbreak(c->base);
    else if (c->slots > 0 && c->sent < c->amount)
        pacer_timer_arm(&c->timer);
}

static void on_ready(void *arg)
{
    struct client *c = arg;

    c->calls++;
    client_fill(c);
}

static void on_done(evutil_socket_t fd, short events, void *arg)
{
    struct client *c = arg;

    (void)fd;
    (void)events;
    c->in_flight--;
    c->slots++;
    client_fill(c);
}

static void client_init(struct client *c, uint64_t amount)
{
    memset(c, 0, sizeof(*c));
    c->base = pacer_timer_base();
    assert_non_null(c->base);
    assert_int_equal(pacer_timer_init(&c->timer, c->base, &c->pacer, on_ready, c), 0);
    c->done = evtimer_new(c->base, on_done, c);
    assert_non_null(c->done);
    c->slots = 1;
    c->amount = amount;
}

/* Runs until the amount is sent; a stalled client ends after a minute and fails. */
static void client_run(struct client *c, uint64_t rate)
{
    struct timeval limit = {.tv_sec = 60};

    pacer_start(&c->pacer, now_ns() + NS_PER_MS, rate, NS_PER_S);
    event_base_loopexit(c->base, &limit);
    client_fill(c);
    event_base_dispatch(c->base);
    assert_int_equal(c->sent, c->amount);
    assert_false(c->is_wrong);
}

static void client_done(struct client *c)
{
    event_free(c->done);
    pacer_timer_done(&c->timer);
    pacer_timer_done(&c->timer);
    event_base_free(c->base);
}

static void timer_sends_all_in_order(void **state)
{
    static const uint64_t rates[] = {1000, 20000, 300000, 0};
    struct client c;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rates); i++) {
        uint64_t amount = rates[i] ? rates[i] / 5 : 1000;

        client_init(&c, amount);
        client_run(&c, rates[i]);
        if (rates[i])
            assert_int_equal(c.last_ns, pacer_intended_ns(&c.pacer, amount - 1));
        client_done(&c);
    }
}

/* At a high rate calls are shared, at a rate of its own every message has one. */
static void timer_ticks_only_at_high_rates(void **state)
{
    struct client c;

    (void)state;
    client_init(&c, 20000);
    client_run(&c, 100000);
    assert_true(c.calls < 20000 / 4);
    client_done(&c);
}

/* Two slots and a rate beyond what they can carry: a backlog, and no stall. */
static void timer_rests_without_room(void **state)
{
    struct client c;

    (void)state;
    client_init(&c, 5000);
    c.slots = 2;
    c.is_limited = true;
    client_run(&c, 1000000000);
    assert_true(c.calls < 5000 / 2);
    client_done(&c);
}

static void on_resume(evutil_socket_t fd, short events, void *arg)
{
    struct client *c = arg;

    (void)fd;
    (void)events;
    c->is_wrong |= c->sent > 0;
    pacer_resume(&c->pacer, now_ns());
    client_fill(c);
}

/* Paused from the start, resumed by an event: nothing before, everything after. */
static void timer_keeps_still_in_a_pause(void **state)
{
    struct timeval later = {.tv_usec = 20000}, limit = {.tv_sec = 60};
    struct client c;

    (void)state;
    client_init(&c, 50);
    pacer_start(&c.pacer, now_ns(), 1000, NS_PER_S);
    pacer_pause(&c.pacer, now_ns());
    pacer_timer_arm(&c.timer);
    event_base_once(c.base, -1, EV_TIMEOUT, on_resume, &c, &later);
    event_base_loopexit(c.base, &limit);
    event_base_dispatch(c.base);
    assert_int_equal(c.sent, 50);
    assert_false(c.is_wrong);
    client_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intended_times_are_exact_over_a_billion),
        cmocka_unit_test(rates_above_the_clock_keep_their_count),
        cmocka_unit_test(five_a_second_are_five_a_second),
        cmocka_unit_test(nothing_is_due_before_the_base),
        cmocka_unit_test(backlog_keeps_its_intended_times),
        cmocka_unit_test(unpaced_is_always_due),
        cmocka_unit_test(shares_interleave_evenly),
        cmocka_unit_test(phase_is_a_part_of_the_gap),
        cmocka_unit_test(change_of_rate_keeps_the_phase),
        cmocka_unit_test(many_changes_leave_no_burst_and_no_gap),
        cmocka_unit_test(change_leaves_the_backlog_alone),
        cmocka_unit_test(changes_beyond_the_stretches_keep_count_and_order),
        cmocka_unit_test(same_rate_again_changes_nothing),
        cmocka_unit_test(change_before_the_base_keeps_the_base),
        cmocka_unit_test(rate_comes_and_goes),
        cmocka_unit_test(pause_shifts_the_schedule),
        cmocka_unit_test(pause_shifts_the_backlog_and_a_new_rate),
        cmocka_unit_test(timer_sends_all_in_order),
        cmocka_unit_test(timer_ticks_only_at_high_rates),
        cmocka_unit_test(timer_rests_without_room),
        cmocka_unit_test(timer_keeps_still_in_a_pause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
