#include "engine/param.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"

#define SECOND 1000000000ull
#define HOUR (3600 * SECOND)
#define PIB (1ull << 50)
#define TERA 1000000000000ull

#define COUNT(family, name, letter, unit, low, high, zero, fallback, flags, help) \
    {family, name, letter, PARAM_COUNT, unit,  low,                               \
     high,   zero, NULL,   fallback,    flags, help},
#define SIZE(family, name, low, high, zero, fallback, help) \
    {family, name, 0, PARAM_SIZE, "bytes", low, high, zero, NULL, fallback, 0, help},
#define TIME(family, name, letter, low, high, zero, fallback, help) \
    {family, name, letter, PARAM_DURATION, "time", low,             \
     high,   zero, NULL,   fallback,       0,      help},
#define FLAG(family, name, fallback, flags, help) \
    {family, name, 0, PARAM_FLAG, "", 0, 1, NULL, NULL, fallback, flags, help},
#define CHOICE(family, name, choices, fallback, help) \
    {family, name, 0, PARAM_CHOICE, "", 0, 0, NULL, choices, fallback, 0, help},
#define TEXT(family, name, letter, fallback, flags, help) \
    {family, name, letter, PARAM_TEXT, "", 0, 0, NULL, NULL, fallback, flags, help},

/* In the order in which a person would ask. */
/* clang-format off */
static const struct param params[] = {
    TEXT(FAMILY_HTTP, "url", 0, "", 0, "the address to load, http://HOST[:PORT]/PATH")
    COUNT(FAMILY_WEB, "connections", 'c', "connections", 1, 100000, NULL, "20",
          PARAM_SPLIT | PARAM_LIVE, "connections open at once, over all client processes")
    COUNT(FAMILY_WEB, "amount", 'a', "requests", 0, TERA, "no limit", "0", PARAM_SPLIT,
          "requests in all")
    SIZE(FAMILY_BULK | SERVE_STREAM, "size", 1, PIB, NULL, "1GiB", "bytes that each end sends")
    CHOICE(FAMILY_BULK | SERVE_STREAM, "direction", "both|up|down", "both",
           "who sends: both ends at once, the client (up), the server (down)")
    SIZE(FAMILY_BULK | SERVE_STREAM, "block", 1, 1 << 30, NULL, "256KiB",
         "bytes handed to the kernel in one call")
    CHOICE(FAMILY_BULK | SERVE_STREAM, "method", "auto|copy|zero-copy", "auto",
           "how bytes are sent: read and write, or sendfile and splice")
    TEXT(FAMILY_BULK | SERVE_STREAM, "file", 0, "", PARAM_FILE, "send this file, not made-up random bytes")
    FLAG(FAMILY_BULK | SERVE_STREAM, "verify", "off", 0, "compare checksums of what was sent and received")
    COUNT(FAMILY_REQUESTS, "requests", 0, "requests", 1, TERA, NULL, "100", PARAM_SPLIT,
          "requests in all")
    COUNT(FAMILY_REQUESTS, "concurrency", 0, "requests", 1, 10000, NULL, "1", PARAM_SPLIT,
          "requests under way at once")
    CHOICE(FAMILY_REQUESTS | SERVE_STREAM, "client", "process|connection|persistent", "process",
           "a new process, a new connection or a kept connection for each request")
    TEXT(FAMILY_REQUESTS | SERVE_STREAM, "message", 0, "the quick brown fox jumps over the lazy dog", 0,
         "the text that each request and each reply carries")
    SIZE(FAMILY_REQUESTS | SERVE_STREAM, "message_size", 0, 1 << 20, "as the message is", "0",
         "repeat or cut the message to this length")
    COUNT(FAMILY_UDP, "messages", 0, "messages", 1, TERA, NULL, "100000", PARAM_SPLIT,
          "datagrams to send")
    SIZE(FAMILY_UDP, "size", 0, 65507, "label and stamp alone", "0",
         "bytes of payload in a datagram; UDP over IPv4 carries at most 65507")
    COUNT(FAMILY_UDP, "window", 0, "sockets", 0, 1000000, "no limit", "0", 0,
          "sockets open at once where each datagram has its own")
    COUNT(FAMILY_UDP, "batch", 0, "datagrams", 1, 1024, NULL, "1", 0,
          "datagrams handed over in one call (sendmmsg)")
    FLAG(FAMILY_UDP, "gso", "off", 0, "let the kernel cut a large send into datagrams")
    FLAG(FAMILY_UDP | SERVE_UDP, "gro", "off", 0, "let the server take coalesced datagrams")
    FLAG(FAMILY_UDP, "connected", "on", 0, "connect the sending socket to the server")
    CHOICE(FAMILY_UDP, "payload", "stamped|plain", "stamped",
           "label, number and time, or exactly the label's bytes")
    TEXT(FAMILY_UDP, "label", 0, "PLIMSOLL", 0, "the label that the server counts under")
    CHOICE(FAMILY_UDP, "resolve", "once|each", "once",
           "look the server's name up once or for every send")
    SIZE(FAMILY_UDP, "send_buffer", 0, 1 << 30, "the system's default", "0",
         "SO_SNDBUF of the sending sockets")
    SIZE(FAMILY_UDP | SERVE_UDP, "receive_buffer", 0, 1 << 30, "the system's default", "0",
         "SO_RCVBUF of the receiving socket")
    COUNT(FAMILY_UDP | SERVE_UDP, "nth", 0, "messages", 1, TERA, NULL, "100000", 0,
          "report the time from a label's first message to this one")
    COUNT(FAMILY_OPERATIONS, "rate", 'R', "per second", 0, 100000000,
          "as fast as it goes", "0", PARAM_SPLIT | PARAM_LIVE,
          "operations a second over all connections and client processes")
    COUNT(FAMILY_WEB, "connection_rate", 'r', "per second", 0, 100000000, "no limit", "0",
          PARAM_LIVE, "requests a second on each connection")
    TIME(FAMILY_OPERATIONS, "duration", 'd', 0, 1000 * HOUR,
         "until the amount is done", "0", "how long load is offered")
    TIME(FAMILY_WEB, "warmup", 0, 0, HOUR, "none", "0",
         "load that is left out of the result")
    TEXT(FAMILY_WEB, "method", 'm', "GET", 0, "the HTTP method")
    TEXT(FAMILY_WEB, "headers", 'H', "", PARAM_REPEAT,
         "a header, 'Name: value'; --header too; may be repeated")
    TEXT(FAMILY_WEB, "body", 'b', "", 0, "the body of each request")
    TEXT(FAMILY_WEB, "input", 'i', "", PARAM_FILE, "a file that holds the body of each request")
    COUNT(FAMILY_WEB, "pipelining", 'p', "requests", 1, 1024, NULL, "1", 0,
          "requests sent on a connection before a reply is awaited")
    FLAG(FAMILY_WEB, "close", "off", 0, "a new connection for each request")
    TEXT(FAMILY_HTTP, "socket_path", 'S', "", PARAM_FILE, "reach the server over this Unix socket")
    CHOICE(FAMILY_SERVICE | SERVE_GATEWAY, "upstream", "fresh|pooled", "fresh",
           "the endpoint's way to its microservice: a connection a call, or kept ones")
    TIME(FAMILY_REQUESTS | FAMILY_WEB | SERVE_GATEWAY, "timeout", 't', SECOND / 1000, HOUR, NULL, "10s",
         "give one operation up after this time")
    TIME(FAMILY_BULK, "timeout", 't', SECOND / 1000, HOUR, NULL, "10s",
         "give a transfer up when no byte has moved for this time")
    TIME(FAMILY_UDP | SERVE_UDP, "drain", 0, 0, HOUR, "none", "200ms",
         "quiet time after which the receiver calls a message lost")
    CHOICE(FAMILY_SERVICE | SERVE_TOPPER, "task", "multi|echo|greeting", "multi",
           "the Topper service's tasks: Ping, Sum and Avg, or one task for every message")
    TEXT(FAMILY_STREAM | FAMILY_UDP | FAMILY_SERVICE | SERVE_PORT, "host", 0, "127.0.0.1", 0,
         "the address on which servers listen")
    COUNT(FAMILY_STREAM | FAMILY_UDP | FAMILY_SERVICE | SERVE_PORT, "port", 0, "port", 0, 65535,
          "any free port", "0", 0, "the port on which the server listens")
    TEXT(FAMILY_STREAM | SERVE_FILE, "path", 0, "", PARAM_FILE,
         "the socket file or FIFO; a private one is made and removed if not given")
    TEXT(FAMILY_STREAM | FAMILY_WEB | (SERVE_PORT & ~SERVE_UDP), "congestion", 0, "auto", 0,
         "TCP congestion control; auto takes the one that suits loopback best")
    TEXT(FAMILY_STREAM | FAMILY_UDP, "target", 0, "", PARAM_RUN,
         "load a server that is there: tcp:HOST:PORT, unix:PATH, pipe:PATH, udp:HOST:PORT")
    FLAG(FAMILY_ALL, "remote_target", "off", 0,
         "allow a target that is not this machine's")
    COUNT(FAMILY_ALL, "trials", 0, "trials", 1, 1000, NULL, "1", PARAM_RUN,
          "how often the whole is repeated, each time with fresh processes")
    COUNT(FAMILY_ALL, "workers", 'w', "processes", 1, 256, NULL, "1", PARAM_RUN,
          "client processes")
    TEXT(FAMILY_ALL, "threshold", 0, "", PARAM_RUN | PARAM_REPEAT,
         "what must hold: 'p99<5ms', 'loss<=0.1%', 'throughput>500MB/s'; may be repeated")
    TEXT(FAMILY_ALL, "pin", 0, "", PARAM_RUN,
         "cores of servers and clients: 0/1 or 0,1/2-3 ; empty for no pinning")
    TEXT(FAMILY_ALL & ~FAMILY_HTTP, "server_launch", 0, "", PARAM_RUN,
         "words before the server program, 'ip netns exec A' or 'ssh host'")
    TEXT(FAMILY_ALL, "client_launch", 0, "", PARAM_RUN,
         "words before the client program")
    {0},
};
/* clang-format on */

