#include "protocols/http/http_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int check_method(const char *method, struct fail *fail)
{
    if (!header_is_token(method))
        return fail_usage(fail, "request",
                          "the method '%.40s' is not a word such as GET or POST", method);
    if (strcmp(method, "CONNECT") == 0)
        return fail_usage(fail, "request",
                          "the method CONNECT opens a tunnel and cannot be used as load");
    return 0;
}

static int check_headers(const struct http_request_args *args, struct fail *fail)
{
    const char *length = headers_get(args->headers, "Content-Length");
    char expected[24];

    if (headers_get(args->headers, "Transfer-Encoding"))
        return fail_usage(fail, "request",
                          "the header Transfer-Encoding cannot be set: the body is sent "
                          "with its Content-Length");
    snprintf(expected, sizeof(expected), "%zu", args->body_len);
    if (length && strcmp(length, expected) != 0)
        return fail_usage(
            fail, "request",
            "the header Content-Length is %.20s, but the body has %zu bytes", length,
            args->body_len);
    return 0;
}

/* Whether a comma-separated list names the option (RFC 9110 section 7.6.1). */
static bool list_names(const char *list, const char *option)
{
    size_t len = strlen(option);

    while (list && *list) {
        list += strspn(list, ", \t");
        if (strncasecmp(list, option, len) == 0 && strchr(", \t", list[len]))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

/* RFC 9110 section 8.6: methods that anticipate a body send a length of 0 too. */
static bool anticipates_body(const char *method)
{
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
           strcmp(method, "PATCH") == 0;
}

static void write_head(FILE *f, const struct http_request_args *args)
{
    const struct headers *h = args->headers;

    fprintf(f, "%s %s HTTP/1.1\r\n", args->method, args->target);
    if (!headers_get(h, "Host"))
        fprintf(f, "Host: %s\r\n", args->authority);
    if (!headers_get(h, "User-Agent"))
        fprintf(f, "User-Agent: plimsoll/%s\r\n", PLIMSOLL_VERSION);
    for (size_t i = 0; i < h->count; i++)
        fprintf(f, "%s: %s\r\n", h->list[i].name, h->list[i].value);
    if (args->close && !headers_get(h, "Connection"))
        fputs("Connection: close\r\n", f);
    if (!headers_get(h, "Content-Length") &&
        (args->body || anticipates_body(args->method)))
        fprintf(f, "Content-Length: %zu\r\n", args->body_len);
    fputs("\r\n", f);
}

int http_request_build(struct http_request *r, const struct http_request_args *args,
                       struct fail *fail)
{
    FILE *f;
    long head_len;
    int err = check_method(args->method, fail);

    if (!err)
        err = check_headers(args, fail);
    if (err)
        return err;
    memset(r, 0, sizeof(*r));
    f = open_memstream(&r->bytes, &r->len);
    if (!f)
        return fail_set(fail, ENOMEM, "request", "no memory for the request");
    write_head(f, args);
    head_len = ftell(f);
    if (args->body_len)
        fwrite(args->body, 1, args->body_len, f);
    if (ferror(f) | fclose(f)) {
        http_request_done(r);
        return fail_set(fail, ENOMEM, "request", "no memory for the request");
    }
    r->head_len = (size_t)head_len;
    r->close =
        args->close || list_names(headers_get(args->headers, "Connection"), "close");
    return 0;
}

void http_request_done(struct http_request *r)
{
    free(r->bytes);
    memset(r, 0, sizeof(*r));
}
