#include "engine/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bottleneck.h"
#include "engine/units.h"
#include "protocols/clock.h"

static const struct metric_row metric_rows[] = {
#define X(name, unit, better, help) {#name, unit, better, help},
    METRICS(X)
#undef X
};

const struct metric_row *metric_row(enum metric metric)
{
    return &metric_rows[metric];
}

int metric_find(const char *name)
{
    int i = 0;

    while (i < METRIC_COUNT && strcmp(metric_rows[i].name, name) != 0)
        i++;
    return i;
}

void metric_format(enum metric metric, double value, char *text, size_t size)
{
    const char *unit = metric_rows[metric].unit;
    char number[40];

    if (!isfinite(value)) {
        snprintf(text, size, "-");
        return;
    }
    if (strcmp(unit, "B/s") == 0) {
        units_format_bytes(value, number, sizeof(number));
        snprintf(text, size, "%s/s", number);
    } else if (strcmp(unit, "/s") == 0) {
        units_format_count(value, number, sizeof(number));
        snprintf(text, size, "%s/s", number);
    } else if (strcmp(unit, "%") == 0) {
        snprintf(text, size, "%.*f %%",
                 value != 0 && value < 1 ? 3
                 : value < 10            ? 2
                                         : 1,
                 value);
    } else {
        double ns = value * (*unit == 's' ? 1e9 : *unit == 'u' ? 1e3 : 1);

        units_format_duration(ns, text, size);
    }
}

enum place scenario_latency_place(const struct scenario *s)
{
    return s->family == FAMILY_UDP ? PLACE_SERVER : PLACE_CLIENT;
}

static const struct loss unknown_loss = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

int trial_init(struct trial *t, const struct scenario *scenario, unsigned number,
               size_t process_count)
{
    memset(t, 0, sizeof(*t));
    t->scenario = scenario;
    t->number = number;
    t->started = time(NULL);
    /* What is asked before the trial is settled is not known yet. */
    t->seconds = (double)NAN;
    t->loss = unknown_loss;
    for (int i = 0; i < METRIC_COUNT; i++)
        t->metrics[i] = (double)NAN;
    t->processes = calloc(process_count, sizeof(*t->processes));
    if (!t->processes)
        return -ENOMEM;
    for (size_t i = 0; i < process_count; i++) {
        if (sample_init(&t->processes[i].totals) < 0)
            return -ENOMEM;
        t->process_count++;
    }
    return 0;
}

void trial_shrink(struct trial *t)
{
    for (size_t i = 0; i < t->process_count; i++)
        sample_done(&t->processes[i].totals);
    for (int p = 0; p < PLACE_COUNT; p++) {
        meter_free(t->places[p]);
        t->places[p] = NULL;
    }
}

void trial_done(struct trial *t)
{
    trial_shrink(t);
    free(t->processes);
    free(t->seconds_list);
    memset(t, 0, sizeof(*t));
}

const char *process_fact(const struct process *p, const char *name)
{
    for (size_t i = 0; i < p->fact_count; i++)
        if (strcmp(p->facts[i].name, name) == 0)
            return p->facts[i].text;
    return NULL;
}

/* What one sample gives to the quantities that are kept by the second. */
static struct second quantities(const struct trial *t, enum place place,
                                const struct meter_counters *c)
{
    struct second s = {0};
    bool udp = t->scenario->family == FAMILY_UDP;

    s.throughput_bytes = (double)c->received_bytes;
    if (place == PLACE_ENDPOINT)
        s.throughput_bytes = 0;
    if (place == (udp ? PLACE_SERVER : PLACE_CLIENT))
        s.received_messages = (double)(udp ? c->unique : c->received_messages);
    if (place == PLACE_CLIENT) {
        s.requests = (double)c->succeeded;
        s.read_bytes =
            (double)(c->received_wire_bytes ? c->received_wire_bytes : c->received_bytes);
    }
    return s;
}

