#include "protocols/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#define FDS_MAX 8

/*
 * Descriptors that a step before theirs would overwrite are moved out of the way
 * first. `moved` receives what the caller must close.
 */
static int move_low(int *fds, int *moved, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] == SPAWN_NULL || fds[i] >= (int)i)
            continue;
        moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, (int)count);
        if (moved[i] < 0)
            return -errno;
        fds[i] = moved[i];
    }
    return 0;
}

/* adddup2 of a descriptor onto itself clears close-on-exec (POSIX.1-2024, glibc 2.29). */
static int add_actions(posix_spawn_file_actions_t *actions, const int *fds, size_t count)
{
    int err = 0;

    for (size_t i = 0; i < count && !err; i++)
        err = fds[i] == SPAWN_NULL
                  ? posix_spawn_file_actions_addopen(actions, (int)i, "/dev/null", O_RDWR,
                                                     0)
                  : posix_spawn_file_actions_adddup2(actions, fds[i], (int)i);
    return -err;
}

int spawn_start(pid_t *pid, char *const argv[], const int *fds, size_t count)
{
    posix_spawn_file_actions_t actions;
    int from[FDS_MAX];
    int moved[FDS_MAX];
    int err;

    if (count > FDS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        from[i] = fds[i];
        moved[i] = -1;
    }
    err = -posix_spawn_file_actions_init(&actions);
    if (err)
        return err;
    err = move_low(from, moved, count);
    if (!err)
        err = add_actions(&actions, from, count);
    if (!err)
        err = -posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < count; i++)
        if (moved[i] >= 0)
            close(moved[i]);
    return err;
}
