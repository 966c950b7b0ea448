/*
 * Where socket files and FIFOs lie on disk, and when one may be replaced.
 *
 * A file that nobody listens on is *stale*: its server was killed. Stale files are
 * removed and replaced without a question; a file that somebody listens on means
 * "address in use"; anything that is not a socket or a FIFO is refused and never
 * touched.
 *
 * A server that was given no path makes one in the private directory
 * $XDG_RUNTIME_DIR/plimsoll-UID (else in /dev/shm, $TMPDIR or /tmp), mode 0700, which
 * must belong to the user; the directory goes when its last file went.
 */
#ifndef PROTOCOLS_SOCKET_PATH_H
#define PROTOCOLS_SOCKET_PATH_H

#include <stddef.h>
#include <sys/types.h>

#include "protocols/fail.h"

/*
 * A path that no other process uses, in the private directory, which is made if
 * need be: "DIR/STEM-PID-N". 0, or a negative errno with a sentence.
 */
int socket_path_private(char *path, size_t size, const char *stem, struct fail *fail);

/*
 * Make sure that a path is free for a socket or a FIFO: 0 when there was nothing
 * or a stale one, which is gone then; -EADDRINUSE, -EEXIST or another errno with a
 * sentence. `fail` may be null.
 */
int socket_path_clear(const char *path, struct fail *fail);
int socket_path_clear_fifo(const char *path, struct fail *fail);

/* Remove the pairs PATH.NAME.up and PATH.NAME.down that clients left at a FIFO. */
void socket_path_clear_pairs(const char *path);

/*
 * Remove what a process that was killed left in the private directory, and that if it
 * is empty then. What somebody listens on is left alone.
 */
void socket_path_clear_process(pid_t pid);

/* Remove the directory of `path` if it is the private one and empty. */
void socket_path_leave(const char *path);

#endif
