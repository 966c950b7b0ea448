#include "engine/state_dir.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *home(void)
{
    const char *path = getenv("HOME");
    const struct passwd *user;

    if (path && *path == '/')
        return path;
    user = getpwuid(getuid());
    return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir : NULL;
}

int state_dir_path(const char *name, char *path, size_t size, struct fail *fail)
{
    const char *state = getenv("XDG_STATE_HOME");
    int n;

    /* A relative path there is to be ignored (XDG Base Directory Specification). */
    if (state && *state == '/')
        n = snprintf(path, size, "%s/plimsoll/%s", state, name);
    else if (home())
        n = snprintf(path, size, "%s/.local/state/plimsoll/%s", home(), name);
    else
        return fail_set(fail, ENOENT, "store",
                        "neither XDG_STATE_HOME nor HOME says where %s are kept", name);
    return n < (int)size ? 0 : fail_set(fail, ENAMETOOLONG, "store", "%.200s", path);
}

int state_dir_make(const char *path, struct fail *fail)
{
    char part[PATH_MAX];

    for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        int len = slash ? (int)(slash - path) : (int)strlen(path);

        if (snprintf(part, sizeof(part), "%.*s", len, path) >= (int)sizeof(part))
            return fail_set(fail, ENAMETOOLONG, "store", "%.200s", path);
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return fail_set(fail, errno, "store", "making the directory %s", part);
        if (!slash)
            return 0;
    }
}
