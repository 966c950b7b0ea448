/*
 * Role gateway: the API endpoint. `POST /sum` is passed on to a microservice, and its
 * answer passed back. Options, besides those of listener_open:
 *
 *   upstream_kind   rest or topper: what the microservice speaks
 *   upstream        fresh (a connection a call) or pooled (kept ones)
 *   timeout         ns for the microservice's answer, 10 s by default
 *   drain           ns for requests still open when it is stopped, 1 s by default
 *
 * The microservice is at env->upstream. One that is down, or answers what it should
 * not, is 502 here; one that is slow is 504. METER_HIST_upstream is the time of a call
 * to it, METER_HIST_service that of the whole request, so the endpoint's own share can
 * be read off. The calls that were answered and their bytes, line ends among them, are
 * told as facts: upstream_messages, upstream_sent_bytes, upstream_received_bytes. A
 * pooled connection that the microservice has closed in the meantime is
 * no failure: the call is made once more.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/event.h"
#include "protocols/http/http_service.h"
#include "protocols/resolve.h"
#include "protocols/sum.h"
#include "protocols/topper.h"
#include "protocols/topper_client.h"
#include "protocols/transport.h"

/* A connection to the microservice, kept or not, and the call that is made on it. */
struct upstream_conn;

struct kind {
    const char *name; /* "rest" */
    int (*open)(struct upstream_conn *u);
    int (*ask)(struct upstream_conn *u); /* send the work; 0 or -ENOMEM */
    void (*close)(struct upstream_conn *u);
};

struct upstream_conn {
    struct flow *flow;
    struct upstream_conn *next; /* among all */
    struct upstream_conn *next_free;
    struct topper_line *line;             /* topper */
    struct evhttp_connection *connection; /* rest */
    bool was_used; /* the connection has had an answer before this call */

    struct http_call *call; /* NULL while free */
    char *work;             /* what is sent; owned, for a second attempt */
    size_t len;
    uint64_t asked_ns;
    bool is_second;

    /* rest: of this attempt, its beginning, and what evhttp says was wrong; 0: nothing */
    uint64_t attempt_ns;
    int err;
};

struct flow {
    struct flow_env *env;
    struct http_service *service;
    const struct kind *kind;
    struct sockaddr_storage address;
    socklen_t address_len;
    char host[INET6_ADDRSTRLEN];
    uint16_t port;
    bool is_pooled;
    uint64_t timeout_ns, drain_ns;
    struct upstream_conn *first, *first_free;
    uint64_t answered, sent_bytes, received_bytes; /* of calls that were answered */
    struct event *sweep; /* frees connections outside of their own callbacks */
    struct event *drain;
    bool is_stopping, is_finished;
};

static void check_end(struct flow *f);

/* Done with a call: kept for the next one, or closed a little later. */
static void release(struct upstream_conn *u)
{
    struct flow *f = u->flow;

    u->call = NULL;
    free(u->work);
    u->work = NULL;
    u->is_second = false;
    u->next_free = f->first_free;
    f->first_free = u;
    if (!f->is_pooled)
        event_active(f->sweep, EV_TIMEOUT, 0);
    check_end(f);
}

/* The call to the microservice is over, well or not. */
static void record(const struct upstream_conn *u)
{
    meter_record(u->flow->env->meter, METER_HIST_upstream, now_ns() - u->asked_ns);
}

/* The microservice has answered in so many bytes. */
static void answered(const struct upstream_conn *u, size_t len_bytes)
{
    u->flow->answered++;
    u->flow->sent_bytes += u->len;
    u->flow->received_bytes += len_bytes;
}

static void upstream_failed(struct upstream_conn *u, int status, const char *message,
                            int err)
{
    struct flow *f = u->flow;

    record(u);
    tally_errno(&f->env->meter->errors, "upstream", err);
    http_call_refuse(u->call, status, message);
    release(u);
}

static const char *broken_text(int err)
{
    switch (err) {
    case ETIMEDOUT:
        return "the microservice did not answer in time";
    case ECONNRESET:
    case EPIPE:
        return "the microservice closed the connection without an answer";
    case EPROTO:
    case EMSGSIZE:
        return "the microservice answered something that is no reply";
    default:
        return "the microservice cannot be reached";
    }
}