static int make_room(struct trial *t, size_t seconds)
{
    struct second *grown;

    if (seconds <= t->second_room)
        return 0;
    grown = realloc(t->seconds_list, 2 * seconds * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    memset(grown + t->second_room, 0, (2 * seconds - t->second_room) * sizeof(*grown));
    t->seconds_list = grown;
    t->second_room = 2 * seconds;
    return 0;
}

/* A sample that crosses a second is shared out by time. */
static int add_seconds(struct trial *t, enum place place, const struct sample *sample)
{
    uint64_t end = sample->at_ns;
    uint64_t begin = end > sample->span_ns ? end - sample->span_ns : 0;
    struct second q = quantities(t, place, &sample->meter->counters);
    size_t last = (size_t)(end / 1000000000u);

    if (make_room(t, last + 1) < 0)
        return -ENOMEM;
    if (last + 1 > t->second_count)
        t->second_count = last + 1;
    for (size_t i = (size_t)(begin / 1000000000u); i <= last && end > begin; i++) {
        uint64_t from = i * 1000000000u > begin ? i * 1000000000u : begin;
        uint64_t to = (i + 1) * 1000000000u < end ? (i + 1) * 1000000000u : end;
        double share = (double)(to - from) / (double)(end - begin);

#define X(name) t->seconds_list[i].name += q.name * share;
        SECOND_QUANTITIES(X)
#undef X
    }
    return 0;
}

int trial_pause_second(struct trial *t, size_t second)
{
    if (make_room(t, second + 1) < 0)
        return -ENOMEM;
    t->seconds_list[second].paused = true;
    return 0;
}

int trial_pause(struct trial *t, uint64_t from_ns, uint64_t to_ns)
{
    size_t first, last;

    if (from_ns < t->start_ns)
        from_ns = t->start_ns;
    if (!t->start_ns || to_ns <= from_ns)
        return 0;
    t->paused_ns += to_ns - from_ns;
    first = (size_t)((from_ns - t->start_ns) / 1000000000u);
    last = (size_t)((to_ns - t->start_ns) / 1000000000u);
    for (size_t i = first; i <= last; i++)
        if (trial_pause_second(t, i) < 0)
            return -ENOMEM;
    return 0;
}

int trial_sample(struct trial *t, struct process *p, const struct sample *sample)
{
    if (meter_merge(p->totals.meter, sample->meter) < 0)
        return -ENOMEM;
    p->totals.meter->gauges = sample->meter->gauges;
    p->totals.at_ns = sample->at_ns;
    p->totals.span_ns += sample->span_ns;
    process_use_add(&p->totals.use, &sample->use);
    p->totals.use.open_descriptors = sample->use.open_descriptors;
    return add_seconds(t, p->place, sample);
}

void hist_summarise(struct hist_summary *summary, const struct hist *h)
{
    memset(summary, 0, sizeof(*summary));
    if (!h || !h->count)
        return;
    summary->count = h->count;
    summary->mean = hist_mean(h);
    summary->stdev = hist_stdev(h);
    summary->min = h->min;
    summary->max = h->max;
#define X(name, q) summary->name = hist_quantile(h, q);
    QUANTILES(X)
#undef X
}

static bool has_place(const struct trial *t, enum place place)
{
    return t->places[place] != NULL;
}

static bool all_reported(const struct trial *t, enum place place)
{
    bool any = false;

    for (size_t i = 0; i < t->process_count; i++) {
        if (t->processes[i].place != place)
            continue;
        any = true;
        if (!t->processes[i].reported)
            return false;
    }
    return any;
}

static int sum_places(struct trial *t)
{
    for (size_t i = 0; i < t->process_count; i++) {
        struct process *p = &t->processes[i];

        if (!p->ready)
            continue;
        if (!t->places[p->place])
            t->places[p->place] = meter_new();
        if (!t->places[p->place] || meter_merge(t->places[p->place], p->totals.meter) < 0)
            return -ENOMEM;
    }
    for (int place = 0; place < PLACE_COUNT; place++) {
        const struct meter *m = t->places[place];

        if (!m)
            continue;
        t->counters[place] = m->counters;
        for (int h = 0; h < METER_HIST_COUNT; h++)
            hist_summarise(&t->hists[place][h], m->hists[h]);
    }
    if (has_place(t, PLACE_CLIENT)) {
        tally_merge(&t->errors, &t->places[PLACE_CLIENT]->errors);
        tally_merge(&t->status, &t->places[PLACE_CLIENT]->status);
    }
    if (has_place(t, PLACE_SERVER))
        tally_merge(&t->labels, &t->places[PLACE_SERVER]->labels);
    return 0;
}

/* The time of the trial: until the last client ended, pauses and warm-up taken out. */
static double clock_seconds(const struct trial *t)
{
    uint64_t out_ns = t->paused_ns + t->warmup_ns;
    uint64_t longest = 0;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];

        if (p->place == PLACE_CLIENT && p->totals.at_ns > longest)
            longest = p->totals.at_ns;
    }
    longest -= out_ns < longest ? out_ns : longest;
    return longest ? (double)longest / 1e9 : (double)NAN;
}

