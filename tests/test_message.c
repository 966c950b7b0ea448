/* The messages between engine and worker: what is written reads back, and what another
 * program could have written does no harm. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/json.h"
#include "engine/message.h"
#include "protocols/array.h"
#include "protocols/clock.h"

/* Through text, as on the channel; deletes `object`. */
static cJSON *sent(cJSON *object)
{
    char *text = cJSON_PrintUnformatted(object);
    cJSON *back;

    assert_non_null(text);
    assert_null(strchr(text, '\n')); /* one line */
    back = cJSON_Parse(text);
    assert_non_null(back);
    cJSON_free(text);
    cJSON_Delete(object);
    return back;
}

static void every_type_has_its_name(void **state)
{
    (void)state;
    for (int type = 0; type < MESSAGE_UNKNOWN; type++) {
        cJSON *m = sent(message_new((enum message_type)type));

        assert_int_equal(message_type(m), type);
        cJSON_Delete(m);
    }
}

static void what_is_no_message_is_unknown(void **state)
{
    static const char *const texts[] = {"{}",
                                        "[]",
                                        "7",
                                        "null",
                                        "\"hello\"",
                                        "{\"type\":7}",
                                        "{\"type\":null}",
                                        "{\"type\":\"\"}",
                                        "{\"type\":\"HELLO\"}",
                                        "{\"type\":\"later\"}",
                                        "{\"Type\":\"hello\"}"};

    (void)state;
    assert_int_equal(message_type(NULL), MESSAGE_UNKNOWN);
    for (size_t i = 0; i < NUMBER_OF(texts); i++) {
        cJSON *m = cJSON_Parse(texts[i]);

        assert_non_null(m);
        assert_int_equal(message_type(m), MESSAGE_UNKNOWN);
        cJSON_Delete(m);
    }
}

static void fill_hello(struct hello *h)
{
    memset(h, 0, sizeof(*h));
    snprintf(h->role, sizeof(h->role), "bulk-client");
    snprintf(h->endpoint, sizeof(h->endpoint), "tcp:127.0.0.1:4000");
    snprintf(h->upstream, sizeof(h->upstream), "unix:/run/\"x\"\\y");
    snprintf(h->pin, sizeof(h->pin), "0,2-3");
    h->index = 255;
    options_set_number(&h->values, OPTION_size, 1ull << 50);
    options_set_number(&h->values, OPTION_rate, 0);
    options_set_text(&h->values, OPTION_file, "");
    options_set_text(&h->values, OPTION_headers, "A: 1\nB: \"2\"\t\x01");
    options_set_text(&h->values, OPTION_message, "\xff\xfe\x80 and \xc3\xa9");
}

static void hello_reads_back(void **state)
{
    struct hello a, b;
    struct fail fail = {0};
    cJSON *m;

    (void)state;
    fill_hello(&a);
    m = sent(message_hello(&a));
    assert_int_equal(message_type(m), MESSAGE_HELLO);
    assert_int_equal(message_read_hello(m, &b, &fail), 0);
    assert_string_equal(b.role, a.role);
    assert_string_equal(b.endpoint, a.endpoint);
    assert_string_equal(b.upstream, a.upstream);
    assert_string_equal(b.pin, a.pin);
    assert_int_equal(b.index, a.index);
    assert_int_equal(b.values.count, a.values.count);
    for (size_t i = 0; i < a.values.count; i++) {
        const struct option_value *v = &a.values.values[i];

        if (v->text)
            assert_string_equal(options_text(&b.values, v->option, "-"), v->text);
        else
            assert_true(options_number(&b.values, v->option, 7) == v->number);
    }
    cJSON_Delete(m);
    options_done(&a.values);
    options_done(&b.values);
}

