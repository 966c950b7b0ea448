/*
 * The result of a run as a table of text: what `plimsoll run` prints, and what the
 * console's summary shows in its own way.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include <stdio.h>

#include "engine/run.h"

/* Returns 0, or -errno when the stream could not take it. */
int report_print(FILE *f, const struct run *r);

#endif
