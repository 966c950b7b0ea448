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

/*
 * Load ends at an instant: of what was due before it, up to `max`, nothing will be begun
 * any more. Each counts as never_begun, with how long it had waited until then among the
 * unfinished. Nothing is ever due without a rate.
 */
void schedule_end(struct pacer *p, uint64_t end_ns, uint64_t max, struct meter *m);

#endif
