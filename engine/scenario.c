#include "engine/scenario.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"
#include "protocols/utf8.h"

#define NINE_NUMBERS "{\"numbers\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}"
#define SUM_LOAD                                                                    \
    "connections=20;amount=5000;method=POST;headers=Content-Type:Application/json;" \
    "path=/sum;body=" NINE_NUMBERS

#define DOCUMENTED_BULK                                                             \
    "Node.js; timed there: the whole command of the client, with the start of the " \
    "runtime; here: seconds is the transfer, seconds_command has the client's start too"
#define ABOUT_BULK                                                                       \
    "One connection. The server sends a file of random bytes to the client while the "   \
    "client sends one of the same size to the server; each end closes its own sending "  \
    "side when it is done, goes on receiving until the other has ended, and checks the " \
    "count."
#define ABOUT_REQUESTS                                                                  \
    "A client connects, sends one short string, receives the server's, and ends; then " \
    "the next one. Documented with a new client process for each request, of which "    \
    "four fifths is the start of the process: client=connection and client=persistent " \
    "take that and the connection's set-up away, so that the three can be told apart."
#define ABOUT_UDP                                                                       \
    "The server counts datagrams by label and second. Waiting for a send to complete "  \
    "is waiting for the own kernel, not for arrival: loss appears when the receiver's " \
    "buffer, 256 small datagrams by default, overflows while the receiver pauses. The " \
    "name is looked up for every send, as documented: most of the time is that "        \
    "(resolve=once)."
#define UDP_PLACE "host=localhost;port=8123"

/* What the documents' programs do; their runtime reads a file by blocks of 64 KiB. */
#define AS_BULK "block=64KiB;method=copy"
#define AS_UDP "payload=plain;full_print=on"
#define AS_SERVICE "host=localhost;congestion=system"

#define ABOUT_SERVICE                                                                   \
    "HTTP clients post nine numbers to an API endpoint, which asks a microservice for " \
    "their sum."

