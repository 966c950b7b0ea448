/* What is refused before anything is started: declared in engine/run.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/child.h"
#include "engine/limits.h"
#include "engine/run.h"
#include "engine/threshold.h"
#include "protocols/array.h"
#include "protocols/endpoint.h"
#include "protocols/pin.h"
#include "protocols/role.h"
#include "protocols/stream/content.h"
#include "protocols/transport.h"

static int check_target(const struct run *r, struct fail *fail)
{
    const char *target = options_text(&r->values, OPTION_target, "");
    bool udp = r->scenario->family->datagrams;
    struct sockaddr_storage address;
    socklen_t len;
    struct endpoint e;

    if (!*target)
        return 0;
    if (endpoint_parse_target(&e, target, fail) < 0)
        return -EINVAL;
    if ((e.kind == ENDPOINT_UDP) != udp)
        return fail_usage(fail, "target", "%s loads %s, and %s is not one",
                          r->scenario->name, udp ? "a udp: target" : "a stream target",
                          target);
    if (!endpoint_has_port(e.kind))
        return 0;
    if (endpoint_address(&e, &address, &len, fail) < 0)
        return -EINVAL;
    if (!endpoint_is_loopback(&e, &address) &&
        !options_number(&r->values, OPTION_remote_target, 0))
        return fail_usage(
            fail, "target",
            "%s is not this machine's loopback: load on other people's "
            "machines needs their leave; if you have it, add --remote-target",
            target);
    return 0;
}

/*
 * What is spawned listens on loopback only, unless a launcher puts it elsewhere: into
 * another network namespace or onto another machine, where this one's addresses mean
 * nothing.
 */
static int check_host(const struct run *r, struct fail *fail)
{
    const struct transport *transport = transport_asked(&r->values);
    const char *host = options_text(&r->values, OPTION_host, "");
    struct endpoint e = {.kind = ENDPOINT_TCP};
    struct sockaddr_storage address;
    socklen_t len;

    if (!*host || *options_text(&r->values, OPTION_server_launch, "") ||
        *options_text(&r->values, OPTION_target, "") ||
        (transport && !endpoint_has_port(transport->kind)))
        return 0;
    if ((size_t)snprintf(e.host, sizeof(e.host), "%s", host) >= sizeof(e.host))
        return fail_usage(fail, "host", "the host '%.40s...' is too long", host);
    if (endpoint_address(&e, &address, &len, fail) < 0)
        return -EINVAL;
    if (!endpoint_is_loopback(&e, &address) &&
        !options_number(&r->values, OPTION_remote_target, 0))
        return fail_usage(
            fail, "host",
            "a server at %s could be reached from other machines; servers "
            "listen on loopback unless --server-launch puts them elsewhere, "
            "or --remote-target allows it",
            host);
    return 0;
}

static const char *launcher(const struct run *r, enum place place)
{
    return options_text(
        &r->values, place == PLACE_CLIENT ? OPTION_client_launch : OPTION_server_launch,
        "");
}

/* Whether the run starts a process there at all. */
static bool is_staffed(const struct run *r, enum place place)
{
    return r->scenario->roles[place] &&
           (place == PLACE_CLIENT || !*options_text(&r->values, OPTION_target, ""));
}

/* What holds on this machine says nothing of where a launcher puts a process. */
static bool is_here(const struct run *r, enum place place)
{
    return is_staffed(r, place) && !*launcher(r, place);
}

static bool is_any_here(const struct run *r)
{
    return is_here(r, PLACE_SERVER) || is_here(r, PLACE_ENDPOINT) ||
           is_here(r, PLACE_CLIENT);
}

/* What a worker would refuse is better refused before there is one. */
static int check_roles(const struct run *r, struct fail *fail)
{
    int rc = 0;

    for (int place = PLACE_COUNT - 1; rc == 0 && place >= 0; place--) {
        const struct role *role =
            is_staffed(r, place) ? role_find(r->scenario->roles[place]) : NULL;

        if (role && role->check)
            rc = role->check(&r->values, fail);
    }
    return rc;
}

