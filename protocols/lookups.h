/*
 * One name looked up over and over without holding the event loop up, as programs with
 * an event loop do it: threads call getaddrinfo(3), and the loop hears of the answers.
 * LOOKUPS_THREADS is what libuv has for it, the runtime of the UDP document.
 *
 * Every question is the same, so answers belong to no question in particular. At most
 * LOOKUPS_ANSWERS wait to be taken; the threads rest meanwhile.
 */
#ifndef PROTOCOLS_LOOKUPS_H
#define PROTOCOLS_LOOKUPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "protocols/endpoint.h"

#define LOOKUPS_THREADS 4
#define LOOKUPS_ANSWERS 1024

struct event_base;
struct lookups;

struct answer {
    int err; /* 0, or the negative errno of endpoint_address */
    socklen_t len;
    struct sockaddr_storage address;
    uint64_t span_ns; /* that the lookup took */
};

/*
 * NULL with errno set when out of memory, descriptors or threads. `ready` is called from
 * the loop, a turn or more after the question, whenever there are answers to take.
 */
struct lookups *lookups_new(struct event_base *base, const struct endpoint *name,
                            void (*ready)(void *arg), void *arg);

/* Does not wait for a lookup that is under way. NULL is fine. */
void lookups_free(struct lookups *r);

/* Look the name up n times more. */
void lookups_ask(struct lookups *r, uint64_t n);

/* Take the next answers, at most `max`, in the order in which they came: how many. */
size_t lookups_take(struct lookups *r, struct answer *answers, size_t max);

#endif
