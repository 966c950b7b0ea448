#include "engine/shootout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/statistics.h"
#include "protocols/clock.h"
#include "protocols/random.h"

#define ALPHA 0.05
#define RESAMPLINGS 2000

void shootout_done(struct shootout *s)
{
    rounds_done(&s->rounds);
    free(s->contestants);
    s->contestants = NULL;
}

/* Values. */

static const char *transport_of_contestant(const struct contestant *c)
{
    return options_text(&c->values, OPTION_transport, "");
}

static const struct trial *trial_of(const struct run *r)
{
    return r->trials_begun ? r->trials[0] : NULL;
}

size_t shootout_runs(const struct shootout *s, size_t *crowded)
{
    size_t n = 0;

    *crowded = 0;
    for (size_t i = 0; i < s->rounds.count; i++)
        for (size_t k = 0; k < s->contestants[i].count; k++) {
            const struct trial *t = trial_of(s->contestants[i].runs[k]);

            n++;
            *crowded += t && trial_was_crowded(t);
        }
    return n;
}

bool shootout_has_size(const struct shootout *s, size_t contestant)
{
    for (size_t g = 0; g < s->group_count; g++)
        for (size_t m = 0; m < s->groups[g].count; m++)
            if (s->groups[g].members[m] == contestant)
                return s->groups[g].table == SHOOTOUT_SIZES;
    return false;
}

size_t shootout_values(const struct contestant *c, enum metric metric,
                       double values[ROUNDS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct trial *t = trial_of(c->runs[i]);

        if (t && t->outcome == OUTCOME_COMPLETED && isfinite(t->metrics[metric]))
            values[n++] = t->metrics[metric];
    }
    return n;
}

const char *shootout_problem(const struct contestant *c)
{
    for (size_t i = c->count; i-- > 0;)
        if (c->runs[i]->outcome != OUTCOME_COMPLETED)
            return c->runs[i]->reason;
    return "";
}

/* Logarithms of what is positive: ratios are compared. */
static size_t logarithms(const struct contestant *c, enum metric metric,
                         double values[ROUNDS_MAX])
{
    size_t n = shootout_values(c, metric, values), kept = 0;

    for (size_t i = 0; i < n; i++)
        if (values[i] > 0)
            values[kept++] = log(values[i]);
    return kept;
}

bool shootout_sending(const struct contestant *c, double *turns, double *calls)
{
    double t[ROUNDS_MAX], n[ROUNDS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct trial *trial = trial_of(c->runs[i]);
        const struct meter_counters *sent = trial ? &trial->counters[PLACE_CLIENT] : NULL;

        if (!sent || trial->outcome != OUTCOME_COMPLETED || !sent->turns ||
            !sent->attempted)
            continue;
        t[count] = (double)sent->turns / (double)sent->attempted;
        n[count++] = (double)sent->send_calls / (double)sent->attempted;
    }
    if (!count)
        return false;
    statistics_sort(t, count);
    statistics_sort(n, count);
    *turns = statistics_median(t, count);
    *calls = statistics_median(n, count);
    return true;
}

static double documented_seconds(const struct shootout *s, size_t contestant)
{
    const struct scenario *scenario = s->contestants[contestant].scenario;
    const struct reference *ref = reference_find(scenario->references, "seconds");

    if (contestant >= s->documented_count)
        return (double)NAN;
    return ref ? reference_median(ref) : (double)NAN;
}

double shootout_documented_factor(const struct shootout *s,
                                  const struct shootout_step *step)
{
    return documented_seconds(s, step->from) / documented_seconds(s, step->to);
}

/* Judging. */

static const struct contestant *member_of(const struct shootout *s,
                                          const struct shootout_group *g, size_t member)
{
    return &s->contestants[g->members[member]];
}

const char *shootout_member(const struct shootout *s, const struct shootout_group *g,
                            size_t member)
{
    const struct contestant *c = member_of(s, g, member);

    return g->size_bytes ? transport_of_contestant(c) : c->name;
}