static void settle_loss(struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter_counters *s = &t->counters[PLACE_SERVER];
    struct loss *l = &t->loss;

    *l = unknown_loss;
    if (t->scenario->family != FAMILY_UDP || !has_place(t, PLACE_CLIENT))
        return;
    l->attempted = (int64_t)c->attempted;
    l->refused = (int64_t)c->refused;
    l->accepted = (int64_t)c->sent_messages;
    if (!all_reported(t, PLACE_SERVER) || !all_reported(t, PLACE_CLIENT))
        return;
    l->received = (int64_t)s->unique;
    l->late = (int64_t)s->late;
    l->duplicate = (int64_t)s->duplicate;
    l->out_of_order = (int64_t)s->out_of_order;
    l->foreign = (int64_t)s->foreign;
    /* More received than accepted cannot be: the check on counts says so. */
    l->lost = l->accepted > l->received ? l->accepted - l->received : 0;
    l->overflow = (int64_t)s->overflow < l->lost ? (int64_t)s->overflow : l->lost;
    l->unexplained = l->lost - l->overflow;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

static double second_quantity(const struct second *s, size_t offset)
{
    double value;

    memcpy(&value, (const char *)s + offset, sizeof(value));
    return value;
}

bool trial_second_counts(const struct trial *t, size_t second)
{
    double out = (double)(t->paused_ns + t->warmup_ns) / 1e9;

    return second < t->second_count && isfinite(t->seconds) &&
           (double)(second + 1) <= t->seconds + out &&
           second * NS_PER_S >= t->warmup_ns && !t->seconds_list[second].paused;
}

void trial_seconds(const struct trial *t, size_t offset, struct second_summary *s)
{
    double sum = 0;
    double squares = 0;

    *s = (struct second_summary){0, (double)NAN, (double)NAN, (double)NAN};
    for (size_t i = 0; i < t->second_count; i++) {
        double v = second_quantity(&t->seconds_list[i], offset);

        if (!trial_second_counts(t, i))
            continue;
        s->count++;
        sum += v;
        squares += v * v;
        if (!(v <= s->max))
            s->max = v;
    }
    if (s->count)
        s->mean = sum / (double)s->count;
    if (s->count > 1)
        s->stdev = sqrt(fmax(0, squares / (double)s->count - s->mean * s->mean));
}

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
    double percent = ratio((double)time_us * 1e5, loaded_ns(t, p));

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
                             ? ratio((double)cpu_us * 1e5, loaded_ns(t, p))
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

/* Of a single second no best one can be told; the rest of the run may pass it. */
static double best_second(const struct second_summary *s)
{
    return s->count > 1 ? s->max : (double)NAN;
}

static void settle_rates(struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter_counters *s = &t->counters[PLACE_SERVER];
    bool udp = t->scenario->family == FAMILY_UDP;
    bool bulk = t->scenario->family == FAMILY_BULK;
    bool stream = t->scenario->family & FAMILY_STREAM;
    bool client = has_place(t, PLACE_CLIENT);
    bool server = has_place(t, PLACE_SERVER);
    double *m = t->metrics;
    struct second_summary seconds;

    if (server && t->scenario->family != FAMILY_SERVICE)
        m[METRIC_throughput_up] = ratio((double)s->received_bytes, t->seconds);
    if (client && !udp)
        m[METRIC_throughput_down] = ratio((double)c->received_bytes, t->seconds);
    m[METRIC_throughput] = isnan(m[METRIC_throughput_up]) ? m[METRIC_throughput_down]
                           : isnan(m[METRIC_throughput_down])
                               ? m[METRIC_throughput_up]
                               : m[METRIC_throughput_up] + m[METRIC_throughput_down];
    /* What was sent to a server that does not report is half of the whole. */
    if (stream && !server && c->sent_bytes)
        m[METRIC_throughput] = (double)NAN;
    if (udp && server)
        m[METRIC_received_per_second] = ratio((double)s->unique, t->seconds);
    if (udp || bulk || !client)
        return;
    m[METRIC_received_per_second] = ratio((double)c->received_messages, t->seconds);
    m[METRIC_requests_per_second] = ratio((double)c->succeeded, t->seconds);
    trial_seconds(t, offsetof(struct second, requests), &seconds);
    m[METRIC_requests_per_second_stdev] = seconds.stdev;
    m[METRIC_requests_per_second_max] = best_second(&seconds);
    m[METRIC_bytes_per_second] = ratio(
        (double)(c->received_wire_bytes ? c->received_wire_bytes : c->received_bytes),
        t->seconds);
    trial_seconds(t, offsetof(struct second, read_bytes), &seconds);
    m[METRIC_bytes_per_second_stdev] = seconds.stdev;
    m[METRIC_bytes_per_second_max] = best_second(&seconds);
}

static void settle_latency(struct trial *t)
{
    const struct hist_summary *h =
        &t->hists[scenario_latency_place(t->scenario)][METER_HIST_latency];
    double *m = t->metrics;

    /* A bulk transfer has one latency, its duration: `seconds` says it. */
    if (!h->count || t->scenario->family == FAMILY_BULK)
        return;
    m[METRIC_latency_mean_ns] = h->mean;
    m[METRIC_latency_stdev_ns] = h->stdev;
    m[METRIC_latency_p50_ns] = (double)h->p50;
    m[METRIC_latency_p75_ns] = (double)h->p75;
    m[METRIC_latency_p90_ns] = (double)h->p90;
    m[METRIC_latency_p95_ns] = (double)h->p95;
    m[METRIC_latency_p99_ns] = (double)h->p99;
    m[METRIC_latency_p99_9_ns] = (double)h->p99_9;
    m[METRIC_latency_p99_99_ns] = (double)h->p99_99;
    m[METRIC_latency_max_ns] = (double)h->max;
}

static void settle_metrics(struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter_counters *s = &t->counters[PLACE_SERVER];
    double *m = t->metrics;

    for (int i = 0; i < METRIC_COUNT; i++)
        m[i] = (double)NAN;
    m[METRIC_seconds] = t->seconds;
    settle_rates(t);
    settle_latency(t);
    if (t->loss.lost >= 0)
        m[METRIC_loss_percent] =
            ratio(100.0 * (double)t->loss.lost, (double)t->loss.accepted);
    if (has_place(t, PLACE_CLIENT) && t->scenario->family != FAMILY_BULK)
        m[METRIC_error_percent] =
            ratio(100.0 * (double)(c->failed + c->timed_out), (double)c->attempted);
    m[METRIC_client_cpu_us_per_message] =
        ratio(place_cpu_us(t, PLACE_CLIENT), t->warmup_ns ? 0 : (double)c->sent_messages);
    m[METRIC_server_cpu_us_per_message] =
        ratio(place_cpu_us(t, PLACE_SERVER), (double)s->received_messages);
    m[METRIC_client_cpu_percent] = busiest_percent(t, PLACE_CLIENT);
    m[METRIC_server_cpu_percent] = busiest_percent(t, PLACE_SERVER);
}

static void add_check(struct trial *t, const char *name, enum verdict verdict,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_check(struct trial *t, const char *name, enum verdict verdict,
                      const char *format, ...)
{
    struct check *c = &t->checks[t->check_count];
    va_list args;

    if (t->check_count == TRIAL_CHECKS)
        return;
    t->check_count++;
    c->name = name;
    c->verdict = verdict;
    va_start(args, format);
    vsnprintf(c->detail, sizeof(c->detail), format, args);
    va_end(args);
}

static enum verdict verdict_of(bool holds)
{
    return holds ? VERDICT_PASS : VERDICT_FAIL;
}

static void check_identity(struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    uint64_t sum = c->succeeded + c->failed + c->timed_out + c->unfinished;

    if (!all_reported(t, PLACE_CLIENT)) {
        add_check(t, "identity", VERDICT_UNKNOWN, "a client did not report its totals");
        return;
    }
    add_check(t, "identity", verdict_of(sum == c->attempted),
              "%" PRIu64 " attempted = %" PRIu64 " succeeded + %" PRIu64
              " failed + %" PRIu64 " timed out + %" PRIu64 " unfinished",
              c->attempted, c->succeeded, c->failed, c->timed_out, c->unfinished);
}

/* Streams lose nothing: what one end sent the other has received. */
static void check_streams(struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter_counters *s = &t->counters[PLACE_SERVER];

    if (!all_reported(t, PLACE_SERVER) || !all_reported(t, PLACE_CLIENT)) {
        add_check(t, "counts at both ends", VERDICT_UNKNOWN, "only one end was measured");
        return;
    }
    if (t->outcome != OUTCOME_COMPLETED || c->failed || c->timed_out) {
        add_check(t, "counts at both ends", VERDICT_UNKNOWN,
                  "transfers were cut short; sent %" PRIu64 " and %" PRIu64
                  " B, received %" PRIu64 " and %" PRIu64 " B (client and server)",
                  c->sent_bytes, s->sent_bytes, c->received_bytes, s->received_bytes);
        return;
    }
    add_check(t, "counts at both ends",
              verdict_of(c->sent_bytes == s->received_bytes &&
                         s->sent_bytes == c->received_bytes),
              "up %" PRIu64 " B sent, %" PRIu64 " B received; down %" PRIu64
              " B sent, %" PRIu64 " B received",
              c->sent_bytes, s->received_bytes, s->sent_bytes, c->received_bytes);
}

/* A fact that is a CRC-32, added to *sum. False when it was not told. */
static bool add_crc32(const struct process *p, const char *name, uint32_t *sum)
{
    const char *text = process_fact(p, name);

    if (text)
        *sum += (uint32_t)strtoul(text, NULL, 16);
    return text != NULL;
}

/*
 * Each client's bytes against the server's; of several clients the sums are compared,
 * since the server does not know which connection is whose.
 */
static void check_checksums(struct trial *t)
{
    uint32_t up[2] = {0}, down[2] = {0}; /* sent, received */
    unsigned clients = 0, sent_up = 0, got_down = 0;
    bool got_up = false, sent_down = false;
    char text[2][64] = {"nothing", "nothing"};
    uint32_t content = 0;

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];

        if (p->place == PLACE_SERVER) {
            got_up = add_crc32(p, "received_crc32", &up[1]);
            sent_down = add_crc32(p, "sent_crc32", &content);
            continue;
        }
        clients++;
        sent_up += add_crc32(p, "sent_crc32", &up[0]);
        got_down += add_crc32(p, "received_crc32", &down[1]);
    }
    got_up = got_up && sent_up == clients;
    sent_down = sent_down && got_down == clients;
    down[0] = content * clients;
    if (!got_up && !sent_down)
        return;
    if (got_up)
        snprintf(text[0], sizeof(text[0]), "%08" PRIx32 " sent, %08" PRIx32 " received",
                 up[0], up[1]);
    if (sent_down)
        snprintf(text[1], sizeof(text[1]), "%08" PRIx32 " sent, %08" PRIx32 " received",
                 down[0], down[1]);
    add_check(
        t, "checksums",
        verdict_of((!got_up || up[0] == up[1]) && (!sent_down || down[0] == down[1])),
        "%s up %s; down %s", clients > 1 ? "sums of CRC-32" : "CRC-32", text[0], text[1]);
}

