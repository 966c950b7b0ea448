/* The histogram against exact sorted values and against published HdrHistogram figures.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "protocols/hist.h"

#define VALUES 1000000u
#define LAST_BUCKET hist_index(HIST_MAX_NS)

/* xorshift64* (Marsaglia, Vigna): the same values on every machine. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ull;
}

static double random_unit(uint64_t *state)
{
    return ((double)(random_next(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* The distributions: latencies as they occur, and shapes that strain the layout. */

static uint64_t draw_uniform(uint64_t *state)
{
    return random_next(state) % (HIST_MAX_NS + 1);
}

static uint64_t draw_small(uint64_t *state)
{
    return random_next(state) % 3000;
}

static uint64_t draw_exponential(uint64_t *state)
{
    return (uint64_t)(-250000.0 * log(random_unit(state)));
}

static uint64_t draw_two_humps(uint64_t *state)
{
    uint64_t slow = random_next(state) % 100 == 0;

    return slow ? 200000000 + random_next(state) % 5000000
                : 40000 + random_next(state) % 9000;
}

static uint64_t draw_heavy_tail(uint64_t *state)
{
    double value = 1000 / pow(random_unit(state), 1.5);

    return value < (double)HIST_MAX_NS ? (uint64_t)value : HIST_MAX_NS;
}

/* One below, at and above each power of two: the edges of the buckets. */
static uint64_t draw_edges(uint64_t *state)
{
    uint64_t power = 1ull << (random_next(state) % 42);
    uint64_t value = power - 1 + random_next(state) % 3;

    return value < HIST_MAX_NS ? value : HIST_MAX_NS;
}

static uint64_t draw_constant(uint64_t *state)
{
    (void)state;
    return 1234567890123;
}

static const struct {
    const char *name;
    uint64_t (*draw)(uint64_t *state);
} distributions[] = {
    {"uniform", draw_uniform},         {"small", draw_small},
    {"exponential", draw_exponential}, {"two humps", draw_two_humps},
    {"heavy tail", draw_heavy_tail},   {"edges", draw_edges},
    {"constant", draw_constant},
};

#define DISTRIBUTIONS NUMBER_OF(distributions)

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* q = k / 10000 in whole numbers, so that the exact rank is beyond doubt. */
static void check_quantile(const struct hist *h, const uint64_t *sorted, uint64_t k)
{
    uint64_t rank = (k * VALUES + 9999) / 10000;
    uint64_t exact = sorted[rank ? rank - 1 : 0];
    uint64_t got = hist_quantile(h, (double)k / 10000);

    if (got < exact || got - exact > exact / 1024)
        fail_msg("quantile %g: %llu, exact %llu", (double)k / 10000,
                 (unsigned long long)got, (unsigned long long)exact);
    if (exact < 2 * HIST_HALF)
        assert_int_equal(got, exact);
}

static void check_moments(const struct hist *h, const uint64_t *values)
{
    long double mean = 0, squares = 0;

    for (size_t i = 0; i < VALUES; i++)
        mean += values[i];
    mean /= VALUES;
    for (size_t i = 0; i < VALUES; i++)
        squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    assert_true(fabsl((long double)hist_mean(h) - mean) <= mean * 1e-12L);
    assert_true(fabsl((long double)hist_stdev(h) - sqrtl(squares / VALUES)) <=
                (mean + sqrtl(squares / VALUES)) * 1e-6L);
}

static void check_distribution(size_t which, struct hist *h, uint64_t *values)
{
    uint64_t state = 88172645463325252ull + which, previous = 0;

    hist_reset(h);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = distributions[which].draw(&state);
        hist_record(h, values[i]);
    }
    qsort(values, VALUES, sizeof(*values), compare);
    assert_int_equal(h->count, VALUES);
    assert_int_equal(h->min, values[0]);
    assert_int_equal(h->max, values[VALUES - 1]);
    for (uint64_t k = 0; k <= 10000; k++) {
        uint64_t value = hist_quantile(h, (double)k / 10000);

        check_quantile(h, values, k);
        assert_true(value >= previous && value >= h->min && value <= h->max);
        previous = value;
    }
    check_moments(h, values);
}

