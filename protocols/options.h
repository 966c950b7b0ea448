/*
 * Named values that a role is started with. The engine owns the descriptions
 * (type, range, default, help: engine/param.h), checks what a person typed and
 * fills this; a role reads what it needs once, when it is prepared. Numbers are in
 * the base unit of their kind: bytes, messages, nanoseconds, per second; a flag is
 * 0 or 1; a choice is its text.
 */
#ifndef PROTOCOLS_OPTIONS_H
#define PROTOCOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_value {
    char *name;
    char *text; /* NULL for a number */
    uint64_t number;
};

/* Zero bytes are a valid empty set. */
struct options {
    size_t count;
    struct option_value *values;
};

void options_done(struct options *o);

/* Set or replace; the text is copied. 0 or -ENOMEM. */
int options_set_number(struct options *o, const char *name, uint64_t number);
int options_set_text(struct options *o, const char *name, const char *text);

/* Set all that `from` holds in `to`, which keeps what else it has. 0 or -ENOMEM. */
int options_copy(struct options *to, const struct options *from);

/*
 * The value of a name, or `fallback` when it is not set or is of the other kind.
 * Texts are borrowed: valid until the name is set again or options_done.
 */
uint64_t options_number(const struct options *o, const char *name, uint64_t fallback);
const char *options_text(const struct options *o, const char *name, const char *fallback);

/* Whether a choice has this value: options_is(o, "direction", "both"). */
bool options_is(const struct options *o, const char *name, const char *text);

#endif