static void check_datagrams(struct trial *t)
{
    const struct loss *l = &t->loss;
    int64_t unsent = (int64_t)t->counters[PLACE_CLIENT].unfinished;

    if (l->lost < 0) {
        add_check(t, "counts at both ends", VERDICT_UNKNOWN,
                  "the receiver's report is missing, so the loss is not known");
        return;
    }
    add_check(t, "counts at both ends",
              verdict_of(l->accepted == l->received + l->lost &&
                         l->attempted == l->accepted + l->refused + unsent),
              "%" PRId64 " attempted = %" PRId64 " accepted + %" PRId64
              " refused + %" PRId64 " never handed over; accepted = %" PRId64
              " received + %" PRId64 " lost",
              l->attempted, l->accepted, l->refused, unsent, l->received, l->lost);
    add_check(t, "loss explained", verdict_of(l->unexplained == 0),
              "%" PRId64 " lost = %" PRId64
              " dropped at the full receive buffer + %" PRId64 " unexplained",
              l->lost, l->overflow, l->unexplained);
}

/* Concurrency is throughput times mean time in the system (Little, 1961). */
static void check_little(struct trial *t, const struct options *values)
{
    const struct hist_summary *h = &t->hists[PLACE_CLIENT][METER_HIST_latency];
    bool web = t->scenario->family & FAMILY_WEB;
    double slots =
        (double)options_number(values, web ? "connections" : "concurrency", 0) *
        (double)options_number(values, "pipelining", 1);
    double mean = (double)h->count * h->mean / 1e9 / t->seconds;

    if (!h->count || options_number(values, "rate", 0) || !isfinite(mean) || slots <= 0)
        return;
    if ((double)t->counters[PLACE_CLIENT].attempted < slots)
        slots = (double)t->counters[PLACE_CLIENT].attempted;
    add_check(t, "Little's law", verdict_of(mean <= slots * 1.02),
              "throughput x mean latency = %.2f requests under way, %.0f at most", mean,
              slots);
}