static void quantiles_stay_within_the_bound(void **state)
{
    struct hist *h = hist_new();
    uint64_t *values = malloc(VALUES * sizeof(*values));

    (void)state;
    assert_non_null(h);
    assert_non_null(values);
    for (size_t i = 0; i < DISTRIBUTIONS; i++) {
        print_message("           %s\n", distributions[i].name);
        check_distribution(i, h, values);
    }
    free(values);
    hist_free(h);
}

/* Every bucket of the range: neighbours touch, and both ends map back to it. */
static void buckets_cover_the_range(void **state)
{
    uint64_t next = 0;

    (void)state;
    for (uint32_t i = 0; i <= LAST_BUCKET; i++) {
        uint64_t low = hist_bucket_low(i), width = hist_bucket_width(i);

        assert_int_equal(low, next);
        assert_int_equal(hist_index(low), i);
        if (i < LAST_BUCKET)
            assert_int_equal(hist_index(low + width - 1), i);
        assert_true(width == 1 || width * HIST_HALF <= low);
        next = low + width;
    }
    assert_true(next > HIST_MAX_NS);
    assert_true(LAST_BUCKET < HIST_BUCKETS);
}

/*
 * HdrHistogram's countsArrayIndex, as its documentation derives it for lowest 1,
 * highest 3.6e12 and 3 digits: 2048 sub-buckets, unit magnitude 0.
 */
static uint32_t published_index(uint64_t value)
{
    uint32_t bucket = 64 - (uint32_t)__builtin_clzll(value | 2047) - 11;
    uint32_t sub_bucket = (uint32_t)(value >> bucket);

    return ((bucket + 1) << 10) + sub_bucket - 1024;
}

static void index_is_that_of_hdrhistogram(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint64_t value = 0; value < 20000; value++)
        assert_int_equal(hist_index(value), published_index(value));
    for (int i = 0; i < 3000000; i++) {
        uint64_t value =
            random_next(&seed) % (HIST_MAX_NS + 1) >> (random_next(&seed) % 42);

        assert_int_equal(hist_index(value), published_index(value));
    }
    assert_int_equal(hist_index(HIST_MAX_NS), published_index(HIST_MAX_NS));
    /* The length of its counts array for these settings: (32 + 1) * 1024. */
    assert_int_equal(HIST_BUCKETS, 33792);
}

static uint64_t lowest_equivalent(uint64_t value)
{
    return hist_bucket_low(hist_index(value));
}

static uint64_t highest_equivalent(uint64_t value)
{
    return lowest_equivalent(value) + hist_bucket_width(hist_index(value)) - 1;
}

/* From HdrHistogram's own test suite (HistogramTest, Java). */
static void equivalent_values_are_the_published_ones(void **state)
{
    static const uint64_t sizes[][2] = {{1, 1},    {1025, 1}, {2047, 1}, {2048, 2},
                                        {2500, 2}, {8191, 4}, {8192, 8}, {10000, 8}};
    static const uint64_t highest[][2] = {{8180, 8183}, {8191, 8191},   {8193, 8199},
                                          {9995, 9999}, {10007, 10007}, {10008, 10015}};
    /* Values that it printed for recordings (HistogramLogReaderWriterTest). */
    static const uint64_t printed[] = {1745879039, 1796210687, 1536163839, 1544552447,
                                       1779433471, 1829765119, 1888485375, 1019740159,
                                       1032323071, 1871708159, 1510998015, 1569718271,
                                       459007,     623103,     1209008127, 1234173951,
                                       1214463,    1546239,    1375231};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(sizes); i++)
        assert_int_equal(hist_bucket_width(hist_index(sizes[i][0])), sizes[i][1]);
    for (size_t i = 0; i < NUMBER_OF(highest); i++)
        assert_int_equal(highest_equivalent(highest[i][0]), highest[i][1]);
    for (size_t i = 0; i < NUMBER_OF(printed); i++)
        assert_int_equal(highest_equivalent(printed[i]), printed[i]);
    assert_int_equal(lowest_equivalent(10007), 10000);
    assert_int_equal(lowest_equivalent(10009), 10008);
}

