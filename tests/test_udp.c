/*
 * The UDP roles, as workers run them: each test has a server, clients or hand-made
 * senders, and asks for exact counts. Everything stays on loopback.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#undef stop /* of cmocka 2; roles have a member of this name */
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/pacer_timer.h"
#include "protocols/role.h"
#include "protocols/udp/datagram.h"
#include "protocols/udp/udp_count.h"
#include "protocols/udp/udp_drops.h"

#define RUN "run_id=77"
/* What every system gives; it holds 400 small datagrams, or 180 that fill a packet,
 * while nobody reads them. */
#define BIG "receive_buffer=212992"
#define LIMIT_S 60 /* no test's loop runs longer */

/* A role and what it says. */

struct peer {
    const struct role *role;
    struct flow_env env;
    struct flow *flow;
    struct options options;
    bool finished;
    enum outcome outcome;
    char reason[200];
    char text[8192]; /* notes and facts, a line each */
};

static void add_line(struct peer *p, const char *line)
{
    size_t len = strlen(p->text);

    snprintf(p->text + len, sizeof(p->text) - len, "%s\n", line);
}

/* The number of a fact: "name=". */
static uint64_t fact_number(const struct peer *p, const char *name)
{
    const char *at = strstr(p->text, name);

    assert_non_null(at);
    return strtoull(at + strlen(name), NULL, 10);
}

static void on_finished(struct flow_env *env, enum outcome outcome, const char *reason)
{
    struct peer *p = env->owner;

    assert_false(p->finished);
    p->finished = true;
    p->outcome = outcome;
    snprintf(p->reason, sizeof(p->reason), "%s", reason ? reason : "");
    event_base_loopbreak(env->base);
}

