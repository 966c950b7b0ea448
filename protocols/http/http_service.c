#include "protocols/http/http_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/sum.h"
#include "protocols/transport.h"

#define BODY_MAX (1024 * 1024)
#define HEAD_MAX (64 * 1024)
#define IDLE_S 120 /* a kept connection may be quiet for so long */
#define RESOURCE "/sum"

struct http_call {
    struct http_service *service;
    struct http_call *next, *previous;
    struct evhttp_request *request;
    uint64_t asked_ns;
};

struct http_service {
    struct flow_env *env;
    http_asked *asked;
    void *owner;
    struct evhttp *http;
    struct evhttp_bound_socket *listener; /* NULL when shut */
    struct event *reopen;                 /* after descriptors ran out */
    struct http_call *first;
    size_t waiting;
};

static const char *phrase(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 422:
        return "Unprocessable Content";
    case 502:
        return "Bad Gateway";
    case 504:
        return "Gateway Timeout";
    default:
        return "Internal Server Error";
    }
}

static void unlink_call(struct http_call *c)
{
    struct http_service *s = c->service;

    *(c->previous ? &c->previous->next : &s->first) = c->next;
    if (c->next)
        c->next->previous = c->previous;
    s->waiting--;
    free(c);
}

/*
 * evhttp may have lost the connection in the meantime: then it frees the request and
 * sends nothing, which is right.
 */
void http_call_answer(struct http_call *call, int status, const char *json, size_t len)
{
    struct http_service *s = call->service;
    struct meter *m = s->env->meter;
    struct evkeyvalq *headers = evhttp_request_get_output_headers(call->request);
    char name[12];

    evhttp_add_header(headers, "Content-Type", "application/json");
    evbuffer_add(evhttp_request_get_output_buffer(call->request), json, len);
    /* evhttp leaves it out for CONNECT, and the client would wait for the end. */
    if (evhttp_request_get_command(call->request) == EVHTTP_REQ_CONNECT) {
        snprintf(name, sizeof(name), "%zu", len);
        evhttp_add_header(headers, "Content-Length", name);
    }
    evhttp_send_reply(call->request, status, phrase(status), NULL);
    m->counters.sent_messages++;
    m->counters.sent_bytes += len;
    snprintf(name, sizeof(name), "%d", status);
    tally_add(&m->status, name, 1);
    meter_record(m, METER_HIST_service, now_ns() - call->asked_ns);
    unlink_call(call);
}

void http_call_answer_sum(struct http_call *call, double total)
{
    char number[SUM_TEXT_MAX];
    char json[SUM_TEXT_MAX + 16];
    int len;

    sum_format(total, number);
    len = snprintf(json, sizeof(json), "{\"sum\": %s}\n", number);
    http_call_answer(call, 200, json, (size_t)len);
}

void http_call_refuse(struct http_call *call, int status, const char *message)
{
    cJSON *document = cJSON_CreateObject();
    char *json = NULL;
    size_t len;

    if (cJSON_AddStringToObject(document, "error", message))
        json = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    len = json ? strlen(json) : 0;
    if (json)
        json[len++] = '\n'; /* in place of the NUL */
    http_call_answer(call, status, json ? json : "{}", json ? len : 2);
    cJSON_free(json);
}

static void refuse_method(struct http_call *c)
{
    evhttp_add_header(evhttp_request_get_output_headers(c->request), "Allow", "POST");
    http_call_refuse(c, 405, RESOURCE " takes POST alone");
}

static void hand_over(struct http_call *c)
{
    struct http_service *s = c->service;
    struct evbuffer *in = evhttp_request_get_input_buffer(c->request);
    size_t len = evbuffer_get_length(in);
    const char *body = len ? (const char *)evbuffer_pullup(in, -1) : "";
    cJSON *document = body ? sum_parse(body, len) : NULL;

    if (document)
        s->asked(s->owner, c, document, body, len);
    else
        http_call_refuse(c, 400, "the body is not valid JSON");
    cJSON_Delete(document);
}

