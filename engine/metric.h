/*
 * The metrics: one number a trial each, NaN where it was not measured. Statistics over
 * trials, references, thresholds and comparisons all speak of these. One more is a row
 * here and the place in engine/trial_metrics.c that works it out.
 */
#ifndef ENGINE_METRIC_H
#define ENGINE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * X(name, unit, better, help); unit is B, B/s, /s, s, ns, %, us; better is -1 when lower
 * is better, +1 when higher is.
 */
#define METRICS(X)                                                                       \
    X(seconds, "s", -1, "from the common start to the end of the last client")           \
    X(seconds_command, "s", -1, "and the start of the client, as a command is timed")    \
    X(offered_seconds, "s", -1, "in which load was offered")                             \
    X(received_seconds, "s", -1, "in which came what is counted as received")            \
    X(throughput, "B/s", 1, "application bytes received a second, both ways together")   \
    X(throughput_up, "B/s", 1, "application bytes received a second by the server")      \
    X(throughput_down, "B/s", 1, "application bytes received a second by the clients")   \
    X(received_per_second, "/s", 1, "messages received a second by the receiving end")   \
    X(requests_per_second, "/s", 1, "operations that ended well, a second")              \
    X(requests_per_second_stdev, "/s", -1, "of whole seconds; tenths if under two")      \
    X(requests_per_second_max, "/s", 1, "the best whole second or tenth")                \
    X(bytes_per_second, "B/s", 1, "bytes read a second by the clients, with framing")    \
    X(bytes_per_second_stdev, "B/s", -1, "of whole seconds; tenths if under two")        \
    X(bytes_per_second_max, "B/s", 1, "the best whole second or tenth")                  \
    X(read_bytes, "B", 1, "read by the clients in all, with framing")                    \
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
    X(error_percent, "%", -1, "of the operations: failed, timed out or overdue")         \
    X(unfinished_percent, "%", -1, "of the operations: open at the end, or never begun") \
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

/* The same for a value that is known to be at least that: ">= 4.00 s". */
void metric_format_bound(enum metric metric, double value, bool is_bound, char *text,
                         size_t size);

/* "1.20 … 1.35 s", the unit once where both have it; "-" when an end is unknown. */
void metric_format_interval(enum metric metric, double low, double high, char *text,
                            size_t size);

/*
 * How a value stands to another, of which it is `ratio` times as much, as people say it:
 * "15.2 x faster" for a time that is shorter, "2.00 x more" for a rate; "the same" where
 * three digits show no difference, "-" for what has no ratio.
 */
void metric_format_ratio(enum metric metric, double ratio, char *text, size_t size);

/* The most that it can be: 100 for a share of something, else infinity. */
double metric_most(enum metric metric);

#endif