static void on_note(struct flow_env *env, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void on_note(struct flow_env *env, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    add_line(env->owner, line);
}

static void on_fact(struct flow_env *env, const char *name, const char *text)
{
    char line[600];

    snprintf(line, sizeof(line), "%s=%s", name, text);
    add_line(env->owner, line);
}

/* "name=value name=value": digits are a number, the rest is text. */
static void set_options(struct options *o, const char *text)
{
    char copy[600], *state, *word;

    snprintf(copy, sizeof(copy), "%s", text);
    for (word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        char *value = strchr(word, '=');

        assert_non_null(value);
        *value++ = '\0';
        assert_int_not_equal(option_find(word), OPTION_NONE);
        if (*value && strspn(value, "0123456789") == strlen(value))
            assert_int_equal(
                options_set_number(o, option_find(word), strtoull(value, NULL, 10)), 0);
        else
            assert_int_equal(options_set_text(o, option_find(word), value), 0);
    }
}

static struct peer *peer_new(const struct role *role, struct event_base *base,
                             const char *options)
{
    struct peer *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    p->role = role;
    p->env.base = base;
    p->env.meter = meter_new();
    p->env.options = &p->options;
    p->env.finished = on_finished;
    p->env.note = on_note;
    p->env.fact = on_fact;
    p->env.owner = p;
    assert_non_null(p->env.meter);
    set_options(&p->options, options);
    return p;
}

static void prepare(struct peer *p)
{
    struct fail fail = {0};

    if (p->role->prepare(&p->env, &p->flow, &fail) < 0)
        fail_msg("%s: %s", fail.step, fail.sentence);
}

static void peer_free(struct peer *p)
{
    if (p->flow)
        p->role->free(p->flow);
    options_done(&p->options);
    meter_free(p->env.meter);
    free(p);
}

static const struct meter_counters *count(const struct peer *p)
{
    return &p->env.meter->counters;
}

static uint64_t recorded(const struct peer *p, enum meter_hist which)
{
    const struct hist *h = p->env.meter->hists[which];

    return h ? h->count : 0;
}

static void run_until_finished(struct peer *p)
{
    struct timeval limit = {.tv_sec = LIMIT_S};

    if (p->finished)
        return;
    event_base_loopexit(p->env.base, &limit);
    event_base_dispatch(p->env.base);
    assert_true(p->finished);
}

/* Read what has arrived at a server, without waiting. */
static void serve(struct peer *server)
{
    uint64_t before;

    do {
        before = count(server)->received_messages + count(server)->foreign;
        event_base_loop(server->env.base, EVLOOP_NONBLOCK);
    } while (count(server)->received_messages + count(server)->foreign != before);
}

static void stop_server(struct peer *server, uint64_t accepted)
{
    assert_int_equal(server->role->set(server->flow, OPTION_accepted, accepted), 0);
    server->role->stop(server->flow);
    run_until_finished(server);
    assert_int_equal(server->outcome, OUTCOME_COMPLETED);
}

/* A server and a client in loops of their own, so that a test says who runs when. */
struct pair {
    struct event_base *server_base, *client_base;
    struct peer *server, *client;
};

static struct peer *add_server(struct pair *pair, const char *options)
{
    char all[600];

    snprintf(all, sizeof(all), "port=0 shared_clock=1 drain=50000000 %s", options);
    pair->server_base = pacer_timer_base();
    assert_non_null(pair->server_base);
    pair->server = peer_new(&role_udp_server, pair->server_base, all);
    prepare(pair->server);
    return pair->server;
}

static struct peer *new_client(struct pair *pair, const char *endpoint,
                               const char *options)
{
    struct peer *client;

    if (!pair->client_base)
        pair->client_base = pacer_timer_base();
    assert_non_null(pair->client_base);
    client = peer_new(&role_udp_client, pair->client_base, options);
    snprintf(client->env.endpoint, sizeof(client->env.endpoint), "%s", endpoint);
    return client;
}

static struct peer *add_client(struct pair *pair, const char *options)
{
    pair->client = new_client(pair, pair->server->env.endpoint, options);
    prepare(pair->client);
    return pair->client;
}

static void run_client(struct peer *client)
{
    client->role->start(client->flow, now_ns());
    run_until_finished(client);
}

static void pair_done(struct pair *pair)
{
    if (pair->client)
        peer_free(pair->client);
    if (pair->server)
        peer_free(pair->server);
    if (pair->client_base)
        event_base_free(pair->client_base);
    if (pair->server_base)
        event_base_free(pair->server_base);
}

static struct sockaddr_in address_of(const struct peer *server)
{
    struct endpoint e;
    struct sockaddr_in in = {.sin_family = AF_INET};

    assert_int_equal(endpoint_parse(&e, server->env.endpoint, NULL), 0);
    in.sin_port = htons((uint16_t)e.port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return in;
}

/* A socket of a stranger, connected to a server. */
static int stranger(const struct peer *server)
{
    struct sockaddr_in in = address_of(server);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    return fd;
}

static void put(int fd, const void *bytes, size_t len)
{
    assert_int_equal(send(fd, bytes, len, 0), len);
}

static void put_stamped(int fd, const char *label, uint64_t run, uint64_t sequence)
{
    struct datagram_form form;
    unsigned char payload[200];

    assert_int_equal(datagram_form_stamped(&form, label, 0, run, 0, NULL), 0);
    datagram_fill(&form, payload);
    datagram_stamp(&form, payload, sequence, now_ns());
    put(fd, payload, form.size_bytes);
}

/* Identities. */

static void check_client(const struct peer *client, uint64_t messages)
{
    const struct meter_counters *c = count(client);

    assert_int_equal(c->attempted, messages);
    assert_int_equal(c->attempted, c->sent_messages + c->refused + c->unfinished);
    assert_int_equal(c->succeeded, c->sent_messages);
    assert_int_equal(c->failed, c->refused);
    assert_int_equal(c->refused, tally_sum(&client->env.meter->errors));
    assert_int_equal(recorded(client, METER_HIST_service), c->sent_messages);
}

/* Everything that is missing was dropped at the receive buffer. */
static void check_server(const struct peer *server, uint64_t accepted)
{
    const struct meter_counters *c = count(server);

    assert_int_equal(c->received_messages, c->unique + c->duplicate + c->late);
    assert_int_equal(accepted, c->unique + c->overflow);
    assert_int_equal(c->received_messages, tally_sum(&server->env.meter->labels));
    if (!strstr(server->text, "overflow_confirmed=yes"))
        fail_msg("not confirmed: %s", server->text);
}

/* Strategies. */

/* A socket a message must be possible where a process may have 1024 descriptors. */
static void every_strategy_is_counted_exactly(void **state)
{
    static const struct {
        const char *client, *server;
        size_t size_bytes;
        bool stamped;
    } rows[] = {
        {"socket=fresh dispatch=series", "", 45, true},
        {"socket=fresh dispatch=series connected=1", "", 45, true},
        {"socket=fresh dispatch=series payload=plain", "payload=plain", 4, false},
        {"socket=fresh dispatch=parallel", "", 45, true},
        {"socket=fresh dispatch=parallel window=64", "", 45, true},
        {"socket=fresh dispatch=parallel window=1 connected=1", "", 45, true},
        {"socket=cached dispatch=series", "", 45, true},
        {"socket=cached dispatch=series connected=1 size=1400", "", 1400, true},
        {"socket=cached dispatch=series payload=plain", "payload=plain", 4, false},
        {"socket=cached dispatch=parallel", "", 45, true},
        {"socket=cached dispatch=parallel batch=32", "", 45, true},
        {"socket=cached dispatch=parallel batch=7 connected=1", "gro=1", 45, true},
        {"socket=cached dispatch=parallel gso=1", "", 45, true},
        {"socket=cached dispatch=parallel gso=1 connected=1", "gro=1", 45, true},
        {"socket=cached dispatch=parallel gso=1 batch=5 size=1000", "gro=1", 1000, true},
        {"socket=cached dispatch=parallel gso=1 payload=plain", "payload=plain gro=1", 4,
         false},
        {"socket=cached dispatch=parallel resolve=each", "", 45, true},
        {"socket=cached dispatch=parallel resolve=each batch=64", "", 45, true},
        {"socket=cached dispatch=series resolve=each", "", 45, true},
        {"socket=fresh dispatch=series resolve=each connected=1", "", 45, true},
        {"socket=fresh dispatch=parallel resolve=each window=64", "", 45, true},
        {"socket=fresh dispatch=series resolve=each", "", 45, true},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct pair pair = {0};
        char options[300];
        const struct meter_counters *c;

        snprintf(options, sizeof(options), RUN " " BIG " label=LOOP %s", rows[i].server);
        c = count(add_server(&pair, options));
        snprintf(options, sizeof(options), RUN " messages=151 label=LOOP %s",
                 rows[i].client);
        run_client(add_client(&pair, options));
        assert_int_equal(pair.client->outcome, OUTCOME_COMPLETED);
        check_client(pair.client, 151);
        assert_int_equal(count(pair.client)->sent_messages, 151);
        assert_int_equal(count(pair.client)->sent_bytes, 151 * rows[i].size_bytes);
        stop_server(pair.server, 151);
        check_server(pair.server, 151);
        assert_int_equal(c->unique, 151);
        assert_int_equal(c->received_bytes, 151 * rows[i].size_bytes);
        assert_int_equal(tally_get(&pair.server->env.meter->labels, "LOOP"), 151);
        assert_int_equal(c->out_of_order + c->duplicate + c->foreign + c->late, 0);
        assert_int_equal(c->expected, rows[i].stamped ? 151 : 0);
        assert_int_equal(recorded(pair.server, METER_HIST_latency),
                         rows[i].stamped ? 151 : 0);
        assert_int_equal(recorded(pair.server, METER_HIST_jitter),
                         rows[i].stamped ? 150 : 0);
        pair_done(&pair);
    }
}

static void several_senders_are_told_apart(void **state)
{
    struct pair pair = {0};
    struct peer *second;

    (void)state;
    add_server(&pair, RUN " " BIG);
    second = new_client(&pair, pair.server->env.endpoint,
                        RUN " messages=230 sender=1 senders=2 socket=cached");
    prepare(second);
    run_client(second);
    run_client(add_client(&pair, RUN " messages=170 sender=0 senders=2 socket=cached"));
    stop_server(pair.server, 400);
    check_server(pair.server, 400);
    assert_int_equal(count(pair.server)->unique, 400);
    assert_int_equal(count(pair.server)->expected, 400);
    peer_free(second);
    pair_done(&pair);
}

static void parallel_hands_all_over_at_once(void **state)
{
    struct pair pair = {0};
    uint64_t backlog;

    (void)state;
    add_server(&pair, RUN);
    add_client(&pair, RUN " messages=1000000 socket=cached dispatch=parallel");
    pair.client->role->start(pair.client->flow, now_ns());
    event_base_loop(pair.client_base, EVLOOP_ONCE);
    pair.client->role->gauge(pair.client->flow);
    backlog = pair.client->env.meter->gauges.backlog;
    assert_int_equal(count(pair.client)->attempted, 1000000);
    assert_true(backlog > 0);
    assert_int_equal(backlog, 1000000 - count(pair.client)->sent_messages);
    pair.client->role->stop(pair.client->flow);
    assert_true(pair.client->finished);
    assert_int_equal(pair.client->outcome, OUTCOME_STOPPED);
    check_client(pair.client, 1000000);
    assert_int_equal(count(pair.client)->unfinished, backlog);
    pair_done(&pair);
}

static void series_starts_a_message_when_the_last_is_done(void **state)
{
    struct pair pair = {0};

    (void)state;
    add_server(&pair, RUN);
    add_client(&pair, RUN " messages=1000000 socket=cached dispatch=series");
    pair.client->role->start(pair.client->flow, now_ns());
    event_base_loop(pair.client_base, EVLOOP_ONCE);
    pair.client->role->gauge(pair.client->flow);
    assert_int_equal(pair.client->env.meter->gauges.backlog, 0);
    pair.client->role->stop(pair.client->flow);
    assert_int_equal(count(pair.client)->unfinished, 0);
    check_client(pair.client, count(pair.client)->sent_messages);
    pair_done(&pair);
}

/*
 * What a message takes. In series its completion is delivered by a turn of the loop, and
 * so is the address that was looked up for it; in parallel all go out together, as many
 * in a call as the batch allows.
 */
static void turns_and_calls_are_those_of_the_strategy(void **state)
{
    static const struct {
        const char *options;
        uint64_t turns, calls;
    } rows[] = {
        {"socket=cached dispatch=series", 500, 500},
        {"socket=cached dispatch=series rate=1000000", 500, 500},
        {"socket=cached dispatch=series resolve=each", 1000, 500},
        {"socket=cached dispatch=parallel batch=1024", 1, 1},
        {"socket=cached dispatch=parallel batch=100", 0, 5},
        {"socket=cached dispatch=parallel", 0, 500},
        {"socket=cached dispatch=parallel gso=1 size=1000", 0, 8}, /* 64 in a call */
        {"socket=fresh dispatch=parallel window=64", 0, 500},
        {"socket=fresh dispatch=parallel window=64 resolve=each", 0, 500},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct pair pair = {0};
        const struct meter_counters *c;
        char options[200];

        add_server(&pair, RUN " " BIG);
        snprintf(options, sizeof(options), RUN " messages=500 %s", rows[i].options);
        c = count(add_client(&pair, options));
        run_client(pair.client);
        check_client(pair.client, 500);
        assert_int_equal(c->send_calls, rows[i].calls);
        if (rows[i].turns)
            assert_int_equal(c->turns, rows[i].turns);
        else /* how long one may last is a matter of time */
            assert_true(c->turns >= 1 && c->turns < 500);
        pair_done(&pair);
    }
}

/* A fresh socket is made in the turn in which the last one's completion is delivered. */
static void fresh_series_takes_the_turns_of_a_series(void **state)
{
    static const char *const resolve[] = {"once", "each"};

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        struct pair pair = {0};
        char options[200];

        add_server(&pair, RUN " " BIG);
        snprintf(options, sizeof(options),
                 RUN " messages=300 socket=fresh dispatch=series resolve=%s", resolve[i]);
        run_client(add_client(&pair, options));
        check_client(pair.client, 300);
        assert_int_equal(count(pair.client)->send_calls, 300);
        assert_true(count(pair.client)->turns >= 300 * (i + 1));
        assert_int_equal(recorded(pair.client, METER_HIST_lookup), 300 * i);
        assert_null(strstr(pair.client->text, "backlog_peak"));
        pair_done(&pair);
    }
}

static void peak_of_the_backlog_is_all_that_was_handed_over(void **state)
{
    static const struct {
        const char *options;
        uint64_t peak;
    } rows[] = {{"socket=cached batch=64", 700},
                {"socket=cached batch=64 resolve=each", 700},
                {"socket=fresh window=32", 32},
                {"socket=fresh window=32 resolve=each", 32}};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct pair pair = {0};
        char options[200];

        add_server(&pair, RUN " " BIG);
        snprintf(options, sizeof(options), RUN " messages=700 dispatch=parallel %s",
                 rows[i].options);
        run_client(add_client(&pair, options));
        check_client(pair.client, 700);
        assert_int_equal(fact_number(pair.client, "backlog_peak="), rows[i].peak);
        pair_done(&pair);
    }
}

