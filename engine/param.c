#include "engine/param.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "protocols/array.h"

#define SECOND 1000000000ull
#define HOUR (3600 * SECOND)
#define PIB (1ull << 50)
#define TERA 1000000000000ull

/* A row is its name, the families that have it, and whatever else there is to say. */
#define ROW(title, whose, kind, ...)                                               \
    {                                                                              \
        .option = OPTION_##title, .name = #title, .families = whose, .type = kind, \
        __VA_ARGS__                                                                \
    }

#define COUNT(title, whose, ...) ROW(title, whose, PARAM_COUNT, __VA_ARGS__)
#define SIZE(title, whose, ...) \
    ROW(title, whose, PARAM_SIZE, .unit = "bytes", __VA_ARGS__)
#define TIME(title, whose, ...) \
    ROW(title, whose, PARAM_DURATION, .unit = "time", __VA_ARGS__)
#define FLAG(title, whose, ...) \
    ROW(title, whose, PARAM_FLAG, .unit = "", .max = 1, __VA_ARGS__)
#define CHOICE(title, whose, ...) ROW(title, whose, PARAM_CHOICE, .unit = "", __VA_ARGS__)
#define TEXT(title, whose, ...) ROW(title, whose, PARAM_TEXT, .unit = "", __VA_ARGS__)

