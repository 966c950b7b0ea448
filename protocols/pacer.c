#include "protocols/pacer.h"

#include <assert.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static struct pacer_stretch *last_stretch(struct pacer *p)
{
    return &p->stretches[p->used - 1];
}

static uint64_t narrow(wide value)
{
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static uint64_t stretch_intended(const struct pacer_stretch *s, uint64_t n)
{
    if (s->messages == 0)
        return s->start_ns;
    return narrow(s->start_ns + (wide)(n - s->first) * s->per_ns / s->messages);
}

/*
 * The number of the first message that is not due at `now`. k messages on from `first`
 * is due when floor(k * per_ns / messages) <= passed, that is, when
 * k * per_ns < (passed + 1) * messages.
 */
static uint64_t stretch_due(const struct pacer_stretch *s, uint64_t now_ns)
{
    uint64_t passed = now_ns - s->start_ns;

    if (now_ns < s->start_ns)
        return s->first;
    if (s->messages == 0)
        return UINT64_MAX;
    return narrow(s->first +
                  (((wide)passed + 1) * s->messages + s->per_ns - 1) / s->per_ns);
}

static void assert_rate(uint64_t messages, uint64_t per_ns)
{
    (void)messages;
    (void)per_ns;
    assert(messages <= PACER_RATE_MAX && per_ns > 0 && per_ns <= PACER_RATE_MAX);
}

static bool is_rate(const struct pacer_stretch *s, uint64_t messages, uint64_t per_ns)
{
    return (wide)s->messages * per_ns == (wide)messages * s->per_ns;
}

void pacer_start(struct pacer *p, uint64_t base_ns, uint64_t messages, uint64_t per_ns)
{
    assert_rate(messages, per_ns);
    memset(p, 0, sizeof(*p));
    p->base_ns = base_ns;
    p->used = 1;
    p->stretches[0] = (struct pacer_stretch){
        .start_ns = base_ns,
        .messages = messages,
        .per_ns = per_ns,
    };
}

uint64_t pacer_phase_ns(uint64_t messages, uint64_t per_ns, uint64_t k, uint64_t n)
{
    assert_rate(messages, per_ns);
    return messages && k < n ? narrow((wide)per_ns * k / ((wide)messages * n)) : 0;
}

/* Forget the stretches of which every message has been taken. */
static void drop_taken(struct pacer *p)
{
    while (p->used > 1 && p->stretches[1].first <= p->taken) {
        p->used--;
        memmove(p->stretches, &p->stretches[1], p->used * sizeof(*p->stretches));
    }
}

/*
 * Make room by joining the two oldest. The first and the last message of both keep their
 * intended times, so none is intended later than it became due.
 */
static void join_oldest(struct pacer *p)
{
    struct pacer_stretch *s = p->stretches;
    uint64_t last = s[2].first - 1;
    uint64_t span_ns = stretch_intended(&s[1], last) - s[0].start_ns;

    s[0].messages = last - s[0].first;
    s[0].per_ns = span_ns > 0 ? span_ns : 1;
    p->used--;
    memmove(&s[1], &s[2], (p->used - 1) * sizeof(*s));
}

/*
 * When the next message is to be sent after a change at t: the part of the gap that had
 * still to pass, of the new gap.
 */
static uint64_t keep_phase(const struct pacer_stretch *s, uint64_t first, uint64_t t,
                           const struct pacer_stretch *next)
{
    double left_ns = (double)(stretch_intended(s, first) - t);
    double part = left_ns * (double)s->messages / (double)s->per_ns;

    return t + (uint64_t)(part * (double)next->per_ns / (double)next->messages);
}

void pacer_set_rate(struct pacer *p, uint64_t messages, uint64_t per_ns, uint64_t now_ns)
{
    struct pacer_stretch *last = last_stretch(p);
    struct pacer_stretch next = {.messages = messages, .per_ns = per_ns};
    uint64_t t = p->is_paused ? p->paused_ns : now_ns;

    assert_rate(messages, per_ns);
    if (is_rate(last, messages, per_ns))
        return;
    if (t < p->base_ns) {
        last->messages = messages;
        last->per_ns = per_ns;
        return;
    }
    if (last->messages == 0)
        next.first = p->taken > last->first ? p->taken : last->first;
    else
        next.first = stretch_due(last, t);
    next.start_ns = t;
    if (last->messages && messages)
        next.start_ns = keep_phase(last, next.first, t, &next);
    if (next.first == last->first) {
        *last = next;
        return;
    }
    drop_taken(p);
    if (p->used == PACER_STRETCHES)
        join_oldest(p);
    p->stretches[p->used++] = next;
}

void pacer_pause(struct pacer *p, uint64_t now_ns)
{
    if (p->is_paused)
        return;
    p->is_paused = true;
    p->paused_ns = now_ns;
}

void pacer_resume(struct pacer *p, uint64_t now_ns)
{
    uint64_t pause_ns;

    if (!p->is_paused)
        return;
    pause_ns = now_ns - p->paused_ns;
    p->is_paused = false;
    p->base_ns += pause_ns;
    for (unsigned i = 0; i < p->used; i++)
        p->stretches[i].start_ns += pause_ns;
}

/* The stretch that holds message n. */
static const struct pacer_stretch *stretch_of(const struct pacer *p, uint64_t n)
{
    unsigned i = p->used - 1;

    while (i > 0 && p->stretches[i].first > n)
        i--;
    return &p->stretches[i];
}

uint64_t pacer_intended_ns(const struct pacer *p, uint64_t n)
{
    return stretch_intended(stretch_of(p, n), n);
}

uint64_t pacer_due(const struct pacer *p, uint64_t now_ns)
{
    uint64_t t = p->is_paused ? p->paused_ns : now_ns;
    uint64_t due;

    for (unsigned i = p->used - 1; i > 0; i--)
        if (t >= p->stretches[i].start_ns)
            return stretch_due(&p->stretches[i], t);
    due = stretch_due(&p->stretches[0], t);
    if (p->used > 1 && due > p->stretches[1].first)
        return p->stretches[1].first;
    return due;
}

uint64_t pacer_backlog(const struct pacer *p, uint64_t now_ns)
{
    const struct pacer_stretch *last = &p->stretches[p->used - 1];
    uint64_t due = pacer_due(p, now_ns);

    if (last->messages == 0 && due > last->first)
        due = last->first;
    return due > p->taken ? due - p->taken : 0;
}

size_t pacer_take(struct pacer *p, uint64_t now_ns, uint64_t *intended_ns, size_t max)
{
    uint64_t due = p->is_paused ? 0 : pacer_due(p, now_ns);
    size_t n = 0;

    while (n < max && p->taken < due) {
        drop_taken(p);
        intended_ns[n++] = p->stretches[0].messages
                               ? stretch_intended(&p->stretches[0], p->taken)
                               : now_ns;
        p->taken++;
    }
    return n;
}

uint64_t pacer_next_ns(const struct pacer *p)
{
    return p->is_paused ? UINT64_MAX : pacer_intended_ns(p, p->taken);
}

uint64_t pacer_gap_ns(const struct pacer *p)
{
    const struct pacer_stretch *last = &p->stretches[p->used - 1];

    return last->messages ? last->per_ns / last->messages : 0;
}
