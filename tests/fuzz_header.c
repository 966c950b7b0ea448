/* libFuzzer entry: any text as header lines; no request built of them has a stray line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/http/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static size_t count_lines(const char *bytes, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += bytes[i] == '\r' || bytes[i] == '\n';
    return n;
}

/* Two bytes end each line: request line, Host, User-Agent, the fields, empty line. */
static void check(const struct headers *h)
{
    struct http_request_args args = {
        .method = "GET", .target = "/", .authority = "h", .headers = h};
    struct http_request r;
    size_t lines = h->count + 2;

    if (http_request_build(&r, &args, NULL) < 0)
        return;
    lines += !headers_get(h, "Host");
    lines += !headers_get(h, "User-Agent");
    if (count_lines(r.bytes, r.len) != 2 * lines)
        abort();
    http_request_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);
    struct headers h = {0};
    struct fail fail = {0};

    memcpy(text, bytes, len);
    text[len] = '\0';
    if (headers_add_lines(&h, text, &fail) == 0)
        check(&h);
    else if (!fail.sentence[0])
        abort();
    headers_done(&h);
    free(text);
    return 0;
}
