/* plimsoll runs: the saved runs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/cli/command.h"
#include "engine/json.h"
#include "engine/store.h"
#include "engine/units.h"

static const struct flag flags[] = {
    {"scenario", 0, "SCENARIO", "only runs of this scenario"},
    {"since", 0, "TIME", "only runs begun in the last 2h, 30m, 7d, or since 2026-11-30"},
    {"outcome", 0, "OUTCOME",
     "only runs that are completed, stopped, exhausted, failed, interrupted or running"},
    {"json", 'j', NULL, "as JSON"},
    {"ids", 0, NULL, "only their ids, one a line"},
    {"help", 0, NULL, "this text"},
    {0},
};

struct filter {
    const char *scenario, *outcome; /* NULL: any */
    time_t since;
};

/* "2026-11-30" or "2026-11-30T11:20" in local time. */
static bool parse_date(const char *text, time_t *since)
{
    struct tm tm = {.tm_isdst = -1};
    const char *end = strptime(text, "%Y-%m-%d", &tm);

    if (end && (*end == 'T' || *end == ' '))
        end = strptime(end + 1, "%H:%M", &tm);
    if (!end || *end)
        return false;
    *since = mktime(&tm);
    return true;
}

static int parse_since(const char *text, time_t *since, struct fail *fail)
{
    size_t len = strlen(text);
    uint64_t span;
    char hours[32];

    if (parse_date(text, since))
        return 0;
    /* Days are too long for a parameter, so the units do not have them. */
    if (len > 1 && len < sizeof(hours) && text[len - 1] == 'd') {
        snprintf(hours, sizeof(hours), "%.*sh", (int)len - 1, text);
        if (units_parse(UNIT_DURATION, hours, &span) == 0 && span < UINT64_MAX / 24) {
            *since = time(NULL) - (time_t)(span / 1000000000u * 24);
            return 0;
        }
    }
    if (units_parse(UNIT_DURATION, text, &span) < 0)
        return fail_usage(fail, "since",
                          "--since cannot be '%.60s': it takes 30m, 2h, 7d, or a date "
                          "2026-11-30 or 2026-11-30T11:20",
                          text);
    *since = time(NULL) - (time_t)(span / 1000000000u);
    return 0;
}

static int check_outcome(const char *text, struct fail *fail)
{
    static const char *const words[] = {"completed", "stopped", "exhausted",
                                        "failed",    "running", "interrupted"};
    const char *near = nearest_word(text, words, 6);

    for (size_t i = 0; i < 6; i++)
        if (strcmp(words[i], text) == 0)
            return 0;
    return fail_usage(fail, "outcome",
                      "there is no outcome '%.60s'%s%s%s; there are completed, stopped, "
                      "exhausted, failed, interrupted and running",
                      text, near ? "; did you mean '" : "", near ? near : "",
                      near ? "'?" : "");
}

static int read_filter(struct filter *f, const struct arguments *a, struct fail *fail)
{
    const char *since = arguments_flag(a, "since");

    *f = (struct filter){arguments_flag(a, "scenario"), arguments_flag(a, "outcome"), 0};
    if (f->scenario && !scenario_named(f->scenario, fail))
        return -EINVAL;
    if (f->outcome && check_outcome(f->outcome, fail) < 0)
        return -EINVAL;
    return since ? parse_since(since, &f->since, fail) : 0;
}

static bool wanted(const struct filter *f, const struct store_entry *e)
{
    return !*e->problem && (!f->scenario || strcmp(f->scenario, e->scenario) == 0) &&
           (!f->outcome || strcmp(f->outcome, store_outcome(e)) == 0) &&
           e->started >= f->since;
}

/* The figure that says most about a run of its kind. */
static void headline(const struct store_entry *e, char *text, size_t size)
{
    const struct scenario *s = scenario_find(e->scenario);
    enum metric m = s ? s->family->headlines[0] : METRIC_seconds;

    if (!isfinite(e->medians[m]))
        m = METRIC_seconds;
    metric_format(m, e->medians[m], text, size);
}

