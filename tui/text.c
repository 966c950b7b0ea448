#include "tui/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* The bytes that a lead byte announces; 0 for one that cannot lead. */
static size_t sequence_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    if (lead >= 0xf0 && lead < 0xf5)
        return 4;
    return 0;
}

/* Whether a decoded value is one that its length may stand for (RFC 3629, section 3). */
static bool is_valid(uint32_t code, size_t len)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};

    return code >= lowest[len] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

size_t text_decode(const char *s, size_t len, uint32_t *code)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *p = (const unsigned char *)s;
    size_t n, i;

    if (len == 0)
        return 0;
    n = sequence_length(p[0]);
    *code = TEXT_REPLACEMENT;
    if (n == 0 || n > len)
        return 1;
    uint32_t value = p[0] & lead_bits[n];
    for (i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (p[i] & 0x3f);
    }
    if (!is_valid(value, n))
        return 1;
    *code = value;
    return n;
}

size_t text_encode(uint32_t code, char out[TEXT_ENCODED_MAX])
{
    size_t n = 0;

    if (code < 0x80) {
        out[n++] = (char)code;
    } else if (code < 0x800) {
        out[n++] = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        out[n++] = (char)(0xe0 | code >> 12);
        out[n++] = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        out[n++] = (char)(0xf0 | code >> 18);
        out[n++] = (char)(0x80 | (code >> 12 & 0x3f));
        out[n++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80)
        out[n++] = (char)(0x80 | (code & 0x3f));
    out[n] = '\0';
    return n;
}

uint32_t text_printable(uint32_t code)
{
    int columns;

    if (code >= 0x20 && code < 0x7f)
        return code;
    if (code < 0xa0)
        return TEXT_REPLACEMENT;
    columns = wcwidth((wchar_t)code);
    /* In a locale of single bytes wcwidth knows nothing beyond ASCII: no reason to drop.
     */
    if (columns < 0 && MB_CUR_MAX > 1)
        return TEXT_REPLACEMENT;
    return columns == 0 ? 0 : code;
}

int text_code_columns(uint32_t code)
{
    int columns;

    if (code < 0x300)
        return 1;
    columns = wcwidth((wchar_t)code);
    return columns < 0 ? 1 : columns;
}

int text_columns(const char *s)
{
    size_t len = strlen(s), n;
    uint32_t code;
    int columns = 0;

    for (; len > 0; s += n, len -= n) {
        n = text_decode(s, len, &code);
        code = text_printable(code);
        columns += code == 0 ? 0 : text_code_columns(code);
    }
    return columns;
}

size_t text_fit(const char *s, int columns)
{
    size_t len = strlen(s), at = 0, n;
    uint32_t code;

    for (; at < len; at += n) {
        n = text_decode(s + at, len - at, &code);
        code = text_printable(code);
        columns -= code == 0 ? 0 : text_code_columns(code);
        if (columns < 0)
            break;
    }
    return at;
}
