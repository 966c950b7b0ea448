#ifndef ENGINE_PROGRAM_H
#define ENGINE_PROGRAM_H

#include <stddef.h>

#include "protocols/fail.h"

/*
 * Where the worker program and the one-request program are: beside this program, or in
 * the library directory of an installation; or in the directory that the environment
 * names in PLIMSOLL_LIBEXEC, and then only there. 0 or -ENOENT with a sentence.
 */
int program_find(const char *name, char *path, size_t size, struct fail *fail);

#endif
