/*
 * Topper messages as people and programs send them. Every conversation is split
 * whole, byte by byte and at every place; the answers must be the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/sum.h"
#include "protocols/topper.h"

#define UNKNOWN(name) "Error: unknown task '" name "'; known are Ping, Sum, Avg\n"

struct talk {
    struct topper_split split;
    enum topper_mode mode;
    char *held; /* bytes not used yet, in an allocation of their size */
    size_t len;
    struct evbuffer *reply;
};

static void drop(struct talk *t, size_t n)
{
    char *rest = malloc(t->len - n + 1);

    memcpy(rest, t->held + n, t->len - n);
    rest = realloc(rest, t->len > n ? t->len - n : 1);
    free(t->held);
    t->held = rest;
    t->len -= n;
}

static void say(struct talk *t, const char *bytes, size_t len)
{
    enum topper_step step;
    struct topper_message m;
    size_t used;

    t->held = realloc(t->held, (t->len + len) > 0 ? t->len + len : 1);
    memcpy(t->held + t->len, bytes, len);
    t->len += len;
    do {
        step = topper_split_next(&t->split, t->held, t->len, &used, &m);
        if (step == TOPPER_MESSAGE)
            topper_answer(t->mode, &m, t->reply);
        if (step == TOPPER_TOO_LONG)
            topper_answer_too_long(t->reply);
        drop(t, used);
    } while (step != TOPPER_MORE);
}

/* The sender has ended. */
static void end(struct talk *t)
{
    struct topper_message m;

    if (topper_split_rest(&t->split, t->held, t->len, &m))
        topper_answer(t->mode, &m, t->reply);
    drop(t, t->len);
    topper_split_init(&t->split, t->mode);
}

static void talk_init(struct talk *t, enum topper_mode mode)
{
    memset(t, 0, sizeof(*t));
    t->mode = mode;
    t->held = malloc(1);
    t->reply = evbuffer_new();
    topper_split_init(&t->split, mode);
}

static void talk_done(struct talk *t, const char *expected, const char *what)
{
    size_t len = evbuffer_get_length(t->reply);
    char *got = calloc(1, len + 1);

    evbuffer_remove(t->reply, got, len);
    if (strcmp(got, expected) != 0)
        fail_msg("%s: expected '%s', got '%s'", what, expected, got);
    free(got);
    free(t->held);
    evbuffer_free(t->reply);
}

/* At every cut, and byte by byte; nothing may be left to wait for at the end. */
static void expect(enum topper_mode mode, const char *said, const char *answers)
{
    size_t len = strlen(said);

    for (size_t cut = 0; cut <= len; cut++) {
        struct talk t;

        talk_init(&t, mode);
        if (cut == 0)
            for (size_t i = 0; i < len; i++)
                say(&t, said + i, 1);
        else
            say(&t, said, cut);
        if (cut)
            say(&t, said + cut, len - cut);
        end(&t);
        talk_done(&t, answers, said);
    }
}

static void documented_tasks(void **state)
{
    (void)state;
    expect(TOPPER_MULTI, "Ping\n", "Pong\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1, 2, 3, 4, 5]}\n", "The sum is: 15 \n");
    expect(TOPPER_MULTI, "Avg {\"numbers\": [1, 2, 3, 4, 5]}\n",
           "The sum of numbers is: 15 \nThe average is: 3 \n");
    expect(TOPPER_ECHO, "verything is connected, Todd...\n",
           "Message payload: verything is connected, Todd...\n");
    expect(TOPPER_GREETING, "{\"name\": \"Matheus Fidelis\", \"age\":22}\n",
           "hello, my name is Matheus Fidelis and i'm 22 old\n");
}

