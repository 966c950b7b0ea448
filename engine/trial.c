#include "engine/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/trial_parts.h"
#include "engine/units.h"
#include "protocols/survival.h"
#include "protocols/utf8.h"

static const struct loss unknown_loss = {-1, -1, -1, -1, -1, -1, -1,
                                         -1, -1, -1, -1, -1, -1, -1};

int trial_init(struct trial *t, const struct scenario *scenario, unsigned number,
               size_t process_count)
{
    memset(t, 0, sizeof(*t));
    t->scenario = scenario;
    t->number = number;
    t->started = time(NULL);
    /* What is asked before trial_compute is not known yet. */
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

void trial_drop_hists(struct trial *t)
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
    trial_drop_hists(t);
    free(t->processes);
    free(t->seconds_list);
    memset(t, 0, sizeof(*t));
}

void trial_set_outcome(struct trial *t, enum outcome outcome, const char *reason)
{
    if (outcome <= t->outcome)
        return;
    t->outcome = outcome;
    snprintf(t->reason, sizeof(t->reason), "%s", reason ? reason : "");
    utf8_printable(t->reason);
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
    return trial_add_seconds(t, p->place, sample);
}

bool trial_has_place(const struct trial *t, enum place place)
{
    return t->places[place] != NULL;
}

bool trial_all_reported(const struct trial *t, enum place place)
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
        meter_latency(&t->hists[place][METER_HIST_latency], m);
    }
    if (trial_has_place(t, PLACE_CLIENT)) {
        tally_merge(&t->errors, &t->places[PLACE_CLIENT]->errors);
        tally_merge(&t->status, &t->places[PLACE_CLIENT]->status);
    }
    if (trial_has_place(t, PLACE_SERVER))
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

static double seconds_of(const struct meter_span *s, uint64_t from_ns, uint64_t out_ns)
{
    uint64_t span_ns = s->last_ns > from_ns ? s->last_ns - from_ns : 0;

    return span_ns > out_ns ? (double)(span_ns - out_ns) / 1e9 : 0;
}

static double offered_seconds(const struct trial *t)
{
    const struct meter *m = t->places[PLACE_CLIENT];

    if (!m || !trial_all_reported(t, PLACE_CLIENT))
        return (double)NAN;
    if (!m->offered.last_ns)
        return t->seconds;
    return seconds_of(&m->offered, m->offered.first_ns, t->paused_ns);
}

/* The time in which a place received what it did: see struct trial_spans. */
static double received_seconds(const struct trial *t, enum place place, bool in_step)
{
    const struct meter *m = t->places[place];
    const struct meter_counters *c = &t->counters[place];
    uint64_t n = m ? family_received(t->scenario->family, &m->counters) : 0;
    double offered = t->spans.offered;
    double seconds;

    if (!m || !m->received.last_ns || !trial_all_reported(t, place))
        return m ? t->seconds : (double)NAN;
    if (in_step && n > 1)
        seconds = seconds_of(&m->received, m->received.first_ns, t->paused_ns) *
                  (double)n / (double)(n - 1);
    else
        seconds = seconds_of(&m->received, 0,
                             t->paused_ns + (place == PLACE_CLIENT ? t->warmup_ns : 0));
    if (!(seconds >= offered) && isfinite(offered))
        seconds = offered;
    if (c->drained && c->drained < c->succeeded)
        seconds = fmin(seconds, offered * (double)c->succeeded /
                                    (double)(c->succeeded - c->drained));
    return seconds;
}

static void compute_spans(struct trial *t, const struct options *values)
{
    bool in_step = t->scenario->family->one_way ||
                   options_number(values, OPTION_rate, 0) ||
                   options_number(values, OPTION_connection_rate, 0);
    enum place place = t->scenario->family->one_way ? PLACE_SERVER : PLACE_CLIENT;

    t->spans.offered = offered_seconds(t);
    for (int p = 0; p < PLACE_COUNT; p++)
        t->spans.received[p] = received_seconds(t, (enum place)p, in_step);
    if (in_step && trial_has_place(t, place))
        t->spans.begin = (double)t->places[place]->received.first_ns / 1e9;
}