const struct param *param_table(void)
{
    return params;
}

/* Names are equal with - and _ taken as one. */
static int same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return 0;
    return *a == *b;
}

const struct param *param_find(unsigned family, const char *name)
{
    if (strcmp(name, "header") == 0)
        name = "headers";
    for (const struct param *p = params; p->name; p++) {
        if (!(p->families & family))
            continue;
        if (same_name(p->name, name) || (p->letter && name[0] == p->letter && !name[1]))
            return p;
    }
    return NULL;
}

static enum unit_kind kind_of(const struct param *p)
{
    return p->type == PARAM_SIZE       ? UNIT_SIZE
           : p->type == PARAM_DURATION ? UNIT_DURATION
                                       : UNIT_COUNT;
}

void param_option(const struct param *p, char *text, size_t size)
{
    snprintf(text, size, "%s", p->name);
    for (; *text; text++)
        if (*text == '_')
            *text = '-';
}

void param_range(const struct param *p, char *text, size_t size)
{
    char low[32];
    char high[32];

    switch (p->type) {
    case PARAM_COUNT:
    case PARAM_SIZE:
    case PARAM_DURATION:
        units_format_exact(kind_of(p), p->min, low, sizeof(low));
        units_format_exact(kind_of(p), p->max, high, sizeof(high));
        snprintf(text, size, "%s..%s", low, high);
        break;
    case PARAM_FLAG:
        snprintf(text, size, "on|off");
        break;
    case PARAM_CHOICE:
        snprintf(text, size, "%s", p->choices);
        break;
    case PARAM_TEXT:
        snprintf(text, size, "text");
        break;
    }
}