/* Schedule. */

static void rate_is_kept_and_lateness_recorded(void **state)
{
    static const char *const strategies[] = {
        "socket=cached dispatch=series",
        "socket=cached dispatch=parallel batch=16",
        "socket=fresh dispatch=parallel",
        "socket=fresh dispatch=series",
        "socket=cached dispatch=series resolve=each",
        "socket=cached dispatch=parallel batch=16 resolve=each",
        "socket=fresh dispatch=parallel resolve=each"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(strategies); i++) {
        struct pair pair = {0};
        char options[200];
        uint64_t begin_ns;

        add_server(&pair, RUN " " BIG);
        snprintf(options, sizeof(options), RUN " messages=400 rate=4000 %s",
                 strategies[i]);
        add_client(&pair, options);
        begin_ns = now_ns();
        run_client(pair.client);
        assert_true(now_ns() - begin_ns >= 399 * NS_PER_S / 4000);
        check_client(pair.client, 400);
        assert_int_equal(recorded(pair.client, METER_HIST_pacing), 400);
        stop_server(pair.server, 400);
        assert_int_equal(count(pair.server)->unique, 400);
        pair_done(&pair);
    }
}

static void duration_ends_the_sending(void **state)
{
    static const char *const strategies[] = {
        "duration=30000000 socket=cached dispatch=series",
        "duration=30000000 socket=cached dispatch=parallel batch=16",
        "duration=30000000 socket=fresh dispatch=parallel window=8",
        "duration=300000000 socket=cached dispatch=series resolve=each",
        "duration=300000000 socket=cached dispatch=parallel batch=16 resolve=each",
        "duration=300000000 socket=fresh dispatch=series resolve=each"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(strategies); i++) {
        struct pair pair = {0};
        char options[200];

        add_server(&pair, RUN);
        snprintf(options, sizeof(options), RUN " messages=0 %s", strategies[i]);
        run_client(add_client(&pair, options));
        assert_int_equal(pair.client->outcome, OUTCOME_COMPLETED);
        assert_true(count(pair.client)->sent_messages > 0);
        check_client(pair.client, count(pair.client)->attempted);
        stop_server(pair.server, count(pair.client)->sent_messages);
        check_server(pair.server, count(pair.client)->sent_messages);
        pair_done(&pair);
    }
}

/* The next message is an hour away; the end is not. Neither is a paused one's. */
static void a_slow_schedule_ends_in_time(void **state)
{
    struct pair pair = {0};
    uint64_t begin_ns = now_ns();

    (void)state;
    add_server(&pair, RUN);
    add_client(&pair, RUN " messages=0 duration=50000000 rate=1 socket=cached");
    pair.client->role->start(pair.client->flow, begin_ns);
    while (count(pair.client)->sent_messages < 1)
        event_base_loop(pair.client_base, EVLOOP_ONCE);
    pair.client->role->pause(pair.client->flow, true);
    pair.client->role->pause(pair.client->flow, false);
    while (!pair.client->finished)
        event_base_loop(pair.client_base, EVLOOP_ONCE);
    assert_true(now_ns() - begin_ns >= 50 * NS_PER_MS);
    assert_int_equal(count(pair.client)->sent_messages, 1); /* the second is due at 1 s */
    check_client(pair.client, 1);
    pair_done(&pair);
}

static void pause_stops_and_resume_completes(void **state)
{
    struct pair pair = {0};
    uint64_t sent;

    (void)state;
    add_server(&pair, RUN " " BIG);
    add_client(&pair, RUN " messages=300 rate=3000 socket=cached");
    pair.client->role->start(pair.client->flow, now_ns());
    while (count(pair.client)->sent_messages < 50)
        event_base_loop(pair.client_base, EVLOOP_ONCE);
    pair.client->role->pause(pair.client->flow, true);
    sent = count(pair.client)->sent_messages;
    for (int i = 0; i < 1000; i++)
        event_base_loop(pair.client_base, EVLOOP_NONBLOCK);
    assert_int_equal(count(pair.client)->sent_messages, sent);
    assert_int_equal(pair.client->role->set(pair.client->flow, OPTION_rate, 20000), 0);
    pair.client->role->pause(pair.client->flow, false);
    run_until_finished(pair.client);
    check_client(pair.client, 300);
    assert_int_equal(pair.client->role->set(pair.client->flow, OPTION_size, 1), -ENOTSUP);
    stop_server(pair.server, 300);
    assert_int_equal(count(pair.server)->unique, 300);
    pair_done(&pair);
}

/* Sizes. */

