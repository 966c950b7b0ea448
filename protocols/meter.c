#include "protocols/meter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/survival.h"

struct meter *meter_new(void)
{
    return calloc(1, sizeof(struct meter));
}

void meter_free(struct meter *m)
{
    if (!m)
        return;
    for (int i = 0; i < METER_HIST_COUNT; i++)
        hist_free(m->hists[i]);
    free(m);
}

int meter_use(struct meter *m, enum meter_hist which)
{
    if (!m->hists[which])
        m->hists[which] = hist_new();
    return m->hists[which] ? 0 : -ENOMEM;
}

void meter_reset(struct meter *m)
{
    memset(&m->counters, 0, sizeof(m->counters));
#define X(name, help) tally_zero(&m->name);
    METER_TALLIES(X)
#undef X
#define X(name, help) m->name = (struct meter_span){0, 0};
    METER_SPANS(X)
#undef X
    for (int i = 0; i < METER_HIST_COUNT; i++)
        if (m->hists[i])
            hist_reset(m->hists[i]);
}

static void span_merge(struct meter_span *into, const struct meter_span *from)
{
    if (!from->last_ns)
        return;
    if (!into->last_ns || from->first_ns < into->first_ns)
        into->first_ns = from->first_ns;
    if (from->last_ns > into->last_ns)
        into->last_ns = from->last_ns;
}

static void span_since(struct meter_span *s, uint64_t start_ns)
{
    if (!s->last_ns)
        return;
    s->first_ns = s->first_ns > start_ns ? s->first_ns - start_ns : 0;
    s->last_ns = s->last_ns > start_ns ? s->last_ns - start_ns : 1;
}

void meter_spans_since(struct meter *m, uint64_t start_ns)
{
#define X(name, help) span_since(&m->name, start_ns);
    METER_SPANS(X)
#undef X
}

void meter_latency(struct hist_summary *s, const struct meter *m)
{
    survival_summarise(s, m ? m->hists[METER_HIST_latency] : NULL,
                       m ? m->hists[METER_HIST_unfinished] : NULL);
}

int meter_merge(struct meter *into, const struct meter *from)
{
#define X(name, unit, help) into->counters.name += from->counters.name;
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) into->gauges.name += from->gauges.name;
    METER_GAUGES(X)
#undef X
#define X(name, help) tally_merge(&into->name, &from->name);
    METER_TALLIES(X)
#undef X
#define X(name, help) span_merge(&into->name, &from->name);
    METER_SPANS(X)
#undef X
    for (enum meter_hist i = 0; i < METER_HIST_COUNT; i++) {
        if (!from->hists[i])
            continue;
        if (meter_use(into, i) < 0)
            return -ENOMEM;
        hist_merge(into->hists[i], from->hists[i]);
    }
    return 0;
}
