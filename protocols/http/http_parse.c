#include "protocols/http/http_parse.h"

#include <string.h>

/* llhttp's callbacks: 0 goes on, HPE_PAUSED stops right there, HPE_USER is an error. */

static struct http_parse *owner(llhttp_t *p)
{
    return p->data;
}

static int on_begin(llhttp_t *p)
{
    owner(p)->begun = true;
    return 0;
}

/* 1 tells llhttp that there is no body, whatever the header fields say. */
static int on_head(llhttp_t *p)
{
    struct http_parse *h = owner(p);
    unsigned status = p->status_code;

    h->in_head = false;
    if (p->http_major != 1)
        h->reason = "not HTTP/1";
    else if (status < 100)
        h->reason = "status below 100";
    else if (status == 101)
        h->reason = "switches to another protocol";
    if (h->reason)
        return -1;
    return h->no_body || status < 200 || status == 204 || status == 304;
}

static int on_body(llhttp_t *p, const char *at, size_t len)
{
    (void)at;
    owner(p)->body_bytes += len;
    return 0;
}

/* Trailers follow the last chunk; they are limited as a head is. */
static int on_chunk(llhttp_t *p)
{
    struct http_parse *h = owner(p);

    if (p->content_length)
        return 0;
    h->last_chunk = true;
    return HPE_PAUSED;
}

static int on_complete(llhttp_t *p)
{
    struct http_parse *h = owner(p);

    h->complete = true;
    h->keep_alive = llhttp_should_keep_alive(p);
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_message_begin = on_begin,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_chunk_header = on_chunk,
    .on_message_complete = on_complete,
};

static void begin(struct http_parse *h)
{
    llhttp_reset(&h->llhttp);
    h->begun = false;
    h->complete = false;
    h->in_head = true;
    h->head_bytes = 0;
    h->body_bytes = 0;
}

void http_parse_init(struct http_parse *h, bool no_body, struct http_seen *seen)
{
    memset(h, 0, sizeof(*h));
    llhttp_init(&h->llhttp, HTTP_RESPONSE, &settings);
    h->llhttp.data = h;
    h->no_body = no_body;
    h->seen = seen;
    begin(h);
}

static enum http_step bad(struct http_parse *h, const char *reason)
{
    if (!h->reason)
        h->reason = reason && *reason ? reason : "not an HTTP response";
    return HTTP_BAD;
}

/* One run of llhttp, up to where it pauses; false on an error. */
static bool run(struct http_parse *h, const char *bytes, size_t len, size_t *used)
{
    llhttp_errno_t err = llhttp_execute(&h->llhttp, bytes, len);

    *used = len;
    if (err == HPE_OK)
        return true;
    if (err != HPE_PAUSED)
        return false;
    *used = (size_t)(llhttp_get_error_pos(&h->llhttp) - bytes);
    if (!h->complete)
        llhttp_resume(&h->llhttp);
    return true;
}

/* An interim response ends here and the real one follows. */
static void skip_interim(struct http_parse *h)
{
    h->interim++;
    begin(h);
}

/* Where a response ends is told by its own bytes, so what follows does not matter. */
static bool recognise(struct http_parse *h, const char *bytes, size_t len, size_t *used)
{
    const struct http_seen *s = h->seen;

    if (!s || s->len == 0 || s->len > len || memcmp(s->bytes, bytes, s->len) != 0)
        return false;
    h->status = s->status;
    h->interim = s->interim;
    h->keep_alive = s->keep_alive;
    h->body_bytes = s->body_bytes;
    h->complete = true;
    *used = s->len;
    return true;
}

static void remember(const struct http_parse *h, const char *bytes, size_t len)
{
    struct http_seen *s = h->seen;

    if (!s || len > sizeof(s->bytes))
        return;
    s->len = len;
    s->status = h->status;
    s->interim = h->interim;
    s->keep_alive = h->keep_alive;
    s->body_bytes = h->body_bytes;
    memcpy(s->bytes, bytes, len);
}

static enum http_step parse(struct http_parse *h, const char *bytes, size_t len,
                            size_t *used)
{
    size_t at = 0;

    while (at < len) {
        size_t piece = len - at;
        size_t n;

        if (h->in_head && piece > HTTP_HEAD_MAX - h->head_bytes)
            piece = HTTP_HEAD_MAX - h->head_bytes;
        if (piece == 0)
            return bad(h, "head too large");
        if (!run(h, bytes + at, piece, &n))
            return bad(h, llhttp_get_error_reason(&h->llhttp));
        at += n;
        *used = at;
        h->head_bytes += h->in_head ? n : 0;
        if (h->last_chunk) {
            h->last_chunk = false;
            h->in_head = true;
            h->head_bytes = 0;
        }
        if (!h->complete)
            continue;
        h->status = h->llhttp.status_code;
        if (h->status >= 200)
            return HTTP_DONE;
        skip_interim(h);
    }
    return HTTP_MORE;
}

enum http_step http_parse_feed(struct http_parse *h, const char *bytes, size_t len,
                               size_t *used)
{
    bool at_begin = h->complete || (!h->begun && h->interim == 0);
    enum http_step step;

    *used = 0;
    if (h->reason)
        return HTTP_BAD;
    if (at_begin && recognise(h, bytes, len, used))
        return HTTP_DONE;
    if (h->complete) {
        begin(h);
        h->interim = 0;
    }
    step = parse(h, bytes, len, used);
    if (step == HTTP_DONE && at_begin)
        remember(h, bytes, *used);
    return step;
}

enum http_step http_parse_end(struct http_parse *h)
{
    if (h->reason)
        return HTTP_BAD;
    if (!http_parse_is_inside(h))
        return bad(h, "closed before the reply");
    if (llhttp_finish(&h->llhttp) != HPE_PAUSED && !h->complete)
        return bad(h, "closed before the end");
    h->status = h->llhttp.status_code;
    h->keep_alive = false;
    return HTTP_DONE;
}

bool http_parse_is_inside(const struct http_parse *h)
{
    return h->begun && !h->complete;
}
