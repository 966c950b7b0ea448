/* Completion for zsh: _arguments of zshcompsys(1), one list for each set of parameters.
 */
#include <string.h>

#include "engine/cli/manual.h"

/* Inside '…' of the shell, and inside […] of _arguments or before ':' of _describe. */
static void put_help(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '\'':
            fputs("'\\''", f);
            break;
        case '[':
        case ']':
        case ':':
        case '\\':
            fprintf(f, "\\%c", *text);
            break;
        default:
            fputc(*text, f);
        }
}

static void put_action(FILE *f, const struct value *v)
{
    fputc(':', f);
    put_help(f, v->name);
    switch (v->kind) {
    case VALUE_NONE:
    case VALUE_TEXT:
        fputs(": ", f);
        break;
    case VALUE_FILE:
        fputs(":_files", f);
        break;
    case VALUE_RUN:
        fputs(":_plimsoll_runs", f);
        break;
    case VALUE_WORDS:
        fprintf(f, ":(%s)", v->words);
        break;
    }
}

/* '(-c --connections)'{-c+,--connections=}'[help]:unit: ' */
static void put_option(FILE *f, const char *name, char letter, const char *help,
                       const struct value *v, bool repeats)
{
    bool valued = v->kind != VALUE_NONE;

    fputs("        ", f);
    if (letter && repeats)
        fprintf(f, "'*'{-%c%s,--%s%s}'", letter, valued ? "+" : "", name,
                valued ? "=" : "");
    else if (letter)
        fprintf(f, "'(-%c --%s)'{-%c%s,--%s%s}'", letter, name, letter, valued ? "+" : "",
                name, valued ? "=" : "");
    else
        fprintf(f, "'%s--%s%s", repeats ? "*" : "", name, valued ? "=" : "");
    fputc('[', f);
    put_help(f, help);
    fputc(']', f);
    if (valued)
        put_action(f, v);
    fputs("'\n", f);
}

static void print_set(FILE *f, unsigned set)
{
    char option[40];
    struct value v;

    fprintf(f, "    %u) parameters=(\n", set);
    for (const struct param *p = param_table(); p->name; p++) {
        if (!family_has(set, p))
            continue;
        param_option(p, option, sizeof(option));
        value_of_param(p, &v);
        put_option(f, option, p->letter, p->help, &v, p->flags & PARAM_REPEAT);
        if (p->type == PARAM_FLAG)
            fprintf(f, "        '--no-%s[not so]'\n", option);
    }
    fputs("    ) ;;\n", f);
}

static void print_flags(FILE *f, const struct command *c)
{
    struct value v;

    fprintf(f, "    %s) flags=(\n", c->name);
    for (const struct flag *flag = c->flags; flag && flag->name; flag++) {
        value_of_flag(flag, &v);
        put_option(f, flag->name, flag->letter, flag->help, &v, false);
    }
    fputs("    ) ;;\n", f);
}

static void print_words(FILE *f, const struct command *c)
{
    struct command_word word;

    fprintf(f, "    %s) words_=(\n", c->name);
    for (size_t i = 0; c->word(i, &word); i++) {
        fprintf(f, "        '%s:", word.name);
        put_help(f, word.help);
        fputs("'\n", f);
    }
    fputs("    ) ;;\n", f);
}

static void print_sets_of_words(FILE *f)
{
    struct command_word word;

    fputs("    case $1:$2 in\n", f);
    for (const struct command *const *c = command_table(); *c; c++) {
        if ((*c)->family)
            fprintf(f, "    %s:*) set_=%u ;;\n", (*c)->name, (*c)->family);
        for (size_t i = 0; (*c)->word && (*c)->word(i, &word); i++)
            if (word.family)
                fprintf(f, "    %s:%s) set_=%u ;;\n", (*c)->name, word.name, word.family);
    }
    fputs("    esac\n", f);
}

static void print_operands(FILE *f)
{
    fputs("    case $1 in\n", f);
    for (const struct command *const *c = command_table(); *c; c++)
        if ((*c)->operand == OPERAND_RUN)
            fprintf(f, "    %s) operands=('*:run:_plimsoll_runs') ;;\n", (*c)->name);
    fputs("    esac\n", f);
}

static const char logic[] =
    "_plimsoll() {\n"
    "    local -a commands flags parameters operands words_\n"
    "    local set_= service_=$words[1]\n"
    "    _plimsoll_commands\n"
    "    if (( CURRENT == 2 )); then\n"
    "        _describe command commands\n"
    "        return\n"
    "    fi\n"
    "    _plimsoll_words $words[2]\n"
    "    if (( CURRENT == 3 && $#words_ )) && [[ $words[3] != -* ]]; then\n"
    "        _describe word words_\n"
    "        return\n"
    "    fi\n"
    "    _plimsoll_tables \"$words[2]\" \"$words[3]\"\n"
    "    shift words; (( CURRENT-- ))\n"
    "    if (( $#words_ && CURRENT > 2 )); then\n"
    "        shift words; (( CURRENT-- ))\n"
    "    fi\n"
    "    _arguments -s $flags $parameters $operands\n"
    "}\n\n"
    "_plimsoll_runs() {\n"
    "    local -a runs\n"
    "    runs=(last ${(f)\"$(_call_program runs ${service_:-plimsoll} runs --ids "
    "2>/dev/null)\"})\n"
    "    compadd -a runs\n"
    "}\n\n"
    "_plimsoll \"$@\"\n";

void manual_zsh(FILE *f)
{
    unsigned sets[32];
    size_t count = family_sets(sets, 32);

    fputs("#compdef plimsoll plimsoll-engine\n# zsh completion for "
          "plimsoll " PLIMSOLL_VERSION "\n\n_plimsoll_commands() {\n    commands=(\n",
          f);
    for (const struct command *const *c = command_table(); *c; c++) {
        fprintf(f, "        '%s:", (*c)->name);
        put_help(f, (*c)->help);
        fputs("'\n", f);
    }
    fputs("    )\n}\n\n_plimsoll_words() {\n    case $1 in\n", f);
    for (const struct command *const *c = command_table(); *c; c++)
        if ((*c)->word)
            print_words(f, *c);
    fputs("    esac\n}\n\n_plimsoll_tables() {\n    case $1 in\n", f);
    for (const struct command *const *c = command_table(); *c; c++)
        print_flags(f, *c);
    fputs("    esac\n", f);
    print_operands(f);
    print_sets_of_words(f);
    fputs("    case $set_ in\n", f);
    for (size_t i = 0; i < count; i++)
        print_set(f, sets[i]);
    fputs("    esac\n}\n\n", f);
    fputs(logic, f);
}
