/*
 * Buffers that the kernel copies large blocks into or out of. They begin at a page:
 * malloc puts a large block 16 bytes behind one, and some CPUs (AMD's with fast
 * `rep movsb`) copy several times slower to such an address.
 */
#ifndef PROTOCOLS_STREAM_BLOCK_H
#define PROTOCOLS_STREAM_BLOCK_H

#include <stdlib.h>

#define BLOCK_ALIGN 4096u

/* NULL when out of memory. Released by free(3). */
static inline void *block_new(size_t size_bytes)
{
    return aligned_alloc(BLOCK_ALIGN,
                         (size_bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN);
}

#endif
