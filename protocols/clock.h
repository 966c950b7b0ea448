/*
 * The one clock. Every duration and every instant in plimsoll is a monotonic
 * uint64_t count of nanoseconds (CLOCK_MONOTONIC, clock_gettime(2)); wall-clock
 * time appears only as a label in reports. All processes of one machine share
 * this clock, also across network namespaces, so instants may be compared
 * between them; instants of two machines may not.
 */
#ifndef PROTOCOLS_CLOCK_H
#define PROTOCOLS_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull

/* Nanoseconds since an arbitrary point (boot, on Linux). Never steps back. */
static inline uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* CPU time, user and system, that this process has used so far. */
static inline uint64_t cpu_time_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* For libevent's timers. Rounds up, so that a timer never fires before its time. */
static inline struct timeval timeval_from_ns(uint64_t span_ns)
{
    uint64_t us = (span_ns + NS_PER_US - 1) / NS_PER_US;
    struct timeval tv = {
        .tv_sec = (time_t)(us / 1000000u),
        .tv_usec = (suseconds_t)(us % 1000000u),
    };

    return tv;
}

#endif
