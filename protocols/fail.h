/*
 * The first thing that went wrong, in a form that a person can read. Functions
 * that can fail for reasons a user must see take a `struct fail *`; they return
 * 0 or a negative errno and fill it. The first failure wins: a later one (mostly
 * its consequence) does not overwrite it. Printing is left to the edge of the
 * program.
 */
#ifndef PROTOCOLS_FAIL_H
#define PROTOCOLS_FAIL_H

#include <stdbool.h>

struct fail {
    int err;            /* errno value, positive; 0: nothing failed yet */
    bool usage;         /* what was asked for is wrong, not what came of it */
    char step[32];      /* what was being done, one word or two: "listen" */
    char sentence[320]; /* for the user: lower case, without a final full stop */
};

/*
 * Three ways to record a failure, unless one is recorded already. What was typed may be
 * echoed as it is: the sentence is made printable (protocols/utf8.h). Each returns the
 * negative errno, so that `return fail_set(...)` is the idiom. `f` may be a null pointer.
 *
 *   fail_set    something could not be done: ": strerror(err)" is appended
 *   fail_say    the same where the sentence says everything; err is for the program
 *   fail_usage  a value, an option or a file that the user gave is wrong: -EINVAL, and
 *               the program ends with the exit code of wrong usage
 */
int fail_set(struct fail *f, int err, const char *step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int fail_say(struct fail *f, int err, const char *step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int fail_usage(struct fail *f, const char *step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