/* In the order in which a person would ask. */
static const struct param params[] = {
    TEXT(url, FAMILY_HTTP, .fallback = "",
         .help = "the address to load, http://HOST[:PORT]/PATH"),
    COUNT(connections, FAMILY_WEB, .letter = 'c', .unit = "connections", .min = 1,
          .max = 100000, .fallback = "20",
          .flags = PARAM_SPLIT | PARAM_LIVE | PARAM_SIZING,
          .help = "connections open at once, over all client processes"),
    COUNT(amount, FAMILY_WEB, .letter = 'a', .unit = "requests", .max = TERA,
          .zero = "no limit", .fallback = "0", .flags = PARAM_SPLIT | PARAM_SIZING,
          .help = "requests in all"),
    SIZE(size, FAMILY_BULK | SERVE_STREAM, .min = 1, .max = PIB, .fallback = "1GiB",
         .flags = PARAM_SIZING, .help = "bytes that each end sends"),
    CHOICE(direction, FAMILY_BULK | SERVE_STREAM, .choices = "both|up|down",
           .fallback = "both", .flags = PARAM_SIZING,
           .help = "who sends: both ends at once, the client (up), the server (down)"),
    SIZE(block, FAMILY_BULK | SERVE_STREAM, .min = 1, .max = 1 << 30,
         .fallback = "256KiB", .flags = PARAM_NOTED,
         .help = "bytes handed to the kernel in one call"),
    CHOICE(method, FAMILY_BULK | SERVE_STREAM, .choices = "auto|copy|zero-copy",
           .fallback = "auto", .flags = PARAM_NOTED,
           .help = "how bytes are sent: read and write, or sendfile and splice"),
    TEXT(file, FAMILY_BULK | SERVE_STREAM, .fallback = "",
         .flags = PARAM_FILE | PARAM_BESIDE,
         .help = "send this file, not made-up random bytes"),
    FLAG(verify, FAMILY_BULK | SERVE_STREAM, .fallback = "off", .flags = PARAM_BESIDE,
         .help = "compare checksums of what was sent and received"),
    COUNT(requests, FAMILY_REQUESTS, .unit = "requests", .min = 1, .max = TERA,
          .fallback = "100", .flags = PARAM_SPLIT | PARAM_SIZING,
          .help = "requests in all"),
    COUNT(concurrency, FAMILY_REQUESTS, .unit = "requests", .min = 1, .max = 10000,
          .fallback = "1", .flags = PARAM_SPLIT | PARAM_SIZING,
          .help = "requests under way at once"),
    CHOICE(client, FAMILY_REQUESTS | SERVE_STREAM,
           .choices = "process|connection|persistent", .fallback = "process",
           .flags = PARAM_SIZING,
           .help = "a new process, a new connection or a kept connection for each "
                   "request"),
    TEXT(message, FAMILY_REQUESTS | SERVE_STREAM,
         .fallback = "The quick brown fox jumps over the lazy dog.",
         .help = "the text that each request and each reply carries"),
    SIZE(message_size, FAMILY_REQUESTS | SERVE_STREAM, .max = 1 << 20,
         .zero = "as the message is", .fallback = "0",
         .help = "repeat or cut the message to this length"),
    COUNT(messages, FAMILY_UDP, .unit = "messages", .min = 1, .max = TERA,
          .fallback = "100000", .flags = PARAM_SPLIT | PARAM_SIZING,
          .help = "datagrams to send"),
    SIZE(size, FAMILY_UDP, .max = 65507, .zero = "label and stamp alone", .fallback = "0",
         .flags = PARAM_SIZING,
         .help = "bytes of payload in a datagram; UDP over IPv4 carries at most 65507"),
    COUNT(window, FAMILY_UDP, .unit = "sockets", .max = 1000000, .zero = "no limit",
          .fallback = "0",
          .help = "sockets open at once where each datagram has its own"),
    COUNT(batch, FAMILY_UDP, .unit = "datagrams", .min = 1, .max = 1024, .fallback = "1",
          .flags = PARAM_NOTED,
          .help = "the most datagrams handed over in one call (sendmmsg)"),
    FLAG(gso, FAMILY_UDP, .fallback = "off", .flags = PARAM_NOTED,
         .help = "let the kernel cut a large send into datagrams"),
    FLAG(gro, FAMILY_UDP | SERVE_UDP, .fallback = "off", .flags = PARAM_NOTED,
         .help = "let the server take coalesced datagrams"),
    FLAG(connected, FAMILY_UDP, .fallback = "off",
         .help = "connect the sending socket to the server"),
    CHOICE(payload, FAMILY_UDP, .choices = "stamped|plain", .fallback = "stamped",
           .flags = PARAM_NOTED,
           .help = "label, number and time, or exactly the label's bytes"),
    TEXT(label, FAMILY_UDP, .fallback = "PLIMSOLL",
         .help = "the label that the server counts under"),
    CHOICE(resolve, FAMILY_UDP, .choices = "once|each", .fallback = "each",
           .help = "look the server's name up once or for every send"),
    FLAG(full_print, FAMILY_UDP, .fallback = "off", .flags = PARAM_BESIDE,
         .help = "ask the server to print all its counts when the sending is over"),
    SIZE(send_buffer, FAMILY_UDP, .max = 1 << 30, .zero = "the system's default",
         .fallback = "0", .help = "SO_SNDBUF of the sending sockets"),
    SIZE(receive_buffer, FAMILY_UDP | SERVE_UDP, .max = 1 << 30,
         .zero = "the system's default", .fallback = "0",
         .help = "SO_RCVBUF of the receiving socket"),
    COUNT(nth, FAMILY_UDP | SERVE_UDP, .unit = "messages", .min = 1, .max = TERA,
          .fallback = "100000", .flags = PARAM_BESIDE,
          .help = "report the time from a label's first message to this one"),
    TEXT(multicast, FAMILY_UDP | SERVE_UDP, .fallback = "",
         .help = "send to this group of receivers, 224.0.0.0 to 239.255.255.255, on the "
                 "interface of host"),
    COUNT(receivers, FAMILY_UDP | SERVE_UDP, .unit = "receivers", .min = 1, .max = 16,
          .fallback = "1",
          .help = "receivers in the group, each with a buffer of its own"),
    COUNT(rate, FAMILY_OPERATIONS, .letter = 'R', .unit = "per second", .max = 100000000,
          .zero = "as fast as it goes", .fallback = "0",
          .flags = PARAM_SPLIT | PARAM_LIVE | PARAM_SIZING,
          .help = "operations a second over all connections and client processes"),
    CHOICE(arrivals, FAMILY_OPERATIONS, .choices = "even|poisson", .fallback = "even",
           .help = "the spacing of a rate: all gaps alike, or at random as users come"),
    COUNT(arrivals_seed, FAMILY_OPERATIONS, .unit = "seed", .max = UINT32_MAX,
          .zero = "drawn anew", .fallback = "0",
          .flags = PARAM_BESIDE | PARAM_INDIFFERENT,
          .help = "the number from which Poisson arrivals are drawn"),
    COUNT(connection_rate, FAMILY_WEB, .letter = 'r', .unit = "per second",
          .max = 100000000, .zero = "no limit", .fallback = "0", .flags = PARAM_LIVE,
          .help = "requests a second on each connection"),
    TIME(duration, FAMILY_OPERATIONS, .letter = 'd', .max = 1000 * HOUR,
         .zero = "until the amount is done", .fallback = "0", .flags = PARAM_SIZING,
         .help = "how long load is offered"),
    TIME(warmup, FAMILY_WEB, .max = HOUR, .zero = "none", .fallback = "0",
         .help = "load that is left out of the result"),
    TEXT(method, FAMILY_WEB, .letter = 'm', .fallback = "GET", .help = "the HTTP method"),
    TEXT(headers, FAMILY_WEB, .letter = 'H', .fallback = "", .flags = PARAM_REPEAT,
         .help = "a header, 'Name: value'; --header too; may be repeated"),
    TEXT(body, FAMILY_WEB, .letter = 'b', .fallback = "",
         .help = "the body of each request"),
    TEXT(input, FAMILY_WEB, .letter = 'i', .fallback = "", .flags = PARAM_FILE,
         .help = "a file that holds the body of each request"),
    COUNT(pipelining, FAMILY_WEB, .letter = 'p', .unit = "requests", .min = 1,
          .max = 1024, .fallback = "1",
          .help = "requests sent on a connection before a reply is awaited"),
    FLAG(close, FAMILY_WEB, .fallback = "off",
         .help = "a new connection for each request"),
    TEXT(socket_path, FAMILY_HTTP, .letter = 'S', .fallback = "", .flags = PARAM_FILE,
         .help = "reach the server over this Unix socket"),
    CHOICE(upstream, FAMILY_SERVICE | SERVE_GATEWAY, .choices = "fresh|pooled",
           .fallback = "fresh",
           .help = "the endpoint's way to its microservice: a connection a call, or "
                   "kept ones"),
    TIME(timeout, FAMILY_REQUESTS | FAMILY_WEB | SERVE_GATEWAY, .letter = 't',
         .min = SECOND / 1000, .max = HOUR, .fallback = "10s", .flags = PARAM_BESIDE,
         .help = "give one operation up after this time"),
    TIME(timeout, FAMILY_BULK, .letter = 't', .min = SECOND / 1000, .max = HOUR,
         .fallback = "10s", .flags = PARAM_BESIDE,
         .help = "give a transfer up when no byte has moved for this time"),
    CHOICE(unfinished, FAMILY_REQUESTS | FAMILY_WEB, .choices = "judge|ignore",
           .fallback = "judge", .flags = PARAM_RUN | PARAM_BESIDE | PARAM_INDIFFERENT,
           .help = "whether what is overdue when the load ends counts among the errors"),
    TIME(drain, FAMILY_UDP | SERVE_UDP, .max = HOUR, .zero = "none", .fallback = "200ms",
         .flags = PARAM_BESIDE,
         .help = "quiet time after which the receiver calls a message lost"),
    CHOICE(task, FAMILY_SERVICE | SERVE_TOPPER, .choices = "multi|echo|greeting",
           .fallback = "multi",
           .help = "the Topper service's tasks: Ping, Sum and Avg, or one task for every "
                   "message"),
    TEXT(host, FAMILY_STREAM | FAMILY_UDP | FAMILY_SERVICE | SERVE_PORT,
         .fallback = "127.0.0.1", .flags = PARAM_BESIDE,
         .help = "the address on which servers listen"),
    COUNT(port, FAMILY_STREAM | FAMILY_UDP | FAMILY_SERVICE | SERVE_PORT, .unit = "port",
          .max = 65535, .zero = "any free port", .fallback = "0",
          .flags = PARAM_SIZING | PARAM_BESIDE | PARAM_INDIFFERENT,
          .help = "the port on which the server listens"),
    TEXT(path, FAMILY_STREAM | SERVE_FILE, .fallback = "",
         .flags = PARAM_FILE | PARAM_BESIDE | PARAM_INDIFFERENT,
         .help = "the socket file or FIFO; a private one is made and removed if "
                 "not given"),
    TEXT(congestion, FAMILY_STREAM | FAMILY_WEB | (SERVE_PORT & ~SERVE_UDP),
         .fallback = "auto", .flags = PARAM_NOTED,
         .help = "TCP congestion control: auto is what suits loopback best, system the "
                 "system's own"),
    TEXT(target, FAMILY_STREAM | FAMILY_UDP, .fallback = "", .flags = PARAM_RUN,
         .help = "load a server that is there: tcp:HOST:PORT, unix:PATH, pipe:PATH, "
                 "udp:HOST:PORT"),
    FLAG(remote_target, FAMILY_ALL, .fallback = "off", .flags = PARAM_BESIDE,
         .help = "allow a target that is not this machine's"),
    COUNT(trials, FAMILY_ALL, .unit = "trials", .min = 1, .max = 1000, .fallback = "1",
          .flags = PARAM_RUN | PARAM_SIZING | PARAM_BESIDE | PARAM_INDIFFERENT,
          .help = "how often the whole is repeated, each time with fresh processes"),
    COUNT(workers, FAMILY_ALL, .letter = 'w', .unit = "processes", .min = 1, .max = 256,
          .fallback = "1", .flags = PARAM_RUN, .help = "client processes"),
    TEXT(threshold, FAMILY_ALL, .fallback = "",
         .flags = PARAM_RUN | PARAM_REPEAT | PARAM_BESIDE | PARAM_INDIFFERENT,
         .help = "what must hold: 'p99<5ms', 'loss<=0.1%', 'throughput>500MB/s'; may be "
                 "repeated"),
    TEXT(pin, FAMILY_ALL, .fallback = "", .flags = PARAM_RUN | PARAM_NOTED,
         .help = "cores of servers and clients: 0/1 or 0,1/2-3 ; empty for no pinning"),
    TEXT(server_launch, FAMILY_ALL & ~FAMILY_HTTP, .fallback = "", .flags = PARAM_RUN,
         .help = "words before the server program, 'ip netns exec A' or 'ssh host'"),
    TEXT(client_launch, FAMILY_ALL, .fallback = "", .flags = PARAM_RUN,
         .help = "words before the client program"),
    {0},
};