/*
 * The connection failed. A kept one may have been closed by the other side since its
 * last answer, which a second attempt on a new connection finds out.
 */
static void upstream_broke(struct upstream_conn *u, int err, bool was_used)
{
    struct flow *f = u->flow;

    if (was_used && err != ETIMEDOUT && !u->is_second) {
        u->is_second = true;
        if (f->kind->ask(u) == 0)
            return;
    }
    upstream_failed(u, err == ETIMEDOUT ? 504 : 502, broken_text(err), err);
}

/* Topper. */

static int topper_open(struct upstream_conn *u)
{
    u->line = topper_line_new(u->flow->env->base, &u->flow->address, u->flow->address_len,
                              TOPPER_AT_LINE_END);
    return u->line ? 0 : -ENOMEM;
}

static void topper_close(struct upstream_conn *u)
{
    topper_line_free(u->line);
}

/* "The sum is: 45 ", or an error line. */
static void on_topper_reply(void *arg, int err, const char *text, size_t len)
{
    static const char before[] = "The sum is: ";
    static const char error[] = TOPPER_ERROR;
    struct upstream_conn *u = arg;
    char message[200];
    cJSON *number;

    if (err) {
        upstream_broke(u, -err, u->was_used);
        return;
    }
    answered(u, len + 1); /* the line end */
    if (len > strlen(error) && memcmp(text, error, strlen(error)) == 0) {
        record(u);
        snprintf(message, sizeof(message), "%.*s", (int)(len - strlen(error)),
                 text + strlen(error));
        http_call_refuse(u->call, 422, message);
        release(u);
        return;
    }
    number = len > strlen(before) && memcmp(text, before, strlen(before)) == 0
                 ? sum_parse(text + strlen(before), len - strlen(before))
                 : NULL;
    if (number && cJSON_IsNumber(number)) {
        record(u);
        http_call_answer_sum(u->call, number->valuedouble);
        release(u);
    } else {
        upstream_failed(u, 502, "the microservice answered something that is no sum",
                        EPROTO);
    }
    cJSON_Delete(number);
}

static int topper_ask(struct upstream_conn *u)
{
    u->was_used = topper_line_is_used(u->line);
    return topper_line_ask(u->line, u->work, u->len, u->flow->timeout_ns, on_topper_reply,
                           u);
}

/* REST. */

static int rest_open(struct upstream_conn *u)
{
    struct flow *f = u->flow;
    struct timeval timeout = timeval_from_ns(f->timeout_ns);

    u->connection = evhttp_connection_base_new(f->env->base, NULL, f->host, f->port);
    if (!u->connection)
        return -ENOMEM;
    evhttp_connection_set_timeout_tv(u->connection, &timeout);
    evhttp_connection_set_retries(u->connection, 0);
    u->was_used = false;
    return 0;
}

static void rest_close(struct upstream_conn *u)
{
    if (u->connection)
        evhttp_connection_free(u->connection);
}

static void on_rest_error(enum evhttp_request_error error, void *arg)
{
    struct upstream_conn *u = arg;

    switch (error) {
    case EVREQ_HTTP_TIMEOUT:
        u->err = ETIMEDOUT;
        break;
    case EVREQ_HTTP_EOF:
        u->err = ECONNRESET;
        break;
    case EVREQ_HTTP_INVALID_HEADER:
    case EVREQ_HTTP_DATA_TOO_LONG:
        u->err = EPROTO;
        break;
    case EVREQ_HTTP_BUFFER_ERROR:
    case EVREQ_HTTP_REQUEST_CANCEL:
        break; /* nothing that the other side did */
    }
}

/* Passed on as it is, an answer must be what this endpoint promises: JSON. */
static bool is_json(const char *text, size_t len)
{
    cJSON *document = len ? sum_parse(text, len) : NULL;

    cJSON_Delete(document);
    return document != NULL;
}

