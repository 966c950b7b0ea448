#include "engine/shootout.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/statistics.h"
#include "engine/units.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/random.h"

#define ALPHA 0.05
#define RESAMPLINGS 2000

/* --- making --- */

struct making {
    struct shootout *s;
    const struct options *typed;
    struct fail *fail;
};

/* What the user gave, where the scenario has it. */
static int take_typed(struct options *values, const struct scenario *s,
                      const struct options *typed)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < typed->count; i++) {
        const struct option_value *v = &typed->values[i];

        if (!scenario_param(s, v->option))
            continue;
        rc = v->text ? options_set_text(values, v->option, v->text)
                     : options_set_number(values, v->option, v->number);
    }
    return rc;
}

/* A contestant with the scenario's values; it is not counted before it is complete. */
static int begin_contestant(const struct making *k, const char *scenario,
                            struct contestant **made)
{
    struct shootout *s = k->s;
    struct contestant *c = &s->contestants[s->rounds.count];
    int rc;

    c->scenario = scenario_find(scenario);
    if (!c->scenario || s->rounds.count == SHOOTOUT_CONTESTANTS)
        return fail_usage(k->fail, "shootout", "there is no scenario %s", scenario);
    snprintf(c->name, sizeof(c->name), "%s", scenario);
    s->rounds.count++;
    rc = scenario_defaults(c->scenario, &c->values);
    if (rc == 0 && s->quick)
        rc = scenario_quick(c->scenario, &c->values);
    if (rc == 0)
        rc = options_set_number(&c->values, OPTION_trials, 1);
    /* One port for many runs in a row would only be in its own way. */
    if (rc == 0 && scenario_param(c->scenario, OPTION_port))
        rc = options_set_number(&c->values, OPTION_port, 0);
    if (rc == 0)
        rc = take_typed(&c->values, c->scenario, k->typed);
    *made = c;
    return rc;
}

static struct shootout_group *add_group(struct shootout *s, enum shootout_table table,
                                        const char *title, enum metric metric)
{
    struct shootout_group *g = &s->groups[s->group_count++];

    *g = (struct shootout_group){.table = table, .metric = metric};
    snprintf(g->title, sizeof(g->title), "%s", title);
    return g;
}

/* Documented scenarios, which form a group. */
static int add_documented(const struct making *k, const char *title, enum metric metric,
                          const char *const *scenarios, size_t count)
{
    struct shootout_group *g = add_group(k->s, SHOOTOUT_DOCUMENTED, title, metric);

    for (size_t i = 0; i < count; i++) {
        struct contestant *c;
        int rc = begin_contestant(k, scenarios[i], &c);

        if (rc < 0)
            return rc;
        g->members[g->count++] = k->s->rounds.count - 1;
    }
    k->s->documented_count = k->s->rounds.count;
    return 0;
}

/* The scenarios of a family, in the order of the table; returns how many. */
static size_t of_family(const struct family *family, const char *names[SHOOTOUT_MEMBERS])
{
    size_t count, n = 0;
    const struct scenario *table = scenario_table(&count);

    for (size_t i = 0; i < count && n < SHOOTOUT_MEMBERS; i++)
        if (table[i].family == family)
            names[n++] = table[i].name;
    return n;
}

static const char *transport_of_contestant(const struct contestant *c)
{
    return options_text(&c->values, OPTION_transport, "");
}

/* A scenario of requests at one message size: on one kept connection, for a while. */
static int add_at_size(const struct making *k, const char *scenario, uint64_t size)
{
    struct contestant *c;
    char text[24];
    int rc = begin_contestant(k, scenario, &c);

    if (rc < 0)
        return rc;
    units_format_exact(UNIT_SIZE, size, text, sizeof(text));
    snprintf(c->name, sizeof(c->name), "%s, %s", transport_of_contestant(c), text);
    rc = options_set_text(&c->values, OPTION_client, "persistent");
    if (rc == 0)
        rc = options_set_number(&c->values, OPTION_message_size, size);
    if (rc == 0)
        rc = options_set_number(&c->values, OPTION_requests, 1000000000);
    if (rc == 0)
        rc = options_set_number(&c->values, OPTION_duration, k->s->each_ns);
    return rc;
}

