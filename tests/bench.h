/*
 * The HTTP load client, the odd server it talks to, and their loop. What goes wrong fails
 * the running cmocka test.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include "tests/odd_server.h"
#include "tests/pair.h"

#define OK11 "HTTP/1.1 200 OK\r\n"
#define LEN(n) "Content-Length: " #n "\r\n"
#define HELLO OK11 LEN(5) "\r\nhello"

struct bench {
    struct event_base *base;
    struct odd_server server;
    struct actor client;
};

/* The server answers every request with these bytes. */
void bench_init(struct bench *b, const char *reply);

/* Ready to run, or the test fails with the sentence. */
void bench_prepare(struct bench *b);

/* Prepare, run to the end, and check the identity of the counts. */
void bench_run(struct bench *b);
void bench_done(struct bench *b);

/* attempted = succeeded + failed + timed out + unfinished, and failures have a name. */
void bench_check_identity(const struct bench *b);

/* Turn the loop until the number is that; 10 s at most. */
void bench_turn_until(struct bench *b, const unsigned *number, unsigned wanted);

/* What the client has counted: in all, of an error, of a status. */
const struct meter_counters *bench_counts(const struct bench *b);
uint64_t bench_errors(const struct bench *b, const char *name);
uint64_t bench_status(const struct bench *b, const char *name);

#endif
