#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"
#include "protocols/http/header.h"
#include "protocols/http/http_request.h"

static void good(const char *line, const char *name, const char *value)
{
    struct headers h = {0};
    struct fail fail = {0};

    assert_int_equal(headers_add(&h, line, &fail), 0);
    assert_int_equal(h.count, 1);
    assert_string_equal(h.list[0].name, name);
    assert_string_equal(h.list[0].value, value);
    headers_done(&h);
}

static void bad(const char *line, const char *word)
{
    struct headers h = {0};
    struct fail fail = {0};

    if (headers_add(&h, line, &fail) != -EINVAL)
        fail_msg("'%s' was not refused", line);
    if (!strstr(fail.sentence, word))
        fail_msg("'%s': '%s' does not say '%s'", line, fail.sentence, word);
    assert_int_equal(h.count, 0);
    headers_done(&h);
}

static void three_spellings(void **state)
{
    (void)state;
    good("Content-Type: application/json", "Content-Type", "application/json");
    good("Content-Type:Application/json", "Content-Type", "Application/json");
    good("Content-Type=application/json", "Content-Type", "application/json");
    good("X-Key:a=b:c", "X-Key", "a=b:c");
    good("X-Key=a:b=c", "X-Key", "a:b=c");
    good("Cookie: a=1; b=2", "Cookie", "a=1; b=2");
    good("X: \t padded \t ", "X", "padded");
    good("X:", "X", "");
    good("X=", "X", "");
    good("X: {\"a\": [1]}", "X", "{\"a\": [1]}");
    good("X: a\tb", "X", "a\tb");
    good("X: \xc3\xa9", "X", "\xc3\xa9");
    good("!#$%&'*+-.^_`|~9: x", "!#$%&'*+-.^_`|~9", "x");
}

static void refused(void **state)
{
    (void)state;
    bad("", "Name: value");
    bad("no separator", "Name: value");
    bad("NoSeparator", "Name: value");
    bad(": value", "Name: value");
    bad("= value", "Name: value");
    bad("Name : value", "Name: value");
    bad("(Name): value", "Name: value");
    bad("X: a\r\nEvil: b", "line end");
    bad("X: a\nEvil: b", "line end");
    bad("X: a\r", "line end");
    bad("X\n: a", "line end");
    bad("X: a\x01", "control");
    bad("X: a\x7f", "control");
}

static void one_host_only(void **state)
{
    struct headers h = {0};
    struct fail fail = {0};

    (void)state;
    assert_int_equal(headers_add_lines(&h, "Host: a\nX: 1\n\nX: 2\n", &fail), 0);
    assert_int_equal(h.count, 3);
    assert_string_equal(headers_get(&h, "hOST"), "a");
    assert_string_equal(headers_get(&h, "x"), "1");
    assert_null(headers_get(&h, "Y"));
    assert_int_equal(headers_add(&h, "host=b", &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "two Host"));
    headers_done(&h);
}

/* Build with the given header lines; the whole request as a string. */
static char *build(const char *method, const char *lines, const char *body, bool close)
{
    struct headers h = {0};
    struct http_request r;
    struct fail fail = {0};
    char *text = NULL;

    assert_int_equal(headers_add_lines(&h, lines, &fail), 0);
    struct http_request_args args = {
        .method = method,
        .target = "/sum",
        .authority = "localhost:9000",
        .headers = &h,
        .body = body,
        .body_len = body ? strlen(body) : 0,
        .close = close,
    };
    if (http_request_build(&r, &args, &fail) == 0) {
        text = strndup(r.bytes, r.len);
        assert_int_equal(r.len - r.head_len, args.body_len);
        assert_memory_equal(r.bytes + r.head_len - 4, "\r\n\r\n", 4);
        if (close)
            assert_true(r.close);
        http_request_done(&r);
    } else {
        assert_true(strlen(fail.sentence) > 10);
    }
    headers_done(&h);
    return text;
}

static void requests(void **state)
{
    char *t = build("POST", "Content-Type:Application/json", "{}", false);

    (void)state;
    assert_string_equal(t,
                        "POST /sum HTTP/1.1\r\nHost: localhost:9000\r\n"
                        "User-Agent: plimsoll/" PLIMSOLL_VERSION "\r\n"
                        "Content-Type: Application/json\r\nContent-Length: 2\r\n\r\n{}");
    free(t);
    t = build("GET", "Host: other\nUser-Agent: me", NULL, true);
    assert_string_equal(t, "GET /sum HTTP/1.1\r\nHost: other\r\nUser-Agent: me\r\n"
                           "Connection: close\r\n\r\n");
    free(t);
    t = build("POST", "User-Agent: me", NULL, false);
    assert_non_null(strstr(t, "\r\nContent-Length: 0\r\n\r\n"));
    free(t);
    t = build("POST", "Content-Length: 2", "ab", false);
    assert_non_null(t);
    assert_null(strstr(strstr(t, "Content-Length") + 1, "Content-Length"));
    free(t);
}

static void impossible_requests(void **state)
{
    (void)state;
    assert_null(build("POST", "Content-Length: 3", "ab", false));
    assert_null(build("POST", "Transfer-Encoding: chunked", "ab", false));
    assert_null(build("CONNECT", "", NULL, false));
    assert_null(build("GE T", "", NULL, false));
    assert_null(build("", "", NULL, false));
    assert_null(build("GET\r\n", "", NULL, false));
}

static void body_is_bytes(void **state)
{
    static const char body[] = "a\0b\r\n\xff";
    struct headers h = {0};
    struct http_request r;
    struct http_request_args args = {"PUT", "/", "h", &h, body, sizeof(body) - 1, false};

    (void)state;
    assert_int_equal(http_request_build(&r, &args, NULL), 0);
    assert_memory_equal(r.bytes + r.head_len, body, sizeof(body) - 1);
    assert_false(r.close);
    http_request_done(&r);
}

static void users_connection_header(void **state)
{
    static const struct {
        const char *line;
        bool close;
    } cases[] = {
        {"Connection: close", true},      {"connection=Close", true},
        {"Connection: x, close", true},   {"Connection: keep-alive", false},
        {"Connection: not-close", false}, {"Connection: closed", false},
        {"Connection: close ,x", true},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        struct headers h = {0};
        struct http_request r;
        struct http_request_args args = {"GET", "/", "h", &h, NULL, 0, false};

        assert_int_equal(headers_add(&h, cases[i].line, NULL), 0);
        assert_int_equal(http_request_build(&r, &args, NULL), 0);
        assert_int_equal(r.close, cases[i].close);
        http_request_done(&r);
        headers_done(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_spellings),         cmocka_unit_test(refused),
        cmocka_unit_test(one_host_only),           cmocka_unit_test(requests),
        cmocka_unit_test(impossible_requests),     cmocka_unit_test(body_is_bytes),
        cmocka_unit_test(users_connection_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