static void assert_near(double got, double wanted, double relative)
{
    if (fabs(got - wanted) > wanted * relative)
        fail_msg("%.9g is not %.9g", got, wanted);
}

/*
 * The example that HdrHistogram's suites share: 10,000 times 1,000 and once
 * 100,000,000 (raw), and the same with the values that a stall of that length hides
 * at an interval of 10,000 (corrected).
 */
static void published_quantiles_are_met(void **state)
{
    static const double raw[][2] = {
        {0.3, 1000}, {0.99, 1000}, {0.9999, 1000}, {0.99999, 1e8}, {1, 1e8}};
    static const double corrected[][2] = {{0.3, 1000},   {0.5, 1000},  {0.75, 50e6},
                                          {0.9, 80e6},   {0.99, 98e6}, {0.99999, 100e6},
                                          {1, 100000000}};
    struct hist *h = hist_new();

    (void)state;
    for (int i = 0; i < 10000; i++)
        hist_record(h, 1000);
    hist_record(h, 100000000);
    assert_int_equal(h->count, 10001);
    for (size_t i = 0; i < NUMBER_OF(raw); i++)
        assert_near((double)hist_quantile(h, raw[i][0]), raw[i][1], 0.001);
    assert_near(hist_mean(h), (10000.0 * 1000 + 100000000) / 10001, 1e-12);
    assert_near(hist_stdev(h), 999890.0, 1e-4);
    /* "99.99 % at or below 5,000", "100 % at or below 100,000,000". */
    assert_int_equal(hist_count_at_or_below(h, 5000), 10000);
    assert_int_equal(hist_count_at_or_below(h, 100000000), 10001);

    for (uint64_t hidden = 99990000; hidden >= 10000; hidden -= 10000)
        hist_record(h, hidden);
    assert_int_equal(h->count, 20000);
    for (size_t i = 0; i < NUMBER_OF(corrected); i++)
        assert_near((double)hist_quantile(h, corrected[i][0]), corrected[i][1], 0.001);
    assert_near(hist_mean(h), (1000.0 * 10000 + 50005000.0 * 10000) / 20000, 1e-12);
    hist_free(h);
}

static void assert_same(const struct hist *a, const struct hist *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->saturated, b->saturated);
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    assert_int_equal(a->low, b->low);
    assert_int_equal(a->high, b->high);
    assert_memory_equal(a->buckets, b->buckets, sizeof(a->buckets));
    assert_true(fabs(a->sum - b->sum) <= a->sum * 1e-10);
    assert_true(fabs(a->sum_squares - b->sum_squares) <= a->sum_squares * 1e-10);
}

static void merging_equals_recording_into_one(void **state)
{
    struct hist *parts[3], *merged = hist_new(), *one = hist_new(), *empty = hist_new();
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 3; i++)
        parts[i] = hist_new();
    for (int i = 0; i < 300000; i++) {
        uint64_t value = distributions[i % DISTRIBUTIONS].draw(&seed);

        if (i % 1000 == 0)
            value = HIST_MAX_NS + random_next(&seed) % HIST_MAX_NS;
        hist_record(parts[i % 3], value);
        hist_record(one, value);
    }
    hist_merge(merged, empty);
    assert_int_equal(merged->count, 0);
    for (int i = 0; i < 3; i++)
        hist_merge(merged, parts[i]);
    hist_merge(merged, empty);
    assert_same(merged, one);
    for (int i = 0; i < 3; i++)
        hist_free(parts[i]);
    hist_free(merged);
    hist_free(one);
    hist_free(empty);
}

