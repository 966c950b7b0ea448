/*
 * The REST microservice and the API endpoint in front of it or of a Topper one. All roles
 * share one event loop; what a person would type into curl goes over a real connection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "tests/line.h"
#include "tests/odd_server.h"
#include "tests/pair.h"

#define SUM_45 "{\"numbers\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}"

/* HTTP, as curl would: one request, the status and the body of the reply. */

struct reply {
    int status;
    char head[1000];
    char body[2000];
};

static struct reply ask(struct event_base *base, const char *endpoint, const char *method,
                        const char *path, const char *body)
{
    struct line *l = line_open(base, endpoint);
    struct reply r = {0};
    char *text = malloc(strlen(body) + 300);
    const char *end;

    sprintf(
        text,
        "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
        method, path, strlen(body), body);
    line_say(l, text);
    line_expect(l, NULL);
    free(text);
    end = strstr(l->in, "\r\n\r\n");
    assert_non_null(end);
    assert_int_equal(sscanf(l->in, "HTTP/1.1 %d", &r.status), 1);
    snprintf(r.head, sizeof(r.head), "%.*s", (int)(end - l->in), l->in);
    snprintf(r.body, sizeof(r.body), "%s", end + 4);
    line_close(l);
    return r;
}

static void expect(struct event_base *base, const char *endpoint, const char *method,
                   const char *path, const char *body, int status, const char *in_reply)
{
    struct reply r = ask(base, endpoint, method, path, body);

    if (r.status != status || !strstr(r.body, in_reply))
        fail_msg("%s %s %.60s: expected %d '%s', got %d '%s'", method, path, body, status,
                 in_reply, r.status, r.body);
    if (strcmp(method, "HEAD") != 0)
        assert_non_null(strstr(r.head, "Content-Type: application/json"));
}

/* What is refused before the service sees it: the status, a page, and then the end. */
static void refuses(struct event_base *base, const char *endpoint, const char *head,
                    size_t filler, int status)
{
    struct line *l = line_open(base, endpoint);
    char *text = calloc(1, strlen(head) + filler + 5);
    char start[48];

    memset(text + sprintf(text, "%s", head), 'a', filler);
    strcat(text, "\r\n\r\n");
    line_say(l, text);
    free(text);
    line_expect(l, NULL);
    snprintf(start, sizeof(start), "HTTP/1.1 %d ", status);
    if (strncmp(l->in, start, strlen(start)) != 0)
        fail_msg("%.60s: expected %d, got %s", head, status, l->in);
    line_close(l);
}