static void hello_of_another_version_is_refused(void **state)
{
    static const char *const texts[] = {
        "{\"type\":\"hello\"}", "{\"type\":\"hello\",\"version\":0}",
        "{\"type\":\"hello\",\"version\":3,\"role\":\"bulk-client\"}",
        "{\"type\":\"hello\",\"version\":\"2\"}", "{\"type\":\"hello\",\"version\":-1}"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(texts); i++) {
        struct hello h;
        struct fail fail = {0};
        cJSON *m = cJSON_Parse(texts[i]);

        assert_int_equal(message_read_hello(m, &h, &fail), -EINVAL);
        assert_non_null(strstr(fail.sentence, "different versions"));
        assert_int_equal(h.values.count, 0);
        cJSON_Delete(m);
    }
}

/* A later version may add members; what is of a wrong kind is as if it were not there. */
static void hello_takes_what_it_knows(void **state)
{
    struct hello h;
    struct fail fail = {0};
    cJSON *m = cJSON_Parse(
        "{\"type\":\"hello\",\"version\":2,\"role\":7,\"index\":\"x\",\"new\":[{}],"
        "\"endpoint\":null,\"values\":{\"rate\":1,\"host\":\"t\",\"port\":null,\"size\":-"
        "1,"
        "\"trials\":1e30,\"file\":[1],\"gro\":true,\"rate\":2,\"later\":3}}");

    (void)state;
    assert_int_equal(message_read_hello(m, &h, &fail), 0);
    assert_string_equal(h.role, "");
    assert_string_equal(h.endpoint, "");
    assert_int_equal(h.index, 0);
    assert_int_equal(h.values.count, 2);
    assert_int_equal(options_number(&h.values, OPTION_rate, 0), 2);
    assert_string_equal(options_text(&h.values, OPTION_host, ""), "t");
    options_done(&h.values);
    cJSON_Delete(m);
    m = cJSON_Parse("{\"type\":\"hello\",\"version\":2,\"values\":7}");
    assert_int_equal(message_read_hello(m, &h, &fail), 0);
    assert_int_equal(h.values.count, 0);
    cJSON_Delete(m);
    m = cJSON_Parse("{\"type\":\"hello\",\"version\":2,\"values\":[1,\"a\"]}");
    assert_int_equal(message_read_hello(m, &h, &fail), 0);
    assert_int_equal(h.values.count, 0);
    cJSON_Delete(m);
}

static void long_texts_are_cut(void **state)
{
    struct hello h;
    struct fail fail = {0};
    char text[2000];
    cJSON *m = message_new(MESSAGE_HELLO);

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    json_add_u64(m, "version", MESSAGE_VERSION);
    json_add_text(m, "role", text);
    json_add_text(m, "endpoint", text);
    json_add_text(m, "upstream", text);
    json_add_text(m, "pin", text);
    m = sent(m);
    assert_int_equal(message_read_hello(m, &h, &fail), 0);
    assert_int_equal(strlen(h.role), sizeof(h.role) - 1);
    assert_int_equal(strlen(h.endpoint), sizeof(h.endpoint) - 1);
    cJSON_Delete(m);
    m = message_new(MESSAGE_FAIL);
    json_add_text(m, "sentence", text);
    memset(&fail, 0, sizeof(fail));
    message_read_fail(m, &fail);
    assert_int_equal(strlen(fail.sentence), sizeof(fail.sentence) - 1);
    cJSON_Delete(m);
}

static void start_is_common_on_one_machine(void **state)
{
    char boot[64];
    cJSON *m = sent(message_start(123456789012345, 10 * NS_PER_MS, "this-boot"));
    uint64_t before, at, after;

    (void)state;
    assert_int_equal(message_type(m), MESSAGE_START);
    assert_true(message_read_start(m, "this-boot") == 123456789012345);
    /* Another machine's clock means nothing here: the delay counts. */
    before = now_ns();
    at = message_read_start(m, "other-boot");
    after = now_ns();
    assert_in_range(at, before + 10 * NS_PER_MS, after + 10 * NS_PER_MS);
    cJSON_Delete(m);
    m = sent(message_start(5, 0, ""));
    before = now_ns();
    at = message_read_start(m, "");
    after = now_ns();
    assert_in_range(at, before, after);
    cJSON_Delete(m);
    assert_ptr_equal(message_boot(boot, sizeof(boot)), boot);
    assert_int_equal(strlen(boot), 36); /* a UUID */
}

