/* Whether the numbers of a trial can be believed: declared in engine/trial.h. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bottleneck.h"
#include "engine/trial_parts.h"
#include "engine/units.h"

/* Less is no fault of a generator, whatever the latency. */
#define OWN_LATE_NS 1000000u

/* A process's samples are due every 100 ms: three are missing. */
#define CLOCK_LATE_US 300000u

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

    if (!trial_all_reported(t, PLACE_CLIENT)) {
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

    if (!trial_all_reported(t, PLACE_SERVER) || !trial_all_reported(t, PLACE_CLIENT)) {
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

/* One step of a way through services: what was asked and answered, at both its ends. */
struct hop {
    const char *from, *to;
    uint64_t asked, heard, answered, got; /* messages */
    uint64_t asked_bytes, heard_bytes, answered_bytes, got_bytes;
};

static bool hop_agrees(const struct hop *h)
{
    return h->asked == h->heard && h->answered == h->got &&
           h->asked_bytes == h->heard_bytes && h->answered_bytes == h->got_bytes;
}

/* What the nearer end asked is filled in; the farther end is a service's counters. */
static void hop_ends(struct hop *h, const struct trial *t, enum place place)
{
    const struct meter_counters *c = &t->counters[place];
    const char *role = t->scenario->roles[place];

    h->to = place_name(place);
    h->heard = c->received_messages;
    h->heard_bytes = c->received_bytes;
    /* A Topper service counts a message without the line end that closes it. */
    if (strcmp(role, "topper") == 0)
        h->heard_bytes += c->received_messages;
    h->answered = c->sent_messages;
    h->answered_bytes = c->sent_bytes;
}

static uint64_t endpoint_sum(const struct trial *t, const char *fact)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->process_count; i++)
        if (t->processes[i].place == PLACE_ENDPOINT)
            sum += process_number(&t->processes[i], fact);
    return sum;
}

/* From the client over the endpoint, if there is one, to the service; returns the hops.
 */
static size_t hops_of(const struct trial *t, struct hop hops[2])
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    bool endpoint = t->scenario->roles[PLACE_ENDPOINT] != NULL;

    hops[0] = (struct hop){.from = place_name(PLACE_CLIENT),
                           .asked = c->sent_messages,
                           .asked_bytes = c->sent_bytes,
                           .got = c->received_messages,
                           .got_bytes = c->received_bytes};
    hop_ends(&hops[0], t, endpoint ? PLACE_ENDPOINT : PLACE_SERVER);
    if (!endpoint)
        return 1;
    hops[1] = (struct hop){.from = place_name(PLACE_ENDPOINT),
                           .asked = endpoint_sum(t, "upstream_messages"),
                           .asked_bytes = endpoint_sum(t, "upstream_sent_bytes"),
                           .got = endpoint_sum(t, "upstream_messages"),
                           .got_bytes = endpoint_sum(t, "upstream_received_bytes")};
    hop_ends(&hops[1], t, PLACE_SERVER);
    return 2;
}

/* Each message that one end of a hop has sent the other has received, and its answer. */
static void check_services(struct trial *t)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    struct hop hops[2];
    size_t count = hops_of(t, hops), used = 0;
    char text[sizeof(t->checks[0].detail)] = "";
    bool agree = true;

    if (!trial_all_reported(t, PLACE_SERVER) || !trial_all_reported(t, PLACE_CLIENT) ||
        (count > 1 && !trial_all_reported(t, PLACE_ENDPOINT))) {
        add_check(t, "counts at both ends", VERDICT_UNKNOWN,
                  "not every end has reported its counts");
        return;
    }
    if (c->failed || c->timed_out || c->unfinished || t->warmup_ns) {
        add_check(t, "counts at both ends", VERDICT_UNKNOWN,
                  t->warmup_ns
                      ? "a warm-up is counted by the services alone"
                      : "requests failed or were left open, which the ends count apart");
        return;
    }
    for (size_t i = 0; i < count && used < sizeof(text); i++) {
        const struct hop *h = &hops[i];

        agree &= hop_agrees(h);
        used += (size_t)snprintf(
            text + used, sizeof(text) - used,
            "%s%s to %s %" PRIu64 " = %" PRIu64 " (%" PRIu64 " = %" PRIu64
            " B), back %" PRIu64 " = %" PRIu64 " (%" PRIu64 " = %" PRIu64 " B)",
            i ? "; " : "", h->from, h->to, h->asked, h->heard, h->asked_bytes,
            h->heard_bytes, h->answered, h->got, h->answered_bytes, h->got_bytes);
    }
    add_check(t, "counts at both ends", verdict_of(agree), "%s", text);
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
    char dropped[64], rest[64];

    if (l->lost < 0) {
        add_check(t, "counts at both ends", VERDICT_UNKNOWN,
                  "the receiver's report is missing, so the loss is not known");
        return;
    }
    add_check(t, "counts at both ends",
              verdict_of(l->due == l->received + l->lost &&
                         l->attempted == l->accepted + l->refused + unsent),
              "%" PRId64 " attempted = %" PRId64 " accepted + %" PRId64
              " refused + %" PRId64 " never handed over; %s = %" PRId64
              " received + %" PRId64 " lost",
              l->attempted, l->accepted, l->refused, unsent,
              l->due == l->accepted ? "accepted" : "accepted, for each receiver",
              l->received, l->lost);
    loss_range(l->overflow_least, l->overflow, dropped, sizeof(dropped));
    loss_range(l->unexplained, l->unexplained_most, rest, sizeof(rest));
    add_check(t, "loss explained",
              l->unexplained        ? VERDICT_FAIL
              : l->unexplained_most ? VERDICT_UNKNOWN
                                    : VERDICT_PASS,
              "%" PRId64 " lost = %s dropped at the full receive buffer + %s unexplained",
              l->lost, dropped, rest);
}

