/* The metrics of a trial, and which end was busy: declared in engine/trial.h. */
#include <math.h>
#include <string.h>

#include "engine/bottleneck.h"
#include "engine/trial_parts.h"
#include "protocols/survival.h"

/*
 * The time in which a process had something to do: a server waits for what may still
 * come after the load has ended, and that is no idleness of its own.
 */
static double loaded_ns(const struct trial *t, const struct process *p)
{
    double span_ns = (double)p->totals.span_ns;

    return p->place == PLACE_CLIENT
               ? span_ns
               : fmin(span_ns, t->seconds * 1e9 + (double)t->warmup_ns);
}

/*
 * A time of one thread as a share of that. The kernel books a wait when it ends, and a
 * server works off what has queued up, so in a short run it may reach beyond.
 */
static double share_percent(const struct trial *t, const struct process *p,
                            uint64_t time_us)
{
    double percent = trial_ratio((double)time_us * 1e5, loaded_ns(t, p));

    return percent > 100 ? 100 : percent;
}

/* CPU of the busiest process of a place, as a share of one core. */
static double busiest_percent(const struct trial *t, enum place place)
{
    double most = (double)NAN;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];
        uint64_t cpu_us = p->totals.use.cpu_user_us + p->totals.use.cpu_system_us;
        /* A client's own clients, one a request, may use several cores. */
        double percent = place == PLACE_CLIENT
                             ? trial_ratio((double)cpu_us * 1e5, loaded_ns(t, p))
                             : share_percent(t, p, cpu_us);

        if (p->place == place && p->ready && !(percent <= most))
            most = percent;
    }
    return most;
}

static double place_cpu_us(const struct trial *t, enum place place)
{
    double us = (double)NAN;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];

        if (p->place == place && p->ready)
            us = (isnan(us) ? 0 : us) +
                 (double)(p->totals.use.cpu_user_us + p->totals.use.cpu_system_us);
    }
    return us;
}

double trial_received_seconds(const struct trial *t)
{
    double server_s = t->spans.received[PLACE_SERVER];
    double client_s = t->spans.received[PLACE_CLIENT];

    if (t->scenario->family->one_way)
        return server_s;
    return t->scenario->family->answered ? client_s : fmax(server_s, client_s);
}

/* Of a single interval no best one can be told; the rest of the run may pass it. */
static double best_second(const struct second_summary *s)
{
    return s->count > 1 ? s->max : (double)NAN;
}

static void compute_rates(struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter_counters *s = &t->counters[PLACE_SERVER];
    const struct family *family = t->scenario->family;
    bool client = trial_has_place(t, PLACE_CLIENT);
    bool server = trial_has_place(t, PLACE_SERVER);
    double server_s = t->spans.received[PLACE_SERVER];
    double client_s = t->spans.received[PLACE_CLIENT];
    double *m = t->metrics;
    struct second_summary seconds;

    if (server && !family->load)
        m[METRIC_throughput_up] = trial_ratio((double)s->received_bytes, server_s);
    if (client && !family->one_way)
        m[METRIC_throughput_down] = trial_ratio((double)c->received_bytes, client_s);
    m[METRIC_throughput] = isnan(m[METRIC_throughput_up]) ? m[METRIC_throughput_down]
                           : isnan(m[METRIC_throughput_down])
                               ? m[METRIC_throughput_up]
                               : m[METRIC_throughput_up] + m[METRIC_throughput_down];
    /* What was sent to a server that does not report is half of the whole. */
    if (!family->one_way && !family->load && !server && c->sent_bytes)
        m[METRIC_throughput] = (double)NAN;
    if (family->one_way && server)
        m[METRIC_received_per_second] =
            trial_ratio((double)family_received(family, s), server_s);
    if (!family->answered || !client)
        return;
    m[METRIC_received_per_second] =
        trial_ratio((double)family_received(family, c), client_s);
    m[METRIC_requests_per_second] = trial_ratio((double)c->succeeded, client_s);
    trial_rates(t, offsetof(struct second, requests), &seconds);
    m[METRIC_requests_per_second_stdev] = seconds.stdev;
    m[METRIC_requests_per_second_max] = best_second(&seconds);
    m[METRIC_read_bytes] =
        (double)(c->received_wire_bytes ? c->received_wire_bytes : c->received_bytes);
    m[METRIC_bytes_per_second] = trial_ratio(m[METRIC_read_bytes], client_s);
    trial_rates(t, offsetof(struct second, read_bytes), &seconds);
    m[METRIC_bytes_per_second_stdev] = seconds.stdev;
    m[METRIC_bytes_per_second_max] = best_second(&seconds);
}

