#include "engine/bottleneck.h"

#include <math.h>
#include <stdio.h>

#include "engine/units.h"

struct busy busy_unknown(void)
{
    struct busy b;

    for (int p = 0; p < PLACE_COUNT; p++)
        b.cpu_percent[p] = b.waited_percent[p] = (double)NAN;
    return b;
}

/* The place with the greatest known figure, the client aside if asked to; -1: none. */
static int greatest(const double percent[PLACE_COUNT], bool with_client)
{
    int most = -1;

    for (int p = 0; p < PLACE_COUNT; p++)
        if ((with_client || p != PLACE_CLIENT) && !isnan(percent[p]) &&
            (most < 0 || percent[p] > percent[most]))
            most = p;
    return most;
}

bool busy_is_crowded(const struct busy *b)
{
    int most = greatest(b->waited_percent, true);

    return most >= 0 && b->waited_percent[most] >= CROWDED_PERCENT;
}

static enum bottleneck say_crowded(const struct busy *b, char *text, size_t size)
{
    int most = greatest(b->waited_percent, true);

    snprintf(text, size,
             "%s %s waited %.0f %% of the time for a core: other work distorts this",
             most == PLACE_CLIENT ? "a" : "the", place_name((enum place)most),
             b->waited_percent[most]);
    return BOTTLENECK_CORES;
}

static enum bottleneck say_none(const struct busy *b, char *text, size_t size)
{
    bool has_endpoint = !isnan(b->cpu_percent[PLACE_ENDPOINT]);
    bool has_server = !isnan(b->cpu_percent[PLACE_SERVER]);
    char cell[PLACE_COUNT][32];

    for (int p = 0; p < PLACE_COUNT; p++)
        units_format_fixed(b->cpu_percent[p], 0, cell[p], sizeof(cell[p]));
    if (!has_endpoint && !has_server)
        snprintf(text, size, "client %s %% busy; the server was not measured",
                 cell[PLACE_CLIENT]);
    else if (!has_endpoint)
        snprintf(text, size,
                 "client %s %%, server %s %% busy: neither end's CPU is the limit",
                 cell[PLACE_CLIENT], cell[PLACE_SERVER]);
    else if (!has_server)
        snprintf(text, size,
                 "client %s %%, endpoint %s %% busy; the server was not measured",
                 cell[PLACE_CLIENT], cell[PLACE_ENDPOINT]);
    else
        snprintf(text, size,
                 "client %s %%, endpoint %s %%, server %s %% busy: no process's "
                 "CPU is the limit",
                 cell[PLACE_CLIENT], cell[PLACE_ENDPOINT], cell[PLACE_SERVER]);
    return BOTTLENECK_NONE;
}

enum bottleneck bottleneck_find(const struct busy *b, char *text, size_t size)
{
    double client = b->cpu_percent[PLACE_CLIENT];
    int other = greatest(b->cpu_percent, false);
    bool is_other_busy = other >= 0 && b->cpu_percent[other] >= BUSY_PERCENT;
    const char *name = other >= 0 ? place_name((enum place)other) : "";

    text[0] = '\0';
    if (isnan(client))
        return BOTTLENECK_UNKNOWN;
    if (busy_is_crowded(b))
        return say_crowded(b, text, size);
    if (client >= BUSY_PERCENT && is_other_busy) {
        snprintf(text, size, "client %.0f %%, %s %.0f %% busy: both are at their limit",
                 client, name, b->cpu_percent[other]);
        return BOTTLENECK_BOTH;
    }
    if (client >= BUSY_PERCENT) {
        snprintf(text, size, "client %.0f %% busy: this is the generator's limit",
                 client);
        return BOTTLENECK_GENERATOR;
    }
    if (!is_other_busy)
        return say_none(b, text, size);
    snprintf(text, size, "%s %.0f %% busy: this is the %s's limit", name,
             b->cpu_percent[other], name);
    return BOTTLENECK_SERVER;
}
