/*
 * What a flow reports to. A meter holds the counters, gauges, tallies and latency
 * histograms of the open interval; every 100 ms the worker closes the interval
 * into a sample and the meter starts again at zero. A process has one meter and
 * one writer, so there are no locks.
 *
 * What the numbers mean:
 *  - *bytes* are application bytes: a file's, a body's, a datagram's payload.
 *    *wire bytes* add the framing that the process itself wrote or read (HTTP
 *    heads); headers of TCP, UDP and IP are never counted.
 *  - *messages* are application messages: a request, a reply, a datagram.
 *  - *sent* means accepted by the kernel; *received* means read by the process.
 *  - attempted = succeeded + failed + timed_out + unfinished, at the end of a run. What
 *    a schedule wanted begun and was not is never_begun, and not among the attempted.
 *  - a latency starts at the intended time where there is a schedule (response
 *    time) and at the start of the operation elsewhere (service time).
 */
#ifndef PROTOCOLS_METER_H
#define PROTOCOLS_METER_H

#include <stdint.h>

#include "protocols/hist.h"
#include "protocols/tally.h"

/*
 * Counters: additive, so intervals and processes may be summed. A further counter
 * is one line here; sample, channel, JSON and CSV follow. X(name, unit, help)
 */
#define METER_COUNTERS(X)                                                            \
    X(sent_bytes, "B", "application bytes accepted by the kernel")                   \
    X(received_bytes, "B", "application bytes received")                             \
    X(sent_wire_bytes, "B", "bytes sent with protocol framing")                      \
    X(received_wire_bytes, "B", "bytes received with protocol framing")              \
    X(sent_messages, "messages", "messages accepted by the kernel")                  \
    X(received_messages, "messages", "messages received")                            \
    X(connections, "connections", "connections opened or accepted")                  \
    X(attempted, "requests", "operations started")                                   \
    X(succeeded, "requests", "operations that ended well")                           \
    X(drained, "requests", "of these: ended after load had been offered")            \
    X(failed, "requests", "operations that ended in an error, by kind in errors")    \
    X(timed_out, "requests", "operations given up after the timeout")                \
    X(unfinished, "requests", "operations still open at the end")                    \
    X(never_begun, "requests", "due by the schedule and not begun before the end")   \
    X(refused, "messages", "messages that the sender's kernel did not accept")       \
    X(expected, "messages", "stamped messages that the sequence numbers seen imply") \
    X(unique, "messages", "messages received, each sequence number once")            \
    X(duplicate, "messages", "messages received again")                              \
    X(out_of_order, "messages", "messages received after one with a higher number")  \
    X(late, "messages", "messages received after the drain had ended")               \
    X(overflow, "messages", "messages dropped because the receive buffer was full")  \
    X(drops, "drops", "drops at the full buffer as the kernel counts them")          \
    X(foreign, "messages", "datagrams that are not this run's")                      \
    X(turns, "turns", "turns of the event loop that the sending took")               \
    X(send_calls, "calls", "system calls that sent, or tried to")

/* Gauges: the value when the interval closes. X(name, unit, help) */
#define METER_GAUGES(X)                                                            \
    X(open_connections, "connections", "connections open now")                     \
    X(in_flight, "requests", "operations started and not ended")                   \
    X(backlog, "messages", "due by the schedule or handed over, and not yet sent") \
    X(receive_queue_bytes, "B", "bytes waiting in the receive buffer")

/*
 * Latency histograms, in ns; a role records into those that have meaning for it.
 * The first is the headline that the live charts show. X(name, help)
 */
#define METER_HISTS(X)                                                          \
    X(latency, "response time where there is a rate, service time elsewhere")   \
    X(service, "from the real start of an operation to its end")                \
    X(failure, "of operations that failed or were timed out")                   \
    X(unfinished, "how long operations that were open at the end had waited")   \
    X(spawn, "from posix_spawn to the first instruction of the client program") \
    X(connect, "connection set-up")                                             \
    X(lookup, "a name lookup, where each message has one")                      \
    X(exchange,                                                                 \
      "from the first byte sent to the last received, connection set-up apart") \
    X(first_byte, "from the request sent to the first byte of the reply")       \
    X(upstream, "an endpoint's call to its microservice")                       \
    X(pacing, "real send time less intended send time")                         \
    X(generator, "of the pacing: due, with room for it, and not sent")          \
    X(jitter, "difference of the latencies of successive messages")

/*
 * Spans: from the first to the last instant at which something was done. X(name, help)
 * A rate divides what it counts by the time of that.
 */
#define METER_SPANS(X)                                                            \
    X(offered, "load was offered: from its beginning until no more was to begin") \
    X(received, "messages were received")

struct meter_counters {
#define X(name, unit, help) uint64_t name;
    METER_COUNTERS(X)
#undef X
};

struct meter_gauges {
#define X(name, unit, help) uint64_t name;
    METER_GAUGES(X)
#undef X
};

/*
 * Instants of now_ns; last_ns 0: never. In the totals that a process reports they are ns
 * since the start of the trial.
 */
struct meter_span {
    uint64_t first_ns, last_ns;
};

enum meter_hist {
#define X(name, help) METER_HIST_##name,
    METER_HISTS(X)
#undef X
        METER_HIST_COUNT
};

/* Tallies. X(name, help) */
#define METER_TALLIES(X)                              \
    X(errors, "failed operations by phase and errno") \
    X(status, "replies by status code")               \
    X(labels, "messages received by label")

struct meter {
    struct meter_counters counters;
    struct meter_gauges gauges;
#define X(name, help) struct meter_span name;
    METER_SPANS(X)
#undef X
#define X(name, help) struct tally name;
    METER_TALLIES(X)
#undef X
    struct hist *hists[METER_HIST_COUNT]; /* NULL until meter_use; owned */
};

/* An empty meter on the heap, NULL when out of memory. Counters may be written at once.
 */
struct meter *meter_new(void);
void meter_free(struct meter *m);

/*
 * Allocate one histogram, for the role that will record into it. Call it when the
 * role is prepared, not per message. Returns 0 or -ENOMEM; again is harmless.
 */
int meter_use(struct meter *m, enum meter_hist which);

/* Record into a histogram that meter_use has allocated. */
static inline void meter_record(struct meter *m, enum meter_hist which, uint64_t value_ns)
{
    hist_record(m->hists[which], value_ns);
}

/* At an instant it was done, not before the last such one. */
static inline void meter_span_reach(struct meter_span *s, uint64_t at_ns)
{
    if (!s->last_ns)
        s->first_ns = at_ns;
    s->last_ns = at_ns;
}

/* Counters, tallies, histograms and spans back to zero; gauges stay. */
void meter_reset(struct meter *m);

/*
 * A summary of the latencies with what was unfinished taken in (protocols/survival.h);
 * NULL is an empty meter.
 */
void meter_latency(struct hist_summary *s, const struct meter *m);

/* Make the instants of the spans those since a start. */
void meter_spans_since(struct meter *m, uint64_t start_ns);

/*
 * Add the counters, tallies and histograms of `from`; gauges are summed as well, and
 * spans reach over both.
 */
int meter_merge(struct meter *into, const struct meter *from);

#endif
