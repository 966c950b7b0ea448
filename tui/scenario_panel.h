/*
 * What a scenario does, for the side of a list: the processes as a small diagram, what
 * it is about, its parameters, what was documented, and how the last runs went.
 */
#ifndef TUI_SCENARIO_PANEL_H
#define TUI_SCENARIO_PANEL_H

#include "engine/scenario.h"
#include "tui/canvas.h"
#include "tui/last_runs.h"

/* Draws into the area, without a box; what does not fit below is left out. */
void scenario_panel_draw(struct canvas *c, struct area a, const struct scenario *s,
                         const struct options *values, const struct last_runs *saved);

#endif
