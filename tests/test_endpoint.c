/* Endpoints as text and as addresses, the places of socket files, lists of CPUs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "protocols/endpoint.h"
#include "protocols/pin.h"
#include "protocols/socket_path.h"
#include "protocols/spawn.h"
#include "protocols/transport.h"
#include "protocols/words.h"
#include "tests/pair.h"

static void every_form_comes_back_as_it_was(void **state)
{
    static const char *const forms[] = {
        "tcp:127.0.0.1:4000", "tcp:[::1]:0",   "udp:localhost:65535",
        "udp:[fe80::1]:8123", "unix:/run/s",   "unix:@abstract",
        "unix:relative",      "pipe:/tmp/a:b",
    };
    struct endpoint e;
    char text[160];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(forms); i++) {
        assert_int_equal(endpoint_parse(&e, forms[i], NULL), 0);
        endpoint_format(&e, text, sizeof(text));
        assert_string_equal(text, forms[i]);
    }
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "not an endpoint"},
        {"tcp", "not an endpoint"},
        {"tpc:localhost:1", "not an endpoint"},
        {"tcp", "tcp:HOST:PORT, unix:PATH, pipe:PATH or udp:HOST:PORT"},
        {"a-kind-whose-name-is-long:1", "not an endpoint"},
        {":1", "not an endpoint"},
        {"tcp:", "no port"},
        {"tcp:localhost", "no port"},
        {"tcp::80", "no host"},
        {"tcp:[]:80", "no host"},
        {"tcp:[::1]", "no port"},
        {"tcp:[::1", "no port"},
        {"tcp:::1:80", "brackets"},
        {"tcp:localhost:", "not a port"},
        {"tcp:localhost:65536", "not a port"},
        {"tcp:localhost:-1", "not a port"},
        {"tcp:localhost:+1", "not a port"},
        {"tcp:localhost: 1", "not a port"},
        {"tcp:localhost:80x", "not a port"},
        {"tcp:localhost:99999999999999999999", "not a port"},
        {"unix:", "no path"},
        {"unix:@", "no path"},
        {"pipe:", "no path"},
        {"pipe:@a", "abstract"},
    };
    struct endpoint e;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        struct fail fail = {0};

        assert_int_equal(endpoint_parse(&e, cases[i].text, &fail), -EINVAL);
        if (!strstr(fail.sentence, cases[i].words))
            fail_msg("\"%s\": %s", cases[i].text, fail.sentence);
    }
}

static void words_are_listed_as_people_do(void **state)
{
    static const char *const words[] = {"a", "b", "c"};
    char text[12], cut[5];

    (void)state;
    words_or(words, 0, text, sizeof(text));
    assert_string_equal(text, "");
    words_or(words, 1, text, sizeof(text));
    assert_string_equal(text, "a");
    words_or(words, 2, text, sizeof(text));
    assert_string_equal(text, "a or b");
    words_or(words, 3, text, sizeof(text));
    assert_string_equal(text, "a, b or c");
    words_or(words, 3, cut, sizeof(cut));
    assert_string_equal(cut, "a, b");
}

static void a_path_has_107_bytes_at_most(void **state)
{
    struct sockaddr_storage address;
    struct fail fail = {0};
    struct endpoint e;
    socklen_t len;
    char text[128];

    (void)state;
    memset(text, 'p', sizeof(text));
    memcpy(text, "unix:", 5);
    text[5 + 107] = '\0';
    assert_int_equal(endpoint_parse(&e, text, NULL), 0);
    assert_int_equal(endpoint_address(&e, &address, &len, NULL), 0);
    assert_int_equal(strlen(((struct sockaddr_un *)(void *)&address)->sun_path), 107);
    text[5 + 107] = 'p';
    text[5 + 108] = '\0';
    assert_int_equal(endpoint_parse(&e, text, &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "has 108 bytes"));

    memset(text, 'h', sizeof(text));
    memcpy(text, "tcp:", 4);
    memcpy(text + 120, ":1", 3);
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(endpoint_parse(&e, text, &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "too long"));
}

static void loopback_is_recognised(void **state)
{
    static const struct {
        const char *text;
        bool loopback;
    } cases[] = {
        {"tcp:127.0.0.1:1", true},
        {"tcp:127.9.9.9:1", true},
        {"tcp:[::1]:1", true},
        {"tcp:[::ffff:127.0.0.1]:1", true},
        {"tcp:0.0.0.0:1", false},
        {"tcp:10.0.0.1:1", false},
        {"tcp:[::ffff:9.9.9.9]:1", false},
        {"tcp:[fe80::1]:1", false},
        {"udp:128.0.0.1:1", false},
        {"unix:/x", true},
        {"pipe:/x", true},
    };
    struct sockaddr_storage address;
    struct endpoint e;
    socklen_t len;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(cases); i++) {
        assert_int_equal(endpoint_parse(&e, cases[i].text, NULL), 0);
        if (e.kind != ENDPOINT_PIPE)
            assert_int_equal(endpoint_address(&e, &address, &len, NULL), 0);
        assert_int_equal(endpoint_is_loopback(&e, &address), cases[i].loopback);
    }
}

static void addresses_become_endpoints(void **state)
{
    static const char *const forms[] = {"tcp:127.0.0.1:4000", "tcp:[::1]:4001"};
    struct sockaddr_storage address;
    struct endpoint e, back;
    socklen_t len;
    char text[160];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(endpoint_parse(&e, forms[i], NULL), 0);
        assert_int_equal(endpoint_address(&e, &address, &len, NULL), 0);
        endpoint_from_address(&back, ENDPOINT_TCP, &address);
        endpoint_format(&back, text, sizeof(text));
        assert_string_equal(text, forms[i]);
    }
    assert_int_equal(endpoint_parse(&e, "unix:@name", NULL), 0);
    assert_int_equal(endpoint_address(&e, &address, &len, NULL), 0);
    assert_int_equal(len, offsetof(struct sockaddr_un, sun_path) + 5);
    assert_int_equal(((struct sockaddr_un *)(void *)&address)->sun_path[0], '\0');
}

/* Places. */

