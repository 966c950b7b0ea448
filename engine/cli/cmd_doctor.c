/* plimsoll doctor: what of this machine would distort a run. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/json.h"
#include "engine/limits.h"
#include "engine/units.h"

static void number(const struct limit *l, uint64_t value, char *text, size_t size)
{
    if (strncmp(l->name, "bytes", 5) == 0)
        units_format_bytes((double)value, text, size);
    else
        snprintf(text, size, "%" PRIu64, value);
}

static void print_row(const struct limit *l)
{
    char need[32] = "-";
    char have[160];

    if (l->need)
        number(l, l->need, need, sizeof(need));
    number(l, l->have, have, sizeof(have));
    if (*l->text)
        snprintf(have, sizeof(have), "%s", l->text);
    printf("%-4s %-26s %12s %14s   %s\n", l->enough ? "ok" : "low", l->name, need,
           l->known ? have : "unknown", l->why);
    if (*l->cure)
        printf("%62s cure: %s\n", "", l->cure);
}

static int print_json(const struct limit *limits, size_t n)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; array && i < n; i++) {
        cJSON *o = cJSON_CreateObject();

        if (!o)
            break;
        json_add_text(o, "name", limits[i].name);
        json_add_u64(o, "need", limits[i].need);
        if (!limits[i].known)
            cJSON_AddNullToObject(o, "have");
        else if (*limits[i].text)
            json_add_text(o, "have", limits[i].text);
        else
            json_add_u64(o, "have", limits[i].have);
        cJSON_AddBoolToObject(o, "enough", limits[i].enough);
        json_add_text(o, "why", limits[i].why);
        json_add_text(o, "cure", limits[i].cure);
        cJSON_AddItemToArray(array, o);
    }
    return json_write(stdout, array);
}

static const struct flag flags[] = {
    {"json", 'j', NULL, "as JSON"},
    {"help", 0, NULL, "this text"},
    {0},
};

static int examine(const struct arguments *a, struct fail *fail)
{
    const struct scenario *s = NULL;
    struct options values = {0};
    struct limit limits[LIMITS_MAX];
    size_t n;

    if (arguments_no_more(a, 1, fail) < 0)
        return EXIT_USAGE;
    if (a->operand_count) {
        s = scenario_named(a->operands[0], fail);
        if (!s)
            return EXIT_USAGE;
        if (scenario_defaults(s, &values) < 0)
            return fail_set(fail, ENOMEM, "scenario", "%s", s->name);
    }
    n = limits_for(s, &values, limits);
    if (arguments_flag(a, "json")) {
        if (print_json(limits, n) < 0)
            fail_set(fail, ENOMEM, "doctor", "the document could not be made");
    } else {
        printf("%-4s %-26s %12s %14s   %s\n", "", "limit", "need", "have", "why");
        for (size_t i = 0; i < n; i++)
            print_row(&limits[i]);
    }
    options_done(&values);
    return EXIT_OK;
}

/* Scenarios, without parameters of theirs. */
static bool doctor_word(size_t i, struct command_word *word)
{
    bool any = command_scenario_word(i, word);

    word->family = 0;
    return any;
}

const struct command command_doctor = {
    .name = "doctor",
    .usage = "doctor [SCENARIO] [--json]",
    .help = "the limits of this machine that would distort a run",
    .flags = flags,
    .operand = OPERAND_WORD,
    .word = doctor_word,
    .act = examine,
};
