/*
 * A session with the real console in a pseudo terminal (tests/terminal.h). The programs
 * of one group of tests save runs below a directory of the group's own.
 */
#ifndef TESTS_SESSION_H
#define TESTS_SESSION_H

#include "tests/terminal.h"

#define READY "Enter run"
#define ENDS_WITHIN_MS 5000

/* For cmocka, of a group: the directory is made, and removed. */
int session_begin(void **state);
int session_end(void **state);

const char *session_program(void);
const char *session_state_home(void);
const char *session_state_entry(void); /* "XDG_STATE_HOME=..." */

/* The console at a size, with `more` in its environment (ended by NULL; may be NULL). */
struct terminal *session_start(int width, int height, const char *const more[]);

/* At 100x30, and its first screen is there. */
struct terminal *session_start_ready(void);

/* In a run of persistent requests at a rate, which goes on for as long as a test needs.
 */
struct terminal *session_start_long_run(int width, int height);

/* The terminal is as it was before the program. */
void session_expect_restored(struct terminal *t);

/* Type q, and all ends well. The terminal is freed. */
void session_quit(struct terminal *t);

#endif
