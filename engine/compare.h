/*
 * Is B better than A? A side of a comparison is one or more runs; every trial of theirs
 * that was carried out gives one value of each metric. What is said of a metric:
 *
 *   two medians, and how far B lies from A with a 95 % interval (engine/ranks.h), in the
 *   metric's unit and as a share of A's median where that is not zero; by ratios where
 *   all values are positive and no shares of a whole, so that -50 % and +100 % are
 * equally far, by differences elsewhere
 *
 *   a verdict: better, worse, or no evidence. There is evidence when the difference
 *   would be so far from zero by chance only seldom, and when it is not smaller than
 *   `at_least` of A's median. One trial on a side is never evidence.
 *
 * Many metrics are looked at, so some would differ by chance: the chance that *any*
 * verdict of a comparison of equals is better or worse is kept to 3 % (Holm's method):
 * 2.5 % shared by the scenario's headline metrics, for which five trials on each side
 * can be enough, and 0.5 % by all others; or 3 % by those that the user names. An
 * interval is that of its metric alone, and may leave zero out where the verdict, which
 * knows of the others, is not sure.
 *
 * Paired: the n-th run of A and of B were made one after the other (engine/rounds.h), so
 * that what the machine did in the meantime has met both. Five rounds are then the
 * least for a verdict on three metrics. Otherwise the two sides are
 * taken as independent, and that the machine was the same is the reader's to judge;
 * what is known to differ stands in the warnings.
 */
#ifndef ENGINE_COMPARE_H
#define ENGINE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/ranks.h"
#include "engine/run.h"
#include "protocols/fail.h"

enum evidence { EVIDENCE_NONE, EVIDENCE_BETTER, EVIDENCE_WORSE };

struct compare_side {
    const char *name; /* "A", "rate=1000" */
    size_t count;
    struct run *const *runs; /* borrowed: outlive the comparison; none is NULL */
};

struct compare_options {
    bool paired;
    double at_least;     /* share of A's median, 0.01 */
    size_t metric_count; /* 0: the scenario's headline metrics, and all others */
    enum metric metrics[METRIC_COUNT];
};

#define COMPARE_AT_LEAST 0.01

struct compared {
    enum metric metric;
    bool headline;
    size_t n_a, n_b;         /* values; pairs when paired */
    double a, b;             /* medians; NaN when not measured */
    struct shift shift;      /* p is that of the test which the verdict is by */
    double p_pairs, p_apart; /* by pairs; as two independent sets */
    bool by_pairs;           /* which of them */
    double share, share_low, share_high; /* of A's median; NaN where that is 0 */
    double p_adjusted;                   /* NaN where no verdict was tried */
    enum evidence evidence;
    const char *why;      /* there is none: "one trial", "may be chance"; "" */
    double values[2][64]; /* the trials in order, for the charts: at most 64 */
};

/* Latency at a quantile, from all trials of a side together. */
struct compared_quantile {
    double q;
    uint64_t a_ns, b_ns;
};

#define COMPARE_WARNINGS 24
#define COMPARE_QUANTILES 12

struct comparison {
    struct compare_side a, b; /* copies; the runs are borrowed */
    struct compare_options options;
    size_t count;
    struct compared rows[METRIC_COUNT]; /* headline metrics first */
    struct hist *latency[2];            /* of all trials together; NULL: none; owned */
    size_t quantile_count;
    struct compared_quantile quantiles[COMPARE_QUANTILES];
    size_t warning_count; /* what differs, sentences without a full stop */
    char warnings[COMPARE_WARNINGS][400];
};

/*
 * Compare. NULL and a sentence when there is nothing to compare: no metric that both
 * sides measured, or sides of unequal length when paired.
 */
struct comparison *comparison_new(const struct compare_side *a,
                                  const struct compare_side *b,
                                  const struct compare_options *options,
                                  struct fail *fail);
void comparison_free(struct comparison *c); /* NULL is fine */

/* Whether any metric is worse, or better. */
bool comparison_has(const struct comparison *c, enum evidence evidence);

/* "better", "worse", "no evidence". */
const char *evidence_name(enum evidence evidence);

/* How the differences were worked out: sentences, for every form of the report. */
void comparison_method(const struct comparison *c, char *text, size_t size);

/* "+5.1 %": a share with its sign; "-" when unknown. */
void compare_share_text(double share, char *text, size_t size);

#endif