static void sizes_at_the_limits(void **state)
{
    static const struct {
        const char *options;
        size_t size_bytes;
        const char *label;
    } rows[] = {
        {"payload=plain label= size=0", 0, "(empty)"},
        {"payload=plain label= size=1", 1, "(empty)"},
        {"payload=plain label=LOOP size=1", 1, "L"},
        {"payload=stamped label=LOOP size=65507", 65507, "LOOP"},
        {"payload=plain label=LOOP size=65507", 65507, "LOOP"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct pair pair = {0};
        char options[200];

        add_server(&pair, BIG);
        snprintf(options, sizeof(options), RUN " socket=cached messages=3 %s",
                 rows[i].options);
        run_client(add_client(&pair, options));
        check_client(pair.client, 3);
        stop_server(pair.server, 3);
        check_server(pair.server, 3);
        assert_int_equal(count(pair.server)->unique, 3);
        assert_int_equal(count(pair.server)->received_bytes, 3 * rows[i].size_bytes);
        assert_int_equal(tally_get(&pair.server->env.meter->labels, rows[i].label), 3);
        pair_done(&pair);
    }
}

static void size_over_the_limit_is_refused_with_the_reason(void **state)
{
    static const char *const strategies[] = {
        "socket=cached dispatch=series", "socket=cached dispatch=parallel batch=16",
        "socket=fresh dispatch=series", "socket=fresh dispatch=parallel window=4"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(strategies); i++) {
        struct pair pair = {0};
        char options[200];

        add_server(&pair, RUN);
        snprintf(options, sizeof(options), RUN " messages=100 size=65508 %s",
                 strategies[i]);
        run_client(add_client(&pair, options));
        assert_int_equal(pair.client->outcome, OUTCOME_FAILED);
        assert_non_null(strstr(pair.client->reason, "65508"));
        assert_non_null(strstr(pair.client->reason, "65507"));
        assert_int_equal(tally_get(&pair.client->env.meter->errors, "send EMSGSIZE"), 1);
        assert_int_equal(count(pair.client)->refused, 1);
        assert_int_equal(count(pair.client)->sent_messages, 0);
        stop_server(pair.server, 0);
        assert_int_equal(count(pair.server)->received_messages, 0);
        pair_done(&pair);
    }
}

static void expect_refused(const char *options, const char *words)
{
    struct pair pair = {0};
    struct fail fail = {0};

    add_server(&pair, RUN);
    pair.client = new_client(&pair, pair.server->env.endpoint, options);
    assert_true(pair.client->role->prepare(&pair.client->env, &pair.client->flow, &fail) <
                0);
    assert_non_null(strstr(fail.sentence, words));
    pair_done(&pair);
}

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    expect_refused("socket=cached dispatch=series batch=2", "in parallel");
    expect_refused("socket=fresh dispatch=parallel gso=1", "one cached socket");
    expect_refused("socket=cached dispatch=parallel gso=1 resolve=each", "resolve once");
    expect_refused("socket=cached connected=1 resolve=each", "resolve once");
    expect_refused("socket=cached dispatch=parallel batch=5000", "1 to 1024");
    expect_refused("socket=cached label=LOOP size=44", "needs 45 bytes");
    expect_refused("socket=cached payload=plain label= dispatch=parallel gso=1", "empty");
    expect_refused("socket=cached size=70000", "cannot be");
    expect_refused("socket=cached label=0123456789012345678901234567890123456789x",
                   "at most 39");
    expect_refused("socket=cached payload=plain label=__FULL_PRINT__", "a command");
}

/* Faults. */

static void port_in_use_is_told(void **state)
{
    struct pair pair = {0};
    struct peer *second;
    struct fail fail = {0};
    char options[40];

    (void)state;
    add_server(&pair, RUN);
    snprintf(options, sizeof(options), "port=%d",
             ntohs(address_of(pair.server).sin_port));
    second = peer_new(&role_udp_server, pair.server_base, options);
    assert_int_equal(second->role->prepare(&second->env, &second->flow, &fail),
                     -EADDRINUSE);
    assert_non_null(strstr(fail.sentence, strchr(options, '=') + 1));
    assert_non_null(strstr(fail.sentence, "in use"));
    peer_free(second);
    pair_done(&pair);
}

static void closed_port_is_refused_and_not_lost(void **state)
{
    static const char *const strategies[] = {"connected=0", "connected=1",
                                             "connected=1 dispatch=parallel batch=16"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(strategies); i++) {
        struct pair pair = {0};
        char endpoint[256], options[200];

        add_server(&pair, RUN);
        snprintf(endpoint, sizeof(endpoint), "%s", pair.server->env.endpoint);
        peer_free(pair.server); /* its port is closed now */
        pair.server = NULL;
        snprintf(options, sizeof(options), RUN " messages=200 socket=cached %s",
                 strategies[i]);
        pair.client = new_client(&pair, endpoint, options);
        prepare(pair.client);
        run_client(pair.client);
        assert_int_equal(pair.client->outcome, OUTCOME_COMPLETED);
        check_client(pair.client, 200);
        if (i < 2) /* sendmmsg(2) keeps an error after the first message to itself */
            assert_true(count(pair.client)->refused > 0);
        assert_int_equal(count(pair.client)->refused,
                         tally_get(&pair.client->env.meter->errors, "send ECONNREFUSED"));
        pair_done(&pair);
    }
}

static void sleeping_receiver_explains_all_loss(void **state)
{
    static const char *const strategies[] = {
        "socket=cached dispatch=series", "socket=cached dispatch=parallel batch=64",
        "socket=cached dispatch=parallel gso=1", "socket=fresh dispatch=series"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(strategies); i++) {
        struct pair pair = {0};
        char options[200];
        const struct meter_counters *c;

        c = count(add_server(&pair, RUN " receive_buffer=1"));
        snprintf(options, sizeof(options), RUN " messages=5000 %s", strategies[i]);
        run_client(add_client(&pair, options)); /* the server's loop does not run */
        check_client(pair.client, 5000);
        pair.server->role->gauge(pair.server->flow);
        assert_true(c->overflow > 4900); /* seen before anything is read */
        stop_server(pair.server, 5000);
        check_server(pair.server, 5000);
        assert_true(c->unique > 0 && c->unique < 100);
        assert_int_equal(c->unique + c->overflow, 5000);
        pair_done(&pair);
    }
}

/*
 * A path has lost 600 of 1000, and strangers flood the sleeping receiver: the kernel
 * counts what it dropped of theirs, and the run has no part in it.
 */
static void drops_of_strangers_are_not_taken_for_the_runs(void **state)
{
    struct pair pair = {0};
    const struct meter_counters *c;
    int fd;

    (void)state;
    c = count(add_server(&pair, RUN " receive_buffer=20000"));
    fd = stranger(pair.server);
    for (uint64_t i = 0; i < 400; i++) {
        put_stamped(fd, "A", 77, i);
        serve(pair.server);
    }
    for (int i = 0; i < 5000; i++)
        put(fd, "STRANGE", 7);
    stop_server(pair.server, 1000);
    assert_int_equal(c->unique, 400);
    assert_int_equal(c->foreign + c->drops, 5000);
    assert_true(c->foreign > 0 && c->drops > 600);
    assert_int_equal(c->overflow, c->drops);
    close(fd);
    pair_done(&pair);
}

/* With GRO a drop may hold many messages: the truth lies between the bounds. */
static void drops_of_segments_bound_what_they_explain(void **state)
{
    struct pair pair = {0};
    const struct meter_counters *c;
    uint64_t missing, dropped;

    (void)state;
    c = count(add_server(&pair, RUN " gro=1 receive_buffer=200000"));
    run_client(add_client(&pair, RUN " messages=5000 size=1000 socket=cached "
                                     "dispatch=parallel gso=1"));
    stop_server(pair.server, 5600); /* 600 were lost before they came here */
    missing = 5600 - c->unique;
    dropped = 5000 - c->unique;
    assert_true(c->drops > 0 && c->drops <= dropped);
    assert_true(c->overflow >= dropped);
    assert_int_equal(c->overflow, c->drops * 128 < missing ? c->drops * 128 : missing);
    pair_done(&pair);
}

