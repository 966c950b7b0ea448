/* Completion for fish: complete(1), one line an option. */
#include <string.h>

#include "engine/cli/manual.h"

/* Inside '…' of fish, where only the quote and the backslash are special. */
static void put_quoted(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', f);
        fputc(*text, f);
    }
    fputc('\'', f);
}

static void put_option(FILE *f, const char *when, const char *name, char letter,
                       const char *help, const struct value *v)
{
    fprintf(f, "complete -c $program -n '%s' -l %s", when, name);
    if (letter)
        fprintf(f, " -s %c", letter);
    fputs(" -d ", f);
    put_quoted(f, help);
    switch (v->kind) {
    case VALUE_NONE:
        break;
    case VALUE_TEXT:
        fputs(" -x", f);
        break;
    case VALUE_FILE:
        fputs(" -r -F", f);
        break;
    case VALUE_RUN:
        fputs(" -x -a '(__plimsoll_runs)'", f);
        break;
    case VALUE_WORDS:
        fprintf(f, " -x -a '%s'", v->words);
        break;
    }
    fputc('\n', f);
}

static void print_set(FILE *f, unsigned set)
{
    char when[48], option[40], negated[48];
    struct value v;
    const struct value none = {.kind = VALUE_NONE};

    snprintf(when, sizeof(when), "__plimsoll_has %u", set);
    for (const struct param *p = param_table(); p->name; p++) {
        if (!family_has(set, p))
            continue;
        param_option(p, option, sizeof(option));
        value_of_param(p, &v);
        put_option(f, when, option, p->letter, p->help, &v);
        snprintf(negated, sizeof(negated), "no-%s", option);
        if (p->type == PARAM_FLAG)
            put_option(f, when, negated, 0, "not so", &none);
    }
}

static void print_command(FILE *f, const struct command *c)
{
    struct command_word word;
    struct value v;
    char when[64];

    fprintf(f, "complete -c $program -n '__plimsoll_words 1' -a %s -d ", c->name);
    put_quoted(f, c->help);
    fputc('\n', f);
    snprintf(when, sizeof(when), "__plimsoll_command %s", c->name);
    for (const struct flag *flag = c->flags; flag && flag->name; flag++) {
        value_of_flag(flag, &v);
        put_option(f, when, flag->name, flag->letter, flag->help, &v);
    }
    for (size_t i = 0; c->word && c->word(i, &word); i++) {
        fprintf(f, "complete -c $program -n '__plimsoll_words 2; and %s' -a %s -d ", when,
                word.name);
        put_quoted(f, word.help);
        fputc('\n', f);
    }
    if (c->operand == OPERAND_RUN)
        fprintf(f, "complete -c $program -n '%s' -a '(__plimsoll_runs)'\n", when);
}

static void print_sets_of_words(FILE *f)
{
    struct command_word word;

    fputs("# Whether the parameters of a set belong to what is typed.\n"
          "function __plimsoll_has\n"
          "    set -l words (commandline -opc)\n"
          "    set -l which\n"
          "    switch \"$words[2]:$words[3]\"\n",
          f);
    for (const struct command *const *c = command_table(); *c; c++) {
        if ((*c)->family)
            fprintf(f, "        case '%s:*'\n            set which %u\n", (*c)->name,
                    (*c)->family);
        for (size_t i = 0; (*c)->word && (*c)->word(i, &word); i++)
            if (word.family)
                fprintf(f, "        case '%s:%s'\n            set which %u\n", (*c)->name,
                        word.name, word.family);
    }
    fputs("    end\n    test \"$which\" = $argv[1]\nend\n\n", f);
}

static const char helpers[] = "function __plimsoll_words\n"
                              "    test (count (commandline -opc)) -eq $argv[1]\n"
                              "end\n\n"
                              "function __plimsoll_command\n"
                              "    set -l words (commandline -opc)\n"
                              "    test \"$words[2]\" = $argv[1]\n"
                              "end\n\n"
                              "function __plimsoll_runs\n"
                              "    set -l words (commandline -opc)\n"
                              "    echo last\n"
                              "    $words[1] runs --ids 2>/dev/null\n"
                              "end\n\n";

void manual_fish(FILE *f)
{
    unsigned sets[32];
    size_t count = family_sets(sets, 32);

    fputs("# fish completion for plimsoll " PLIMSOLL_VERSION "\n\n", f);
    fputs(helpers, f);
    print_sets_of_words(f);
    fputs("for program in plimsoll plimsoll-engine\n"
          "complete -c $program -f\n"
          "complete -c $program -n '__plimsoll_words 1' -l help -d 'the commands'\n"
          "complete -c $program -n '__plimsoll_words 1' -l version -d 'the version'\n",
          f);
    for (const struct command *const *c = command_table(); *c; c++)
        print_command(f, *c);
    for (size_t i = 0; i < count; i++)
        print_set(f, sets[i]);
    fputs("end\n", f);
}