/* "4 KiB": a power of two below 2 MiB */
static void size_title(uint64_t size, char *text, size_t room)
{
    unsigned n = (unsigned)size;

    if (n < 1024)
        snprintf(text, room, "%u B", n);
    else if (n < 1048576)
        snprintf(text, room, "%u KiB", n / 1024);
    else
        snprintf(text, room, "%u MiB", n / 1048576);
}

static int add_sizes(const struct making *k, const char *const *scenarios, size_t count)
{
    unsigned step = k->s->quick ? 16 : 4;

    for (uint64_t size = 1; size <= 1 << 20; size *= step) {
        struct shootout_group *g;
        char title[24];

        size_title(size, title, sizeof(title));
        g = add_group(k->s, SHOOTOUT_SIZES, title, METRIC_requests_per_second);
        g->size_bytes = size;
        for (size_t i = 0; i < count; i++) {
            int rc = add_at_size(k, scenarios[i], size);

            if (rc < 0)
                return rc;
            g->members[g->count++] = k->s->rounds.count - 1;
        }
    }
    return 0;
}

static int make_stream(const struct making *k)
{
    const char *names[SHOOTOUT_MEMBERS];
    size_t count = of_family(&family_bulk, names);
    int rc;

    k->s->title = "TCP, Unix sockets and named pipes";
    rc = add_documented(k, "bulk", METRIC_seconds, names, count);
    if (rc < 0)
        return rc;
    count = of_family(&family_requests, names);
    rc = add_documented(k, "requests", METRIC_seconds, names, count);
    return rc < 0 ? rc : add_sizes(k, names, count);
}

/* A contestant that sends in another way than the scenario's own. */
struct way {
    const char *name, *scenario;
    struct {
        enum option option;
        const char *value;
    } set[4];
};

static int add_way(const struct making *k, const struct way *way)
{
    struct contestant *c;
    int rc = begin_contestant(k, way->scenario, &c);

    for (size_t i = 0; rc == 0 && i < NUMBER_OF(way->set) && way->set[i].option; i++)
        rc = param_set(&c->values, scenario_param(c->scenario, way->set[i].option),
                       way->set[i].value, k->fail);
    if (rc == 0)
        snprintf(c->name, sizeof(c->name), "%s", way->name);
    return rc;
}

enum udp_contestant {
    FRESH_SERIES,
    FRESH_PARALLEL,
    CACHED_SERIES,
    CACHED_PARALLEL,
    FRESH_WINDOW, /* the one whose documented outcome is a crash, as it can work */
    SERIES_PLAIN,
    SERIES_ONCE,
    SERIES_CONNECTED,
    PARALLEL_ONCE,
    PARALLEL_CONNECTED,
    PARALLEL_GSO,
};

/* In the order of enum udp_contestant, from FRESH_WINDOW on. */
static const struct way udp_ways[] = {
    {"udp-fresh-parallel, window 64", "udp-fresh-parallel", {{OPTION_window, "64"}}},
    {"cached-series, plain", "udp-cached-series", {{OPTION_payload, "plain"}}},
    {"cached-series, once", "udp-cached-series", {{OPTION_resolve, "once"}}},
    {"cached-series, once, connected",
     "udp-cached-series",
     {{OPTION_resolve, "once"}, {OPTION_connected, "on"}}},
    {"cached-parallel, once", "udp-cached-parallel", {{OPTION_resolve, "once"}}},
    {"cached-parallel, once, connected",
     "udp-cached-parallel",
     {{OPTION_resolve, "once"}, {OPTION_connected, "on"}}},
    {"cached-parallel, once, gso",
     "udp-cached-parallel",
     {{OPTION_resolve, "once"},
      {OPTION_connected, "on"},
      {OPTION_gso, "on"},
      {OPTION_gro, "on"}}},
};

