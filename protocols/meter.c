#include "protocols/meter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    for (int i = 0; i < METER_HIST_COUNT; i++)
        if (m->hists[i])
            hist_reset(m->hists[i]);
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
    for (enum meter_hist i = 0; i < METER_HIST_COUNT; i++) {
        if (!from->hists[i])
            continue;
        if (meter_use(into, i) < 0)
            return -ENOMEM;
        hist_merge(into->hists[i], from->hists[i]);
    }
    return 0;
}
