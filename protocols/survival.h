/*
 * A summary of times of which some are only known to be *at least* so long: operations
 * that were still open at the end have waited until then, and nobody knows for how much
 * longer. To leave them out would call a server that hangs a fast one, since only its
 * early answers count; to take them as ended would do so too, a little less.
 *
 * The estimate is that of Kaplan and Meier (1958): an operation counts among those that
 * may still end for as long as it has been watched, and no longer. So a few young ones at
 * the end of a healthy run hardly change anything. Where those that were open for longest
 * hold the upper end, the quantiles above the share that is known are *bounds*: at least
 * the longest time that ended, and at least what they would be if all open ones had ended
 * at once. Mean, deviation and maximum are bounds then as well.
 */
#ifndef PROTOCOLS_SURVIVAL_H
#define PROTOCOLS_SURVIVAL_H

#include <stdbool.h>

#include "protocols/hist.h"

/*
 * hist_summarise with those in `open` taken in; either may be NULL. `count` and `min` are
 * of what has ended, or all of what is open where nothing has. Without open ones it is
 * hist_summarise to the bit.
 */
void survival_summarise(struct hist_summary *s, const struct hist *ended,
                        const struct hist *open);

/* Whether a quantile (0..1) is a bound from below; 1 asks for the mean and the maximum.
 */
static inline bool survival_is_bound(const struct hist_summary *s, double q)
{
    return s->open > 0 && q > s->known;
}

/* Nobody minds what was open for less. */
#define SURVIVAL_YOUNG_NS 100000000ull

/*
 * Of the open ones, those that have waited more than twice as long as 99 % of what has
 * ended did, and longer than SURVIVAL_YOUNG_NS.
 */
uint64_t survival_overdue(const struct hist *ended, const struct hist *open);

#endif
