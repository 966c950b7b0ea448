/*
 * Any bytes as datagrams of a server. Each begins with two bytes: the length, and what
 * to do with the rest, since a fuzzer does not find a hash by itself: to take it as it
 * is, or as the variable part of a sound stamp.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/udp/datagram.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* In memory of exactly its size, so that a read beyond the end is seen. */
static void receive(struct datagram_streams *s, const unsigned char *bytes, size_t len)
{
    unsigned char *exact = malloc(len ? len : 1);
    struct datagram_stream *same, *stream;
    struct datagram_label *label;
    struct datagram d;
    uint64_t sequence, time_ns, next;

    if (!exact)
        return;
    memcpy(exact, bytes, len);
    same = datagram_same_stream(s, exact, len, &sequence, &time_ns);
    datagram_read(&d, exact, len);
    require(d.label_bytes <= len);
    if (same)
        require(d.kind == DATAGRAM_STAMPED && d.sequence == sequence &&
                d.time_ns == time_ns);
    if (d.kind == DATAGRAM_STAMPED) {
        stream = datagram_stream_find(s, &d, exact, len);
        require(!same || stream == same);
        if (stream) {
            next = stream->window.next;
            datagram_window_add(&stream->window, d.sequence, &s->budget);
            require(stream->window.next >= next && stream->window.next > d.sequence);
            require(datagram_window_add(&stream->window, d.sequence, &s->budget) ==
                    DATAGRAM_DUPLICATE);
        }
    } else {
        label = datagram_label_find(&s->labels, d.label, d.label_bytes);
        for (const char *c = label->name; *c; c++)
            require(*c >= 0x20 && *c < 0x7f);
    }
    require(s->labels.used <= DATAGRAM_LABELS && s->used <= DATAGRAM_STREAMS);
    free(exact);
}

/* The bytes as sender, sequence number, time, and what is left as the label. */
static void receive_stamped(struct datagram_streams *s, const unsigned char *bytes,
                            size_t len)
{
    unsigned char payload[DATAGRAM_LABEL_MAX + DATAGRAM_STAMP_BYTES];
    char label[DATAGRAM_LABEL_MAX + 1] = "";
    uint64_t words[2] = {0};
    struct datagram_form form;

    memcpy(words, bytes, len < sizeof(words) ? len : sizeof(words));
    if (len > sizeof(words))
        memcpy(label, bytes + sizeof(words),
               len - sizeof(words) < DATAGRAM_LABEL_MAX ? len - sizeof(words)
                                                        : DATAGRAM_LABEL_MAX);
    require(datagram_form_stamped(&form, label, 0, 1, (uint32_t)(words[1] & 3), NULL) ==
            0);
    datagram_fill(&form, payload);
    datagram_stamp(&form, payload, words[0], words[1]);
    receive(s, payload, form.size_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct datagram_streams *s = malloc(sizeof(*s));

    if (!s)
        return 0;
    datagram_streams_init(s);
    while (len >= 2) {
        size_t want = bytes[0], rest = len - 2;
        size_t step = want < rest ? want : rest;

        if (bytes[1] & 1)
            receive_stamped(s, bytes + 2, step);
        else
            receive(s, bytes + 2, step);
        bytes += 2 + step;
        len -= 2 + step;
    }
    datagram_streams_done(s);
    free(s);
    return 0;
}