static int check_congestion(const struct run *r, struct fail *fail)
{
    const struct transport *transport = transport_asked(&r->values);
    struct stream_setup setup;

    return transport && is_any_here(r)
               ? stream_setup_init(&setup, transport, &r->values, fail)
               : 0;
}

/* Every client process must get at least one of what is shared, or it has nothing to do.
 */
static int check_shares(const struct run *r, struct fail *fail)
{
    uint64_t workers = options_number(&r->values, OPTION_workers, 1);

    for (const struct param *p = param_table(); p->name; p++) {
        uint64_t value = options_number(&r->values, p->option, 0);
        char option[40];

        if (!(p->flags & PARAM_SPLIT) || !scenario_has(r->scenario, p) || !value ||
            value >= workers)
            continue;
        param_option(p, option, sizeof(option));
        return fail_usage(fail, "parameter",
                          "%" PRIu64 " client processes cannot share --%s %" PRIu64
                          ": give at least one to each",
                          workers, option, value);
    }
    return 0;
}

static int check_arrivals(const struct run *r, struct fail *fail)
{
    if (!options_is(&r->values, OPTION_arrivals, "poisson") || run_is_paced(r))
        return 0;
    return fail_usage(fail, "arrivals",
                      "--arrivals poisson is how a rate is spread: give a --rate");
}

static int check_limits(const struct run *r, struct fail *fail)
{
    struct limit limits[LIMITS_MAX];
    size_t n = limits_for(r->scenario, &r->values, limits);

    for (size_t i = 0; i < n; i++)
        if (limits[i].known && limits[i].fatal && !limits[i].enough)
            /* Nothing is wrong with what was typed: the machine is too small. */
            return fail_say(fail, EMFILE, "limits",
                            "this run needs %" PRIu64 " %s and has %" PRIu64 ": %s",
                            limits[i].need, limits[i].name, limits[i].have,
                            limits[i].cure);
    return 0;
}

static int check_thresholds(const struct run *r, struct fail *fail)
{
    struct threshold list[THRESHOLDS_MAX];
    size_t count;

    return thresholds_parse(options_text(&r->values, OPTION_threshold, ""), list, &count,
                            fail);
}

static int check_file(const struct run *r, struct fail *fail)
{
    return is_any_here(r) ? content_check(&r->values, fail) : 0;
}

static int check_launcher(const struct run *r, enum place place, struct fail *fail)
{
    char **words;
    size_t count;

    switch (launcher_split(launcher(r, place), &words, &count)) {
    case 0:
        free(words);
        return 0;
    case -ENOMEM:
        return fail_set(fail, ENOMEM, "launch", "reading a launcher");
    default:
        return fail_usage(fail, "launch", "the launcher \"%.100s\" has an open quote",
                          launcher(r, place));
    }
}

static int check_launchers(const struct run *r, struct fail *fail)
{
    int rc = check_launcher(r, PLACE_SERVER, fail);

    return rc == 0 ? check_launcher(r, PLACE_CLIENT, fail) : rc;
}

static int check_pin_of(const struct run *r, enum place place, struct fail *fail)
{
    char list[128];

    run_pin(r, place, list, sizeof(list));
    return is_here(r, place) ? pin_check_here(list, fail) : pin_check(list, fail);
}

static int check_pin(const struct run *r, struct fail *fail)
{
    int rc = check_pin_of(r, PLACE_SERVER, fail);

    return rc == 0 ? check_pin_of(r, PLACE_CLIENT, fail) : rc;
}

static int check_path(const struct run *r, struct fail *fail)
{
    const struct transport *transport = transport_asked(&r->values);
    const char *path = options_text(&r->values, OPTION_path, "");
    struct endpoint e = {0};

    if (!*path || !transport || endpoint_has_port(transport->kind))
        return 0;
    e.kind = transport->kind;
    return endpoint_set_path(&e, path, fail);
}

int run_check(const struct run *r, struct fail *fail)
{
    static int (*const checks[])(const struct run *r, struct fail *fail) = {
        check_target,     check_path,   check_roles,      check_host,
        check_congestion, check_shares, check_thresholds, check_limits,
        check_file,       check_pin,    check_launchers,  check_arrivals,
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NUMBER_OF(checks); i++)
        rc = checks[i](r, fail);
    return rc;
}
