/* plimsoll run SCENARIO, and plimsoll http URL: a run without a screen. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/against.h"
#include "engine/cli/command.h"
#include "engine/cli/headless.h"
#include "engine/scenario.h"

static const struct flag flags[] = {AGAINST_FLAGS, HEADLESS_FLAGS, {0}};

/* The operand of `http` is the URL; with an amount the default duration goes. */
static int take_operands(const struct scenario *s, const struct arguments *a,
                         struct options *values, struct fail *fail)
{
    size_t used = 0;

    if (s->family->url) {
        if (a->operand_count > used)
            options_set_text(values, OPTION_url, a->operands[used++]);
        if (!*options_text(values, OPTION_url, ""))
            return fail_usage(fail, "url", "which URL? http://HOST[:PORT]/PATH");
        if (arguments_typed(a, OPTION_amount) && !arguments_typed(a, OPTION_duration))
            options_set_number(values, OPTION_duration, 0);
    }
    return arguments_no_more(a, used, fail);
}

static bool wants(int argc, char **argv, const char *word)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

static int run_scenario(const struct command *command, const struct scenario *s, int argc,
                        char **argv)
{
    struct options values = {0};
    struct arguments a = {0};
    struct fail fail = {0};
    int code = EXIT_OK;

    if (scenario_defaults(s, &values) < 0 ||
        (wants(argc, argv, "--as-documented") &&
         scenario_as_documented(s, &values) < 0) ||
        (wants(argc, argv, "--quick") && scenario_quick(s, &values) < 0))
        fail_set(&fail, ENOMEM, "run", "starting a run");
    else
        arguments_parse(&a, argc, argv, s->family->bit, flags, &values, &fail);
    if (!fail.err && arguments_flag(&a, "help")) {
        printf("%s: %s.\n%s\n\n", s->name, s->title, s->about);
        command_help(command, s->family->bit, &values);
    } else if (fail.err || take_operands(s, &a, &values, &fail) < 0) {
        code = command_fails(&fail);
    } else {
        code = arguments_flag(&a, "against") ? against_run(s, &values, &a)
                                             : headless_run(s, &values, &a);
    }
    arguments_done(&a);
    options_done(&values);
    return code;
}

static int run(const struct command *command, int argc, char **argv)
{
    const struct scenario *s;
    struct fail fail = {0};

    if (argc > 0 && command_is_help(argv[0])) {
        command_help(command, 0, NULL);
        return EXIT_OK;
    }
    if (argc < 1 || argv[0][0] == '-') {
        fail_usage(&fail, "scenario",
                   "which scenario? It comes first: plimsoll run SCENARIO [options]; "
                   "plimsoll list names them");
        return command_fails(&fail);
    }
    s = scenario_named(argv[0], &fail);
    return s ? run_scenario(command, s, argc - 1, argv + 1) : command_fails(&fail);
}

static int http(const struct command *command, int argc, char **argv)
{
    return run_scenario(command, scenario_find("http"), argc, argv);
}

const struct command command_run = {
    .name = "run",
    .usage = "run SCENARIO [options]",
    .help = "one scenario without a screen",
    .flags = flags,
    .operand = OPERAND_WORD,
    .word = command_scenario_word,
    .run = run,
};

const struct command command_http = {
    .name = "http",
    .usage = "http URL [options]",
    .help = "load on your own HTTP server",
    .flags = flags,
    .family = FAMILY_HTTP,
    .run = http,
};
