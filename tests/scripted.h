/*
 * A run of which the workers do as a script says (tests/main_fakeworker.c). What goes
 * wrong fails the running cmocka test.
 */
#ifndef TESTS_SCRIPTED_H
#define TESTS_SCRIPTED_H

#include "engine/run.h"

struct event;

#define SERVER "wait hello; ready tcp:127.0.0.1:9; wait start; wait stop; "
#define GOOD_SERVER SERVER "done stopped 0; wait end"
#define CLIENT "wait hello; ready; wait start; "
#define GOOD_CLIENT CLIENT "sample 3; sample 4; done completed 10; wait end"

struct scripted {
    struct event_base *base;
    struct run *run;
    struct fail fail;
    struct options values;
    enum run_state seen[64]; /* the states, in order */
    size_t seen_count;
    unsigned samples, lines;
    char line[600];    /* the last one */
    unsigned settled;  /* changes that are in force, or were refused */
    int set_err;       /* of the last one */
    bool is_impatient; /* limits are to be reached; else they are far away */
    enum run_state stop_in;
    unsigned stops; /* how often to stop it there */
    bool finished;
    struct event *timer;
    struct event *poke; /* carries the stops out, from the loop */
    unsigned descriptors;
    uint64_t began_ns, ended_ns;
};

/* tcp-requests, not created yet, with a script for each side. */
void scripted_init(struct scripted *s, const char *server, const char *client);

/* A parameter, or the script in server_launch or client_launch. */
void scripted_set(struct scripted *s, const char *name, const char *text);
void scripted_set_script(struct scripted *s, const char *name, const char *script);

void scripted_create(struct scripted *s);
void scripted_begin(struct scripted *s); /* create, and start */
void scripted_turn_to_end(struct scripted *s);

/* What a scripted run tells: `arg` is a struct scripted. */
extern const struct run_ops scripted_ops;

/* All of it, but the end of `s`. */
void scripted_run(struct scripted *s, const char *server, const char *client);

/* Whatever happened, its result can be told, and nothing is left. */
void scripted_done(struct scripted *s);

/* The states were these, up to RUN_DONE; the run has failed, and said so. */
void scripted_assert_states(const struct scripted *s, const enum run_state *wanted);
void scripted_assert_failed(const struct scripted *s, const char *said);

#endif