static void empty_histogram_says_so(void **state)
{
    struct hist *h = hist_new();

    (void)state;
    assert_int_equal(h->count, 0);
    assert_int_equal(hist_quantile(h, 0.5), 0);
    assert_true(isnan(hist_mean(h)));
    assert_true(isnan(hist_stdev(h)));
    assert_int_equal(hist_count_at_or_below(h, UINT64_MAX), 0);
    hist_record(h, 55);
    hist_record(h, 77777);
    hist_reset(h);
    assert_int_equal(h->count, 0);
    assert_int_equal(hist_count_at_or_below(h, UINT64_MAX), 0);
    for (uint32_t i = 0; i < HIST_BUCKETS; i++)
        assert_int_equal(h->buckets[i], 0);
    hist_free(h);
    hist_free(NULL);
}

static void quantile_takes_its_edges(void **state)
{
    struct hist *h = hist_new();

    (void)state;
    hist_record(h, 0);
    assert_int_equal(hist_quantile(h, 0), 0);
    assert_int_equal(hist_quantile(h, 1), 0);
    for (uint64_t i = 1; i < 100; i++)
        hist_record(h, i);
    /* The values 0..99: the k-th hundredth is k - 1, also where k / 100 rounds up. */
    for (uint64_t k = 1; k <= 100; k++)
        assert_int_equal(hist_quantile(h, (double)k / 100), k - 1);
    assert_int_equal(hist_quantile(h, 1e-300), 0);
    assert_int_equal(hist_quantile(h, -1), 0);
    assert_int_equal(hist_quantile(h, (double)NAN), 0);
    assert_int_equal(hist_quantile(h, 2), 99);
    assert_int_equal(hist_quantile(h, 0.9901), 99);
    /* One bucket, many values: never above max. */
    hist_reset(h);
    hist_record(h, 1000001);
    assert_int_equal(hist_quantile(h, 0), 1000001);
    assert_int_equal(hist_quantile(h, 0.5), 1000001);
    hist_free(h);
}

static void values_above_the_range_saturate(void **state)
{
    struct hist *h = hist_new();

    (void)state;
    for (int i = 0; i < 90; i++)
        hist_record(h, 1000);
    hist_record(h, HIST_MAX_NS);
    assert_int_equal(h->saturated, 0);
    for (int i = 0; i < 9; i++)
        hist_record(h, 5 * HIST_MAX_NS);
    assert_int_equal(h->count, 100);
    assert_int_equal(h->saturated, 9);
    assert_int_equal(h->max, 5 * HIST_MAX_NS);
    assert_int_equal(h->buckets[LAST_BUCKET], 10);
    assert_int_equal(hist_quantile(h, 0.9), 1000);
    assert_int_equal(hist_index(hist_quantile(h, 0.91)), LAST_BUCKET);
    assert_int_equal(hist_quantile(h, 0.92), 5 * HIST_MAX_NS);
    assert_int_equal(hist_count_at_or_below(h, HIST_MAX_NS), 91);
    assert_int_equal(hist_count_at_or_below(h, 2 * HIST_MAX_NS), 91);
    assert_int_equal(hist_count_at_or_below(h, 5 * HIST_MAX_NS), 100);
    hist_record(h, UINT64_MAX);
    assert_int_equal(h->max, UINT64_MAX);
    assert_int_equal(hist_quantile(h, 1), UINT64_MAX);
    assert_true(hist_mean(h) <= (double)UINT64_MAX);
    hist_free(h);
}

/* Equal values far from zero: rounding must not invent a spread. */
static void spread_of_equal_values_is_zero(void **state)
{
    struct hist *h = hist_new();

    (void)state;
    for (int i = 0; i < 1000003; i++)
        hist_record(h, 3599999999999);
    assert_true(hist_stdev(h) >= 0 && hist_stdev(h) <= 0);
    assert_true(hist_mean(h) >= 3599999999999.0 && hist_mean(h) <= 3599999999999.0);
    hist_free(h);
}

