#include "engine/line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "engine/channel.h"
#include "protocols/buffer.h"

#define CHUNK 65536

void line_reader_done(struct line_reader *r)
{
    free(r->text);
}

static int make_room(struct line_reader *r)
{
    if (r->taken > 0) {
        memmove(r->text, r->text + r->taken, r->used - r->taken);
        r->used -= r->taken;
        r->taken = 0;
    }
    if (r->used + CHUNK > r->room && r->used > CHANNEL_LINE_MAX)
        return -EMSGSIZE;
    return buffer_reserve(&r->text, &r->room, r->used + CHUNK);
}

static int fill(struct line_reader *r)
{
    ssize_t n;
    int rc = make_room(r);

    if (rc < 0)
        return rc;
    do
        n = read(r->fd, r->text + r->used, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    r->input_ended = n == 0;
    r->used += (size_t)n;
    return 0;
}

int line_reader_next(struct line_reader *r, const char **line, size_t *len)
{
    size_t searched = 0;
    int rc = r->text ? 0 : fill(r);

    while (rc == 0) {
        const char *begin = r->text + r->taken;
        const char *end =
            r->used > r->taken + searched
                ? memchr(begin + searched, '\n', r->used - r->taken - searched)
                : NULL;

        if (!end && r->input_ended && r->used > r->taken)
            end = r->text + r->used;
        if (end) {
            *line = begin;
            *len = (size_t)(end - begin);
            r->taken += *len + (end < r->text + r->used);
            r->number++;
            return 1;
        }
        if (r->input_ended)
            return 0;
        searched = r->used - r->taken;
        rc = fill(r);
    }
    return rc;
}

bool line_reader_at_end(const struct line_reader *r)
{
    return r->input_ended && r->taken == r->used;
}

int line_reader_rewind(struct line_reader *r)
{
    if (lseek(r->fd, 0, SEEK_SET) < 0)
        return -errno;
    r->used = r->taken = r->number = 0;
    r->input_ended = false;
    return 0;
}