static void check_refusals(struct event_base *base, const char *endpoint)
{
    struct line *l = line_open(base, endpoint);

    refuses(base, endpoint, "GARBAGE", 0, 400);
    refuses(base, endpoint, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: -1", 0,
            400);
    refuses(base, endpoint, "POST /sum HTTP/1.1\r\nHost: x\r\nX: ", 70000, 400);
    refuses(base, endpoint, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000", 0,
            413);
    refuses(base, endpoint,
            "POST /sum HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz", 0,
            413);
    refuses(base, endpoint,
            "POST /sum HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 2", 0, 417);
    /* Behind an answer of the service's own. */
    line_say(l, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    line_expect(l, "adds numbers\"}\n");
    line_say(l, "GARBAGE\r\n\r\n");
    line_expect(l, NULL);
    assert_non_null(strstr(l->in, "adds numbers\"}\nHTTP/1.1 400 "));
    line_close(l);
    /* An answer with its length, or the client would wait. */
    l = line_open(base, endpoint);
    line_say(l, "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n");
    line_expect(l, "adds numbers\"}\n");
    assert_non_null(strstr(l->in, "Content-Length: "));
    line_close(l);
}

/* A fold counts as a blank (RFC 9112 section 5.2): 1 and then 5 is not 15. */
static void check_folded_fields(struct event_base *base, const char *endpoint)
{
    struct line *l = line_open(base, endpoint);

    line_say(l, "POST /sum HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\nContent-Length:\r\n"
                "\t15\r\nConnection: close\r\n\r\n{\"numbers\":[1]}");
    line_expect(l, NULL);
    assert_non_null(strstr(l->in, "HTTP/1.1 200 "));
    assert_non_null(strstr(l->in, "{\"sum\": 1}\n"));
    line_close(l);
    refuses(base, endpoint, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n 5", 0,
            400);
}

/* What every POST /sum must do, whoever answers it. */
static void check_sum_service(struct event_base *base, const char *endpoint)
{
    char *large = malloc(300000);
    size_t len = 0;

    expect(base, endpoint, "POST", "/sum", SUM_45, 200, "{\"sum\": 45}");
    expect(base, endpoint, "POST", "/sum?x=1", SUM_45, 200, "{\"sum\": 45}");
    expect(base, endpoint, "POST", "/sum", "\n{\"numbers\":\n\t[1.5,\n2]}\n", 200, "3.5");
    expect(base, endpoint, "POST", "/sum", "{\"numbers\":[-1e300]}", 200, "-1e+300");
    expect(base, endpoint, "POST", "/sum", "{\"numbers\": [9007199254740991]}", 200,
           "{\"sum\": 9007199254740991}");
    expect(base, endpoint, "POST", "/sum", "{\"x\": \"a\r\nb\", \"numbers\": [1]}", 200,
           "{\"sum\": 1}");
    expect(base, endpoint, "GET", "/", "", 404, "error");
    expect(base, endpoint, "POST", "/", SUM_45, 404, "error");
    expect(base, endpoint, "POST", "/sums", SUM_45, 404, "error");
    expect(base, endpoint, "DELETE", "/x", "", 404, "error");
    expect(base, endpoint, "GET", "/sum", "", 405, "POST");
    expect(base, endpoint, "PUT", "/sum", SUM_45, 405, "POST");
    expect(base, endpoint, "BREW", "/sum", SUM_45, 405, "POST");
    expect(base, endpoint, "BREW", "/", "", 404, "error");
    assert_non_null(strstr(ask(base, endpoint, "GET", "/sum", "").head, "Allow: POST"));
    expect(base, endpoint, "POST", "/sum", "", 400, "not valid JSON");
    expect(base, endpoint, "POST", "/sum", "{\"numbers\": [1, 2", 400, "not valid JSON");
    expect(base, endpoint, "POST", "/sum", SUM_45 "x", 400, "not valid JSON");
    expect(base, endpoint, "POST", "/sum", "{}", 422, "error");
    expect(base, endpoint, "POST", "/sum", "5", 422, "error");
    expect(base, endpoint, "POST", "/sum", "\"text\"", 422, "error");
    expect(base, endpoint, "POST", "/sum", "{\"numbers\": []}", 422, "empty");
    expect(base, endpoint, "POST", "/sum", "{\"numbers\": [1, null]}", 422,
           "not a number");
    expect(base, endpoint, "POST", "/sum", "{\"numbers\": [1e308, 1e308]}", 422,
           "too large");
    expect(base, endpoint, "POST", "/sum", "{\"numbers\": [1e999]}", 422, "error");
    len += (size_t)sprintf(large, "{\"numbers\":[1");
    for (int i = 1; i < 50000; i++)
        len += (size_t)sprintf(large + len, ", 1");
    sprintf(large + len, "]}");
    expect(base, endpoint, "POST", "/sum", large, 200, "{\"sum\": 50000}");
    free(large);
    check_folded_fields(base, endpoint);
}

static void rest(void **state)
{
    struct event_base *base = pair_base();
    struct actor a;

    (void)state;
    actor_serve(&a, "rest", base, "host=127.0.0.1", NULL, NULL);
    assert_memory_equal(a.env.endpoint, "tcp:127.0.0.1:", 14);
    check_sum_service(base, a.env.endpoint);
    check_refusals(base, a.env.endpoint);
    assert_true(actor_stop(&a));
    assert_int_equal(a.outcome, OUTCOME_COMPLETED);
    assert_int_equal(a.env.meter->counters.received_messages,
                     a.env.meter->counters.sent_messages);
    assert_int_equal(tally_sum(&a.env.meter->status),
                     a.env.meter->counters.sent_messages);
    actor_done(&a);
    event_base_free(base);
}

static const char *const kinds[] = {"upstream_kind=rest", "upstream_kind=topper"};
static const char *const roles[] = {"rest", "topper"};
static const char *const ways[] = {"upstream=fresh", "upstream=pooled"};

static void gateway(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct event_base *base = pair_base();
        struct actor service, endpoint;

        actor_serve(&service, roles[i / 2], base, "host=127.0.0.1", NULL, NULL);
        actor_serve(&endpoint, "gateway", base, kinds[i / 2], ways[i % 2], &service);
        check_sum_service(base, endpoint.env.endpoint);
        assert_true(actor_stop(&endpoint));
        assert_true(actor_stop(&service));
        actor_done(&endpoint);
        actor_done(&service);
        event_base_free(base);
    }
}

