/*
 * Each response of the table is fed whole, byte by byte, and cut in two at every
 * place; all must give the same. Bytes are in allocations of their exact size, so
 * that a sanitizer sees a read beyond them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"
#include "protocols/http/http_parse.h"

#define OK11 "HTTP/1.1 200 OK\r\n"
#define LEN(n) "Content-Length: " #n "\r\n"
#define BAD_LINE "!malformed status or field line"
#define BAD_LENGTH "!malformed Content-Length, or one beside Transfer-Encoding"
#define BAD_CHUNK "!malformed chunk"
#define BAD_VERSION "!unknown version of HTTP"
#define NO_HTTP "!no HTTP/ at the beginning"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

/*
 * What is expected is written as the parser's steps: "200+5" a response with 5 body
 * bytes after which the connection may be used again, "200-5" one after which it may
 * not, "^200-5" one that the end of the connection ended, "!REASON" an error, "." an
 * end of the connection between responses. (2) behind a status: interim responses.
 */
static const struct {
    const char *name, *bytes, *steps;
    bool head;
} cases[] = {
    /* RFC 9112 section 6.3, items 1 and 2: no body whatever the fields say. */
    {"head with length", OK11 LEN(5) "\r\n", "200+0 .", true},
    {"head with chunked", OK11 CHUNKED "\r\n", "200+0 .", true},
    {"head without length", OK11 "\r\n", "200+0 .", true},
    {"two heads", OK11 LEN(5) "\r\n" OK11 LEN(5) "\r\n", "200+0 200+0 .", true},
    {"204 with length", "HTTP/1.1 204 No\r\n" LEN(5) "\r\n", "204+0 .", false},
    {"204 bare", "HTTP/1.1 204 No\r\n\r\n", "204+0 .", false},
    {"304 with length", "HTTP/1.1 304 Not\r\n" LEN(99) "\r\n", "304+0 .", false},
    {"304 with chunked", "HTTP/1.1 304 Not\r\n" CHUNKED "\r\n", "304+0 .", false},
    {"304 then 200", "HTTP/1.1 304 N\r\n\r\n" OK11 LEN(1) "\r\nx", "304+0 200+1 .",
     false},
    {"304 close", "HTTP/1.1 304 N\r\nConnection: close\r\n\r\n", "304-0 .", false},

    /* Interim responses (RFC 9110 section 15.2). */
    {"100 then 200", "HTTP/1.1 100 Continue\r\n\r\n" OK11 LEN(2) "\r\nhi", "200(1)+2 .",
     false},
    {"102, 103, 200",
     "HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\nLink: </a>\r\n\r\n" OK11 LEN(0) "\r\n",
     "200(2)+0 .", false},
    {"100 with length", "HTTP/1.1 100 C\r\n" LEN(4) "\r\n" OK11 LEN(0) "\r\n",
     "200(1)+0 .", false},
    {"100 before head", "HTTP/1.1 100 C\r\n\r\n" OK11 LEN(4) "\r\n", "200(1)+0 .", true},
    {"100 counts for one", "HTTP/1.1 100 C\r\n\r\n" OK11 LEN(0) "\r\n" OK11 LEN(0) "\r\n",
     "200(1)+0 200+0 .", false},
    {"100 and the end", "HTTP/1.1 100 C\r\n\r\n", ".", false},
    {"101", "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhi",
     "!switches to another protocol", false},
    {"101 without upgrade", "HTTP/1.1 101 S\r\n\r\n", "!switches to another protocol",
     false},
    {"upgrade offered", OK11 "Upgrade: h2c\r\nConnection: Upgrade\r\n" LEN(2) "\r\nhi",
     "200+2 .", false},

    /* Items 3 and 4: chunked. */
    {"one chunk", OK11 CHUNKED "\r\n5\r\nhello\r\n0\r\n\r\n", "200+5 .", false},
    {"two chunks", OK11 CHUNKED "\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "200+6 .",
     false},
    {"no chunk", OK11 CHUNKED "\r\n0\r\n\r\n", "200+0 .", false},
    {"chunk size in hex", OK11 CHUNKED "\r\nA\r\n0123456789\r\n0\r\n\r\n", "200+10 .",
     false},
    {"leading zeros", OK11 CHUNKED "\r\n0005\r\nhello\r\n000\r\n\r\n", "200+5 .", false},
    {"extension", OK11 CHUNKED "\r\n5;a=b\r\nhello\r\n0;last\r\n\r\n", "200+5 .", false},
    {"quoted extension", OK11 CHUNKED "\r\n5;a=\"b c\"\r\nhello\r\n0\r\n\r\n", "200+5 .",
     false},
    {"extensions of all kinds",
     OK11 CHUNKED
     "\r\n5;a=b;c=\"d e\"\r\nhello\r\n1; a=b\r\n!\r\n"
     "2 ;a ;\tb = \"x;\\\"=\\\\\" ; c=\"\"\r\nhi\r\n00;z=\"\xc3\xa9\"\r\n\r\n" OK11 LEN(
         1) "\r\na",
     "200+8 200+1 .", false},
    {"extension and trailers",
     OK11 CHUNKED "\r\n1;a=\"b\"\r\nx\r\n0;c\r\nA: b\r\n\r\n" OK11 LEN(0) "\r\n",
     "200+1 200+0 .", false},
    {"blanks behind the size", OK11 CHUNKED "\r\n5  \r\nhello\r\n0 \r\n\r\n", "200+5 .",
     false},
    {"extension without a size", OK11 CHUNKED "\r\n;a=b\r\nhello\r\n", BAD_CHUNK, false},
    {"extension without a name", OK11 CHUNKED "\r\n5;=b\r\nhello\r\n", BAD_CHUNK, false},
    {"extension without a value", OK11 CHUNKED "\r\n5;a=\r\nhello\r\n", BAD_CHUNK, false},
    {"extension that is no word", OK11 CHUNKED "\r\n5;a b\r\nhello\r\n", BAD_CHUNK,
     false},
    {"extension with an open quote", OK11 CHUNKED "\r\n5;a=\"b\r\nhello\r\n", BAD_CHUNK,
     false},
    {"extension with a line end", OK11 CHUNKED "\r\n5;a=\"b\n\"\r\nhello\r\n", BAD_CHUNK,
     false},
    {"number behind the size", OK11 CHUNKED "\r\n5 5\r\nhello\r\n", BAD_CHUNK, false},
    {"trailers", OK11 CHUNKED "\r\n5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n", "200+5 .",
     false},
    {"trailers then next",
     OK11 CHUNKED "\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n" OK11 LEN(0) "\r\n", "200+1 200+0 .",
     false},
    {"length in the trailers",
     OK11 CHUNKED "\r\n1\r\nx\r\n0\r\n" LEN(5) "\r\n" OK11 LEN(1) "\r\ny",
     "200+1 200+1 .", false},
    {"upper case", OK11 "TRANSFER-ENCODING: CHUNKED\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
     "200+2 .", false},
    {"gzip and chunked",
     OK11 "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "200+2 .",
     false},
    {"CRLF in a chunk", OK11 CHUNKED "\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n", "200+4 .", false},
    {"chunked and close", OK11 CHUNKED "Connection: close\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
     "200-2 .", false},
    {"gzip last", OK11 "Transfer-Encoding: gzip\r\n\r\nhi", "^200-2", false},
    {"chunked cut short", OK11 CHUNKED "\r\n5\r\nhel", "!closed before the end", false},
    {"no last chunk", OK11 CHUNKED "\r\n2\r\nhi\r\n", "!closed before the end", false},
    {"trailers cut short", OK11 CHUNKED "\r\n0\r\nA: b\r\n", "!closed before the end",
     false},
    {"size is no number", OK11 CHUNKED "\r\nxyz\r\n", BAD_CHUNK, false},
    {"size negative", OK11 CHUNKED "\r\n-1\r\n", BAD_CHUNK, false},
    {"size overflows", OK11 CHUNKED "\r\nfffffffffffffffff\r\n", BAD_CHUNK, false},
    {"no CRLF after chunk", OK11 CHUNKED "\r\n2\r\nhiXX0\r\n\r\n", BAD_CHUNK, false},

    /* Item 3: both at once, in either order. */
    {"chunked and length", OK11 CHUNKED LEN(2) "\r\nhi", BAD_LENGTH, false},
    {"length and chunked", OK11 LEN(2) CHUNKED "\r\nhi", BAD_LENGTH, false},

    /* Items 5 and 6: Content-Length. */
    {"length", OK11 LEN(5) "\r\nhello", "200+5 .", false},
    {"length 0", OK11 LEN(0) "\r\n", "200+0 .", false},
    {"three in a row", OK11 LEN(1) "\r\na" OK11 LEN(0) "\r\n" OK11 LEN(2) "\r\nbc",
     "200+1 200+0 200+2 .", false},
    {"length with blanks", OK11 "Content-Length:   2  \r\n\r\nhi", "200+2 .", false},
    {"cut short", OK11 LEN(9) "\r\nhi", "!closed before the end", false},
    {"two lengths", OK11 LEN(2) LEN(3) "\r\nhi", BAD_LENGTH, false},
    {"length twice", OK11 LEN(2) LEN(2) "\r\nhi", BAD_LENGTH, false},
    {"list of lengths", OK11 "Content-Length: 2, 3\r\n\r\nhi", BAD_LENGTH, false},
    {"negative", OK11 LEN(-2) "\r\nhi", BAD_LENGTH, false},
    {"plus sign", OK11 "Content-Length: +2\r\n\r\nhi", BAD_LENGTH, false},
    {"hex", OK11 LEN(0x2) "\r\nhi", BAD_LENGTH, false},
    {"overflow", OK11 LEN(99999999999999999999999) "\r\n", BAD_LENGTH, false},

    /* Item 8: up to the end of the connection. */
    {"until close", OK11 "\r\nhello", "^200-5", false},
    {"until close, empty", OK11 "\r\n", "^200-0", false},
    {"until close, looks like next", OK11 "\r\n" OK11, "^200-17", false},
    {"404 until close", "HTTP/1.1 404 No\r\n\r\ngone", "^404-4", false},

    /* Keep-alive (RFC 9112 section 9.3). */
    {"close", OK11 "Connection: close\r\n" LEN(2) "\r\nhi", "200-2 .", false},
    {"close in a list", OK11 "Connection: x, Close\r\n" LEN(0) "\r\n", "200-0 .", false},
    {"1.0", "HTTP/1.0 200 OK\r\n" LEN(2) "\r\nhi", "200-2 .", false},
    {"1.0 keep-alive", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n" LEN(2) "\r\nhi",
     "200+2 .", false},
    {"1.0 until close", "HTTP/1.0 200 OK\r\n\r\nhi", "^200-2", false},

    /* Line ends around and in the head. */
    {"stray CRLF", OK11 LEN(2) "\r\nhi\r\n" OK11 LEN(0) "\r\n", "200+2 200+0 .", false},
    {"many stray CRLFs", "\r\n\r\n\n" OK11 LEN(0) "\r\n\r\n\r\n", "200+0 .", false},
    {"bare CR", "HTTP/1.1 200 OK\rX: y\r\n\r\n", BAD_LINE, false},
    {"bare LF", "HTTP/1.1 200 OK\nX: y\n\n", BAD_LINE, false},
    {"status line ended by LF", "HTTP/1.1 200 OK\nX: y\r\n\r\n", BAD_LINE, false},
    {"head ended by LF", OK11 "X: y\r\n\n", BAD_LINE, false},
    {"no name", OK11 ": y\r\n" LEN(0) "\r\n", BAD_LINE, false},
    {"blank before colon", OK11 "Content-Length : 0\r\n\r\n", BAD_LINE, false},
    {"no colon", OK11 "abc\r\n\r\n", BAD_LINE, false},
    {"control in value",
     OK11 "X: a\x01"
          "b\r\n\r\n",
     BAD_LINE, false},
    {"8-bit value", OK11 "X: \xe9\r\n" LEN(0) "\r\n", "200+0 .", false},
    {"empty value", OK11 "X:\r\n" LEN(0) "\r\n", "200+0 .", false},

    /* Folded fields: a line end before a blank is a blank (RFC 9112 section 5.2). */
    {"folded field", OK11 "X: a\r\n b\r\n" LEN(0) "\r\n", "200+0 .", false},
    {"folded by a tab", OK11 "X: a\r\n\tb\r\n" LEN(0) "\r\n", "200+0 .", false},
    {"folded twice", OK11 "X: a\r\n b\r\n  c\r\n" LEN(0) "\r\n", "200+0 .", false},
    {"folded field at the end", OK11 LEN(1) "X: a\r\n b\r\n\r\nx", "200+1 .", false},
    {"folded to nothing", OK11 "X:\r\n \r\n \r\n" LEN(1) "\r\nx", "200+1 .", false},
    {"folded length", OK11 "Content-Length:\r\n 2\r\n\r\nhi", "200+2 .", false},
    {"length folded between digits", OK11 "Content-Length: 1\r\n 2\r\n\r\nhi", BAD_LENGTH,
     false},
    {"close folded by a tab", OK11 "Connection: close\r\n\t, x\r\n" LEN(1) "\r\nx",
     "200-1 .", false},
    {"folded close", OK11 "Connection: x,\r\n close\r\n" LEN(1) "\r\nx", "200-1 .",
     false},
    {"close folded behind keep-alive",
     OK11 "Connection: keep-alive,\r\n close\r\n" LEN(1) "\r\nx", "200-1 .", false},
    {"chunked folded behind gzip",
     OK11 "Transfer-Encoding: gzip,\r\n chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200+1 .",
     false},
    {"folded trailer", OK11 CHUNKED "\r\n1\r\nx\r\n0\r\nA: b\r\n c\r\n\r\n", "200+1 .",
     false},
    {"folded in an interim", "HTTP/1.1 103 E\r\nX: a\r\n b\r\n\r\n" OK11 LEN(1) "\r\nx",
     "200(1)+1 .", false},
    {"folded behind stray CRLFs",
     "\r\n\r\n" OK11 "X: a\r\n b\r\n" LEN(1) "\r\nx" OK11 LEN(0) "\r\n", "200+1 200+0 .",
     false},
    {"body that looks folded", OK11 LEN(4) "\r\n\r\n \n" OK11 LEN(0) "\r\n",
     "200+4 200+0 .", false},
    {"blank before the first field", OK11 " X: a\r\n\r\n", BAD_LINE, false},
    {"tab before the first field", OK11 "\tX: a\r\n\r\n", BAD_LINE, false},
    {"blank before the first trailer", OK11 CHUNKED "\r\n0\r\n A: b\r\n\r\n", BAD_LINE,
     false},
    {"control in a folded line", OK11 "X: a\r\n b\x01\r\n\r\n", BAD_LINE, false},
    {"bare CR before a blank", OK11 "X: a\r b\r\n\r\n", BAD_LINE, false},
    {"bare LF before a blank", OK11 "X: a\n b\r\n\r\n", BAD_LINE, false},
    {"cut at a fold", OK11 "X: a\r\n ", "!closed before the end", false},

    /* Status lines. */
    {"no reason phrase", "HTTP/1.1 200\r\n" LEN(0) "\r\n", "200+0 .", false},
    {"empty reason phrase", "HTTP/1.1 200 \r\n" LEN(0) "\r\n", "200+0 .", false},
    {"long reason", "HTTP/1.1 503 Come back another day, please\r\n" LEN(0) "\r\n",
     "503+0 .", false},
    {"unknown status", "HTTP/1.1 799 Hm\r\n" LEN(0) "\r\n", "799+0 .", false},
    {"status 099", "HTTP/1.1 099 Hm\r\n" LEN(0) "\r\n", BAD_LINE, false},
    {"status of two digits", "HTTP/1.1 20 OK\r\n" LEN(0) "\r\n", BAD_LINE, false},
    {"status of four digits", "HTTP/1.1 2000 OK\r\n" LEN(0) "\r\n", BAD_LINE, false},
    {"status no number", "HTTP/1.1 abc OK\r\n\r\n", BAD_LINE, false},
    {"HTTP/2", "HTTP/2 200 OK\r\n\r\n", BAD_VERSION, false},
    {"HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", "!not HTTP/1", false},
    {"HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", BAD_VERSION, false},
    {"HTTP/0.9", "HTTP/0.9 200 OK\r\n\r\n", "!not HTTP/1", false},
    {"lower case", "http/1.1 200 OK\r\n\r\n", NO_HTTP, false},
    {"no HTTP at all", "SSH-2.0-OpenSSH_9.2\r\n", NO_HTTP, false},
    {"no HTTP and LF", "220 smtp ready\n", NO_HTTP, false},
    {"a page without a head", "<html>hello</html>", NO_HTTP, false},
    {"a request", "GET / HTTP/1.1\r\n\r\n", NO_HTTP, false},

    /* Ends of the connection. */
    {"nothing", "", ".", false},
    {"only CRLF", "\r\n", ".", false},
    {"CRs and LFs before", "\r\r\n\n" OK11 LEN(2) "\r\nhi", BAD_LINE, false},
    {"CRs before", "\r\r\n\r\n" OK11 LEN(2) "\r\nhi", "200+2 .", false},
    {"half a status line", "HTTP/1.1 2", "!closed before the end", false},
    {"half a head", OK11 "X: y\r\n", "!closed before the end", false},
};

