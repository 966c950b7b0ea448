/*
 * A directory for the tests of one program, with a store of its own for each of them.
 * What goes wrong fails the running cmocka test.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>

/* For cmocka: of the group, and of each test (XDG_STATE_HOME is a new directory). */
int scratch_begin(void **state);
int scratch_end(void **state);
int scratch_fresh_store(void **state);

const char *scratch_directory(void);

/* A whole file, with a NUL behind it; to be freed. */
char *scratch_read(const char *path, size_t *len);
void scratch_write(const char *path, const char *text, size_t len);

/* The path (PATH_MAX) of a name in the store. */
void scratch_in_store(char *path, const char *name);

#endif
