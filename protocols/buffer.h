/* Buffers of bytes that grow. */
#ifndef PROTOCOLS_BUFFER_H
#define PROTOCOLS_BUFFER_H

#include <errno.h>
#include <stdlib.h>

/*
 * Room for `size` bytes at *bytes, which has room for *room (NULL and 0 at first): as it
 * is, or grown to twice what it was or to `size`, whichever is more. 0, or -ENOMEM, and
 * then nothing has changed.
 */
static inline int buffer_reserve(char **bytes, size_t *room, size_t size)
{
    size_t wanted = size < 2 * *room ? 2 * *room : size;
    char *grown;

    if (size <= *room)
        return 0;
    grown = realloc(*bytes, wanted);
    if (!grown)
        return -ENOMEM;
    *bytes = grown;
    *room = wanted;
    return 0;
}

#endif
