/*
 * One trial: what the processes of one repetition measured, and what follows from it.
 * A trial is filled while it runs (trial_sample, trial_done) and settled once at its
 * end (trial_settle); after that nothing in it changes.
 */
#ifndef ENGINE_TRIAL_H
#define ENGINE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "engine/sample.h"
#include "engine/scenario.h"
#include "protocols/role.h"

/*
 * The metrics: one number a trial each, NaN where it was not measured. Statistics over
 * trials, references, thresholds and comparisons all speak of these.
 * X(name, unit, better, help); unit is B/s, /s, s, ns, %, us; better is -1 when lower
 * is better, +1 when higher is.
 */
#define METRICS(X)                                                                       \
    X(seconds, "s", -1, "from the common start to the end of the last client")           \
    X(throughput, "B/s", 1, "application bytes received a second, both ways together")   \
    X(throughput_up, "B/s", 1, "application bytes received a second by the server")      \
    X(throughput_down, "B/s", 1, "application bytes received a second by the clients")   \
    X(received_per_second, "/s", 1, "messages received a second by the receiving end")   \
    X(requests_per_second, "/s", 1, "operations that ended well, a second")              \
    X(requests_per_second_stdev, "/s", -1, "of whole one-second intervals")              \
    X(requests_per_second_max, "/s", 1, "the best whole second")                         \
    X(bytes_per_second, "B/s", 1, "bytes read a second by the clients, with framing")    \
    X(bytes_per_second_stdev, "B/s", -1, "of whole one-second intervals")                \
    X(bytes_per_second_max, "B/s", 1, "the best whole second")                           \
    X(latency_mean_ns, "ns", -1, "mean latency of what ended well")                      \
    X(latency_stdev_ns, "ns", -1, "standard deviation of the latency")                   \
    X(latency_p50_ns, "ns", -1, "median latency")                                        \
    X(latency_p75_ns, "ns", -1, "75 % of latencies are at or below")                     \
    X(latency_p90_ns, "ns", -1, "90 % of latencies are at or below")                     \
    X(latency_p95_ns, "ns", -1, "95 % of latencies are at or below")                     \
    X(latency_p99_ns, "ns", -1, "99 % of latencies are at or below")                     \
    X(latency_p99_9_ns, "ns", -1, "99.9 % of latencies are at or below")                 \
    X(latency_p99_99_ns, "ns", -1, "99.99 % of latencies are at or below")               \
    X(latency_max_ns, "ns", -1, "the highest latency")                                   \
    X(loss_percent, "%", -1, "of the messages that the sender's kernel accepted")        \
    X(error_percent, "%", -1, "of the operations: failed or timed out")                  \
    X(client_cpu_us_per_message, "us", -1, "CPU time of the clients for a message")      \
    X(server_cpu_us_per_message, "us", -1, "CPU time of the server for a message")       \
    X(client_cpu_percent, "%", -1, "CPU of the busiest client process; 100 is one core") \
    X(server_cpu_percent, "%", -1, "CPU of the server process; 100 is one core")

enum metric {
#define X(name, unit, better, help) METRIC_##name,
    METRICS(X)
#undef X
        METRIC_COUNT
};

struct metric_row {
    const char *name;
    const char *unit;
    int better; /* -1 lower, +1 higher */
    const char *help;
};

const struct metric_row *metric_row(enum metric metric);
int metric_find(const char *name); /* METRIC_COUNT when there is none */

/* A value for people: "3.21 GB/s", "812 us", "0.04 %", "-" when unknown. */
void metric_format(enum metric metric, double value, char *text, size_t size);

/* What remains of a histogram when a trial is settled. */
#define QUANTILES(X) \
    X(p50, 0.5)      \
    X(p75, 0.75) X(p90, 0.9) X(p95, 0.95) X(p99, 0.99) X(p99_9, 0.999) X(p99_99, 0.9999)

struct hist_summary {
    uint64_t count;
    double mean, stdev;
    uint64_t min, max;
#define X(name, q) uint64_t name;
    QUANTILES(X)
#undef X
};

#define PROCESS_FACTS 12

struct fact {
    char name[32];
    char text[160];
};

/* One worker process of a trial. */
struct process {
    enum place place;
    unsigned index; /* at its place */
    pid_t pid;      /* on its own machine; 0 until ready */
    char endpoint[256];
    char boot[64]; /* whose clock it reads */
    bool ready;
    bool reported; /* it said done: totals are exact, not sums of samples */
    enum outcome outcome;
    char reason[320];
    struct sample totals;
    size_t fact_count;
    struct fact facts[PROCESS_FACTS];
};