static void compute_latency(struct trial *t)
{
    const struct hist_summary *h =
        &t->hists[t->scenario->family->latency_place][METER_HIST_latency];
    double *m = t->metrics;

    /* A transfer has one latency, its duration: `seconds` says it. */
    if (!(h->count || h->open) || !t->scenario->family->operations)
        return;
    m[METRIC_latency_mean_ns] = h->mean;
    m[METRIC_latency_stdev_ns] = h->stdev;
    m[METRIC_latency_max_ns] = (double)h->max;
    t->is_bound[METRIC_latency_mean_ns] = t->is_bound[METRIC_latency_stdev_ns] =
        t->is_bound[METRIC_latency_max_ns] = survival_is_bound(h, 1);
#define X(name, q)                                   \
    m[METRIC_latency_##name##_ns] = (double)h->name; \
    t->is_bound[METRIC_latency_##name##_ns] = survival_is_bound(h, q);
    QUANTILES(X)
#undef X
}

/* What failed and what did not end, of all that was begun or should have been. */
static void compute_shares(struct trial *t, const struct options *values)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    double all = (double)(c->attempted + c->never_begun);
    uint64_t overdue = trial_judges_overdue(values) ? t->overdue : 0;

    if (!trial_has_place(t, PLACE_CLIENT) || !t->scenario->family->operations)
        return;
    t->metrics[METRIC_error_percent] =
        trial_ratio(100.0 * (double)(c->failed + c->timed_out + overdue), all);
    t->metrics[METRIC_unfinished_percent] =
        trial_ratio(100.0 * (double)(c->unfinished + c->never_begun), all);
}

/* Until the last client's process was ready; NaN when it is not known. */
static double slowest_start_s(const struct trial *t)
{
    double most = (double)NAN;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];
        double s = (double)p->start_ns / 1e9;

        if (p->place == PLACE_CLIENT && s > 0 && !(s <= most))
            most = s;
    }
    return most;
}

void trial_compute_metrics(struct trial *t, const struct options *values)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter_counters *s = &t->counters[PLACE_SERVER];
    double *m = t->metrics;

    for (int i = 0; i < METRIC_COUNT; i++)
        m[i] = (double)NAN;
    memset(t->is_bound, 0, sizeof(t->is_bound));
    m[METRIC_seconds] = t->seconds;
    m[METRIC_seconds_command] = t->seconds + slowest_start_s(t);
    m[METRIC_offered_seconds] = t->spans.offered;
    m[METRIC_received_seconds] = trial_received_seconds(t);
    compute_rates(t);
    compute_latency(t);
    if (t->loss.lost >= 0)
        m[METRIC_loss_percent] =
            trial_ratio(100.0 * (double)t->loss.lost, (double)t->loss.due);
    compute_shares(t, values);
    m[METRIC_client_cpu_us_per_message] = trial_ratio(
        place_cpu_us(t, PLACE_CLIENT), t->warmup_ns ? 0 : (double)c->sent_messages);
    m[METRIC_server_cpu_us_per_message] =
        trial_ratio(place_cpu_us(t, PLACE_SERVER), (double)s->received_messages);
    m[METRIC_client_cpu_percent] = busiest_percent(t, PLACE_CLIENT);
    m[METRIC_server_cpu_percent] = busiest_percent(t, PLACE_SERVER);
}

double trial_waited_percent(const struct trial *t, enum place place)
{
    double most = (double)NAN;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];
        double percent = share_percent(t, p, p->totals.use.run_wait_us);

        if (p->place == place && p->ready && !(percent <= most))
            most = percent;
    }
    return most;
}

static struct busy trial_busy(const struct trial *t)
{
    struct busy b = busy_unknown();

    for (int p = 0; p < PLACE_COUNT; p++) {
        b.cpu_percent[p] = busiest_percent(t, (enum place)p);
        b.waited_percent[p] = trial_waited_percent(t, (enum place)p);
    }
    return b;
}

bool trial_was_crowded(const struct trial *t)
{
    struct busy b = trial_busy(t);

    return busy_is_crowded(&b);
}

void trial_bottleneck(const struct trial *t, char *text, size_t size)
{
    struct busy b = trial_busy(t);

    text[0] = '\0';
    if (t->outcome != OUTCOME_EXHAUSTED) /* what ran out is the limit */
        bottleneck_find(&b, text, size);
}
