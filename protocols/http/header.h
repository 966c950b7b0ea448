/*
 * Header fields of a request, as a person writes them:
 *
 *   Name: value    Name:value    Name=value
 *
 * The name is a token (RFC 9110 section 5.6.2); it ends at the first ':' or '=',
 * and everything behind that is the value, without the blanks around it. A value
 * may be empty and may hold any byte but control characters, so CR and LF cannot
 * smuggle in a second field; a tab is allowed.
 */
#ifndef PROTOCOLS_HTTP_HEADER_H
#define PROTOCOLS_HTTP_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "protocols/fail.h"

struct header {
    char *name; /* as written */
    char *value;
};

/* Zero bytes are a valid empty list. Fields stand in the order they were added. */
struct headers {
    size_t count;
    struct header *list;
};

void headers_done(struct headers *h);

/*
 * Add one line. A second Host is refused, since a request with two is invalid
 * (RFC 9112 section 3.2). 0, -EINVAL with a sentence, or -ENOMEM.
 */
int headers_add(struct headers *h, const char *line, struct fail *fail);

/* Add every line of a text in which lines are joined by '\n'; empty ones are skipped. */
int headers_add_lines(struct headers *h, const char *lines, struct fail *fail);

/* The value of the first field of that name, in any case; NULL when there is none. */
const char *headers_get(const struct headers *h, const char *name);

/* A character of a token. */
bool header_is_tchar(char c);

/* Whether `text` is a token and may be the name of a field or a method. */
bool header_is_token(const char *text);

#endif
