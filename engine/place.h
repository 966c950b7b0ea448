/*
 * A *place* is where a role stands in a scenario: server, endpoint, client. Each worker
 * process has one role at one place; several clients may share a place.
 */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

enum place { PLACE_SERVER, PLACE_ENDPOINT, PLACE_CLIENT, PLACE_COUNT };

const char *place_name(enum place place); /* "server", "endpoint", "client" */

#endif