/* The rate that was asked for, of all connections together; 0: none. */
static double asked_rate(const struct options *values)
{
    double each = (double)options_number(values, OPTION_connection_rate, 0);

    return each > 0 ? each * (double)options_number(values, OPTION_connections, 1)
                    : (double)options_number(values, OPTION_rate, 0);
}

static double sum_ns(const struct trial *t, enum meter_hist which)
{
    const struct meter *m = t->places[PLACE_CLIENT];

    return m && m->hists[which] ? m->hists[which]->sum : 0;
}

/* Requests under way in the mean: the time that each was, however it ended, if it did. */
static double under_way(const struct trial *t)
{
    double ns = sum_ns(t, METER_HIST_latency) + sum_ns(t, METER_HIST_failure) +
                sum_ns(t, METER_HIST_unfinished);

    return trial_ratio(ns / 1e9, t->seconds);
}

/*
 * Concurrency is throughput times mean time in the system (Little, 1961). On a schedule
 * the time in the system begins before the request is under way.
 */
static void check_little(struct trial *t, const struct options *values)
{
    const struct hist_summary *h = &t->hists[PLACE_CLIENT][METER_HIST_latency];
    double slots = (double)options_number(values, t->scenario->family->concurrency, 0) *
                   (double)options_number(values, OPTION_pipelining, 1);
    double mean = under_way(t);
    char under[32];

    if (!(mean > 0) || asked_rate(values) > 0 || !isfinite(mean) || slots <= 0)
        return;
    if ((double)t->counters[PLACE_CLIENT].attempted < slots)
        slots = (double)t->counters[PLACE_CLIENT].attempted;
    units_format_fixed(mean, 2, under, sizeof(under));
    add_check(t, "Little's law", verdict_of(mean <= slots * 1.02),
              "throughput x mean time = %s requests under way%s, %.0f at most", under,
              h->open ? " (those not ended until the end)" : "", slots);
}

/* Whether the load was answered to its end. A few that are under way then are not told.
 */
static void check_unfinished(struct trial *t, const struct options *values)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter *m = t->places[PLACE_CLIENT];
    const struct hist *open = m ? m->hists[METER_HIST_unfinished] : NULL;
    char longest[24];

    if (!t->overdue || !open)
        return;
    units_format_duration((double)open->max, longest, sizeof(longest));
    add_check(t, "answered to the end",
              trial_judges_overdue(values) ? VERDICT_FAIL : VERDICT_UNKNOWN,
              "%" PRIu64 " requests were open at the end and %" PRIu64
              " due and never begun; they had waited up to %s",
              c->unfinished, c->never_begun, longest);
}

/*
 * Two hundredths may be missing, and of a Poisson schedule what chance makes of it: the
 * number in a time varies by the root of itself, and four of these are once in 30,000.
 */
static double rate_tolerance(const struct options *values, double expected)
{
    if (!options_is(values, OPTION_arrivals, "poisson"))
        return 0.02;
    return 0.02 + 4 / sqrt(expected);
}

static void check_pacing(struct trial *t, const struct options *values)
{
    const struct hist_summary *h = &t->hists[PLACE_CLIENT][METER_HIST_pacing];
    double rate = asked_rate(values), offered = t->spans.offered;
    double achieved = trial_ratio((double)t->counters[PLACE_CLIENT].attempted, offered);
    char p50[24], p99[24], started[32];

    if (rate <= 0)
        return;
    units_format_fixed(achieved, 0, started, sizeof(started));
    units_format_duration((double)h->p50, p50, sizeof(p50));
    units_format_duration((double)h->p99, p99, sizeof(p99));
    if (t->rate_changed)
        add_check(t, "rate kept", VERDICT_UNKNOWN,
                  "the rate was changed while it ran, last to %.0f/s; sends were late by "
                  "%s (p50), %s (p99)",
                  rate, p50, p99);
    else if (!isfinite(achieved))
        add_check(t, "rate kept", VERDICT_UNKNOWN,
                  "%.0f/s asked; how many were started a second is not known", rate);
    else
        add_check(
            t, "rate kept",
            verdict_of(achieved >= (1 - rate_tolerance(values, rate * offered)) * rate),
            "%.0f/s asked, %s/s started; sends were late by %s (p50), %s (p99)", rate,
            started, p50, p99);
}

