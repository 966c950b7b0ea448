#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"
#include "protocols/udp/datagram.h"

/* xorshift64*: the same numbers in each run of the test. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* Payloads. */

static unsigned char *make(const struct datagram_form *form, uint64_t sequence,
                           uint64_t time_ns)
{
    unsigned char *payload = malloc(form->size_bytes ? form->size_bytes : 1);

    assert_non_null(payload);
    datagram_fill(form, payload);
    datagram_stamp(form, payload, sequence, time_ns);
    return payload;
}

static void stamp_is_read_back(void **state)
{
    static const size_t sizes[] = {0, 52, 53, 1472, DATAGRAM_MAX_IPV4};
    struct datagram_form form;
    struct datagram d;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(sizes); i++) {
        unsigned char *payload;

        assert_int_equal(datagram_form_stamped(&form, "STRICT_LOOP", sizes[i],
                                               0xfedcba9876543210u, 7, NULL),
                         0);
        assert_int_equal(form.size_bytes, sizes[i] ? sizes[i] : 52);
        payload = make(&form, 99999, 123456789012345u);
        datagram_read(&d, payload, form.size_bytes);
        assert_int_equal(d.kind, DATAGRAM_STAMPED);
        assert_int_equal(d.label_bytes, 11);
        assert_memory_equal(d.label, "STRICT_LOOP", 11);
        assert_true(d.run == 0xfedcba9876543210u);
        assert_int_equal(d.sender, 7);
        assert_true(d.sequence == 99999);
        assert_true(d.time_ns == 123456789012345u);
        free(payload);
    }
}

static void stamp_takes_any_label_that_is_counted(void **state)
{
    struct datagram_form form;
    struct datagram d;
    char label[DATAGRAM_LABEL_MAX + 2] = "";

    (void)state;
    for (size_t len = 0; len <= DATAGRAM_LABEL_MAX; len++) {
        unsigned char *payload;

        memset(label, 'x', len);
        assert_int_equal(datagram_form_stamped(&form, label, 0, 1, 0, NULL), 0);
        assert_int_equal(form.size_bytes, len + DATAGRAM_STAMP_BYTES);
        payload = make(&form, 5, 6);
        datagram_read(&d, payload, form.size_bytes);
        assert_int_equal(d.kind, DATAGRAM_STAMPED);
        assert_int_equal(d.label_bytes, len);
        free(payload);
    }
    memset(label, 'x', DATAGRAM_LABEL_MAX + 1);
    assert_true(datagram_form_stamped(&form, label, 0, 1, 0, NULL) < 0);
    assert_true(datagram_form_plain(&form, label, 0, NULL) < 0);
}

static void size_too_small_for_a_stamp_is_refused(void **state)
{
    struct datagram_form form;
    struct fail fail = {0};

    (void)state;
    assert_true(datagram_form_stamped(&form, "CACHED_LOOP", 51, 1, 0, &fail) < 0);
    assert_non_null(strstr(fail.sentence, "needs 52 bytes"));
}

static void plain_payload_is_the_label_alone(void **state)
{
    static const struct {
        const char *label;
        size_t size_bytes, got_bytes, label_bytes;
    } rows[] = {
        {"BACKPRESSURE", 0, 12, 12},
        {"BACKPRESSURE", 1, 1, 1},
        {"BACKPRESSURE", 12, 12, 12},
        {"BACKPRESSURE", 13, 13, 12},
        {"BACKPRESSURE", 65507, 65507, 12},
        {"", 0, 0, 0},
        {"", 5, 5, 0},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct datagram_form form;
        struct datagram d;
        unsigned char *payload;

        assert_int_equal(
            datagram_form_plain(&form, rows[i].label, rows[i].size_bytes, NULL), 0);
        assert_int_equal(form.size_bytes, rows[i].got_bytes);
        payload = make(&form, 3, 4);
        datagram_read(&d, payload, form.size_bytes);
        assert_int_equal(d.kind, DATAGRAM_PLAIN);
        assert_int_equal(d.label_bytes, rows[i].label_bytes);
        assert_memory_equal(d.label, rows[i].label, d.label_bytes);
        free(payload);
    }
}

