/*
 * What pacing costs and gives: for some rates, how late messages are sent (p50, p99,
 * max), the CPU time that waiting takes and how many messages share a wake-up. A send
 * is an empty one: this is the pacer alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/hist.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"

#define BATCH 64

struct bench {
    struct event_base *base;
    struct pacer pacer;
    struct pacer_timer timer;
    struct hist *lateness;
    uint64_t amount;
    uint64_t wakes;
};

static void fill(void *arg)
{
    struct bench *b = arg;
    uint64_t intended_ns[BATCH], now = now_ns();
    size_t n = pacer_take(&b->pacer, now, intended_ns, BATCH);

    for (size_t i = 0; i < n; i++)
        hist_record(b->lateness, now - intended_ns[i]);
    b->wakes += n > 0;
    if (b->lateness->count >= b->amount)
        event_base_loopbreak(b->base);
    else
        pacer_timer_arm(&b->timer);
}

static void print_row(const struct bench *b, uint64_t rate, double seconds, double cpu)
{
    printf("| %6" PRIu64 " | %7" PRIu64
           " | %7.0f | %7.1f | %7.1f | %7.0f | %4.1f | %5.1f |\n",
           rate, b->timer.tick_ns / 1000, (double)b->lateness->count / seconds,
           (double)hist_quantile(b->lateness, 0.5) / 1000,
           (double)hist_quantile(b->lateness, 0.99) / 1000,
           (double)b->lateness->max / 1000, 100 * cpu / seconds,
           (double)b->lateness->count / (double)b->wakes);
}

static int run(uint64_t rate, uint64_t tick_ns, uint64_t seconds)
{
    struct bench b = {.amount = rate * seconds};
    uint64_t start, cpu;

    b.base = pacer_timer_base();
    b.lateness = hist_new();
    if (!b.base || !b.lateness ||
        pacer_timer_init(&b.timer, b.base, &b.pacer, fill, &b) < 0) {
        fprintf(stderr, "Out of memory.\n");
        return 1;
    }
    b.timer.tick_ns = tick_ns;
    cpu = cpu_time_ns();
    start = now_ns();
    pacer_start(&b.pacer, start, rate, NS_PER_S);
    fill(&b);
    event_base_dispatch(b.base);
    print_row(&b, rate, (double)(now_ns() - start) / NS_PER_S,
              (double)(cpu_time_ns() - cpu) / NS_PER_S);
    pacer_timer_done(&b.timer);
    event_base_free(b.base);
    hist_free(b.lateness);
    return 0;
}

int main(void)
{
    static const uint64_t rates[] = {10, 1000, 5000, 10000, 100000, 500000};
    int status = 0;

    printf("| rate/s | tick us | sent/s  | p50 us  | p99 us  | max us  | CPU%% | a wake "
           "|\n");
    printf(
        "|-------:|--------:|--------:|--------:|--------:|--------:|-----:|-------:|\n");
    for (size_t i = 0; i < NUMBER_OF(rates) && status == 0; i++)
        status = run(rates[i], PACER_TIMER_TICK_NS, 2);
    for (size_t i = 3; i < NUMBER_OF(rates) && status == 0; i++)
        status = run(rates[i], 0, 1);
    return status;
}
