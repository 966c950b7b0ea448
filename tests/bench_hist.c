/*
 * What a histogram costs: to record a value (typical latencies), to merge the sample of
 * an interval, to write and read its text form, and to ask for a percentile.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocols/clock.h"
#include "protocols/hist.h"

#define VALUES 4096u
#define ROUNDS 5000u
#define REPEATS 1000u

static void print_row(const char *what, uint64_t cpu_ns, uint64_t times)
{
    printf("| %-34s | %10.1f |\n", what, (double)cpu_ns / (double)times);
}

/* Latencies around 80 us with a tail, as an interval of 100 ms holds them. */
static void make_values(uint64_t values[VALUES])
{
    uint64_t state = 88172645463325252u;

    for (unsigned i = 0; i < VALUES; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] =
            60000 + (uint64_t)(-20000 * log(((double)(state >> 11) + 1) * 0x1p-53));
    }
}

static void bench_record(struct hist *h, const uint64_t values[VALUES])
{
    uint64_t start = cpu_time_ns();

    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < VALUES; i++)
            hist_record(h, values[i]);
    print_row("record a value", cpu_time_ns() - start, (uint64_t)ROUNDS * VALUES);
}

static void bench_sample(const struct hist *sample)
{
    struct hist *sum = hist_new();
    size_t len = hist_encode(sample, NULL, 0), written = 0;
    char *text = malloc(len + 1);
    uint64_t start = cpu_time_ns();

    if (!sum || !text)
        exit(1);
    for (unsigned i = 0; i < REPEATS; i++)
        hist_merge(sum, sample);
    print_row("merge a sample", cpu_time_ns() - start, REPEATS);
    start = cpu_time_ns();
    for (unsigned i = 0; i < REPEATS; i++)
        written += hist_encode(sample, text, len + 1);
    print_row("write its text", cpu_time_ns() - start, REPEATS);
    start = cpu_time_ns();
    for (unsigned i = 0; i < REPEATS; i++)
        if (hist_decode(sum, text) < 0)
            exit(1);
    print_row("read its text", cpu_time_ns() - start, REPEATS);
    start = cpu_time_ns();
    for (unsigned i = 0; i < REPEATS; i++)
        written += hist_quantile(sum, 0.99);
    print_row("p99", cpu_time_ns() - start, REPEATS);
    if (written == 0)
        exit(1);
    printf("A sample of %" PRIu64 " values: %zu bytes of text.\n", sample->count, len);
    free(text);
    hist_free(sum);
}

int main(void)
{
    static uint64_t values[VALUES];
    struct hist *h = hist_new();

    if (!h)
        return 1;
    make_values(values);
    printf("| %-34s | %10s |\n|%.36s|%.11s:|\n", "operation", "CPU ns",
           "------------------------------------", "-----------");
    bench_record(h, values);
    hist_reset(h);
    for (unsigned i = 0; i < VALUES; i++)
        hist_record(h, values[i]);
    bench_sample(h);
    hist_free(h);
    return 0;
}
