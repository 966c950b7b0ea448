/*
 * Responses of an HTTP/1.1 server, one after the other, from a stream of bytes cut
 * anywhere. The grammar is llhttp's; this module decides what a load generator must
 * decide about each response:
 *
 *  - Interim responses (1xx) are counted and skipped; 101 is an error, since no
 *    request of ours asks for another protocol.
 *  - Where the body ends (RFC 9112 section 6.3, in its order): no body after HEAD
 *    and with 1xx, 204 and 304, whatever the fields say; chunked with extensions and
 *    trailers; Content-Length; otherwise the end of the connection. Both chunked and
 *    Content-Length, or Content-Length twice, is an error.
 *  - A field's line that goes on in the next one, which begins with a blank, is read as
 *    one line (obs-fold, RFC 9112 section 5.2).
 *  - Empty lines before a response are skipped, so a stray CRLF behind a body does
 *    no harm.
 *  - A head, and the trailers of a chunked body, may have HTTP_HEAD_MAX bytes each.
 *  - Whether the connection may be used again.
 *
 * The bytes may be in a buffer that many parsers share: none of the text is kept, but for
 * the last response in `struct http_seen`. A server under load says the same again and
 * again, and bytes that were a response are the same response a second time; comparing
 * them costs a fiftieth of parsing them.
 */
#ifndef PROTOCOLS_HTTP_HTTP_PARSE_H
#define PROTOCOLS_HTTP_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llhttp.h>

#include "protocols/http/chunk_line.h"

#define HTTP_HEAD_MAX 65536u
#define HTTP_SEEN_MAX 2048u

enum http_step {
    HTTP_MORE, /* all bytes are used, the response is not complete */
    HTTP_DONE, /* one response is complete; bytes behind it are not used */
    HTTP_BAD,  /* not HTTP, or cut short; `reason` says why */
};

/*
 * The last response that came in one piece, of HTTP_SEEN_MAX bytes at most, and what it
 * was found to be. Parsers of the same kind of requests may share one. Zero bytes are a
 * valid one that has seen nothing.
 */
struct http_seen {
    size_t len;
    unsigned status, interim;
    bool keep_alive;
    uint64_t body_bytes;
    char bytes[HTTP_SEEN_MAX];
};

struct http_parse {
    /* The response: valid from HTTP_DONE to the next http_parse_feed. */
    unsigned status;
    bool keep_alive;     /* the server will take another request on this connection */
    uint64_t body_bytes; /* without chunk framing */
    unsigned interim;    /* 1xx responses that came before it */
    const char *reason;  /* of HTTP_BAD; a static phrase, "closed before the end" */

    /* Private. */
    llhttp_t llhttp;
    struct http_seen *seen;
    size_t head_bytes; /* of the head, the trailers or the extensions so far */
    bool no_body;      /* responses to HEAD */
    bool begun, in_head, complete, last_chunk;
    bool in_chunk_line;
    enum chunk_line chunk_line; /* where in it */
    bool past_status;           /* in the head: the status line has ended */
    bool in_line;               /* in the head: the present line is not empty so far */
    unsigned held; /* how many bytes of a field's CRLF wait for the next line */
};

/*
 * `no_body`: the responses are to HEAD requests. `seen` is borrowed; NULL: all is parsed.
 * Nothing is allocated.
 */
void http_parse_init(struct http_parse *h, bool no_body, struct http_seen *seen);

/*
 * Use up to `len` bytes and say how many were used. After HTTP_DONE the next call
 * begins the next response. After HTTP_BAD only http_parse_init helps. A call with
 * len 0 gives HTTP_MORE.
 */
enum http_step http_parse_feed(struct http_parse *h, const char *bytes, size_t len,
                               size_t *used);

/*
 * The connection has ended. HTTP_DONE: it was the end of the body, as the response
 * meant it to be. HTTP_BAD: the response is cut short, or there was none.
 */
enum http_step http_parse_end(struct http_parse *h);

/* Whether part of a response has been seen and its end has not. */
bool http_parse_is_inside(const struct http_parse *h);

#endif