/* The documented load on every path: all succeed, and the counts of all ends agree. */
static void documented_load(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct event_base *base = pair_base();
        struct actor service, endpoint, client;
        const struct meter *c, *e, *s;

        actor_serve(&service, roles[i / 2], base, "host=127.0.0.1", NULL, NULL);
        actor_serve(&endpoint, "gateway", base, kinds[i / 2], ways[i % 2], &service);
        actor_init(&client, "http-client", base);
        actor_options(&client, "connections:20", "amount:400", "method=POST", "path=/sum",
                      "headers=Content-Type:Application/json", "body=" SUM_45, NULL);
        snprintf(client.env.endpoint, sizeof(client.env.endpoint), "%s",
                 endpoint.env.endpoint);
        assert_int_equal(actor_prepare(&client), 0);
        assert_true(actor_run(&client));
        c = client.env.meter;
        e = endpoint.env.meter;
        s = service.env.meter;
        assert_int_equal(c->counters.succeeded, 400);
        assert_int_equal(tally_get(&c->status, "200"), 400);
        assert_int_equal(e->counters.received_messages, 400);
        assert_int_equal(s->counters.received_messages, 400);
        assert_int_equal(c->counters.received_bytes, 400 * strlen("{\"sum\": 45}\n"));
        assert_int_equal(e->hists[METER_HIST_upstream]->count, 400);
        assert_int_equal(e->hists[METER_HIST_service]->count, 400);
        /* Each within the one before: so the split of the time can be computed. */
        assert_true(hist_mean(e->hists[METER_HIST_upstream]) <=
                    hist_mean(e->hists[METER_HIST_service]));
        assert_true(hist_mean(e->hists[METER_HIST_service]) <=
                    hist_mean(c->hists[METER_HIST_latency]));
        if (i % 2)
            assert_true(s->counters.connections <= 20);
        else
            assert_int_equal(s->counters.connections, 400);
        actor_done(&client);
        actor_done(&endpoint);
        actor_done(&service);
        event_base_free(base);
    }
}

/* Load on a Topper service itself: exact amounts, error lines are failures. */
static void topper_load(void **state)
{
    static const struct {
        const char *option, *task, *body;
        bool is_good;
        unsigned connections;
    } cases[] = {
        {"close:0", "task=multi", "body=" SUM_45, true, 5},
        {"close:1", "task=multi", "body=" SUM_45, true, 300},
        {"pipelining:7", "task=multi", "body=" SUM_45, true, 5},
        {"rate:3000", "task=multi", "body=" SUM_45, true, 5},
        {"call=Ping", "task=multi", "body=", true, 5},
        {"call=Nope", "task=multi", "body={}", false, 5},
        {"call=Sum", "task=multi", "body={\"numbers\": []}", false, 5},
        {"call=Any", "task=echo", "body=" SUM_45, true, 5},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        struct event_base *base = pair_base();
        struct actor service, client;
        const struct meter_counters *c;

        actor_serve(&service, "topper", base, cases[i].task, NULL, NULL);
        actor_init(&client, "topper-client", base);
        actor_options(&client, "connections:5", "amount:300", cases[i].option,
                      cases[i].body, NULL);
        snprintf(client.env.endpoint, sizeof(client.env.endpoint), "%s",
                 service.env.endpoint);
        assert_int_equal(actor_prepare(&client), 0);
        assert_true(actor_run(&client));
        c = &client.env.meter->counters;
        assert_int_equal(c->attempted, 300);
        assert_int_equal(c->succeeded, cases[i].is_good ? 300 : 0);
        assert_int_equal(c->failed, cases[i].is_good ? 0 : 300);
        assert_int_equal(tally_get(&client.env.meter->errors, "reply is an error"),
                         c->failed);
        assert_int_equal(service.env.meter->counters.received_messages, 300);
        assert_int_equal(service.env.meter->counters.connections, cases[i].connections);
        assert_int_equal(c->received_bytes, service.env.meter->counters.sent_bytes);
        actor_done(&client);
        actor_done(&service);
        event_base_free(base);
    }
}

