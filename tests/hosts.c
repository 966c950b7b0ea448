#include "tests/hosts.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static bool are_both(void)
{
    struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
    unsigned families = 0;

    if (getaddrinfo("localhost", NULL, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        families |= a->ai_family == AF_INET ? 1 : 2;
    freeaddrinfo(list);
    return families == 3;
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ssize_t len = (ssize_t)strlen(text);
    bool done = fd >= 0 && write(fd, text, (size_t)len) == len;

    if (fd >= 0)
        close(fd);
    return done;
}

/* Who may not mount may do so as the root of a user namespace, where those are allowed.
 */
static bool leave_namespaces(void)
{
    unsigned uid = geteuid(), gid = getegid();
    char users[48], groups[48];

    if (unshare(CLONE_NEWNS) == 0)
        return true;
    snprintf(users, sizeof(users), "%u %u 1", uid, uid);
    snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", users) &&
           put("/proc/self/gid_map", groups);
}

/* An /etc of this process's own with this table of hosts and nothing else. */
static bool give_hosts(const char *table)
{
    return leave_namespaces() &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/etc", "tmpfs", 0, NULL) == 0 &&
           put("/etc/nsswitch.conf", "hosts: files\n") && put("/etc/hosts", table);
}

bool hosts_name_both(void)
{
    return are_both() ||
           (give_hosts("127.0.0.1 localhost\n::1 localhost\n") && are_both());
}

bool hosts_name_none(void)
{
    struct addrinfo *list = NULL;

    if (!give_hosts(""))
        return false;
    if (getaddrinfo("localhost", NULL, NULL, &list) != 0)
        return true;
    freeaddrinfo(list);
    return false;
}