static const struct shootout_step udp_steps[] = {
    {.from = FRESH_SERIES, .to = CACHED_SERIES, .what = "one socket for all"},
    {.from = FRESH_SERIES, .to = FRESH_WINDOW, .what = "in parallel"},
    {.from = CACHED_SERIES, .to = CACHED_PARALLEL, .what = "in parallel"},
    {.from = SERIES_PLAIN, .to = CACHED_SERIES, .what = "number and time in it"},
    {.from = CACHED_SERIES, .to = SERIES_ONCE, .what = "the name looked up once"},
    {.from = SERIES_ONCE, .to = SERIES_CONNECTED, .what = "connected"},
    {.from = CACHED_PARALLEL, .to = PARALLEL_ONCE, .what = "the name looked up once"},
    {.from = PARALLEL_ONCE, .to = PARALLEL_CONNECTED, .what = "connected"},
    {.from = PARALLEL_CONNECTED, .to = PARALLEL_GSO, .what = "cut by the kernel"},
    {.from = SERIES_CONNECTED, .to = PARALLEL_CONNECTED, .what = "in parallel"},
};

static int make_udp(const struct making *k)
{
    static const char *const strategies[] = {"udp-fresh-series", "udp-fresh-parallel",
                                             "udp-cached-series", "udp-cached-parallel"};
    struct shootout *s = k->s;
    int rc;

    s->title = "four strategies of sending datagrams";
    rc = add_documented(k, "strategies", METRIC_received_per_second, strategies, 4);
    for (size_t i = 0; rc == 0 && i < NUMBER_OF(udp_ways); i++)
        rc = add_way(k, &udp_ways[i]);
    if (rc < 0)
        return rc;
    s->groups[0].members[s->groups[0].count++] = FRESH_WINDOW;
    s->documented_count = FRESH_WINDOW + 1;
    memcpy(s->steps, udp_steps, sizeof(udp_steps));
    s->step_count = NUMBER_OF(udp_steps);
    return 0;
}

static int make_services(const struct making *k)
{
    static const char *const services[] = {"rest-rest", "rest-topper"};

    k->s->title = "a service behind REST, asked by REST or by Topper";
    return add_documented(k, "services", METRIC_requests_per_second, services, 2);
}

static const struct shootout_kind {
    const char *name;
    unsigned families; /* of its scenarios */
    int (*make)(const struct making *k);
} kinds[] = {
    {"stream", FAMILY_STREAM, make_stream},
    {"udp", FAMILY_UDP, make_udp},
    {"services", FAMILY_SERVICE, make_services},
};

static const struct shootout_kind *kind_named(const char *name)
{
    for (size_t i = 0; i < NUMBER_OF(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

unsigned shootout_families(const char *name)
{
    const struct shootout_kind *kind = kind_named(name);

    return kind ? kind->families : FAMILY_ALL;
}

int shootout_make(struct shootout *s, const char *name, bool quick,
                  const struct options *typed, struct fail *fail)
{
    const struct shootout_kind *kind = kind_named(name);
    struct making k = {.typed = typed, .fail = fail};
    int rc;

    *s = (struct shootout){.name = name, .quick = quick};
    if (!kind)
        return fail_usage(
            fail, "shootout",
            "there is no shoot-out '%.40s'; there are stream, udp, services", name);
    k.s = s;
    s->each_ns = quick ? 100000000 : 300000000;
    s->contestants = calloc(SHOOTOUT_CONTESTANTS, sizeof(*s->contestants));
    if (!s->contestants)
        return fail_set(fail, ENOMEM, "shootout", "a shoot-out");
    s->rounds.contestants = s->contestants;
    s->rounds.rounds = quick ? 6 : 7;
    s->rounds.order = ROUNDS_SHUFFLED;
    s->rounds.keep_going = true;
    s->rounds.lean = true;
    rc = kind->make(&k);
    return rc == -ENOMEM ? fail_set(fail, ENOMEM, "shootout", "a shoot-out") : rc;
}

void shootout_done(struct shootout *s)
{
    rounds_done(&s->rounds);
    free(s->contestants);
    s->contestants = NULL;
}

/* --- values --- */

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
    const struct reference *ref = s->contestants[contestant].scenario->references;
    struct statistics documented;

    if (contestant >= s->documented_count)
        return (double)NAN;
    while (ref->metric && strcmp(ref->metric, "seconds") != 0)
        ref++;
    statistics_of(ref->values, ref->count, &documented);
    return ref->metric ? documented.median : (double)NAN;
}

double shootout_documented_factor(const struct shootout *s,
                                  const struct shootout_step *step)
{
    return documented_seconds(s, step->from) / documented_seconds(s, step->to);
}

/* --- judging --- */

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

/* --- crossings --- */

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
