/*
 * The replay: a saved run played on the board of the run screen, at any speed, held,
 * and scrubbed through.
 */
#ifndef TUI_SCREEN_REPLAY_H
#define TUI_SCREEN_REPLAY_H

#include "tui/screen.h"

/* The argument: the path of the recording, copied when the screen is made. */
struct replay_request {
    char path[4096];
};

extern const struct screen screen_replay;

#endif
