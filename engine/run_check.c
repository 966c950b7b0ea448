/* What is refused before anything is started: declared in engine/run.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/child.h"
#include "engine/limits.h"
#include "engine/run.h"
#include "engine/threshold.h"
#include "protocols/endpoint.h"
#include "protocols/http_plan.h"
#include "protocols/pin.h"

static bool is_transport(const struct run *r, const char *name)
{
    return options_is(&r->values, "transport", name);
}

static int check_target(const struct run *r, struct fail *fail)
{
    const char *target = options_text(&r->values, "target", "");
    bool udp = r->scenario->family == FAMILY_UDP;
    struct sockaddr_storage address;
    socklen_t len;
    struct endpoint e;

    if (!*target)
        return 0;
    if (endpoint_parse(&e, target, fail) < 0)
        return -EINVAL;
    if ((e.kind == ENDPOINT_UDP) != udp)
        return fail_set(fail, EINVAL, "target", "%s loads %s, and %s is not one",
                        r->scenario->name, udp ? "a udp: target" : "a stream target",
                        target);
    if (e.kind == ENDPOINT_UNIX || e.kind == ENDPOINT_PIPE)
        return 0;
    if (endpoint_address(&e, &address, &len, fail) < 0)
        return -EINVAL;
    if (!endpoint_is_loopback(&e, &address) &&
        !options_number(&r->values, "remote_target", 0))
        return fail_set(fail, EINVAL, "target",
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
    const char *host = options_text(&r->values, "host", "");
    struct endpoint e = {.kind = ENDPOINT_TCP};
    struct sockaddr_storage address;
    socklen_t len;

    if (!*host || *options_text(&r->values, "server_launch", "") ||
        *options_text(&r->values, "target", "") || is_transport(r, "unix") ||
        is_transport(r, "pipe"))
        return 0;
    if ((size_t)snprintf(e.host, sizeof(e.host), "%s", host) >= sizeof(e.host))
        return fail_set(fail, EINVAL, "host", "the host '%.40s...' is too long", host);
    if (endpoint_address(&e, &address, &len, fail) < 0)
        return -EINVAL;
    if (!endpoint_is_loopback(&e, &address) &&
        !options_number(&r->values, "remote_target", 0))
        return fail_set(fail, EINVAL, "host",
                        "a server at %s could be reached from other machines; servers "
                        "listen on loopback unless --server-launch puts them elsewhere, "
                        "or --remote-target allows it",
                        host);
    return 0;
}

/* What an HTTP client would refuse is better refused before anything is started. */
static int check_request(const struct run *r, struct fail *fail)
{
    const char *endpoint = r->scenario->family == FAMILY_HTTP ? "" : "tcp:127.0.0.1:1";
    struct http_plan plan;
    int rc;

    if (!(r->scenario->family & FAMILY_WEB))
        return 0;
    rc = http_plan_read(&plan, &r->values, endpoint, fail);
    if (rc < 0)
        return rc;
    http_plan_done(&plan);
    return 0;
}

/* Every client process must get at least one of what is shared, or it has nothing to do.
 */
static int check_shares(const struct run *r, struct fail *fail)
{
    uint64_t workers = options_number(&r->values, "workers", 1);

    for (const struct param *p = param_table(); p->name; p++) {
        uint64_t value = options_number(&r->values, p->name, 0);
        char option[40];

        if (!(p->flags & PARAM_SPLIT) || !(p->families & r->scenario->family) || !value ||
            value >= workers)
            continue;
        param_option(p, option, sizeof(option));
        return fail_set(fail, EINVAL, "parameter",
                        "%" PRIu64 " client processes cannot share --%s %" PRIu64
                        ": give at least one to each",
                        workers, option, value);
    }
    return 0;
}

static int check_limits(const struct run *r, struct fail *fail)
{
    struct limit limits[LIMITS_MAX];
    size_t n = limits_for(r->scenario, &r->values, limits);

    for (size_t i = 0; i < n; i++)
        if (limits[i].known && limits[i].fatal && !limits[i].enough) {
            fail_set(fail, EINVAL, "limits",
                     "this run needs %" PRIu64 " %s and has %" PRIu64 ": %s",
                     limits[i].need, limits[i].name, limits[i].have, limits[i].cure);
            /* Nothing is wrong with what was typed: the machine is too small. */
            fail->err = EMFILE;
            return -EMFILE;
        }
    return 0;
}

static int check_thresholds(const struct run *r, struct fail *fail)
{
    struct threshold list[THRESHOLDS_MAX];
    size_t count;

    return thresholds_parse(options_text(&r->values, "threshold", ""), list, &count,
                            fail);
}

static int check_file(const struct run *r, struct fail *fail)
{
    const char *file = options_text(&r->values, "file", "");

    if (*file && access(file, R_OK) < 0)
        return fail_set(fail, errno, "file", "%s cannot be read", file);
    return 0;
}

static int check_launcher(const struct run *r, const char *name, struct fail *fail)
{
    const char *launcher = options_text(&r->values, name, "");
    char **words;
    size_t count;

    switch (launcher_split(launcher, &words, &count)) {
    case 0:
        free(words);
        return 0;
    case -ENOMEM:
        return fail_set(fail, ENOMEM, "launch", "reading a launcher");
    default:
        return fail_set(fail, EINVAL, "launch",
                        "the launcher \"%.100s\" has an open quote", launcher);
    }
}

/* "SERVER/CLIENT", or one list for both; which CPUs there are the workers know. */
static int check_pin(const struct run *r, struct fail *fail)
{
    const char *text = options_text(&r->values, "pin", "");
    const char *slash = strchr(text, '/');
    char server[128];
    int rc;

    snprintf(server, sizeof(server), "%.*s", slash ? (int)(slash - text) : 127, text);
    rc = pin_check(server, fail);
    return rc == 0 && slash ? pin_check(slash + 1, fail) : rc;
}

static int check_path(const struct run *r, struct fail *fail)
{
    const char *path = options_text(&r->values, "path", "");
    struct endpoint e;
    char text[256];

    if (!*path || (!is_transport(r, "unix") && !is_transport(r, "pipe")))
        return 0;
    if ((size_t)snprintf(text, sizeof(text), "%s:%s",
                         is_transport(r, "unix") ? "unix" : "pipe", path) >= sizeof(text))
        return fail_set(fail, EINVAL, "path",
                        "The path %.60s... has %zu bytes; a socket path has at most %zu",
                        path, strlen(path), sizeof(e.path) - 1);
    return endpoint_parse(&e, text, fail);
}

int run_check(const struct run *r, struct fail *fail)
{
    static int (*const checks[])(const struct run *r, struct fail *fail) = {
        check_target,     check_host,   check_path, check_request, check_shares,
        check_thresholds, check_limits, check_file, check_pin,
    };
    int rc = scenario_available(r->scenario)
                 ? 0
                 : fail_set(fail, EINVAL, "scenario", "%s is not available yet",
                            r->scenario->name);

    for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(checks[0]); i++)
        rc = checks[i](r, fail);
    if (rc == 0)
        rc = check_launcher(r, "server_launch", fail);
    return rc == 0 ? check_launcher(r, "client_launch", fail) : rc;
}