static const struct scenario scenarios[] = {
    {
        .name = "tcp-bulk",
        .group = "stream",
        .letter = 't',
        .family = &family_bulk,
        .title = "1 GiB each way over one TCP connection",
        .about = ABOUT_BULK
        " TCP on loopback depends on its congestion control: bbr takes three to "
        "four times as long as reno.",
        .roles = {[PLACE_SERVER] = "bulk-server", [PLACE_CLIENT] = "bulk-client"},
        .defaults = "transport=tcp;port=4000;trials=5",
        .as_documented = AS_BULK ";congestion=system",
        .quick = "size=64MiB;trials=1",
        .documented = DOCUMENTED_BULK,
        .references = {REFERENCE("seconds", "Linux", 2.948, 2.394, 2.416, 2.316, 2.496),
                       REFERENCE("seconds", "Windows", 4.857, 5.151, 4.985, 5.771,
                                 5.187)},
    },
    {
        .name = "unix-bulk",
        .group = "stream",
        .letter = 'u',
        .family = &family_bulk,
        .title = "1 GiB each way over a Unix socket",
        .about = ABOUT_BULK
        " A Unix socket has no congestion control, no checksums and no ports.",
        .roles = {[PLACE_SERVER] = "bulk-server", [PLACE_CLIENT] = "bulk-client"},
        .defaults = "transport=unix;trials=5",
        .as_documented = AS_BULK,
        .quick = "size=64MiB;trials=1",
        .documented = DOCUMENTED_BULK,
        .references = {REFERENCE("seconds", "Linux", 2.894, 2.428, 2.447, 2.296, 2.351)},
    },
    {
        .name = "pipe-bulk",
        .group = "stream",
        .letter = 'p',
        .family = &family_bulk,
        .title = "1 GiB each way over a named pipe",
        .about = ABOUT_BULK
        " On POSIX a named pipe is a pair of FIFOs, one each way; the document "
        "measured Windows named pipes.",
        .roles = {[PLACE_SERVER] = "bulk-server", [PLACE_CLIENT] = "bulk-client"},
        .defaults = "transport=pipe;trials=5",
        .as_documented = AS_BULK,
        .quick = "size=64MiB;trials=1",
        .documented = DOCUMENTED_BULK,
        .references = {REFERENCE("seconds", "Windows", 4.010, 3.998, 3.918, 4.003,
                                 3.796)},
    },
    {
        .name = "tcp-requests",
        .group = "stream",
        .letter = 'r',
        .family = &family_requests,
        .title = "100 short requests, one after the other, over TCP",
        .about = ABOUT_REQUESTS,
        .roles = {[PLACE_SERVER] = "requests-server", [PLACE_CLIENT] = "requests-client"},
        .defaults = "transport=tcp;port=4000;trials=5",
        .as_documented = "congestion=system",
        .quick = "requests=20;trials=1",
        .documented = "Node.js, one process a request; of concurrent clients it notes "
                      "\"concurrent ~2\"",
        .references = {REFERENCE("seconds", "Linux", 5.140, 4.900, 4.925, 4.842, 5.059),
                       REFERENCE("seconds", "Windows", 15.424, 15.811, 16.015, 15.705,
                                 15.849)},
    },
    {
        .name = "unix-requests",
        .group = "stream",
        .letter = 's',
        .family = &family_requests,
        .title = "100 short requests, one after the other, over a Unix socket",
        .about = ABOUT_REQUESTS,
        .roles = {[PLACE_SERVER] = "requests-server", [PLACE_CLIENT] = "requests-client"},
        .defaults = "transport=unix;trials=5",
        .quick = "requests=20;trials=1",
        .documented = "Node.js, one process a request",
        .references = {REFERENCE("seconds", "Linux", 4.647, 4.557, 4.526, 4.508, 4.569)},
    },
    {
        .name = "pipe-requests",
        .group = "stream",
        .letter = 'n',
        .family = &family_requests,
        .title = "100 short requests, one after the other, over a named pipe",
        .about = ABOUT_REQUESTS
        " Here each client brings a pair of FIFOs of its own, so that hundreds "
        "are served at once.",
        .roles = {[PLACE_SERVER] = "requests-server", [PLACE_CLIENT] = "requests-client"},
        .defaults = "transport=pipe;trials=5",
        .quick = "requests=20;trials=1",
        .documented = "Node.js, one process a request; of concurrent clients it notes "
                      "\"concurrent fails\"",
        .references = {REFERENCE("seconds", "Windows", 19.791, 19.596, 20.049, 19.926,
                                 20.100)},
    },
    {
        .name = "udp-fresh-series",
        .group = "udp",
        .letter = 'f',
        .family = &family_udp,
        .title = "100,000 datagrams, each on a socket of its own, one after the other",
        .about = ABOUT_UDP
        " Here a socket is created, used once and destroyed for each datagram.",
        .roles = {[PLACE_SERVER] = "udp-server", [PLACE_CLIENT] = "udp-client"},
        .defaults = "socket=fresh;dispatch=series;label=STRICT_LOOP;" UDP_PLACE,
        .as_documented = AS_UDP,
        .quick = "messages=5000",
        .documented = "Node.js: no loss",
        .references = {REFERENCE("received_per_second", "", 4900),
                       REFERENCE("seconds", "", 20.4), REFERENCE("loss_percent", "", 0)},
    },
    {
        .name = "udp-fresh-parallel",
        .group = "udp",
        .letter = 'x',
        .family = &family_udp,
        .title = "100,000 datagrams at once, each on a socket of its own",
        .about = ABOUT_UDP
        " Here all sockets are opened before the first send, so the run ends when "
        "the process is out of file handles; window=64 lets the same strategy finish.",
        .roles = {[PLACE_SERVER] = "udp-server", [PLACE_CLIENT] = "udp-client"},
        .defaults = "socket=fresh;dispatch=parallel;label=BACKPRESSURE;" UDP_PLACE,
        .as_documented = AS_UDP,
        .quick = "messages=500",
        .documented = "Node.js: server and client crashed, out of file handles",
        .exhausted_expected = true,
    },
    {
        .name = "udp-cached-series",
        .group = "udp",
        .letter = 'c',
        .family = &family_udp,
        .title = "100,000 datagrams on one socket, one after the other",
        .about = ABOUT_UDP " Here one socket is used for all.",
        .roles = {[PLACE_SERVER] = "udp-server", [PLACE_CLIENT] = "udp-client"},
        .defaults = "socket=cached;dispatch=series;label=CACHED_LOOP;" UDP_PLACE,
        .as_documented = AS_UDP,
        .quick = "messages=5000",
        .documented = "Node.js: no loss",
        .references = {REFERENCE("received_per_second", "", 6300),
                       REFERENCE("seconds", "", 15.8), REFERENCE("loss_percent", "", 0)},
    },
    {
        .name = "udp-cached-parallel",
        .group = "udp",
        .letter = 'd',
        .family = &family_udp,
        .title = "100,000 datagrams on one socket, all handed over at once",
        .about =
            ABOUT_UDP " Here all datagrams are handed to one socket without waiting.",
        .roles = {[PLACE_SERVER] = "udp-server", [PLACE_CLIENT] = "udp-client"},
        .defaults = "socket=cached;dispatch=parallel;batch=1024;label=CACHED_"
                    "BACKPRESSURE;" UDP_PLACE,
        .as_documented = AS_UDP ";batch=1",
        .quick = "messages=5000",
        .documented = "Node.js: \"server UDP buffer too full, probably\"",
        .references = {REFERENCE("received_per_second", "", 13300),
                       REFERENCE("seconds", "", 7.76),
                       REFERENCE("loss_percent", "", 3.9)},
    },
    {
        .name = "rest-rest",
        .group = "service",
        .letter = 'a',
        .family = &family_service,
        .title = "5,000 requests: API endpoint in front of an HTTP microservice",
        .about =
            ABOUT_SERVICE " The endpoint asks by HTTP, with a connection for each call.",
        .roles = {[PLACE_SERVER] = "rest",
                  [PLACE_ENDPOINT] = "gateway",
                  [PLACE_CLIENT] = "http-client"},
        .defaults = SUM_LOAD ";port=9000;upstream_kind=rest",
        .as_documented = AS_SERVICE,
        .quick = "amount=500",
        .documented = "Express on Node.js, autocannon; 5k requests in 20 s, 2.25 MB read",
        .references = {REFERENCE("latency_mean_ns", "", 76.52e6),
                       REFERENCE("latency_stdev_ns", "", 22.53e6),
                       REFERENCE("latency_max_ns", "", 234.85e6),
                       REFERENCE("requests_per_second", "", 250),
                       REFERENCE("requests_per_second_stdev", "", 50.99),
                       REFERENCE("requests_per_second_max", "", 320),
                       REFERENCE("bytes_per_second", "", 112e3),
                       REFERENCE("bytes_per_second_stdev", "", 23e3),
                       REFERENCE("bytes_per_second_max", "", 144e3),
                       REFERENCE("read_bytes", "", 2.25e6), REFERENCE("seconds", "", 20)},
    },
    {
        .name = "rest-topper",
        .group = "service",
        .letter = 'o',
        .family = &family_service,
        .title = "5,000 requests: API endpoint in front of a Topper TCP microservice",
        .about = ABOUT_SERVICE " The endpoint asks by Topper's text protocol over TCP.",
        .roles = {[PLACE_SERVER] = "topper",
                  [PLACE_ENDPOINT] = "gateway",
                  [PLACE_CLIENT] = "http-client"},
        .defaults = SUM_LOAD ";port=9000;upstream_kind=topper",
        .as_documented = AS_SERVICE,
        .quick = "amount=500",
        .documented = "Express on Node.js, autocannon; 5k requests in 7 s, 2.19 MB read",
        .references = {REFERENCE("latency_mean_ns", "", 24.16e6),
                       REFERENCE("latency_stdev_ns", "", 6.4e6),
                       REFERENCE("latency_max_ns", "", 98.45e6),
                       REFERENCE("requests_per_second", "", 714.29),
                       REFERENCE("requests_per_second_stdev", "", 244.42),
                       REFERENCE("requests_per_second_max", "", 919),
                       REFERENCE("bytes_per_second", "", 312e3),
                       REFERENCE("bytes_per_second_stdev", "", 107e3),
                       REFERENCE("bytes_per_second_max", "", 402e3),
                       REFERENCE("read_bytes", "", 2.19e6), REFERENCE("seconds", "", 7)},
    },
    {
        .name = "rest-direct",
        .group = "service",
        .letter = 'b',
        .family = &family_service,
        .title = "5,000 requests to the HTTP microservice itself, without an endpoint",
        .about = "The load of rest-rest straight to the microservice: what the two "
                 "differ by is the endpoint's share.",
        .roles = {[PLACE_SERVER] = "rest", [PLACE_CLIENT] = "http-client"},
        .defaults = SUM_LOAD ";port=9001",
        .quick = "amount=500",
        .documented = "",
    },
    {
        .name = "topper-direct",
        .group = "service",
        .letter = 'v',
        .family = &family_service,
        .title = "5,000 calls to the Topper TCP microservice itself, without an endpoint",
        .about =
            "The work of rest-topper straight to the microservice, as Topper messages on "
            "kept connections; close=on takes a connection for each, as Topper's own "
            "client does. What the two differ by is the endpoint's share.",
        .roles = {[PLACE_SERVER] = "topper", [PLACE_CLIENT] = "topper-client"},
        .defaults = SUM_LOAD ";port=4000",
        .quick = "amount=500",
        .documented = "",
    },
    {
        .name = "http",
        .group = "own",
        .letter = 'h',
        .family = &family_http,
        .title = "HTTP/1.1 load on a server of your own",
        .about =
            "Requests to the server at url, kept-alive connections, as fast as it "
            "answers or at a rate. With a rate, latency counts from the moment at which "
            "the schedule wanted the request sent, so a server that stalls shows it.",
        .roles = {[PLACE_CLIENT] = "http-client"},
        .defaults = "connections=20;duration=10s",
        .quick = "duration=1s",
        .documented = "",
    },
};

