#include "engine/cli/outlet.h"

#include <errno.h>
#include <string.h>

#include "engine/cli/command.h"

void outlets_secrets(const struct arguments *a, struct run *const *runs, size_t count)
{
    for (size_t i = 0; i < count && arguments_flag(a, "keep-secrets"); i++)
        run_show_secrets(runs[i]);
}

/* The format before `end` that goes to the same file, or as well to standard output. */
static const struct export_format *before(const struct export_format *const *formats,
                                          const struct export_format *end,
                                          const struct arguments *a)
{
    const char *path = arguments_flag(a, end->name);

    for (; *formats != end; formats++) {
        const char *other = arguments_flag(a, (*formats)->name);
        bool standard = strcmp(path, "-") == 0;

        if (other && standard == (strcmp(other, "-") == 0) &&
            (standard || export_same_file(path, other)))
            return *formats;
    }
    return NULL;
}

int outlets_check(const struct export_format *const *formats,
                  const struct scenario *scenario, const struct arguments *a,
                  struct fail *fail)
{
    for (const struct export_format *const *f = formats; *f; f++) {
        const char *path = arguments_flag(a, (*f)->name);
        const struct export_format *other;

        if (!path)
            continue;
        if (strchr(path, '\n'))
            return fail_usage(fail, "export", "--%s was given twice", (*f)->name);
        if (export_check(*f, scenario, path, arguments_flag(a, "force") != NULL, fail) <
            0)
            return -EINVAL;
        other = before(formats, *f, a);
        if (other)
            return fail_usage(fail, "export", "--%s and --%s cannot both go to %s",
                              other->name, (*f)->name,
                              strcmp(path, "-") == 0 ? "standard output" : path);
    }
    return 0;
}

int outlets_write(const struct export_format *const *formats,
                  int (*text)(FILE *f, const void *what), const void *what,
                  const struct arguments *a, int code)
{
    bool took_stdout = false;

    for (const struct export_format *const *f = formats; *f; f++) {
        const char *path = arguments_flag(a, (*f)->name);
        struct fail fail = {0};

        if (!path)
            continue;
        took_stdout |= strcmp(path, "-") == 0;
        export_to_file(*f, what, path, arguments_flag(a, "force") != NULL, &fail);
        if (fail.err)
            code = command_fails(&fail);
    }
    if (!took_stdout && !arguments_flag(a, "quiet"))
        text(stdout, what);
    return command_flush(code);
}
