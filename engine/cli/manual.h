/*
 * The manual page and the completions of three shells, written from the tables that the
 * commands themselves read: commands and their flags, scenarios, parameters, exit codes.
 * The hidden command `manual NAME` (cmd_manual.c) prints one of them; the build installs
 * what it says.
 */
#ifndef ENGINE_CLI_MANUAL_H
#define ENGINE_CLI_MANUAL_H

#include <stddef.h>
#include <stdio.h>

#include "engine/cli/command.h"

#define MANUAL_LIST(X) X(roff) X(bash) X(zsh) X(fish)

#define X(id) void manual_##id(FILE *f);
MANUAL_LIST(X)
#undef X

/* What the writers share. */

/* What the value of an option may be. */
enum value_kind {
    VALUE_NONE,  /* it takes none */
    VALUE_TEXT,  /* anything */
    VALUE_FILE,  /* the name of a file */
    VALUE_RUN,   /* the id of a saved run, or last */
    VALUE_WORDS, /* one of some words */
};

struct value {
    enum value_kind kind;
    char words[512];  /* VALUE_WORDS: separated by spaces */
    const char *name; /* "FILE", "bytes": what the value is called */
};

void value_of_flag(const struct flag *flag, struct value *value);
void value_of_param(const struct param *p, struct value *value);

/* "stream transfers, requests": the kinds of scenario in a set of families. */
void family_text(unsigned families, char *text, size_t size);

/*
 * Every set of families with which some command takes parameters, each once: fills at
 * most `room`, returns how many.
 */
size_t family_sets(unsigned *sets, size_t room);

/* The parameter is one that this set of families has, and not hidden by an earlier row
 * of the same name. */
bool family_has(unsigned set, const struct param *p);

#endif
