/* JSON lines over descriptors: cut anywhere, too long, not JSON; a reader that is slow
 * or gone. */
#include <errno.h>
#include <event2/event.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "engine/channel.h"
#include "engine/json.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/pair.h"

struct stage {
    struct event_base *base;
    struct channel *channel; /* reads and writes fds[0] */
    int other;               /* fds[1], the test's */
    unsigned objects, rubbish;
    uint64_t sum; /* of the objects' "n" */
    char last[64];
    bool closed;
    int err;
    bool free_on_message, free_on_close;
    unsigned descriptors;
};

static void on_message(void *arg, const cJSON *object, const char *line)
{
    struct stage *s = arg;

    if (object) {
        s->objects++;
        s->sum += json_u64(object, "n", 0);
    } else {
        s->rubbish++;
        snprintf(s->last, sizeof(s->last), "%s", line);
    }
    if (s->free_on_message) {
        channel_free(s->channel);
        s->channel = NULL;
    }
}

static void on_closed(void *arg, int err)
{
    struct stage *s = arg;

    assert_false(s->closed);
    s->closed = true;
    s->err = err;
    if (s->free_on_close) {
        channel_free(s->channel);
        s->channel = NULL;
    }
}

static void stage_init(struct stage *s)
{
    static const struct channel_ops ops = {on_message, on_closed};
    int kept = 200000, fds[2];

    memset(s, 0, sizeof(*s));
    s->descriptors = open_descriptors();
    s->base = pair_base();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++) /* whatever the system gives; it may be much more */
        assert_int_equal(setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &kept, sizeof(kept)),
                         0);
    s->other = fds[1];
    s->channel = channel_new(s->base, fds[0], fds[0], &ops, s);
    assert_non_null(s->channel);
}

static void stage_done(struct stage *s)
{
    channel_free(s->channel);
    if (s->other >= 0)
        close(s->other);
    event_base_free(s->base);
    assert_int_equal(open_descriptors(), s->descriptors);
}

static void turn(struct stage *s)
{
    event_base_loop(s->base, EVLOOP_NONBLOCK);
}

static void turn_until_closed(struct stage *s)
{
    uint64_t until_ns = now_ns() + 10 * NS_PER_S;

    while (!s->closed && now_ns() < until_ns)
        event_base_loop(s->base, EVLOOP_ONCE);
    assert_true(s->closed);
}

static void put(const struct stage *s, const char *text, size_t len)
{
    assert_int_equal(write(s->other, text, len), len);
}

static cJSON *numbered(uint64_t n)
{
    cJSON *o = cJSON_CreateObject();

    json_add_u64(o, "n", n);
    return o;
}

static void lines_come_out_however_they_are_cut(void **state)
{
    static const char text[] =
        "{\"n\":1}\n{\"n\":20}\n\n{\"n\":300}\nnot JSON\n{\"n\":4000}";

    (void)state;
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        struct stage s;

        stage_init(&s);
        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            put(&s, text + at,
                piece < sizeof(text) - 1 - at ? piece : sizeof(text) - 1 - at);
            turn(&s);
        }
        assert_int_equal(s.objects, 3);
        assert_int_equal(s.sum, 321);
        assert_int_equal(s.rubbish, 2); /* the empty line, too, is no object */
        assert_string_equal(s.last, "not JSON");
        put(&s, "\n", 1);
        turn(&s);
        assert_int_equal(s.sum, 4321);
        stage_done(&s);
    }
}

static void what_is_no_object_is_given_as_text(void **state)
{
    static const char *const lines[] = {"7",        "[1]",        "null",  "\"x\"",
                                        "{",        "{\"n\":1",   "{]",    "{\"n\":1} x",
                                        "\xff\xfe", "{\"n\":1}}", "{n:1}", "{\"n\":1},"};
    struct stage s;

    (void)state;
    stage_init(&s);
    for (size_t i = 0; i < NUMBER_OF(lines); i++) {
        put(&s, lines[i], strlen(lines[i]));
        put(&s, "\n", 1);
        turn(&s);
        assert_int_equal(s.rubbish, i + 1);
        assert_string_equal(s.last, lines[i]);
    }
    assert_int_equal(s.objects, 0);
    put(&s, "{\"n\":1}\r\n", 9); /* white space may follow */
    turn(&s);
    assert_int_equal(s.objects, 1);
    stage_done(&s);
}

static void deep_nesting_does_no_harm(void **state)
{
    struct stage s;
    size_t depth = 100000;
    char *text = malloc(depth);

    (void)state;
    stage_init(&s);
    memset(text, '[', depth);
    text[depth - 1] = '\n';
    put(&s, text, depth);
    turn(&s);
    turn(&s);
    assert_int_equal(s.rubbish, 1);
    free(text);
    stage_done(&s);
}

/* What never ends is no line of ours; the memory for it is bounded. */
static void a_huge_line_ends_the_channel(void **state)
{
    struct stage s;
    static char block[1 << 16];
    size_t sent = 0;

    (void)state;
    stage_init(&s);
    fcntl(s.other, F_SETFL, O_NONBLOCK);
    memset(block, 'x', sizeof(block));
    while (!s.closed && sent < 2ull * CHANNEL_LINE_MAX) {
        ssize_t n = write(s.other, block, sizeof(block));

        if (n > 0)
            sent += (size_t)n;
        turn(&s);
    }
    assert_true(s.closed);
    assert_int_equal(s.err, EMSGSIZE);
    assert_in_range(sent, CHANNEL_LINE_MAX, CHANNEL_LINE_MAX + (1 << 20));
    stage_done(&s);
}

