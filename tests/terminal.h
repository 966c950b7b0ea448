/*
 * A terminal for tests: the program under test runs in a pseudo terminal of a given
 * size, and what it writes is fed to a model of the screen (libvterm), whose cells can
 * be read back with their colours. Nothing waits for a fixed time: waits end when what
 * is wanted is there and the program has been silent for SETTLE_MS.
 *
 * libvterm 0.1.4 misreads "repeat character" (REP), and takes a saved cursor's being
 * hidden for the cursor of the main screen, so the child gets a terminfo entry of the
 * same name without these (rep, sc, rc), made by infocmp and tic.
 */
#ifndef TESTS_TERMINAL_H
#define TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tui/picture.h"

#define SETTLE_MS 50
#define TERMINAL_WAIT_MS 10000 /* until a wait gives up */

struct terminal;

struct terminal_cell {
    uint32_t code;       /* 0: the right half of a wide character */
    short text, ground;  /* palette index, -1 the terminal's own, -2 a direct colour */
    unsigned attributes; /* enum attribute; dim is not modelled */
};

/*
 * Start argv[0] in a terminal. `env` holds "NAME=value" entries and ends with NULL; the
 * child gets these, PATH, HOME, and TERM=xterm-256color, LC_ALL=C.UTF-8 unless they are
 * named. Fails the running test when it cannot. Never NULL.
 */
struct terminal *terminal_start(const char *const argv[], int width, int height,
                                const char *const env[]);

/* Kills the program if it still runs, and reaps it. */
void terminal_free(struct terminal *t);

pid_t terminal_pid(const struct terminal *t);
int terminal_fd(const struct terminal *t); /* the master side */

/* What a person types: bytes as they are; arrows as the terminal sends them. */
void terminal_type(struct terminal *t, const char *keys);
#define TYPE_UP "\033OA"
#define TYPE_DOWN "\033OB"
#define TYPE_RIGHT "\033OC"
#define TYPE_LEFT "\033OD"
#define TYPE_ESC "\033"
#define TYPE_ENTER "\r"
#define TYPE_DELETE "\033[3~"

/* Close the terminal under the program, as a lost connection does. */
void terminal_hang_up(struct terminal *t);

void terminal_resize(struct terminal *t, int width, int height);

/* Take in what the program has written so far, waiting at most wait_ms for the first. */
void terminal_pump(struct terminal *t, int wait_ms);

/* Until nothing has been written for SETTLE_MS. False when that never comes. */
bool terminal_settle(struct terminal *t);

/* Until the text is on the screen (in one row) or gone from it, and settled. */
bool terminal_sees(struct terminal *t, const char *text);
bool terminal_lost(struct terminal *t, const char *text);

/* The same with a time of one's own, and without waiting for silence. */
bool terminal_sees_within(struct terminal *t, const char *text, int wait_ms);

/* The row in which a text stands, and its column; -1 if it does not. */
int terminal_find(struct terminal *t, const char *text, int *column);

/* Until the program has ended; its wait status. -1 when it does not end in wait_ms. */
int terminal_wait_end(struct terminal *t, int wait_ms);

struct terminal_cell terminal_cell(const struct terminal *t, int x, int y);
int terminal_width(const struct terminal *t);
int terminal_height(const struct terminal *t);

/* The screen as text, a line a row; to be freed. */
char *terminal_text(const struct terminal *t);

/* The screen as a picture; to be released by picture_done. */
void terminal_picture(const struct terminal *t, struct picture *p);

/*
 * Whether the terminal is as it was before the program: the main screen, a visible
 * cursor, no mouse reports, no bracketed paste, and the line discipline of the start.
 * When not, *why says what is left.
 */
bool terminal_is_restored(const struct terminal *t, const char **why);

/* Bytes that the program has written so far. */
size_t terminal_written(const struct terminal *t);

#endif
