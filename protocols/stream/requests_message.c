/* The message of small requests: declared in requests.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/stream/block.h"
#include "protocols/stream/requests.h"

#define MESSAGE_MAX (64ull << 20)

static uint64_t message_bytes(const struct options *o)
{
    uint64_t len_bytes = options_number(o, OPTION_message_size, 0);

    return len_bytes ? len_bytes
                     : strlen(options_text(o, OPTION_message, REQUEST_MESSAGE));
}

int request_message_check(const struct options *o, struct fail *fail)
{
    if (!*options_text(o, OPTION_message, REQUEST_MESSAGE))
        return fail_usage(fail, "message",
                          "--message is empty: each request sends at least 1 byte");
    if (message_bytes(o) > MESSAGE_MAX)
        return fail_usage(fail, "message", "--message has more than %llu bytes",
                          MESSAGE_MAX);
    return 0;
}

int request_message_init(struct request_message *m, const struct options *o,
                         struct fail *fail)
{
    const char *text = options_text(o, OPTION_message, REQUEST_MESSAGE);
    size_t text_len = strlen(text);
    int err = request_message_check(o, fail);

    if (err)
        return err;
    m->len_bytes = (size_t)message_bytes(o);
    m->bytes = block_new(m->len_bytes);
    if (!m->bytes)
        return fail_set(fail, ENOMEM, "message", "there is no memory for the message");
    for (size_t i = 0; i < m->len_bytes; i++)
        m->bytes[i] = text[i % text_len];
    return 0;
}

void request_message_done(struct request_message *m)
{
    free(m->bytes);
    m->bytes = NULL;
}
