/*
 * The directories of what is kept for a user: $XDG_STATE_HOME/plimsoll/NAME, else
 * ~/.local/state/plimsoll/NAME (XDG Base Directory Specification). They are private, with
 * mode 0700 as those above them that had to be made.
 */
#ifndef ENGINE_STATE_DIR_H
#define ENGINE_STATE_DIR_H

#include <stddef.h>

#include "protocols/fail.h"

/*
 * Where the directory is; it need not exist. The home is HOME's, else the one of the
 * user database; -ENOENT when there is none.
 */
int state_dir_path(const char *name, char *path, size_t size, struct fail *fail);

/* Make the directory at a path, with those above it; it may be there already. */
int state_dir_make(const char *path, struct fail *fail);

#endif
