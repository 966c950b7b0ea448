/*
 * The HTTP load client against servers that answer oddly, whole and byte by byte, and
 * against none; the identity of counts holds on every ending.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/bench.h"
#include "tests/hosts.h"

/*
 * read(2) of everything that is linked into this program, so many times interrupted
 * first, as on a file system that signals interrupt.
 */
static unsigned interruptions;

ssize_t read(int fd, void *bytes, size_t count)
{
    if (interruptions == 0)
        return syscall(SYS_read, fd, bytes, count);
    interruptions--;
    errno = EINTR;
    return -1;
}

#define CHUNKED "Transfer-Encoding: chunked\r\n"

/*
 * Two requests in a row get the reply. `want` is the status of both, or the error of
 * both; `conns` how many connections it takes when the client decides rightly.
 */
static const struct {
    const char *name, *reply, *want;
    unsigned conns;
    unsigned body; /* bytes of both replies together */
    bool closes, head;
} replies[] = {
    {"length", HELLO, "200", 1, 10, false, false},
    {"length 0", OK11 LEN(0) "\r\n", "200", 1, 0, false, false},
    {"length, closed without a word", HELLO, "200", 2, 10, true, false},
    {"length and close", OK11 "Connection: close\r\n" LEN(5) "\r\nhello", "200", 2, 10,
     true, false},
    {"close promised, not done", OK11 "Connection: close\r\n" LEN(5) "\r\nhello", "200",
     2, 10, false, false},
    {"close in a list", OK11 "Connection: x, CLOSE\r\n" LEN(5) "\r\nhello", "200", 2, 10,
     false, false},
    {"until close", OK11 "\r\nhello", "200", 2, 10, true, false},
    {"until close, empty", OK11 "\r\n", "200", 2, 0, true, false},
    {"1.0", "HTTP/1.0 200 OK\r\n" LEN(5) "\r\nhello", "200", 2, 10, true, false},
    {"1.0 until close", "HTTP/1.0 200 OK\r\n\r\nhello", "200", 2, 10, true, false},
    {"1.0 keep-alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" LEN(5) "\r\nhello",
     "200", 1, 10, false, false},
    {"chunked", OK11 CHUNKED "\r\n5\r\nhello\r\n0\r\n\r\n", "200", 1, 10, false, false},
    {"two chunks", OK11 CHUNKED "\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "200", 1, 10,
     false, false},
    {"chunk extensions", OK11 CHUNKED "\r\n5;a=\"b\"\r\nhello\r\n0;c\r\n\r\n", "200", 1,
     10, false, false},
    {"trailers", OK11 CHUNKED "\r\n5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n", "200", 1, 10,
     false, false},
    {"empty chunked", OK11 CHUNKED "\r\n0\r\n\r\n", "200", 1, 0, false, false},
    {"gzip, chunked", OK11 "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
     "200", 1, 4, false, false},
    {"gzip until close", OK11 "Transfer-Encoding: gzip\r\n\r\nhi", "200", 2, 4, true,
     false},
    {"chunked and close", OK11 "Connection: close\r\n" CHUNKED "\r\n2\r\nhi\r\n0\r\n\r\n",
     "200", 2, 4, true, false},
    {"stray CRLF", HELLO "\r\n", "200", 1, 10, false, false},
    {"stray CRLFs", HELLO "\r\n\r\n\n", "200", 1, 10, false, false},
    {"CRLF in front", "\r\n\r\n" HELLO, "200", 1, 10, false, false},
    {"100 in front", "HTTP/1.1 100 Continue\r\n\r\n" HELLO, "200", 1, 10, false, false},
    {"103 and 102", "HTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 102 P\r\n\r\n" HELLO,
     "200", 1, 10, false, false},
    {"100 with a length", "HTTP/1.1 100 C\r\n" LEN(9) "\r\n" HELLO, "200", 1, 10, false,
     false},
    {"204", "HTTP/1.1 204 No Content\r\n\r\n", "204", 1, 0, false, false},
    {"204 with length", "HTTP/1.1 204 No Content\r\n" LEN(7) "\r\n", "204", 1, 0, false,
     false},
    {"204 with chunked", "HTTP/1.1 204 No Content\r\n" CHUNKED "\r\n", "204", 1, 0, false,
     false},
    {"304", "HTTP/1.1 304 Not Modified\r\n\r\n", "304", 1, 0, false, false},
    {"304 with length", "HTTP/1.1 304 Not Modified\r\n" LEN(1234) "\r\n", "304", 1, 0,
     false, false},
    {"301", "HTTP/1.1 301 Moved\r\nLocation: /x\r\n" LEN(0) "\r\n", "301", 1, 0, false,
     false},
    {"302 until close", "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", "302", 2, 0, true,
     false},
    {"HEAD with length", OK11 LEN(1234) "\r\n", "200", 1, 0, false, true},
    {"HEAD chunked", OK11 CHUNKED "\r\n", "200", 1, 0, false, true},
    {"HEAD without length", OK11 "\r\n", "200", 1, 0, false, true},
    {"HEAD after 100", "HTTP/1.1 100 C\r\n\r\n" OK11 LEN(5) "\r\n", "200", 1, 0, false,
     true},
    {"no reason phrase", "HTTP/1.1 200\r\n" LEN(0) "\r\n", "200", 1, 0, false, false},
    {"unknown 2xx", "HTTP/1.1 299 Odd\r\n" LEN(0) "\r\n", "299", 1, 0, false, false},
    {"unknown 3xx", "HTTP/1.1 399 Odd\r\n" LEN(0) "\r\n", "399", 1, 0, false, false},
    {"upgrade offered", OK11 "Upgrade: h2c\r\nConnection: Upgrade\r\n" LEN(5) "\r\nhello",
     "200", 1, 10, false, false},
    {"lower-case fields", OK11 "content-length: 5\r\n\r\nhello", "200", 1, 10, false,
     false},
    {"blanks around the length", OK11 "Content-Length:   5   \r\n\r\nhello", "200", 1, 10,
     false, false},
    {"folded field", OK11 "X: a\r\n b\r\n" LEN(5) "\r\nhello", "200", 1, 10, false,
     false},

    {"404", "HTTP/1.1 404 Not Found\r\n" LEN(4) "\r\ngone", "status 404", 1, 8, false,
     false},
    {"400 and close", "HTTP/1.1 400 Bad\r\nConnection: close\r\n" LEN(0) "\r\n",
     "status 400", 2, 0, true, false},
    {"500 until close", "HTTP/1.1 500 Oh\r\n\r\noops", "status 500", 2, 8, true, false},
    {"503", "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n" LEN(0) "\r\n", "status 503", 1, 0,
     false, false},
    {"799", "HTTP/1.1 799 Odd\r\n" LEN(0) "\r\n", "status 799", 1, 0, false, false},
    {"404 chunked", "HTTP/1.1 404 N\r\n" CHUNKED "\r\n1\r\nx\r\n0\r\n\r\n", "status 404",
     1, 2, false, false},

    {"101", "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
     "reply malformed", 2, 0, false, false},
    {"two lengths", OK11 LEN(5) LEN(6) "\r\nhello", "reply malformed", 2, 0, false,
     false},
    {"length and chunked", OK11 LEN(5) CHUNKED "\r\nhello", "reply malformed", 2, 0,
     false, false},
    {"chunked and length", OK11 CHUNKED LEN(5) "\r\nhello", "reply malformed", 2, 0,
     false, false},
    {"negative length", OK11 LEN(-5) "\r\nhello", "reply malformed", 2, 0, false, false},
    {"length no number", OK11 LEN(five) "\r\nhello", "reply malformed", 2, 0, false,
     false},
    {"length overflows", OK11 LEN(99999999999999999999) "\r\nhello", "reply malformed", 2,
     0, false, false},
    {"chunk size no number", OK11 CHUNKED "\r\nzz\r\nhello", "reply malformed", 2, 0,
     false, false},
    {"chunk without its end", OK11 CHUNKED "\r\n5\r\nhelloXX", "reply malformed", 2, 0,
     false, false},
    {"HTTP/2", "HTTP/2 200\r\n\r\n", "reply malformed", 2, 0, false, false},
    {"HTTP/0.9", "<html>hello</html>", "reply malformed", 2, 0, false, false},
    {"another protocol", "220 smtp ready\r\n", "reply malformed", 2, 0, false, false},
    {"status 20", "HTTP/1.1 20 OK\r\n" LEN(0) "\r\n", "reply malformed", 2, 0, false,
     false},
    {"status 2000", "HTTP/1.1 2000 OK\r\n" LEN(0) "\r\n", "reply malformed", 2, 0, false,
     false},
    {"blank before the colon", OK11 "Content-Length : 5\r\n\r\nhello", "reply malformed",
     2, 0, false, false},
    {"no colon", OK11 "nonsense\r\n" LEN(5) "\r\nhello", "reply malformed", 2, 0, false,
     false},

    {"cut in the status line", "HTTP/1.", "closed before the end of the reply", 2, 0,
     true, false},
    {"cut in the head", OK11 "X: y\r\n", "closed before the end of the reply", 2, 0, true,
     false},
    {"cut in the body", OK11 LEN(9) "\r\nhello", "closed before the end of the reply", 2,
     0, true, false},
    {"cut in a chunk", OK11 CHUNKED "\r\n9\r\nhello",
     "closed before the end of the reply", 2, 0, true, false},
    {"no last chunk", OK11 CHUNKED "\r\n5\r\nhello\r\n",
     "closed before the end of the reply", 2, 0, true, false},
    {"cut in the trailers", OK11 CHUNKED "\r\n5\r\nhello\r\n0\r\nA: b\r\n",
     "closed before the end of the reply", 2, 0, true, false},
    {"only 100", "HTTP/1.1 100 C\r\n\r\n", "closed before the end of the reply", 2, 0,
     true, false},
    {"only empty lines", "\r\n\r\n", "closed before the end of the reply", 2, 0, true,
     false},
};