const struct param *param_table(void)
{
    return params;
}

/* Names are equal with - and _ taken as one. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return false;
    return *a == *b;
}

const struct param *param_of(unsigned family, enum option option)
{
    for (const struct param *p = params; p->name; p++)
        if (p->families & family && p->option == option)
            return p;
    return NULL;
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
    return fail_usage(fail, "parameter", "--%s cannot be '%.80s': it takes %s%s%s%s",
                      name, typed, range, *p->unit ? " (" : "", p->unit,
                      *p->unit ? ")" : "");
}

static int set_number(struct options *values, const struct param *p, const char *text,
                      struct fail *fail)
{
    uint64_t value;

    if (units_parse(kind_of(p), text, &value) < 0 || value < p->min || value > p->max)
        return refuse(p, text, fail);
    return options_set_number(values, p->option, value);
}

static int set_flag(struct options *values, const struct param *p, const char *text,
                    struct fail *fail)
{
    static const struct {
        const char *word;
        int value;
    } words[] = {{"on", 1},  {"yes", 1}, {"true", 1},  {"1", 1},
                 {"off", 0}, {"no", 0},  {"false", 0}, {"0", 0}};

    for (size_t i = 0; i < NUMBER_OF(words); i++)
        if (strcasecmp(text, words[i].word) == 0)
            return options_set_number(values, p->option, (uint64_t)words[i].value);
    return refuse(p, text, fail);
}

static bool is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);

    if (strchr(text, '|'))
        return false;
    for (const char *c = choices; c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        if (len && strncmp(c, text, len) == 0 && (c[len] == '|' || !c[len]))
            return true;
    return false;
}

/* Lines are joined by a line end, so one within a line would make two of it. */
static int add_line(struct options *values, const struct param *p, const char *text,
                    struct fail *fail)
{
    const char *before = options_text(values, p->option, "");
    char *lines;
    int rc;

