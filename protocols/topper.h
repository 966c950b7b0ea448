/*
 * Topper: a text protocol over TCP. A message is `TASK` or `TASK payload`, the
 * payload JSON where it is JSON and a string elsewhere; a reply is plain text.
 * A server is of one of three modes: *multi* (the first word names the task), and
 * the single-task modes *echo* and *greeting*, where every message goes to that
 * task. This module is pure: it cuts messages out of bytes and answers them.
 *
 * The protocol has no framing, so a message ends where its sender can have meant it
 * to end, and how the bytes were cut into segments never matters:
 *
 *  1. at a line end (nc, people);
 *  2. where a JSON object or array that is the payload closes (programs that write
 *     `TASK {json}` and wait, without a line end). Not in echo mode, whose payload is
 *     any text;
 *  3. when the sender has ended its sending;
 *  4. when it has fallen silent: after TOPPER_QUIET_NS if what is there can be
 *     answered without an error (`Ping`), else after TOPPER_PATIENCE_NS with the
 *     error, so that a slow sender is not cut in two and a broken one does not wait
 *     for ever.
 *
 * Line ends and blanks before a message are skipped, so an empty line is no message.
 */
#ifndef PROTOCOLS_TOPPER_H
#define PROTOCOLS_TOPPER_H

#include <stdbool.h>
#include <stddef.h>

#define TOPPER_MESSAGE_MAX (1024u * 1024u) /* bytes; a longer one is refused */
#define TOPPER_QUIET_NS 30000000ull
#define TOPPER_PATIENCE_NS 2000000000ull

struct evbuffer;

enum topper_mode { TOPPER_MULTI, TOPPER_ECHO, TOPPER_GREETING };

/* "multi", "echo", "greeting": 0 and the mode, or -ENOENT. */
int topper_mode_find(const char *name, enum topper_mode *mode);

/* Borrowed from the bytes that were given. */
struct topper_message {
    const char *text; /* without the line end */
    size_t len;
    bool has_newline; /* a line end came with it */
};

enum topper_step {
    TOPPER_MORE,     /* no whole message yet */
    TOPPER_MESSAGE,  /* *m is set */
    TOPPER_TOO_LONG, /* reported once; the rest up to a line end or a silence is skipped
                      */
};

/* Where the splitter of one connection stands. The fields are private. */
struct topper_split {
    enum topper_mode mode;
    int phase;
    size_t scanned;
    size_t depth;
    bool in_string, escaped;
};

void topper_split_init(struct topper_split *s, enum topper_mode mode);

/*
 * Find the next message in the bytes that are not used yet. The caller drops *used
 * bytes after every step (the message included: answer it first), and after
 * TOPPER_MORE calls again when bytes have been added behind the ones left.
 */
enum topper_step topper_split_next(struct topper_split *s, const char *bytes, size_t len,
                                   size_t *used, struct topper_message *m);

/*
 * The message that the bytes left would be if nothing followed, for rules 3 and 4.
 * False when there is none. To take it: answer it, drop all bytes, and
 * topper_split_init.
 */
bool topper_split_rest(const struct topper_split *s, const char *bytes, size_t len,
                       struct topper_message *m);

/* Whether no message has begun: nothing is waited for. */
bool topper_split_is_between(const struct topper_split *s);

/*
 * Append the reply to a message. 0, or -EINVAL when what was appended is an error
 * line: an unknown task, a payload that is not JSON though it begins like it, or one
 * that the task cannot work on. -ENOMEM: nothing was appended.
 */
int topper_answer(enum topper_mode mode, const struct topper_message *m,
                  struct evbuffer *reply);

/* Append the error line of a message over TOPPER_MESSAGE_MAX. */
void topper_answer_too_long(struct evbuffer *reply);

/* How every error line of ours begins. */
#define TOPPER_ERROR "Error: "

/* The line of a reply, from bytes cut anywhere. Zero bytes are the start of one. */
struct topper_reply {
    size_t len;       /* bytes of the line so far, without its '\n' */
    size_t matched;   /* of them, how many are those of TOPPER_ERROR */
    bool is_complete; /* its '\n' has come */
};

/* Take bytes up to the end of the line; how many. After a complete one, begin anew. */
size_t topper_reply_feed(struct topper_reply *r, const char *bytes, size_t len);

/* Whether the line says that something was wrong. */
bool topper_reply_is_error(const struct topper_reply *r);

#endif
