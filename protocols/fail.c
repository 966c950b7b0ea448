#include "protocols/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocols/utf8.h"

/* `err` is positive; `why` is appended where it is not NULL. */
static int record(struct fail *f, int err, const char *step, const char *why,
                  const char *format, va_list args) __attribute__((format(printf, 5, 0)));

static int record(struct fail *f, int err, const char *step, const char *why,
                  const char *format, va_list args)
{
    int n;

    if (!f || f->err)
        return -err;
    f->err = err;
    snprintf(f->step, sizeof(f->step), "%s", step);
    n = vsnprintf(f->sentence, sizeof(f->sentence), format, args);
    if (why && n >= 0 && (size_t)n < sizeof(f->sentence))
        snprintf(f->sentence + n, sizeof(f->sentence) - (size_t)n, ": %s", why);
    utf8_printable(f->sentence);
    return -err;
}

int fail_set(struct fail *f, int err, const char *step, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = record(f, err, step, strerror(err), format, args);
    va_end(args);
    return rc;
}

int fail_say(struct fail *f, int err, const char *step, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = record(f, err, step, NULL, format, args);
    va_end(args);
    return rc;
}

int fail_usage(struct fail *f, const char *step, const char *format, ...)
{
    bool is_first = f && !f->err;
    va_list args;
    int rc;

    va_start(args, format);
    rc = record(f, EINVAL, step, NULL, format, args);
    va_end(args);
    if (is_first)
        f->usage = true;
    return rc;
}
