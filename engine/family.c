#include "engine/family.h"

#include "protocols/meter.h"

#define SERVICE_TIME                                                                    \
    .latency_place = PLACE_CLIENT, .latency_span = "service time",                      \
    .latency_about = "service time: from the start of an operation to its end",         \
    .latency_paced = "response time: from the moment at which the schedule wanted the " \
                     "operation begun"

/* What a server under load is known by. */
#define ANSWERS                               \
    .headlines = {METRIC_requests_per_second, \
                  METRIC_latency_p50_ns,      \
                  METRIC_latency_p99_ns,      \
                  METRIC_latency_max_ns,      \
                  METRIC_error_percent,       \
                  METRIC_seconds,             \
                  METRIC_COUNT},              \
    .judged = 3

const struct family family_bulk = {
    .bit = FAMILY_BULK,
    .name = "bulk transfers",
    .amount = OPTION_size,
    .protocol = "tcp",
    .content = true,
    SERVICE_TIME,
    .headlines = {METRIC_throughput, METRIC_throughput_up, METRIC_throughput_down,
                  METRIC_seconds, METRIC_COUNT},
    .judged = 1,
};

const struct family family_requests = {
    .bit = FAMILY_REQUESTS,
    .name = "requests",
    .amount = OPTION_requests,
    .concurrency = OPTION_concurrency,
    .protocol = "tcp",
    .operations = true,
    .answered = true,
    SERVICE_TIME,
    ANSWERS,
};

const struct family family_udp = {
    .bit = FAMILY_UDP,
    .name = "datagrams",
    .amount = OPTION_messages,
    .concurrency = OPTION_window,
    .protocol = "udp",
    .operations = true,
    .one_way = true,
    .datagrams = true,
    .latency_place = PLACE_SERVER,
    .latency_span = "from sending to arrival",
    .latency_about = "one-way, from the send to the receipt on one clock",
    .latency_paced = "one-way, from the moment at which the schedule wanted the send to "
                     "the receipt on one clock",
    .headlines = {METRIC_received_per_second, METRIC_loss_percent, METRIC_seconds,
                  METRIC_latency_p50_ns, METRIC_latency_p99_ns, METRIC_COUNT},
    .judged = 2,
};

const struct family family_service = {
    .bit = FAMILY_SERVICE,
    .name = "services",
    .amount = OPTION_amount,
    .concurrency = OPTION_connections,
    .protocol = "http",
    .operations = true,
    .answered = true,
    .load = true,
    SERVICE_TIME,
    ANSWERS,
};

const struct family family_http = {
    .bit = FAMILY_HTTP,
    .name = "http",
    .amount = OPTION_amount,
    .concurrency = OPTION_connections,
    .protocol = "http",
    .operations = true,
    .answered = true,
    .load = true,
    .url = true,
    SERVICE_TIME,
    ANSWERS,
};

static const struct family *const families[] = {
    &family_bulk, &family_requests, &family_udp, &family_service, &family_http, NULL,
};

const struct family *const *family_table(void)
{
    return families;
}

uint64_t family_received(const struct family *f, const struct meter_counters *c)
{
    return f->datagrams ? c->unique : c->received_messages;
}
