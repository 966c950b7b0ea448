/*
 * One worker process of a trial: what it was, how it ended, and its totals. *Facts* are
 * what a role reports that is neither counter nor latency (protocols/role.h).
 */
#ifndef ENGINE_PROCESS_H
#define ENGINE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "engine/place.h"
#include "engine/sample.h"
#include "protocols/role.h"

#define PROCESS_FACTS 12

struct fact {
    char name[32];
    char text[160];
};

struct process {
    enum place place;
    unsigned index; /* at its place */
    pid_t pid;      /* on its own machine; 0 until ready */
    char endpoint[256];
    char boot[64]; /* whose clock it reads */
    bool ready;
    uint64_t start_ns; /* from its start until it was ready; 0 when not known */
    bool reported;     /* it said done: totals are exact, not sums of samples */
    enum outcome outcome;
    char reason[320];
    struct sample totals;
    size_t fact_count;
    struct fact facts[PROCESS_FACTS];
};

/* NULL when the process did not say it. */
const char *process_fact(const struct process *p, const char *name);

/* A fact that is a whole number; 0 when the process did not say it. */
uint64_t process_number(const struct process *p, const char *name);

#endif
