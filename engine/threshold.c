#include "engine/threshold.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/param.h"
#include "engine/units.h"
#include "protocols/array.h"

static const struct {
    const char *word;
    enum metric metric;
} aliases[] = {
    {"p50", METRIC_latency_p50_ns},
    {"p75", METRIC_latency_p75_ns},
    {"p90", METRIC_latency_p90_ns},
    {"p95", METRIC_latency_p95_ns},
    {"p99", METRIC_latency_p99_ns},
    {"p99.9", METRIC_latency_p99_9_ns},
    {"p99.99", METRIC_latency_p99_99_ns},
    {"max", METRIC_latency_max_ns},
    {"mean", METRIC_latency_mean_ns},
    {"median", METRIC_latency_p50_ns},
    {"latency", METRIC_latency_mean_ns},
    {"loss", METRIC_loss_percent},
    {"errors", METRIC_error_percent},
    {"throughput", METRIC_throughput},
    {"rps", METRIC_requests_per_second},
    {"requests", METRIC_requests_per_second},
    {"received", METRIC_received_per_second},
    {"seconds", METRIC_seconds},
    {"time", METRIC_seconds},
    {"client_cpu", METRIC_client_cpu_percent},
    {"server_cpu", METRIC_server_cpu_percent},
};

/* Longer ones first: "<" also begins "<=". */
static const struct {
    const char *text;
    enum relation relation;
} relations[] = {
    {"<=", RELATION_AT_MOST},
    {">=", RELATION_AT_LEAST},
    {"<", RELATION_BELOW},
    {">", RELATION_ABOVE},
};

const char *relation_text(enum relation relation)
{
    for (size_t i = 0; i < NUMBER_OF(relations); i++)
        if (relations[i].relation == relation)
            return relations[i].text;
    return "";
}

size_t threshold_words(const char **words, size_t room)
{
    size_t n = 0;

    for (size_t i = 0; i < NUMBER_OF(aliases) && n < room; i++)
        words[n++] = aliases[i].word;
    for (int i = 0; i < METRIC_COUNT && n < room; i++)
        words[n++] = metric_row((enum metric)i)->name;
    return n;
}

/* A hyphen and a point are as good as the underscore that names are written with. */
static bool same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char x = *a == '-' || *a == '.' ? '_' : (char)tolower((unsigned char)*a);
        char y = *b == '-' || *b == '.' ? '_' : *b;

        if (x != y)
            return false;
    }
    return *a == *b;
}

int threshold_metric(const char *word, enum metric *metric, struct fail *fail)
{
    const char *words[NUMBER_OF(aliases) + METRIC_COUNT];
    size_t n = threshold_words(words, NUMBER_OF(words));
    const char *near;

    for (size_t i = 0; i < n; i++)
        if (same_word(word, words[i])) {
            *metric = i < NUMBER_OF(aliases) ? aliases[i].metric
                                             : (enum metric)metric_find(words[i]);
            return 0;
        }
    near = nearest_word(word, words, n);
    if (near)
        return fail_usage(fail, "threshold",
                          "there is no metric '%.60s'; did you mean '%s'?", word, near);
    return fail_usage(
        fail, "threshold",
        "there is no metric '%.60s'; there are p50, p99, p99.9, max, mean, loss, errors, "
        "throughput, rps, seconds and others",
        word);
}

/* The units in which a limit of this metric is given. */
static enum unit_kind kind_of(const char *unit)
{
    if (*unit == 'B')
        return UNIT_SIZE;
    return strcmp(unit, "/s") == 0 || strcmp(unit, "%") == 0 ? UNIT_COUNT : UNIT_DURATION;
}

/* Base units of units_parse in one unit of the metric: 1e9 ns in a second. */
static double base_of(const char *unit)
{
    return strcmp(unit, "s") == 0 ? 1e9 : strcmp(unit, "us") == 0 ? 1e3 : 1;
}

/* Cut `end` off the text's end if it is there. */
static void cut_end(char *text, const char *end)
{
    size_t len = strlen(text);
    size_t tail = strlen(end);

    if (len >= tail && strcmp(text + len - tail, end) == 0)
        text[len - tail] = '\0';
}

/*
 * "12.5" at the text's begin as 125 / 10: both are whole and small enough to be exact,
 * so that the quotient is the double that is nearest to what was typed, and no locale
 * is asked. The rest of the text, or NULL when there is no such number.
 */
