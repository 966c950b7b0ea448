/*
 * The bytes of one HTTP/1.1 request, built once and sent as often as the load
 * needs: request line, header fields, body. The body is bytes and is never looked
 * into; its length always goes with it as Content-Length.
 */
#ifndef PROTOCOLS_HTTP_HTTP_REQUEST_H
#define PROTOCOLS_HTTP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "protocols/fail.h"
#include "protocols/http/header.h"

struct http_request_args {
    const char *method;            /* a token; case matters, so it is sent as written */
    const char *target;            /* "/sum?x=1" */
    const char *authority;         /* the Host where the user's headers have none */
    const struct headers *headers; /* the user's, sent in their order */
    const char *body;              /* borrowed; NULL without one */
    size_t body_len;
    bool close; /* ask the server to close after the reply */
};

struct http_request {
    char *bytes; /* owned */
    size_t len;
    size_t head_len; /* the body is the rest */
    bool close;      /* asked for, by args or by a Connection field of the user's */
};

/*
 * Build the request. What the user's headers may not do is refused with a sentence:
 * a Content-Length other than the body's, and Transfer-Encoding. CONNECT is refused,
 * since what follows it is not HTTP. 0, -EINVAL or -ENOMEM; on an error nothing
 * needs http_request_done.
 */
int http_request_build(struct http_request *r, const struct http_request_args *args,
                       struct fail *fail);

void http_request_done(struct http_request *r);

#endif