static bool one_reply(size_t i, bool bytewise)
{
    struct bench b;
    bool is_status = replies[i].want[0] >= '0' && replies[i].want[0] <= '9';
    uint64_t got;

    bench_init(&b, replies[i].reply);
    b.server.closes = replies[i].closes;
    b.server.is_bytewise = bytewise;
    actor_options(&b.client, "amount:2", "connections:1",
                  replies[i].head ? "method=HEAD" : "method=GET", NULL);
    bench_run(&b);
    got =
        is_status ? bench_status(&b, replies[i].want) : bench_errors(&b, replies[i].want);
    if (got == 2 && b.server.requests == 2 && bench_counts(&b)->attempted == 2 &&
        (is_status ? bench_counts(&b)->succeeded : bench_counts(&b)->failed) == 2 &&
        b.server.connections == replies[i].conns &&
        bench_counts(&b)->received_bytes == replies[i].body) {
        bench_done(&b);
        return true;
    }
    print_error("%s (%s): %u x '%s', %u requests on %u connections, %u body bytes; "
                "errors '%s', status '%s'\n",
                replies[i].name, bytewise ? "byte by byte" : "whole", (unsigned)got,
                replies[i].want, b.server.requests, b.server.connections,
                (unsigned)bench_counts(&b)->received_bytes,
                b.client.env.meter->errors.rows[0].name,
                b.client.env.meter->status.rows[0].name);
    bench_done(&b);
    return false;
}