/* 100 small datagrams wait at once: at least their bytes, at most the whole buffer. */
static void how_full_the_buffer_was_is_told(void **state)
{
    (void)state;
    for (int drops = 0; drops < 2; drops++) {
        struct pair pair = {0};
        uint64_t whole, fullest;

        add_server(&pair, drops ? RUN " receive_buffer=1" : RUN " receive_buffer=200000");
        run_client(add_client(&pair, RUN " messages=100 socket=cached"));
        serve(pair.server);
        stop_server(pair.server, 100);
        whole = fact_number(pair.server, "receive_buffer_bytes=");
        fullest = fact_number(pair.server, "receive_buffer_fullest_bytes=");
        if (drops)
            assert_int_equal(fullest, whole);
        else
            assert_true(fullest >= 36 * 36 && fullest < whole); /* 64 were read first */
        pair_done(&pair);
    }
}

/*
 * Ten rounds of a receiver that sleeps while a burst comes and then reads what its
 * buffer kept, the first of the burst. So after a round the numbers seen imply all the
 * loss of the rounds before, neither more nor less.
 */
static void live_loss_is_right_under_overload(void **state)
{
    struct pair pair = {0};
    const struct meter_counters *c;
    uint64_t dropped_before = 0, sent;

    (void)state;
    c = count(add_server(&pair, RUN " receive_buffer=20000"));
    add_client(&pair, RUN " messages=10000000 rate=1000000 socket=cached");
    pair.client->role->start(pair.client->flow, now_ns());
    for (int round = 0; round < 10; round++) {
        uint64_t enough = count(pair.client)->sent_messages + 1000;

        while (count(pair.client)->sent_messages < enough)
            event_base_loop(pair.client_base, EVLOOP_ONCE);
        serve(pair.server);
        assert_true(c->unique > 0);
        assert_int_equal(c->expected - c->unique, dropped_before);
        pair.server->role->gauge(pair.server->flow);
        dropped_before = c->overflow;
        assert_int_equal(count(pair.client)->sent_messages, c->unique + c->overflow);
    }
    pair.client->role->stop(pair.client->flow);
    run_until_finished(pair.client);
    sent = count(pair.client)->sent_messages;
    stop_server(pair.server, sent);
    check_server(pair.server, sent);
    assert_true(c->overflow > 0);
    pair_done(&pair);
}

static void drop_count_wraps(void **state)
{
    struct udp_drops d = {0};

    (void)state;
    assert_int_equal(udp_drops_advance(&d, 0), 0);
    assert_int_equal(udp_drops_advance(&d, 5), 5);
    assert_int_equal(udp_drops_advance(&d, 3), 0); /* an older count */
    assert_int_equal(udp_drops_advance(&d, 2000000000), 1999999995);
    assert_int_equal(udp_drops_advance(&d, 4000000000), 2000000000);
    assert_int_equal(udp_drops_advance(&d, 4294967295), 294967295);
    assert_int_equal(udp_drops_advance(&d, 0), 1);
    assert_int_equal(udp_drops_advance(&d, 4294967290), 0);
    assert_int_equal(udp_drops_advance(&d, 9), 9);
    assert_true(d.total == 4294967296u + 9);
}

/* What a path does. */

/* A path between client and server: what came, passed on by a known pattern. */
static void relay(int from, int to, struct meter_counters *want)
{
    unsigned char now[2000], kept[2000];
    ssize_t len, kept_len = -1;
    uint64_t n = 0, last = 0, seen = 0;

    for (; (len = recv(from, now, sizeof(now), MSG_DONTWAIT)) >= 0; n++) {
        seen = n + 1;
        if (n % 10 == 3) /* lost */
            continue;
        if (n % 12 == 5 && kept_len < 0) { /* held back behind the next one */
            memcpy(kept, now, (size_t)len);
            kept_len = len;
            continue;
        }
        put(to, now, (size_t)len);
        want->unique++;
        last = n + 1;
        if (n % 7 == 0) { /* doubled */
            put(to, now, (size_t)len);
            want->duplicate++;
        }
        if (kept_len >= 0) {
            put(to, kept, (size_t)kept_len);
            kept_len = -1;
            want->unique++;
            want->out_of_order++;
        }
    }
    assert_true(kept_len < 0);
    assert_true(seen > 0);
    want->expected = last;
}

