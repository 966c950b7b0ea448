#include "protocols/utf8.h"

#include <stdbool.h>
#include <string.h>

/* By the table of RFC 3629, which excludes surrogates and overlong forms. */
size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80                    ? 1
               : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
               : (s[0] & 0xf0) == 0xe0        ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/* C0, DEL and C1, and U+200E..F, U+2028..E, U+2066..9: marks, breaks, overrides. */
static bool is_control(const unsigned char *s, size_t n)
{
    if (n == 1)
        return s[0] < 0x20 || s[0] == 0x7f;
    if (n == 2)
        return s[0] == 0xc2 && s[1] < 0xa0;
    if (n != 3 || s[0] != 0xe2)
        return false;
    return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f)) ||
           (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

void utf8_printable(char *text)
{
    unsigned char *from = (unsigned char *)text;
    unsigned char *to = from;

    while (*from) {
        size_t n = utf8_length(from);

        if (n == 0 || is_control(from, n)) {
            *to++ = '?';
            from += n ? n : 1;
        } else {
            memmove(to, from, n);
            to += n;
            from += n;
        }
    }
    *to = '\0';
}