/*
 * Where sends were late for no want of room, the latency that counts from the schedule
 * holds the generator's own time: a tenth of it is taken for the server's without harm.
 */
static void check_generator_time(struct trial *t, const struct options *values)
{
    const struct hist_summary *own = &t->hists[PLACE_CLIENT][METER_HIST_generator];
    const struct hist_summary *h =
        &t->hists[t->scenario->family->latency_place][METER_HIST_latency];
    char late[24], latency[24];

    if (!own->count || !h->count || asked_rate(values) <= 0)
        return;
    units_format_duration((double)own->p99, late, sizeof(late));
    units_format_duration((double)h->p99, latency, sizeof(latency));
    add_check(t, "generator in time",
              verdict_of(own->p99 <= OWN_LATE_NS || own->p99 <= h->p99 / 10),
              "of the latency, %s (p99), the generator's own lateness is %s (p99)",
              latency, late);
}

/* Who was held up measured nothing meanwhile, and what others saw of it is no load's. */
static void check_clocks(struct trial *t)
{
    const struct process *worst = NULL;
    char late[24];

    for (size_t i = 0; i < t->process_count; i++)
        if (!worst ||
            t->processes[i].totals.use.clock_late_us > worst->totals.use.clock_late_us)
            worst = &t->processes[i];
    if (!worst || worst->totals.use.clock_late_us < CLOCK_LATE_US)
        return;
    units_format_duration((double)worst->totals.use.clock_late_us * 1e3, late,
                          sizeof(late));
    add_check(t, "nobody held up", VERDICT_FAIL,
              "a %s was held up for %s: it did not run, and its figures have a gap",
              place_name(worst->place), late);
}

/* What a rate divides by must be the time in which came what it counts. */
static void check_rates(struct trial *t)
{
    const struct family *family = t->scenario->family;
    size_t offset = family->one_way    ? offsetof(struct second, received_messages)
                    : family->answered ? offsetof(struct second, requests)
                                       : offsetof(struct second, throughput_bytes);
    const char *unit = family->one_way ? "messages" : family->answered ? "requests" : "B";
    double within, all, seconds = trial_received_seconds(t);
    double drained = (double)t->counters[PLACE_CLIENT].drained;
    char text[24];

    trial_seconds_sum(t, offset, &within, &all);
    if (all <= 0 || !isfinite(seconds))
        return;
    units_format_duration(seconds * 1e9, text, sizeof(text));
    add_check(t, "rates match the series", verdict_of(within >= 0.9 * (all - drained)),
              "%.0f of %.0f %s came in the %s that rates divide by", within, all, unit,
              text);
}

static double waited_percent(const struct trial *t)
{
    double waited = trial_waited_percent(t, PLACE_CLIENT);

    return isfinite(waited) ? waited : 0;
}

/*
 * A generator at its limit loads no more than it can: without a rate that is a figure
 * like another, but a rate, or what a threshold asks, may be missed for its sake.
 */
static void check_generator(struct trial *t, const struct options *values)
{
    double client = t->metrics[METRIC_client_cpu_percent];
    double server = t->metrics[METRIC_server_cpu_percent];
    double waited = waited_percent(t);
    bool judged = asked_rate(values) > 0 || *options_text(values, OPTION_threshold, "");

    if (!isfinite(client))
        return;
    if (client + waited < BUSY_PERCENT || (isfinite(server) && server > client + waited))
        add_check(t, "generator not saturated", VERDICT_PASS,
                  "the busiest client process used %.0f %% of a core", client);
    else
        add_check(
            t, "generator not saturated", judged ? VERDICT_FAIL : VERDICT_UNKNOWN,
            "the busiest client process used %.0f %% of a core and waited %.0f %% of "
            "the time for one: this is the generator's limit; more --workers may "
            "have a higher one",
            client, waited);
}

static void check_percentiles(struct trial *t)
{
    const struct hist_summary *h =
        &t->hists[t->scenario->family->latency_place][METER_HIST_latency];

    if (!h->count)
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

void trial_compute_checks(struct trial *t, const struct options *values)
{
    const struct family *family = t->scenario->family;

    if (!trial_has_place(t, PLACE_CLIENT))
        return;
    if (family->operations)
        check_identity(t);
    if (!family->datagrams && !family->load)
        check_streams(t);
    if (family->load && t->scenario->roles[PLACE_SERVER])
        check_services(t);
    if (family->content)
        check_checksums(t);
    if (family->datagrams)
        check_datagrams(t);
    if (family->answered) {
        check_little(t, values);
        check_unfinished(t, values);
    }
    check_pacing(t, values);
    check_generator_time(t, values);
    check_rates(t);
    check_clocks(t);
    if (family->answered) /* else both ends are what is measured */
        check_generator(t, values);
    if (family->operations)
        check_percentiles(t);
}