static void on_rest_reply(struct evhttp_request *request, void *arg)
{
    struct upstream_conn *u = arg;
    int status = request ? evhttp_request_get_response_code(request) : 0;
    struct evbuffer *in = request ? evhttp_request_get_input_buffer(request) : NULL;
    bool was_used = u->was_used;
    bool is_late = now_ns() - u->attempt_ns >= u->flow->timeout_ns;
    const char *body;
    size_t len;

    u->was_used = status != 0;
    if (status == 0) {
        upstream_broke(u, is_late ? ETIMEDOUT : u->err ? u->err : ECONNREFUSED, was_used);
        return;
    }
    len = evbuffer_get_length(in);
    answered(u, len);
    body = len ? (const char *)evbuffer_pullup(in, -1) : "";
    if (status != 200 && status != 400 && status != 422) {
        upstream_failed(u, 502, "the microservice answered with an error", EPROTO);
    } else if (!body || !is_json(body, len)) {
        upstream_failed(u, 502, "the microservice answered something that is no JSON",
                        EPROTO);
    } else {
        record(u);
        http_call_answer(u->call, status, body, len);
        release(u);
    }
}

static int rest_ask(struct upstream_conn *u)
{
    struct evhttp_request *request = evhttp_request_new(on_rest_reply, u);
    struct evkeyvalq *headers;

    if (!request)
        return -ENOMEM;
    u->attempt_ns = now_ns();
    u->err = 0;
    evhttp_request_set_error_cb(request, on_rest_error);
    headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Host", u->flow->host);
    evhttp_add_header(headers, "Content-Type", "application/json");
    evhttp_add_header(headers, "Connection", u->flow->is_pooled ? "keep-alive" : "close");
    evbuffer_add(evhttp_request_get_output_buffer(request), u->work, u->len);
    return evhttp_make_request(u->connection, request, EVHTTP_REQ_POST, "/sum") < 0
               ? -ENOMEM
               : 0;
}

static const struct kind kinds[] = {
    {"rest", rest_open, rest_ask, rest_close},
    {"topper", topper_open, topper_ask, topper_close},
};

/* The work as the microservice wants it: a Topper message is one line. */
static char *work_text(const struct flow *f, const char *body, size_t len)
{
    char *json, *text;
    size_t size;

    if (f->kind == &kinds[0])
        return strndup(body, len);
    json = sum_compact(body, len);
    size = json ? strlen(json) + sizeof("Sum \n") : 0;
    text = json ? malloc(size) : NULL;
    if (text)
        snprintf(text, size, "Sum %s\n", json);
    free(json);
    return text;
}

/* A free connection: a kept one, or a new one. */
static struct upstream_conn *take_upstream(struct flow *f)
{
    struct upstream_conn *u = f->is_pooled ? f->first_free : NULL;

    if (u) {
        f->first_free = u->next_free;
        return u;
    }
    u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->flow = f;
    if (f->kind->open(u) < 0) {
        free(u);
        return NULL;
    }
    u->next = f->first;
    f->first = u;
    return u;
}

static void on_asked(void *owner, struct http_call *call, const cJSON *document,
                     const char *body, size_t len)
{
    struct flow *f = owner;
    struct upstream_conn *u = take_upstream(f);

    (void)document;
    if (!u) {
        http_call_refuse(call, 500, "the endpoint is out of memory");
        return;
    }
    u->call = call;
    u->asked_ns = now_ns();
    u->work = work_text(f, body, len);
    u->len = u->work ? strlen(u->work) : 0;
    if (!u->work || f->kind->ask(u) < 0)
        upstream_failed(u, 500, "the endpoint is out of memory", ENOMEM);
}

static void free_upstream(struct upstream_conn *u)
{
    u->flow->kind->close(u);
    free(u->work);
    free(u);
}

/* Close the connections that are done, outside of what they called. */
static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
    struct flow *f = arg;
    struct upstream_conn **at = &f->first;

    (void)fd;
    (void)what;
    f->first_free = NULL;
    while (*at) {
        struct upstream_conn *u = *at;

        if (u->call) {
            at = &u->next;
            continue;
        }
        *at = u->next;
        free_upstream(u);
    }
}

static void tell(const struct flow *f, const char *fact, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    f->env->fact(f->env, fact, text);
}

