#include "engine/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct export_format *const formats[] = {
#define X(id) &export_##id,
    EXPORT_LIST(X)
#undef X
        NULL,
};

const struct export_format *const *export_table(void)
{
    return formats;
}

const struct export_format *export_find(const char *name)
{
    for (size_t i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

/* Everything into the stream, and the stream into the kernel. */
static int write_all(const struct export_format *format, const struct run *r, FILE *f)
{
    int rc;

    errno = 0;
    rc = format->write(f, r);
    if (rc == 0 && (fflush(f) == EOF || ferror(f)))
        rc = errno ? -errno : -EIO;
    return rc;
}

static int write_renamed(const struct export_format *format, const struct run *r,
                         const char *path)
{
    char *temporary;
    mode_t mask = umask(0);
    FILE *f = NULL;
    int fd;
    int rc;

    umask(mask);
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return -ENOMEM;
    fd = mkstemp(temporary);
    if (fd >= 0)
        f = fdopen(fd, "w");
    if (!f) {
        rc = -errno;
        if (fd >= 0)
            close(fd);
        free(temporary);
        return rc;
    }
    rc = write_all(format, r, f);
    if (rc == 0 && (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0))
        rc = -errno;
    if (fclose(f) == EOF && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(temporary, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(temporary);
    free(temporary);
    return rc;
}

int export_to_file(const struct export_format *format, const struct run *r,
                   const char *path, int force, struct fail *fail)
{
    struct stat st;
    int rc;

    if (strcmp(path, "-") == 0) {
        rc = write_all(format, r, stdout);
    } else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        /* A device or a pipe: there is nothing to rename over. */
        FILE *f = fopen(path, "we");

        rc = f ? write_all(format, r, f) : -errno;
        if (f)
            fclose(f);
    } else if (!force && errno != ENOENT && access(path, F_OK) == 0) {
        return fail_set(fail, EEXIST, "export",
                        "%s is there already; --force replaces it", path);
    } else {
        rc = write_renamed(format, r, path);
    }
    return rc < 0 ? fail_set(fail, -rc, "export", "the %s export to %s", format->name,
                             strcmp(path, "-") == 0 ? "standard output" : path)
                  : 0;
}
