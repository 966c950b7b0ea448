/* What the name "localhost" is to a test: machines differ in their table of hosts. */
#ifndef TESTS_HOSTS_H
#define TESTS_HOSTS_H

#include <stdbool.h>

/*
 * Whether "localhost" is 127.0.0.1 and ::1. Where it is not, the process first tries to
 * give itself an /etc that says so, in namespaces of its own: for the set-up of a
 * program's tests.
 */
bool hosts_name_both(void);

/* The same for a table in which "localhost" does not stand, for a child of a test. */
bool hosts_name_none(void);

#endif
