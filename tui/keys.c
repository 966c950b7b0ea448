#include "tui/keys.h"

#include <stddef.h>

#include "tui/text.h"

static bool works(const struct key *k, const void *self)
{
    return !k->works || k->works(self);
}

static bool keys_answers(const struct key *k, const void *self, uint32_t press)
{
    for (int i = 0; i < KEY_PRESSES && k->presses[i] != 0; i++)
        if (k->presses[i] == press)
            return true;
    return k->takes && k->takes(self, press);
}

const struct key *keys_find(const struct key *table, const void *self, uint32_t press)
{
    for (const struct key *k = table; k && k->label; k++)
        if (keys_answers(k, self, press) && works(k, self))
            return k;
    return NULL;
}

static int hint_columns(const struct key *k)
{
    return text_columns(k->label) + text_columns(k->hint) + 3;
}

static bool is_hinted(const struct key *k, const void *self)
{
    return k->hint && works(k, self);
}

/* The columns that all hints of a table need. */
static int table_columns(const struct key *table, const void *self)
{
    int columns = 0;

    for (const struct key *k = table; k && k->label; k++)
        columns += is_hinted(k, self) ? hint_columns(k) : 0;
    return columns;
}

/* The row for the first table: what stands in every screen keeps its place at the end. */
static struct area first_part(struct area row, const struct key *more,
                              const void *more_self)
{
    row.width -= table_columns(more, more_self);
    return row;
}

/* The key that leaves the screen: its hint is shown before any other finds its room. */
static const struct key *way_out(const struct key *table, const void *self)
{
    const struct key *found = NULL;

    for (const struct key *k = table; k && k->label; k++)
        for (int i = 0; i < KEY_PRESSES && k->presses[i] != 0; i++)
            if ((k->presses[i] == 'q' || k->presses[i] == PRESS_ESC) &&
                is_hinted(k, self))
                found = k;
    return found;
}

/*
 * The next hint, from k on, that there is room for between x and the row's end. *out is
 * the way out until it has been passed.
 */
static const struct key *next_hint(const struct key *k, const void *self,
                                   const struct key **out, struct area row, int x)
{
    for (; k && k->label; k++) {
        int reserved = *out && k != *out ? hint_columns(*out) : 0;

        if (!is_hinted(k, self) || x + hint_columns(k) + reserved > row.x + row.width)
            continue;
        if (k == *out)
            *out = NULL;
        return k;
    }
    return NULL;
}

static int keys_draw_table(struct canvas *c, struct area row, int x,
                           const struct key *table, const void *self)
{
    const struct key *out = way_out(table, self), *k = table;

    while ((k = next_hint(k, self, &out, row, x))) {
        struct style key = style_on(PAINT_KEY, PAINT_STATUS);

        key.attributes = ATTR_BOLD;
        x += 1 + canvas_text(c, x + 1, row.y, 20, key, k->label);
        x += 1 + canvas_text(c, x + 1, row.y, 40, style_on(PAINT_HINT, PAINT_STATUS),
                             k->hint);
        x++;
        k++;
    }
    return x;
}

int keys_draw_hints(struct canvas *c, struct area row, const struct key *table,
                    const void *self, const struct key *more, const void *more_self)
{
    int x;

    canvas_fill(c, row, ' ', style_on(PAINT_HINT, PAINT_STATUS));
    x = keys_draw_table(c, first_part(row, more, more_self), row.x, table, self);
    return keys_draw_table(c, row, x, more, more_self);
}

/* The same walk as keys_draw_table; *x moves on to the end of what was passed. */
static uint32_t hint_in(struct area row, int *x, int wanted, const struct key *table,
                        const void *self)
{
    const struct key *out = way_out(table, self), *k = table;

    while ((k = next_hint(k, self, &out, row, *x))) {
        *x += hint_columns(k);
        if (wanted < *x)
            return k->presses[0];
        k++;
    }
    return PRESS_NONE;
}

uint32_t keys_hint_at(struct area row, int x, const struct key *table, const void *self,
                      const struct key *more, const void *more_self)
{
    int at = row.x;
    uint32_t press = hint_in(first_part(row, more, more_self), &at, x, table, self);

    return press != PRESS_NONE ? press : hint_in(row, &at, x, more, more_self);
}