static void the_end_of_the_other_side_is_told_once(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    put(&s, "{\"n\":5}\n{\"n\":6", 14);
    close(s.other);
    s.other = -1;
    turn_until_closed(&s);
    turn(&s);
    assert_int_equal(s.err, 0);
    assert_int_equal(s.sum, 5); /* a line without its end is none */
    stage_done(&s);
}

static void a_channel_may_be_freed_in_its_callbacks(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    s.free_on_message = true;
    put(&s, "{}\n{}\n{}\n", 9);
    turn(&s);
    assert_int_equal(s.objects, 1);
    stage_done(&s);

    stage_init(&s);
    s.free_on_close = true;
    close(s.other);
    s.other = -1;
    turn_until_closed(&s);
    stage_done(&s);
}

/* The writer never waits: what the kernel does not take lies in memory, in order. */
static void a_full_pipe_does_not_block_the_writer(void **state)
{
    struct stage s;
    size_t taken = 0;
    uint64_t next = 0;
    char *read_back = malloc(1 << 24);
    uint64_t began_ns = now_ns();

    (void)state;
    stage_init(&s);
    for (uint64_t n = 0; n < 100000; n++)
        assert_int_equal(channel_send(s.channel, numbered(n)), 0);
    assert_true(channel_pending(s.channel) > 100000);
    assert_true(now_ns() - began_ns < 10 * NS_PER_S);
    fcntl(s.other, F_SETFL, O_NONBLOCK);
    for (int idle = 0; idle < 3;) {
        ssize_t n = read(s.other, read_back + taken, 65536);

        taken += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        turn(&s);
    }
    assert_int_equal(channel_pending(s.channel), 0);
    read_back[taken] = '\0';
    for (char *line = strtok(read_back, "\n"); line; line = strtok(NULL, "\n")) {
        char wanted[40];

        snprintf(wanted, sizeof(wanted), "{\"n\":%llu}", (unsigned long long)next++);
        assert_string_equal(line, wanted);
    }
    assert_int_equal(next, 100000);
    free(read_back);
    stage_done(&s);
}

static void a_reader_that_is_gone_does_not_end_the_writer(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    close(s.other);
    s.other = -1;
    for (uint64_t n = 0; n < 1000; n++)
        assert_int_equal(channel_send(s.channel, numbered(n)), 0);
    assert_int_equal(channel_pending(s.channel), 0);
    turn_until_closed(&s);
    stage_done(&s);
}

static void finishing_ends_the_others_input_after_the_last_word(void **state)
{
    struct stage s;
    char text[64];

    (void)state;
    stage_init(&s);
    assert_int_equal(channel_send(s.channel, numbered(1)), 0);
    channel_finish(s.channel);
    assert_int_equal(channel_send(s.channel, numbered(2)), -EPIPE);
    assert_int_equal(read(s.other, text, sizeof(text)), 8);
    assert_int_equal(read(s.other, text, sizeof(text)), 0);
    /* The other direction lives on. */
    put(&s, "{\"n\":9}\n", 8);
    turn(&s);
    assert_int_equal(s.sum, 9);
    stage_done(&s);

    /* With a full pipe the end waits for what is pending. */
    stage_init(&s);
    for (uint64_t n = 0; n < 50000; n++)
        channel_send(s.channel, numbered(n));
    channel_finish(s.channel);
    assert_true(channel_pending(s.channel) > 0);
    fcntl(s.other, F_SETFL, O_NONBLOCK);
    for (int idle = 0; idle < 3; turn(&s)) {
        static char block[65536];
        ssize_t n = read(s.other, block, sizeof(block));

        if (n == 0)
            break;
        idle = n > 0 ? 0 : idle + 1;
        assert_in_range(idle, 0, 2);
    }
    assert_int_equal(channel_pending(s.channel), 0);
    stage_done(&s);
}

static void flushing_is_bounded(void **state)
{
    struct stage s;
    uint64_t began_ns;
    char text[64];

    (void)state;
    stage_init(&s);
    for (uint64_t n = 0; n < 50000; n++)
        channel_send(s.channel, numbered(n));
    began_ns = now_ns();
    channel_flush(s.channel, 50); /* nobody reads */
    assert_in_range(now_ns() - began_ns, 40 * NS_PER_MS, 5 * NS_PER_S);
    assert_true(channel_pending(s.channel) > 0);
    close(s.other);
    s.other = -1;
    channel_flush(s.channel, 10000); /* nobody will */
    assert_in_range(now_ns() - began_ns, 0, 5 * NS_PER_S);
    stage_done(&s);

    stage_init(&s);
    channel_send(s.channel, numbered(3));
    channel_flush(s.channel, 1000);
    assert_int_equal(read(s.other, text, sizeof(text)), 8);
    stage_done(&s);
}

static void out_of_memory_is_told(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    assert_int_equal(channel_send(s.channel, NULL), -ENOMEM);
    stage_done(&s);
    channel_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_out_however_they_are_cut),
        cmocka_unit_test(what_is_no_object_is_given_as_text),
        cmocka_unit_test(deep_nesting_does_no_harm),
        cmocka_unit_test(a_huge_line_ends_the_channel),
        cmocka_unit_test(the_end_of_the_other_side_is_told_once),
        cmocka_unit_test(a_channel_may_be_freed_in_its_callbacks),
        cmocka_unit_test(a_full_pipe_does_not_block_the_writer),
        cmocka_unit_test(a_reader_that_is_gone_does_not_end_the_writer),
        cmocka_unit_test(finishing_ends_the_others_input_after_the_last_word),
        cmocka_unit_test(flushing_is_bounded),
        cmocka_unit_test(out_of_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