static void on_request(struct evhttp_request *request, void *arg)
{
    struct http_service *s = arg;
    struct meter_counters *m = &s->env->meter->counters;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
    struct http_call *c = calloc(1, sizeof(*c));

    m->received_messages++;
    m->received_bytes += evbuffer_get_length(evhttp_request_get_input_buffer(request));
    if (!c) {
        evhttp_send_error(request, HTTP_INTERNAL, NULL);
        return;
    }
    *c = (struct http_call){
        .service = s, .request = request, .asked_ns = now_ns(), .next = s->first};
    if (c->next)
        c->next->previous = c;
    s->first = c;
    s->waiting++;
    if (!path || strcmp(path, RESOURCE) != 0)
        http_call_refuse(c, 404, "there is nothing here; POST " RESOURCE " adds numbers");
    else if (evhttp_request_get_command(request) != EVHTTP_REQ_POST)
        refuse_method(c);
    else
        hand_over(c);
}

/* evhttp asks for a bufferevent for each new connection; NULL lets it make its own. */
static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
    struct http_service *s = arg;

    (void)base;
    s->env->meter->counters.connections++;
    return NULL;
}

/* Out of descriptors, most likely: a listener left open would spin. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    struct http_service *s = arg;
    struct timeval pause = {0, 50000};

    tally_errno(&s->env->meter->errors, "accept", errno);
    evconnlistener_disable(listener);
    evtimer_add(s->reopen, &pause);
}

static void on_reopen(evutil_socket_t fd, short what, void *arg)
{
    struct http_service *s = arg;

    (void)fd;
    (void)what;
    if (s->listener)
        evconnlistener_enable(evhttp_bound_socket_get_listener(s->listener));
}

static int open_listener(struct http_service *s, struct fail *fail)
{
    struct listener l;
    int err = listener_open(&l, s->env->options, fail);

    if (err)
        return err;
    endpoint_format(&l.bound, s->env->endpoint, sizeof(s->env->endpoint));
    if (l.setup.in_force[0])
        s->env->fact(s->env, "congestion", l.setup.in_force);
    s->listener = evhttp_accept_socket_with_handle(s->http, l.fd);
    if (s->listener)
        l.fd = -1; /* evhttp's now */
    listener_close(&l);
    if (!s->listener)
        return fail_set(fail, ENOMEM, "listen", "the listener cannot be watched");
    evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(s->listener),
                                on_accept_error);
    return 0;
}

static void set_limits(struct evhttp *http)
{
    evhttp_set_max_body_size(http, BODY_MAX);
    evhttp_set_max_headers_size(http, HEAD_MAX);
    evhttp_set_timeout(http, IDLE_S);
    /* All: which of them a resource takes is the service's to say. */
    evhttp_set_allowed_methods(http, UINT16_MAX);
}

int http_service_new(struct http_service **out, struct flow_env *env, http_asked *asked,
                     void *owner, struct fail *fail)
{
    struct http_service *s = calloc(1, sizeof(*s));
    int err = 0;

    *out = NULL;
    if (!s)
        return fail_set(fail, ENOMEM, "prepare", "no memory for the service");
    s->env = env;
    s->asked = asked;
    s->owner = owner;
    s->http = evhttp_new(env->base);
    s->reopen = evtimer_new(env->base, on_reopen, s);
    if (!s->http || !s->reopen || meter_use(env->meter, METER_HIST_service) < 0)
        err = fail_set(fail, ENOMEM, "prepare", "no memory for the service");
    if (!err) {
        set_limits(s->http);
        evhttp_set_gencb(s->http, on_request, s);
        evhttp_set_bevcb(s->http, on_connection, s);
        err = open_listener(s, fail);
    }
    if (err)
        http_service_free(s);
    else
        *out = s;
    return err;
}

/* A request whose connection is gone belongs to nobody but its call. */
static void drop_calls(struct http_service *s)
{
    while (s->first) {
        if (!evhttp_request_get_connection(s->first->request))
            evhttp_request_free(s->first->request);
        unlink_call(s->first);
    }
}

void http_service_free(struct http_service *s)
{
    if (!s)
        return;
    drop_calls(s);
    event_drop(s->reopen);
    if (s->http)
        evhttp_free(s->http);
    free(s);
}

void http_service_shut(struct http_service *s)
{
    if (s->listener)
        evhttp_del_accept_socket(s->http, s->listener);
    s->listener = NULL;
}

size_t http_service_waiting(const struct http_service *s)
{
    return s->waiting;
}