static void odd_replies(bool bytewise)
{
    int wrong = 0;

    for (size_t i = 0; i < NUMBER_OF(replies); i++)
        wrong += !one_reply(i, bytewise);
    assert_int_equal(wrong, 0);
}

static void odd_replies_whole(void **state)
{
    (void)state;
    odd_replies(false);
}

static void odd_replies_byte_by_byte(void **state)
{
    (void)state;
    odd_replies(true);
}

/* A second answer that nobody asked for must not be taken for the next one's. */
static void unasked_reply(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO "HTTP/1.1 500 No\r\n" LEN(0) "\r\n");
    actor_options(&b.client, "amount:4", "connections:1", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->succeeded, 4);
    assert_int_equal(b.server.connections, 4);
    assert_int_equal(bench_status(&b, "500"), 0);
    assert_string_equal(actor_fact(&b.client, "replies_unasked"), "4");
    bench_done(&b);
}

static void a_connection_a_request(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, OK11 "Connection: close\r\n" LEN(5) "\r\nhello");
    b.server.closes = true;
    actor_options(&b.client, "connections:5", "amount:100", "close:1", "pipelining:9",
                  NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->succeeded, 100);
    assert_int_equal(b.server.connections, 100);
    assert_int_equal(bench_counts(&b)->connections, 100);
    assert_int_equal(b.client.env.meter->hists[METER_HIST_connect]->count, 100);
    assert_non_null(strstr(b.server.last, "Connection: close\r\n"));
    bench_done(&b);
}

