/*
 * What limits a run, judged by how busy its processes are: for the verdict that is shown
 * while it runs and for the one in its report alike.
 *
 * A process that uses nearly the whole of one core is at its limit. That is the point of
 * a measurement where it is the server, and its end where it is the client: then the load
 * is all that the generator can give. Above both stands a wait for a core: a process
 * that is ready and does not run is slowed down by other work on the machine.
 */
#ifndef ENGINE_BOTTLENECK_H
#define ENGINE_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/place.h"

#define BUSY_PERCENT 90    /* of a core: beyond this the process itself is the limit */
#define CROWDED_PERCENT 20 /* of the time ready and without a core: others distort it */

/* Of each place's busiest process; NaN where there is none or nothing is known. */
struct busy {
    double cpu_percent[PLACE_COUNT];    /* 100 is one core */
    double waited_percent[PLACE_COUNT]; /* of the time: ready to run, and no core free */
};

enum bottleneck {
    BOTTLENECK_UNKNOWN,   /* the client is not known: nothing can be said */
    BOTTLENECK_NONE,      /* no process is busy */
    BOTTLENECK_CORES,     /* processes waited for a core */
    BOTTLENECK_GENERATOR, /* the client */
    BOTTLENECK_SERVER,    /* the endpoint or the server */
    BOTTLENECK_BOTH,      /* the client and one of those */
};

/* Nothing known. */
struct busy busy_unknown(void);

bool busy_is_crowded(const struct busy *b);

/* The limit, and a sentence with the figures and without a full stop; "" if unknown. */
enum bottleneck bottleneck_find(const struct busy *b, char *text, size_t size);

#endif
