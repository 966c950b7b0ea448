#include "protocols/udp/udp_drops.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "protocols/array.h"

#define TRIES 10 /* to find a socket in a list that changes */

uint64_t udp_drops_advance(struct udp_drops *d, uint32_t count)
{
    uint32_t more = count - d->latest;

    if (more == 0 || more > INT32_MAX)
        return 0;
    d->latest = count;
    d->total += more;
    return more;
}

int udp_drops_attached(const struct msghdr *message, uint32_t *count)
{
    struct msghdr *m = (struct msghdr *)message; /* CMSG_NXTHDR takes no const */

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
            memcpy(count, CMSG_DATA(c), sizeof(*count));
            return 0;
        }
    return -ENODATA;
}

int udp_drops_ask(int fd, uint32_t *count, uint64_t *queued_bytes)
{
    uint32_t words[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(words);

    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, words, &len) < 0 ||
        len <= SK_MEMINFO_DROPS * sizeof(words[0]))
        return -ENOTSUP;
    *count = words[SK_MEMINFO_DROPS];
    *queued_bytes = words[SK_MEMINFO_RMEM_ALLOC];
    return 0;
}

/* Fields of a line: ... uid timeout inode ref pointer drops. */
static int find_inode(FILE *list, uint64_t inode, uint64_t *count)
{
    char line[512];

    while (fgets(line, sizeof(line), list)) {
        uint64_t line_inode, drops;

        if (sscanf(line,
                   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %*s %*s %" SCNu64,
                   &line_inode, &drops) == 2 &&
            line_inode == inode) {
            *count = drops;
            return 0;
        }
    }
    return -ENOENT;
}

static int search(uint64_t inode, uint64_t *count)
{
    static const char *const lists[] = {"/proc/self/net/udp", "/proc/self/net/udp6"};
    int err = -ENOENT;

    for (size_t i = 0; i < NUMBER_OF(lists) && err < 0; i++) {
        FILE *list = fopen(lists[i], "re");

        if (!list)
            continue;
        err = find_inode(list, inode, count);
        fclose(list);
    }
    return err;
}

/*
 * The kernel writes the list in pieces and finds its place again by counting, so a
 * socket is skipped when others are closed meanwhile: hence several tries.
 */
int udp_drops_listed(int fd, uint64_t *count)
{
    struct stat status;
    int err = -ENOENT;

    if (fstat(fd, &status) < 0)
        return -ENOENT;
    for (int i = 0; i < TRIES && err < 0; i++)
        err = search(status.st_ino, count);
    return err;
}