/* Requests behind a reply that ends the connection were not processed: sent again. */
static void pipelined_behind_a_close(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, OK11 "Connection: close\r\n" LEN(5) "\r\nhello");
    b.server.closes = true;
    actor_options(&b.client, "connections:2", "amount:20", "pipelining:4", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->attempted, 20);
    /* A reset may overtake the last reply; then requests fail, and are counted so. */
    assert_int_equal(bench_counts(&b)->succeeded + bench_counts(&b)->failed, 20);
    assert_true(bench_counts(&b)->succeeded > 0);
    bench_done(&b);
}

static void large_bodies(void **state)
{
    enum { BODY = 3000000 };
    char *reply = malloc(BODY + 200);
    struct bench b;
    int head;

    (void)state;
    head = sprintf(reply, OK11 "Content-Length: %d\r\n\r\n", BODY);
    memset(reply + head, 'y', BODY);
    reply[head + BODY] = '\0';
    bench_init(&b, reply);
    actor_options(&b.client, "amount:6", "connections:2", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->succeeded, 6);
    assert_int_equal(bench_counts(&b)->received_bytes, 6ull * BODY);
    assert_int_equal(bench_counts(&b)->received_wire_bytes,
                     6ull * (BODY + (unsigned)head));
    bench_done(&b);
    free(reply);
}

