#include "engine/limits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "protocols/transport.h"

/* What a worker has open besides its load: channel, timers, logs, libraries. */
#define FILES_BESIDES 40

struct list {
    size_t count;
    struct limit *rows;
};

static struct limit *add(struct list *l, const char *name)
{
    struct limit *row = &l->rows[l->count++];

    memset(row, 0, sizeof(*row));
    row->name = name;
    row->enough = true;
    return row;
}

static void put(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put(char *text, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
}

/* The first number or line of a file below /proc. */
static bool read_number(const char *path, uint64_t *value)
{
    FILE *f = fopen(path, "re");
    bool ok = f && fscanf(f, "%" SCNu64, value) == 1;

    if (f)
        fclose(f);
    return ok;
}

static bool read_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    bool ok = f && fgets(text, (int)size, f);

    if (f)
        fclose(f);
    if (ok)
        text[strcspn(text, "\n")] = '\0';
    return ok;
}

/*
 * A request that is a process of its own holds its connection there. Load opens all of
 * its connections, others as many as there is work for.
 */
static uint64_t files_of_operations(const struct family *f, const struct options *v)
{
    const struct transport *t = transport_asked(v);
    uint64_t amount = options_number(v, f->amount, UINT64_MAX);
    uint64_t wanted = options_number(v, f->concurrency, 0);
    uint64_t all = f->load || wanted < amount ? wanted : amount;
    uint64_t workers = options_number(v, OPTION_workers, 1);
    uint64_t own = (all + workers - 1) / workers;
    uint64_t server = all * (t ? t->server_fds : 1);
    uint64_t client =
        own * (t && !options_is(v, OPTION_client, "process") ? t->client_fds : 1);

    return server > client ? server : client;
}

/* Open files that the busiest single process of the run needs; 0: a handful. */
static uint64_t files_needed(const struct scenario *s, const struct options *v)
{
    uint64_t workers = s ? options_number(v, OPTION_workers, 1) : 0;
    uint64_t n = 0;

    if (!s)
        return 0;
    if (s->family->concurrency)
        n = files_of_operations(s->family, v);
    /* The endpoint holds the way in and the way on. */
    if (s->roles[PLACE_ENDPOINT])
        n *= 2;
    /* The engine holds three for each worker. */
    if (workers > 1 && n < 3 * (workers + 2))
        n = 3 * (workers + 2);
    return n ? n + FILES_BESIDES : 0;
}

static void open_files(struct list *l, const struct scenario *s, const struct options *v)
{
    struct limit *row = add(l, "open files");
    struct rlimit rl;

    row->need = files_needed(s, v);
    row->known = getrlimit(RLIMIT_NOFILE, &rl) == 0;
    row->have = row->known ? (uint64_t)rl.rlim_max : 0;
    row->enough = row->have >= row->need;
    row->fatal = true;
    put(row->why, sizeof(row->why), "each connection, FIFO and UDP socket is one");
    if (!row->enough)
        put(row->cure, sizeof(row->cure),
            "lower the connections, or raise the limit: ulimit -Hn %" PRIu64
            " (as root, or in limits.conf)",
            row->need);
}

static void receive_buffer(struct list *l, const struct options *v)
{
    struct limit *row = add(l, "bytes of receive buffer");

    row->need = v ? options_number(v, OPTION_receive_buffer, 0) : 0;
    row->known = read_number("/proc/sys/net/core/rmem_max", &row->have);
    row->enough = row->have >= row->need || geteuid() == 0;
    put(row->why, sizeof(row->why),
        "a small datagram takes 832 bytes of it; what does not fit is lost");
    if (!row->enough)
        put(row->cure, sizeof(row->cure), "sysctl -w net.core.rmem_max=%" PRIu64,
            row->need);
}

static bool has_port(const struct options *v)
{
    const struct transport *t = transport_asked(v);

    return t && endpoint_has_port(t->kind);
}

/* Whether each operation has a TCP connection of its own. */
static bool is_connecting(const struct options *v)
{
    return options_number(v, OPTION_close, 0) ||
           (has_port(v) &&
            strcmp(options_text(v, OPTION_client, "persistent"), "persistent") != 0);
}