/* A server that closes behind its reply, with and without a line end. */
static void topper_load_on_an_odd_server(void **state)
{
    static const struct {
        const char *reply;
        const char *error; /* NULL: it succeeds */
    } cases[] = {
        {"The sum is: 45 \n", NULL},        {"The sum is: 45", NULL},
        {"", "closed before the reply"},    {"Error: no\n", "reply is an error"},
        {"Error: no", "reply is an error"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        for (int bytewise = 0; bytewise < 2; bytewise++) {
            struct event_base *base = pair_base();
            /* Byte by byte, the close may come just after the line that is the reply. */
            bool is_line = strchr(cases[i].reply, '\n') != NULL;
            struct odd_server odd = {.closes = !(bytewise && is_line),
                                     .takes_lines = true,
                                     .is_bytewise = bytewise};
            struct actor client;

            assert_true(odd_server_open(&odd, base, 0));
            odd_server_reply(&odd, cases[i].reply);
            actor_init(&client, "topper-client", base);
            actor_options(&client, "amount:3", "body=" SUM_45, NULL);
            snprintf(client.env.endpoint, sizeof(client.env.endpoint), "%s",
                     odd.endpoint);
            assert_int_equal(actor_prepare(&client), 0);
            assert_true(actor_run(&client));
            assert_int_equal(odd.requests, 3);
            assert_int_equal(client.env.meter->counters.succeeded,
                             cases[i].error ? 0 : 3);
            if (cases[i].error)
                assert_int_equal(tally_get(&client.env.meter->errors, cases[i].error), 3);
            assert_string_equal(odd.last, "Sum {\"numbers\":[1,2,3,4,5,6,7,8,9]}\n");
            actor_done(&client);
            odd_server_close(&odd);
            event_base_free(base);
        }
    }
}

static void upstream_down(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct event_base *base = pair_base();
        struct actor service, endpoint;

        actor_serve(&service, roles[i / 2], base, "host=127.0.0.1", NULL, NULL);
        actor_serve(&endpoint, "gateway", base, kinds[i / 2], ways[i % 2], &service);
        expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 200, "45");
        actor_done(&service);
        expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 502,
               "cannot be reached");
        expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 502,
               "cannot be reached");
        expect(base, endpoint.env.endpoint, "POST", "/sum", "{", 400, "JSON");
        assert_int_equal(tally_sum(&endpoint.env.meter->errors), 2);
        actor_done(&endpoint);
        event_base_free(base);
    }
}

/* Back at the same address, the pooled connection of before is no obstacle. */
static void upstream_restarts(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct event_base *base = pair_base();
        struct actor service, endpoint;
        char port[32];

        actor_serve(&service, roles[i / 2], base, "host=127.0.0.1", NULL, NULL);
        actor_serve(&endpoint, "gateway", base, kinds[i / 2], ways[i % 2], &service);
        expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 200, "45");
        snprintf(port, sizeof(port), "port:%s", strrchr(service.env.endpoint, ':') + 1);
        actor_done(&service);
        actor_serve(&service, roles[i / 2], base, port, port, NULL);
        expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 200, "45");
        actor_done(&service);
        actor_done(&endpoint);
        event_base_free(base);
    }
}

static void upstream_slow_or_odd(void **state)
{
    static const struct {
        const char *reply;
        bool silent, closes;
        int status;
        const char *word;
    } cases[] = {
        {"", true, false, 504, "in time"},
        {"", false, true, 502, "closed the connection"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, false, 502,
         "no JSON"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, false, 502, "no JSON"},
        {"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", false, false, 502, "error"},
        {"nonsense\r\n\r\n", false, true, 502, "no reply"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        struct event_base *base = pair_base();
        struct odd_server odd = {.is_silent = cases[i].silent, .closes = cases[i].closes};
        struct actor endpoint;

        assert_true(odd_server_open(&odd, base, 0));
        odd_server_reply(&odd, cases[i].reply);
        actor_init(&endpoint, "gateway", base);
        actor_options(&endpoint, "port:0", "upstream_kind=rest",
                      cases[i].silent ? "timeout:100000000" : NULL, NULL);
        snprintf(endpoint.env.upstream, sizeof(endpoint.env.upstream), "%s",
                 odd.endpoint);
        assert_int_equal(actor_prepare(&endpoint), 0);
        expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, cases[i].status,
               cases[i].word);
        actor_done(&endpoint);
        odd_server_close(&odd);
        event_base_free(base);
    }
}

