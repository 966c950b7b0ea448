#include "protocols/socket_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocols/array.h"
#include "protocols/clock.h"

static bool is_directory(const char *path)
{
    struct stat st;

    return path && *path == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * In memory where there is such a place: a named-pipe client makes and removes two
 * FIFOs for each connection, which ext4 takes ten times as long for as tmpfs.
 */
static const char *parent_directory(void)
{
    const char *const candidates[] = {getenv("XDG_RUNTIME_DIR"), "/dev/shm",
                                      getenv("TMPDIR")};

    for (size_t i = 0; i < NUMBER_OF(candidates); i++)
        if (is_directory(candidates[i]) && access(candidates[i], W_OK | X_OK) == 0)
            return candidates[i];
    return "/tmp";
}

static void directory_name(char *name, size_t size)
{
    snprintf(name, size, "plimsoll-%u", (unsigned)getuid());
}

/* The private directory; one that others could write to is not private. */
static int private_directory(char *path, size_t size, struct fail *fail)
{
    char name[32];
    struct stat st;

    directory_name(name, sizeof(name));
    if ((size_t)snprintf(path, size, "%s/%s", parent_directory(), name) >= size)
        return fail_set(fail, ENAMETOOLONG, "directory", "%.100s is too long a path",
                        parent_directory());
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return fail_set(fail, errno, "directory", "the directory %s cannot be made",
                        path);
    if (lstat(path, &st) < 0)
        return fail_set(fail, errno, "directory", "the directory %s cannot be used",
                        path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077))
        return fail_usage(
            fail, "directory",
            "%s is not a private directory of this user (owner and mode 0700), "
            "so no socket is put there",
            path);
    return 0;
}

int socket_path_private(char *path, size_t size, const char *stem, struct fail *fail)
{
    char directory[PATH_MAX];
    int err = private_directory(directory, sizeof(directory), fail);

    if (err)
        return err;
    if ((size_t)snprintf(path, size, "%s/%s-%d-%llx", directory, stem, (int)getpid(),
                         (unsigned long long)(now_ns() & 0xffffffffu)) >= size) {
        rmdir(directory);
        return fail_usage(
            fail, "path",
            "the directory %.150s is too long for a socket path, which has at "
            "most %zu bytes: give a path or set XDG_RUNTIME_DIR",
            directory, size - 1);
    }
    return 0;
}

static bool socket_answers(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int err;

    if (fd < 0)
        return true; /* unknown: better to leave the file alone */
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    err = connect(fd, (const void *)&address, sizeof(address)) < 0 ? errno : 0;
    close(fd);
    return err != ECONNREFUSED && err != ENOENT;
}

static bool fifo_has_reader(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    int err = errno;

    if (fd >= 0)
        close(fd);
    return fd >= 0 || (err != ENXIO && err != ENOENT);
}

struct kind {
    mode_t type;
    const char *noun;
    bool (*in_use)(const char *path);
};

static int clear_path(const char *path, const struct kind *kind, struct fail *fail)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : fail_set(fail, errno, "path", "%.200s", path);
    if ((st.st_mode & S_IFMT) != kind->type) {
        fail_usage(
            fail, "path",
            "%.200s exists and is not a %s, so it is left alone: give another path", path,
            kind->noun);
        return -EEXIST;
    }
    if (kind->in_use(path))
        return fail_set(fail, EADDRINUSE, "listen", "a server listens at %.200s already",
                        path);
    if (unlink(path) < 0 && errno != ENOENT)
        return fail_set(fail, errno, "path", "the stale %s %.200s cannot be removed",
                        kind->noun, path);
    return 0;
}

int socket_path_clear(const char *path, struct fail *fail)
{
    static const struct kind sockets = {S_IFSOCK, "socket", socket_answers};

    return clear_path(path, &sockets, fail);
}

int socket_path_clear_fifo(const char *path, struct fail *fail)
{
    static const struct kind fifos = {S_IFIFO, "named pipe", fifo_has_reader};

    return clear_path(path, &fifos, fail);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text);

    return len > strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

void socket_path_clear_pairs(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t base_len = strlen(base);
    char directory[PATH_MAX];
    struct stat st;
    DIR *d;

    snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    d = opendir(directory);
    if (!d)
        return;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (strncmp(e->d_name, base, base_len) != 0 || e->d_name[base_len] != '.' ||
            !(ends_with(e->d_name, ".up") || ends_with(e->d_name, ".down")))
            continue;
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISFIFO(st.st_mode) && st.st_uid == getuid())
            unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
}

/* Whether a file of the private directory is "STEM-PID-N", of that process. */
static bool is_of_process(const char *name, pid_t pid)
{
    const char *dash = strchr(name, '-');
    char middle[24];

    snprintf(middle, sizeof(middle), "-%ld-", (long)pid);
    return dash && strncmp(dash, middle, strlen(middle)) == 0 && !strchr(dash, '.');
}

void socket_path_clear_process(pid_t pid)
{
    char directory[PATH_MAX - 32];
    char path[PATH_MAX + NAME_MAX];
    char name[32];
    DIR *d;

    directory_name(name, sizeof(name));
    if ((size_t)snprintf(directory, sizeof(directory), "%s/%s", parent_directory(),
                         name) >= sizeof(directory))
        return;
    d = opendir(directory);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (!is_of_process(e->d_name, pid))
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
        if (socket_path_clear(path, NULL) < 0 && socket_path_clear_fifo(path, NULL) == 0)
            socket_path_clear_pairs(path);
    }
    if (d)
        closedir(d);
    rmdir(directory); /* fails while other files are there, as it should */
}

void socket_path_leave(const char *path)
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX];
    char name[32];

    if (!slash)
        return;
    snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
    directory_name(name + 1, sizeof(name) - 1);
    name[0] = '/';
    if (ends_with(directory, name))
        rmdir(directory); /* fails while other files are there, as it should */
}
