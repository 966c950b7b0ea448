#include "protocols/http/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_PORT 80

static int refuse(struct fail *fail, const char *text, const char *why)
{
    return fail_usage(fail, "url", "the URL '%.120s' %s", text, why);
}

int url_target(char **target, const char *path, struct fail *fail)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t len = strcspn(path, "#");
    char *to = malloc(3 * len + 2);
    char *at = to;

    if (!to)
        return fail_set(fail, ENOMEM, "url", "no memory for the path");
    if (len == 0 || path[0] != '/')
        *at++ = '/';
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)path[i];

        if (c <= ' ' || c == 0x7f) {
            free(to);
            return fail_usage(
                fail, "url",
                "the path '%.120s' has a blank or a control character in it; "
                "write it as %%%02X",
                path, c);
        }
        if (c < 0x7f) {
            *at++ = (char)c;
            continue;
        }
        *at++ = '%';
        *at++ = hex[c >> 4];
        *at++ = hex[c & 15];
    }
    *at = '\0';
    *target = to;
    return 0;
}

/* Where the text behind "http://" stands; NULL with a sentence for another scheme. */
static const char *skip_scheme(const char *text, struct fail *fail)
{
    if (strncasecmp(text, "http://", 7) == 0)
        return text + 7;
    if (strncasecmp(text, "https://", 8) == 0)
        refuse(fail, text, "is https, which is not supported; load goes over plain http");
    else if (strstr(text, "://"))
        refuse(fail, text, "has a scheme other than http");
    else
        refuse(fail, text, "has no scheme; write http:// in front of it");
    return NULL;
}

static bool is_host_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

/* An address in brackets. A zone ("%25eth0", RFC 6874) is dialled and never sent. */
static int bracketed_host(struct url *u, const char *host, size_t len, const char *text,
                          struct fail *fail)
{
    struct in6_addr address;
    char plain[INET6_ADDRSTRLEN];
    const char *zone = memchr(host, '%', len);
    size_t bare = zone ? (size_t)(zone - host) : len;
    size_t zone_len = zone ? len - bare : 0;

    if (bare >= sizeof(plain))
        return refuse(fail, text, "has no IPv6 address between the brackets");
    memcpy(plain, host, bare);
    plain[bare] = '\0';
    if (inet_pton(AF_INET6, plain, &address) != 1)
        return refuse(fail, text, "has no IPv6 address between the brackets");
    if (zone && (zone_len < 4 || zone_len > 32 || strncmp(zone, "%25", 3) != 0))
        return refuse(fail, text, "has a zone that is not written as %25NAME");
    for (size_t i = 3; i < zone_len; i++)
        if (!is_host_char(zone[i]))
            return refuse(fail, text, "has a zone that is not written as %25NAME");
    snprintf(u->host, sizeof(u->host), "%s%s%.*s", plain, zone ? "%" : "",
             zone ? (int)(zone_len - 3) : 0, zone ? zone + 3 : "");
    snprintf(u->authority, sizeof(u->authority), "[%s]", plain);
    return 0;
}

static int named_host(struct url *u, const char *host, size_t len, const char *text,
                      struct fail *fail)
{
    if (len == 0)
        return refuse(fail, text, "has no host");
    if (len >= sizeof(u->host))
        return refuse(fail, text, "has a host of more than 107 bytes");
    for (size_t i = 0; i < len; i++) {
        if (!is_host_char(host[i]))
            return refuse(fail, text,
                          "has a host with a character that no host name has");
        u->host[i] = (char)tolower((unsigned char)host[i]);
    }
    u->host[len] = '\0';
    snprintf(u->authority, sizeof(u->authority), "%s", u->host);
    return 0;
}

/* The port behind the colon; an empty one is the default (RFC 3986 section 3.2.3). */
static int port_number(struct url *u, const char *digits, size_t len, const char *text,
                       struct fail *fail)
{
    unsigned port = 0;
    size_t used;

    if (len == 0)
        return 0;
    for (size_t i = 0; i < len; i++) {
        if (!isdigit((unsigned char)digits[i]))
            return refuse(fail, text, "has a port that is not a number");
        if (port <= 65535)
            port = port * 10 + (unsigned)(digits[i] - '0');
    }
    if (port < 1 || port > 65535)
        return refuse(fail, text, "has a port outside 1 to 65535");
    u->port = port;
    used = strlen(u->authority);
    if (port != HTTP_PORT)
        snprintf(u->authority + used, sizeof(u->authority) - used, ":%u", port);
    return 0;
}

static int authority(struct url *u, const char *at, size_t len, const char *text,
                     struct fail *fail)
{
    const char *end = at + len;
    const char *host_end;
    int err;

    if (memchr(at, '@', len))
        return refuse(fail, text,
                      "has a user or password in it; send them as a header, as in "
                      "-H 'Authorization: Basic ...'");
    if (len && *at == '[') {
        host_end = memchr(at, ']', len);
        if (!host_end)
            return refuse(fail, text, "has a bracket that is not closed");
        err = bracketed_host(u, at + 1, (size_t)(host_end - at) - 1, text, fail);
        host_end++;
    } else {
        host_end = memchr(at, ':', len);
        if (host_end && memchr(host_end + 1, ':', (size_t)(end - host_end) - 1))
            return refuse(fail, text,
                          "has more than one colon behind the host; an IPv6 address "
                          "stands in brackets, as in http://[::1]:80/");
        if (!host_end)
            host_end = end;
        err = named_host(u, at, (size_t)(host_end - at), text, fail);
    }
    if (err || host_end == end)
        return err;
    if (*host_end != ':')
        return refuse(fail, text, "has something other than a port behind the bracket");
    return port_number(u, host_end + 1, (size_t)(end - host_end) - 1, text, fail);
}

int url_parse(struct url *u, const char *text, struct fail *fail)
{
    const char *at = skip_scheme(text, fail);
    size_t len;
    int err;

    memset(u, 0, sizeof(*u));
    u->port = HTTP_PORT;
    if (!at)
        return -EINVAL;
    len = strcspn(at, "/?#");
    err = authority(u, at, len, text, fail);
    if (err)
        return err;
    return url_target(&u->target, at + len, fail);
}