static void private_paths_are_private_and_different(void **state)
{
    char directory[] = "/tmp/plimsoll-test-XXXXXX";
    char one[108], two[108], shared[160];
    struct fail fail = {0};
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(directory));
    setenv("XDG_RUNTIME_DIR", directory, 1);
    assert_int_equal(socket_path_private(one, sizeof(one), "unix", NULL), 0);
    assert_int_equal(socket_path_private(two, sizeof(two), "unix", NULL), 0);
    assert_string_not_equal(one, two);
    snprintf(shared, sizeof(shared), "%s/plimsoll-%u", directory, (unsigned)getuid());
    assert_int_equal(stat(shared, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);

    /* Others could put something there: not used. */
    assert_int_equal(chmod(shared, 0770), 0);
    assert_int_equal(socket_path_private(one, sizeof(one), "unix", &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "not a private directory"));
    socket_path_leave(two);
    assert_int_equal(rmdir(directory), 0);

    /* A variable that names no directory is as good as none. */
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
    setenv("TMPDIR", "/nonexistent", 1);
    assert_int_equal(socket_path_private(one, sizeof(one), "unix", NULL), 0);
    assert_non_null(strstr(one, "/plimsoll-"));
    assert_null(strstr(one, "nonexistent"));
    socket_path_leave(one);
    unsetenv("TMPDIR");
}

static void socket_path_leaves_other_directories_alone(void **state)
{
    char directory[] = "/tmp/plimsoll-test-XXXXXX";
    char path[64];

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/socket", directory);
    socket_path_leave(path);
    assert_int_equal(rmdir(directory), 0);
}

