/*
 * What the engine and its workers say to each other: one JSON object a line, over the
 * worker's standard input and output.
 *
 *      engine                                worker
 *        | --- hello ------------------------> |   version, role, values, endpoints
 *        | <------------------------ ready --- |   the endpoint that is really bound
 *        | --- start ------------------------> |   the common instant
 *        | <----------------------- sample --- |   every 100 ms
 *        | --- set, pause, resume -----------> |   a value changed live
 *        | <-------------------------- set --- |   the answer: whether it is in force
 *        | <----------------- note, fact ----- |   for people; results without a number
 *        | --- stop -------------------------> |   end; clients that are done need none
 *        | <------------------------- done --- |   totals, whole histograms, outcome
 *        |     (end of input)                  |   the worker exits
 *
 * `fail` takes the place of ready or done when the worker cannot go on. End of input
 * means exit at any moment, so a dead engine leaves no orphan. A message of another
 * version is answered by `fail`; unknown types and unknown members are ignored, so
 * that a later version may add some.
 */
#ifndef ENGINE_MESSAGE_H
#define ENGINE_MESSAGE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/sample.h"
#include "protocols/fail.h"
#include "protocols/options.h"
#include "protocols/role.h"

#define MESSAGE_VERSION 2 /* raise it when a change would be misread */

/* X(NAME, "text") */
#define MESSAGE_TYPES(X) \
    X(HELLO, "hello")    \
    X(READY, "ready")    \
    X(START, "start")    \
    X(SAMPLE, "sample")  \
    X(SET, "set")        \
    X(PAUSE, "pause")    \
    X(RESUME, "resume")  \
    X(NOTE, "note")      \
    X(FACT, "fact")      \
    X(STOP, "stop")      \
    X(DONE, "done")      \
    X(FAIL, "fail")

enum message_type {
#define X(id, text) MESSAGE_##id,
    MESSAGE_TYPES(X)
#undef X
        MESSAGE_UNKNOWN
};

struct hello {
    char role[32];
    unsigned index; /* of the process at its place, from 0 */
    char endpoint[256];
    char upstream[256];
    char pin[64]; /* list of cores, "" for none */
    struct options values;
};

/* A message is a cJSON object that the caller prints or deletes; NULL: out of memory. */
cJSON *message_new(enum message_type type);

/* What an object is; MESSAGE_UNKNOWN for no object, no type or an unknown one. */
enum message_type message_type(const cJSON *object);

/* The object "values" of hello and of a recording. 0 or -ENOMEM. */
int message_add_values(cJSON *object, const struct options *values);
int message_read_values(const cJSON *object, struct options *values);

/* hello: decoding allocates `values`, which the caller gives back by options_done. */
cJSON *message_hello(const struct hello *hello);
int message_read_hello(const cJSON *object, struct hello *hello, struct fail *fail);

/*
 * start: at_ns on the clock of the machine whose boot is `boot`; a worker of another
 * machine starts delay_ns after it reads the message.
 */
cJSON *message_start(uint64_t at_ns, uint64_t delay_ns, const char *boot);
uint64_t message_read_start(const cJSON *object, const char *own_boot);

/* The identity of this machine's boot, hence of its monotonic clock; "" if unknown. */
const char *message_boot(char *text, unsigned long size);

cJSON *message_fail(const struct fail *fail);
void message_read_fail(const cJSON *object, struct fail *fail);

/* done: totals as a sample with every histogram, and how it ended. */
cJSON *message_done(const struct sample *totals, enum outcome outcome,
                    const char *reason);
enum outcome message_read_outcome(const cJSON *object);

#endif
