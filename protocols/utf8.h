/*
 * Texts from outside (arguments, file names, what the network or another program
 * said) may hold any bytes, and a terminal obeys some of them.
 */
#ifndef PROTOCOLS_UTF8_H
#define PROTOCOLS_UTF8_H

#include <stddef.h>

/* The length of the well-formed UTF-8 sequence at s (RFC 3629), 0 when there is none. */
size_t utf8_length(const unsigned char *s);

/*
 * Make a text one line that may be printed, in place; it never becomes longer. A '?'
 * stands for each control character (line ends and tabs too), each sign that turns the
 * direction of what follows, and each byte that is not UTF-8. Also mends the end of a
 * text that was cut in the middle of a character.
 */
void utf8_printable(char *text);

#endif