#define SCENARIOS NUMBER_OF(scenarios)

enum place scenario_facing(const struct scenario *s)
{
    return s->roles[PLACE_ENDPOINT] ? PLACE_ENDPOINT : PLACE_SERVER;
}

bool scenario_has(const struct scenario *s, const struct param *p)
{
    return p->families & s->family->bit;
}

const struct param *scenario_param(const struct scenario *s, enum option option)
{
    return param_of(s->family->bit, option);
}

const struct scenario *scenario_table(size_t *count)
{
    *count = SCENARIOS;
    return scenarios;
}

const struct scenario *scenario_find(const char *name)
{
    for (size_t i = 0; i < SCENARIOS; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    return NULL;
}

size_t scenario_names(const char **names, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < SCENARIOS && n < count; i++)
        names[n++] = scenarios[i].name;
    return n;
}

const struct scenario *scenario_named(const char *name, struct fail *fail)
{
    const struct scenario *s = scenario_find(name);
    const char *names[SCENARIOS];
    const char *near =
        s ? NULL : nearest_word(name, names, scenario_names(names, SCENARIOS));

    if (near)
        fail_usage(fail, "scenario", "there is no scenario '%.60s'; did you mean '%s'?",
                   name, near);
    else if (!s)
        fail_usage(fail, "scenario",
                   "there is no scenario '%.60s'; plimsoll list names them", name);
    return s;
}

