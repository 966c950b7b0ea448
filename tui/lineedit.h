/*
 * One line of text that a person edits: a filter, a value in a form. The cursor stands
 * between characters; what is longer than its field scrolls.
 */
#ifndef TUI_LINEEDIT_H
#define TUI_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/canvas.h"

#define LINEEDIT_BYTES 4096

/* Zero bytes are a valid empty line. */
struct lineedit {
    char text[LINEEDIT_BYTES]; /* UTF-8, NUL-terminated */
    size_t len, cursor;        /* in bytes; the cursor is at a character's begin */
};

/* Replace the text (cut at LINEEDIT_BYTES - 1) and put the cursor at its end. */
void lineedit_set(struct lineedit *e, const char *text);

/*
 * Characters are inserted; arrows, Home, End, Backspace, Delete, Ctrl-A, Ctrl-E, Ctrl-U
 * and Ctrl-K do what they do in a shell. False for presses that mean nothing here.
 */
bool lineedit_press(struct lineedit *e, uint32_t press);

/* Draw in `columns` columns; with `active` the cursor is shown. */
void lineedit_draw(const struct lineedit *e, struct canvas *c, int x, int y, int columns,
                   struct style s, bool active);

#endif
