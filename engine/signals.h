/*
 * The signals that ask a program without a screen to end: SIGINT (Ctrl-C), SIGTERM, and
 * SIGHUP unless it was ignored when the program began, as nohup has it.
 */
#ifndef ENGINE_SIGNALS_H
#define ENGINE_SIGNALS_H

#include <stddef.h>

struct event;
struct event_base;

/* Zero bytes: none is caught. */
struct signals {
    void (*caught)(void *arg);
    void *arg; /* borrowed */
    struct event *events[3];
};

/*
 * Call `caught` from the loop for each of them, also for one that came while the loop was
 * not running. 0 or -ENOMEM; signals_hold in either case.
 */
int signals_catch(struct signals *s, struct event_base *base, void (*caught)(void *arg),
                  void *arg);

/*
 * At the program's end: catch none any more and hold them back, since a second Ctrl-C,
 * while the result is written, must not make an ending of its own.
 */
void signals_hold(struct signals *s);

#endif
