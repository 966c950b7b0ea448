/*
 * Keys as tables. A screen lists what its keys do in rows; the dispatch, the status
 * line and the help screen all read the same rows, so a key that works is a key that is
 * shown.
 *
 * A *press* is what a person did: the code point of a character, or one of the names
 * below for keys that are none. Control with a letter is 1 to 26.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/canvas.h"

enum press {
    PRESS_NONE = 0,
    PRESS_TAB = 9,
    PRESS_ENTER = 13,
    PRESS_ESC = 27,
    PRESS_UP = 0x110000,
    PRESS_DOWN,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_BACKSPACE,
    PRESS_DELETE,
    PRESS_BACKTAB,
    PRESS_F1,
};

#define PRESS_CTRL(letter) ((letter)&0x1f)

#define KEY_PRESSES 10

struct key {
    uint32_t presses[KEY_PRESSES]; /* any of these; unused ones 0 */
    const char *label;             /* as a person reads it: "Enter" */
    const char *hint; /* a word or two for the status line; NULL: not there */
    const char *help; /* a sentence without a full stop */
    void (*act)(void *self, uint32_t press);
    bool (*works)(const void *self);                 /* NULL: always */
    bool (*takes)(const void *self, uint32_t press); /* further presses; NULL: none */
};

/*
 * The row that a press belongs to and whose key works now; NULL when there is none. A
 * table ends with a row without label.
 */
const struct key *keys_find(const struct key *table, const void *self, uint32_t press);

/*
 * The hints of the keys that work now, for one or two tables, in one row, as many as
 * fit. Returns the first free column.
 */
int keys_draw_hints(struct canvas *c, struct area row, const struct key *table,
                    const void *self, const struct key *more, const void *more_self);

/* The press that a hint at column x stands for (for the mouse); PRESS_NONE if none. */
uint32_t keys_hint_at(struct area row, int x, const struct key *table, const void *self,
                      const struct key *more, const void *more_self);

#endif
