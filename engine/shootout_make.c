/* Who takes part in which shoot-out, and with what values. */
#include "engine/shootout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "protocols/array.h"

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

/* A scenario of requests at one message size: on one kept connection, for a while. */
static int add_at_size(const struct making *k, const char *scenario, uint64_t size)
{
    struct contestant *c;
    char text[24];
    int rc = begin_contestant(k, scenario, &c);

    if (rc < 0)
        return rc;
    units_format_exact(UNIT_SIZE, size, text, sizeof(text));
    snprintf(c->name, sizeof(c->name), "%s, %s",
             options_text(&c->values, OPTION_transport, ""), text);
    rc = options_set_text(&c->values, OPTION_client, "persistent");
    if (rc == 0)
        rc = options_set_number(&c->values, OPTION_message_size, size);
    if (rc == 0)
        rc = options_set_number(&c->values, OPTION_requests, 1000000000);
    if (rc == 0)
        rc = options_set_number(&c->values, OPTION_duration, k->s->each_ns);
    return rc;
}

static int add_sizes(const struct making *k, const char *const *scenarios, size_t count)
{
    unsigned step = k->s->quick ? 16 : 4;

    for (uint64_t size = 1; size <= 1 << 20; size *= step) {
        struct shootout_group *g;
        char title[24];

        units_format_binary((double)size, title, sizeof(title));
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