static void check_pacing(struct trial *t, const struct options *values)
{
    const struct hist_summary *h = &t->hists[PLACE_CLIENT][METER_HIST_pacing];
    double rate = (double)options_number(values, "rate", 0);
    double achieved = ratio((double)t->counters[PLACE_CLIENT].attempted, t->seconds);
    char p50[24], p99[24];

    if (rate <= 0)
        return;
    units_format_duration((double)h->p50, p50, sizeof(p50));
    units_format_duration((double)h->p99, p99, sizeof(p99));
    if (t->rate_changed) {
        add_check(t, "rate kept", VERDICT_UNKNOWN,
                  "the rate was changed while it ran, last to %.0f/s; sends were late by "
                  "%s (p50), %s (p99)",
                  rate, p50, p99);
        return;
    }
    add_check(t, "rate kept", verdict_of(achieved >= 0.98 * rate),
              "%.0f/s asked, %.0f/s started; sends were late by %s (p50), %s (p99)", rate,
              achieved, p50, p99);
}

static void check_generator(struct trial *t)
{
    double client = t->metrics[METRIC_client_cpu_percent];
    double server = t->metrics[METRIC_server_cpu_percent];

    if (!isfinite(client))
        return;
    if (t->scenario->family == FAMILY_BULK || t->scenario->family == FAMILY_UDP)
        return; /* both ends are what is measured */
    add_check(t, "generator not saturated",
              verdict_of(client < BUSY_PERCENT || (isfinite(server) && server > client)),
              "the busiest client process used %.0f %% of a core", client);
}

