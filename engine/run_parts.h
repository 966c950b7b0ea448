/*
 * What the files of a run share: engine/run.c makes and ends it and answers questions,
 * run_check.c judges its values, run_hello.c says to a worker what to do, run_change.c
 * changes that while it runs, run_messages.c takes what the workers say, run_trial.c goes
 * through the states of engine/run.h.
 */
#ifndef ENGINE_RUN_PARTS_H
#define ENGINE_RUN_PARTS_H

#include <limits.h>

#include "engine/child.h"
#include "engine/message.h"
#include "engine/run.h"

#define RUN_STOPPED "stopped before its end"

/* One worker of the trial under way: the same index as its struct process. */
struct link {
    struct run *run;
    struct process *process; /* borrowed: the trial's */
    struct child *child;     /* NULL when not started or over */
    pid_t pid;               /* the child's; stays when that is over */
    bool done;               /* said done or fail, or is over */
    bool asked;              /* to take a value, and has not answered */
    bool took;               /* the value of the present change, or of the last one */
    uint64_t begun_ns;       /* when it was started */
    uint64_t heard_ns;       /* when it last said anything */
    char last_line[200];     /* of its standard error */
};

/* A value that clients have been asked to take, and not all have answered. */
struct change {
    const struct param *param; /* NULL: none */
    uint64_t value;
    int err; /* of the first who refused; 0: nobody did */
    bool is_taken_back;
};

struct run_private {
    struct event_base *base;   /* borrowed */
    const struct run_ops *ops; /* borrowed */
    void *arg;                 /* borrowed */
    struct event *guard;       /* what a state waits for does not come */
    struct event *watch;       /* while running: a worker says nothing any more */
    uint64_t watched_ns;       /* when that was looked at last */
    struct event *next;        /* go on from the loop, not from a callback's depth */
    struct sample scratch;
    struct link *links;
    size_t link_count;
    unsigned workers;
    bool stopping;
    struct change change;
    int content_fd; /* the bytes that bulk ends send; -1 when not needed */
    uint64_t content_bytes, content_done;
    uint64_t file_bytes; /* of --file, as the first end had it; 0: none so far */
    uint64_t pause_began_ns;
    char engine_program[PATH_MAX], oneshot_program[PATH_MAX];
    char boot[64];
};

/* A line for the log, made printable. */
void run_say(struct run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* run_trial where there is one for certain. */
struct trial *run_current(const struct run *r);

/* The part of an amount that `workers` share: the first ones take the remainder. */
uint64_t run_share(uint64_t amount, unsigned index, unsigned workers);

/* 0 or a negative errno. The process's servers are ready: their endpoints go with it. */
int run_say_hello(struct run *r, struct link *l);

/* Its `arg` is a struct link. */
extern const struct child_ops run_child_ops;

/* To the workers at a place that are not done. */
void run_send_all(struct run *r, enum place place, enum message_type type);
void run_send_value(struct link *l, enum option option, uint64_t value);

/* A client has answered whether it took the value; and when all have, it is settled. */
void run_answered(struct run *r, struct link *l, const cJSON *object);
void run_settle_change(struct run *r);

bool run_all_done(const struct run *r, enum place place);
void run_kill_children(struct run *r);

/* The worker will say no more; where it was the last client, the load is over. */
void run_link_done(struct run *r, struct link *l);

/* The events that run_trial.c waits for, freed by run_free. 0 or -ENOMEM. */
int run_make_events(struct run *r);

/* Fail, in some milliseconds, whoever the present state still waits for. */
void run_guard(struct run *r, uint64_t span_ms);

/* Look at the state again from the loop, not from a callback's depth. */
void run_go_on(struct run *r);

void run_begin_trial(struct run *r);

/* Start the workers of the next place whose servers are all ready, or the load. */
void run_spawn_next_place(struct run *r);

/* Tell the receiving ends what was sent, so that they know what may still come. */
void run_begin_drain(struct run *r);

/* End a trial whose processes are not all there: nothing was measured. */
void run_abandon(struct run *r);

/* A cause that ends the trial: the clients stop, what was measured is collected. */
void run_fails(struct run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Remove what servers left on disk that were killed. */
void run_clean_after(const struct run *r);

#endif
