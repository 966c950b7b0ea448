/*
 * A connection typed by hand, as into nc: what is said, and what has come back. What does
 * not come within five seconds fails the running cmocka test.
 */
#ifndef TESTS_LINE_H
#define TESTS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include <event2/event.h>

struct line {
    struct event_base *base;
    int fd;
    struct event *readable;
    char in[200000];
    size_t len;
    bool ended;
    const char *wanted; /* stop turning the loop when this has come */
    bool found;
};

struct line *line_open(struct event_base *base, const char *endpoint);
void line_say(struct line *l, const char *text);

/* Until the text has come back; NULL: until the other side ends. */
void line_expect(struct line *l, const char *text);

/* All that has come back is exactly this. */
void line_expect_exactly(struct line *l, const char *text);
void line_close(struct line *l);

#endif