static int refuse(const struct param *p, const char *typed, struct fail *fail)
{
    char name[40];
    char range[80];

    param_option(p, name, sizeof(name));
    param_range(p, range, sizeof(range));
    return fail_set(fail, EINVAL, "parameter",
                    "--%s cannot be '%.80s': it takes %s%s%s%s", name, typed, range,
                    *p->unit ? " (" : "", p->unit, *p->unit ? ")" : "");
}

static int set_number(struct options *values, const struct param *p, const char *text,
                      struct fail *fail)
{
    uint64_t value;

    if (units_parse(kind_of(p), text, &value) < 0 || value < p->min || value > p->max)
        return refuse(p, text, fail);
    return options_set_number(values, p->name, value);
}

static int set_flag(struct options *values, const struct param *p, const char *text,
                    struct fail *fail)
{
    static const struct {
        const char *word;
        int value;
    } words[] = {{"on", 1},  {"yes", 1}, {"true", 1},  {"1", 1},
                 {"off", 0}, {"no", 0},  {"false", 0}, {"0", 0}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i].word) == 0)
            return options_set_number(values, p->name, (uint64_t)words[i].value);
    return refuse(p, text, fail);
}

static int is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);

    if (strchr(text, '|'))
        return 0;
    for (const char *c = choices; c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        if (len && strncmp(c, text, len) == 0 && (c[len] == '|' || !c[len]))
            return 1;
    return 0;
}

