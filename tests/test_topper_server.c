/*
 * The Topper microservice as nc and programs use it, and the client that calls several
 * servers at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/topper.h"
#include "protocols/topper_client.h"
#include "tests/line.h"
#include "tests/pair.h"

static void topper_as_with_nc(void **state)
{
    struct event_base *base = pair_base();
    struct actor a;
    struct line *l;

    (void)state;
    actor_serve(&a, "topper", base, "task=multi", NULL, NULL);
    l = line_open(base, a.env.endpoint);
    line_say(l, "Ping\n");
    line_expect_exactly(l, "Pong\n");
    line_say(l, "Sum {\"numbers\": [1, 2, 3, 4, 5]}\r\n");
    line_expect_exactly(l, "The sum is: 15 \n");
    line_say(l, "Nope\nPing\n\n");
    line_expect_exactly(l,
                        "Error: unknown task 'Nope'; known are Ping, Sum, Avg\nPong\n");
    line_say(l, "Ping\nPing\nSum {\"numbers\":[1]}Sum {\"numbers\":[2]}");
    line_expect_exactly(l, "Pong\nPong\nThe sum is: 1 \nThe sum is: 2 \n");
    /* The end of the sending ends the message, and the reply still comes. */
    line_say(l, "Ping");
    shutdown(l->fd, SHUT_WR);
    line_expect(l, NULL);
    assert_string_equal(l->in, "Pong\n");
    line_close(l);
    assert_true(actor_stop(&a));
    assert_int_equal(a.env.meter->counters.received_messages, 9);
    assert_int_equal(a.env.meter->counters.sent_messages, 9);
    assert_int_equal(tally_get(&a.env.meter->errors, "message refused"), 1);
    actor_done(&a);
    event_base_free(base);
}

/* Programs that send no line end, in pieces, and wait. */
static void topper_as_by_programs(void **state)
{
    struct event_base *base = pair_base();
    struct actor a;
    struct line *l;

    (void)state;
    actor_serve(&a, "topper", base, "task=multi", NULL, NULL);
    l = line_open(base, a.env.endpoint);
    line_say(l, "Sum {\"numbers\":[1,2]}");
    line_expect_exactly(l, "The sum is: 3 \n");
    line_say(l, "Ping");
    line_expect_exactly(l, "Pong\n");
    line_say(l, "Ping undefined");
    line_expect_exactly(l, "Pong\n");
    /* Pieces with pauses longer than the quiet time are one message all the same. */
    line_say(l, "Sum {\"num");
    pair_turn(base, NULL, 60);
    line_say(l, "bers\":[4");
    pair_turn(base, NULL, 60);
    line_say(l, "]}");
    line_expect_exactly(l, "The sum is: 4 \n");
    line_say(l, "Pi");
    pair_turn(base, NULL, 60);
    line_say(l, "ng");
    line_expect_exactly(l, "Pong\n");
    /* What cannot become a message gets its error after a while, and life goes on. */
    line_say(l, "Sum {\"numbers\": [1");
    line_expect_exactly(l, "Error: Sum: the payload is not valid JSON\n");
    line_say(l, "Ping\n");
    line_expect_exactly(l, "Pong\n");
    line_close(l);
    actor_done(&a);
    event_base_free(base);
}

static void topper_single_tasks(void **state)
{
    struct event_base *base = pair_base();
    struct actor a;
    struct line *l;

    (void)state;
    actor_serve(&a, "topper", base, "task=echo", NULL, NULL);
    l = line_open(base, a.env.endpoint);
    line_say(l, "verything is connected, Todd...\n");
    line_expect_exactly(l, "Message payload: verything is connected, Todd...\n");
    line_say(l, "no line end");
    line_expect_exactly(l, "Message payload: no line end");
    line_close(l);
    actor_done(&a);
    actor_serve(&a, "topper", base, "task=greeting", NULL, NULL);
    l = line_open(base, a.env.endpoint);
    line_say(l, "{\"name\": \"Matheus Fidelis\", \"age\":22}\n");
    line_expect_exactly(l, "hello, my name is Matheus Fidelis and i'm 22 old\n");
    line_close(l);
    actor_done(&a);
    event_base_free(base);
}

