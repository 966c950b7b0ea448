#include "protocols/stream/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "protocols/clock.h"
#include "protocols/random.h"
#include "protocols/stream/block.h"

#define CHUNK_BYTES (1u << 20)
#define SPARE_BYTES (512ull << 20) /* memory left to everything else */

static uint64_t read_number(const char *path)
{
    FILE *f = fopen(path, "re");
    unsigned long long n = UINT64_MAX;

    if (!f)
        return UINT64_MAX;
    if (fscanf(f, "%llu", &n) != 1)
        n = UINT64_MAX; /* "max": no limit */
    fclose(f);
    return n;
}

static uint64_t available_bytes(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    unsigned long long kib = 0;
    char line[128];

    if (!f)
        return UINT64_MAX;
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    fclose(f);
    return kib * 1024;
}

/* Memory that a container may still use: /sys/fs/cgroup is its own group there. */
static uint64_t group_bytes(void)
{
    uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
    uint64_t used = read_number("/sys/fs/cgroup/memory.current");

    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    return limit > used ? limit - used : 0;
}

static bool fits_in_memory(uint64_t size_bytes)
{
    uint64_t need = size_bytes + SPARE_BYTES;

    return need <= available_bytes() && need <= group_bytes();
}

static int unnamed_file(void)
{
    const char *directory = getenv("TMPDIR");

    if (!directory || !*directory)
        directory = "/var/tmp";
    return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

int content_begin(uint64_t size_bytes, int *fd, struct fail *fail)
{
    *fd = -1;
    if (size_bytes == 0 || size_bytes > INT64_MAX)
        return fail_usage(fail, "size", "the size must be from 1 byte to 2^63 - 1");
    if (fits_in_memory(size_bytes))
        *fd = memfd_create("plimsoll-content", MFD_CLOEXEC);
    if (*fd < 0)
        *fd = unnamed_file();
    if (*fd < 0)
        return fail_set(
            fail, errno, "content",
            "no temporary file can be made (TMPDIR or /var/tmp) and memory is "
            "too short for %llu bytes",
            (unsigned long long)size_bytes);
    return 0;
}

/* Written, not mapped: a page fault costs far more than the copy of a page. */
int content_extend(int fd, uint64_t size_bytes, uint64_t seed, uint64_t *done_bytes,
                   struct fail *fail)
{
    uint64_t left = size_bytes - *done_bytes;
    size_t len = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    uint64_t *words = block_new(CHUNK_BYTES);
    uint64_t state = random_skip(seed, *done_bytes / 8);
    int err = words ? 0 : -ENOMEM;

    if (!err) {
        for (size_t i = 0; i < (len + 7) / 8; i++)
            words[i] = random_next(&state);
        err = write_all(fd, (const char *)words, len);
    }
    free(words);
    if (err)
        return fail_set(fail, -err, "content", "%llu random bytes cannot be stored",
                        (unsigned long long)size_bytes);
    *done_bytes += len;
    return 0;
}

/* The whole at once, for a process that has nothing else to do meanwhile. */
static int make_whole(uint64_t size_bytes, uint64_t seed, int *fd, struct fail *fail)
{
    uint64_t done = 0;
    int err = content_begin(size_bytes, fd, fail);

    while (!err && done < size_bytes)
        err = content_extend(*fd, size_bytes, seed, &done, fail);
    if (err && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return err;
}

/* Say what is wrong with a file before the transfer finds out. */
static int check_file(const struct content *c, const struct stat *st, const char *path,
                      struct fail *fail)
{
    if (S_ISDIR(st->st_mode))
        return fail_usage(fail, "file", "--file %.200s is a directory, not a file", path);
    if (!S_ISREG(st->st_mode))
        return fail_usage(
            fail, "file",
            "--file %.200s is not a regular file, so it has no size to send", path);
    if (c->size_bytes == 0)
        return fail_usage(fail, "file",
                          "--file %.200s is empty: there is nothing to send", path);
    return 0;
}

static int open_file(struct content *c, const char *path, struct fail *fail)
{
    struct stat st;
    int err;

    /* Non-blocking, so that a FIFO without a writer is refused and not waited for. */
    c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (c->fd < 0 || fstat(c->fd, &st) < 0)
        return fail_usage(fail, "file", "--file %.200s cannot be read: %s", path,
                          strerror(errno));
    c->size_bytes = (uint64_t)st.st_size;
    err = check_file(c, &st, path, fail);
    if (err)
        content_close(c);
    return err;
}

/* Prepared content that is too short is as good as none: it is made anew. */
static bool open_prepared(struct content *c, const char *path, uint64_t size_bytes)
{
    if (!*path || open_file(c, path, NULL) != 0)
        return false;
    if (c->size_bytes >= size_bytes) {
        c->size_bytes = size_bytes;
        return true;
    }
    content_close(c);
    return false;
}

int content_open(struct content *c, const struct options *o, struct fail *fail)
{
    const char *file = options_text(o, OPTION_file, "");
    uint64_t size_bytes = options_number(o, OPTION_size, 1ull << 30);

    c->fd = -1;
    if (*file)
        return open_file(c, file, fail);
    if (size_bytes > 0 &&
        open_prepared(c, options_text(o, OPTION_content, ""), size_bytes))
        return 0;
    c->size_bytes = size_bytes;
    return make_whole(size_bytes, now_ns() ^ (uint64_t)getpid() << 32, &c->fd, fail);
}

int content_check(const struct options *o, struct fail *fail)
{
    const char *file = options_text(o, OPTION_file, "");
    struct content c = {.fd = -1};
    int err = *file ? open_file(&c, file, fail) : 0;

    content_close(&c);
    return err;
}

void content_close(struct content *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

int content_crc32(const struct content *c, uint32_t *crc, struct fail *fail)
{
    unsigned char *bytes = block_new(CHUNK_BYTES);
    uint64_t done = 0;
    ssize_t n = bytes ? 1 : -1;

    *crc = 0;
    while (n > 0 && done < c->size_bytes) {
        uint64_t left = c->size_bytes - done;

        n = pread(c->fd, bytes, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES,
                  (off_t)done);
        if (n > 0) {
            *crc = (uint32_t)crc32(*crc, bytes, (uInt)n);
            done += (uint64_t)n;
        }
    }
    free(bytes);
    if (done == c->size_bytes)
        return 0;
    return fail_set(fail, n < 0 ? errno : EIO, "file",
                    "only %llu of %llu bytes of the file could be read",
                    (unsigned long long)done, (unsigned long long)c->size_bytes);
}
