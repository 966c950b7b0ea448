#include "tui/lineedit.h"

#include <stdio.h>
#include <string.h>

#include "tui/keys.h"
#include "tui/text.h"

void lineedit_set(struct lineedit *e, const char *text)
{
    size_t len = strlen(text), n, at = 0;
    uint32_t code;

    if (len >= sizeof(e->text))
        len = sizeof(e->text) - 1;
    for (; at < len; at += n) {
        n = text_decode(text + at, strlen(text + at), &code);
        if (at + n > len)
            break; /* a character that would be cut */
    }
    memcpy(e->text, text, at);
    e->text[at] = '\0';
    e->len = e->cursor = at;
}

static size_t before(const struct lineedit *e)
{
    size_t at = e->cursor;

    while (at > 0 && (e->text[--at] & 0xc0) == 0x80)
        continue;
    return at;
}

static size_t after(const struct lineedit *e)
{
    uint32_t code;

    return e->cursor + text_decode(e->text + e->cursor, e->len - e->cursor, &code);
}

static void lineedit_cut(struct lineedit *e, size_t from, size_t to)
{
    memmove(e->text + from, e->text + to, e->len - to + 1);
    e->len -= to - from;
    e->cursor = from;
}

static bool insert(struct lineedit *e, uint32_t code)
{
    char bytes[TEXT_ENCODED_MAX];
    size_t n = text_encode(code, bytes);

    if (e->len + n < sizeof(e->text)) {
        memmove(e->text + e->cursor + n, e->text + e->cursor, e->len - e->cursor + 1);
        memcpy(e->text + e->cursor, bytes, n);
        e->len += n;
        e->cursor += n;
    }
    return true;
}

bool lineedit_press(struct lineedit *e, uint32_t press)
{
    switch (press) {
    case PRESS_LEFT:
        e->cursor = before(e);
        return true;
    case PRESS_RIGHT:
        e->cursor = after(e);
        return true;
    case PRESS_HOME:
    case PRESS_CTRL('A'):
        e->cursor = 0;
        return true;
    case PRESS_END:
    case PRESS_CTRL('E'):
        e->cursor = e->len;
        return true;
    case PRESS_BACKSPACE:
        lineedit_cut(e, before(e), e->cursor);
        return true;
    case PRESS_DELETE:
        lineedit_cut(e, e->cursor, after(e));
        return true;
    case PRESS_CTRL('U'):
        lineedit_cut(e, 0, e->cursor);
        return true;
    case PRESS_CTRL('K'):
        lineedit_cut(e, e->cursor, e->len);
        return true;
    default:
        return press >= ' ' && press < PRESS_UP && text_printable(press) == press &&
               insert(e, press);
    }
}

/* The byte at which drawing begins so that the cursor is in the field. */
static size_t first_shown(const struct lineedit *e, int columns)
{
    char part[LINEEDIT_BYTES];
    size_t from = 0, n;
    uint32_t code;

    memcpy(part, e->text, e->cursor);
    part[e->cursor] = '\0';
    while (from < e->cursor && text_columns(part + from) >= columns) {
        n = text_decode(part + from, e->cursor - from, &code);
        from += n;
    }
    return from;
}

void lineedit_draw(const struct lineedit *e, struct canvas *c, int x, int y, int columns,
                   struct style s, bool active)
{
    size_t from = active ? first_shown(e, columns) : 0;
    char part[LINEEDIT_BYTES];
    struct style cursor = s;
    const struct cell *under;
    int at;

    canvas_fill(c, (struct area){x, y, columns, 1}, ' ', s);
    canvas_text(c, x, y, columns, s, e->text + from);
    if (!active)
        return;
    memcpy(part, e->text + from, e->cursor - from);
    part[e->cursor - from] = '\0';
    at = x + text_columns(part);
    under = canvas_at(c, at, y);
    cursor.attributes |= ATTR_REVERSE;
    if (under && at < x + columns)
        canvas_put(c, at, y, under->code == 0 ? ' ' : under->code, cursor);
}
