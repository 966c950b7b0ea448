/*
 * The console in its terminal: the event loop that joins app, display and signals.
 *
 *  - Keys are read when they come; the picture is drawn after them, but at most
 *    CONSOLE_FRAMES_PER_S times a second, and only when something has changed.
 *  - Signals arrive through the loop: SIGWINCH follows the size; SIGINT interrupts what
 *    the screen shows, or ends; SIGTERM, SIGHUP and SIGQUIT end; SIGTSTP gives the
 *    terminal back and SIGCONT takes it again.
 *  - When the terminal has gone (end of input, hang-up) the console ends.
 */
#ifndef TUI_CONSOLE_H
#define TUI_CONSOLE_H

#include "protocols/fail.h"
#include "tui/screen_ops.h"
#include "tui/theme.h"

#define CONSOLE_FRAMES_PER_S 20

struct console_options {
    const struct glyph_set *glyphs; /* NULL: by locale and terminal */
    const struct theme *theme;      /* NULL: by NO_COLOR and COLORFGBG */
    const struct screen *first;
    const void *argument; /* of the first screen */
};

/*
 * Run until the end. 0 with the exit status, or a negative errno with a sentence of
 * advice when the terminal cannot be used. Ended by a signal, the process ends by the
 * same one, after everything is restored and freed.
 */
int console_run(const struct console_options *options, int *status, struct fail *fail);

#endif