static __attribute__((format(printf, 2, 3))) void append(char *steps, const char *format,
                                                         ...)
{
    size_t used = strlen(steps);
    va_list args;

    va_start(args, format);
    vsnprintf(steps + used, 200 - used, format, args);
    va_end(args);
}

static void append_reply(char *steps, const struct http_parse *h, const char *before)
{
    append(steps, "%s%u", before, h->status);
    if (h->interim)
        append(steps, "(%u)", h->interim);
    append(steps, "%c%llu ", h->keep_alive ? '+' : '-',
           (unsigned long long)h->body_bytes);
}

/* Feed one piece; false after an error. */
static bool feed(struct http_parse *h, const char *bytes, size_t len, char *steps)
{
    char *copy = malloc(len ? len : 1);
    size_t at = 0;

    memcpy(copy, bytes, len);
    while (at < len) {
        size_t used;
        enum http_step step = http_parse_feed(h, copy + at, len - at, &used);

        at += used;
        if (step == HTTP_BAD) {
            append(steps, "!%s", h->reason);
            break;
        }
        if (step == HTTP_DONE)
            append_reply(steps, h, "");
        else
            assert_int_equal(at, len);
    }
    free(copy);
    return h->reason == NULL;
}

/* Pieces of `piece` bytes, the first one `first` bytes long. */
static void parse_with(struct http_seen *seen, const char *bytes, size_t len, bool head,
                       size_t first, size_t piece, char *steps)
{
    struct http_parse h;
    size_t at = 0;

    steps[0] = '\0';
    http_parse_init(&h, head, seen);
    while (at < len) {
        size_t n = at == 0 && first ? first : piece;

        n = n < len - at ? n : len - at;
        if (!feed(&h, bytes + at, n, steps))
            return;
        at += n;
    }
    if (http_parse_is_inside(&h) && http_parse_end(&h) == HTTP_DONE)
        append_reply(steps, &h, "^");
    else if (h.reason)
        append(steps, "!%s", h.reason);
    else if (http_parse_end(&h) == HTTP_BAD)
        append(steps, ".");
}