static void fail_reads_back(void **state)
{
    struct fail a = {0};
    struct fail b = {0};
    cJSON *m;

    (void)state;
    fail_set(&a, EADDRINUSE, "listen", "Cannot listen at %s", "tcp:127.0.0.1:1");
    m = sent(message_fail(&a));
    message_read_fail(m, &b);
    assert_int_equal(b.err, EADDRINUSE);
    assert_string_equal(b.step, a.step);
    assert_string_equal(b.sentence, a.sentence);
    cJSON_Delete(m);
    /* Even an empty one is a failure with a sentence. */
    m = cJSON_Parse("{\"type\":\"fail\",\"errno\":0}");
    message_read_fail(m, &b);
    assert_int_not_equal(b.err, 0);
    assert_true(*b.sentence);
    cJSON_Delete(m);
}

/* A different value in every member of every list, each below 2^53. */
static uint64_t next_value(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11 | 1;
}

static void fill_sample(struct sample *s, uint64_t seed)
{
    struct meter *m = s->meter;

    s->at_ns = next_value(&seed);
    s->span_ns = next_value(&seed);
#define X(name, unit, help) m->counters.name = next_value(&seed);
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) m->gauges.name = next_value(&seed);
    METER_GAUGES(X)
#undef X
#define X(name, unit, help) s->use.name = next_value(&seed);
    PROCESS_COUNTERS(X)
    PROCESS_GAUGES(X)
#undef X
#define X(name, help)                              \
    tally_add(&m->name, #name " one", seed >> 32); \
    tally_add(&m->name, "zwei \xc3\xa9", 2);       \
    tally_add(&m->name, "none", 0);
    METER_TALLIES(X)
#undef X
    for (enum meter_hist h = 0; h < METER_HIST_COUNT; h++) {
        assert_int_equal(meter_use(m, h), 0);
        for (unsigned i = 0; i < 50; i++)
            meter_record(m, h, next_value(&seed) % 10000000000);
    }
}

static void assert_same_hist(const struct hist *a, const struct hist *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    assert_true(a->sum == b->sum);
    assert_true(a->sum_squares == b->sum_squares);
    assert_memory_equal(a->buckets, b->buckets, sizeof(a->buckets));
}

static void assert_same_sample(const struct sample *a, const struct sample *b)
{
    assert_true(a->at_ns == b->at_ns);
    assert_true(a->span_ns == b->span_ns);
#define X(name, unit, help) \
    assert_true(a->meter->counters.name == b->meter->counters.name);
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) assert_true(a->meter->gauges.name == b->meter->gauges.name);
    METER_GAUGES(X)
#undef X
#define X(name, unit, help) assert_true(a->use.name == b->use.name);
    PROCESS_COUNTERS(X)
    PROCESS_GAUGES(X)
