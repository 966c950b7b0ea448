/*
 * A stage for stream roles: a loop, a server and a client, and an empty directory, which
 * must be empty again at the end. What goes wrong fails the running cmocka test.
 */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include <sys/types.h>

#include "tests/pair.h"

extern const char *const stage_transports[3]; /* "tcp", "unix", "pipe" */

struct stage {
    struct event_base *base;
    struct actor server, client;
    char directory[64];
    unsigned descriptors;
};

void stage_init(struct stage *s, const char *server, const char *client);

/* Nothing may be left: neither on disk nor among the descriptors. */
void stage_done(struct stage *s);

/* Options: the server's transport, and the client's time; one of both sides. */
void stage_transport(struct stage *s, const char *transport);
void stage_both(struct stage *s, const char *word);

/* The client's option that names the program of client=process. */
void stage_oneshot_program(struct actor *client);

/* attempted = succeeded + failed + timed out + unfinished, and failures have a name. */
void stage_assert_identity(const struct actor *client);

/* The server cannot be prepared, and these words say why. */
void stage_expect_refusal(struct stage *s, const char *words);

/* The client runs to its end against an endpoint, without the stage's server. */
void stage_run_alone(struct stage *s, const char *endpoint);

/* A plain connection, as another program would make it. */
int stage_connect(const char *endpoint);

/* A server in a process of its own, which may be killed. */
struct stage_child {
    pid_t pid;
    char endpoint[256];
};

void stage_child_start(struct stage_child *c, const char *role, const char *transport,
                       const char *option);

/* Kill it, and remove what it could not. */
void stage_child_end(struct stage_child *c);

#endif