static void parse(const char *bytes, size_t len, bool head, size_t first, size_t piece,
                  char *steps)
{
    parse_with(NULL, bytes, len, head, first, piece, steps);
}

static bool agrees(const char *got, const char *expected)
{
    const char *error = strchr(expected, '!');
    size_t before = error ? (size_t)(error - expected) : strlen(expected);

    if (strncmp(got, expected, before) != 0)
        return false;
    if (!error)
        return strspn(got + before, " ") == strlen(got + before);
    return strcmp(got + before, error) == 0;
}

static void table(void **state)
{
    char got[200];
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        size_t len = strlen(cases[i].bytes);

        for (size_t first = 0; first <= len; first++) {
            parse(cases[i].bytes, len, cases[i].head, first, first ? len : 1, got);
            if (agrees(got, cases[i].steps))
                continue;
            print_error("%s, cut at %zu: expected '%s', got '%s'\n", cases[i].name, first,
                        cases[i].steps, got);
            wrong++;
            break;
        }
    }
    assert_int_equal(wrong, 0);
}

/* A head of exactly the limit passes, one byte more does not, at any cut. */
static void head_limit(void **state)
{
    static const char start[] = OK11 "X: ";
    static const char end[] = "\r\n" LEN(0) "\r\n";
    char *bytes = malloc(2 * HTTP_HEAD_MAX);
    char got[200];

    (void)state;
    for (size_t over = 0; over < 2; over++) {
        size_t fill = HTTP_HEAD_MAX - strlen(start) - strlen(end) + over;
        size_t len = HTTP_HEAD_MAX + over;
        size_t pieces[] = {len, 1, 1000, HTTP_HEAD_MAX - 1};

        memcpy(bytes, start, strlen(start));
        memset(bytes + strlen(start), 'a', fill);
        memcpy(bytes + strlen(start) + fill, end, strlen(end));
        for (size_t i = 0; i < 4; i++) {
            parse(bytes, len, false, 0, pieces[i], got);
            assert_true(agrees(got, over ? "!head too large" : "200+0 ."));
        }
    }
    free(bytes);
}