static void find_best(const struct shootout *s, struct shootout_group *g)
{
    double most = -(double)INFINITY;

    g->any = false;
    for (size_t m = 0; m < g->count; m++) {
        double values[ROUNDS_MAX];
        size_t n = logarithms(member_of(s, g, m), g->metric, values);
        double score;

        statistics_sort(values, n);
        score = statistics_median(values, n) * metric_row(g->metric)->better;
        if (n && score > most) {
            most = score;
            g->best = m;
            g->any = true;
        }
    }
}

static void add_pairs(struct shootout *s, size_t group)
{
    const struct shootout_group *g = &s->groups[group];

    for (size_t x = 0; x < g->count; x++)
        for (size_t y = x + 1; y < g->count; y++) {
            struct shootout_pair *pair = &s->pairs[s->pair_count++];
            double a[ROUNDS_MAX], b[ROUNDS_MAX];
            size_t n = logarithms(member_of(s, g, x), g->metric, a);
            size_t m = logarithms(member_of(s, g, y), g->metric, b);

            *pair = (struct shootout_pair){.group = group, .x = x, .y = y};
            ranks_unpaired(a, n, b, m, &pair->shift);
            pair->p_adjusted = n > 1 && m > 1 ? pair->shift.p : (double)NAN;
        }
}

/* Holm over all pairs of a table, and what each then shows. */
static void judge_pairs(struct shootout *s, enum shootout_table table)
{
    double p[SHOOTOUT_PAIRS];

    for (size_t i = 0; i < s->pair_count; i++)
        p[i] = s->groups[s->pairs[i].group].table == table ? s->pairs[i].p_adjusted
                                                           : (double)NAN;
    ranks_holm(p, s->pair_count);
    for (size_t i = 0; i < s->pair_count; i++) {
        struct shootout_pair *pair = &s->pairs[i];
        int better = metric_row(s->groups[pair->group].metric)->better;

        if (s->groups[pair->group].table != table)
            continue;
        pair->p_adjusted = p[i];
        if (p[i] <= ALPHA)
            pair->evident = (pair->shift.estimate > 0 ? 1 : -1) * better;
    }
}

static const struct shootout_pair *pair_of(const struct shootout *s, size_t group,
                                           size_t x, size_t y)
{
    for (size_t i = 0; i < s->pair_count; i++) {
        const struct shootout_pair *p = &s->pairs[i];

        if (p->group == group && ((p->x == x && p->y == y) || (p->x == y && p->y == x)))
            return p;
    }
    return NULL;
}

/* Whether member x is known to be faster than y. */
static bool is_faster(const struct shootout *s, size_t group, size_t x, size_t y)
{
    const struct shootout_pair *p = pair_of(s, group, x, y);

    return p && p->evident == (p->x == x ? -1 : 1);
}

static void find_near(struct shootout *s, size_t group)
{
    struct shootout_group *g = &s->groups[group];

    for (size_t m = 0; m < g->count; m++) {
        double values[ROUNDS_MAX];

        g->is_near[m] = g->any && (m == g->best ||
                                   (logarithms(member_of(s, g, m), g->metric, values) &&
                                    !is_faster(s, group, g->best, m)));
    }
}

static void judge_step(const struct shootout *s, struct shootout_step *step)
{
    double from[ROUNDS_MAX], to[ROUNDS_MAX];
    size_t n = logarithms(&s->contestants[step->from], METRIC_seconds, from);
    size_t m = logarithms(&s->contestants[step->to], METRIC_seconds, to);

    ranks_unpaired(from, n, to, m, &step->shift);
}

/* Crossings. */

/* The logarithm of the ratio of two members' medians at a size; with a state, of values
 * drawn from theirs with replacement. */