static void sent_bytes_are_body_and_wire(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "amount:7", "connections:2", "method=POST", "pipelining:3",
                  "body={\"numbers\": [1, 2]}", "path=sum?x=1",
                  "headers=Content-Type:Application/json\nX-A=1", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->sent_bytes, 7 * 19);
    assert_int_equal(bench_counts(&b)->sent_wire_bytes, 7 * strlen(b.server.last));
    assert_non_null(strstr(b.server.last, "POST /sum?x=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
    assert_non_null(strstr(b.server.last, "\r\nContent-Type: Application/json\r\n"));
    assert_non_null(strstr(b.server.last, "\r\nX-A: 1\r\n"));
    assert_non_null(strstr(b.server.last, "\r\n\r\n{\"numbers\": [1, 2]}"));
    bench_done(&b);
}

/* The largest buffer that the kernel gives to one side of a connection by itself. */
static size_t largest_buffer(const char *path)
{
    unsigned long least, usual, most;
    FILE *f = fopen(path, "re");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu %lu", &least, &usual, &most), 3);
    fclose(f);
    return most > usual ? most : usual;
}

/*
 * A server that refuses while the request is still being sent is heard. The body is more
 * than fits between the two, so it is still being sent.
 */
static void early_refusal(void **state)
{
    size_t body_bytes = largest_buffer("/proc/sys/net/ipv4/tcp_wmem") +
                        largest_buffer("/proc/sys/net/ipv4/tcp_rmem") + (1 << 20);
    char path[] = "/tmp/plimsoll-test-body-XXXXXX";
    int fd = mkstemp(path);
    char option[80];
    struct bench b;

    (void)state;
    assert_int_equal(ftruncate(fd, (off_t)body_bytes), 0);
    close(fd);
    bench_init(&b, "HTTP/1.1 413 Too Large\r\nConnection: close\r\n" LEN(0) "\r\n");
    b.server.answers_early = true;
    snprintf(option, sizeof(option), "input=%s", path);
    actor_options(&b.client, "amount:5", "connections:1", "method=POST", option, NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->failed, 5);
    assert_true(bench_counts(&b)->sent_bytes < 5 * body_bytes);
    /* The reset of a server that left bytes unread can overtake its reply. */
    assert_int_equal(
        bench_errors(&b, "status 413") + bench_errors(&b, "read ECONNRESET") +
            bench_errors(&b, "write ECONNRESET") + bench_errors(&b, "write EPIPE") +
            bench_errors(&b, "closed before the reply"),
        5);
    bench_done(&b);
    unlink(path);
}

static void a_body_of_any_bytes(void **state)
{
    static const char bytes[] = "a\0b\r\n\r\n\xff";
    char path[] = "/tmp/plimsoll-test-body-XXXXXX";
    int fd = mkstemp(path);
    char option[80];
    struct bench b;

    (void)state;
    assert_int_equal(write(fd, bytes, sizeof(bytes) - 1), sizeof(bytes) - 1);
    close(fd);
    for (unsigned interrupted = 0; interrupted <= 2; interrupted++) {
        bench_init(&b, HELLO);
        snprintf(option, sizeof(option), "input=%s", path);
        actor_options(&b.client, "amount:1", "method=PUT", option, NULL);
        interruptions = interrupted;
        bench_run(&b);
        assert_int_equal(interruptions, 0);
        assert_int_equal(bench_counts(&b)->sent_bytes, sizeof(bytes) - 1);
        assert_memory_equal(strstr(b.server.last, "\r\n\r\n") + 4, bytes,
                            sizeof(bytes) - 1);
        assert_int_equal(b.client.notes, 1);
        assert_non_null(strstr(b.client.note, "Content-Type"));
        assert_non_null(strstr(actor_fact(&b.client, "warning"), "Content-Type"));
        bench_done(&b);
    }
    unlink(path);
}

/* How much of the address space this process has. */
static uint64_t address_space(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Requests that wait for a connection which never answers, until there is no room. */
static void no_memory_is_a_failure_with_a_reason(void **state)
{
    struct rlimit before, limit;
    struct bench b;
    bool ended;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its shadow needs more than any limit leaves */
#endif
    bench_init(&b, HELLO);
    b.server.is_silent = true;
    actor_options(&b.client, "connections:1", "connection_rate:100000000",
                  "timeout:60000000000", NULL);
    bench_prepare(&b);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = address_space() + (4u << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    ended = actor_run(&b.client);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(ended);
    assert_int_equal(b.client.outcome, OUTCOME_FAILED);
    assert_string_equal(b.client.reason, "there is no memory for the requests that wait");
    bench_check_identity(&b);
    bench_done(&b);
}

static void server_closes_at_once(void **state)
{
    struct bench b;
    uint64_t cpu_ns;

    (void)state;
    bench_init(&b, HELLO);
    b.server.closes_at_once = true;
    actor_options(&b.client, "duration:400000000", "connections:4", NULL);
    cpu_ns = cpu_time_ns();
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->succeeded, 0);
    assert_true(bench_counts(&b)->failed >= 4);
    /* 10, 20, 40, ... ms between attempts: some 6 a connection, not thousands. */
    assert_true(b.server.connections <= 4 * 10);
    assert_true(cpu_time_ns() - cpu_ns < 200 * NS_PER_MS);
    bench_done(&b);
}

static void server_never_answers(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    b.server.is_silent = true;
    actor_options(&b.client, "amount:6", "connections:3", "timeout:60000000", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->timed_out, 6);
    assert_int_equal(b.server.connections, 6);
    assert_true(b.client.env.meter->hists[METER_HIST_failure]->min >= 60 * NS_PER_MS);
    assert_true(b.client.env.meter->hists[METER_HIST_failure]->max < 5 * NS_PER_S);
    bench_done(&b);
}

static void server_stalls_in_the_body(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    b.server.stalls_at = b.server.reply_len - 2;
    actor_options(&b.client, "amount:4", "connections:2", "timeout:50000000", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->timed_out, 4);
    bench_done(&b);
}

/* One in three requests stays unanswered; those pipelined behind it fail by name. */
static void timeouts_with_pipelining(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    b.server.silent_every = 5;
    actor_options(&b.client, "amount:20", "connections:1", "pipelining:4",
                  "timeout:50000000", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->attempted, 20);
    assert_true(bench_counts(&b)->timed_out > 0);
    bench_done(&b);
}

static void every_seventh_connection_dropped(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, OK11 "Connection: close\r\n" LEN(5) "\r\nhello");
    b.server.closes = true;
    b.server.drops_every = 7;
    actor_options(&b.client, "amount:70", "connections:2", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->succeeded, 60);
    assert_int_equal(bench_counts(&b)->failed, 10);
    assert_int_equal(b.server.connections, 70);
    bench_done(&b);
}

/* Down for a while: requests fail slowly, and the load goes on when it is back. */
static void server_restarts(void **state)
{
    struct bench b;
    uint64_t before, cpu_ns;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "duration:900000000", "connections:4", "rate:1000", NULL);
    bench_prepare(&b);
    b.client.role->start(b.client.flow, now_ns());
    pair_turn(b.base, NULL, 150);
    odd_server_close(&b.server);
    cpu_ns = cpu_time_ns();
    pair_turn(b.base, NULL, 250);
    assert_true(cpu_time_ns() - cpu_ns < 125 * NS_PER_MS);
    before = bench_counts(&b)->succeeded;
    assert_true(before > 0);
    assert_true(odd_server_open(&b.server, b.base, b.server.port));
    assert_true(pair_turn(b.base, &b.client.finished, 20000));
    bench_check_identity(&b);
    assert_int_equal(b.client.outcome, OUTCOME_COMPLETED);
    assert_true(bench_counts(&b)->succeeded > before + 100);
    assert_true(bench_errors(&b, "connect ECONNREFUSED") > 0);
    assert_true(bench_errors(&b, "connect ECONNREFUSED") < 100);
    bench_done(&b);
}

