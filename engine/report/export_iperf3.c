/*
 * The layout of `iperf3 --json`, for scripts that read it: the last trial of a bulk
 * transfer or of datagrams. iperf3's host is the client and its remote the server; a
 * transfer both ways has the sums of a --bidir test, one down alone those of --reverse.
 * The client processes together are one stream. What was not measured is null.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/json.h"
#include "engine/report/document.h"
#include "engine/report/export.h"
#include "protocols/clock.h"
#include "protocols/endpoint.h"

/* One direction: who sends, who receives. */
struct flow_of {
    enum place from, to;
    const char *suffix; /* of the names of its sums */
};

/* The directions of a run; returns how many. */
static size_t flows(const struct run *r, struct flow_of list[2])
{
    static const struct flow_of up = {PLACE_CLIENT, PLACE_SERVER, ""};
    static const struct flow_of down = {PLACE_SERVER, PLACE_CLIENT, ""};

    list[0] = options_is(&r->values, OPTION_direction, "down") ? down : up;
    list[1] = down;
    list[1].suffix = "_bidir_reverse";
    return options_is(&r->values, OPTION_direction, "both") ? 2 : 1;
}

static void add_rate(cJSON *o, double begin_s, double end_s, uint64_t bytes)
{
    double seconds = end_s - begin_s;

    json_add_number(o, "start", begin_s);
    json_add_number(o, "end", end_s);
    json_add_number(o, "seconds", seconds);
    json_add_u64(o, "bytes", bytes);
    json_add_number(o, "bits_per_second",
                    seconds > 0 ? 8 * (double)bytes / seconds : (double)NAN);
}

static void add_connected(cJSON *start, const struct trial *t)
{
    cJSON *array = cJSON_AddArrayToObject(start, "connected");
    cJSON *target = cJSON_AddObjectToObject(start, "connecting_to");

    for (size_t i = 0; t && i < t->process_count; i++) {
        const struct process *p = &t->processes[i];
        struct endpoint e;
        const char *host;
        cJSON *row;

        if (p->place != PLACE_SERVER || endpoint_parse(&e, p->endpoint, NULL) < 0)
            continue;
        row = cJSON_CreateObject();
        host = endpoint_has_port(e.kind) ? e.host : e.path;
        json_add_u64(row, "socket", i + 1);
        json_add_text(row, "remote_host", host);
        json_add_text(target, "host", host);
        if (endpoint_has_port(e.kind)) {
            json_add_u64(row, "remote_port", e.port);
            json_add_u64(target, "port", e.port);
        }
        cJSON_AddItemToArray(array, row);
    }
}

/* iperf3 writes the Internet's protocols in capitals: TCP, UDP, SCTP. */
static void protocol_name(const struct run *r, char *name, size_t size)
{
    enum endpoint_kind kind = ENDPOINT_UDP;

    endpoint_kind_find(
        &kind, options_text(&r->values, OPTION_transport, r->scenario->family->protocol));
    snprintf(name, size, "%s", endpoint_kind_name(kind));
    for (; endpoint_has_port(kind) && *name; name++)
        *name = (char)toupper((unsigned char)*name);
}

/* The rate that was asked for, in bits of payload a second; 0: as fast as it goes. */
static double asked_rate(const struct run *r)
{
    const struct trial *t = run_trial(r);
    const struct meter_counters *c = t ? &t->counters[PLACE_CLIENT] : NULL;
    double rate = (double)options_number(&r->values, OPTION_rate, 0);

    /* What a datagram holds beside the size that was asked for, the sender has counted.
     */
    if (!c || !c->sent_messages)
        return 8 * rate * (double)options_number(&r->values, OPTION_size, 0);
    return 8 * rate * (double)c->sent_bytes / (double)c->sent_messages;
}

