/*
 * What evhttp answers by itself, before a request reaches the service (a request that is
 * no HTTP, one that is too large, a method it does not know) is an HTML page. It has no
 * hook for that in libevent 2.1, so the page is replaced where it is written: in the
 * output of its connection. A page that looks different is left as it is.
 */
#ifndef PROTOCOLS_HTTP_PAGE_H
#define PROTOCOLS_HTTP_PAGE_H

#include <stdbool.h>

struct bufferevent;
struct event_base;

/*
 * A connection for evhttp_set_bevcb, whose error pages are JSON like the service's own
 * answers: {"error": "..."}. *is_own is set while the service writes one of those. NULL
 * without memory, for which evhttp makes a connection of its own.
 */
struct bufferevent *http_page_connection(struct event_base *base, bool *is_own);

#endif
