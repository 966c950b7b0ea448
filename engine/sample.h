/*
 * A sample: one closed interval of one worker process, as plain values. Everything in
 * it but the gauges is a delta, so samples of successive intervals, and of several
 * processes at one place, add up. A sample closes every SAMPLE_STEP_MS; when the
 * console is slow to read, a worker does not wait: it leaves the interval open and its
 * next sample covers a longer span.
 */
#ifndef ENGINE_SAMPLE_H
#define ENGINE_SAMPLE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocols/meter.h"

#define SAMPLE_STEP_MS 100
#define SAMPLE_STEP_NS (SAMPLE_STEP_MS * 1000000ull)

/* What the process used in the interval. X(name, unit, help) */
#define PROCESS_COUNTERS(X)                                                         \
    X(cpu_user_us, "us", "CPU time in user mode")                                   \
    X(cpu_system_us, "us", "CPU time in the kernel")                                \
    X(voluntary_switches, "switches", "times the process gave the CPU up to wait")  \
    X(involuntary_switches, "switches", "times the CPU was taken from the process") \
    X(run_wait_us, "us", "time ready to run and waiting for a CPU")

/* X(name, unit, help) */
#define PROCESS_GAUGES(X)                                               \
    X(max_rss_bytes, "B", "largest resident memory so far")             \
    X(clock_late_us, "us", "how late its own samples were at the most") \
    X(open_descriptors, "descriptors", "file descriptors open now")

struct process_use {
#define X(name, unit, help) uint64_t name;
    PROCESS_COUNTERS(X)
    PROCESS_GAUGES(X)
#undef X
};

struct sample {
    uint64_t at_ns;   /* when it closed, since the start of the trial */
    uint64_t span_ns; /* the time it covers */
    struct process_use use;
    struct meter *meter; /* counters, gauges, tallies; of the histograms the headline */
};

/* A sample with an empty meter that has its headline histogram. 0 or -ENOMEM. */
int sample_init(struct sample *s);
void sample_done(struct sample *s);

/*
 * What this process has used since it began (getrusage(2), /proc/self/schedstat), but
 * for the descriptors, which are expensive to count.
 */
void process_use_read(struct process_use *use);

/* How many it has open. Linux before 6.2 has only a list: 3 us for each. */
uint64_t process_descriptors(void);

/* later - earlier for the counters; the gauges of `later`. */
void process_use_subtract(struct process_use *later, const struct process_use *earlier);

/* Counters are added; of the gauges descriptors take the sum and the others the larger.
 */
void process_use_add(struct process_use *into, const struct process_use *use);

/*
 * To and from JSON, in place: the names are those of the X-lists, zero counters are
 * left out. `all` writes every histogram (for the end of a trial), otherwise the
 * headline alone. Decoding resets the meter first; -EINVAL for what is malformed.
 */
int sample_encode(const struct sample *s, bool all, cJSON *object);
int sample_decode(struct sample *s, const cJSON *object);

#endif
