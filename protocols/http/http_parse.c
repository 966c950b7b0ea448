#include "protocols/http/http_parse.h"

#include <string.h>

#define BAD_LINE "malformed status or field line"

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

static void begin_chunk_line(struct http_parse *h)
{
    h->in_chunk_line = true;
    h->chunk_line = CHUNK_SIZE;
    h->head_bytes = 0;
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
        h->reason = BAD_LINE;
    else if (status == 101)
        h->reason = "switches to another protocol";
    if (h->reason)
        return -1;
    if (h->no_body || status < 200 || status == 204 || status == 304)
        return 1;
    if (p->flags & F_CHUNKED)
        begin_chunk_line(h);
    return 0;
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

/* The last one is complete at the end of its trailers. */
static int on_chunk_end(llhttp_t *p)
{
    if (owner(p)->in_head)
        return 0;
    begin_chunk_line(owner(p));
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
    .on_chunk_complete = on_chunk_end,
    .on_message_complete = on_complete,
};

/* A head, or trailers, which are as a head past its status line. */
static void begin_head(struct http_parse *h, bool past_status)
{
    h->in_head = true;
    h->head_bytes = 0;
    h->past_status = past_status;
    h->in_line = false;
    h->held = 0;
    /* Content-Length in a trailer says nothing, and is no error in all versions. */
    llhttp_set_lenient_chunked_length(&h->llhttp, past_status);
}

static void begin(struct http_parse *h)
{
    llhttp_reset(&h->llhttp);
    h->begun = false;
    h->complete = false;
    h->body_bytes = 0;
    begin_head(h, false);
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
        h->reason = reason;
    return HTTP_BAD;
}

/* What llhttp stumbled over. Its own words, and finer distinctions, vary by version. */
static const char *stumbled(const struct http_parse *h)
{
    switch (llhttp_get_errno(&h->llhttp)) {
    case HPE_INVALID_CONSTANT:
        return "no HTTP/ at the beginning";
    case HPE_INVALID_VERSION:
        return "unknown version of HTTP";
    case HPE_INVALID_CONTENT_LENGTH:
    case HPE_UNEXPECTED_CONTENT_LENGTH:
    case HPE_INVALID_TRANSFER_ENCODING:
        return "malformed Content-Length, or one beside Transfer-Encoding";
    default:
        return h->in_head ? BAD_LINE : "malformed chunk";
    }
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

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* In a line that may go on in the next one. */
static bool in_field(const struct http_parse *h)
{
    return h->past_status && h->in_line;
}

static void end_line(struct http_parse *h)
{
    h->past_status = h->past_status || h->in_line;
    h->in_line = false;
}

/* What stands behind the bytes of a head that are for llhttp as they are. */
enum behind { BEHIND_NOTHING, BEHIND_LINE_END, BEHIND_FAULT };

/*
 * Walk over the lines of a head and say how many bytes are for llhttp as they are: all,
 * those up to its end, those before a line end that must wait for what is behind it, or
 * before a fault.
 */
static size_t walk_lines(struct http_parse *h, const char *bytes, size_t len,
                         enum behind *behind)
{
    size_t at = 0;

    *behind = BEHIND_FAULT;
    while (at < len) {
        const char *lf = memchr(bytes + at, '\n', len - at);
        size_t end = lf ? (size_t)(lf - bytes) : len;
        size_t text = end > at && bytes[end - 1] == '\r' ? end - 1 : end;

        if (h->past_status && !h->in_line && bytes[at] == ':')
            return at; /* no name */
        h->in_line = h->in_line || text > at;
        if (lf && text == end && (h->past_status || h->in_line))
            return text; /* no CR */
        *behind = text < len ? BEHIND_LINE_END : BEHIND_NOTHING;
        if (!lf || (in_field(h) && (end + 1 == len || is_blank(bytes[end + 1]))))
            return text;
        *behind = BEHIND_NOTHING;
        if (h->past_status && !h->in_line)
            return end + 1; /* the end of the head */
        *behind = BEHIND_FAULT;
        end_line(h);
        at = end + 1;
    }
    *behind = BEHIND_NOTHING;
    return len;
}

/* The next byte says what the line end was that waits: that, or a blank in the line. */
static bool settle_line(struct http_parse *h, char next, size_t *used)
{
    bool folds = h->held == 2 && is_blank(next);
    size_t n;

    *used = folds;
    if (h->held == 1 && next == '\n') {
        *used = 1;
        h->held = 2;
        if (in_field(h))
            return true;
    } else if (h->held == 1) {
        h->in_line = true; /* a CR alone is a part of the line */
    }
    n = folds ? 1 : h->held;
    if (h->held == 2 && !folds)
        end_line(h);
    h->held = 0;
    return run(h, folds ? " " : "\r\n", n, &n);
}

/*
 * Versions of llhttp differ in what they take for a line: here a line ends with CRLF, and
 * a field goes on in a next line that begins with a blank (obs-fold), which is as if the
 * line end were a blank, too.
 */
static bool run_head(struct http_parse *h, const char *bytes, size_t len, size_t *used)
{
    enum behind behind;
    size_t n;

    if (h->held > 0)
        return settle_line(h, *bytes, used);
    n = walk_lines(h, bytes, len, &behind);
    if (behind == BEHIND_NOTHING)
        return run(h, bytes, n, used);
    if (n > 0 && !run(h, bytes, n, used))
        return false;
    if (behind == BEHIND_FAULT)
        h->reason = BAD_LINE;
    h->held = n + 1 < len ? 2 : 1;
    *used = n + h->held;
    return behind != BEHIND_FAULT;
}

/* The size is for llhttp, the extensions are not; the line end is again. */
static bool run_chunk_line(struct http_parse *h, const char *bytes, size_t len,
                           size_t *used)
{
    size_t n = 0;

    while (h->chunk_line == CHUNK_SIZE && n < len && !strchr(" \t;\r", bytes[n]))
        n++;
    h->in_chunk_line = n == len || bytes[n] != '\r';
    if (n > 0)
        return run(h, bytes, h->in_chunk_line ? n : len, used);
    while (n < len && bytes[n] != '\r' && chunk_line_take(&h->chunk_line, bytes[n]))
        n++;
    *used = n;
    h->head_bytes += n;
    if (h->head_bytes > HTTP_HEAD_MAX)
        h->reason = "chunk extensions too large";
    if (n == len)
        return !h->reason;
    h->in_chunk_line = false;
    return !h->reason && bytes[n] == '\r' && chunk_line_may_end(h->chunk_line);
}

/* An interim response ends here and the real one follows. */
static void skip_interim(struct http_parse *h)
{
    h->interim++;
    begin(h);
}

/* A response says by its own bytes where it ends, so what follows does not matter. */
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
        size_t n = 0;

        if (h->in_head && piece > HTTP_HEAD_MAX - h->head_bytes)
            piece = HTTP_HEAD_MAX - h->head_bytes;
        if (piece == 0)
            return bad(h, "head too large");
        if (h->in_head         ? !run_head(h, bytes + at, piece, &n)
            : h->in_chunk_line ? !run_chunk_line(h, bytes + at, piece, &n)
                               : !run(h, bytes + at, piece, &n))
            return bad(h, stumbled(h));
        at += n;
        *used = at;
        h->head_bytes += h->in_head ? n : 0;
        if (h->last_chunk) {
            h->last_chunk = false;
            begin_head(h, true);
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
