/* What libevent's events lack. */
#ifndef PROTOCOLS_EVENT_H
#define PROTOCOLS_EVENT_H

#include <event2/event.h>

/* event_free, which no NULL may be given to, for an event that may not have been made. */
static inline void event_drop(struct event *event)
{
    if (event)
        event_free(event);
}

#endif