    if (strchr(text, '\n'))
        return fail_usage(fail, "parameter", "--%s has a line end in it: '%.*s...'",
                          p->name, (int)strcspn(text, "\n"), text);
    if (!*before)
        return options_set_text(values, p->option, text);
    if (asprintf(&lines, "%s\n%s", before, text) < 0)
        return -ENOMEM;
    rc = options_set_text(values, p->option, lines);
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
        rc = is_choice(p->choices, text) ? options_set_text(values, p->option, text)
                                         : refuse(p, text, fail);
        break;
    case PARAM_TEXT:
        rc = p->flags & PARAM_REPEAT && *text ? add_line(values, p, text, fail)
                                              : options_set_text(values, p->option, text);
        break;
    }
    if (rc == -ENOMEM)
        fail_set(fail, ENOMEM, "parameter", "%s", p->name);
    return rc;
}

const char *param_value(const struct options *values, const struct param *p,
                        char number[PARAM_NUMBER_MAX])
{
    uint64_t value = options_number(values, p->option, UINT64_MAX);

    if (p->type == PARAM_TEXT || p->type == PARAM_CHOICE)
        return options_text(values, p->option, "");
    if (value == UINT64_MAX)
        return "";
    if (p->type == PARAM_FLAG)
        return value ? "on" : "off";
    units_format_exact(kind_of(p), value, number, PARAM_NUMBER_MAX);
    return number;
}

void param_text(const struct options *values, const struct param *p, char *text,
                size_t size)
{
    char number[PARAM_NUMBER_MAX];

    snprintf(text, size, "%s", param_value(values, p, number));
}

/* What begins at `from`, cut at both ends as needed. */
static void excerpt(const char *value, size_t from, char *text, size_t size)
{
    static const char cut[] = "...";
    size_t used = (size_t)snprintf(text, size, "%s%s", from ? cut : "", value + from);

    if (used >= size)
        memcpy(text + size - sizeof(cut), cut, sizeof(cut));
}

void param_contrast(const char *a, const char *b, char *a_text, char *b_text, size_t size)
{
    bool fit = strlen(a) < size && strlen(b) < size;
    size_t same = 0;
    size_t from;

    while (a[same] && a[same] == b[same])
        same++;
    from = !fit && same > size / 4 ? same - size / 4 : 0;
    excerpt(a, from, a_text, size);
    excerpt(b, from, b_text, size);
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
