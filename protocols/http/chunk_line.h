/*
 * The line before each chunk of a body: its size in hex, and extensions behind it, which
 * say nothing to us (RFC 9112, section 7.1.1):
 *
 *   5;name;name=token; name = "quoted \" string"
 *
 * Versions of llhttp differ in what they take for one, so here it is read, and llhttp is
 * given the size alone. Blanks are allowed around each ';' and '=', and before the end.
 */
#ifndef PROTOCOLS_HTTP_CHUNK_LINE_H
#define PROTOCOLS_HTTP_CHUNK_LINE_H

#include <stdbool.h>

/* Where in the line. */
enum chunk_line {
    CHUNK_SIZE,
    CHUNK_BEHIND, /* a ';' or the end */
    CHUNK_TO_NAME,
    CHUNK_NAME,
    CHUNK_TO_EQUALS, /* or as behind */
    CHUNK_TO_VALUE,
    CHUNK_TOKEN,
    CHUNK_QUOTED,
    CHUNK_ESCAPED,
    CHUNK_UNQUOTED, /* behind the closing quote */
};

/* Go on by a byte that is not the CR at the end; false where none like it may be. */
bool chunk_line_take(enum chunk_line *at, char c);

/* Whether the line may end there. */
bool chunk_line_may_end(enum chunk_line at);

#endif