static void print_row(const struct store_entry *e)
{
    char when[32], figure[32], p50[32], p99[32];
    struct tm tm;

    localtime_r(&e->started, &tm);
    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    headline(e, figure, sizeof(figure));
    metric_format(METRIC_latency_p50_ns, e->medians[METRIC_latency_p50_ns], p50,
                  sizeof(p50));
    metric_format(METRIC_latency_p99_ns, e->medians[METRIC_latency_p99_ns], p99,
                  sizeof(p99));
    printf("%-8s  %-19s  %-20s  %-11s %6u  %12s  %10s  %10s\n", e->shown, when,
           e->scenario, store_outcome(e), e->trials, figure, p50, p99);
}

/* A file that is no recording is reported below the table, not hidden. */
static void tell_problems(const struct store_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*entries[i].problem)
            fprintf(stderr, "plimsoll: passed over: %s.\n", entries[i].problem);
}

static void print_table(const struct filter *f, const struct store_entry *entries,
                        size_t count)
{
    size_t shown = 0;

    for (size_t i = 0; i < count; i++) {
        if (!wanted(f, &entries[i]))
            continue;
        if (shown++ == 0)
            printf("%-8s  %-19s  %-20s  %-11s %6s  %12s  %10s  %10s\n", "id", "begun",
                   "scenario", "outcome", "trials", "median", "p50", "p99");
        print_row(&entries[i]);
    }
    if (!shown)
        fputs("plimsoll: there are no such runs.\n", stderr);
}

static cJSON *entry_object(const struct store_entry *e)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *medians;
    char when[32];

    if (!o)
        return NULL;
    json_time(e->started, when, sizeof(when));
    json_add_text(o, "id", e->id);
    json_add_text(o, "file", e->name);
    json_add_text(o, "scenario", e->scenario);
    json_add_text(o, "started", when);
    json_add_text(o, "outcome", store_outcome(e));
    json_add_text(o, "reason", e->reason);
    json_add_u64(o, "trials", e->trials);
    json_add_u64(o, "size_bytes", e->size_bytes);
    medians = cJSON_AddObjectToObject(o, "medians");
    for (int i = 0; medians && i < METRIC_COUNT; i++)
        json_add_number(medians, metric_row((enum metric)i)->name, e->medians[i]);
    return o;
}

static int print_json(const struct filter *f, const struct store_entry *entries,
                      size_t count)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *runs = o ? cJSON_AddArrayToObject(o, "runs") : NULL;
    cJSON *passed = o ? cJSON_AddArrayToObject(o, "passed_over") : NULL;

    for (size_t i = 0; runs && passed && i < count; i++) {
        if (wanted(f, &entries[i]))
            cJSON_AddItemToArray(runs, entry_object(&entries[i]));
        if (*entries[i].problem)
            cJSON_AddItemToArray(passed, cJSON_CreateString(entries[i].problem));
    }
    return json_write(stdout, o);
}

static int list_runs(const struct arguments *a, struct fail *fail)
{
    struct store_entry *entries = NULL;
    struct filter f;
    size_t count;

    if (a->operand_count > 0)
        return fail_usage(
            fail, "option",
            "runs lists all of them and takes no '%.60s'; plimsoll show RUN "
            "shows one",
            a->operands[0]);
    if (read_filter(&f, a, fail) < 0 || store_list(&entries, &count, fail) < 0)
        return -fail->err;
    if (arguments_flag(a, "json")) {
        if (print_json(&f, entries, count) < 0)
            fail_set(fail, ENOMEM, "runs", "the document could not be made");
    } else if (arguments_flag(a, "ids")) {
        for (size_t i = 0; i < count; i++)
            if (wanted(&f, &entries[i]))
                puts(entries[i].id);
    } else {
        print_table(&f, entries, count);
        tell_problems(entries, count);
    }
    free(entries);
    return EXIT_OK;
}

const struct command command_runs = {
    .name = "runs",
    .usage = "runs [options]",
    .help = "the saved runs, newest first",
    .flags = flags,
    .act = list_runs,
};
