#include "engine/report/export.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct scenario *scenario_of_run(const void *what)
{
    return ((const struct run *)what)->scenario;
}

#define X(id, name, letter, extension, families, holds, help) \
    static int write_##id(FILE *f, const void *what)          \
    {                                                         \
        return export_write_##id(f, what);                    \
    }                                                         \
    static const struct export_format format_##id = {         \
        name, write_##id, extension, help, families, holds, scenario_of_run};
EXPORT_LIST(X)
#undef X

static const struct export_format *const formats[] = {
#define X(id, name, letter, extension, families, holds, help) &format_##id,
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

/* What is to be written, and where. */
struct job {
    int (*write)(FILE *f, const void *what);
    const void *what;
    const char *path;
    bool force;
};

/* Everything into the stream, and the stream into the kernel. */
static int write_all(const struct job *job, FILE *f)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = c ? uselocale(c) : (locale_t)0;
    int rc;

    errno = 0;
    rc = job->write(f, job->what);
    if (rc == 0 && (fflush(f) == EOF || ferror(f)))
        rc = errno ? -errno : -EIO;
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    return rc;
}

/* Rename; without force only to a name that is still free. */
static int rename_to(const char *temporary, const struct job *job)
{
#ifdef RENAME_NOREPLACE
    if (!job->force &&
        renameat2(AT_FDCWD, temporary, AT_FDCWD, job->path, RENAME_NOREPLACE) == 0)
        return 0;
    if (!job->force && errno != EINVAL && errno != ENOSYS)
        return -errno;
#endif
    return rename(temporary, job->path) < 0 ? -errno : 0;
}

static int write_renamed(const struct job *job)
{
    char *temporary;
    mode_t mask = umask(0);
    FILE *f = NULL;
    int fd;
    int rc;

    umask(mask);
    if (asprintf(&temporary, "%s.XXXXXX", job->path) < 0)
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
    rc = write_all(job, f);
    if (rc == 0 && (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0))
        rc = -errno;
    if (fclose(f) == EOF && rc == 0)
        rc = -errno;
    if (rc == 0)
        rc = rename_to(temporary, job);
    if (rc < 0)
        unlink(temporary);
    free(temporary);
    return rc;
}

/*
 * A device or a pipe: there is nothing to rename over. A FIFO that nobody reads is an
 * error (ENXIO) and no reason to wait for ever.
 */
static int write_special(const struct job *job)
{
    int fd = open(job->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    FILE *f = NULL;
    int rc;

    if (fd >= 0 && fcntl(fd, F_SETFL, 0) == 0)
        f = fdopen(fd, "w");
    if (!f) {
        rc = -errno;
        if (fd >= 0)
            close(fd);
        return rc;
    }
    rc = write_all(job, f);
    if (fclose(f) == EOF && rc == 0)
        rc = -errno;
    return rc;
}

#define THERE_ALREADY "%s is there already; --force replaces it"

/* A file that an export would replace; a link that leads nowhere is one as well. */
static bool is_taken(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISREG(st.st_mode);
    return lstat(path, &st) == 0;
}

static void directory_of(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    if (slash)
        snprintf(directory, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path),
                 path);
    else
        snprintf(directory, PATH_MAX, ".");
}

/* Whether a file could be made there, as far as can be told before. */
static int check_directory(const char *path, struct fail *fail)
{
    char directory[PATH_MAX];
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return fail_usage(fail, "export", "%s is a directory", path);
    directory_of(path, directory);
    if (access(directory, W_OK) < 0)
        return fail_usage(fail, "export", "no file can be made in %s: %s", directory,
                          strerror(errno));
    return 0;
}

static bool is_special(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* The file there, or as long as there is none the directory in which it would be. */
static void identify(const char *path, struct stat *st, const char **name)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');

    memset(st, 0, sizeof(*st));
    *name = "";
    if (stat(path, st) == 0)
        return;
    directory_of(path, directory);
    if (stat(directory, st) < 0)
        memset(st, 0, sizeof(*st));
    *name = slash ? slash + 1 : path;
}

bool export_same_file(const char *a, const char *b)
{
    struct stat at_a, at_b;
    const char *name_a, *name_b;

    if (is_special(a) || is_special(b))
        return false;
    identify(a, &at_a, &name_a);
    identify(b, &at_b, &name_b);
    return at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino &&
           strcmp(name_a, name_b) == 0;
}

int export_through(int (*write)(FILE *f, const void *what), const void *what,
                   const char *name, const char *path, bool force, struct fail *fail)
{
    struct job job = {write, what, path, force};
    bool standard = strcmp(path, "-") == 0;
    int rc;

    if (standard)
        rc = write_all(&job, stdout);
    else if (is_special(path))
        rc = write_special(&job);
    else if (!force && is_taken(path))
        rc = -EEXIST;
    else
        rc = write_renamed(&job);
    if (rc == -EEXIST)
        fail_say(fail, EEXIST, "export", THERE_ALREADY, path);
    else if (rc < 0 && rc != -ENODATA && !(standard && ferror(stdout)))
        fail_set(fail, -rc, "export", "the %s to %s", name,
                 standard ? "standard output" : path);
    return rc;
}

static int refused(const struct export_format *format, const struct scenario *scenario,
                   const char *why, struct fail *fail)
{
    return fail_usage(fail, "export", "--%s holds %s, and %s %s", format->name,
                      format->holds, scenario->name, why);
}

int export_check(const struct export_format *format, const struct scenario *scenario,
                 const char *path, bool force, struct fail *fail)
{
    if (scenario && !(format->families & scenario->family->bit))
        return refused(format, scenario, "has none", fail);
    if (!*path)
        return fail_usage(fail, "export",
                          "the %s export needs the name of a file, or - for standard "
                          "output",
                          format->name);
    if (strcmp(path, "-") == 0 || is_special(path))
        return 0;
    if (!force && is_taken(path))
        return fail_usage(fail, "export", THERE_ALREADY, path);
    return check_directory(path, fail);
}

int export_to_file(const struct export_format *format, const void *what, const char *path,
                   bool force, struct fail *fail)
{
    const struct scenario *scenario = format->scenario ? format->scenario(what) : NULL;
    char name[40];
    int rc;

    if (scenario && !(format->families & scenario->family->bit))
        return refused(format, scenario, "has none", fail);
    snprintf(name, sizeof(name), "%s export", format->name);
    rc = export_through(format->write, what, name, path, force, fail);
    return scenario && rc == -ENODATA ? refused(format, scenario, "measured none", fail)
                                      : rc;
}
