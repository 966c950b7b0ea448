#include "engine/cli/outlet.h"

#include <errno.h>
#include <string.h>

#include "engine/cli/command.h"

void outlets_secrets(const struct arguments *a, struct run *const *runs, size_t count)
{
    for (size_t i = 0; i < count && arguments_flag(a, "keep-secrets"); i++)
        run_show_secrets(runs[i]);
}

int outlets_check(const struct export_format *const *formats,
                  const struct scenario *scenario, const struct arguments *a,
                  struct fail *fail)
{
    const char *first = NULL;

    for (const struct export_format *const *f = formats; *f; f++) {
        const char *path = arguments_flag(a, (*f)->name);

        if (!path)
            continue;
        if (strchr(path, '\n'))
            return fail_usage(fail, "export", "--%s was given twice", (*f)->name);
        if (strcmp(path, "-") == 0 && first)
            return fail_usage(fail, "export",
                              "--%s and --%s cannot both go to standard output", first,
                              (*f)->name);
        if (strcmp(path, "-") == 0)
            first = (*f)->name;
        if (export_check(*f, scenario, path, arguments_flag(a, "force") != NULL, fail) <
            0)
            return -EINVAL;
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
