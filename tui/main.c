/* plimsoll: the commands of the engine, and the console when there is none. */
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/cli/command.h"
#include "engine/param.h"
#include "engine/store.h"
#include "tui/console.h"
#include "tui/screens.h"

static int usage(const char *what, const char *value, const char *allowed)
{
    struct fail fail = {0};

    fail_usage(&fail, "option", "%s %s%.80s%s; %s", what, value ? "'" : "",
               value ? value : "needs a value", value ? "' is not known" : "", allowed);
    return command_fails(&fail);
}

/* "--name VALUE" or "--name=VALUE": the value, NULL when it is another option. */
static const char *main_value_of(const char *name, int argc, char **argv, int *at,
                                 bool *found)
{
    size_t n = strlen(name);

    *found =
        strncmp(argv[*at], name, n) == 0 && (argv[*at][n] == '\0' || argv[*at][n] == '=');
    if (!*found)
        return NULL;
    if (argv[*at][n] == '=')
        return argv[*at] + n + 1;
    return *at + 1 < argc ? argv[++*at] : NULL;
}

/* 0, or the exit code of a wrong command line. */
static int main_read_options(int argc, char **argv, struct console_options *o)
{
    const char *value;
    bool found;

    for (int i = 1; i < argc; i++) {
        value = main_value_of("--glyphs", argc, argv, &i, &found);
        if (found) {
            o->glyphs = value ? glyphs_find(value) : NULL;
            if (!o->glyphs)
                return usage("--glyphs", value,
                             "it is one of braille, block, half, ascii");
            continue;
        }
        value = main_value_of("--theme", argc, argv, &i, &found);
        if (found) {
            o->theme = value ? theme_find(value) : NULL;
            if (!o->theme)
                return usage("--theme", value, "it is one of dark, light, mono");
            continue;
        }
        return usage(
            "the option", argv[i],
            "the console has --glyphs and --theme; plimsoll --help lists the rest");
    }
    return 0;
}

static int open_console(const struct console_options *options)
{
    struct fail fail = {0};
    int status = 0;

    if (console_run(options, &status, &fail) < 0) {
        fprintf(stderr, "plimsoll: %s.\n", fail.sentence);
        return EXIT_USAGE;
    }
    return status;
}

static int console(int argc, char **argv)
{
    struct console_options options = {.first = &screen_scenarios};
    int status = main_read_options(argc, argv, &options);

    return status != 0 ? status : open_console(&options);
}

/* `replay RUN` alone, at a terminal, is played on the screen; else without one. */
static int replay(const char *word)
{
    struct replay_request request;
    struct console_options options = {.first = &screen_replay, .argument = &request};
    struct fail fail = {0};

    if (store_find(word, request.path, sizeof(request.path), &fail) < 0)
        return command_fails(&fail);
    return open_console(&options);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "replay") == 0 && argv[2][0] != '-' &&
        isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        setlocale(LC_CTYPE, "");
        return replay(argv[2]);
    }
    return command_main(argc, argv, console);
}
