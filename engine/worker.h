/*
 * The worker: the process that runs one role. It knows its standard input and output
 * and nothing else of the world, so whatever can carry two byte streams (a socket
 * pair, `ip netns exec`, ssh) can stand between it and the engine.
 */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

/*
 * Serve one hello on the descriptors until the reading one ends; both are taken over.
 * Returns the exit code of the process: 0, or 3 when the role failed.
 */
int worker_main(int read_fd, int write_fd);

#endif
