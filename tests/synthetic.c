#include "tests/synthetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/random.h"

#define STARTED 1796040000 /* 2026-11-30T12:00:00Z */

double synthetic_uniform(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* The sum of twelve: near enough to normal, and free of libm's last digits. */
double synthetic_normal(uint64_t *state)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += synthetic_uniform(state);
    return sum;
}

/* What is being made. */
struct maker {
    const struct synthetic *how;
    struct run *run;
    uint64_t state;
    double speed; /* of this trial */
};

/* A latency in ns: most near 200 us, one in fifty some milliseconds. */
static uint64_t latency_ns(struct maker *k)
{
    double ns = 200000 + 30000 * synthetic_normal(&k->state);

    if (synthetic_uniform(&k->state) < 0.02)
        ns *= 10 + 20 * synthetic_uniform(&k->state);
    return (uint64_t)(fmax(ns, 50000) / k->speed);
}

static void fill_udp(struct maker *k, struct meter *client, struct meter *server)
{
    uint64_t sent = (uint64_t)(1000 * k->speed);
    uint64_t lost = (uint64_t)(40 * synthetic_uniform(&k->state));

    client->counters.attempted = sent + 1;
    client->counters.refused = 1;
    client->counters.sent_messages = client->counters.succeeded = sent;
    client->counters.failed = 1;
    client->counters.sent_bytes = 60 * sent;
    server->counters.expected = sent;
    server->counters.unique = server->counters.received_messages = sent - lost;
    server->counters.received_bytes = 60 * (sent - lost);
    server->counters.overflow = server->counters.drops = lost - lost / 4;
    tally_add(&server->labels, "<i>\"A\" & 'B'|`\xff", sent - lost);
    for (uint64_t i = 0; i < sent - lost; i += 10)
        meter_record(server, METER_HIST_latency, latency_ns(k) / 4);
    for (uint64_t i = 0; i < sent - lost; i += 100) {
        meter_use(server, METER_HIST_jitter);
        meter_record(server, METER_HIST_jitter, latency_ns(k) / 40);
    }
}

static void fill_bulk(struct maker *k, struct meter *client, struct meter *server)
{
    uint64_t each =
        (uint64_t)(1e8 * k->speed * (0.9 + 0.2 * synthetic_uniform(&k->state)));

    client->counters.sent_bytes = server->counters.received_bytes = each;
    server->counters.sent_bytes = client->counters.received_bytes = each + each / 8;
    client->counters.connections = server->counters.connections = 0;
}

static void fill_requests(struct maker *k, struct meter *client, struct meter *server)
{
    uint64_t n = (uint64_t)(500 * k->speed);

    for (uint64_t i = 0; i < n; i++)
        meter_record(client, METER_HIST_latency, latency_ns(k));
    client->counters.attempted = n + 1;
    client->counters.succeeded = n;
    client->counters.failed = 1;
    client->counters.sent_messages = server->counters.received_messages = n;
    client->counters.received_messages = server->counters.sent_messages = n;
    client->counters.sent_bytes = server->counters.received_bytes = 43 * n;
    client->counters.received_bytes = server->counters.sent_bytes = 43 * n;
    client->counters.received_wire_bytes = 150 * n;
    tally_add(&client->status, "200", n - 2);
    tally_add(&client->status, "503", 2);
    tally_add(&client->errors, "read ECONNRESET", 1);
    client->gauges.open_connections = 20;
}

static void fill(struct maker *k, struct meter *client, struct meter *server)
{
    const struct family *family = k->run->scenario->family;

    if (family->datagrams)
        fill_udp(k, client, server);
    else if (family->operations)
        fill_requests(k, client, server);
    else
        fill_bulk(k, client, server);
}

