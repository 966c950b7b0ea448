/*
 * Values that are the key to something: those of the header fields Authorization, Cookie
 * and Proxy-Authorization. A run is made with them, and its recording, which must be able
 * to make it again, keeps them in a file that its owner alone may read (mode 0600). What
 * is made to be shown or handed on has the name of the field and "(hidden)" for its
 * value.
 */
#ifndef ENGINE_SECRET_H
#define ENGINE_SECRET_H

#include "protocols/options.h"

/*
 * Set in `hidden` each text of `values` that has a secret in it, with that hidden; what
 * has none is not set. 0 or -ENOMEM.
 */
int secrets_hide(const struct options *values, struct options *hidden);

#endif