static void trailer_limit(void **state)
{
    static const char start[] = OK11 CHUNKED "\r\n1\r\nx\r\n0\r\nX: ";
    size_t len = strlen(start) + 2 * HTTP_HEAD_MAX;
    char *bytes = malloc(len);
    char got[200];

    (void)state;
    memset(bytes, 'a', len);
    memcpy(bytes, start, strlen(start));
    parse(bytes, len, false, 0, len, got);
    assert_true(agrees(got, "!head too large"));
    parse(bytes, len, false, 0, 77, got);
    assert_true(agrees(got, "!head too large"));
    free(bytes);
}

static void extension_limit(void **state)
{
    static const char start[] = OK11 CHUNKED "\r\n1;";
    size_t len = strlen(start) + 2 * HTTP_HEAD_MAX;
    char *bytes = malloc(len);
    char got[200];

    (void)state;
    memset(bytes, 'a', len);
    memcpy(bytes, start, strlen(start));
    parse(bytes, len, false, 0, len, got);
    assert_true(agrees(got, "!chunk extensions too large"));
    parse(bytes, len, false, 0, 77, got);
    assert_true(agrees(got, "!chunk extensions too large"));
    free(bytes);
}

/* The limit is the head's: a large body, or many responses, are not held against it. */
static void limit_spares_bodies(void **state)
{
    static const char head[] = OK11 LEN(1000000) "\r\n";
    size_t len = strlen(head) + 1000000;
    char *bytes = calloc(1, len);
    char got[200];

    (void)state;
    memcpy(bytes, head, strlen(head));
    parse(bytes, len, false, 0, 4096, got);
    assert_true(agrees(got, "200+1000000 ."));
    free(bytes);
}

