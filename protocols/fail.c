#include "protocols/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocols/utf8.h"

int fail_set(struct fail *f, int err, const char *step, const char *format, ...)
{
    va_list args;
    int n;

    if (!f || f->err)
        return -err;
    f->err = err;
    snprintf(f->step, sizeof(f->step), "%s", step);
    va_start(args, format);
    n = vsnprintf(f->sentence, sizeof(f->sentence), format, args);
    va_end(args);
    if (err != EINVAL && n >= 0 && (size_t)n < sizeof(f->sentence))
        snprintf(f->sentence + n, sizeof(f->sentence) - (size_t)n, ": %s", strerror(err));
    utf8_printable(f->sentence);
    return -err;
}