static void finish(struct flow *f)
{
    if (f->is_finished)
        return;
    f->is_finished = true;
    tell(f, "upstream_messages", f->answered);
    tell(f, "upstream_sent_bytes", f->sent_bytes);
    tell(f, "upstream_received_bytes", f->received_bytes);
    f->env->finished(f->env, OUTCOME_COMPLETED, NULL);
}

static void on_drained(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    finish(arg);
}

static void check_end(struct flow *f)
{
    if (f->is_stopping && http_service_waiting(f->service) == 0)
        finish(f);
}

static int read_address(struct flow *f, struct fail *fail)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)&f->address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&f->address;
    struct endpoint e;
    int err;

    if (!f->env->upstream[0])
        return fail_usage(fail, "upstream",
                          "the endpoint needs a microservice to pass work to");
    err = endpoint_parse_target(&e, f->env->upstream, fail);
    if (!err)
        err = resolve_address(&e, &f->address, &f->address_len, fail);
    if (err)
        return err;
    if (e.kind != ENDPOINT_TCP && f->kind == &kinds[0])
        return fail_usage(fail, "upstream",
                          "a REST microservice is reached over TCP, not at %s",
                          f->env->upstream);
    f->port = (uint16_t)e.port;
    if (f->address.ss_family == AF_INET)
        inet_ntop(AF_INET, &in->sin_addr, f->host, sizeof(f->host));
    else if (f->address.ss_family == AF_INET6)
        inet_ntop(AF_INET6, &in6->sin6_addr, f->host, sizeof(f->host));
    return 0;
}

static int read_options(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;
    const char *kind = options_text(o, OPTION_upstream_kind, "rest");
    const char *upstream = options_text(o, OPTION_upstream, "fresh");

    for (size_t i = 0; i < NUMBER_OF(kinds); i++)
        if (strcmp(kinds[i].name, kind) == 0)
            f->kind = &kinds[i];
    if (!f->kind)
        return fail_usage(
            fail, "upstream",
            "there is no kind of microservice '%.40s'; it is rest or topper", kind);
    if (strcmp(upstream, "fresh") != 0 && strcmp(upstream, "pooled") != 0)
        return fail_usage(fail, "upstream",
                          "connections to the microservice are fresh or pooled, not "
                          "'%.40s'",
                          upstream);
    f->is_pooled = strcmp(upstream, "pooled") == 0;
    f->timeout_ns = options_number(o, OPTION_timeout, 10 * NS_PER_S);
    f->drain_ns = options_number(o, OPTION_drain, NS_PER_S);
    return read_address(f, fail);
}

static void gateway_free(struct flow *f)
{
    while (f->first) {
        struct upstream_conn *u = f->first;

        f->first = u->next;
        free_upstream(u);
    }
    http_service_free(f->service);
    event_drop(f->sweep);
    event_drop(f->drain);
    free(f);
}

static int gateway_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    struct flow *f = calloc(1, sizeof(*f));
    int err;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "no memory for the endpoint");
    f->env = env;
    f->sweep = evtimer_new(env->base, on_sweep, f);
    f->drain = evtimer_new(env->base, on_drained, f);
    if (!f->sweep || !f->drain || meter_use(env->meter, METER_HIST_upstream) < 0)
        err = fail_set(fail, ENOMEM, "prepare", "no memory for the endpoint");
    else
        err = read_options(f, fail);
    if (!err)
        err = http_service_new(&f->service, env, on_asked, f, fail);
    if (err)
        gateway_free(f);
    else
        *flow = f;
    return err;
}

static void gateway_start(struct flow *f, uint64_t start_ns)
{
    (void)f;
    (void)start_ns;
}

static void gateway_stop(struct flow *f)
{
    struct timeval wait = timeval_from_ns(f->drain_ns);

    if (f->is_stopping)
        return;
    f->is_stopping = true;
    http_service_shut(f->service);
    evtimer_add(f->drain, &wait);
    check_end(f);
}

const struct role role_gateway = {
    .name = "gateway",
    .check = listener_check,
    .prepare = gateway_prepare,
    .start = gateway_start,
    .stop = gateway_stop,
    .free = gateway_free,
};
