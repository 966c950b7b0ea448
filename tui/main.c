/* plimsoll: the commands of the engine, and the console when there is none. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "engine/command.h"
#include "engine/param.h"
#include "tui/console.h"
#include "tui/screen_scenarios.h"

static int usage(const char *what, const char *value, const char *allowed)
{
    fprintf(stderr, "plimsoll: %s %s%s%s; %s.\n", what, value != NULL ? "'" : "",
            value != NULL ? value : "needs a value",
            value != NULL ? "' is not known" : "", allowed);
    return EXIT_USAGE;
}

/* "--name VALUE" or "--name=VALUE": the value, NULL when it is another option. */
static const char *value_of(const char *name, int argc, char **argv, int *at, int *found)
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
static int read_options(int argc, char **argv, struct console_options *o)
{
    const char *value;
    int found;

    for (int i = 1; i < argc; i++) {
        value = value_of("--glyphs", argc, argv, &i, &found);
        if (found) {
            o->glyphs = value != NULL ? glyphs_find(value) : NULL;
            if (o->glyphs == NULL)
                return usage("--glyphs", value,
                             "it is one of braille, block, half, ascii");
            continue;
        }
        value = value_of("--theme", argc, argv, &i, &found);
        if (found) {
            o->theme = value != NULL ? theme_find(value) : NULL;
            if (o->theme == NULL)
                return usage("--theme", value, "it is one of dark, light, mono");
            continue;
        }
        return usage(
            "the option", argv[i],
            "the console has --glyphs and --theme; plimsoll --help lists the rest");
    }
    return 0;
}

static int console(int argc, char **argv)
{
    struct console_options options = {.first = &screen_scenarios};
    struct fail fail = {0};
    int status = read_options(argc, argv, &options);

    if (status != 0)
        return status;
    if (console_run(&options, &status, &fail) < 0) {
        fprintf(stderr, "plimsoll: %s.\n", fail.sentence);
        return EXIT_USAGE;
    }
    return status;
}

int main(int argc, char **argv)
{
    return command_main(argc, argv, console);
}