/* Lines are joined by a line end, so one within a line would make two of it. */
static int add_line(struct options *values, const struct param *p, const char *text,
                    struct fail *fail)
{
    const char *before = options_text(values, p->name, "");
    char *lines;
    int rc;

    if (strchr(text, '\n'))
        return fail_set(fail, EINVAL, "parameter", "--%s has a line end in it: '%.*s...'",
                        p->name, (int)strcspn(text, "\n"), text);
    if (!*before)
        return options_set_text(values, p->name, text);
    if (asprintf(&lines, "%s\n%s", before, text) < 0)
        return -ENOMEM;
    rc = options_set_text(values, p->name, lines);
    free(lines);
    return rc;
}

int param_set(struct options *values, const struct param *p, const char *text,
              struct fail *fail)
{
    int rc = 0;

    switch (p->type) {
    case PARAM_COUNT:
    case PARAM_SIZE:
    case PARAM_DURATION:
        rc = set_number(values, p, text, fail);
        break;
    case PARAM_FLAG:
        rc = set_flag(values, p, text, fail);
        break;
    case PARAM_CHOICE:
        rc = is_choice(p->choices, text) ? options_set_text(values, p->name, text)
                                         : refuse(p, text, fail);
        break;
    case PARAM_TEXT:
        rc = p->flags & PARAM_REPEAT && *text ? add_line(values, p, text, fail)
                                              : options_set_text(values, p->name, text);
        break;
    }
    if (rc == -ENOMEM)
        fail_set(fail, ENOMEM, "parameter", "%s", p->name);
    return rc;
}

void param_text(const struct options *values, const struct param *p, char *text,
                size_t size)
{
    uint64_t number = options_number(values, p->name, UINT64_MAX);

    if (p->type == PARAM_TEXT || p->type == PARAM_CHOICE)
        snprintf(text, size, "%s", options_text(values, p->name, ""));
    else if (number == UINT64_MAX)
        snprintf(text, size, "%s", "");
    else if (p->type == PARAM_FLAG)
        snprintf(text, size, "%s", number ? "on" : "off");
    else
        units_format_exact(kind_of(p), number, text, size);
}

/* Levenshtein's distance, for short words. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64];
    size_t n = strlen(b);

    if (n >= 64 || strlen(a) >= 64)
        return 64;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (*a != b[j - 1]);
            size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

            diagonal = row[j];
            row[j] = change < least ? change : least;
        }
    }
    return row[n];
}

const char *nearest_word(const char *typed, const char *const *words, size_t count)
{
    size_t least = strlen(typed) / 3 + 2;
    const char *nearest = NULL;

    for (size_t i = 0; i < count; i++) {
        size_t d = distance(typed, words[i]);

        if (d < least) {
            least = d;
            nearest = words[i];
        }
    }
    return nearest;
}