static void compute_overdue(struct trial *t, const struct options *values)
{
    const struct meter *m = t->places[PLACE_CLIENT];
    const struct family *family = t->scenario->family;
    uint64_t open, places;

    if (!m || !family->answered || !m->hists[METER_HIST_unfinished])
        return;
    open = m->hists[METER_HIST_unfinished]->count;
    places = options_number(values, family->concurrency, 1) *
             options_number(values, OPTION_pipelining, 1);
    t->overdue =
        survival_overdue(m->hists[METER_HIST_latency], m->hists[METER_HIST_unfinished]);
    if (open - t->overdue > places)
        t->overdue = open;
}

/*
 * `drops` at the receiver's buffer, which held `messages` at most. More drops than
 * messages that are missing were others' in part, and which part is not known.
 */
static void attribute(struct loss *l, int64_t drops, int64_t messages)
{
    int64_t missing = l->lost > l->late ? l->lost - l->late : 0; /* late ones arrived */
    bool is_certain = !l->foreign && !l->duplicate && drops <= missing;

    l->overflow = messages < missing ? messages : missing;
    l->overflow_least = is_certain ? drops : 0;
    l->unexplained = l->lost - l->overflow;
    l->unexplained_most = l->lost - l->overflow_least;
}

static void compute_loss(struct trial *t, const struct options *values)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    const struct meter_counters *s = &t->counters[PLACE_SERVER];
    struct loss *l = &t->loss;

    *l = unknown_loss;
    if (!t->scenario->family->datagrams || !trial_has_place(t, PLACE_CLIENT))
        return;
    l->attempted = (int64_t)c->attempted;
    l->refused = (int64_t)c->refused;
    l->accepted = (int64_t)c->sent_messages;
    l->due = l->accepted * (int64_t)options_number(values, OPTION_receivers, 1);
    if (!trial_all_reported(t, PLACE_SERVER) || !trial_all_reported(t, PLACE_CLIENT))
        return;
    l->received = (int64_t)s->unique;
    l->late = (int64_t)s->late;
    l->duplicate = (int64_t)s->duplicate;
    l->out_of_order = (int64_t)s->out_of_order;
    l->foreign = (int64_t)s->foreign;
    /* More received than accepted cannot be: the check on counts says so. */
    l->lost = l->due > l->received ? l->due - l->received : 0;
    attribute(l, (int64_t)s->drops, (int64_t)s->overflow);
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
static void judge_answers(struct trial *t)
{
    uint64_t attempted = t->counters[PLACE_CLIENT].attempted;

    if (!t->scenario->family->load || t->outcome != OUTCOME_COMPLETED ||
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

int trial_compute(struct trial *t, const struct options *values)
{
    int rc = sum_places(t);

    t->warmup_ns = options_number(values, OPTION_warmup, 0);
    t->seconds = clock_seconds(t);
    compute_spans(t, values);
    compute_overdue(t, values);
    compute_loss(t, values);
    judge_answers(t);
    trial_compute_metrics(t, values);
    trial_compute_checks(t, values);
    return rc;
}

void loss_range(int64_t least, int64_t most, char *text, size_t size)
{
    if (least < 0)
        snprintf(text, size, "-");
    else if (least == most)
        snprintf(text, size, "%" PRId64, most);
    else
        snprintf(text, size, "between %" PRId64 " and %" PRId64, least, most);
}

void trial_sending(const struct trial *t, char *text, size_t size)
{
    const struct meter_counters *c = &t->counters[PLACE_CLIENT];
    double messages = (double)c->attempted;
    uint64_t peak = 0;
    int used = 0;

    text[0] = '\0';
    if (!c->turns || !c->attempted)
        return;
    for (size_t i = 0; i < t->process_count; i++)
        if (t->processes[i].place == PLACE_CLIENT)
            peak += process_number(&t->processes[i], "backlog_peak");
    if (peak)
        used = snprintf(text, size, "peak of the backlog %" PRIu64 "; ", peak);
    if ((size_t)used < size)
        snprintf(text + used, size - (size_t)used,
                 "%" PRIu64 " turns of the event loop and %" PRIu64
                 " sending calls, %.3g and %.3g a message",
                 c->turns, c->send_calls, (double)c->turns / messages,
                 (double)c->send_calls / messages);
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
    bytes = process_number(server, "receive_buffer_bytes");
    most = process_number(server, "receive_buffer_limit_bytes");
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