static double log_ratio(const struct shootout *s, size_t group, size_t x, size_t y,
                        uint64_t *state)
{
    const struct shootout_group *g = &s->groups[group];
    double medians[2];

    for (int i = 0; i < 2; i++) {
        double values[ROUNDS_MAX], drawn[ROUNDS_MAX];
        size_t n = logarithms(member_of(s, g, i ? y : x), g->metric, values);

        for (size_t k = 0; k < n; k++)
            drawn[k] = values[state ? random_next(state) % n : k];
        statistics_sort(drawn, n);
        medians[i] = statistics_median(drawn, n);
    }
    return medians[0] - medians[1];
}

/*
 * Where the ratio passes one between two groups, going down: the last such place, by a
 * straight line over the logarithm of the size. NaN when it does not.
 */
static double passing(const struct shootout *s, const struct shootout_crossing *c,
                      uint64_t *state)
{
    double before = log_ratio(s, c->first, c->below, c->above, state);
    double at = (double)NAN;

    for (size_t g = c->first + 1; g <= c->last; g++) {
        double now = log_ratio(s, g, c->below, c->above, state);
        double from = log((double)s->groups[g - 1].size_bytes);
        double to = log((double)s->groups[g].size_bytes);

        if (before > 0 && now <= 0)
            at = exp(from + (to - from) * before / (before - now));
        before = now;
    }
    return at;
}

static void locate(const struct shootout *s, struct shootout_crossing *c)
{
    static const uint64_t seed = 1;
    double *places = calloc(RESAMPLINGS, sizeof(*places));
    uint64_t state = seed;
    size_t n = 0;

    c->size_bytes = passing(s, c, NULL);
    c->low = c->high = (double)NAN;
    for (size_t i = 0; places && i < RESAMPLINGS; i++) {
        double at = passing(s, c, &state);

        if (isfinite(at))
            places[n++] = at;
    }
    if (n >= RESAMPLINGS / 2) {
        statistics_sort(places, n);
        c->low = places[(size_t)(0.025 * (double)n)];
        c->high = places[(size_t)(0.975 * (double)(n - 1))];
    }
    free(places);
}

/* The crossings of two transports, from the smallest size on. */
static void find_crossings(struct shootout *s, size_t x, size_t y)
{
    size_t known = SIZE_MAX; /* the last group where one was known to be faster */
    size_t leader = 0;

    for (size_t g = 0; g < s->group_count; g++) {
        size_t faster;

        if (s->groups[g].table != SHOOTOUT_SIZES)
            continue;
        if (is_faster(s, g, x, y))
            faster = x;
        else if (is_faster(s, g, y, x))
            faster = y;
        else
            continue;
        if (known != SIZE_MAX && faster != leader &&
            s->crossing_count < SHOOTOUT_CROSSINGS) {
            struct shootout_crossing *c = &s->crossings[s->crossing_count++];

            *c = (struct shootout_crossing){
                .below = leader, .above = faster, .first = known, .last = g};
            locate(s, c);
        }
        known = g;
        leader = faster;
    }
}

/* Every size has the same members. */
static void find_all_crossings(struct shootout *s)
{
    const struct shootout_group *last = &s->groups[s->group_count - 1];

    for (size_t x = 0; last->size_bytes && x < last->count; x++)
        for (size_t y = x + 1; y < last->count; y++)
            find_crossings(s, x, y);
}

void shootout_judge(struct shootout *s)
{
    s->pair_count = s->crossing_count = 0;
    for (size_t g = 0; g < s->group_count; g++) {
        find_best(s, &s->groups[g]);
        add_pairs(s, g);
    }
    for (int table = 0; table < SHOOTOUT_TABLES; table++)
        judge_pairs(s, (enum shootout_table)table);
    for (size_t g = 0; g < s->group_count; g++)
        find_near(s, g);
    for (size_t i = 0; i < s->step_count; i++)
        judge_step(s, &s->steps[i]);
    find_all_crossings(s);
}

int shootout_carry_out(struct shootout *s, struct fail *fail)
{
    uint64_t begin = now_ns();
    int rc = rounds_carry_out(&s->rounds, fail);

    s->seconds = (double)(now_ns() - begin) / 1e9;
    if (rc == 0)
        shootout_judge(s);
    return rc;
}