#undef X
#define X(name, help)                                                         \
    assert_int_equal(tally_sum(&a->meter->name), tally_sum(&b->meter->name)); \
    assert_int_equal(tally_get(&b->meter->name, #name " one"),                \
                     tally_get(&a->meter->name, #name " one"));               \
    assert_int_equal(tally_get(&b->meter->name, "zwei \xc3\xa9"), 2);
    METER_TALLIES(X)
#undef X
}

static void a_sample_reads_back_whole(void **state)
{
    struct sample a, b;
    cJSON *m = message_new(MESSAGE_SAMPLE);

    (void)state;
    assert_int_equal(sample_init(&a), 0);
    assert_int_equal(sample_init(&b), 0);
    fill_sample(&a, 42);
    fill_sample(&b, 43); /* decoding replaces, it does not add */
    assert_int_equal(sample_encode(&a, true, m), 0);
    m = sent(m);
    assert_int_equal(sample_decode(&b, m), 0);
    assert_same_sample(&a, &b);
    for (enum meter_hist h = 0; h < METER_HIST_COUNT; h++)
        assert_same_hist(a.meter->hists[h], b.meter->hists[h]);
    cJSON_Delete(m);
    sample_done(&a);
    sample_done(&b);
}

/* Every 100 ms the headline is enough; zeros are not written at all. */
static void a_short_sample_has_the_headline_alone(void **state)
{
    struct sample a, b;
    cJSON *m = cJSON_CreateObject();

    (void)state;
    assert_int_equal(sample_init(&a), 0);
    assert_int_equal(sample_init(&b), 0);
    fill_sample(&a, 7);
    assert_int_equal(sample_encode(&a, false, m), 0);
    m = sent(m);
    assert_int_equal(sample_decode(&b, m), 0);
    assert_same_sample(&a, &b);
    assert_same_hist(a.meter->hists[METER_HIST_latency],
                     b.meter->hists[METER_HIST_latency]);
    for (enum meter_hist h = METER_HIST_latency + 1; h < METER_HIST_COUNT; h++)
        assert_null(b.meter->hists[h]);
    cJSON_Delete(m);
    sample_done(&a);
    sample_done(&b);

    assert_int_equal(sample_init(&a), 0);
    m = cJSON_CreateObject();
    assert_int_equal(sample_encode(&a, false, m), 0);
    assert_int_equal(cJSON_GetArraySize(m), 3); /* at_ns, span_ns, hists */
    cJSON_Delete(m);
    sample_done(&a);
}

static void samples_add_up(void **state)
{
    struct sample a, sum;
    struct process_use use = {0};

    (void)state;
    assert_int_equal(sample_init(&a), 0);
    assert_int_equal(sample_init(&sum), 0);
    fill_sample(&a, 3);
    for (int i = 0; i < 2; i++) {
        cJSON *m = cJSON_CreateObject();
        struct sample b;

        assert_int_equal(sample_init(&b), 0);
        assert_int_equal(sample_encode(&a, true, m), 0);
        m = sent(m);
        assert_int_equal(sample_decode(&b, m), 0);
        assert_int_equal(meter_merge(sum.meter, b.meter), 0);
        process_use_add(&use, &b.use);
        cJSON_Delete(m);
        sample_done(&b);
    }
#define X(name, unit, help) \
    assert_true(sum.meter->counters.name == 2 * a.meter->counters.name);
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) assert_true(use.name == 2 * a.use.name);
    PROCESS_COUNTERS(X)
#undef X
    assert_true(use.max_rss_bytes == a.use.max_rss_bytes); /* the larger, no sum */
    assert_true(use.open_descriptors == 2 * a.use.open_descriptors);
    sample_done(&a);
    sample_done(&sum);
}

static void a_malformed_sample_is_refused(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"at_ns\":1}",
        "{\"span_ns\":1}",
        "{\"at_ns\":-1,\"span_ns\":1}",
        "{\"at_ns\":\"1\",\"span_ns\":1}",
        "{\"at_ns\":1e300,\"span_ns\":1}",
        "{\"at_ns\":1,\"span_ns\":1,\"hists\":{\"latency\":\"rubbish\"}}",
        "{\"at_ns\":1,\"span_ns\":1,\"hists\":{\"pacing\":\"1 2 3\"}}"};
    struct sample s;

    (void)state;
    assert_int_equal(sample_init(&s), 0);
    for (size_t i = 0; i < NUMBER_OF(texts); i++) {
        cJSON *m = cJSON_Parse(texts[i]);

        assert_non_null(m);
        assert_int_equal(sample_decode(&s, m), -EINVAL);
        cJSON_Delete(m);
    }
    sample_done(&s);
}