static void add_test(cJSON *start, const struct run *r)
{
    cJSON *o = cJSON_AddObjectToObject(start, "test_start");
    const struct family *family = r->scenario->family;
    char protocol[16];

    protocol_name(r, protocol, sizeof(protocol));
    json_add_text(o, "protocol", protocol);
    json_add_u64(o, "num_streams", options_number(&r->values, OPTION_workers, 1));
    json_add_u64(
        o, "blksize",
        options_number(&r->values, family->datagrams ? OPTION_size : OPTION_block, 0));
    json_add_u64(o, "omit", options_number(&r->values, OPTION_warmup, 0) / NS_PER_S);
    json_add_u64(o, "duration",
                 options_number(&r->values, OPTION_duration, 0) / NS_PER_S);
    json_add_u64(o, "bytes",
                 family->datagrams ? 0 : options_number(&r->values, OPTION_size, 0));
    json_add_u64(o, "blocks", options_number(&r->values, OPTION_messages, 0));
    json_add_u64(o, "reverse", options_is(&r->values, OPTION_direction, "down"));
    json_add_u64(o, "tos", 0);
    json_add_number(o, "target_bitrate", family->datagrams ? asked_rate(r) : 0);
    json_add_u64(o, "bidir", options_is(&r->values, OPTION_direction, "both"));
}

static void add_start(cJSON *document, const struct run *r)
{
    cJSON *start = cJSON_AddObjectToObject(document, "start");
    cJSON *stamp;
    char text[256];
    struct tm tm;

    add_connected(start, run_trial(r));
    json_add_text(start, "version", r->environment.program);
    snprintf(text, sizeof(text), "%s %s %s", r->environment.host, r->environment.kernel,
             r->environment.machine);
    json_add_text(start, "system_info", text);
    stamp = cJSON_AddObjectToObject(start, "timestamp");
    gmtime_r(&r->started, &tm);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    json_add_text(stamp, "time", text);
    json_add_u64(stamp, "timesecs", (uint64_t)r->started);
    add_test(start, r);
}

/* Some seconds of a trial, which begin and end at begin_s and end_s of its time. */
struct stretch {
    size_t first, count;
    double begin_s, end_s;
    bool is_omitted; /* of the warm-up; the time of the others begins behind it */
};

static void fill_interval(cJSON *o, const struct trial *t, const struct stretch *at,
                          const struct flow_of *flow)
{
    double bytes = 0, packets = 0;

    for (size_t i = at->first; i < at->first + at->count; i++) {
        const struct second *s = &t->seconds_list[i];

        bytes +=
            flow->to == PLACE_SERVER ? s->up_bytes : s->throughput_bytes - s->up_bytes;
        packets += s->received_messages;
    }
    add_rate(o, at->begin_s, at->end_s, (uint64_t)llround(bytes));
    if (t->scenario->family->datagrams)
        json_add_u64(o, "packets", (uint64_t)llround(packets));
    cJSON_AddBoolToObject(o, "omitted", at->is_omitted);
    cJSON_AddBoolToObject(o, "sender", flow->from == PLACE_CLIENT);
}

static void add_interval(cJSON *array, const struct run *r, const struct stretch *at)
{
    struct flow_of list[2];
    size_t n = flows(r, list);
    cJSON *o = cJSON_CreateObject();
    cJSON *streams = cJSON_AddArrayToObject(o, "streams");

    cJSON_AddItemToArray(array, o);
    for (size_t d = 0; d < n; d++) {
        cJSON *stream = cJSON_CreateObject();
        char name[32];

        cJSON_AddItemToArray(streams, stream);
        fill_interval(stream, run_trial(r), at, &list[d]);
        snprintf(name, sizeof(name), "sum%s", list[d].suffix);
        fill_interval(cJSON_AddObjectToObject(o, name), run_trial(r), at, &list[d]);
    }
}

/* Intervals of a second; what came after the clients had ended is in the last one. */
static void add_intervals(cJSON *document, const struct run *r)
{
    cJSON *array = cJSON_AddArrayToObject(document, "intervals");
    const struct trial *t = run_trial(r);
    double warmup_s, whole_s;

    if (!t)
        return;
    warmup_s = (double)t->warmup_ns / 1e9;
    whole_s = warmup_s + (double)t->paused_ns / 1e9 + t->seconds;
    for (size_t i = 0; i < t->second_count; i++) {
        struct stretch at = {i, 1, (double)i, (double)(i + 1), (double)i < warmup_s};

        if (at.end_s >= whole_s) {
            at.end_s = whole_s;
            at.count = t->second_count - i;
        }
        at.begin_s -= at.is_omitted ? 0 : warmup_s;
        at.end_s -= at.is_omitted ? 0 : warmup_s;
        add_interval(array, r, &at);
        i += at.count - 1;
    }
}

