/*
 * The client's side of Topper (topper.h). A reply has no framing either, so the caller
 * says where it ends: at its first line end, or when the server has fallen silent for
 * TOPPER_REPLY_QUIET_NS after some of it (tasks may answer in several lines, or in
 * none). The end of the connection ends it too.
 *
 * A *line* is one connection with one message under way at a time, as servers without
 * framing need it; it is in an event loop. topper_call asks several servers at once
 * and waits.
 */
#ifndef PROTOCOLS_TOPPER_CLIENT_H
#define PROTOCOLS_TOPPER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "protocols/fail.h"

#define TOPPER_REPLY_QUIET_NS 50000000ull
#define TOPPER_REPLY_MAX (4u * 1024u * 1024u) /* bytes; more is -EMSGSIZE */

struct event_base;
struct topper_line;

enum topper_reply_end { TOPPER_AT_LINE_END, TOPPER_AT_SILENCE };

/*
 * Called once for each message: err is 0, or a negative errno: of connecting, writing
 * or reading; -ETIMEDOUT; -ECONNRESET where the server closed without a reply;
 * -EMSGSIZE. The text is borrowed and ends before its line ends. It is allowed to ask
 * again, or to free the line, from within.
 */
typedef void topper_replied(void *arg, int err, const char *text, size_t len);

/* A line that is not connected; NULL when out of memory. The address is copied. */
struct topper_line *topper_line_new(struct event_base *base,
                                    const struct sockaddr_storage *address, socklen_t len,
                                    enum topper_reply_end end);

/* Closes the connection; a message under way gets no call. */
void topper_line_free(struct topper_line *l);

/*
 * Send one message, connecting first where the line is not, and wait for its reply at
 * most timeout_ns. The message is copied. Not while another is under way. 0 or -ENOMEM;
 * everything else comes by `replied`, from the event loop.
 */
int topper_line_ask(struct topper_line *l, const char *message, size_t len,
                    uint64_t timeout_ns, topper_replied *replied, void *arg);

/*
 * Whether the line is connected and has had a reply: then a failure may only mean that
 * the server closed it in the meantime.
 */
bool topper_line_is_used(const struct topper_line *l);

/* When the last byte of the last reply came; within `replied` that of this one. */
uint64_t topper_line_replied_ns(const struct topper_line *l);

/*
 * `TASK` or `TASK payload` as the bytes to send, or, with a NULL task, the payload alone
 * for a server of a single task: a JSON object or array is sent without a line end, as
 * programs do, anything else with one. The task is one word; a payload of several lines
 * must be JSON. NULL with a sentence. The caller frees it.
 */
char *topper_message(const char *task, const char *payload, struct fail *fail);

struct topper_result {
    int err;             /* 0 or a negative errno, as for topper_replied */
    char *reply;         /* owned; "" on an error */
    uint64_t elapsed_ns; /* to the last byte of the reply; on an error, to the error */
};

/*
 * Send the message (topper_message) to `count` servers ("HOST:PORT" or an endpoint,
 * "tcp:HOST:PORT", "unix:PATH") at once and wait for all replies; results[i] is
 * servers[i]'s. 0 when the replies could be asked for (each has its own err), or a
 * negative errno with a sentence for a mistake of the user's. Afterwards
 * topper_results_done.
 */
int topper_call(const char *const *servers, size_t count, const char *task,
                const char *payload, uint64_t timeout_ns, struct topper_result *results,
                struct fail *fail);

void topper_results_done(struct topper_result *results, size_t count);

#endif
