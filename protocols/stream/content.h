/*
 * What a bulk transfer sends: the user's own file, or made-up random bytes that no
 * layer can compress. Random content is a file without a name: memory (memfd), or
 * an unlinked temporary file when memory is short. Its owner may lend it to other
 * processes as /proc/PID/fd/N; it is gone when the last of them closes it.
 */
#ifndef PROTOCOLS_STREAM_CONTENT_H
#define PROTOCOLS_STREAM_CONTENT_H

#include <stdint.h>

#include "protocols/fail.h"
#include "protocols/options.h"

struct content {
    int fd; /* a regular file, read by explicit offsets only; -1 when not open */
    uint64_t size_bytes;
};

/*
 * A new file without a name, to hold `size_bytes` pseudo-random bytes. Filling it takes
 * a while, so it is done in slices between which its maker can look after other
 * things: content_extend writes the next slice of at most 1 MiB and adds its length to
 * *done_bytes, which begins at 0; the bytes are the same for the same seed. Both give
 * 0, or a negative errno with a sentence; a size of 0 is an error. *fd closes on exec;
 * the caller closes it.
 */
int content_begin(uint64_t size_bytes, int *fd, struct fail *fail);
int content_extend(int fd, uint64_t size_bytes, uint64_t seed, uint64_t *done_bytes,
                   struct fail *fail);

/*
 * The content that the options name: `file` (the user's: its own size counts), else
 * `content` (a path that holds `size` bytes already, used if it can be opened), else
 * `size` bytes made here. A file that is missing, unreadable, not a regular file, or
 * empty gives a sentence.
 */
int content_open(struct content *c, const struct options *o, struct fail *fail);
void content_close(struct content *c);

/* What content_open would say of the option `file`; nothing is made or kept open. */
int content_check(const struct options *o, struct fail *fail);

/* The CRC-32 of the whole content as zlib's crc32(): reads it once, about 1 GB/s. */
int content_crc32(const struct content *c, uint32_t *crc, struct fail *fail);

#endif
