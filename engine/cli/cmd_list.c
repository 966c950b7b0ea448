/* plimsoll list: the catalogue. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/json.h"
#include "engine/scenario.h"

static void print_text(const struct scenario *s)
{
    printf("  %-20s %s\n", s->name, s->title);
}

static void print_markdown(const struct scenario *s, const struct options *values)
{
    printf("| `%s` | %s | %s |", s->name, s->group, s->title);
    for (const struct param *p = param_table(); p->name; p++) {
        char number[PARAM_NUMBER_MAX];
        const char *text = param_value(values, p, number);

        if (scenario_has(s, p) && !(p->flags & PARAM_RUN) && *text &&
            strcmp(text, p->fallback) != 0)
            printf(" %s %s;", p->name, text);
    }
    puts(" |");
}

static cJSON *param_object(const struct param *p, const struct options *values)
{
    cJSON *o = cJSON_CreateObject();
    char text[PARAM_NUMBER_MAX + 32];

    if (!o)
        return NULL;
    json_add_text(o, "name", p->name);
    json_add_text(o, "default", param_value(values, p, text));
    param_range(p, text, sizeof(text));
    json_add_text(o, "range", text);
    json_add_text(o, "unit", p->unit);
    json_add_text(o, "help", p->help);
    if (p->zero)
        json_add_text(o, "zero", p->zero);
    cJSON_AddBoolToObject(o, "live", (p->flags & PARAM_LIVE) != 0);
    return o;
}

static cJSON *scenario_object(const struct scenario *s, const struct options *values)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *array;

    if (!o)
        return NULL;
    json_add_text(o, "name", s->name);
    json_add_text(o, "group", s->group);
    json_add_text(o, "title", s->title);
    json_add_text(o, "about", s->about);
    json_add_text(o, "documented", s->documented);
    array = cJSON_AddArrayToObject(o, "parameters");
    for (const struct param *p = param_table(); array && p->name; p++)
        if (scenario_has(s, p))
            cJSON_AddItemToArray(array, param_object(p, values));
    return o;
}

static int print_json(void)
{
    cJSON *array = cJSON_CreateArray();
    size_t count;
    const struct scenario *table = scenario_table(&count);

    for (size_t i = 0; array && i < count; i++) {
        struct options values = {0};

        if (scenario_defaults(&table[i], &values) == 0)
            cJSON_AddItemToArray(array, scenario_object(&table[i], &values));
        options_done(&values);
    }
    return json_write(stdout, array);
}

static void print_table(int markdown)
{
    size_t count;
    const struct scenario *table = scenario_table(&count);
    const char *group = "";

    if (markdown)
        puts("| scenario | group | what happens | defaults |\n|---|---|---|---|");
    for (size_t i = 0; i < count; i++) {
        struct options values = {0};

        if (!markdown && strcmp(group, table[i].group) != 0)
            printf("%s%s\n", i ? "\n" : "", table[i].group);
        group = table[i].group;
        if (!markdown)
            print_text(&table[i]);
        else if (scenario_defaults(&table[i], &values) == 0)
            print_markdown(&table[i], &values);
        options_done(&values);
    }
    if (!markdown)
        puts("\nplimsoll run SCENARIO --help lists its parameters.");
}

static const struct flag flags[] = {
    {"json", 'j', NULL, "everything about every scenario, as JSON"},
    {"markdown", 0, NULL, "a table in Markdown"},
    {"help", 0, NULL, "this text"},
    {0},
};

static int list_scenarios(const struct arguments *a, struct fail *fail)
{
    if (arguments_no_more(a, 0, fail) < 0)
        return EXIT_USAGE;
    if (!arguments_flag(a, "json"))
        print_table(arguments_flag(a, "markdown") != NULL);
    else if (print_json() < 0)
        return fail_set(fail, ENOMEM, "list", "the document could not be made");
    return EXIT_OK;
}

const struct command command_list = {
    .name = "list",
    .usage = "list [--json|--markdown]",
    .help = "the scenarios that there are",
    .flags = flags,
    .act = list_scenarios,
};