static void server_is_not_there(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    odd_server_close(&b.server);
    actor_options(&b.client, "duration:60000000000", "connections:4", NULL);
    bench_run(&b);
    assert_int_equal(b.client.outcome, OUTCOME_FAILED);
    assert_non_null(strstr(b.client.reason, "could be set up: Connection refused"));
    assert_int_equal(bench_counts(&b)->failed, bench_errors(&b, "connect ECONNREFUSED"));
    bench_done(&b);
}

static void unix_socket(void **state)
{
    char dir[] = "/tmp/plimsoll-test-XXXXXX";
    char path[80], option[120];
    struct bench b;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/s", dir);
    for (int by_option = 0; by_option < 2; by_option++) {
        memset(&b, 0, sizeof(b));
        b.base = pair_base();
        assert_true(odd_server_open_unix(&b.server, b.base, path));
        odd_server_reply(&b.server, HELLO);
        actor_init(&b.client, "http-client", b.base);
        snprintf(option, sizeof(option), "socket_path=%s", by_option ? path : "");
        if (!by_option)
            snprintf(b.client.env.endpoint, sizeof(b.client.env.endpoint), "unix:%s",
                     path);
        actor_options(&b.client, "amount:50", "connections:5", option,
                      "url=http://example.org/x", NULL);
        bench_run(&b);
        assert_int_equal(bench_counts(&b)->succeeded, 50);
        assert_int_equal(b.server.requests, 50);
        assert_non_null(
            strstr(b.server.last, "GET /x HTTP/1.1\r\nHost: example.org\r\n"));
        bench_done(&b);
        unlink(path);
    }
    rmdir(dir);
}

static void url_in_place_of_an_endpoint(void **state)
{
    struct bench b;
    char url[80];

    (void)state;
    bench_init(&b, HELLO);
    b.client.env.endpoint[0] = '\0';
    snprintf(url, sizeof(url), "url=http://127.0.0.1:%u/a?b#c", b.server.port);
    actor_options(&b.client, "amount:3", url, "headers=Host: other", NULL);
    bench_run(&b);
    assert_int_equal(bench_counts(&b)->succeeded, 3);
    assert_non_null(strstr(b.server.last, "GET /a?b HTTP/1.1\r\n"));
    assert_non_null(strstr(b.server.last, "\r\nHost: other\r\n"));
    assert_null(strstr(strstr(b.server.last, "Host:") + 1, "Host:"));
    bench_done(&b);
}

/* A listener on ::1 alone; -1 where there is none. */
static int listen_on_ipv6(struct sockaddr_in6 *a)
{
    socklen_t len = sizeof(*a);
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)a, sizeof(*a)) == 0 &&
        listen(fd, 8) == 0 && getsockname(fd, (struct sockaddr *)a, &len) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool names_both; /* "localhost" is 127.0.0.1 and ::1 */