static void known_path_is_counted_exactly(void **state)
{
    struct pair pair = {0};
    struct meter_counters want = {0};
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t len = sizeof(in);
    int bytes = 212992, from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), to;
    char endpoint[64];
    const struct meter_counters *c;

    (void)state;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(from, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(setsockopt(from, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
    assert_int_equal(getsockname(from, (struct sockaddr *)&in, &len), 0);
    snprintf(endpoint, sizeof(endpoint), "udp:127.0.0.1:%d", ntohs(in.sin_port));

    c = count(add_server(&pair, RUN " " BIG));
    pair.client = new_client(&pair, endpoint, RUN " messages=400 socket=cached");
    prepare(pair.client);
    run_client(pair.client);
    check_client(pair.client, 400);
    to = stranger(pair.server);
    relay(from, to, &want);
    stop_server(pair.server, 400);
    assert_int_equal(c->unique, want.unique);
    assert_int_equal(c->unique, 360);
    assert_int_equal(c->duplicate, want.duplicate);
    assert_int_equal(c->out_of_order, want.out_of_order);
    assert_int_equal(c->expected, want.expected);
    assert_int_equal(c->received_messages, want.unique + want.duplicate);
    assert_int_equal(c->overflow, 0); /* so 40 are lost without explanation */
    assert_int_equal(c->late, 0);
    assert_int_equal(recorded(pair.server, METER_HIST_latency), want.unique);
    close(from);
    close(to);
    pair_done(&pair);
}

struct injection {
    int fd;
    const char *label;
    uint64_t sequence;
};

static void on_inject(evutil_socket_t fd, short what, void *arg)
{
    struct injection *i = arg;

    (void)fd;
    (void)what;
    put_stamped(i->fd, i->label, 77, i->sequence);
}

static void message_after_the_drain_is_late(void **state)
{
    struct pair pair = {0};
    struct timeval after_drain = timeval_from_ns(450 * NS_PER_MS);
    struct injection late = {.label = "A", .sequence = 2}, again = {.label = "A"};
    const struct meter_counters *c;

    (void)state;
    c = count(add_server(&pair, RUN " expect=4 drain=300000000"));
    late.fd = again.fd = stranger(pair.server);
    put_stamped(late.fd, "A", 77, 0);
    put_stamped(late.fd, "A", 77, 1);
    serve(pair.server);
    pair.server->role->stop(pair.server->flow);
    assert_false(pair.server->finished);
    event_base_once(pair.server_base, -1, EV_TIMEOUT, on_inject, &late, &after_drain);
    event_base_once(pair.server_base, -1, EV_TIMEOUT, on_inject, &again, &after_drain);
    run_until_finished(pair.server);
    assert_int_equal(c->unique, 2);
    assert_int_equal(c->late, 1);
    assert_int_equal(c->duplicate, 1);
    assert_int_equal(c->received_messages, 4);
    close(late.fd);
    pair_done(&pair);
}

static void server_ends_at_once_when_nothing_is_missing(void **state)
{
    struct pair pair = {0};
    int fd;

    (void)state;
    add_server(&pair, RUN " drain=3600000000000"); /* an hour: the test would not end */
    fd = stranger(pair.server);
    put_stamped(fd, "A", 77, 0);
    put_stamped(fd, "A", 77, 1);
    serve(pair.server);
    pair.server->role->set(pair.server->flow, OPTION_accepted, 2);
    pair.server->role->stop(pair.server->flow);
    assert_true(pair.server->finished);
    close(fd);
    pair_done(&pair);
}

/* Strangers. */

static void datagrams_of_strangers_are_counted_apart(void **state)
{
    struct pair pair = {0};
    struct datagram_form form;
    unsigned char payload[200];
    const struct meter_counters *c;
    uint64_t strange = 0;
    int fd;

    (void)state;
    c = count(add_server(&pair, RUN " " BIG));
    fd = stranger(pair.server);
    run_client(add_client(&pair, RUN " messages=100 socket=cached label=LOOP"));
    put(fd, "LOOP", 4);
    put(fd, "", 0);
    put_stamped(fd, "LOOP", 78, 5); /* another run's */
    strange += 3;
    assert_int_equal(datagram_form_stamped(&form, "LOOP", 0, 77, 0, NULL), 0);
    datagram_fill(&form, payload);
    datagram_stamp(&form, payload, 9, 9);
    payload[form.size_bytes - 1] ^= 1; /* forged */
    put(fd, payload, form.size_bytes);
    payload[form.size_bytes - 1] ^= 1;
    strange++;
    for (size_t len = 1; len < form.size_bytes; len++, strange++)
        put(fd, payload, len); /* cut */
    for (unsigned i = 0; i < 500; i++, strange++) {
        for (size_t n = 0; n < sizeof(payload); n++)
            payload[n] = (unsigned char)(i * 31 + n * n * 7);
        put(fd, payload, i % sizeof(payload));
        serve(pair.server);
    }
    stop_server(pair.server, 100);
    assert_int_equal(c->foreign, strange);
    assert_int_equal(c->unique, 100);
    assert_int_equal(c->received_messages, 100);
    assert_int_equal(c->expected, 100);
    assert_int_equal(c->duplicate, 0);
    assert_int_equal(tally_get(&pair.server->env.meter->labels, "LOOP"), 100);
    close(fd);
    pair_done(&pair);
}

static void plain_run_takes_its_own_label_only(void **state)
{
    struct pair pair = {0};
    int fd;

    (void)state;
    add_server(&pair, RUN " payload=plain label=LOOP");
    fd = stranger(pair.server);
    put(fd, "LOOP", 4);
    put(fd, "LOO", 3);
    put(fd, "LOOPS", 5);
    put(fd, "LOOP\0\0", 6);
    stop_server(pair.server, 2);
    assert_int_equal(count(pair.server)->unique, 2);
    assert_int_equal(count(pair.server)->foreign, 2);
    close(fd);
    pair_done(&pair);
}

static void plain_run_takes_its_label_cut_by_the_size(void **state)
{
    struct pair pair = {0};

    (void)state;
    add_server(&pair, RUN " payload=plain label=LOOP size=2");
    run_client(add_client(&pair, RUN
                          " payload=plain label=LOOP size=2 socket=cached messages=20"));
    stop_server(pair.server, 20);
    check_server(pair.server, 20);
    assert_int_equal(count(pair.server)->unique, 20);
    assert_int_equal(tally_get(&pair.server->env.meter->labels, "LO"), 20);
    pair_done(&pair);
}

/* Times of a clock that is not this one, or of a liar. */
static void times_that_cannot_be_are_no_latency(void **state)
{
    static const uint64_t times_ns[] = {
        UINT64_MAX, 0, INT64_MAX, UINT64_MAX - 1, (uint64_t)INT64_MAX + 1, 1};
    size_t n = NUMBER_OF(times_ns);
    struct pair pair = {0};
    struct datagram_form form;
    unsigned char payload[200];
    int fd;

    (void)state;
    add_server(&pair, "");
    fd = stranger(pair.server);
    assert_int_equal(datagram_form_stamped(&form, "A", 0, 1, 0, NULL), 0);
    datagram_fill(&form, payload);
    for (size_t i = 0; i < n; i++) {
        datagram_stamp(&form, payload, i, times_ns[i]);
        put(fd, payload, form.size_bytes);
    }
    stop_server(pair.server, n);
    assert_int_equal(count(pair.server)->unique, n);
    assert_int_equal(recorded(pair.server, METER_HIST_latency), 2); /* of 0 and 1 */
    assert_int_equal(recorded(pair.server, METER_HIST_jitter), n - 1);
    close(fd);
    pair_done(&pair);
}

static void flood_of_labels_is_counted_and_bounded(void **state)
{
    struct pair pair = {0};
    const struct tally *labels;
    int fd;

    (void)state;
    labels = &add_server(&pair, BIG)->env.meter->labels;
    fd = stranger(pair.server);
    for (int i = 0; i < 3000; i++) {
        char text[64];
        int len = snprintf(text, sizeof(text), "\x1b]0;%d", i);

        put(fd, text, (size_t)len);
        put(fd, "KNOWN", 5);
        serve(pair.server);
    }
    stop_server(pair.server, 6000);
    check_server(pair.server, 6000);
    assert_int_equal(count(pair.server)->unique, 6000);
    assert_true(labels->used <= TALLY_MAX);
    assert_int_equal(tally_sum(labels), 6000);
    assert_int_equal(tally_get(labels, "KNOWN"), 3000);
    assert_int_equal(tally_get(labels, TALLY_OTHER), 3000 - (TALLY_MAX - 2));
    for (size_t i = 0; i < labels->used; i++)
        assert_null(strchr(labels->rows[i].name, '\x1b'));
    close(fd);
    pair_done(&pair);
}

static void full_print_says_all_counts(void **state)
{
    struct pair pair = {0};
    int fd;

    (void)state;
    add_server(&pair, "nth=3");
    fd = stranger(pair.server);
    for (int i = 0; i < 5; i++)
        put(fd, "STRICT_LOOP", 11);
    put_stamped(fd, "CACHED_LOOP", 1234, 0);
    put(fd, DATAGRAM_FULL_PRINT, strlen(DATAGRAM_FULL_PRINT));
    serve(pair.server);
    assert_non_null(strstr(pair.server->text, "STRICT_LOOP: 5 received"));
    assert_non_null(strstr(pair.server->text, "CACHED_LOOP: 1 received"));
    assert_non_null(strstr(pair.server->text, "nth_seconds STRICT_LOOP=0.0"));
    assert_null(strstr(pair.server->text, "nth_seconds CACHED_LOOP"));
    assert_int_equal(count(pair.server)->received_messages, 6);
    assert_int_equal(count(pair.server)->foreign, 0);
    close(fd);
    pair_done(&pair);
}

/* Of each label the first and the last, by the times at which they were read. */
static void full_print_says_start_and_end_of_each_label(void **state)
{
    static const unsigned char a[] = "STRICT_LOOP", b[] = "CACHED_LOOP";
    struct event_base *base = pacer_timer_base();
    struct peer *p = peer_new(&role_udp_server, base, "");
    struct udp_count *c = calloc(1, sizeof(*c));
    uint64_t begin_ns = now_ns();

    (void)state;
    assert_non_null(c);
    assert_int_equal(udp_count_init(c, &p->env, false), 0);
    udp_count_take(c, a, 11, 11, begin_ns);
    udp_count_take(c, b, 11, 11, begin_ns + NS_PER_S);
    udp_count_take(c, b, 11, 11, begin_ns + 3 * NS_PER_S / 2);
    udp_count_take(c, a, 11, 11, begin_ns + 2 * NS_PER_S);
    udp_count_take(c, a, 11, 11, begin_ns + 7 * NS_PER_S + 250000);
    udp_count_take(c, (const unsigned char *)DATAGRAM_FULL_PRINT, 14, 14, begin_ns);
    assert_non_null(strstr(p->text, "STRICT_LOOP: 3 received, from "));
    assert_non_null(strstr(p->text, ", 7.000250 s\n"));
    assert_non_null(strstr(p->text, "CACHED_LOOP: 2 received, from "));
    assert_non_null(strstr(p->text, ", 0.500000 s\n"));
    udp_count_done(c);
    free(c);
    peer_free(p);
    event_base_free(base);
}

/* After the drain, which is no part of the load's time. */
static void client_asks_for_the_full_print(void **state)
{
    static const char *const more[] = {"", "dispatch=parallel gso=1 payload=plain size=4",
                                       "sender=1 senders=2"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct pair pair = {0};
        char options[200];

        add_server(&pair, BIG);
        snprintf(options, sizeof(options),
                 RUN
                 " socket=cached label=LOOP messages=50 full_print=1 drain=20000000 %s",
                 more[i]);
        run_client(add_client(&pair, options));
        check_client(pair.client, 50);
        serve(pair.server);
        assert_int_equal(count(pair.server)->unique, 50);
        if (i < 2) {
            assert_non_null(strstr(pair.server->text, "LOOP: 50 received, from "));
            assert_true(pair.client->env.load_end_ns > 0);
        } else { /* the first client's affair */
            assert_null(strstr(pair.server->text, "received"));
        }
        pair_done(&pair);
    }
}

/* A stop does not wait for the drain, and the outcome stays what it was. */
static void stop_asks_for_the_full_print_at_once(void **state)
{
    struct pair pair = {0};

    (void)state;
    add_server(&pair, BIG);
    add_client(&pair, RUN " socket=cached label=LOOP messages=5 full_print=1 "
                          "drain=3600000000000");
    pair.client->role->start(pair.client->flow, now_ns());
    while (!pair.client->env.load_end_ns)
        event_base_loop(pair.client_base, EVLOOP_ONCE);
    pair.client->role->stop(pair.client->flow);
    run_until_finished(pair.client);
    assert_int_equal(pair.client->outcome, OUTCOME_COMPLETED);
    serve(pair.server);
    assert_non_null(strstr(pair.server->text, "LOOP: 5 received, from "));
    pair_done(&pair);
}

/* The meter starts again at zero after each interval; what the server knows does not. */
static void intervals_add_up(void **state)
{
    struct pair pair = {0};
    struct meter *sum = meter_new();
    int fd;

    (void)state;
    assert_non_null(sum);
    add_server(&pair, RUN);
    fd = stranger(pair.server);
    for (uint64_t i = 0; i < 50; i++) {
        put_stamped(fd, "A", 77, i);
        put_stamped(fd, "A", 77, i / 2);
        serve(pair.server);
        assert_int_equal(meter_merge(sum, pair.server->env.meter), 0);
        meter_reset(pair.server->env.meter);
    }
    stop_server(pair.server, 50);
    assert_int_equal(meter_merge(sum, pair.server->env.meter), 0);
    assert_int_equal(sum->counters.unique, 50);
    assert_int_equal(sum->counters.duplicate, 50);
    assert_int_equal(sum->counters.expected, 50);
    assert_int_equal(tally_get(&sum->labels, "A"), 100);
    meter_free(sum);
    close(fd);
    pair_done(&pair);
}

/* Groups. */

#define GROUP " multicast=239.199.7.1"

static void each_receiver_of_a_group_has_every_message(void **state)
{
    static const char *const strategies[] = {
        "socket=cached", "socket=cached connected=1 dispatch=parallel batch=64",
        "socket=cached dispatch=parallel batch=64 resolve=each host=localhost",
        "socket=fresh", "socket=fresh connected=1 dispatch=parallel window=16"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(strategies); i++) {
        struct pair pair = {0};
        char options[200];
        const struct meter_counters *c;

        c = count(add_server(&pair, RUN " " BIG GROUP " receivers=3"));
        assert_non_null(strstr(pair.server->env.endpoint, "udp:239.199.7.1:"));
        snprintf(options, sizeof(options), RUN GROUP " messages=300 %s", strategies[i]);
        run_client(add_client(&pair, options));
        check_client(pair.client, 300);
        stop_server(pair.server, 300);
        check_server(pair.server, 900);
        assert_int_equal(c->unique, 900);
        assert_int_equal(c->duplicate + c->foreign, 0);
        assert_non_null(strstr(pair.server->text, "lost_by_receiver=0, 0, 0\n"));
        pair_done(&pair);
    }
}

/* "name=1, 2, 3": the sum. */
static uint64_t fact_sum(const struct peer *p, const char *name)
{
    const char *at = strstr(p->text, name);
    uint64_t sum = 0;

    assert_non_null(at);
    for (at += strlen(name) - 1; *at != '\n'; at += strcspn(at, ",\n"))
        sum += strtoull(at + 1, (char **)&at, 10);
    return sum;
}

static void loss_is_told_for_each_receiver(void **state)
{
    struct pair pair = {0};
    const struct meter_counters *c;

    (void)state;
    c = count(add_server(&pair, RUN GROUP " receivers=3 receive_buffer=20000"));
    run_client(add_client(&pair, RUN GROUP " messages=2000 socket=cached"));
    stop_server(pair.server, 2000);
    check_server(pair.server, 6000);
    assert_true(c->unique > 0 && c->unique < 1000);
    assert_int_equal(fact_sum(pair.server, "lost_by_receiver="), 6000 - c->unique);
    assert_int_equal(fact_sum(pair.server, "dropped_by_receiver="), c->drops);
    pair_done(&pair);
}

static void groups_that_cannot_be_are_refused(void **state)
{
    static const struct {
        const char *options, *words;
    } rows[] = {
        {"multicast=127.0.0.1", "224.0.0.0"},
        {"multicast=ff02::1", "224.0.0.0"},
        {"multicast=group", "224.0.0.0"},
        {"receivers=2", "--multicast"},
        {"multicast=239.199.7.1 host=::1", "IPv4"},
        {"multicast=239.199.7.1 target=udp:127.0.0.1:9", "--target"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct options o = {0};
        struct fail fail = {0};

        set_options(&o, rows[i].options);
        assert_true(role_udp_server.check(&o, &fail) < 0);
        if (!strstr(fail.sentence, rows[i].words))
            fail_msg("%s: %s", rows[i].options, fail.sentence);
        options_done(&o);
    }
}

/* Limits. */

/* In a process of its own, since a hard limit does not go up again. */
static int exhaust(const struct peer *server, const char *more_options)
{
    struct rlimit limit = {.rlim_cur = 40, .rlim_max = 64};
    struct pair pair = {0};
    uint64_t opened;
    char reason[100], options[200];
    int fd;

    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1;
    snprintf(options, sizeof(options),
             RUN " socket=fresh dispatch=parallel messages=100000 %s", more_options);
    pair.client = new_client(&pair, server->env.endpoint, options);
    prepare(pair.client);
    run_client(pair.client);
    opened = count(pair.client)->unfinished;
    snprintf(reason, sizeof(reason), "out of file handles after %d sockets (limit 64)",
             (int)opened);
    if (pair.client->outcome != OUTCOME_EXHAUSTED ||
        strcmp(pair.client->reason, reason) != 0 || opened < 40 || opened > 61)
        return 2;
    check_client(pair.client, opened + 1);
    if (tally_get(&pair.client->env.meter->errors, "socket EMFILE") +
                tally_get(&pair.client->env.meter->errors, "lookup EMFILE") !=
            1 ||
        count(pair.client)->sent_messages != 0)
        return 3;
    fd = dup(0); /* the sockets are closed again */
    if (fd < 0 || fd > 30)
        return 4;
    close(fd);
    peer_free(pair.client);
    pair.client =
        new_client(&pair, server->env.endpoint,
                   RUN " socket=fresh dispatch=parallel messages=400 window=16");
    prepare(pair.client);
    run_client(pair.client);
    check_client(pair.client, 400);
    if (pair.client->outcome != OUTCOME_COMPLETED)
        return 5;
    pair_done(&pair);
    return 0;
}

static void out_of_file_handles_is_an_outcome(void **state)
{
    static const char *const options[] = {"connected=0", "connected=1", "resolve=each"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(options); i++) {
        struct pair pair = {0};
        int status;
        pid_t pid;

        add_server(&pair, RUN " " BIG);
        fflush(NULL);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            _exit(exhaust(pair.server, options[i]));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        stop_server(pair.server, 400);
        assert_int_equal(count(pair.server)->unique, 400);
        pair_done(&pair);
    }
}

/* A pause may come before the start, and a rate may change while paused. */
static void pause_before_the_start_holds(void **state)
{
    struct pair pair = {0};

    (void)state;
    add_server(&pair, RUN " " BIG);
    add_client(&pair, RUN " messages=100 socket=cached duration=3600000000000");
    pair.client->role->pause(pair.client->flow, true);
    pair.client->role->start(pair.client->flow, now_ns());
    for (int i = 0; i < 100; i++)
        event_base_loop(pair.client_base, EVLOOP_NONBLOCK);
    assert_int_equal(count(pair.client)->sent_messages, 0);
    pair.client->role->pause(pair.client->flow, false);
    run_until_finished(pair.client);
    check_client(pair.client, 100);
    pair_done(&pair);
}

/* Two processes, as in a run. */

/* Datagrams that are sent from several may overtake one another. */
static void stay_on_this_core(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* Returns what the process exits with. */
static int send_counters(const struct peer *client, int fd)
{
    size_t len = sizeof(*count(client));

    if (write(fd, count(client), len) != (ssize_t)len)
        return 1;
    return client->outcome == OUTCOME_COMPLETED ? 0 : 2;
}

static void flood_from_another_process_adds_up(void **state)
{
    static const char *const strategies[] = {
        "socket=fresh dispatch=series messages=20000",
        "socket=cached dispatch=series messages=100000",
        "socket=cached dispatch=parallel messages=100000",
        "socket=cached dispatch=parallel messages=100000 batch=64 connected=1",
        "socket=cached dispatch=parallel messages=1000000 gso=1 connected=1"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(strategies); i++) {
        struct pair pair = {0};
        struct meter_counters client;
        int ends[2], status;
        pid_t pid;

        add_server(&pair, i == 4 ? RUN " gro=1" : RUN);
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            char options[200];

            stay_on_this_core();
            snprintf(options, sizeof(options), RUN " %s", strategies[i]);
            run_client(add_client(&pair, options));
            _exit(send_counters(pair.client, ends[1]));
        }
        close(ends[1]);
        while (waitpid(pid, &status, WNOHANG) == 0)
            event_base_loop(pair.server_base, EVLOOP_NONBLOCK);
        assert_int_equal(status, 0);
        assert_int_equal(read(ends[0], &client, sizeof(client)), sizeof(client));
        close(ends[0]);
        assert_int_equal(client.attempted, client.sent_messages);
        stop_server(pair.server, client.sent_messages);
        check_server(pair.server, client.sent_messages);
        assert_int_equal(count(pair.server)->out_of_order, 0);
        pair_done(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_is_counted_exactly),
        cmocka_unit_test(several_senders_are_told_apart),
        cmocka_unit_test(parallel_hands_all_over_at_once),
        cmocka_unit_test(series_starts_a_message_when_the_last_is_done),
        cmocka_unit_test(turns_and_calls_are_those_of_the_strategy),
        cmocka_unit_test(fresh_series_takes_the_turns_of_a_series),
        cmocka_unit_test(peak_of_the_backlog_is_all_that_was_handed_over),
        cmocka_unit_test(rate_is_kept_and_lateness_recorded),
        cmocka_unit_test(duration_ends_the_sending),
        cmocka_unit_test(a_slow_schedule_ends_in_time),
        cmocka_unit_test(pause_stops_and_resume_completes),
        cmocka_unit_test(sizes_at_the_limits),
        cmocka_unit_test(size_over_the_limit_is_refused_with_the_reason),
        cmocka_unit_test(options_that_cannot_be_are_refused),
        cmocka_unit_test(port_in_use_is_told),
        cmocka_unit_test(closed_port_is_refused_and_not_lost),
        cmocka_unit_test(sleeping_receiver_explains_all_loss),
        cmocka_unit_test(drops_of_strangers_are_not_taken_for_the_runs),
        cmocka_unit_test(drops_of_segments_bound_what_they_explain),
        cmocka_unit_test(how_full_the_buffer_was_is_told),
        cmocka_unit_test(live_loss_is_right_under_overload),
        cmocka_unit_test(drop_count_wraps),
        cmocka_unit_test(known_path_is_counted_exactly),
        cmocka_unit_test(message_after_the_drain_is_late),
        cmocka_unit_test(server_ends_at_once_when_nothing_is_missing),
        cmocka_unit_test(datagrams_of_strangers_are_counted_apart),
        cmocka_unit_test(plain_run_takes_its_own_label_only),
        cmocka_unit_test(plain_run_takes_its_label_cut_by_the_size),
        cmocka_unit_test(times_that_cannot_be_are_no_latency),
        cmocka_unit_test(flood_of_labels_is_counted_and_bounded),
        cmocka_unit_test(full_print_says_all_counts),
        cmocka_unit_test(full_print_says_start_and_end_of_each_label),
        cmocka_unit_test(client_asks_for_the_full_print),
        cmocka_unit_test(stop_asks_for_the_full_print_at_once),
        cmocka_unit_test(intervals_add_up),
        cmocka_unit_test(each_receiver_of_a_group_has_every_message),
        cmocka_unit_test(loss_is_told_for_each_receiver),
        cmocka_unit_test(groups_that_cannot_be_are_refused),
        cmocka_unit_test(out_of_file_handles_is_an_outcome),
        cmocka_unit_test(pause_before_the_start_holds),
        cmocka_unit_test(flood_from_another_process_adds_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