static void odd_members_of_a_sample_count_nothing(void **state)
{
    struct sample s;
    cJSON *m = cJSON_Parse(
        "{\"at_ns\":2,\"span_ns\":1,\"attempted\":-5,\"succeeded\":\"7\",\"failed\":null,"
        "\"sent_bytes\":1e40,\"unheard_of\":9,\"errors\":{\"a\":-1,\"b\":\"2\",\"c\":3},"
        "\"status\":[200,404],\"labels\":7,\"hists\":{\"latency\":7,\"new\":\"x\"}}");

    (void)state;
    assert_non_null(m);
    assert_int_equal(sample_init(&s), 0);
    assert_int_equal(sample_decode(&s, m), 0);
    assert_int_equal(s.meter->counters.attempted, 0);
    assert_int_equal(s.meter->counters.succeeded, 0);
    assert_int_equal(s.meter->counters.sent_bytes, 0);
    assert_int_equal(tally_sum(&s.meter->errors), 3);
    assert_int_equal(tally_sum(&s.meter->labels), 0);
    assert_int_equal(s.meter->hists[METER_HIST_latency]->count, 0);
    cJSON_Delete(m);
    sample_done(&s);
}

static void done_carries_the_outcome(void **state)
{
    struct sample s;

    (void)state;
    assert_int_equal(sample_init(&s), 0);
    for (int o = OUTCOME_COMPLETED; o <= OUTCOME_FAILED; o++) {
        cJSON *m = sent(message_done(&s, (enum outcome)o, o ? "why \xff" : NULL));

        assert_int_equal(message_type(m), MESSAGE_DONE);
        assert_int_equal(message_read_outcome(m), o);
        assert_string_equal(json_text(m, "reason", "-"), o ? "why \xef\xbf\xbd" : "");
        cJSON_Delete(m);
    }
    sample_done(&s);
    /* What does not say so has not completed. */
    for (int i = 0; i < 3; i++) {
        static const char *const texts[] = {"{}", "{\"outcome\":7}",
                                            "{\"outcome\":\"fine\"}"};
        cJSON *m = cJSON_Parse(texts[i]);

        assert_int_equal(message_read_outcome(m), OUTCOME_FAILED);
        cJSON_Delete(m);
    }
}

static void what_a_process_uses_is_read(void **state)
{
    struct process_use before, after;
    uint64_t descriptors = process_descriptors();
    uint64_t until_ns = now_ns() + 30 * NS_PER_MS;
    int fds[10];

    (void)state;
    process_use_read(&before);
    assert_true(before.max_rss_bytes > 1 << 20);
    for (size_t i = 0; i < 10; i++)
        fds[i] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(process_descriptors(), descriptors + 10);
    for (size_t i = 0; i < 10; i++)
        close(fds[i]);
    assert_int_equal(process_descriptors(), descriptors);
    while (now_ns() < until_ns)
        ;
    usleep(1000);
    process_use_read(&after);
    process_use_subtract(&after, &before);
    assert_true(after.cpu_user_us + after.cpu_system_us > 0);
    assert_true(after.voluntary_switches > 0);
}

/* cJSON prints 15 digits; a count of bytes may have more. */
static void large_numbers_are_exact(void **state)
{
    static const uint64_t values[] = {0, 999999999999999, 9007199254740991,
                                      18446744073709551615u};
    char wanted[40];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(values); i++) {
        cJSON *m = cJSON_CreateObject();
        char *text;

        json_add_u64(m, "n", values[i]);
        text = cJSON_PrintUnformatted(m);
        snprintf(wanted, sizeof(wanted), "{\"n\":%" PRIu64 "}", values[i]);
        assert_string_equal(text, wanted);
        cJSON_free(text);
        cJSON_Delete(m);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_name),
        cmocka_unit_test(what_is_no_message_is_unknown),
        cmocka_unit_test(hello_reads_back),
        cmocka_unit_test(hello_of_another_version_is_refused),
        cmocka_unit_test(hello_takes_what_it_knows),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(start_is_common_on_one_machine),
        cmocka_unit_test(fail_reads_back),
        cmocka_unit_test(a_sample_reads_back_whole),
        cmocka_unit_test(a_short_sample_has_the_headline_alone),
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(a_malformed_sample_is_refused),
        cmocka_unit_test(odd_members_of_a_sample_count_nothing),
        cmocka_unit_test(done_carries_the_outcome),
        cmocka_unit_test(what_a_process_uses_is_read),
        cmocka_unit_test(large_numbers_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
