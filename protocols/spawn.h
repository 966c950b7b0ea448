/*
 * Start a program on given descriptors. No code runs between fork and exec
 * (posix_spawn(3), which does not copy the caller's memory), so the cost does not
 * grow with the caller. Everything that the caller has open must close on exec.
 */
#ifndef PROTOCOLS_SPAWN_H
#define PROTOCOLS_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/* In a list of descriptors: /dev/null, open for reading and writing. */
#define SPAWN_NULL (-1)

/*
 * Start `argv` (argv[0] is looked up in PATH if it has no slash; ends with NULL). In
 * the child, descriptor i is fds[i], for i below count. Signals that the caller
 * ignores stay ignored in the child, as exec(3) has it. 0 and *pid, to be waited
 * for by the caller, or a negative errno: -ENOENT no such program, -EAGAIN the limit
 * of processes (RLIMIT_NPROC) is reached.
 */
int spawn_start(pid_t *pid, char *const argv[], const int *fds, size_t count);

#endif