/* Over the limit without a line end, then silence, then an ordinary message. */
static void topper_size_limit(void **state)
{
    struct event_base *base = pair_base();
    char *chunk = malloc(65537);
    struct actor a;
    struct line *l;

    (void)state;
    memset(chunk, '[', 65536);
    chunk[65536] = '\0';
    actor_serve(&a, "topper", base, "task=multi", NULL, NULL);
    l = line_open(base, a.env.endpoint);
    for (int i = 0; i < 17; i++)
        line_say(l, chunk);
    line_expect_exactly(l, "Error: the message is longer than 1048576 bytes\n");
    pair_turn(base, NULL, 60);
    line_say(l, "Ping\n");
    line_expect_exactly(l, "Pong\n");
    line_close(l);
    actor_done(&a);
    event_base_free(base);
    free(chunk);
}

/* A caller that asks and never reads costs no memory without end. */
static void topper_caller_that_never_reads(void **state)
{
    struct event_base *base = pair_base();
    char *chunk = malloc(65536);
    struct actor a;
    struct line *l;
    uint64_t taken = 0;
    int refused = 0;

    (void)state;
    memset(chunk, 'x', 65536);
    memcpy(chunk + 65535, "\n", 1);
    actor_serve(&a, "topper", base, "task=echo", NULL, NULL);
    l = line_open(base, a.env.endpoint);
    event_del(l->readable);
    for (int i = 0; i < 3000 && refused < 50; i++) {
        ssize_t n = send(l->fd, chunk, 65536, MSG_NOSIGNAL);

        taken += n > 0 ? (uint64_t)n : 0;
        refused = n > 0 ? 0 : refused + 1;
        pair_turn(base, NULL, n > 0 ? 0 : 1);
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
    assert_int_equal(refused, 50);
    assert_true(taken < 100000000);
    line_close(l);
    actor_done(&a);
    event_base_free(base);
    free(chunk);
}

static void topper_many_callers(void **state)
{
    struct event_base *base = pair_base();
    struct line *lines[100];
    char text[64], answer[64];
    struct actor a;

    (void)state;
    actor_serve(&a, "topper", base, "task=multi", NULL, NULL);
    for (int i = 0; i < 100; i++)
        lines[i] = line_open(base, a.env.endpoint);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "Sum {\"numbers\":[%d, 1]}", i);
        line_say(lines[i], text);
    }
    for (int i = 0; i < 100; i++) {
        snprintf(answer, sizeof(answer), "The sum is: %d \n", i + 1);
        line_expect_exactly(lines[i], answer);
        line_close(lines[i]);
    }
    assert_true(actor_stop(&a));
    assert_int_equal(a.env.meter->counters.connections, 100);
    actor_done(&a);
    event_base_free(base);
}

/* The client: it waits by itself, so the servers are other processes. */

static pid_t fork_server(const char *task, char endpoint[256])
{
    int ends[2];
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        struct event_base *base = pair_base();
        struct actor a;

        actor_serve(&a, "topper", base, task, NULL, NULL);
        if (write(ends[1], a.env.endpoint, sizeof(a.env.endpoint)) < 0)
            _exit(1);
        close(ends[0]);
        close(ends[1]);
        alarm(30);
        event_base_dispatch(base);
        _exit(0);
    }
    assert_int_equal(read(ends[0], endpoint, 256), 256);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

/* A socket with a port at which nobody listens, nor will as long as it is open. */
static int reserve_port(char endpoint[static 64])
{
    struct sockaddr_storage address = {.ss_family = AF_INET};
    socklen_t len = sizeof(struct sockaddr_in);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct endpoint e;

    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    endpoint_from_address(&e, ENDPOINT_TCP, &address);
    snprintf(endpoint, 64, "tcp:127.0.0.1:%u", e.port);
    return fd;
}