/* A single-task echo server answers something that is no sum; a silent one nothing. */
static void topper_upstream_slow_or_odd(void **state)
{
    struct event_base *base = pair_base();
    struct odd_server odd = {.is_silent = true};
    struct actor service, endpoint;

    (void)state;
    actor_serve(&service, "topper", base, "task=echo", NULL, NULL);
    actor_serve(&endpoint, "gateway", base, kinds[1], NULL, &service);
    expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 502, "no sum");
    actor_done(&endpoint);
    actor_done(&service);
    assert_true(odd_server_open(&odd, base, 0));
    actor_init(&endpoint, "gateway", base);
    actor_options(&endpoint, "port:0", "timeout:100000000", kinds[1], NULL);
    snprintf(endpoint.env.upstream, sizeof(endpoint.env.upstream), "%s", odd.endpoint);
    assert_int_equal(actor_prepare(&endpoint), 0);
    expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 504, "in time");
    actor_done(&endpoint);
    odd_server_close(&odd);
    event_base_free(base);
}

/* Callers that leave while their answer is under way, and an endpoint that is freed. */
static void callers_that_leave(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct event_base *base = pair_base();
        struct odd_server odd = {.is_silent = true};
        struct actor endpoint;
        struct line *lines[5];

        assert_true(odd_server_open(&odd, base, 0));
        actor_init(&endpoint, "gateway", base);
        actor_options(&endpoint, "port:0", "timeout:150000000", kinds[i / 2], ways[i % 2],
                      NULL);
        snprintf(endpoint.env.upstream, sizeof(endpoint.env.upstream), "%s",
                 odd.endpoint);
        assert_int_equal(actor_prepare(&endpoint), 0);
        for (int k = 0; k < 5; k++) {
            lines[k] = line_open(base, endpoint.env.endpoint);
            line_say(lines[k],
                     "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n"
                     "{\"numbers\":[1]}");
        }
        pair_turn(base, NULL, 50);
        for (int k = 0; k < 3; k++)
            line_close(lines[k]);
        pair_turn(base, NULL, i < 2 ? 20 : 200);
        actor_done(&endpoint);
        line_close(lines[3]);
        line_close(lines[4]);
        odd_server_close(&odd);
        event_base_free(base);
    }
}

static void endpoint_stops_after_its_answers(void **state)
{
    struct event_base *base = pair_base();
    struct odd_server odd = {.is_silent = true};
    struct actor endpoint;
    struct line *l;

    (void)state;
    assert_true(odd_server_open(&odd, base, 0));
    actor_init(&endpoint, "gateway", base);
    actor_options(&endpoint, "port:0", "timeout:200000000", NULL);
    snprintf(endpoint.env.upstream, sizeof(endpoint.env.upstream), "%s", odd.endpoint);
    assert_int_equal(actor_prepare(&endpoint), 0);
    l = line_open(base, endpoint.env.endpoint);
    line_say(l, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n"
                "{\"numbers\":[1]}");
    for (int n = 0; n < 10000 && odd.requests < 1; n++)
        pair_turn(base, NULL, 1);
    assert_int_equal(odd.requests, 1);
    assert_true(actor_stop(&endpoint));
    assert_int_equal(tally_get(&endpoint.env.meter->status, "504"), 1);
    line_close(l);
    actor_done(&endpoint);
    odd_server_close(&odd);
    event_base_free(base);
}

/*
 * A kept connection breaks while it waits, and then nobody listens any more: what is told
 * is how the second attempt ended, not the first.
 */
static void the_second_attempt_is_told(void **state)
{
    static const char *const replies[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"sum\": 45}", "The sum is: 45\n"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct event_base *base = pair_base();
        struct odd_server odd = {.takes_lines = i == 1};
        struct actor endpoint;
        struct line *l;

        assert_true(odd_server_open(&odd, base, 0));
        odd_server_reply(&odd, replies[i]);
        actor_init(&endpoint, "gateway", base);
        actor_options(&endpoint, "port:0", kinds[i], "upstream=pooled", NULL);
        snprintf(endpoint.env.upstream, sizeof(endpoint.env.upstream), "%s",
                 odd.endpoint);
        assert_int_equal(actor_prepare(&endpoint), 0);
        expect(base, endpoint.env.endpoint, "POST", "/sum", SUM_45, 200, "45");
        odd.is_silent = true;
        l = line_open(base, endpoint.env.endpoint);
        line_say(l, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n"
                    "{\"numbers\":[1]}");
        for (int n = 0; n < 10000 && odd.requests < 2; n++)
            pair_turn(base, NULL, 1);
        assert_int_equal(odd.requests, 2);
        assert_int_equal(odd.connections, 1);
        odd_server_close(&odd);
        line_expect(l, "}\n");
        assert_non_null(strstr(l->in, "the microservice cannot be reached"));
        assert_int_equal(tally_get(&endpoint.env.meter->errors, "upstream ECONNREFUSED"),
                         1);
        line_close(l);
        actor_done(&endpoint);
        event_base_free(base);
    }
}