static const char *parse_decimal(const char *text, uint64_t *digits, double *scale)
{
    bool any = false;
    bool fraction = false;

    *digits = 0;
    *scale = 1;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !fraction); text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        any = true;
        if (*digits >= 100000000000000)
            return NULL;
        *digits = *digits * 10 + (uint64_t)(*text - '0');
        if (fraction)
            *scale *= 10;
    }
    while (any && isspace((unsigned char)*text))
        text++;
    return any && !isdigit((unsigned char)*text) && *text != '.' ? text : NULL;
}

static int bad_limit(const struct threshold *t, struct fail *fail)
{
    const struct metric_row *row = metric_row(t->metric);
    const char *example = strcmp(row->unit, "B/s") == 0  ? "500MB/s"
                          : strcmp(row->unit, "B") == 0  ? "2MB"
                          : strcmp(row->unit, "/s") == 0 ? "10k/s"
                          : strcmp(row->unit, "%") == 0  ? "0.1%"
                          : strcmp(row->unit, "s") == 0  ? "2.5s"
                                                         : "5ms, with its unit";

    return fail_usage(
        fail, "threshold",
        "the threshold '%s' has no limit that suits %s; it would be like %s", t->text,
        row->name, example);
}

static int parse_limit(struct threshold *t, const char *text, struct fail *fail)
{
    const char *unit = metric_row(t->metric)->unit;
    char limit[sizeof(t->text)];
    char one[sizeof(t->text) + 1];
    const char *suffix;
    uint64_t digits;
    uint64_t factor;
    double scale;

    snprintf(limit, sizeof(limit), "%s", text);
    cut_end(limit, strcmp(unit, "%") == 0 ? "%" : strstr(unit, "/s") ? "/s" : "");
    suffix = parse_decimal(limit, &digits, &scale);
    /* A bare number is seconds elsewhere; of a latency hardly anybody means those. */
    if (!suffix ||
        (!*suffix && digits && (strcmp(unit, "ns") == 0 || strcmp(unit, "us") == 0)))
        return bad_limit(t, fail);
    snprintf(one, sizeof(one), "1%s", suffix);
    if (units_parse(kind_of(unit), one, &factor) < 0)
        return bad_limit(t, fail);
    t->limit = (double)digits * (double)factor / (scale * base_of(unit));
    return 0;
}

/* Without the spaces at both ends; false when it is too long. */
static bool trim(const char *from, size_t len, char *to, size_t size)
{
    while (len && isspace((unsigned char)from[0]))
        from++, len--;
    while (len && isspace((unsigned char)from[len - 1]))
        len--;
    snprintf(to, size, "%.*s", (int)len, from);
    return len < size;
}

int threshold_parse(struct threshold *t, const char *text, struct fail *fail)
{
    char word[sizeof(t->text)];
    char limit[sizeof(t->text)];
    size_t at;

    memset(t, 0, sizeof(*t));
    if (!trim(text, strlen(text), t->text, sizeof(t->text)))
        return fail_usage(fail, "threshold", "the threshold '%.40s...' is too long",
                          text);
    at = strcspn(t->text, "<>");
    trim(t->text, at, word, sizeof(word));
    for (size_t i = 0; i < NUMBER_OF(relations) && t->text[at]; i++) {
        size_t len = strlen(relations[i].text);

        if (strncmp(t->text + at, relations[i].text, len) != 0)
            continue;
        t->relation = relations[i].relation;
        trim(t->text + at + len, strlen(t->text + at + len), limit, sizeof(limit));
        if (threshold_metric(word, &t->metric, fail) < 0)
            return -EINVAL;
        return parse_limit(t, limit, fail);
    }
    return fail_usage(
        fail, "threshold",
        "the threshold '%s' has none of <, <=, > and >=; it is like p99<5ms", t->text);
}

int thresholds_parse(const char *text, struct threshold list[THRESHOLDS_MAX],
                     size_t *count, struct fail *fail)
{
    *count = 0;
    while (*text) {
        size_t len = strcspn(text, ",\n");
        char one[256];

        if (!trim(text, len, one, sizeof(one)))
            return fail_usage(fail, "threshold", "the threshold '%.40s...' is too long",
                              one);
        text += len + (text[len] != '\0');
        if (!*one)
            continue;
        if (*count == THRESHOLDS_MAX)
            return fail_usage(fail, "threshold", "more than %d thresholds are given",
                              THRESHOLDS_MAX);
        if (threshold_parse(&list[*count], one, fail) < 0)
            return -EINVAL;
        ++*count;
    }
    return 0;
}