static void check_percentiles(struct trial *t)
{
    const struct hist_summary *h =
        &t->hists[scenario_latency_place(t->scenario)][METER_HIST_latency];

    if (!h->count || t->scenario->family == FAMILY_BULK)
        return;
    /* A percentile wants ten values beyond it, or it is an accident of one. */
    add_check(t, "enough for the percentiles",
              h->count >= 1000 ? VERDICT_PASS : VERDICT_UNKNOWN,
              "%" PRIu64 " latencies carry %s; p99 needs 1,000, p99.9 10,000", h->count,
              h->count >= 100000  ? "all percentiles shown"
              : h->count >= 10000 ? "p99.9"
              : h->count >= 1000  ? "p99"
              : h->count >= 100   ? "p90"
              : h->count >= 20    ? "the median"
                                  : "no percentile");
}

static void settle_checks(struct trial *t, const struct options *values)
{
    if (!has_place(t, PLACE_CLIENT))
        return;
    if (t->scenario->family != FAMILY_BULK)
        check_identity(t);
    if (t->scenario->family & FAMILY_STREAM)
        check_streams(t);
    if (t->scenario->family == FAMILY_BULK)
        check_checksums(t);
    if (t->scenario->family == FAMILY_UDP)
        check_datagrams(t);
    check_little(t, values);
    check_pacing(t, values);
    check_generator(t);
    check_percentiles(t);
}

