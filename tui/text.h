/*
 * Text as a terminal shows it. Strings are UTF-8; what counts on a screen is the
 * *column*: a Latin letter takes one, a CJK ideograph two, a combining mark none.
 *
 * Texts may come from anywhere (a server's reply, a file name), so nothing here
 * trusts them: bytes that are not UTF-8 and control characters become
 * TEXT_REPLACEMENT, which takes one column, and characters of no width (combining
 * marks, direction overrides) are dropped. No escape sequence survives.
 *
 * Widths are wcwidth(3)'s where the locale knows the character, else 1.
 */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_REPLACEMENT 0xfffdu
#define TEXT_ENCODED_MAX 5 /* bytes of one character with a final NUL */

/*
 * The first character of s, which has `len` bytes left. Returns the bytes it took,
 * at least 1, or 0 when len is 0. *code is TEXT_REPLACEMENT for a byte that begins no
 * valid sequence (overlong forms and surrogates are not valid).
 */
size_t text_decode(const char *s, size_t len, uint32_t *code);

/* UTF-8 of a character, NUL-terminated; returns the bytes without the NUL. */
size_t text_encode(uint32_t code, char out[TEXT_ENCODED_MAX]);

/* What to draw for a character: itself, TEXT_REPLACEMENT, or 0 to drop it. */
uint32_t text_printable(uint32_t code);

/* Columns of a character as drawn: 0, 1 or 2. */
int text_code_columns(uint32_t code);

/* Columns of a string as drawn. */
int text_columns(const char *s);

/*
 * How many bytes of s fit into `columns`. A wide character that would be cut is left
 * out, so the result may be a column short.
 */
size_t text_fit(const char *s, int columns);

#endif