static void call_several_servers(void **state)
{
    char multi[256], greeting[256], nobody[64];
    int fd = reserve_port(nobody);
    pid_t pids[] = {fork_server("task=multi", multi),
                    fork_server("task=greeting", greeting)};
    const char *servers[] = {multi, multi + strlen("tcp:"), nobody, greeting};
    struct topper_result r[4];
    struct fail fail = {0};

    (void)state;
    assert_int_equal(
        topper_call(servers, 4, "Sum", "{\"numbers\": [1,\n 2]}", 2 * NS_PER_S, r, &fail),
        0);
    assert_string_equal(r[0].reply, "The sum is: 3 ");
    assert_string_equal(r[1].reply, "The sum is: 3 ");
    assert_int_equal(r[2].err, -ECONNREFUSED);
    assert_string_equal(r[2].reply, "");
    assert_non_null(strstr(r[3].reply, "Error: greeting"));
    topper_results_done(r, 4);
    assert_int_equal(
        topper_call(servers, 1, "Avg", "{\"numbers\": [1, 2]}", 2 * NS_PER_S, r, &fail),
        0);
    assert_string_equal(r[0].reply, "The sum of numbers is: 3 \nThe average is: 1.5 ");
    topper_results_done(r, 1);
    assert_int_equal(topper_call(servers, 2, "Ping", NULL, 2 * NS_PER_S, r, &fail), 0);
    assert_string_equal(r[0].reply, "Pong");
    assert_string_equal(r[1].reply, "Pong");
    topper_results_done(r, 2);
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    close(fd);
}

static void call_mistakes(void **state)
{
    const char *servers[] = {"localhost"};
    struct topper_result r[1];
    struct fail fail = {0};
    char *text;

    (void)state;
    assert_true(topper_call(servers, 1, "Ping", NULL, NS_PER_S, r, &fail) < 0);
    assert_true(strlen(fail.sentence) > 0);
    topper_results_done(r, 1);
    memset(&fail, 0, sizeof(fail));
    assert_null(topper_message("two words", NULL, &fail));
    assert_non_null(strstr(fail.sentence, "one word"));
    memset(&fail, 0, sizeof(fail));
    assert_null(topper_message("Echo", "two\nlines", &fail));
    assert_non_null(strstr(fail.sentence, "lines"));
    text = topper_message("Sum", "{ \"numbers\" : [1] }", &fail);
    assert_string_equal(text, "Sum {\"numbers\":[1]}");
    free(text);
    text = topper_message("Sum", "[9007199254740991, 0.1000]", &fail);
    assert_string_equal(text, "Sum [9007199254740991,0.1000]");
    free(text);
    text = topper_message("Ping", NULL, &fail);
    assert_string_equal(text, "Ping\n");
    free(text);
    text = topper_message(NULL, "{\"name\": \"Matheus Fidelis\", \"age\":22}", &fail);
    assert_string_equal(text, "{\"name\":\"Matheus Fidelis\",\"age\":22}");
    free(text);
    text = topper_message(NULL, "Everything is connected, Todd...", &fail);
    assert_string_equal(text, "Everything is connected, Todd...\n");
    free(text);
    text = topper_message("Echo", "plain text", &fail);
    assert_string_equal(text, "Echo plain text\n");
    free(text);
}

static void call_that_times_out(void **state)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_storage address;
    struct topper_result r[1];
    struct endpoint e;
    socklen_t len = sizeof(address);
    char text[64];
    const char *servers[] = {text};

    (void)state;
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    endpoint_from_address(&e, ENDPOINT_TCP, &address);
    snprintf(text, sizeof(text), "127.0.0.1:%u", e.port);
    assert_int_equal(topper_call(servers, 1, "Ping", NULL, 50 * NS_PER_MS, r, NULL), 0);
    assert_int_equal(r[0].err, -ETIMEDOUT);
    assert_true(r[0].elapsed_ns >= 50 * NS_PER_MS);
    topper_results_done(r, 1);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topper_as_with_nc),
        cmocka_unit_test(topper_as_by_programs),
        cmocka_unit_test(topper_single_tasks),
        cmocka_unit_test(topper_size_limit),
        cmocka_unit_test(topper_caller_that_never_reads),
        cmocka_unit_test(topper_many_callers),
        cmocka_unit_test(call_several_servers),
        cmocka_unit_test(call_mistakes),
        cmocka_unit_test(call_that_times_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
