/*
 * Any text as a histogram: what is refused leaves the histogram as it was, and what is
 * taken is written back as the very same text. An input that starts with '#' is a
 * list of values to record instead, whose text must come back.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"
#include "protocols/hist.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(int is_true)
{
    if (!is_true)
        abort();
}

static char *encode(const struct hist *h)
{
    size_t len = hist_encode(h, NULL, 0);
    char *text = malloc(len + 1);

    check(text && hist_encode(h, text, len + 1) == len && strlen(text) == len);
    return text;
}

static void check_order(const struct hist *h)
{
    static const double quantiles[] = {0, 0.5, 0.999, 1};
    uint64_t previous = h->min;

    for (size_t i = 0; i < NUMBER_OF(quantiles); i++) {
        uint64_t value = hist_quantile(h, quantiles[i]);

        check(value >= previous && value <= h->max);
        previous = value;
    }
    check(hist_mean(h) >= (double)h->min && hist_mean(h) <= (double)h->max);
    check(hist_stdev(h) >= 0 && hist_stdev(h) <= (double)(h->max - h->min));
    check(hist_count_at_or_below(h, UINT64_MAX) == h->count);
}

/* Histograms are large, so each is made once. */
static struct hist *fresh(struct hist **h)
{
    if (!*h)
        *h = hist_new();
    check(*h != NULL);
    hist_reset(*h);
    return *h;
}

static void check_text(const char *text)
{
    static struct hist *made[2];
    struct hist *h = fresh(&made[0]), *sum = fresh(&made[1]);

    hist_record(sum, 7);
    if (hist_decode(h, text) == 0) {
        char *again = encode(h);

        check(strcmp(again, text) == 0);
        if (h->count > 0)
            check_order(h);
        if (hist_decode(sum, text) == 0)
            check(sum->count == h->count + 1);
        free(again);
    } else {
        char *unchanged;

        check(h->count == 0 && hist_decode(sum, text) < 0);
        unchanged = encode(sum);
        check(strcmp(unchanged, "7 7 0 0x7p0 0x31p0;7 1") == 0);
        free(unchanged);
    }
}

static void check_values(const uint8_t *bytes, size_t len)
{
    static struct hist *made;
    struct hist *h = fresh(&made);
    char *text;

    for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t), bytes += sizeof(uint64_t)) {
        uint64_t value;

        memcpy(&value, bytes, sizeof(value));
        hist_record(h, value);
    }
    text = encode(h);
    if (h->count > 0)
        check_order(h);
    check_text(text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text;

    if (len > 0 && bytes[0] == '#') {
        check_values(bytes + 1, len - 1);
        return 0;
    }
    text = malloc(len + 1);
    check(text != NULL);
    memcpy(text, bytes, len);
    text[len] = '\0';
    check_text(text);
    free(text);
    return 0;
}