static void ports(struct list *l, const struct scenario *s, const struct options *v)
{
    struct limit *row = add(l, "ephemeral ports");
    unsigned low, high;
    uint64_t reuse = 0;
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

    row->known = f && fscanf(f, "%u %u", &low, &high) == 2 && high >= low;
    if (f)
        fclose(f);
    row->have = row->known ? high - low + 1 : 0;
    read_number("/proc/sys/net/ipv4/tcp_tw_reuse", &reuse);
    if (s && is_connecting(v))
        row->need = options_number(v, s->family->amount, 0);
    row->enough = row->need <= row->have || reuse > 0;
    put(row->why, sizeof(row->why),
        "each closed connection holds one for 60 s (TIME_WAIT)%s",
        reuse ? "; tcp_tw_reuse gives them back after 1 s" : "");
    if (!row->enough)
        put(row->cure, sizeof(row->cure),
            "sysctl -w net.ipv4.tcp_tw_reuse=2, or keep connections");
}

static bool has_congestion(const struct options *v)
{
    const struct transport *t = transport_asked(v);

    return t && t->congestion;
}

static void congestion(struct list *l)
{
    struct limit *row = add(l, "congestion control");
    char allowed[64] = "";

    row->known = read_line("/proc/sys/net/ipv4/tcp_congestion_control", row->text,
                           sizeof(row->text));
    read_line("/proc/sys/net/ipv4/tcp_allowed_congestion_control", allowed,
              sizeof(allowed));
    row->enough = !strstr(row->text, "bbr") || strstr(allowed, "reno");
    put(row->why, sizeof(row->why),
        "bbr takes 3 to 4 times as long on loopback; a run sets its own (allowed: %s)",
        allowed);
    if (!row->enough)
        put(row->cure, sizeof(row->cure),
            "sysctl -w net.ipv4.tcp_allowed_congestion_control='reno cubic bbr'");
}

static void memory(struct list *l, const struct scenario *s, const struct options *v)
{
    struct limit *row = add(l, "bytes of memory");
    FILE *f = fopen("/proc/meminfo", "re");
    char line[128];
    uint64_t kib;

    while (f && !row->known && fgets(line, sizeof(line), f))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) {
            row->known = true;
            row->have = kib * 1024;
        }
    if (f)
        fclose(f);
    if (s && s->family->content && !*options_text(v, OPTION_file, ""))
        row->need = options_number(v, OPTION_size, 0);
    row->enough = row->have >= row->need;
    put(row->why, sizeof(row->why),
        "made-up bytes lie in memory; when they do not fit they go to disk");
    if (!row->enough)
        put(row->cure, sizeof(row->cure), "a smaller --size, or a --file");
}

static void cores(struct list *l)
{
    struct limit *row = add(l, "cores");

    row->known = true;
    row->need = 2;
    row->have = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    row->enough = row->have >= row->need;
    put(row->why, sizeof(row->why),
        "server and client on one core take each other's time");
    if (!row->enough)
        put(row->cure, sizeof(row->cure), "compare runs of this machine only");
}

static void load_of_others(struct list *l)
{
    struct limit *row = add(l, "idle cores");
    double load = 0;
    FILE *f = fopen("/proc/loadavg", "re");
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    row->known = f && fscanf(f, "%lf", &load) == 1;
    if (f)
        fclose(f);
    row->have = load < (double)n ? (uint64_t)((double)n - load + 0.5) : 0;
    row->need = 1;
    row->enough = row->have >= row->need;
    put(row->why, sizeof(row->why),
        "others' work shows as latency here (load average %.1f)", load);
    if (!row->enough)
        put(row->cure, sizeof(row->cure), "wait until the machine is quiet");
}

size_t limits_for(const struct scenario *scenario, const struct options *values,
                  struct limit limits[LIMITS_MAX])
{
    struct list l = {0, limits};
    const struct family *family = scenario ? scenario->family : NULL;

    open_files(&l, scenario, values);
    if (!family || family->datagrams)
        receive_buffer(&l, scenario ? values : NULL);
    if (!family || family->answered)
        ports(&l, scenario, values);
    if (!scenario || has_congestion(values))
        congestion(&l);
    if (!family || family->content)
        memory(&l, scenario, values);
    cores(&l);
    load_of_others(&l);
    return l.count;
}

void limits_raise_files(void)
{
    struct rlimit rl;

    if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur < rl.rlim_max) {
        rl.rlim_cur = rl.rlim_max;
        setrlimit(RLIMIT_NOFILE, &rl);
    }
}
