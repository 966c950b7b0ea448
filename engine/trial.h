/*
 * One trial: what the processes of one repetition measured, and what follows from it.
 * A trial is filled while it runs (trial_sample) and worked out once at its end
 * (trial_compute); after that nothing in it changes but that trial_drop_hists lets its
 * histograms go.
 */
#ifndef ENGINE_TRIAL_H
#define ENGINE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "engine/check.h"
#include "engine/metric.h"
#include "engine/process.h"
#include "engine/scenario.h"
#include "protocols/role.h"

/*
 * Loss, from both ends; -1 means not known (the receiver did not report, or is not
 * ours). None of these is ever negative otherwise.
 *
 * What of the lost the receiver's full buffer dropped is the kernel's count only if all
 * that was dropped there was the run's and each drop one message. Strangers' datagrams
 * and duplicates may have been dropped as well, and with GRO a drop may hold many
 * messages: then it lies between two bounds, and so does what remains unexplained.
 */
struct loss {
    int64_t attempted, refused, accepted;
    int64_t due;                      /* what was accepted, once for each receiver */
    int64_t received;                 /* each message once by each receiver */
    int64_t lost;                     /* due - received */
    int64_t overflow_least, overflow; /* of the lost: dropped at the full buffer */
    int64_t unexplained, unexplained_most;
    int64_t late, duplicate, out_of_order, foreign;
};

/* Quantities that are also kept by the second. X(name) */
#define SECOND_QUANTITIES(X) \
    X(throughput_bytes) X(up_bytes) X(received_messages) X(requests) X(read_bytes)

struct second {
#define X(name) double name;
    SECOND_QUANTITIES(X)
#undef X
    bool paused; /* load was paused in it, so it is left out of what is said of seconds */
};

/* Tenths of a second are kept of the first ten seconds, for runs too short for more. */
#define TRIAL_TENTHS 100

/* One quantity over the whole seconds of a trial; NaN where there are too few. */
struct second_summary {
    size_t count;
    double step_s; /* 1, or 0.1: then the values are rates a second all the same */
    double mean, stdev, max; /* the population's standard deviation */
};

/*
 * The times that rates divide by, in seconds, pauses and the warm-up taken out; NaN where
 * nothing was. What a sender did it did while load was offered. What a place received
 * came until its last receipt; on a schedule or one way, from its first receipt on and
 * for one mean gap more. It is never shorter than load was offered, so that a server that
 * stopped to answer is not called a fast one; and replies that came when no more load was
 * offered neither add to a rate nor dilute it, when they came slower than those before
 * them.
 */
struct trial_spans {
    double offered;
    double received[PLACE_COUNT];
    double begin; /* when that began, from the common start */
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
    double seconds; /* from the common start to the end of the last client */
    size_t process_count;
    struct process *processes;
    size_t second_count, second_room; /* whole and begun seconds */
    struct second *seconds_list;
    struct second tenths[TRIAL_TENTHS]; /* `paused` if samples are coarser, too */

    /* Worked out by trial_compute: */
    struct meter *places[PLACE_COUNT]; /* sums; freed by trial_drop_hists */
    struct meter_counters counters[PLACE_COUNT];
    struct trial_spans spans;
    struct tally errors, status; /* of the clients */
    struct tally labels;         /* of the server */
    struct hist_summary hists[PLACE_COUNT][METER_HIST_COUNT];
    struct loss loss;
    uint64_t overdue; /* see trial_compute */
    double metrics[METRIC_COUNT];
    bool is_bound[METRIC_COUNT]; /* the metric is at least that (protocols/survival.h) */
    size_t check_count;
    struct check checks[TRIAL_CHECKS];
};

/* An empty trial with room for the processes; 0 or -ENOMEM. */
int trial_init(struct trial *t, const struct scenario *scenario, unsigned number,
               size_t process_count);
void trial_done(struct trial *t);

/* The first cause wins; a worse outcome replaces a better one. `reason` may be NULL. */
void trial_set_outcome(struct trial *t, enum outcome outcome, const char *reason);

/* Load was paused between two instants of now_ns: takes that out of the clock. */
int trial_pause(struct trial *t, uint64_t from_ns, uint64_t to_ns);

/* Leave a second (from 0) out of what is said of seconds. 0 or -ENOMEM. */
int trial_pause_second(struct trial *t, size_t second);

/* Whether a second (from 0) lies within the time of receipt and is free of pauses. */
bool trial_second_counts(const struct trial *t, size_t second);

/* The same of a tenth below TRIAL_TENTHS; those of a second with a pause are not free. */
bool trial_tenth_counts(const struct trial *t, size_t tenth);

/* `offset` is that of a member of struct second. */
void trial_seconds(const struct trial *t, size_t offset, struct second_summary *s);

/* The same over whole tenths of a second. */
void trial_tenths(const struct trial *t, size_t offset, struct second_summary *s);

/* Over whole seconds, or over tenths where there are not two of them. */
void trial_rates(const struct trial *t, size_t offset, struct second_summary *s);

/* Add a sample to its process's sums and to the seconds. */
int trial_sample(struct trial *t, struct process *p, const struct sample *sample);

/*
 * Work everything out. `values` are the run's; after this the histograms of the places
 * may be merged elsewhere and then be given back by trial_drop_hists.
 *
 * What was open at the end, or due and never begun, is in the latencies of a scenario
 * whose operations are answered, as at least the time that it had waited. It is *overdue*
 * when it had waited much longer than nearly all that ended (survival_overdue), or when
 * there is more of it than the load has places for; what else is open is what a healthy
 * load has under way at any time, and no error.
 */
int trial_compute(struct trial *t, const struct options *values);
void trial_drop_hists(struct trial *t);

/* Whether a process waited so long for a core that other work distorts the trial. */
bool trial_was_crowded(const struct trial *t);

/*
 * Which end was the bottleneck, in words; "" when nothing can be said, or when something
 * ran out: then the outcome has said it.
 */
void trial_bottleneck(const struct trial *t, char *text, size_t size);

/*
 * What the sending of datagrams took, and the peak of its backlog if there was one; ""
 * for what is no datagrams or was not told. No full stop.
 */
void trial_sending(const struct trial *t, char *text, size_t size);

/* A part of the loss in words: "600", or "between 0 and 600", or "-" if not known. */
void loss_range(int64_t least, int64_t most, char *text, size_t size);

/*
 * What would make the receiver's buffer drop fewer datagrams, with its present size;
 * "" when it dropped none or did not report. No full stop.
 */
void trial_advice(const struct trial *t, char *text, size_t size);

#endif
