#include "engine/cli/outlet.h"

#include <errno.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/report/export.h"

int outlets_check(const struct outlet *outlets, const struct arguments *a,
                  struct fail *fail)
{
    const char *first = NULL;

    for (const struct outlet *o = outlets; o->name; o++) {
        const char *path = arguments_flag(a, o->name);

        if (!path)
            continue;
        if (strchr(path, '\n'))
            return fail_set(fail, EINVAL, "export", "--%s was given twice", o->name);
        if (strcmp(path, "-") == 0 && first)
            return fail_set(fail, EINVAL, "export",
                            "--%s and --%s cannot both go to standard output", first,
                            o->name);
        if (strcmp(path, "-") == 0)
            first = o->name;
        if (export_check_path(path, arguments_flag(a, "force") != NULL, fail) < 0)
            return -EINVAL;
    }
    return 0;
}

int outlets_write(const struct outlet *outlets, const void *what,
                  const struct arguments *a, bool *took_stdout, int code)
{
    for (const struct outlet *o = outlets; o->name; o++) {
        const char *path = arguments_flag(a, o->name);
        struct fail fail = {0};

        if (!path)
            continue;
        *took_stdout |= strcmp(path, "-") == 0;
        export_through(o->write, what, o->name, path, arguments_flag(a, "force") != NULL,
                       &fail);
        if (fail.err)
            code = command_fails(&fail);
    }
    return code;
}