/* The members that a UDP test has beside the rate; what the sender knows of itself. */
static void add_datagrams(cJSON *o, const struct trial *t, bool at_receiver)
{
    const struct hist_summary *jitter = &t->hists[PLACE_SERVER][METER_HIST_jitter];
    const struct loss *l = &t->loss;

    json_add_number(o, "jitter_ms",
                    at_receiver && jitter->count ? jitter->mean / 1e6 : (double)NAN);
    json_add_number(o, "lost_packets",
                    at_receiver && l->lost >= 0 ? (double)l->lost : (double)NAN);
    json_add_u64(o, "packets", l->accepted > 0 ? (uint64_t)l->accepted : 0);
    json_add_number(o, "lost_percent",
                    at_receiver ? t->metrics[METRIC_loss_percent] : (double)NAN);
    if (at_receiver)
        json_add_number(o, "out_of_order",
                        l->out_of_order >= 0 ? (double)l->out_of_order : (double)NAN);
}

static void fill_sum(cJSON *o, const struct trial *t, const struct flow_of *flow,
                     bool at_receiver)
{
    const struct meter_counters *c = &t->counters[at_receiver ? flow->to : flow->from];

    if (at_receiver)
        add_rate(o, 0, t->spans.received[flow->to], c->received_bytes);
    else
        add_rate(o, 0, t->spans.offered, c->sent_bytes);
    if (t->scenario->family->datagrams)
        add_datagrams(o, t, at_receiver);
    cJSON_AddBoolToObject(o, "sender", flow->from == PLACE_CLIENT);
}

static void add_sums(cJSON *end, const struct run *r, const struct trial *t)
{
    struct flow_of list[2];
    size_t n = flows(r, list);
    cJSON *streams = cJSON_AddArrayToObject(end, "streams");

    for (size_t d = 0; d < n; d++) {
        cJSON *row = cJSON_CreateObject();
        char name[48];

        cJSON_AddItemToArray(streams, row);
        if (r->scenario->family->datagrams) {
            fill_sum(cJSON_AddObjectToObject(row, "udp"), t, &list[d], true);
            fill_sum(cJSON_AddObjectToObject(end, "sum"), t, &list[d], true);
        } else {
            fill_sum(cJSON_AddObjectToObject(row, "sender"), t, &list[d], false);
            fill_sum(cJSON_AddObjectToObject(row, "receiver"), t, &list[d], true);
        }
        snprintf(name, sizeof(name), "sum_sent%s", list[d].suffix);
        fill_sum(cJSON_AddObjectToObject(end, name), t, &list[d], false);
        snprintf(name, sizeof(name), "sum_received%s", list[d].suffix);
        fill_sum(cJSON_AddObjectToObject(end, name), t, &list[d], true);
    }
}

/* CPU time of the processes of a place in per cent of the trial's time. */
static void add_cpu(cJSON *o, const struct trial *t, enum place place, const char *who)
{
    double user = (double)NAN, system = (double)NAN;
    char name[24];

    for (size_t i = 0; i < t->process_count; i++) {
        const struct process *p = &t->processes[i];

        if (p->place != place || !p->ready)
            continue;
        user = (isnan(user) ? 0 : user) + (double)p->totals.use.cpu_user_us;
        system = (isnan(system) ? 0 : system) + (double)p->totals.use.cpu_system_us;
    }
    user /= 1e4 * t->seconds;
    system /= 1e4 * t->seconds;
    snprintf(name, sizeof(name), "%s_total", who);
    json_add_number(o, name, user + system);
    snprintf(name, sizeof(name), "%s_user", who);
    json_add_number(o, name, user);
    snprintf(name, sizeof(name), "%s_system", who);
    json_add_number(o, name, system);
}

static void add_end(cJSON *document, const struct run *r)
{
    cJSON *end = cJSON_AddObjectToObject(document, "end");
    const struct trial *t = run_trial(r);
    cJSON *cpu;

    if (!t)
        return;
    add_sums(end, r, t);
    cpu = cJSON_AddObjectToObject(end, "cpu_utilization_percent");
    add_cpu(cpu, t, PLACE_CLIENT, "host");
    add_cpu(cpu, t, PLACE_SERVER, "remote");
}

int export_write_iperf3(FILE *f, const struct run *r)
{
    cJSON *document = cJSON_CreateObject();

    add_start(document, r);
    add_intervals(document, r);
    add_end(document, r);
    if (r->outcome > OUTCOME_STOPPED)
        json_add_text(document, "error", r->reason);
    document_thresholds(document, r);
    return json_write(f, document);
}
