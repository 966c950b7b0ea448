/*
 * An HTTP server that does what no server should, in the event loop of a test. It
 * counts the whole requests it got and answers each with the same bytes, at once or
 * byte by byte; its vices are the fields.
 */
#ifndef TESTS_ODD_SERVER_H
#define TESTS_ODD_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct event;
struct odd_conn;

struct odd_server {
    /* Set at any time. */
    const char *reply;
    size_t reply_len;
    bool is_bytewise;
    bool takes_lines;     /* a request is a line, not an HTTP one */
    bool closes;          /* after each reply */
    bool closes_at_once;  /* on accept, before reading */
    bool answers_early;   /* replies to the first bytes and closes with the rest unread */
    bool is_silent;       /* reads and never replies */
    size_t stalls_at;     /* stops after so many bytes of a reply; 0: never */
    unsigned drops_every; /* closes each such connection at once; 0: never */
    unsigned silent_every; /* does not answer each such request; 0: never */

    /* To read. */
    char endpoint[160];
    unsigned port;
    unsigned connections, requests, open;
    char last[8192]; /* the last request, as far as it fits */

    /* Private. */
    struct event_base *base;
    struct event *accept;
    int fd;
    struct odd_conn *conns;
};

/* Listen on loopback, port 0 for any, or at a Unix path; false when that fails. */
bool odd_server_open(struct odd_server *s, struct event_base *base, unsigned port);
bool odd_server_open_unix(struct odd_server *s, struct event_base *base,
                          const char *path);

void odd_server_reply(struct odd_server *s, const char *text);

/* Stop listening and drop every connection; the counts stay. */
void odd_server_close(struct odd_server *s);

#endif
