/*
 * Any bytes as a datagram. The first byte picks how the rest is cut into datagrams,
 * so that one input can hold several that belong together.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/datagram.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* In memory of exactly its size, so that a read beyond the end is seen. */
static void receive(struct datagram_streams *s, const uint8_t *bytes, size_t len)
{
    unsigned char *exact = malloc(len ? len : 1);
    struct datagram d;
    struct datagram_stream *stream;
    uint64_t sequence, time_ns;

    if (!exact)
        return;
    memcpy(exact, bytes, len);
    stream = datagram_same_stream(s, exact, len, &sequence, &time_ns);
    datagram_read(&d, exact, len);
    if (stream && (d.kind != DATAGRAM_STAMPED || d.sequence != sequence))
        abort();
    if (d.label_bytes > len)
        abort();
    if (d.kind == DATAGRAM_STAMPED) {
        stream = datagram_stream_find(s, &d, exact, len);
        if (stream)
            datagram_window_add(&stream->window, d.sequence, &s->budget);
    } else {
        datagram_label_find(&s->labels, d.label, d.label_bytes);
    }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct datagram_streams *s = malloc(sizeof(*s));
    size_t step = len ? bytes[0] : 0;

    if (!s)
        return 0;
    datagram_streams_init(s);
    for (size_t at = 1; at < len; at += step + 1)
        receive(s, bytes + at, step < len - at ? step : len - at);
    datagram_streams_done(s);
    free(s);
    return 0;
}