static void without_a_line_end(void **state)
{
    (void)state;
    expect(TOPPER_MULTI, "Sum {\"numbers\":[1,2]}", "The sum is: 3 \n");
    expect(TOPPER_MULTI, "Ping", "Pong\n");
    expect(TOPPER_MULTI, "Ping undefined", "Pong\n");
    expect(TOPPER_MULTI, "Ping {}", "Pong\n");
    expect(TOPPER_MULTI, "Ping \"text\"", "Pong\n");
    expect(TOPPER_GREETING, "{\"name\":\"A\",\"age\":1}",
           "hello, my name is A and i'm 1 old\n");
    expect(TOPPER_GREETING, "Hello {\"name\":\"A\",\"age\":1}",
           "hello, my name is A and i'm 1 old\n");
    expect(TOPPER_ECHO, "no newline", "Message payload: no newline");
    expect(TOPPER_ECHO, "Echo {\"a\": 1}", "Message payload: Echo {\"a\": 1}");
}

static void line_ends(void **state)
{
    (void)state;
    expect(TOPPER_MULTI, "Ping\r\n", "Pong\n");
    expect(TOPPER_MULTI, "Ping\r", "Pong\n");
    expect(TOPPER_MULTI, "Ping\r\r\n\n\r\n", "Pong\n");
    expect(TOPPER_MULTI, "\n\r\n  Ping\n", "Pong\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\":[4]}\r\n", "The sum is: 4 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\":[4]}  \r\n", "The sum is: 4 \n");
    expect(TOPPER_MULTI, "Sum\t {\"numbers\":[4]}\n", "The sum is: 4 \n");
    expect(TOPPER_ECHO, "text\r\n", "Message payload: text\n");
    expect(TOPPER_ECHO, "  text  \n", "Message payload:   text  \n");
    expect(TOPPER_MULTI, "\n\n\r\n   \n", "");
    expect(TOPPER_ECHO, "\n\r\n", "");
}

static void several_in_a_segment(void **state)
{
    (void)state;
    expect(TOPPER_MULTI, "Ping\nPing\nPing\n", "Pong\nPong\nPong\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\":[1]}\nPing\nAvg {\"numbers\":[2]}\n",
           "The sum is: 1 \nPong\nThe sum of numbers is: 2 \nThe average is: 2 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\":[1]}Sum {\"numbers\":[2]}Ping",
           "The sum is: 1 \nThe sum is: 2 \nPong\n");
    expect(TOPPER_ECHO, "a\nb\nc",
           "Message payload: a\nMessage payload: b\nMessage payload: c");
    expect(TOPPER_GREETING, "{\"name\":\"A\",\"age\":1}{\"name\":\"B\",\"age\":2}\n",
           "hello, my name is A and i'm 1 old\nhello, my name is B and i'm 2 old\n");
}

static void brackets_in_strings(void **state)
{
    (void)state;
    expect(TOPPER_GREETING, "{\"name\":\"}{\\\"]\\\\\",\"age\":1}\n",
           "hello, my name is }{\"]\\ and i'm 1 old\n");
    expect(TOPPER_MULTI, "Sum {\"x\":\"]}\",\"numbers\":[1,[][0]]}", /* not JSON */
           "Error: Sum: the payload is not valid JSON\n");
    expect(TOPPER_MULTI, "Sum {\"x\":\"]}\",\"numbers\":[1]}", "The sum is: 1 \n");
}

static void unknown_tasks(void **state)
{
    (void)state;
    expect(TOPPER_MULTI, "Nope\nPing\n", UNKNOWN("Nope") "Pong\n");
    expect(TOPPER_MULTI, "Nope {\"a\":1}", UNKNOWN("Nope"));
    expect(TOPPER_MULTI, "ping\n", UNKNOWN("ping"));
    expect(TOPPER_MULTI, "Pin\n", UNKNOWN("Pin"));
    expect(TOPPER_MULTI, "Pings\n", UNKNOWN("Pings"));
    expect(TOPPER_MULTI, "{\"a\":1}\n", UNKNOWN("{\"a\":1}"));
    expect(TOPPER_MULTI, "\x1b[2J\n", UNKNOWN("?[2J"));
    expect(TOPPER_MULTI, "GET / HTTP/1.1\r\n\r\n", UNKNOWN("GET"));
    expect(TOPPER_MULTI, "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee\n",
           UNKNOWN("aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd..."));
}

