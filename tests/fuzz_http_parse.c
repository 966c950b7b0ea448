/*
 * libFuzzer entry: the first byte picks HEAD or not and where the rest is cut. A
 * response must parse the same whole and cut, seen before or not, and body bytes cannot
 * exceed the input.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/http/http_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

struct outcome {
    enum http_step step;
    unsigned status, replies;
    uint64_t body_bytes;
};

static void feed(struct http_parse *h, const char *bytes, size_t len, struct outcome *o)
{
    size_t at = 0;

    while (at < len && o->step != HTTP_BAD) {
        size_t used;

        o->step = http_parse_feed(h, bytes + at, len - at, &used);
        if (used > len - at || (o->step == HTTP_MORE && used != len - at))
            abort();
        at += used;
        if (o->step != HTTP_DONE)
            continue;
        o->replies++;
        o->status = h->status;
        o->body_bytes += h->body_bytes;
    }
}

static struct outcome parse(const char *bytes, size_t len, bool head, size_t cut,
                            struct http_seen *seen)
{
    struct outcome o = {.step = HTTP_MORE};
    struct http_parse h;

    http_parse_init(&h, head, seen);
    feed(&h, bytes, cut, &o);
    feed(&h, bytes + cut, len - cut, &o);
    if (o.step != HTTP_BAD)
        o.step = http_parse_end(&h);
    if (o.step == HTTP_DONE)
        o.body_bytes += h.body_bytes;
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct http_seen seen = {0};
    struct outcome whole, others[3];
    char *copy;

    if (len == 0)
        return 0;
    copy = malloc(len);
    memcpy(copy, bytes + 1, len - 1);
    whole = parse(copy, len - 1, bytes[0] & 1, 0, NULL);
    others[0] = parse(copy, len - 1, bytes[0] & 1, (bytes[0] >> 1) % len, NULL);
    others[1] = parse(copy, len - 1, bytes[0] & 1, 0, &seen);
    others[2] = parse(copy, len - 1, bytes[0] & 1, (bytes[0] >> 1) % len, &seen);
    for (int i = 0; i < 3; i++)
        if (whole.step != others[i].step || whole.status != others[i].status ||
            whole.replies != others[i].replies ||
            whole.body_bytes != others[i].body_bytes || whole.body_bytes > len)
            abort();
    free(copy);
    return 0;
}
