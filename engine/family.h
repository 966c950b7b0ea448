/*
 * The families of scenarios: what is true of all that are carried out alike, whatever
 * they run over. A family is a row of facts, which the rest of the engine, the reports
 * and the console read; none of them asks which family it is. One more is a row here,
 * its bit (engine/param.h), its parameters and its scenarios.
 *
 * What a scenario does is one transfer or many *operations*. An operation has a latency
 * and may fail; it is a request, which is *answered*, or a message that goes *one way*.
 */
#ifndef ENGINE_FAMILY_H
#define ENGINE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/metric.h"
#include "engine/param.h"
#include "engine/place.h"

#define FAMILY_HEADLINES 8

struct meter_counters;

struct family {
    unsigned bit;     /* FAMILY_BULK: what it is in the masks of parameters and formats */
    const char *name; /* its scenarios, for people: "bulk transfers" */

    enum option amount; /* the parameter that says how much is done in a trial */

    /* The one that says how many connections or sockets are open at once: 0 is no limit.
     * OPTION_NONE: always one. */
    enum option concurrency;

    const char *protocol; /* what is spoken where no transport is chosen: "http" */

    bool operations; /* many of them; else one transfer, whose latency is its duration */
    bool answered;   /* clients load a server, and should not be the limit themselves */
    bool one_way;    /* to the server alone, where what arrives is counted */
    bool datagrams;  /* may be lost, late or doubled; else streams, which lose nothing */
    bool content;    /* what is sent is a file, made up where none is given */
    bool load; /* judged by the answers alone; else both ends' counts are compared */
    bool url;  /* the server is the user's own, at --url; else one is started */

    /*
     * The place whose METER_HIST_latency is the latency; what it spans in few words, as
     * a sentence that begins with "Latency is" ends, and how that ends with a rate.
     */
    enum place latency_place;
    const char *latency_span, *latency_about, *latency_paced;

    /*
     * What a run is about, METRIC_COUNT after the last: in the order in which a report
     * lists them, the figure that says most first. The first `judged` are what a change
     * is judged by.
     */
    enum metric headlines[FAMILY_HEADLINES];
    size_t judged;
};

extern const struct family family_bulk;     /* a file each way over a stream */
extern const struct family family_requests; /* short requests over a stream */
extern const struct family family_udp;
extern const struct family
    family_service;                     /* HTTP load on services that plimsoll spawns */
extern const struct family family_http; /* HTTP load on a server that is there */

/* All of them, ended by NULL. */
const struct family *const *family_table(void);

/* Messages received, each once: a datagram may come twice. */
uint64_t family_received(const struct family *f, const struct meter_counters *c);

#endif