/* Apply "name=value;name=value". A wrong pair is our own mistake. */
static int apply_pairs(const struct scenario *s, const char *pairs,
                       struct options *values)
{
    char *copy = strdup(pairs);
    char *rest = copy;
    int rc = copy ? 0 : -ENOMEM;

    for (char *pair; rc == 0 && (pair = strsep(&rest, ";")) && *pair;) {
        char *value = strchr(pair, '=');
        enum option option;
        const struct param *p;

        assert(value);
        *value++ = '\0';
        option = option_find(pair);
        assert(option != OPTION_NONE);
        p = scenario_param(s, option);
        if (p && p->flags & PARAM_REPEAT)
            rc = options_set_text(values, p->option, "");
        if (rc == 0)
            rc = p ? param_set(values, p, value, NULL)
                   : options_set_text(values, option, value);
        assert(rc != -EINVAL);
    }
    free(copy);
    return rc;
}

int scenario_defaults(const struct scenario *s, struct options *values)
{
    for (const struct param *p = param_table(); p->name; p++) {
        int rc = 0;

        if (!scenario_has(s, p))
            continue;
        if (p->flags & PARAM_REPEAT)
            rc = options_set_text(values, p->option, "");
        if (rc == 0)
            rc = param_set(values, p, p->fallback, NULL);
        assert(rc != -EINVAL);
        if (rc < 0)
            return rc;
    }
    return apply_pairs(s, s->defaults, values);
}

int scenario_quick(const struct scenario *s, struct options *values)
{
    return apply_pairs(s, s->quick, values);
}

int scenario_as_documented(const struct scenario *s, struct options *values)
{
    return s->as_documented ? apply_pairs(s, s->as_documented, values) : 0;
}

static bool same_value(const struct options *a, const struct options *b,
                       const struct param *p)
{
    if (p->type == PARAM_TEXT || p->type == PARAM_CHOICE)
        return strcmp(options_text(a, p->option, ""), options_text(b, p->option, "")) ==
               0;
    return options_number(a, p->option, UINT64_MAX) ==
           options_number(b, p->option, UINT64_MAX);
}

static void value_text(const struct options *values, const struct param *p, char *text,
                       size_t size)
{
    param_text(values, p, text, size);
    utf8_printable(text);
    if (!*text)
        snprintf(text, size, "none");
}

size_t scenario_differences(const struct scenario *s, const struct options *values,
                            struct difference *list)
{
    struct options documented = {0};
    size_t count = 0;

    if (scenario_defaults(s, &documented) == 0 &&
        scenario_as_documented(s, &documented) == 0)
        for (const struct param *p = param_table(); p->name; p++) {
            struct difference *d = &list[count];

            if (!scenario_has(s, p) || p->flags & PARAM_BESIDE ||
                same_value(values, &documented, p))
                continue;
            assert(count < DIFFERENCES_MAX);
            d->param = p;
            d->departs = !(p->flags & PARAM_NOTED);
            value_text(values, p, d->here, sizeof(d->here));
            value_text(&documented, p, d->documented, sizeof(d->documented));
            count++;
        }
    options_done(&documented);
    return count;
}

void differences_text(const struct difference *list, size_t count, bool departs,
                      char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const struct difference *d = &list[i];

        if (d->departs == departs)
            used += (size_t)snprintf(
                text + used, size - used, "%s%s %s%s%s%s)", used ? ", " : "",
                d->param->name, departs ? "" : "(here: ", d->here,
                departs ? " (documented " : "; the document: ", d->documented);
    }
    utf8_printable(text); /* a cut may have left half a character */
}