static void take(struct maker *k, struct process *p, struct sample *sample, uint64_t step,
                 uint64_t cpu_us)
{
    struct run *r = k->run;
    struct trial *t = run_trial(r);

    sample->at_ns = (step + 1) * SAMPLE_STEP_NS;
    sample->span_ns = SAMPLE_STEP_NS;
    sample->use =
        (struct process_use){.cpu_user_us = cpu_us / 4,
                             .cpu_system_us = cpu_us - cpu_us / 4,
                             .voluntary_switches = 100,
                             .max_rss_bytes = 3000000 + (uint64_t)p->place * 4096,
                             .open_descriptors = 10};
    trial_sample(t, p, sample);
    series_add(r->series, p->place, run_origin_ns(r, t), sample,
               p->place == r->scenario->family->latency_place);
}

static void add_steps(struct maker *k, struct trial *t)
{
    struct sample client, server;

    sample_init(&client);
    sample_init(&server);
    for (unsigned i = 0; i < k->how->steps; i++) {
        if (i == 7)
            continue; /* a gap */
        if (t->number == 1 && i == 4)
            series_mark(k->run->series, 450000000, "rate 10k, \"up\"");
        meter_reset(client.meter);
        meter_reset(server.meter);
        fill(k, client.meter, server.meter);
        take(k, &t->processes[0], &server, i, 41000);
        if (t->process_count > 1)
            take(k, &t->processes[t->process_count - 1], &client, i, 63000);
    }
    sample_done(&client);
    sample_done(&server);
}

static void add_trial(struct maker *k, unsigned number)
{
    const struct synthetic *how = k->how;
    struct run *r = k->run;
    struct trial *t = calloc(1, sizeof(*t));
    bool last = number == how->trials;

    k->speed = how->speed * (1 + how->noise * synthetic_normal(&k->state));
    trial_init(t, r->scenario, number, 2);
    t->started = STARTED + (time_t)number * 10;
    t->start_ns = r->first_ns + (number - 1) * (how->steps + 2) * SAMPLE_STEP_NS;
    t->processes[0].place = PLACE_SERVER;
    t->processes[1].place = PLACE_CLIENT;
    for (int i = 0; i < 2; i++) {
        t->processes[i].ready = t->processes[i].reported = true;
        t->processes[i].pid = 1000 + i;
        strcpy(t->processes[i].endpoint, "tcp:127.0.0.1:4000");
    }
    r->trials[r->trials_begun++] = t;
    add_steps(k, t);
    if (last && how->outcome != OUTCOME_COMPLETED) {
        t->outcome = how->outcome;
        strcpy(t->reason, "the server \"x\" <gone> & 'away' | `it` ]]> \x01\xfe, ended");
        t->processes[0].reported = false;
    }
    run_account(r, t);
    trial_drop_hists(t);
}

struct run *synthetic_run(const struct synthetic *how)
{
    struct maker k = {.how = how, .state = how->seed};
    const struct scenario *s = scenario_find(how->scenario);
    struct run *r = s ? calloc(1, sizeof(*r)) : NULL;

    if (!r)
        return NULL;
    k.run = r;
    r->scenario = s;
    scenario_defaults(s, &r->values);
    options_set_number(&r->values, OPTION_trials, how->trials);
    if (how->warmup_ns)
        options_set_number(&r->values, OPTION_warmup, how->warmup_ns);
    options_set_text(&r->values, OPTION_threshold,
                     "p99<5ms\nloss<=0.1%\nthroughput>1B/s");
    r->environment = (struct environment){.program = "plimsoll 0",
                                          .host = "nowhere",
                                          .kernel = "6.1.0",
                                          .machine = "x86_64",
                                          .cpus = 2};
    r->state = RUN_DONE;
    r->started = STARTED;
    r->first_ns = 5000000000u;
    r->trial_count = how->trials;
    r->trials = calloc(how->trials + 1, sizeof(*r->trials));
    r->series = series_new();
    for (unsigned i = 1; i <= how->trials; i++)
        add_trial(&k, i);
    return r;
}
