#include "protocols/pacer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "protocols/random.h"

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

/* A gap of mean 1, from a number in (0, 1]. */
static double draw_gap(uint64_t *state)
{
    return -log((double)((random_next(state) >> 11) + 1) * 0x1p-53);
}

static void move_by_gap(struct pacer_message *m)
{
    double part = m->part + draw_gap(&m->state);
    double whole = floor(part);

    m->place += (uint64_t)whole;
    m->part = part - whole;
}

/* To the message behind it. */
static void step(const struct pacer *p, struct pacer_message *m)
{
    m->number++;
    if (p->is_poisson)
        move_by_gap(m);
    else
        m->place++;
}

void pacer_poisson(struct pacer *p, uint64_t seed)
{
    p->is_poisson = true;
    p->next.state = seed;
    move_by_gap(&p->next);
    p->due = p->next;
}

/* The time of a message that lies between two places. */
static uint64_t part_ns(const struct pacer_stretch *s, const struct pacer_message *m)
{
    double places = (double)(int64_t)(m->place - s->first) + m->part;
    double span_ns = places * (double)s->per_ns / (double)s->messages;

    return (uint64_t)((int64_t)s->start_ns + (int64_t)span_ns);
}

/* Whether the message is of this stretch, or of a later one. */
static bool has_reached(const struct pacer *p, const struct pacer_stretch *s,
                        const struct pacer_message *m)
{
    if (!p->is_poisson)
        return m->place >= s->first;
    return m->place > s->place || (m->place == s->place && m->part >= s->part);
}

static uint64_t message_ns(const struct pacer *p, const struct pacer_message *m)
{
    unsigned i = p->used - 1;
    uint64_t at_ns;

    while (i > 0 && !has_reached(p, &p->stretches[i], m))
        i--;
    if (!p->is_poisson || p->stretches[i].messages == 0)
        return stretch_intended(&p->stretches[i], m->place);
    at_ns = part_ns(&p->stretches[i], m);
    /* Of a stretch that was joined with the next: no later than it became due. */
    if (i + 1 < p->used && at_ns > p->stretches[i + 1].since_ns)
        return p->stretches[i + 1].since_ns;
    return at_ns;
}

/* Forget the stretches of which every message has been taken. */
static void drop_taken(struct pacer *p)
{
    while (p->used > 1 && has_reached(p, &p->stretches[1], &p->next)) {
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

    if (s[2].first > s[0].first) {
        uint64_t span_ns = stretch_intended(&s[1], last) - s[0].start_ns;

        s[0].messages = last - s[0].first;
        s[0].per_ns = span_ns > 0 ? span_ns : 1;
    }
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

/* Where the schedule was when a stretch began at t, a part of a gap before its first. */
static void find_place(const struct pacer_stretch *before, uint64_t t,
                       struct pacer_stretch *next)
{
    double left = 0;

    if (before->messages)
        left = (double)(stretch_intended(before, next->first) - t) *
               (double)before->messages / (double)before->per_ns;
    next->place = next->first - (left > 0);
    next->part = left > 0 ? fmax(0, 1 - left) : 0;
}

void pacer_set_rate(struct pacer *p, uint64_t messages, uint64_t per_ns, uint64_t now_ns)
{
    struct pacer_stretch *last = last_stretch(p);
    uint64_t t = p->is_paused ? p->paused_ns : now_ns;
    struct pacer_stretch next = {.since_ns = t, .messages = messages, .per_ns = per_ns};

    assert_rate(messages, per_ns);
    if (is_rate(last, messages, per_ns))
        return;
    if (t < p->base_ns) {
        last->messages = messages;
        last->per_ns = per_ns;
        return;
    }
    next.first = last->messages                ? stretch_due(last, t)
                 : p->next.place > last->first ? p->next.place
                                               : last->first;
    next.start_ns = t;
    if (last->messages && messages)
        next.start_ns = keep_phase(last, next.first, t, &next);
    find_place(last, t, &next);
    /* A stretch without a message needs no line of its own. */
    if (next.first == last->first && (!p->is_poisson || message_ns(p, &p->next) > t)) {
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
    for (unsigned i = 0; i < p->used; i++) {
        p->stretches[i].since_ns += pause_ns;
        p->stretches[i].start_ns += pause_ns;
    }
}

uint64_t pacer_intended_ns(const struct pacer *p, uint64_t n)
{
    struct pacer_message m = p->next;

    if (!p->is_poisson)
        m.number = m.place = n;
    while (m.number < n)
        step(p, &m);
    return message_ns(p, &m);
}

/* Whether messages have come to be unpaced at an instant; those before them are not. */
static bool is_unpaced(const struct pacer *p, uint64_t t)
{
    const struct pacer_stretch *last = &p->stretches[p->used - 1];

    return last->messages == 0 && t >= last->start_ns;
}

/* How many are due by the schedule. */
static uint64_t poisson_due(struct pacer *p, uint64_t t)
{
    const struct pacer_stretch *last = last_stretch(p);

    if (p->due.number < p->next.number)
        p->due = p->next;
    while (message_ns(p, &p->due) <= t &&
           !(last->messages == 0 && has_reached(p, last, &p->due)))
        step(p, &p->due);
    return p->due.number;
}

uint64_t pacer_due(struct pacer *p, uint64_t now_ns)
{
    uint64_t t = p->is_paused ? p->paused_ns : now_ns;
    uint64_t due;

    if (is_unpaced(p, t))
        return UINT64_MAX;
    if (p->is_poisson)
        return poisson_due(p, t);
    for (unsigned i = p->used - 1; i > 0; i--)
        if (t >= p->stretches[i].start_ns)
            return stretch_due(&p->stretches[i], t);
    due = stretch_due(&p->stretches[0], t);
    if (p->used > 1 && due > p->stretches[1].first)
        return p->stretches[1].first;
    return due;
}

uint64_t pacer_backlog(struct pacer *p, uint64_t now_ns)
{
    const struct pacer_stretch *last = last_stretch(p);
    uint64_t t = p->is_paused ? p->paused_ns : now_ns;
    uint64_t due = p->is_poisson ? poisson_due(p, t) : pacer_due(p, now_ns);

    if (!p->is_poisson && last->messages == 0 && due > last->first)
        due = last->first;
    return due > p->next.number ? due - p->next.number : 0;
}

size_t pacer_take(struct pacer *p, uint64_t now_ns, uint64_t *intended_ns, size_t max)
{
    size_t n = 0;

    while (n < max && pacer_next_ns(p) <= now_ns) {
        drop_taken(p);
        intended_ns[n++] = p->stretches[0].messages ? message_ns(p, &p->next) : now_ns;
        step(p, &p->next);
    }
    return n;
}

uint64_t pacer_next_ns(const struct pacer *p)
{
    return p->is_paused ? UINT64_MAX : message_ns(p, &p->next);
}

uint64_t pacer_gap_ns(const struct pacer *p)
{
    const struct pacer_stretch *last = &p->stretches[p->used - 1];

    return last->messages ? last->per_ns / last->messages : 0;
}
