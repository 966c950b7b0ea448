#include "protocols/http/chunk_line.h"

#include "protocols/http/header.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* In a quoted string, and behind a backslash in it: no control character. */
static bool is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

/* Behind the size, a name or a value, where an extension may follow. */
static bool take_behind(enum chunk_line *at, char c, enum chunk_line blank)
{
    if (c != ';' && !is_blank(c))
        return false;
    *at = c == ';' ? CHUNK_TO_NAME : blank;
    return true;
}

static bool take_word(enum chunk_line *at, char c, enum chunk_line word)
{
    if (header_is_tchar(c))
        *at = word;
    return header_is_tchar(c) || is_blank(c);
}

static bool take_quoted(enum chunk_line *at, char c)
{
    if (*at == CHUNK_ESCAPED)
        *at = CHUNK_QUOTED;
    else if (c == '"')
        *at = CHUNK_UNQUOTED;
    else if (c == '\\')
        *at = CHUNK_ESCAPED;
    return is_text(c);
}

bool chunk_line_take(enum chunk_line *at, char c)
{
    switch (*at) {
    case CHUNK_SIZE:
    case CHUNK_BEHIND:
    case CHUNK_UNQUOTED:
        return take_behind(at, c, CHUNK_BEHIND);
    case CHUNK_TO_NAME:
        return take_word(at, c, CHUNK_NAME);
    case CHUNK_NAME:
    case CHUNK_TO_EQUALS:
        if (c == '=')
            *at = CHUNK_TO_VALUE;
        else if (*at == CHUNK_TO_EQUALS || !header_is_tchar(c))
            return take_behind(at, c, CHUNK_TO_EQUALS);
        return true;
    case CHUNK_TO_VALUE:
        if (c != '"')
            return take_word(at, c, CHUNK_TOKEN);
        *at = CHUNK_QUOTED;
        return true;
    case CHUNK_TOKEN:
        return header_is_tchar(c) || take_behind(at, c, CHUNK_BEHIND);
    case CHUNK_QUOTED:
    case CHUNK_ESCAPED:
        break;
    }
    return take_quoted(at, c);
}

bool chunk_line_may_end(enum chunk_line at)
{
    return at != CHUNK_TO_NAME && at != CHUNK_TO_VALUE && at != CHUNK_QUOTED &&
           at != CHUNK_ESCAPED;
}