static char *encode(const struct hist *h)
{
    size_t len = hist_encode(h, NULL, 0);
    char *text = malloc(len + 1);

    assert_non_null(text);
    assert_int_equal(hist_encode(h, text, len + 1), len);
    assert_int_equal(strlen(text), len);
    return text;
}

static void check_round_trip(const struct hist *h)
{
    struct hist *back = hist_new();
    char *text = encode(h), *again;

    assert_int_equal(hist_decode(back, text), 0);
    assert_same(back, h);
    assert_memory_equal(&back->sum, &h->sum, sizeof(h->sum));
    assert_memory_equal(&back->sum_squares, &h->sum_squares, sizeof(h->sum_squares));
    again = encode(back);
    assert_string_equal(again, text);
    free(text);
    free(again);
    hist_free(back);
}

static void text_comes_back_as_it_was(void **state)
{
    struct hist *h = hist_new();
    uint64_t seed = 3;

    (void)state;
    check_round_trip(h);
    hist_record(h, 0);
    check_round_trip(h);
    for (size_t d = 0; d < DISTRIBUTIONS; d++) {
        for (int i = 0; i < 100000; i++)
            hist_record(h, distributions[d].draw(&seed));
        check_round_trip(h);
    }
    hist_record(h, UINT64_MAX);
    check_round_trip(h);
    hist_reset(h);
    hist_record(h, HIST_MAX_NS + 1);
    check_round_trip(h);
    hist_free(h);
}

static void text_is_the_documented_one(void **state)
{
    struct hist *h = hist_new();
    char *text = encode(h), cut[8];

    (void)state;
    assert_string_equal(text, "");
    free(text);
    hist_record(h, 3);
    hist_record(h, 3);
    hist_record(h, 2050);
    text = encode(h);
    assert_string_equal(text, "3 2050 0 0x101p3 0x20100bp1;3 2 2046 1");
    /* A text that does not fit is cut and ended, and the length needed is said. */
    memset(cut, 'x', sizeof(cut));
    assert_int_equal(hist_encode(h, cut, 7), strlen(text));
    assert_memory_equal(cut, "3 2050\0x", 8);
    free(text);
    hist_free(h);
}

static void decoding_adds(void **state)
{
    struct hist *h = hist_new(), *sum = hist_new(), *merged = hist_new();
    uint64_t seed = 11;
    char *text;

    (void)state;
    for (int i = 0; i < 1000; i++)
        hist_record(h, draw_exponential(&seed));
    text = encode(h);
    hist_record(sum, 5);
    hist_record(merged, 5);
    assert_int_equal(hist_decode(sum, text), 0);
    assert_int_equal(hist_decode(sum, ""), 0);
    hist_merge(merged, h);
    assert_same(sum, merged);
    free(text);
    hist_free(h);
    hist_free(sum);
    hist_free(merged);
}

