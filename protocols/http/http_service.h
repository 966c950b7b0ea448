/*
 * What the two HTTP services have in common: an evhttp server with one resource,
 * `POST /sum`, that takes and gives JSON. Everything that is wrong with a request is
 * answered here, with the status that says so and {"error": "..."}:
 *
 *   404  any other path          405  another method (with Allow)
 *   400  a body that is not JSON
 *
 * What never becomes a request evhttp refuses by itself, with an HTML page that libevent
 * 2.1 has no hook for: 400 for what is not HTTP, or a header of more than 64 KiB; 413 for
 * a body of more than 1 MiB; 417; 501. A folded header field it reads as one line, the
 * fold as a blank (RFC 9112 section 5.2).
 *
 * What is right is handed to the owner, who answers now or later, once.
 */
#ifndef PROTOCOLS_HTTP_HTTP_SERVICE_H
#define PROTOCOLS_HTTP_HTTP_SERVICE_H

#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "protocols/role.h"

struct http_service;
struct http_call; /* one request that waits for its answer */

/*
 * A request with a JSON body. `document` is lent for the call; `body` is its text and
 * stays until the answer.
 */
typedef void http_asked(void *owner, struct http_call *call, const cJSON *document,
                        const char *body, size_t len);

/*
 * Listen as listener_open reads the options (TCP), and set env->endpoint. Counts
 * messages, bytes, statuses and connections in env->meter, and in METER_HIST_service
 * the time from a request to its answer. 0, or a negative errno with a sentence.
 */
int http_service_new(struct http_service **s, struct flow_env *env, http_asked *asked,
                     void *owner, struct fail *fail);

/*
 * Calls that were not answered are dropped: the owner must not answer them any more,
 * and what would do so must be gone before.
 */
void http_service_free(struct http_service *s);

/* Take no new connections. */
void http_service_shut(struct http_service *s);

/* How many calls wait for their answer. */
size_t http_service_waiting(const struct http_service *s);

/* Answer {"sum": TOTAL}. */
void http_call_answer_sum(struct http_call *call, double total);

/* Answer any JSON text. */
void http_call_answer(struct http_call *call, int status, const char *json, size_t len);

/* Answer {"error": MESSAGE}. */
void http_call_refuse(struct http_call *call, int status, const char *message);

#endif
