/*
 * The terminal is restored when a fatal signal ends the program: by a handler that only
 * writes prepared bytes and resets the line, and then lets the signal do its work.
 *
 * The handler is removed by its signal, so a fault in it ends the program as well.
 */
#ifndef TUI_RESCUE_H
#define TUI_RESCUE_H

/* Keep the line discipline as it is now, before curses changes it. */
void rescue_keep_line(void);

/*
 * Prepare the bytes for the current terminal (`first` before what terminfo knows) and
 * handle the fatal signals; armed.
 */
void rescue_install(const char *first);
void rescue_remove(void);

/* While the terminal is given back there is nothing to restore. */
void rescue_disarm(void);
void rescue_arm(void);

#endif