/* Every shorter length, in memory of exactly that length. */
static void cut_stamp_is_broken_or_plain(void **state)
{
    struct datagram_form form;
    unsigned char *whole;

    (void)state;
    assert_int_equal(datagram_form_stamped(&form, "CACHED_LOOP", 100, 42, 1, NULL), 0);
    whole = make(&form, 17, 18);
    for (size_t len = 0; len < form.size_bytes; len++) {
        unsigned char *cut = malloc(len ? len : 1);
        struct datagram d;

        assert_non_null(cut);
        memcpy(cut, whole, len);
        datagram_read(&d, cut, len);
        assert_int_equal(d.kind, len < 16 ? DATAGRAM_PLAIN : DATAGRAM_BROKEN);
        free(cut);
    }
    free(whole);
}

/* A change of any single bit of the stamp after its mark makes it broken. */
static void damaged_stamp_is_broken(void **state)
{
    struct datagram_form form;
    struct datagram d;
    unsigned char *payload;

    (void)state;
    assert_int_equal(datagram_form_stamped(&form, "CACHED_LOOP", 0, 42, 1, NULL), 0);
    payload = make(&form, 17, 18);
    for (size_t bit = 16 * 8; bit < form.size_bytes * 8; bit++) {
        payload[bit / 8] ^= (unsigned char)(1 << bit % 8);
        datagram_read(&d, payload, form.size_bytes);
        assert_int_equal(d.kind, DATAGRAM_BROKEN);
        payload[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    payload[0] ^= 1; /* another label under the same stamp */
    datagram_read(&d, payload, form.size_bytes);
    assert_int_equal(d.kind, DATAGRAM_BROKEN);
    free(payload);
}

static void sequence_beyond_its_maximum_is_broken(void **state)
{
    struct datagram_form form;
    struct datagram d;
    unsigned char *payload;

    (void)state;
    assert_int_equal(datagram_form_stamped(&form, "x", 0, 42, 1, NULL), 0);
    payload = make(&form, DATAGRAM_SEQUENCE_MAX, 18);
    datagram_read(&d, payload, form.size_bytes);
    assert_int_equal(d.kind, DATAGRAM_STAMPED);
    datagram_stamp(&form, payload, DATAGRAM_SEQUENCE_MAX + 1, 18);
    datagram_read(&d, payload, form.size_bytes);
    assert_int_equal(d.kind, DATAGRAM_BROKEN);
    free(payload);
}

/* Labels. */

static const char *name_of(struct datagram_labels *labels, const char *label, size_t len)
{
    return datagram_label_find(labels, (const unsigned char *)label, len)->name;
}

static void label_names_are_safe_and_distinct(void **state)
{
    struct datagram_labels *labels = calloc(1, sizeof(*labels));

    (void)state;
    assert_non_null(labels);
    assert_string_equal(name_of(labels, "STRICT_LOOP", 11), "STRICT_LOOP");
    assert_string_equal(name_of(labels, "\x1b[2Jq", 5), "\\x1b[2Jq");
    assert_string_equal(name_of(labels, "\\x1b[2Jq", 8), "\\x5cx1b[2Jq");
    assert_string_equal(name_of(labels, "\xc3\xa9\n\x7f", 4), "\\xc3\\xa9\\x0a\\x7f");
    assert_string_equal(name_of(labels, "", 0), "(empty)");
    assert_string_equal(name_of(labels, "(empty)", 7), "\\x28empty)");
    assert_string_equal(name_of(labels, "other", 5), "\\x6fther");
    assert_string_equal(name_of(labels, "other one", 9), "other one");
    assert_int_equal(labels->used, 8);
    assert_string_equal(name_of(labels, "STRICT_LOOP", 11), "STRICT_LOOP");
    assert_int_equal(labels->used, 8);
    free(labels);
}

static void long_labels_are_counted_as_other(void **state)
{
    struct datagram_labels *labels = calloc(1, sizeof(*labels));
    char text[65507];

    (void)state;
    assert_non_null(labels);
    memset(text, 'a', sizeof(text));
    assert_string_equal(name_of(labels, text, sizeof(text)), "other");
    assert_string_equal(name_of(labels, text, DATAGRAM_LABEL_MAX + 1), "other");
    assert_int_equal(strlen(name_of(labels, text, DATAGRAM_LABEL_MAX)),
                     DATAGRAM_LABEL_MAX);
    memset(text, 1, sizeof(text)); /* four bytes of name each */
    assert_string_equal(name_of(labels, text, 10), "other");
    assert_int_equal(strlen(name_of(labels, text, 9)), 36);
    free(labels);
}

static void flood_of_labels_is_bounded(void **state)
{
    struct datagram_labels *labels = calloc(1, sizeof(*labels));
    uint64_t sum = 0;

    (void)state;
    assert_non_null(labels);
    for (int i = 0; i < 10000; i++) {
        char text[16];
        int len = snprintf(text, sizeof(text), "label %d", i);

        datagram_label_find(labels, (const unsigned char *)text, (size_t)len)->count++;
    }
    assert_int_equal(labels->used, DATAGRAM_LABELS);
    for (size_t i = 0; i < labels->used; i++)
        sum += labels->rows[i].count;
    assert_int_equal(sum, 10000);
    assert_int_equal(labels->other->count, 10000 - (DATAGRAM_LABELS - 1));
    free(labels);
}

/* Sequence numbers. */

struct counts {
    uint64_t expected, unique, duplicate, out_of_order;
};

/* What a window says, put together as a receiver does. */
static void window_count(struct counts *c, struct datagram_window *w, uint64_t sequence,
                         uint64_t *budget)
{
    uint64_t next = w->next;

    switch (datagram_window_add(w, sequence, budget)) {
    case DATAGRAM_NEXT:
        c->expected += w->next - next;
        c->unique++;
        break;
    case DATAGRAM_OUT_OF_ORDER:
        c->out_of_order++;
        c->unique++;
        break;
    case DATAGRAM_DUPLICATE:
        c->duplicate++;
        break;
    }
}

/* The plainest way to count the same: every number that was seen is remembered. */
static void model_count(struct counts *c, unsigned char *seen, uint64_t sequence)
{
    if (seen[sequence]) {
        c->duplicate++;
        return;
    }
    seen[sequence] = 1;
    c->unique++;
    if (sequence < c->expected)
        c->out_of_order++;
    else
        c->expected = sequence + 1;
}

/* What a path does to the messages, in parts of 65536. */
struct path {
    unsigned drop, duplicate, reorder;
    unsigned reach; /* a reordered message moves by up to so many places */
};

/* The arrivals that a path makes of 0 .. count - 1; returns how many. */
static size_t path_apply(const struct path *path, uint64_t *arrivals, uint64_t count,
                         uint64_t *random)
{
    size_t n = 0;

    for (uint64_t i = 0; i < count; i++) {
        if (random_next(random) >> 48 < path->drop)
            continue;
        arrivals[n++] = i;
        while (random_next(random) >> 48 < path->duplicate)
            arrivals[n++] = i;
    }
    for (size_t i = 0; i < n && path->reach; i++)
        if (random_next(random) >> 48 < path->reorder) {
            size_t to = i + random_next(random) % path->reach;
            uint64_t moved = arrivals[i];

            if (to >= n)
                to = n - 1;
            memmove(&arrivals[i], &arrivals[i + 1], (to - i) * sizeof(arrivals[0]));
            arrivals[to] = moved;
        }
    return n;
}

static void compare_with_model(const struct path *path, uint64_t count, uint64_t seed)
{
    uint64_t *arrivals = malloc(3 * count * sizeof(*arrivals));
    unsigned char *seen = calloc(count, 1);
    struct datagram_window w = {0};
    struct counts got = {0}, want = {0};
    uint64_t budget = UINT64_C(1) << 30;
    size_t n;

    assert_non_null(arrivals);
    assert_non_null(seen);
    n = path_apply(path, arrivals, count, &seed);
    assert_true(n <= 3 * count);
    for (size_t i = 0; i < n; i++) {
        window_count(&got, &w, arrivals[i], &budget);
        model_count(&want, seen, arrivals[i]);
        assert_memory_equal(&got, &want, sizeof(got));
    }
    assert_true(got.unique + got.duplicate == n);
    assert_int_equal(w.stale, 0);
    assert_false(w.forgot);
    datagram_window_done(&w, &budget);
    assert_true(budget == UINT64_C(1) << 30);
    free(seen);
    free(arrivals);
}

static void window_agrees_with_the_model(void **state)
{
    static const struct path paths[] = {
        {0, 0, 0, 0},
        {655, 0, 0, 0},
        {0, 655, 0, 0},
        {0, 0, 655, 3},
        {6553, 6553, 6553, 9},
        {48000, 0, 0, 0},
        {30000, 9000, 9000, 200},
        {1, 1, 1, 60000},
        {65000, 100, 100, 1000},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(paths); i++)
        for (uint64_t seed = 1; seed <= 40; seed++)
            compare_with_model(&paths[i], 1 + (seed * 37) % 700, seed);
    for (size_t i = 0; i < NUMBER_OF(paths); i++)
        compare_with_model(&paths[i], 200000, i + 77);
}

/* Runs of several numbers leave the window as the same numbers one by one would. */
static void runs_are_the_same_as_single_numbers(void **state)
{
    struct datagram_window w = {0}, single = {0};
    struct counts c = {0}, want = {0};
    uint64_t budget = UINT64_C(1) << 30, random = 5, next = 0, taken = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t n = 1 + random_next(&random) % 150;

        if (i % 50 == 0)
            next += random_next(&random) % 70; /* a gap */
        if (datagram_window_add_run(&w, next, n)) {
            taken++;
            c.unique += n;
            c.expected += n;
        } else {
            for (uint64_t k = 0; k < n; k++)
                window_count(&c, &w, next + k, &budget);
        }
        for (uint64_t k = 0; k < n; k++)
            window_count(&want, &single, next + k, &budget);
        next += n;
        assert_memory_equal(&c, &want, sizeof(c));
    }
    assert_true(taken > 15000);
    assert_false(datagram_window_add_run(&w, next - 1, 2));
    assert_false(datagram_window_add_run(&w, next + 1, 2));
    for (uint64_t n = 0; n < next; n++) {
        window_count(&c, &w, n, &budget);
        window_count(&want, &single, n, &budget);
    }
    assert_memory_equal(&c, &want, sizeof(c));
    assert_int_equal(c.unique, next);
    datagram_window_done(&w, &budget);
    datagram_window_done(&single, &budget);
}

static void complete_stream_needs_no_more_than_the_smallest_window(void **state)
{
    struct datagram_window w = {0};
    struct counts c = {0};
    uint64_t budget = UINT64_C(1) << 30;

    (void)state;
    for (uint64_t n = 0; n < 3000000; n++)
        window_count(&c, &w, n, &budget);
    assert_int_equal(w.size, DATAGRAM_WINDOW_MIN);
    assert_int_equal(c.unique, 3000000);
    assert_int_equal(c.expected, 3000000);
    window_count(&c, &w, 0, &budget);
    window_count(&c, &w, 2999999, &budget);
    assert_int_equal(c.duplicate, 2);
    assert_int_equal(w.stale, 0);
    datagram_window_done(&w, &budget);
}

/* One message is missing at the start and comes when the window has grown. */
static void window_grows_to_keep_what_is_missing(void **state)
{
    struct datagram_window w = {0};
    struct counts c = {0};
    uint64_t budget = UINT64_C(1) << 30;

    (void)state;
    for (uint64_t n = 1; n < 1000000; n++)
        window_count(&c, &w, n, &budget);
    window_count(&c, &w, 0, &budget);
    window_count(&c, &w, 0, &budget);
    assert_int_equal(c.unique, 1000000);
    assert_int_equal(c.out_of_order, 1);
    assert_int_equal(c.duplicate, 1);
    assert_int_equal(w.size, 1 << 20);
    datagram_window_done(&w, &budget);
}

/* With a budget for the smallest window only: it moves on, and says so. */
static void full_budget_moves_the_window_on(void **state)
{
    struct datagram_window w = {0};
    struct counts c = {0};
    uint64_t budget = DATAGRAM_WINDOW_MIN;

    (void)state;
    for (uint64_t n = 1; n <= DATAGRAM_WINDOW_MIN + 200; n++)
        if (n != 500)
            window_count(&c, &w, n, &budget);
    assert_int_equal(budget, 0);
    assert_true(w.forgot);
    window_count(&c, &w, 500, &budget); /* still in the window */
    assert_int_equal(c.out_of_order, 1);
    window_count(&c, &w, 0, &budget); /* no longer */
    assert_int_equal(c.duplicate, 1);
    assert_int_equal(w.stale, 1);
    assert_int_equal(c.unique, DATAGRAM_WINDOW_MIN + 200);
    datagram_window_done(&w, &budget);
    assert_int_equal(budget, DATAGRAM_WINDOW_MIN);
}

static void window_survives_huge_jumps(void **state)
{
    static const uint64_t jumps[] = {
        0,
        1,
        63,
        64,
        65535,
        65536,
        1u << 24,
        (1u << 24) + 1,
        UINT64_C(1) << 40,
        DATAGRAM_SEQUENCE_MAX - 1,
        DATAGRAM_SEQUENCE_MAX,
    };
    struct datagram_window w = {0};
    struct counts c = {0};
    uint64_t budget = UINT64_C(1) << 30;
    size_t n = NUMBER_OF(jumps);

    (void)state;
    for (size_t i = 0; i < n; i++)
        window_count(&c, &w, jumps[i], &budget);
    assert_int_equal(c.unique, n);
    assert_int_equal(c.out_of_order, 0);
    assert_true(c.expected == DATAGRAM_SEQUENCE_MAX + 1);
    assert_true(w.size <= DATAGRAM_WINDOW_MAX);
    for (size_t i = 0; i < n; i++)
        window_count(&c, &w, jumps[i], &budget);
    assert_int_equal(c.unique, n);
    assert_int_equal(c.duplicate, n);
    datagram_window_done(&w, &budget);
}

static void window_without_memory_still_counts_order(void **state)
{
    struct datagram_window w = {0};
    struct counts c = {0};
    uint64_t budget = 0;

    (void)state;
    for (uint64_t n = 0; n < 100; n++)
        window_count(&c, &w, n * 2, &budget);
    window_count(&c, &w, 7, &budget);
    assert_int_equal(c.unique, 100);
    assert_int_equal(c.expected, 199);
    assert_int_equal(c.duplicate, 1);
    assert_int_equal(w.stale, 1);
    datagram_window_done(&w, &budget);
}

/* Streams. */

static struct datagram_stream *find(struct datagram_streams *s, const char *label,
                                    size_t size_bytes, uint64_t run, uint32_t sender)
{
    struct datagram_form form;
    struct datagram d;
    struct datagram_stream *stream;
    unsigned char *payload;

    assert_int_equal(datagram_form_stamped(&form, label, size_bytes, run, sender, NULL),
                     0);
    payload = make(&form, 0, 0);
    datagram_read(&d, payload, form.size_bytes);
    assert_int_equal(d.kind, DATAGRAM_STAMPED);
    stream = datagram_stream_find(s, &d, payload, form.size_bytes);
    assert_non_null(stream);
    assert_ptr_equal(s->last, stream);
    free(payload);
    return stream;
}

static void streams_are_told_apart(void **state)
{
    struct datagram_streams *s = malloc(sizeof(*s));
    struct datagram_stream *a;

    (void)state;
    assert_non_null(s);
    datagram_streams_init(s);
    a = find(s, "A", 0, 1, 0);
    assert_ptr_equal(find(s, "A", 0, 1, 0), a);
    assert_ptr_not_equal(find(s, "B", 0, 1, 0), a);
    assert_ptr_not_equal(find(s, "A", 99, 1, 0), a);
    assert_ptr_not_equal(find(s, "A", 0, 2, 0), a);
    assert_ptr_not_equal(find(s, "A", 0, 1, 1), a);
    assert_int_equal(s->used, 5);
    assert_int_equal(s->labels.used, 2);
    assert_string_equal(a->label->name, "A");
    datagram_streams_done(s);
    free(s);
}

static void short_way_agrees_with_the_long_one(void **state)
{
    struct datagram_streams *s = malloc(sizeof(*s));
    struct datagram_form form;
    struct datagram_stream *stream;
    unsigned char *payload;
    uint64_t sequence, time_ns;

    (void)state;
    assert_non_null(s);
    datagram_streams_init(s);
    stream = find(s, "A", 80, 1, 0);
    assert_int_equal(datagram_form_stamped(&form, "A", 80, 1, 0, NULL), 0);
    payload = make(&form, 12, 34);
    assert_ptr_equal(datagram_same_stream(s, payload, 80, &sequence, &time_ns), stream);
    assert_int_equal(sequence, 12);
    assert_int_equal(time_ns, 34);
    assert_null(datagram_same_stream(s, payload, 79, &sequence, &time_ns));
    for (size_t bit = 0; bit < (1 + DATAGRAM_STAMP_BYTES) * 8; bit++) {
        payload[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_null(datagram_same_stream(s, payload, 80, &sequence, &time_ns));
        payload[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(payload);
    datagram_streams_done(s);
    free(s);
}

static void stream_silent_longest_makes_room(void **state)
{
    struct datagram_streams *s = malloc(sizeof(*s));

    (void)state;
    assert_non_null(s);
    datagram_streams_init(s);
    for (uint32_t i = 0; i < DATAGRAM_STREAMS; i++) {
        struct datagram_stream *stream = find(s, "A", 0, 1, i);

        stream->arrival_ns = i == 100 ? 1 : 1000 + i;
        datagram_window_add(&stream->window, 0, &s->budget);
    }
    find(s, "A", 0, 1, DATAGRAM_STREAMS);
    assert_int_equal(s->used, DATAGRAM_STREAMS);
    assert_int_equal(s->replaced, 1);
    for (size_t i = 0; i < s->used; i++)
        assert_int_not_equal(s->rows[i]->sender, 100);
    datagram_streams_done(s);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamp_is_read_back),
        cmocka_unit_test(stamp_takes_any_label_that_is_counted),
        cmocka_unit_test(size_too_small_for_a_stamp_is_refused),
        cmocka_unit_test(plain_payload_is_the_label_alone),
        cmocka_unit_test(cut_stamp_is_broken_or_plain),
        cmocka_unit_test(damaged_stamp_is_broken),
        cmocka_unit_test(sequence_beyond_its_maximum_is_broken),
        cmocka_unit_test(label_names_are_safe_and_distinct),
        cmocka_unit_test(long_labels_are_counted_as_other),
        cmocka_unit_test(flood_of_labels_is_bounded),
        cmocka_unit_test(window_agrees_with_the_model),
        cmocka_unit_test(runs_are_the_same_as_single_numbers),
        cmocka_unit_test(complete_stream_needs_no_more_than_the_smallest_window),
        cmocka_unit_test(window_grows_to_keep_what_is_missing),
        cmocka_unit_test(full_budget_moves_the_window_on),
        cmocka_unit_test(window_survives_huge_jumps),
        cmocka_unit_test(window_without_memory_still_counts_order),
        cmocka_unit_test(streams_are_told_apart),
        cmocka_unit_test(short_way_agrees_with_the_long_one),
        cmocka_unit_test(stream_silent_longest_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