static void bad_payloads(void **state)
{
    static const char *const needs =
        "Error: Sum: the payload must be an object such as {\"numbers\": [1, 2, 3]}\n";

    (void)state;
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1, 2\nPing\n",
           "Error: Sum: the payload is not valid JSON\nPong\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1, 2}\nPing\n",
           "Error: Sum: the payload is not valid JSON\nPong\n");
    expect(TOPPER_MULTI, "Ping {bad}\n", "Error: Ping: the payload is not valid JSON\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1",
           "Error: Sum: the payload is not valid JSON\n");
    expect(TOPPER_MULTI, "Sum\n", needs);
    expect(TOPPER_MULTI, "Sum \n", needs);
    expect(TOPPER_MULTI, "Sum 12\n", needs);
    expect(TOPPER_MULTI, "Sum words\n", needs);
    expect(TOPPER_MULTI, "Sum {}\n", needs);
    expect(TOPPER_MULTI, "Sum [1, 2]\n", needs);
    expect(TOPPER_MULTI, "Sum {\"numbers\": 3}\n", needs);
    expect(TOPPER_MULTI, "Sum {\"numbers\": []}\n",
           "Error: Sum: the array numbers is empty\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1, \"2\"]}\n",
           "Error: Sum: the array numbers holds something that is not a number\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1, null]}\n",
           "Error: Sum: the array numbers holds something that is not a number\n");
    expect(TOPPER_MULTI, "Avg {\"numbers\": []}\n",
           "Error: Avg: the array numbers is empty\n");
    expect(TOPPER_GREETING, "hi\n",
           "Error: greeting: the payload must be an object such as "
           "{\"name\": \"Ada\", \"age\": 36}\n");
    expect(TOPPER_GREETING, "{\"name\": \"A\"}\n",
           "Error: greeting: the payload must be an object such as "
           "{\"name\": \"Ada\", \"age\": 36}\n");
}

static void numbers(void **state)
{
    (void)state;
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1.5, 2.25]}\n", "The sum is: 3.75 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [-1, 1]}\n", "The sum is: 0 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [-0.0]}\n", "The sum is: 0 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [4294967296, 1]}\n",
           "The sum is: 4294967297 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [9007199254740991]}\n",
           "The sum is: 9007199254740991 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1e15]}\n",
           "The sum is: 1000000000000000 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1e300]}\n", "The sum is: 1e+300 \n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1e308, 1e308]}\n",
           "Error: Sum: the sum is too large for a number\n");
    expect(TOPPER_MULTI, "Sum {\"numbers\": [1e999]}\n",
           "Error: Sum: the array numbers holds a number that is too large\n");
    expect(TOPPER_MULTI, "Avg {\"numbers\": [1, 2]}\n",
           "The sum of numbers is: 3 \nThe average is: 1.5 \n");
}

/* What a server does when the sender is silent, and the next words are late. */
static void silence(void **state)
{
    struct talk t;
    struct topper_message m;

    (void)state;
    talk_init(&t, TOPPER_MULTI);
    say(&t, "Pi", 2);
    assert_true(topper_split_rest(&t.split, t.held, t.len, &m));
    assert_int_equal(topper_answer(t.mode, &m, t.reply), -EINVAL); /* so: wait */
    evbuffer_drain(t.reply, evbuffer_get_length(t.reply));
    say(&t, "ng", 2);
    assert_true(topper_split_rest(&t.split, t.held, t.len, &m));
    assert_int_equal(m.len, 4);
    end(&t);
    say(&t, "\r\n", 2); /* the line end that came late is not a second message */
    say(&t, "Sum {\"numbers\":", 15);
    assert_true(topper_split_rest(&t.split, t.held, t.len, &m));
    assert_int_equal(topper_answer(t.mode, &m, t.reply), -EINVAL);
    say(&t, "[1]}", 4);
    assert_false(topper_split_rest(&t.split, t.held, t.len, &m));
    talk_done(&t, "Pong\nError: Sum: the payload is not valid JSON\nThe sum is: 1 \n",
              "silence");
}