/*
 * Loss, from both ends; -1 means not known (the receiver did not report, or is not
 * ours). None of these is ever negative otherwise.
 */
struct loss {
    int64_t attempted, refused, accepted;
    int64_t received; /* each message once */
    int64_t lost;     /* accepted - received */
    int64_t overflow; /* of the lost: dropped at the receiver's full buffer */
    int64_t unexplained;
    int64_t late, duplicate, out_of_order, foreign;
};

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_UNKNOWN };

#define TRIAL_CHECKS 12

/* A statement about the result itself: whether its numbers can be believed. */
struct check {
    const char *name; /* "identity" */
    enum verdict verdict;
    char detail[200]; /* with the figures */
};

/* Quantities that are also kept by the second. X(name) */
#define SECOND_QUANTITIES(X) \
    X(throughput_bytes) X(received_messages) X(requests) X(read_bytes)

struct second {
#define X(name) double name;
    SECOND_QUANTITIES(X)
#undef X
    bool paused; /* load was paused in it, so it is left out of what is said of seconds */
};

/* One quantity over the whole seconds of a trial; NaN where there are too few. */
struct second_summary {
    size_t count;
    double mean, stdev, max; /* the population's standard deviation */
};

struct trial {
    const struct scenario *scenario; /* borrowed */
    unsigned number;                 /* from 1 */
    time_t started;                  /* a label */
    uint64_t start_ns;               /* the common start; 0 before it */
    uint64_t paused_ns;              /* time paused, taken out of the clock */
    bool rate_changed;               /* while it ran */
    uint64_t warmup_ns;              /* load before what is measured, taken out too */
    enum outcome outcome;
    char reason[320];
    double seconds;
    size_t process_count;
    struct process *processes;
    size_t second_count, second_room; /* whole and begun seconds */
    struct second *seconds_list;

    /* Settled: */
    struct meter *places[PLACE_COUNT]; /* sums; freed by trial_shrink */
    struct meter_counters counters[PLACE_COUNT];
    struct tally errors, status,
        labels; /* errors and status of clients, labels of server */
    struct hist_summary hists[PLACE_COUNT][METER_HIST_COUNT];
    struct loss loss;
    double metrics[METRIC_COUNT];
    size_t check_count;
    struct check checks[TRIAL_CHECKS];
};

/* The place whose METER_HIST_latency is the scenario's latency. */
enum place scenario_latency_place(const struct scenario *s);

/* An empty trial with room for the processes; 0 or -ENOMEM. */
int trial_init(struct trial *t, const struct scenario *scenario, unsigned number,
               size_t process_count);
void trial_done(struct trial *t);

/* Load was paused between two instants of now_ns: takes that out of the clock. */
int trial_pause(struct trial *t, uint64_t from_ns, uint64_t to_ns);

/* Leave a second (from 0) out of what is said of seconds. 0 or -ENOMEM. */
int trial_pause_second(struct trial *t, size_t second);

/* Whether a second (from 0) is whole, within what is measured and free of pauses. */
bool trial_second_counts(const struct trial *t, size_t second);

/* `offset` is that of a member of struct second. */
void trial_seconds(const struct trial *t, size_t offset, struct second_summary *s);

/* Add a sample to its process's sums and to the seconds. */
int trial_sample(struct trial *t, struct process *p, const struct sample *sample);

/*
 * Work everything out. `values` are the run's; after this the histograms of the places
 * may be merged elsewhere and then be given back by trial_shrink.
 */
int trial_settle(struct trial *t, const struct options *values);
void trial_shrink(struct trial *t);

/* Whether a process waited so long for a core that other work distorts the trial. */
bool trial_was_crowded(const struct trial *t);

/*
 * Which end was the bottleneck, in words; "" when nothing can be said, or when something
 * ran out: then the outcome has said it.
 */
void trial_bottleneck(const struct trial *t, char *text, size_t size);

/*
 * What would make the receiver's buffer drop fewer datagrams, with its present size;
 * "" when it dropped none or did not report. No full stop.
 */
void trial_advice(const struct trial *t, char *text, size_t size);

void hist_summarise(struct hist_summary *summary, const struct hist *h);

/* NULL when the process did not say it. */
const char *process_fact(const struct process *p, const char *name);

#endif
