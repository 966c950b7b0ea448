/*
 * The first thing that went wrong, in a form that a person can read. Functions
 * that can fail for reasons a user must see take a `struct fail *`; they return
 * 0 or a negative errno and fill it. The first failure wins: a later one (mostly
 * its consequence) does not overwrite it. Printing is left to the edge of the
 * program.
 */
#ifndef PROTOCOLS_FAIL_H
#define PROTOCOLS_FAIL_H

struct fail {
    int err;            /* errno value, positive; 0: nothing failed yet */
    char step[32];      /* what was being done, one word or two: "listen" */
    char sentence[320]; /* for the user, without a final full stop */
};

/*
 * Record a failure unless one is recorded already. `err` is a positive errno
 * value; ": strerror" is appended to the formatted sentence unless err is EINVAL,
 * for which the sentence must say everything. What was typed may be echoed as it is:
 * the sentence is made printable (protocols/utf8.h). Returns -err, so that
 * `return fail_set(...)` is the idiom. `f` may be a null pointer.
 */
int fail_set(struct fail *f, int err, const char *step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
