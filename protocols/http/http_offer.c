/* Requests for the connections of a load client: declared in http_load.h. */
#include <errno.h>
#include <stdlib.h>

#include "protocols/clock.h"
#include "protocols/http/http_load.h"
#include "protocols/random.h"
#include "protocols/schedule.h"

#define BATCH 64u /* requests offered in one go, before replies are read */

/* Take the next request, if there is one to take. */
static bool take(struct flow *f, uint64_t at_ns, uint64_t *intended_ns)
{
    return f->left > f->queued && !f->is_stopping && !f->is_finished &&
           at_ns < f->end_ns && pacer_take(&f->pacer, at_ns, intended_ns, 1) == 1;
}

void http_offer_end(struct flow *f, uint64_t at_ns)
{
    if (f->offered_ns || !f->measure_from_ns)
        return;
    f->offered_ns = at_ns > f->measure_from_ns ? at_ns : f->measure_from_ns;
    f->env->meter->offered = (struct meter_span){f->measure_from_ns, f->offered_ns};
}

void http_offer_give_up(struct flow *f)
{
    struct meter *m = f->env->meter;

    if (!f->offered_ns)
        return;
    for (size_t i = 0; i < f->size; i++) {
        struct http_conn *c = f->conns[i];

        for (size_t k = 0; k < c->due_count; k++) {
            uint64_t due_ns = c->due[(c->due_first + k) % c->due_size];

            m->counters.never_begun++;
            meter_record(m, METER_HIST_unfinished,
                         f->offered_ns > due_ns ? f->offered_ns - due_ns : 0);
        }
        c->due_count = 0;
    }
    if (f->left > f->queued)
        schedule_end(&f->pacer, f->offered_ns, f->left - f->queued, m);
    f->queued = 0;
}

static void push(struct flow *f, struct http_conn *c, uint64_t intended_ns,
                 uint64_t at_ns)
{
    struct meter *m = http_load_sink(f, at_ns)->meter;

    m->counters.attempted++;
    if (f->left != UINT64_MAX && at_ns >= f->measure_from_ns)
        f->left--;
    if (http_load_is_paced(f))
        schedule_note(m, &f->away, intended_ns,
                      f->plan.is_per_connection ? c->room_ns : f->room_ns, at_ns);
    f->in_flight++;
    http_conn_push(c, intended_ns, at_ns);
    /* A schedule lasts until a request more would be due. */
    if (f->left == 0) {
        uint64_t next_ns = http_load_is_paced(f) ? pacer_next_ns(&f->pacer) : at_ns;

        http_offer_end(f, next_ns > at_ns ? next_ns : at_ns);
    }
}

/* At the end of the list, or off it: room that there was is none that has come. */
static void relist(struct flow *f, struct http_conn *c)
{
    uint64_t room_ns = f->room_ns;

    http_load_unlist(f, c);
    http_load_list(f, c);
    f->room_ns = room_ns;
}

/* Requests for one connection: with a rate one, else all that it has room for. */
static unsigned offer_to(struct flow *f, struct http_conn *c, uint64_t at_ns)
{
    unsigned max = http_load_is_paced(f) ? 1 : f->plan.depth - c->in_flight;
    uint64_t intended_ns;
    unsigned n = 0;

    while (n < max && take(f, at_ns, &intended_ns)) {
        push(f, c, intended_ns, at_ns);
        n++;
    }
    if (n == 0)
        return 0;
    relist(f, c);
    http_conn_send(c, at_ns);
    return n;
}

static void offer(struct flow *f, uint64_t at_ns)
{
    for (unsigned n = 0; n < BATCH && f->first; n++) {
        if (n)
            at_ns = now_ns();
        if (offer_to(f, f->first, at_ns) == 0)
            break;
    }
    if (f->first && f->left && !f->is_stopping && !f->is_finished && !f->is_paused)
        pacer_timer_arm(&f->timer);
}

/* With connection_rate: a message waits for its own connection, in its queue. */

static int queue(struct http_conn *c, uint64_t intended_ns)
{
    if (c->due_count == c->due_size) {
        size_t size = c->due_size ? 2 * c->due_size : 8;
        uint64_t *grown = malloc(size * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        for (size_t i = 0; i < c->due_count; i++)
            grown[i] = c->due[(c->due_first + i) % c->due_size];
        free(c->due);
        c->due = grown;
        c->due_first = 0;
        c->due_size = size;
    }
    c->due[(c->due_first + c->due_count++) % c->due_size] = intended_ns;
    return 0;
}

void http_offer_due(struct flow *f, struct http_conn *c)
{
    uint64_t at_ns = now_ns();
    bool any = false;

    while (c->due_count && http_load_has_room(f, c) && !f->is_paused && !f->is_stopping) {
        uint64_t intended_ns = c->due[c->due_first];

        c->due_first = (c->due_first + 1) % c->due_size;
        c->due_count--;
        f->queued--;
        push(f, c, intended_ns, at_ns);
        any = true;
    }
    if (any)
        http_conn_send(c, at_ns);
}

static struct http_conn *next_in_turn(struct flow *f)
{
    if (schedule_is_poisson(f->env->options))
        f->turn = random_next(&f->lots);
    return f->conns[f->turn++ % f->count];
}

static void offer_in_turn(struct flow *f)
{
    uint64_t intended_ns;

    for (unsigned n = 0; n < BATCH && take(f, now_ns(), &intended_ns); n++) {
        struct http_conn *c = next_in_turn(f);

        if (queue(c, intended_ns) < 0) {
            http_load_finish(f, OUTCOME_FAILED,
                             "there is no memory for the requests that wait");
            return;
        }
        f->queued++;
        http_offer_due(f, c);
    }
    if (f->left > f->queued && !f->is_stopping && !f->is_finished && !f->is_paused)
        pacer_timer_arm(&f->timer);
}

void http_offer_work(struct flow *f, uint64_t at_ns)
{
    if (f->is_finished || !f->is_started)
        return;
    if (f->plan.is_per_connection)
        offer_in_turn(f);
    else
        offer(f, at_ns);
    http_load_check_end(f);
}

void http_offer_opened(struct http_conn *c, uint64_t at_ns)
{
    struct flow *f = c->owner;

    (void)at_ns;
    f->was_connected = true;
    http_load_list(f, c);
}

void http_offer_relist(struct flow *f, struct http_conn *c)
{
    if (c->is_retired && c->in_flight == 0)
        http_conn_close(c);
    if (!http_load_has_room(f, c))
        http_load_unlist(f, c);
    http_load_list(f, c);
}

void http_offer_idle(struct http_conn *c, uint64_t at_ns)
{
    struct flow *f = c->owner;

    if (f->is_finished)
        return;
    if (c->is_retired)
        http_offer_relist(f, c);
    if (c->due_count)
        http_offer_due(f, c);
    http_offer_work(f, at_ns);
}
