/*
 * The URL of an HTTP server (RFC 3986, the http scheme of RFC 9110 section 4.2.1):
 *
 *   http://HOST[:PORT][/PATH][?QUERY][#FRAGMENT]     HOST a name, 127.0.0.1 or [::1]
 *
 * The scheme must be written. The port is 1..65535 and 80 when it is left out. A
 * fragment is never sent, so it is dropped. User and password are refused, since a
 * load generator must not guess how they are to be sent.
 */
#ifndef PROTOCOLS_HTTP_URL_H
#define PROTOCOLS_HTTP_URL_H

#include "protocols/fail.h"

struct url {
    char host[108];      /* to dial: lower case, without brackets */
    unsigned port;       /* 1..65535 */
    char authority[128]; /* the value of the Host field; the port only where not 80 */
    char *target; /* what stands in the request line, "/sum?x=1"; the caller's to free */
};

/*
 * Text to URL. Bytes above 0x7f in path and query become %XX; blanks and control
 * characters are refused. 0, -EINVAL with a sentence that says what is wrong and
 * how it is written, or -ENOMEM. On an error there is no target to free.
 */
int url_parse(struct url *u, const char *text, struct fail *fail);

/*
 * A path as a request target: the same checks, and a '/' in front where there is
 * none. *target is the caller's to free. 0, -EINVAL with a sentence, or -ENOMEM.
 */
int url_target(char **target, const char *path, struct fail *fail);

#endif
