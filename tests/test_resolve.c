/* A client of a name with several addresses finds the one at which the server is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/resolve.h"
#include "tests/hosts.h"

/* A server at an address, and which port it has; -1 when there is no such address. */
static int serve(int type, const char *host, unsigned *port)
{
    struct endpoint e = {.kind = type == SOCK_STREAM ? ENDPOINT_TCP : ENDPOINT_UDP,
                         .port = *port};
    struct sockaddr_storage a;
    socklen_t len;
    int fd;

    snprintf(e.host, sizeof(e.host), "%s", host);
    assert_int_equal(endpoint_address(&e, &a, &len, NULL), 0);
    fd = socket(a.ss_family, type, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&a, len) < 0) {
        close(fd);
        return -1;
    }
    if (type == SOCK_STREAM)
        assert_int_equal(listen(fd, 8), 0);
    len = sizeof(a);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    endpoint_from_address(&e, e.kind, &a);
    *port = e.port;
    return fd;
}

static bool names_both; /* "localhost" is both kinds of address here */

static int look_at_hosts(void **state)
{
    (void)state;
    names_both = hosts_name_both();
    return 0;
}

static void expect(int type, unsigned port, const char *host)
{
    struct endpoint e = {.kind = type == SOCK_STREAM ? ENDPOINT_TCP : ENDPOINT_UDP,
                         .host = "localhost",
                         .port = port};
    struct sockaddr_storage a;
    struct endpoint found;
    socklen_t len;

    assert_int_equal(resolve_address(&e, &a, &len, NULL), 0);
    endpoint_from_address(&found, e.kind, &a);
    assert_string_equal(found.host, host);
    assert_int_equal(found.port, port);
}

static void the_address_with_a_server_is_taken(void **state)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        unsigned port = 0;
        int v6 = serve(types[i], "::1", &port);
        int v4;

        if (v6 < 0 || !names_both)
            skip();
        expect(types[i], port, "::1");
        v4 = serve(types[i], "127.0.0.1", &port);
        assert_true(v4 >= 0);
        expect(types[i], port, "127.0.0.1");
        close(v6);
        expect(types[i], port, "127.0.0.1");
        close(v4);
        expect(types[i], port, "127.0.0.1"); /* nobody: the first one */
    }
}

/* nc -l takes one client and ends. */
static void the_server_notices_nothing(void **state)
{
    struct pollfd ready = {.events = POLLIN};
    unsigned port = 0;

    (void)state;
    ready.fd = serve(SOCK_STREAM, "::1", &port);
    if (ready.fd < 0 || !names_both)
        skip();
    expect(SOCK_STREAM, port, "::1");
    assert_int_equal(poll(&ready, 1, 0), 0);
    close(ready.fd);
}

static void addresses_and_paths_are_left_as_they_are(void **state)
{
    struct endpoint e = {.kind = ENDPOINT_TCP, .host = "192.0.2.1", .port = 9};
    struct sockaddr_storage a;
    struct fail fail = {0};
    socklen_t len;

    (void)state;
    assert_int_equal(resolve_address(&e, &a, &len, NULL), 0);
    assert_int_equal(a.ss_family, AF_INET);
    e = (struct endpoint){.kind = ENDPOINT_UNIX, .path = "/none"};
    assert_int_equal(resolve_address(&e, &a, &len, NULL), 0);
    assert_int_equal(a.ss_family, AF_UNIX);
    e = (struct endpoint){.kind = ENDPOINT_TCP, .host = "nowhere.invalid", .port = 9};
    assert_int_equal(resolve_address(&e, &a, &len, &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "nowhere.invalid"));
}

/* RFC 6761 6.3, for containers without a hosts file; other names stay unknown. */
static int look_up_without_hosts(void)
{
    static const char *const known[] = {"localhost", "LocalHost", "a.localhost"};
    struct endpoint e = {.kind = ENDPOINT_TCP, .port = 80};
    struct sockaddr_storage address;
    struct fail fail = {0};
    socklen_t len;

    if (!hosts_name_none())
        return 77;
    for (size_t i = 0; i < 3; i++) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&address;

        snprintf(e.host, sizeof(e.host), "%s", known[i]);
        if (endpoint_address(&e, &address, &len, NULL) != 0 ||
            address.ss_family != AF_INET ||
            ntohl(in->sin_addr.s_addr) != INADDR_LOOPBACK || ntohs(in->sin_port) != 80)
            return 1;
    }
    snprintf(e.host, sizeof(e.host), "notlocalhost");
    return endpoint_address(&e, &address, &len, &fail) == -EINVAL &&
                   strstr(fail.sentence, "not known")
               ? 0
               : 2;
}

static void localhost_needs_no_table_of_hosts(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(look_up_without_hosts());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_address_with_a_server_is_taken),
        cmocka_unit_test(the_server_notices_nothing),
        cmocka_unit_test(addresses_and_paths_are_left_as_they_are),
        cmocka_unit_test(localhost_needs_no_table_of_hosts),
    };

    return cmocka_run_group_tests(tests, look_at_hosts, NULL);
}
