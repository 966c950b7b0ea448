/* The history: the saved runs, to be looked at again, compared or deleted. */
#ifndef TUI_SCREEN_HISTORY_H
#define TUI_SCREEN_HISTORY_H

#include "tui/screen.h"

extern const struct screen screen_history; /* no argument */

#endif
