/* The first screen: the catalogue of scenarios, and what the chosen one does. */
#ifndef TUI_SCREEN_SCENARIOS_H
#define TUI_SCREEN_SCENARIOS_H

#include "tui/screen.h"

extern const struct screen screen_scenarios; /* no argument */

#endif
