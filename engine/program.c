#include "engine/program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocols/array.h"

int program_find(const char *name, char *path, size_t size, struct fail *fail)
{
    static const char *const places[] = {"", "../libexec/plimsoll/"};
    const char *given = getenv("PLIMSOLL_LIBEXEC");
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (given && *given) {
        if (snprintf(path, size, "%s/%s", given, name) < (int)size &&
            access(path, X_OK) == 0)
            return 0;
        return fail_set(fail, ENOENT, "program", "%s is not in %s (PLIMSOLL_LIBEXEC)",
                        name, given);
    }
    if (n < 0)
        return fail_set(fail, errno, "program",
                        "%s is looked for beside this program, and /proc/self/exe does "
                        "not say where that is",
                        name);
    self[n] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < NUMBER_OF(places); i++) {
        if (snprintf(path, size, "%s%s%s", self, places[i], name) >= (int)size)
            continue;
        if (access(path, X_OK) == 0)
            return 0;
    }
    return fail_set(fail, ENOENT, "program", "%s is not beside this program (%s)", name,
                    self);
}
