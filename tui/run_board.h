/*
 * The board of a run: its charts in a grid or one of them large, what its processes use,
 * and the verdict. The run screen and the replay show the same board; they differ in
 * where the run comes from.
 */
#ifndef TUI_RUN_BOARD_H
#define TUI_RUN_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/run_chart.h"

struct run_board {
    struct run_view *view; /* owned */
    bool frozen;
    double frozen_s; /* the right edge while frozen */
    double window_s; /* 0: chosen by what there is */
    size_t focused;  /* the chart that is chosen */
    bool zoomed;
};

int run_board_init(struct run_board *b); /* 0 or -ENOMEM */
void run_board_done(struct run_board *b);

/* Show a run (borrowed), or none; the picture is no longer frozen. */
void run_board_set_run(struct run_board *b, const struct run *run);

/* What keys do. Steps are -1 or 1. */
void run_board_zoom(struct run_board *b);
void run_board_choose(struct run_board *b, int step);
void run_board_freeze(struct run_board *b);
void run_board_scroll(struct run_board *b, int step);  /* freezes */
void run_board_stretch(struct run_board *b, int step); /* a shorter or longer span */

/* "The charts show 30 s." */
void run_board_say_span(const struct run_board *b, char *text, size_t size);

/* Draw into the area: charts above, processes below. */
void run_board_draw(struct run_board *b, struct canvas *c, struct area a);

#endif