static void nothing_after_an_error(void **state)
{
    struct http_parse h;
    size_t used;

    (void)state;
    http_parse_init(&h, false, NULL);
    assert_int_equal(http_parse_feed(&h, "nonsense", 8, &used), HTTP_BAD);
    assert_int_equal(http_parse_feed(&h, OK11 LEN(0) "\r\n", 38, &used), HTTP_BAD);
    assert_int_equal(used, 0);
    assert_int_equal(http_parse_end(&h), HTTP_BAD);
    http_parse_init(&h, false, NULL);
    assert_int_equal(http_parse_feed(&h, OK11 LEN(0) "\r\n", 38, &used), HTTP_DONE);
}

/* Every case again, by a parser that has seen it, whole and in pieces. */
static void seen_before(void **state)
{
    char got[200], again[200];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        size_t len = strlen(cases[i].bytes);
        struct http_seen seen = {0};

        for (size_t piece = 1; piece <= len + 1; piece++) {
            parse(cases[i].bytes, len, cases[i].head, 0, len, got);
            parse_with(&seen, cases[i].bytes, len, cases[i].head, 0, len, got);
            parse_with(&seen, cases[i].bytes, len, cases[i].head, piece, len, again);
            assert_string_equal(again, got);
        }
    }
}

/* What differs in one byte from the response seen last is another response. */
static void nearly_seen_before(void **state)
{
    static const char *const replies[] = {
        OK11 LEN(2) "\r\nab",
        OK11 LEN(2) "\r\nac",
        OK11 LEN(3) "\r\nabc",
        "HTTP/1.1 404 No\r\n" LEN(2) "\r\nab",
        OK11 LEN(2) "Connection: close\r\n\r\nab",
    };
    size_t n = NUMBER_OF(replies);
    struct http_seen seen = {0};
    char got[200], expected[200];

    (void)state;
    for (size_t i = 0; i < n * n; i++) {
        char both[400];

        snprintf(both, sizeof(both), "%s%s%s", replies[i / n], replies[i % n],
                 replies[i / n]);
        parse(both, strlen(both), false, 0, sizeof(both), expected);
        parse_with(&seen, both, strlen(both), false, 0, sizeof(both), got);
        assert_string_equal(got, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(head_limit),
        cmocka_unit_test(trailer_limit),
        cmocka_unit_test(extension_limit),
        cmocka_unit_test(limit_spares_bodies),
        cmocka_unit_test(nothing_after_an_error),
        cmocka_unit_test(seen_before),
        cmocka_unit_test(nearly_seen_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
