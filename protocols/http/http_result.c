/* How the requests of a load client end: declared in http_load.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "protocols/clock.h"
#include "protocols/http/http_load.h"

#define BACKOFF_FIRST_NS (10 * NS_PER_MS)
#define BACKOFF_STEPS 7u /* doubled each time, so up to 1.28 s */
#define NOTES_MAX 3u

static void count_status(struct sink *s, unsigned status)
{
    char name[12];

    if (s->status != status) {
        snprintf(name, sizeof(name), "%u", status);
        s->row = tally_add(&s->meter->status, name, 0);
        s->status = status;
    }
    s->row->count++;
}

/* The latency of a request: from when it should have gone out, where that is known. */
static uint64_t latency_ns(const struct flow *f, const struct http_slot *s,
                           uint64_t at_ns)
{
    uint64_t from_ns = http_load_is_paced(f) ? s->intended_ns : s->start_ns;

    return at_ns > from_ns ? at_ns - from_ns : 0;
}

static void count_good(struct flow *f, struct meter *m, const struct http_slot *slot,
                       uint64_t at_ns)
{
    m->counters.succeeded++;
    m->counters.drained += f->offered_ns && at_ns > f->offered_ns;
    meter_record(m, METER_HIST_latency, latency_ns(f, slot, at_ns));
}

static void count_bad(struct flow *f, struct meter *m, const struct http_slot *slot,
                      const char *what, uint64_t at_ns)
{
    m->counters.failed++;
    tally_add(&m->errors, what, 1);
    meter_record(m, METER_HIST_failure, latency_ns(f, slot, at_ns));
}

/* HTTP: a status of 400 or more is a failure. Topper: an error line is. */
static void count_replied(struct flow *f, const struct http_conn *c,
                          const struct http_slot *slot, uint64_t at_ns)
{
    struct sink *s = http_load_sink(f, slot->start_ns);
    struct meter *m = s->meter;
    char what[24] = "reply is an error";
    bool bad = c->parse.status >= 400;

    meter_record(m, METER_HIST_first_byte, slot->first_ns - slot->sent_ns);
    if (http_load_is_paced(f))
        meter_record(m, METER_HIST_service, at_ns - slot->start_ns);
    if (f->plan.is_text)
        bad = topper_reply_is_error(&c->line);
    else
        count_status(s, c->parse.status);
    if (bad && !f->plan.is_text)
        snprintf(what, sizeof(what), "status %u", c->parse.status);
    if (bad)
        count_bad(f, m, slot, what, at_ns);
    else
        count_good(f, m, slot, at_ns);
}

static void count_failed(struct flow *f, const struct http_slot *slot, const char *what,
                         int err)
{
    struct meter *m = http_load_sink(f, slot->start_ns)->meter;

    m->counters.failed++;
    if (err)
        tally_errno(&m->errors, what, err);
    else
        tally_add(&m->errors, what, 1);
    meter_record(m, METER_HIST_failure, latency_ns(f, slot, now_ns()));
}

static void count_timed_out(struct flow *f, const struct http_slot *slot)
{
    struct meter *m = http_load_sink(f, slot->start_ns)->meter;

    m->counters.timed_out++;
    meter_record(m, METER_HIST_failure, latency_ns(f, slot, now_ns()));
}

void http_result_replied(struct http_conn *c, const struct http_slot *slot,
                         uint64_t at_ns)
{
    struct flow *f = c->owner;

    f->in_flight--;
    c->failures = 0;
    if (c->in_flight + 1 == f->plan.depth)
        c->room_ns = at_ns;
    count_replied(f, c, slot, at_ns);
    http_load_list(f, c);
}

static void back_off(struct http_conn *c)
{
    unsigned steps = c->failures < BACKOFF_STEPS ? c->failures : BACKOFF_STEPS;
    struct timeval wait = timeval_from_ns(BACKOFF_FIRST_NS << steps);

    c->failures++;
    c->is_waiting = true;
    evtimer_add(&c->retry, &wait);
}

void http_result_retry(evutil_socket_t fd, short what, void *arg)
{
    struct http_conn *c = arg;
    struct flow *f = c->owner;

    (void)fd;
    (void)what;
    c->is_waiting = false;
    http_load_list(f, c);
    http_offer_idle(c, now_ns());
}

static void note_loss(struct flow *f, const struct http_conn *c, const char *what)
{
    if (f->notes >= NOTES_MAX)
        return;
    if (strcmp(what, "reply malformed") == 0)
        f->env->note(f->env, "a reply is not valid HTTP: %s", c->parse.reason);
    else if (strcmp(what, "reply unasked") == 0)
        f->env->note(f->env, "the server sent something that no request asked for");
    else
        return;
    f->notes++;
}

/*
 * Requests in flight fail. A connection that has never replied waits before the next
 * attempt, so that a server that is down, or closes at once, does not cost a core.
 */
void http_result_lost(struct http_conn *c, const char *what, int err)
{
    struct flow *f = c->owner;

    if (f->is_finished)
        return;
    note_loss(f, c, what);
    if (strcmp(what, "reply unasked") == 0)
        f->unasked++;
    if (strcmp(what, "connect") == 0 || strcmp(what, "socket") == 0) {
        f->connect_failures++;
        f->connect_err = err;
    }
    for (; c->in_flight; f->in_flight--) {
        struct http_slot slot = http_conn_pop(c);

        count_failed(f, &slot, what, err);
    }
    if (c->replies == 0 && strcmp(what, "closed idle") != 0)
        back_off(c);
    http_offer_relist(f, c);
}

void http_result_expire(struct flow *f, struct http_conn *c)
{
    bool was_connecting = c->state == HTTP_CONNECTING;

    http_conn_close(c);
    if (was_connecting) {
        c->replies = 0;
        http_result_lost(c, "connect", ETIMEDOUT);
        return;
    }
    for (bool first = true; c->in_flight; first = false, f->in_flight--) {
        struct http_slot slot = http_conn_pop(c);

        if (first)
            count_timed_out(f, &slot);
        else
            count_failed(f, &slot, "pipelined behind a timeout", 0);
    }
    http_offer_relist(f, c);
}

void http_result_unfinished(struct flow *f)
{
    uint64_t at_ns = now_ns();
    uint64_t longest_ns = 0;
    uint64_t n = 0;
    char text[80];

    for (size_t i = 0; i < f->size; i++) {
        while (f->conns[i]->in_flight) {
            struct http_slot slot = http_conn_pop(f->conns[i]);

            struct meter *m = http_load_sink(f, slot.start_ns)->meter;

            m->counters.unfinished++;
            meter_record(m, METER_HIST_unfinished, latency_ns(f, &slot, at_ns));
            if (latency_ns(f, &slot, at_ns) > longest_ns)
                longest_ns = latency_ns(f, &slot, at_ns);
            n++;
        }
    }
    f->in_flight = 0;
    if (n == 0)
        return;
    snprintf(text, sizeof(text), "%llu requests, the oldest open for %.3f s",
             (unsigned long long)n, (double)longest_ns / 1e9);
    f->env->fact(f->env, "unfinished", text);
}