/* As long as `drain` says, which is longer than an answer takes, or shorter. */
static void endpoint_stops_after_its_drain(void **state)
{
    static const struct {
        const char *timeout, *drain;
        unsigned answered;
    } rows[] = {
        {"timeout:1300000000", "drain:60000000000", 1},
        {"timeout:60000000000", "drain:1000000", 0},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct event_base *base = pair_base();
        struct odd_server odd = {.is_silent = true};
        struct actor endpoint;
        struct line *l;

        assert_true(odd_server_open(&odd, base, 0));
        actor_init(&endpoint, "gateway", base);
        actor_options(&endpoint, "port:0", rows[i].timeout, rows[i].drain, NULL);
        snprintf(endpoint.env.upstream, sizeof(endpoint.env.upstream), "%s",
                 odd.endpoint);
        assert_int_equal(actor_prepare(&endpoint), 0);
        l = line_open(base, endpoint.env.endpoint);
        line_say(l, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n"
                    "{\"numbers\":[1]}");
        for (int n = 0; n < 10000 && odd.requests < 1; n++)
            pair_turn(base, NULL, 1);
        assert_int_equal(odd.requests, 1);
        assert_true(actor_stop(&endpoint));
        assert_int_equal(tally_get(&endpoint.env.meter->status, "504"), rows[i].answered);
        line_close(l);
        actor_done(&endpoint);
        odd_server_close(&odd);
        event_base_free(base);
    }
}

/* Refused when prepared, with a sentence. */
static void bad_options(void **state)
{
    static const struct {
        const char *role, *option, *upstream, *word;
    } cases[] = {
        {"topper", "task=Nope", "", "multi, echo or greeting"},
        {"rest", "port:70000", "", "65535"},
        {"rest", "host=192.0.2.1", "", "192.0.2.1"},
        {"gateway", "upstream_kind=rest", "", "microservice"},
        {"gateway", "upstream_kind=soap", "tcp:127.0.0.1:1", "rest or topper"},
        {"gateway", "upstream=stale", "tcp:127.0.0.1:1", "fresh or pooled"},
        {"gateway", "upstream_kind=rest", "unix:/x", "TCP"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        struct event_base *base = pair_base();
        struct actor a;

        actor_init(&a, cases[i].role, base);
        actor_options(&a, "port:0", cases[i].option, NULL);
        snprintf(a.env.upstream, sizeof(a.env.upstream), "%s", cases[i].upstream);
        if (actor_prepare(&a) == 0 || !strstr(a.fail.sentence, cases[i].word))
            fail_msg("%s %s: '%s'", cases[i].role, cases[i].option, a.fail.sentence);
        actor_done(&a);
        event_base_free(base);
    }
}

static void port_in_use(void **state)
{
    struct event_base *base = pair_base();
    struct actor first, second;
    char port[32];

    (void)state;
    actor_serve(&first, "rest", base, "host=127.0.0.1", NULL, NULL);
    snprintf(port, sizeof(port), "port:%s", strrchr(first.env.endpoint, ':') + 1);
    actor_init(&second, "topper", base);
    actor_options(&second, port, NULL);
    assert_int_equal(actor_prepare(&second), -EADDRINUSE);
    actor_done(&second);
    actor_done(&first);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest),
        cmocka_unit_test(gateway),
        cmocka_unit_test(documented_load),
        cmocka_unit_test(topper_load),
        cmocka_unit_test(topper_load_on_an_odd_server),
        cmocka_unit_test(upstream_down),
        cmocka_unit_test(upstream_restarts),
        cmocka_unit_test(upstream_slow_or_odd),
        cmocka_unit_test(topper_upstream_slow_or_odd),
        cmocka_unit_test(callers_that_leave),
        cmocka_unit_test(endpoint_stops_after_its_answers),
        cmocka_unit_test(the_second_attempt_is_told),
        cmocka_unit_test(endpoint_stops_after_its_drain),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(port_in_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
