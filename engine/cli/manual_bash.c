/*
 * Completion for bash (COMP_WORDS, compgen: bash(1), Programmable Completion). It needs
 * nothing but bash itself, and only asks plimsoll for the ids of saved runs.
 */
#include <string.h>

#include "engine/cli/manual.h"

/* Every option of a set of parameters, as a case of _plimsoll_parameters. */
static void print_set(FILE *f, unsigned set)
{
    char option[40];

    fprintf(f, "    %u) echo \"", set);
    for (const struct param *p = param_table(); p->name; p++) {
        if (!family_has(set, p))
            continue;
        param_option(p, option, sizeof(option));
        fprintf(f, "--%s ", option);
        if (p->type == PARAM_FLAG)
            fprintf(f, "--no-%s ", option);
    }
    fputs("\" ;;\n", f);
}

/* What stands behind an option: a kind, and for words the words. */
static void print_value(FILE *f, const char *scope, const char *option, char letter,
                        const struct value *v)
{
    static const char *const kinds[] = {"none", "text", "file", "run", "words"};

    if (v->kind == VALUE_NONE)
        return;
    fprintf(f, "    %s:--%s", scope, option);
    if (letter)
        fprintf(f, " | %s:-%c", scope, letter);
    fprintf(f, ") echo \"%s%s%s\" ;;\n", kinds[v->kind], *v->words ? " " : "", v->words);
}

static void print_param_values(FILE *f, unsigned set)
{
    char scope[16], option[40];
    struct value v;

    snprintf(scope, sizeof(scope), "%u", set);
    for (const struct param *p = param_table(); p->name; p++) {
        if (!family_has(set, p))
            continue;
        param_option(p, option, sizeof(option));
        value_of_param(p, &v);
        print_value(f, scope, option, p->letter, &v);
    }
}

static void print_values(FILE *f, const unsigned *sets, size_t count)
{
    struct value v;

    fputs("# What the value of an option is; nothing for an option without one.\n"
          "_plimsoll_value() {\n    case $1 in\n",
          f);
    for (const struct command *const *c = command_table(); *c; c++)
        for (const struct flag *flag = (*c)->flags; flag && flag->name; flag++) {
            value_of_flag(flag, &v);
            print_value(f, (*c)->name, flag->name, flag->letter, &v);
        }
    for (size_t i = 0; i < count; i++)
        print_param_values(f, sets[i]);
    fputs("    esac\n}\n\n", f);
}

static void print_flags(FILE *f)
{
    fputs("_plimsoll_flags() {\n    case $1 in\n", f);
    for (const struct command *const *c = command_table(); *c; c++) {
        fprintf(f, "    %s) echo \"", (*c)->name);
        for (const struct flag *flag = (*c)->flags; flag && flag->name; flag++)
            fprintf(f, "--%s ", flag->name);
        fputs("\" ;;\n", f);
    }
    fputs("    esac\n}\n\n", f);
}

static void print_operands(FILE *f)
{
    struct command_word word;

    fputs("_plimsoll_operands() {\n    case $1 in\n", f);
    for (const struct command *const *c = command_table(); *c; c++) {
        if ((*c)->operand == OPERAND_RUN)
            fprintf(f, "    %s) echo run ;;\n", (*c)->name);
        if (!(*c)->word)
            continue;
        fprintf(f, "    %s) echo \"words", (*c)->name);
        for (size_t i = 0; (*c)->word(i, &word); i++)
            fprintf(f, " %s", word.name);
        fputs("\" ;;\n", f);
    }
    fputs("    esac\n}\n\n"
          "# The parameters that a command has, by its operand: a set's number.\n"
          "_plimsoll_set() {\n    case $1:$2 in\n",
          f);
    for (const struct command *const *c = command_table(); *c; c++) {
        if ((*c)->family)
            fprintf(f, "    %s:*) echo %u ;;\n", (*c)->name, (*c)->family);
        for (size_t i = 0; (*c)->word && (*c)->word(i, &word); i++)
            if (word.family)
                fprintf(f, "    %s:%s) echo %u ;;\n", (*c)->name, word.name, word.family);
    }
    fputs("    esac\n}\n\n", f);
}

/* The part that no table changes. */
static const char logic[] =
    "_plimsoll_reply() { # KIND-AND-WORDS CURRENT\n"
    "    local kind=${1%% *} words=${1#* }\n"
    "    case $kind in\n"
    "    file)\n"
    "        compopt -o filenames 2> /dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$2\") ;;\n"
    "    run)\n"
    "        words=\"last $(\"${COMP_WORDS[0]}\" runs --ids 2> /dev/null)\"\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$2\") ;;\n"
    "    words)\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$2\") ;;\n"
    "    esac\n"
    "}\n\n"
    "_plimsoll() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command=${COMP_WORDS[1]} operand=${COMP_WORDS[2]} set value=\n"
    "    COMPREPLY=()\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        _plimsoll_reply \"words $_plimsoll_commands --help --version\" "
    "\"$current\"\n"
    "        return\n"
    "    fi\n"
    "    # Readline parts words at '='.\n"
    "    if [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    elif [[ $current == = ]]; then\n"
    "        current=\n"
    "    fi\n"
    "    set=$(_plimsoll_set \"$command\" \"$operand\")\n"
    "    if [[ $before == -* ]]; then\n"
    "        value=$(_plimsoll_value \"$command:$before\")\n"
    "        [[ -z $value && -n $set ]] && value=$(_plimsoll_value \"$set:$before\")\n"
    "    fi\n"
    "    if [[ -n $value ]]; then\n"
    "        [[ $before == --threshold ]] && compopt -o nospace 2> /dev/null\n"
    "        _plimsoll_reply \"$value\" \"$current\"\n"
    "    elif [[ $current == -* ]]; then\n"
    "        value=\"$(_plimsoll_flags \"$command\")\"\n"
    "        [[ -n $set ]] && value+=\" $(_plimsoll_parameters \"$set\")\"\n"
    "        _plimsoll_reply \"words $value\" \"$current\"\n"
    "    else\n"
    "        value=$(_plimsoll_operands \"$command\")\n"
    "        # A word is the first operand alone; runs may be several.\n"
    "        if [[ $value == run* ]] || ((COMP_CWORD == 2)); then\n"
    "            _plimsoll_reply \"$value\" \"$current\"\n"
    "        fi\n"
    "    fi\n"
    "}\n\n"
    "complete -F _plimsoll plimsoll plimsoll-engine\n";

void manual_bash(FILE *f)
{
    unsigned sets[32];
    size_t count = family_sets(sets, 32);

    fputs("# bash completion for plimsoll " PLIMSOLL_VERSION "\n\n_plimsoll_commands=\"",
          f);
    for (const struct command *const *c = command_table(); *c; c++)
        fprintf(f, "%s%s", c == command_table() ? "" : " ", (*c)->name);
    fputs("\"\n\n", f);
    print_flags(f);
    fputs("_plimsoll_parameters() {\n    case $1 in\n", f);
    for (size_t i = 0; i < count; i++)
        print_set(f, sets[i]);
    fputs("    esac\n}\n\n", f);
    print_values(f, sets, count);
    print_operands(f);
    fputs(logic, f);
}