static int look_at_hosts(void **state)
{
    (void)state;
    names_both = hosts_name_both();
    return 0;
}

/* Listening on ::1 alone, a server is found under the name that is 127.0.0.1 as well. */
static void localhost_may_be_ipv6_alone(void **state)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = listen_on_ipv6(&a);
    struct event_base *base;
    struct actor client;
    char url[80];

    (void)state;
    if (fd < 0 || !names_both) {
        print_message("skip: no IPv6 loopback here, or localhost is not both\n");
        skip();
    }
    base = pair_base();
    actor_init(&client, "http-client", base);
    snprintf(url, sizeof(url), "url=http://localhost:%u/", ntohs(a.sin6_port));
    actor_options(&client, url, "duration:300000000", "drain:10000000", NULL);
    assert_int_equal(actor_prepare(&client), 0);
    assert_true(actor_run(&client));
    assert_int_equal(client.env.meter->counters.connections, 1);
    assert_int_equal(client.env.meter->counters.unfinished, 1);
    actor_done(&client);
    close(fd);
    event_base_free(base);
}

/* Refused when it is prepared, with a sentence that says so. */
static void refused(const char *word, const char *option, const char *other)
{
    struct event_base *base = pair_base();
    struct actor a;

    actor_init(&a, "http-client", base);
    actor_options(&a, option, other, NULL);
    if (actor_prepare(&a) == 0)
        fail_msg("'%s' was not refused", option);
    if (!strstr(a.fail.sentence, word))
        fail_msg("'%s': '%s' does not say '%s'", option, a.fail.sentence, word);
    actor_done(&a);
    event_base_free(base);
}

static void bad_options(void **state)
{
    static const char url[] = "url=http://127.0.0.1:1/";

    (void)state;
    refused("no URL", "url=", NULL);
    refused("no scheme", "url=localhost:80", NULL);
    refused("https", "url=https://localhost/", NULL);
    refused("1 to 65535", "url=http://localhost:0/", NULL);
    refused("1 to 65535", "url=http://localhost:65536/", NULL);
    refused("no host", "url=http:///x", NULL);
    refused("Name: value", "headers=nothing", url);
    refused("line end", "headers=X: a\rb", url);
    refused("two Host", "headers=Host: a\nHost: b", url);
    refused("method", "method=GE T", url);
    refused("cannot be opened", "input=/nonexistent/body", url);
    refused("not a regular file", "input=/", url);
    refused("Content-Length", "headers=Content-Length: 9", url);
    refused("1 to", "connections:0", url);
    refused("1 to", "pipelining:0", url);
    refused("at most 107",
            "socket_path=/"
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            url);
    refused("--remote-target", "url=http://192.0.2.1/", NULL);
    refused("open files", "connections:999999", url);
}

static void nothing_is_left_open(void **state)
{
    unsigned before = open_descriptors();
    struct bench b;

    (void)state;
    bench_init(&b, HELLO);
    actor_options(&b.client, "connections:50", "amount:500", NULL);
    bench_run(&b);
    bench_done(&b);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_replies_whole),
        cmocka_unit_test(odd_replies_byte_by_byte),
        cmocka_unit_test(unasked_reply),
        cmocka_unit_test(a_connection_a_request),
        cmocka_unit_test(pipelined_behind_a_close),
        cmocka_unit_test(large_bodies),
        cmocka_unit_test(sent_bytes_are_body_and_wire),
        cmocka_unit_test(early_refusal),
        cmocka_unit_test(a_body_of_any_bytes),
        cmocka_unit_test(no_memory_is_a_failure_with_a_reason),
        cmocka_unit_test(server_closes_at_once),
        cmocka_unit_test(server_never_answers),
        cmocka_unit_test(server_stalls_in_the_body),
        cmocka_unit_test(timeouts_with_pipelining),
        cmocka_unit_test(every_seventh_connection_dropped),
        cmocka_unit_test(server_restarts),
        cmocka_unit_test(server_is_not_there),
        cmocka_unit_test(unix_socket),
        cmocka_unit_test(url_in_place_of_an_endpoint),
        cmocka_unit_test(localhost_may_be_ipv6_alone),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(nothing_is_left_open),
    };

    return cmocka_run_group_tests(tests, look_at_hosts, NULL);
}
