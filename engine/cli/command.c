#include "engine/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/scenario.h"
#include "engine/worker.h"
#include "protocols/array.h"

static const struct command *const commands[] = {
#define X(id) &command_##id,
    COMMAND_LIST(X)
#undef X
        NULL,
};

static const struct command *const hidden[] = {
#define X(id) &command_##id,
    COMMAND_HIDDEN_LIST(X)
#undef X
        NULL,
};

const struct command *const *command_table(void)
{
    return commands;
}

static const struct command *find_in(const struct command *const *table, const char *name)
{
    for (; *table; table++)
        if (strcmp((*table)->name, name) == 0)
            return *table;
    return NULL;
}

const struct command *command_find(const char *name)
{
    const struct command *found = find_in(commands, name);

    return found ? found : find_in(hidden, name);
}

int command_fails(const struct fail *fail)
{
    size_t len = strlen(fail->sentence);

    fprintf(stderr, "plimsoll: %s%s\n", fail->sentence,
            len && fail->sentence[len - 1] == '?' ? "" : ".");
    return fail->usage ? EXIT_USAGE : EXIT_FAILED;
}

static void print_param(const struct param *p, const struct options *defaults)
{
    char option[40];
    char left[48];
    char range[80];
    char value[80] = "";

    param_option(p, option, sizeof(option));
    param_range(p, range, sizeof(range));
    if (defaults)
        param_text(defaults, p, value, sizeof(value));
    if (p->letter)
        snprintf(left, sizeof(left), "-%c, --%s", p->letter, option);
    else
        snprintf(left, sizeof(left), "    --%s", option);
    printf("  %-24s %s\n%26s %s", left, p->help, "", range);
    if (*p->unit && p->type == PARAM_COUNT)
        printf(" %s", p->unit);
    if (p->zero)
        printf("; 0: %s", p->zero);
    if (*value)
        printf("; default %s", value);
    putchar('\n');
}

void command_help(const struct command *command, unsigned family,
                  const struct options *defaults)
{
    printf("usage: plimsoll %s\n%s.\n", command->usage, command->help);
    for (const struct flag *f = command->flags; f && f->name; f++) {
        char left[64];

        snprintf(left, sizeof(left), "%s%c%s--%s%s%s", f->letter ? "-" : "    ",
                 f->letter ? f->letter : '\0', f->letter ? ", " : "", f->name,
                 f->value ? " " : "", f->value ? f->value : "");
        if (!f->letter)
            snprintf(left, sizeof(left), "    --%s%s%s", f->name, f->value ? " " : "",
                     f->value ? f->value : "");
        printf("%s  %-24s %s\n", f == command->flags ? "\noptions:\n" : "", left,
               f->help);
    }
    if (!family)
        return;
    puts("\nparameters:");
    for (const struct param *p = param_table(); p->name; p++)
        if (p->families & family)
            print_param(p, defaults);
}

static void print_usage(FILE *f, bool has_console)
{
    fputs("plimsoll shows how much load a transport, a way of sending or a service can "
          "carry.\n\n",
          f);
    if (has_console)
        fputs("  plimsoll                     the console (needs a terminal)\n", f);
    for (size_t i = 0; commands[i]; i++)
        fprintf(f, "  plimsoll %-28s %s\n", commands[i]->usage, commands[i]->help);
    fputs(
        "  plimsoll --help | --version | help COMMAND\n\n"
        "plimsoll COMMAND --help lists a command's options; plimsoll run SCENARIO --help "
        "those of a scenario.\n\nExit codes:\n",
        f);
#define X(name, code, help) fprintf(f, "  %3d  %s\n", code, help);
    EXIT_CODES(X)
#undef X
}

bool command_scenario_word(size_t i, struct command_word *word)
{
    size_t count;
    const struct scenario *table = scenario_table(&count);

    if (i >= count)
        return false;
    *word = (struct command_word){table[i].name, table[i].title, table[i].family->bit};
    return true;
}

static int act(const struct command *command, int argc, char **argv)
{
    struct arguments a = {0};
    struct fail fail = {0};
    int code = EXIT_OK;

    if (arguments_parse(&a, argc, argv, 0, command->flags, NULL, &fail) == 0) {
        if (arguments_flag(&a, "help"))
            command_help(command, 0, NULL);
        else
            code = command->act(&a, &fail);
    }
    arguments_done(&a);
    if (fail.err)
        return command_fails(&fail);
    /* An error without a sentence is standard output's: command_flush looks at that. */
    return code < 0 ? EXIT_OK : code;
}

static int unknown_command(const char *name)
{
    const char *words[NUMBER_OF(commands)];
    struct fail fail = {0};
    const char *near;
    size_t n = 0;

    for (; commands[n]; n++)
        words[n] = commands[n]->name;
    near = nearest_word(name, words, n);
    if (near)
        fail_usage(&fail, "command", "there is no command '%.80s'; did you mean '%s'?",
                   name, near);
    else
        fail_usage(&fail, "command", "there is no command '%.80s'; see plimsoll --help",
                   name);
    return command_fails(&fail);
}

int command_flush(int code)
{
    struct pollfd p = {.fd = STDOUT_FILENO};

    errno = 0;
    if (fflush(stdout) != EOF && !ferror(stdout))
        return code;
    clearerr(stdout);
    if (errno == EPIPE || (poll(&p, 1, 0) == 1 && p.revents & POLLERR))
        return code;
    /* The reason is gone when an earlier flush has failed already. */
    fprintf(stderr, "plimsoll: standard output could not be written%s%s.\n",
            errno ? ": " : "", errno ? strerror(errno) : "");
    return code == EXIT_OK ? EXIT_FAILED : code;
}

bool command_is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/*
 * A descriptor that the caller has closed would be given to the next file that is
 * opened, and what is printed would go there. Used the wrong way round, the null
 * device fails as a closed one does.
 */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/*
 * Blocked and ignored signals are inherited, and some supervisors leave them so: with
 * SIGCHLD the end of a worker would not be heard of.
 */
static void begin_with_signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file limit ends a recording, not the run */
}

static int run_command(int argc, char **argv)
{
    const struct command *command = command_find(argv[1]);

    if (!command)
        return unknown_command(argv[1]);
    return command->act ? act(command, argc - 2, argv + 2)
                        : command->run(command, argc - 2, argv + 2);
}

/* "help COMMAND ..." is "COMMAND ... --help". */
static int help_of(int argc, char **argv)
{
    char option[] = "--help";

    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
    argv[argc - 1] = option;
    return run_command(argc, argv);
}

static int dispatch(int argc, char **argv, int (*console)(int argc, char **argv))
{
    const char *word = argc > 1 ? argv[1] : "";

    if (strcmp(word, "help") == 0 && argc > 2)
        return help_of(argc, argv);
    if (command_is_help(word) || strcmp(word, "help") == 0) {
        print_usage(stdout, console != NULL);
        return EXIT_OK;
    }
    if (strcmp(word, "--version") == 0) {
        puts("plimsoll " PLIMSOLL_VERSION);
        return EXIT_OK;
    }
    if (console && (!*word || *word == '-'))
        return console(argc, argv);
    if (!*word) {
        print_usage(stderr, false);
        return EXIT_USAGE;
    }
    return run_command(argc, argv);
}

int command_main(int argc, char **argv, int (*console)(int argc, char **argv))
{
    hold_standard_descriptors();
    setlocale(LC_CTYPE, "");
    begin_with_signals();
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return worker_main(STDIN_FILENO, STDOUT_FILENO);
    return command_flush(dispatch(argc, argv, console));
}
