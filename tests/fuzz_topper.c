/*
 * libFuzzer entry: the first byte picks the mode and a cut. However the bytes are
 * cut, the answers are the same; every message lies within what was given.
 */
#include <event2/buffer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/topper.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Split and answer from `from` to `end`; where the bytes left begin. */
static size_t feed(struct topper_split *s, const char *bytes, size_t from, size_t end,
                   struct evbuffer *reply)
{
    enum topper_step step;
    struct topper_message m;
    size_t used;

    do {
        step = topper_split_next(s, bytes + from, end - from, &used, &m);
        if (used > end - from || (step == TOPPER_MESSAGE && used == 0))
            abort();
        if (step == TOPPER_MESSAGE &&
            (m.text < bytes + from || m.text + m.len > bytes + from + used))
            abort();
        if (step == TOPPER_MESSAGE)
            topper_answer(s->mode, &m, reply);
        if (step == TOPPER_TOO_LONG)
            topper_answer_too_long(reply);
        from += used;
    } while (step != TOPPER_MORE);
    return from;
}

static struct evbuffer *talk(enum topper_mode mode, const char *bytes, size_t len,
                             size_t cut)
{
    struct evbuffer *reply = evbuffer_new();
    struct topper_split s;
    struct topper_message m;
    size_t at;

    topper_split_init(&s, mode);
    at = feed(&s, bytes, 0, cut, reply);
    at = feed(&s, bytes, at, len, reply);
    if (topper_split_rest(&s, bytes + at, len - at, &m))
        topper_answer(mode, &m, reply);
    return reply;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct evbuffer *whole, *cut;
    enum topper_mode mode;
    char *copy;
    size_t n;

    if (len == 0)
        return 0;
    mode = (enum topper_mode)(bytes[0] % 3);
    copy = malloc(len);
    memcpy(copy, bytes + 1, len - 1);
    whole = talk(mode, copy, len - 1, 0);
    cut = talk(mode, copy, len - 1, (bytes[0] / 3u) % len);
    n = evbuffer_get_length(whole);
    if (n != evbuffer_get_length(cut))
        abort();
    if (n && memcmp(evbuffer_pullup(whole, -1), evbuffer_pullup(cut, -1), n) != 0)
        abort();
    evbuffer_free(whole);
    evbuffer_free(cut);
    free(copy);
    return 0;
}
