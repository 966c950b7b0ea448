/*
 * The schedule of one client of a load, begun from its options:
 *
 *   arrivals          "even", or "poisson": the gaps between messages are drawn
 *   arrivals_seed     of the drawing; each client process, and each trial, has its own
 *   sender, senders   this is client `sender` (from 0) of `senders` that share a rate
 *
 * Several clients together keep the rate as one would: even schedules are interleaved
 * evenly, and Poisson ones add up to a Poisson one.
 */
#ifndef PROTOCOLS_SCHEDULE_H
#define PROTOCOLS_SCHEDULE_H

#include <stdbool.h>

#include "protocols/meter.h"
#include "protocols/options.h"
#include "protocols/pacer.h"

bool schedule_is_poisson(const struct options *o);

/* Begin at the common start with this client's share of the rate: see pacer_start. */
void schedule_start(struct pacer *p, uint64_t start_ns, uint64_t messages,
                    uint64_t per_ns, const struct options *o);

/* The histograms that schedule_note records into. 0 or -ENOMEM. */
int schedule_use(struct meter *m);

/* When this process last kept a message back: what waits since then has not been sent. */
struct schedule_away {
    uint64_t from_ns, until_ns;
};

/*
 * A message was sent: how late it was by the schedule, and for how much of that nobody
 * but this process kept it back, because it was busy or did not run. room_ns: since when
 * there was room for a message; 0: always. Who waits for room behind others, for which
 * there was room before they were sent, has been kept back as well.
 */
static inline void schedule_note(struct meter *m, struct schedule_away *away,
                                 uint64_t due_ns, uint64_t room_ns, uint64_t sent_ns)
{
    uint64_t from_ns = due_ns > room_ns ? due_ns : room_ns;
    uint64_t own_ns = sent_ns > from_ns ? sent_ns - from_ns : 0;
    uint64_t before_ns = 0;

    if (due_ns < away->until_ns && from_ns >= away->until_ns)
        before_ns = away->until_ns - (due_ns > away->from_ns ? due_ns : away->from_ns);
    else if (due_ns >= away->until_ns || own_ns > away->until_ns - away->from_ns)
        *away = (struct schedule_away){from_ns, from_ns + own_ns};
    meter_record(m, METER_HIST_pacing, sent_ns - due_ns);
    meter_record(m, METER_HIST_generator, own_ns + before_ns);
}

/*
 * Load ends at an instant: of what was due before it, up to `max`, nothing will be begun
 * any more. Each counts as never_begun, with how long it had waited until then among the
 * unfinished. Nothing is ever due without a rate.
 */
void schedule_end(struct pacer *p, uint64_t end_ns, uint64_t max, struct meter *m);

#endif