/* Pairs of this rendezvous go; other files and other names stay. */
static void only_pairs_are_cleared(void **state)
{
    static const char *const names[] = {"p.x.up", "p.x.down", "p.x", "q.x.up", "px.up"};
    char directory[] = "/tmp/plimsoll-test-XXXXXX";
    char path[96];

    (void)state;
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        assert_int_equal(mkfifo(path, 0600), 0);
    }
    snprintf(path, sizeof(path), "%s/p.file.up", directory);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(unlink(path), 0);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    snprintf(path, sizeof(path), "%s/p", directory);
    socket_path_clear_pairs(path);
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        assert_int_equal(unlink(path), i < 2 ? -1 : 0);
    }
    snprintf(path, sizeof(path), "%s/p.file.up", directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void a_live_server_is_not_removed(void **state)
{
    static const char *const transports[] = {"unix", "pipe"};
    char directory[] = "/tmp/plimsoll-test-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(directory));
    setenv("XDG_RUNTIME_DIR", directory, 1);
    for (size_t t = 0; t < 2; t++) {
        struct options o = {0};
        struct listener l;
        struct stat st;

        options_set_text(&o, OPTION_transport, transports[t]);
        assert_int_equal(listener_open(&l, &o, NULL), 0);
        endpoint_remove(&l.bound);
        assert_int_equal(stat(l.bound.path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        listener_close(&l);
        options_done(&o);
    }
    assert_int_equal(rmdir(directory), 0);
}

/* The next client, which may be on its way still. */
static void accept_next(struct listener *l, struct conn *c)
{
    struct pollfd ready = {.fd = l->fd, .events = POLLIN};
    int err = l->transport->accept(l, c);

    while (err == -EAGAIN && poll(&ready, 1, 10000) == 1)
        err = l->transport->accept(l, c);
    assert_int_equal(err, 0);
}

/* Counted: so many connections that nobody has accepted, then at the server as well. */
static void connections_keep_the_descriptors_that_their_row_says(void **state)
{
    static const struct transport *const transports[] = {
#define X(kind, id, name, form) &transport_##id,
        ENDPOINT_STREAMS(X)
#undef X
    };
    enum { CONNECTIONS = 5 };
    char directory[] = "/tmp/plimsoll-test-XXXXXX";

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_non_null(mkdtemp(directory));
    setenv("XDG_RUNTIME_DIR", directory, 1);
    for (size_t t = 0; t < NUMBER_OF(transports); t++) {
        struct conn client[CONNECTIONS], server[CONNECTIONS];
        struct options o = {0};
        struct listener l;
        struct target target;
        char text[160];
        unsigned before;

        options_set_text(&o, OPTION_transport, transport_name(transports[t]));
        options_set_number(&o, OPTION_port, 0);
        assert_int_equal(listener_open(&l, &o, NULL), 0);
        endpoint_format(&l.bound, text, sizeof(text));
        assert_int_equal(target_init(&target, text, &o, NULL), 0);
        before = open_descriptors();
        for (size_t i = 0; i < CONNECTIONS; i++)
            assert_int_equal(transports[t]->connect(&target, &client[i]), 0);
        assert_int_equal(open_descriptors(),
                         before + CONNECTIONS * transports[t]->client_fds);
        for (size_t i = 0; i < CONNECTIONS; i++)
            accept_next(&l, &server[i]);
        assert_int_equal(open_descriptors(),
                         before + CONNECTIONS * (transports[t]->client_fds +
                                                 transports[t]->server_fds));
        for (size_t i = 0; i < CONNECTIONS; i++) {
            conn_close(&client[i]);
            conn_close(&server[i]);
        }
        assert_int_equal(open_descriptors(), before);
        listener_close(&l);
        options_done(&o);
    }
    assert_int_equal(rmdir(directory), 0);
}

/* Processes. */

static void cpu_lists_are_read(void **state)
{
    static const char *const bad[] = {"x",   "0,",  ",0",    "1-", "-1",
                                      "2-1", "0 1", "99999", "0;1"};
    cpu_set_t before, now;
    struct fail fail;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    for (size_t i = 0; i < NUMBER_OF(bad); i++) {
        memset(&fail, 0, sizeof(fail));
        assert_int_equal(pin_to_cpus(bad[i], &fail), -EINVAL);
        assert_non_null(strstr(fail.sentence, bad[i]));
    }
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(pin_to_cpus("1023", &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "may be used"));
    assert_int_equal(pin_to_cpus("", NULL), 0);
    if (!CPU_ISSET(0, &before))
        skip();
    /* A run must not say that it had cores that there are not. */
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(pin_to_cpus("0,1023", &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "not all"));
    /* To ask changes nothing. */
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(pin_check_here("0,1023", NULL), -EINVAL);
    assert_int_equal(pin_check_here("0", NULL), 0);
    assert_int_equal(pin_check_here("", NULL), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_true(CPU_EQUAL(&now, &before));
    assert_int_equal(pin_to_cpus("0", NULL), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Descriptors arrive where they should, also when the caller's numbers are crossed. */
static void spawned_programs_get_their_descriptors(void **state)
{
    char script[] = "cat <&3 >&4; test ! -e /proc/self/fd/5 && test -c /proc/self/fd/0";
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, script, NULL};
    int in[2], out[2], low[2], status;
    char text[8] = "";
    int fds[5];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(write(in[1], "abc", 3), 3);
    close(in[1]);
    low[0] = dup(1); /* 1 and 2 carry what becomes 4 and 3 */
    low[1] = dup(2);
    dup2(out[1], 1);
    dup2(in[0], 2);
    fds[0] = SPAWN_NULL;
    fds[1] = low[0];
    fds[2] = low[1];
    fds[3] = 2;
    fds[4] = 1;
    status = spawn_start(&pid, argv, fds, 5);
    dup2(low[0], 1);
    dup2(low[1], 2);
    close(low[0]);
    close(low[1]);
    close(in[0]);
    close(out[1]);
    assert_int_equal(status, 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(out[0], text, sizeof(text)), 3);
    assert_string_equal(text, "abc");
    close(out[0]);
    argv[0] = (char[]){"/nonexistent/program"};
    assert_int_equal(spawn_start(&pid, argv, fds, 0), -ENOENT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_comes_back_as_it_was),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(words_are_listed_as_people_do),
        cmocka_unit_test(a_path_has_107_bytes_at_most),
        cmocka_unit_test(loopback_is_recognised),
        cmocka_unit_test(addresses_become_endpoints),
        cmocka_unit_test(private_paths_are_private_and_different),
        cmocka_unit_test(socket_path_leaves_other_directories_alone),
        cmocka_unit_test(only_pairs_are_cleared),
        cmocka_unit_test(a_live_server_is_not_removed),
        cmocka_unit_test(connections_keep_the_descriptors_that_their_row_says),
        cmocka_unit_test(cpu_lists_are_read),
        cmocka_unit_test(spawned_programs_get_their_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