/* How most requests ended that had no reply. */
static const char *common_end(const struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct tally_row *most = NULL;

    if (c->unfinished > c->failed && c->unfinished > c->timed_out)
        return "no reply before the end";
    if (c->timed_out > c->failed)
        return "no reply in time";
    for (size_t i = 0; i < t->errors.used; i++)
        if (!most || t->errors.rows[i].count > most->count)
            most = &t->errors.rows[i];
    return most ? most->name : "not known why";
}

/*
 * Requests of which not one had a reply have measured no server. A reply with a bad
 * status is one.
 */
static void settle_answers(struct trial *t)
{
    uint64_t attempted = t->counters[PLACE_CLIENT].attempted;

    if (!(t->scenario->family & FAMILY_WEB) || t->outcome != OUTCOME_COMPLETED ||
        t->counters[PLACE_CLIENT].succeeded ||
        t->hists[PLACE_CLIENT][METER_HIST_first_byte].count)
        return;
    t->outcome = OUTCOME_FAILED;
    if (attempted)
        snprintf(t->reason, sizeof(t->reason),
                 "none of %" PRIu64 " requests was answered; mostly: %s", attempted,
                 common_end(t));
    else
        snprintf(t->reason, sizeof(t->reason),
                 "no request was sent: the load ended before a connection was there");
}

int trial_settle(struct trial *t, const struct options *values)
{
    int rc = sum_places(t);

    if (t->scenario->family & FAMILY_WEB)
        t->warmup_ns = options_number(values, "warmup", 0);
    t->seconds = clock_seconds(t);
    settle_loss(t);
    settle_answers(t);
    settle_metrics(t);
    settle_checks(t, values);
    return rc;
}

/* Share of the time that a place's processes were ready and had no core. */
static double waited_percent(const struct trial *t, enum place place)
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
        b.waited_percent[p] = waited_percent(t, (enum place)p);
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

/* 0 when it was not told. */
static uint64_t fact_number(const struct process *p, const char *name)
{
    const char *text = process_fact(p, name);

    return text ? strtoull(text, NULL, 10) : 0;
}

void trial_advice(const struct trial *t, char *text, size_t size)
{
    const struct process *server = NULL;
    uint64_t bytes, most;
    char have[32], command[96];

    text[0] = '\0';
    for (size_t i = 0; i < t->process_count; i++)
        if (t->processes[i].place == PLACE_SERVER)
            server = &t->processes[i];
    if (t->loss.overflow <= 0 || !server)
        return;
    bytes = fact_number(server, "receive_buffer_bytes");
    most = fact_number(server, "receive_buffer_limit_bytes");
    units_format_bytes((double)bytes, have, sizeof(have));
    /* The kernel doubles what it is asked for. */
    if (bytes < 2 * most)
        snprintf(command, sizeof(command), "--receive-buffer %" PRIu64, most);
    else
        snprintf(command, sizeof(command), "sysctl -w net.core.rmem_max=%" PRIu64,
                 4 * (most ? most : bytes));
    snprintf(text, size, "a larger receive buffer (it has %s; %s), or a lower --rate",
             have, command);
}