static char *filled(const char *start, char fill, size_t len)
{
    char *text = malloc(len + 1);

    memset(text, fill, len);
    memcpy(text, start, strlen(start));
    text[len] = '\0';
    return text;
}

/* A message of the limit passes, one byte more does not, and what follows is answered. */
static void size_limit(void **state)
{
    char *text = filled("Ping ", 'x', TOPPER_MESSAGE_MAX + 1);

    (void)state;
    for (size_t over = 0; over < 2; over++) {
        struct talk t;

        talk_init(&t, TOPPER_MULTI);
        for (size_t at = 0; at < TOPPER_MESSAGE_MAX + over; at += 65536)
            say(&t, text + at,
                TOPPER_MESSAGE_MAX + over - at < 65536 ? TOPPER_MESSAGE_MAX + over - at
                                                       : 65536);
        say(&t, "\nPing\n", 6);
        talk_done(&t,
                  over ? "Error: the message is longer than 1048576 bytes\nPong\n"
                       : "Pong\nPong\n",
                  "limit");
    }
    free(text);
}

/* Without a line end, a silence ends what is skipped. */
static void size_limit_then_silence(void **state)
{
    char *text = filled("", '{', TOPPER_MESSAGE_MAX + 10);
    struct talk t;

    (void)state;
    talk_init(&t, TOPPER_MULTI);
    say(&t, text, TOPPER_MESSAGE_MAX + 10);
    end(&t);
    say(&t, "Ping\n", 5);
    talk_done(&t, "Error: the message is longer than 1048576 bytes\nPong\n", "silence");
    free(text);
}

static void large_payload(void **state)
{
    size_t len = 0;
    char *text = malloc(400100);
    struct talk t;

    (void)state;
    len += (size_t)sprintf(text, "Sum {\"numbers\":[1");
    for (int i = 1; i < 100000; i++)
        len += (size_t)sprintf(text + len, ", 1");
    len += (size_t)sprintf(text + len, "]}");
    talk_init(&t, TOPPER_MULTI);
    say(&t, text, 100000);
    say(&t, text + 100000, len - 100000);
    talk_done(&t, "The sum is: 100000 \n", "large");
    free(text);
}

static void deep_nesting(void **state)
{
    char *text = filled("Sum ", '[', 100000);
    struct talk t;

    (void)state;
    talk_init(&t, TOPPER_MULTI);
    say(&t, text, 100000);
    say(&t, "\nPing\n", 6);
    talk_done(&t, "Error: Sum: the payload is not valid JSON\nPong\n", "deep");
    free(text);
}

static void modes(void **state)
{
    enum topper_mode mode;

    (void)state;
    assert_int_equal(topper_mode_find("multi", &mode), 0);
    assert_int_equal(mode, TOPPER_MULTI);
    assert_int_equal(topper_mode_find("echo", &mode), 0);
    assert_int_equal(mode, TOPPER_ECHO);
    assert_int_equal(topper_mode_find("greeting", &mode), 0);
    assert_int_equal(mode, TOPPER_GREETING);
    assert_int_equal(topper_mode_find("Ping", &mode), -ENOENT);
    assert_int_equal(topper_mode_find("", &mode), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_tasks),
        cmocka_unit_test(without_a_line_end),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(several_in_a_segment),
        cmocka_unit_test(brackets_in_strings),
        cmocka_unit_test(unknown_tasks),
        cmocka_unit_test(bad_payloads),
        cmocka_unit_test(numbers),
        cmocka_unit_test(silence),
        cmocka_unit_test(size_limit),
        cmocka_unit_test(size_limit_then_silence),
        cmocka_unit_test(large_payload),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(modes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
