/*
 * Private to the load client on HTTP and Topper servers, whose parts are:
 *
 *   http_load.c     the roles: preparing, timers, changes and pauses, the end
 *   http_offer.c    requests for connections that have room, as the schedule says
 *   http_result.c   how requests end, and what is counted then
 *
 * A message of the pacer is a request. It is taken when a connection has room, pushed
 * onto that connection and from then on counted as attempted; it ends as succeeded
 * (a status below 400), failed, timed out or unfinished, each exactly once. Without a
 * rate a message is always due, so every connection keeps `pipelining` requests in
 * flight; with a rate connections without work wait in a list. With connection_rate
 * each connection has every count-th message of one schedule for its own; of a Poisson
 * schedule they are given out by lot, so that each connection's is one too.
 *
 * All that may end a run or find work is in http_offer_work, called at the end of every
 * event.
 */
#ifndef PROTOCOLS_HTTP_HTTP_LOAD_H
#define PROTOCOLS_HTTP_HTTP_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/clock.h"
#include "protocols/http/http_conn.h"
#include "protocols/http/http_plan.h"
#include "protocols/pacer.h"
#include "protocols/pacer_timer.h"
#include "protocols/role.h"
#include "protocols/schedule.h"

#define HTTP_LOAD_GIVE_UP 3u /* attempts a connection before the server is not there */

/* Where results go: the meter, or one that is thrown away during the warm-up. */
struct sink {
    struct meter *meter;
    unsigned status; /* the last one seen, and its row */
    struct tally_row *row;
};

struct flow {
    struct flow_env *env;
    struct http_plan plan;
    struct http_shared shared;
    struct sink result, warmup;
    struct http_conn **conns;
    size_t count;                   /* of conns that are not retired: the first ones */
    size_t size;                    /* of conns */
    struct http_conn *first, *last; /* connections with room */
    uint64_t room_ns;               /* with a rate: since when there is one */
    struct schedule_away away;

    struct pacer pacer;
    struct pacer_timer timer;
    struct event *deadline, *measure, *expiry, *drain;
    uint64_t left; /* requests of the amount not taken; UINT64_MAX: no limit */
    uint64_t in_flight;
    uint64_t measure_from_ns, end_ns, paused_ns;
    uint64_t offered_ns; /* load was offered until then; 0: it still is */
    uint64_t turn;       /* connection_rate: whose message the next is */
    uint64_t lots;       /* connection_rate, Poisson: the generator that draws it */
    uint64_t queued;     /* connection_rate: messages taken and not pushed */

    uint64_t connect_failures;
    uint64_t unasked;
    int connect_err;
    unsigned notes;
    bool is_started, is_paused, is_stopping, is_finished, was_connected;
    enum outcome outcome; /* while stopping */
};

static inline bool http_load_is_paced(const struct flow *f)
{
    return f->plan.rate > 0;
}

/* Connections with room are listed, the longest waiting first. */
static inline bool http_load_has_room(const struct flow *f, const struct http_conn *c)
{
    return !c->is_retired && !c->is_waiting && c->in_flight < f->plan.depth;
}

static inline void http_load_unlist(struct flow *f, struct http_conn *c)
{
    if (!c->is_listed)
        return;
    *(c->previous ? &c->previous->next : &f->first) = c->next;
    *(c->next ? &c->next->previous : &f->last) = c->previous;
    c->is_listed = false;
}

static inline void http_load_list(struct flow *f, struct http_conn *c)
{
    if (c->is_listed || !http_load_has_room(f, c))
        return;
    if (!f->first && http_load_is_paced(f))
        f->room_ns = now_ns();
    c->next = NULL;
    c->previous = f->last;
    *(f->last ? &f->last->next : &f->first) = c;
    f->last = c;
    c->is_listed = true;
}

static inline struct sink *http_load_sink(struct flow *f, uint64_t start_ns)
{
    return start_ns < f->measure_from_ns ? &f->warmup : &f->result;
}

/* Http_load.c. */

/*
 * End the run: close all, count what is unfinished, say so. `reason` is that of a
 * failure, NULL otherwise; a server that was never reached is a failure, whose reason is
 * known here.
 */
void http_load_finish(struct flow *f, enum outcome outcome, const char *reason);

/* Whether the run is over, and if so, end it. */
static inline void http_load_check_end(struct flow *f)
{
    if (f->is_finished || !f->is_started)
        return;
    if (!f->was_connected &&
        f->connect_failures >= HTTP_LOAD_GIVE_UP * (uint64_t)f->count)
        http_load_finish(f, OUTCOME_FAILED, NULL);
    else if (f->in_flight == 0 && (f->is_stopping || f->left == 0))
        http_load_finish(f, f->left == 0 ? OUTCOME_COMPLETED : f->outcome, NULL);
}

/* Http_offer.c. */

/* No more requests begin, or are asked for, from this instant on: that was the load. */
void http_offer_end(struct flow *f, uint64_t at_ns);

/* What was due before that, and will never be begun, has waited in vain. */
void http_offer_give_up(struct flow *f);

/* Offer what is due, and end the run if it is over. */
void http_offer_work(struct flow *f, uint64_t at_ns);

/* connection_rate: send what waits for this connection. */
void http_offer_due(struct flow *f, struct http_conn *c);

/* List the connection if it has room; a retired one closes after its last request. */
void http_offer_relist(struct flow *f, struct http_conn *c);

/* Functions of struct http_shared. */
void http_offer_opened(struct http_conn *c, uint64_t now_ns);
void http_offer_idle(struct http_conn *c, uint64_t now_ns);

/* Http_result.c. */

/* The first request on a connection has waited too long, and those behind it with it. */
void http_result_expire(struct flow *f, struct http_conn *c);

/* What is still in flight is unfinished, and how long it has been is reported. */
void http_result_unfinished(struct flow *f);

/* Functions of struct http_shared, and the one of a connection's `retry`. */
void http_result_replied(struct http_conn *c, const struct http_slot *slot,
                         uint64_t now_ns);
void http_result_lost(struct http_conn *c, const char *what, int err);
void http_result_retry(evutil_socket_t fd, short what, void *arg);

#endif
