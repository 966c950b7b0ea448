#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/http/url.h"

static void good(const char *text, const char *host, unsigned port, const char *authority,
                 const char *target)
{
    struct fail fail = {0};
    struct url u;

    assert_int_equal(url_parse(&u, text, &fail), 0);
    assert_string_equal(u.host, host);
    assert_int_equal(u.port, port);
    assert_string_equal(u.authority, authority);
    assert_string_equal(u.target, target);
    free(u.target);
}

/* Refused, with a sentence that holds `word`. */
static void bad(const char *text, const char *word)
{
    struct fail fail = {0};
    struct url u;

    if (url_parse(&u, text, &fail) != -EINVAL)
        fail_msg("'%s' was not refused", text);
    if (!strstr(fail.sentence, word))
        fail_msg("'%s': '%s' does not say '%s'", text, fail.sentence, word);
}

static void hosts_and_ports(void **state)
{
    (void)state;
    good("http://localhost:9000/sum", "localhost", 9000, "localhost:9000", "/sum");
    good("http://example.org", "example.org", 80, "example.org", "/");
    good("http://example.org:80/", "example.org", 80, "example.org", "/");
    good("http://example.org:/", "example.org", 80, "example.org", "/");
    good("http://127.0.0.1:1/", "127.0.0.1", 1, "127.0.0.1:1", "/");
    good("http://h:65535/", "h", 65535, "h:65535", "/");
    good("http://h:00080/", "h", 80, "h", "/");
    good("HTTP://LocalHost/A", "localhost", 80, "localhost", "/A");
    good("http://my_host-1.test/", "my_host-1.test", 80, "my_host-1.test", "/");
}

static void ipv6(void **state)
{
    (void)state;
    good("http://[::1]:8080/x", "::1", 8080, "[::1]:8080", "/x");
    good("http://[::1]", "::1", 80, "[::1]", "/");
    good("http://[fe80::1%25lo]:81/", "fe80::1%lo", 81, "[fe80::1]:81", "/");
    good("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1", 80, "[::ffff:127.0.0.1]", "/");
    bad("http://[::1/", "bracket");
    bad("http://[]/", "IPv6");
    bad("http://[localhost]/", "IPv6");
    bad("http://[1.2.3.4]/", "IPv6");
    bad("http://[::1]x/", "behind the bracket");
    bad("http://[::1%lo]/", "zone");
    bad("http://[::1%25]/", "zone");
    bad("http://[::1%25l/o]/", "bracket");
    bad("http://[::1%25a b]/", "zone");
    bad("http://[:::::::::::::::::::::::::::::::::::::::::::::::::::::1]/", "IPv6");
    bad("http://::1/", "brackets");
    bad("http://fe80::1:80/", "brackets");
}

static void paths(void **state)
{
    (void)state;
    good("http://h?q=1", "h", 80, "h", "/?q=1");
    good("http://h/a/b?c=d&e#top", "h", 80, "h", "/a/b?c=d&e");
    good("http://h#top", "h", 80, "h", "/");
    good("http://h/a@b:c", "h", 80, "h", "/a@b:c");
    good("http://h/%7Euser", "h", 80, "h", "/%7Euser");
    good("http://h/\xc3\xa9", "h", 80, "h", "/%C3%A9");
    bad("http://h/a b", "blank");
    bad("http://h/a\r\nX: y", "control");
    bad("http://h/\x7f", "control");
}

static void refused(void **state)
{
    (void)state;
    bad("", "scheme");
    bad("localhost:9000/sum", "no scheme");
    bad("/sum", "no scheme");
    bad("http:/h", "no scheme");
    bad("ftp://h/", "other than http");
    bad("https://h/", "https");
    bad("HTTPS://h/", "https");
    bad("http://", "no host");
    bad("http:///sum", "no host");
    bad("http://:80/", "no host");
    bad("http://h:0/", "1 to 65535");
    bad("http://h:65536/", "1 to 65535");
    bad("http://h:4294967376/", "1 to 65535");
    bad("http://h:99999999999999999999/", "1 to 65535");
    bad("http://h:8o/", "not a number");
    bad("http://h:-1/", "not a number");
    bad("http://h: 80/", "not a number");
    bad("http://user@h/", "user or password");
    bad("http://user:secret@h:80/", "user or password");
    bad("http://h st/", "host name");
    bad("http://h\\x/", "host name");
}

static void long_ones(void **state)
{
    char text[3000] = "http://";

    (void)state;
    memset(text + 7, 'a', 107);
    strcpy(text + 7 + 107, ":65535/");
    text[7 + 107 + 7] = '\0';
    struct url u;
    struct fail fail = {0};
    assert_int_equal(url_parse(&u, text, &fail), 0);
    assert_int_equal(strlen(u.host), 107);
    assert_int_equal(strlen(u.authority), 113);
    free(u.target);
    memset(text + 7, 'a', 108);
    strcpy(text + 7 + 108, "/");
    bad(text, "107");
    strcpy(text, "http://h/");
    memset(text + 9, 'b', 2000);
    text[2009] = '\0';
    assert_int_equal(url_parse(&u, text, &fail), 0);
    assert_int_equal(strlen(u.target), 2001);
    free(u.target);
}

static void targets(void **state)
{
    struct fail fail = {0};
    char *t;

    (void)state;
    assert_int_equal(url_target(&t, "sum", &fail), 0);
    assert_string_equal(t, "/sum");
    free(t);
    assert_int_equal(url_target(&t, "", &fail), 0);
    assert_string_equal(t, "/");
    free(t);
    assert_int_equal(url_target(&t, "/a\tb", &fail), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_and_ports), cmocka_unit_test(ipv6),
        cmocka_unit_test(paths),           cmocka_unit_test(refused),
        cmocka_unit_test(long_ones),       cmocka_unit_test(targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