static void malformed_text_changes_nothing(void **state)
{
    static const char *const texts[] = {
        " ",
        ";",
        "3",
        "3 2050 0 0x101p3 0x20100bp1",            /* no buckets */
        "3 2050 0 0x101p3 0x20100bp1;",           /* none after the semicolon */
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046",   /* half a pair */
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 ",  /* the same */
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 0", /* a bucket without values */
        "3 2050 0 0x101p3 0x20100bp1;3 2 0 1",    /* the same bucket again */
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 1 ",
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 1;",
        "3 2050 0 0x101p3 0x20100bp1;3 2  2046 1",
        " 3 2050 0 0x101p3 0x20100bp1;3 2 2046 1",
        "3 2050 0 0x101p3 0x20100bp1; 3 2 2046 1",
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 +1",
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 01",
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 -1",
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 1e3",
        "3 2050 0 0x101p3 0x20100bp1;3 2 99999 1", /* past the last bucket */
        "3 2050 0 0x101p3 0x20100bp1;3 2 18446744073709551615 1", /* wraps around */
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 18446744073709551616",
        "3 2050 0 0x101p3 0x20100bp1;3 2 2046 18446744073709551615", /* count overflows */
        "4 2050 0 0x101p3 0x20100bp1;3 2 2046 1", /* min is not in the first bucket */
        "3 2052 0 0x101p3 0x20100bp1;3 2 2046 1", /* max is not in the last bucket */
        "3 2050 1 0x101p3 0x20100bp1;3 2 2046 1", /* saturated, and max in the range */
        "3 2050 0 0x202p2 0x20100bp1;3 2 2046 1", /* an even mantissa */
        "3 2050 0 0x101p9 0x20100bp1;3 2 2046 1", /* a sum over max * count */
        "3 2050 0 0x1p1 0x20100bp1;3 2 2046 1",   /* a sum below min * count */
        "3 2050 0 0x101p3 0x1p0;3 2 2046 1",
        "3 2050 0 0x101p3 0x1p200;3 2 2046 1",
        "3 2050 0 0x101p3 0x0p1;3 2 2046 1",
        "3 2050 0 0x1.01p3 0x20100bp1;3 2 2046 1",
        "3 2050 0 nan 0x20100bp1;3 2 2046 1",
        "3 2050 0 0x101p3 0x20100b00000000000001p1;3 2 2046 1",
        "3 2050 0 0x101p99999999999 0x20100bp1;3 2 2046 1",
        "{\"min\":3}",
        "\xff\xfe",
    };
    struct hist *h = hist_new(), *before = hist_new();

    (void)state;
    hist_record(h, 123456);
    hist_record(before, 123456);
    for (size_t i = 0; i < NUMBER_OF(texts); i++) {
        if (hist_decode(h, texts[i]) != -EINVAL)
            fail_msg("accepted: \"%s\"", texts[i]);
        assert_memory_equal(h, before, sizeof(*h));
    }
    assert_int_equal(hist_decode(h, "3 2050 0 0x101p3 0x20100bp1;3 2 2046 1"), 0);
    hist_free(h);
    hist_free(before);
}

/* Every cut of a good text is a bad one, and so is a text whose count would overflow. */
static void cut_text_and_overflow_are_refused(void **state)
{
    struct hist *h = hist_new(), *into = hist_new();
    uint64_t seed = 5;
    char *text;

    (void)state;
    for (int i = 0; i < 200; i++)
        hist_record(h, 10 + draw_exponential(&seed));
    text = encode(h);
    for (size_t len = strlen(text) - 1; len > 0; len--) {
        text[len] = '\0';
        if (text[len - 1] == ' ' || !strchr(text, ';'))
            assert_int_equal(hist_decode(into, text), -EINVAL);
    }
    free(text);
    assert_int_equal(into->count, 0);
    hist_record(into, 1);
    assert_int_equal(hist_decode(into, "1 1 0 0x1p64 0x1p64;1 18446744073709551615"),
                     -EINVAL);
    assert_int_equal(into->count, 1);
    hist_reset(into);
    assert_int_equal(hist_decode(into, "1 1 0 0x1p64 0x1p64;1 18446744073709551615"), 0);
    assert_int_equal(into->count, UINT64_MAX);
    hist_free(h);
    hist_free(into);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_stay_within_the_bound),
        cmocka_unit_test(buckets_cover_the_range),
        cmocka_unit_test(index_is_that_of_hdrhistogram),
        cmocka_unit_test(equivalent_values_are_the_published_ones),
        cmocka_unit_test(published_quantiles_are_met),
        cmocka_unit_test(merging_equals_recording_into_one),
        cmocka_unit_test(empty_histogram_says_so),
        cmocka_unit_test(quantile_takes_its_edges),
        cmocka_unit_test(values_above_the_range_saturate),
        cmocka_unit_test(spread_of_equal_values_is_zero),
        cmocka_unit_test(text_comes_back_as_it_was),
        cmocka_unit_test(text_is_the_documented_one),
        cmocka_unit_test(decoding_adds),
        cmocka_unit_test(malformed_text_changes_nothing),
        cmocka_unit_test(cut_text_and_overflow_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
