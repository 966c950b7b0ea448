#include "engine/cli/arguments.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being taken apart. */
struct cursor {
    int at, argc;
    char **argv;
    unsigned family;
    const struct flag *flags;
    struct options *values;
    struct arguments *a;
    struct fail *fail;
};

static const struct flag *find_flag(const struct flag *flags, const char *name,
                                    char letter)
{
    for (; flags && flags->name; flags++)
        if (name ? strcmp(flags->name, name) == 0 : flags->letter == letter && letter)
            return flags;
    return NULL;
}

static int unknown(const struct cursor *c, const char *name)
{
    const char *words[160];
    char spelled[120][40];
    size_t n = 0;
    size_t s = 0;
    const char *near;

    for (const struct flag *f = c->flags; f && f->name && n < 40; f++)
        words[n++] = f->name;
    for (const struct param *p = param_table(); p->name && s < 120; p++)
        if (p->families & c->family) {
            param_option(p, spelled[s], sizeof(spelled[s]));
            words[n++] = spelled[s++];
        }
    near = nearest_word(name, words, n);
    if (near)
        return fail_usage(c->fail, "option",
                          "there is no option --%s here; did you mean --%s?", name, near);
    return fail_usage(c->fail, "option", "there is no option --%s here; see --help",
                      name);
}

/* The value of an option: after '=', glued to the letter, or the next word. */
static const char *value_of(struct cursor *c, const char *attached, const char *option)
{
    if (attached)
        return attached;
    if (c->at + 1 < c->argc)
        return c->argv[++c->at];
    fail_usage(c->fail, "option", "%s needs a value", option);
    return NULL;
}

/* A flag needs no word behind it; one of the two that help names is its value. */
static bool next_is_switch(const struct cursor *c)
{
    const char *next = c->at + 1 < c->argc ? c->argv[c->at + 1] : "";

    return strcmp(next, "on") == 0 || strcmp(next, "off") == 0;
}

static int take_param(struct cursor *c, const struct param *p, const char *attached,
                      const char *option, bool negated)
{
    const char *text;
    int rc;

    if (p->type == PARAM_FLAG && !attached && !negated && next_is_switch(c))
        text = c->argv[++c->at];
    else if (p->type == PARAM_FLAG && !attached)
        text = negated ? "off" : "on";
    else
        text = value_of(c, attached, option);
    if (!text)
        return -EINVAL;
    /* What a person gives takes the place of a default's lines. */
    if (p->flags & PARAM_REPEAT && !arguments_typed(c->a, p->option) &&
        options_set_text(c->values, p->option, "") < 0)
        return -ENOMEM;
    rc = param_set(c->values, p, text, c->fail);
    return rc < 0 ? rc : options_set_number(&c->a->typed, p->option, 1);
}

static int take_flag(struct cursor *c, const struct flag *f, const char *attached,
                     const char *option)
{
    char **given = &c->a->given[f - c->flags];
    const char *text = "";
    char *lines;

    if (!f->value && attached)
        return fail_usage(c->fail, "option", "%s takes no value", option);
    if (f->value && !(text = value_of(c, attached, option)))
        return -EINVAL;
    if (asprintf(&lines, "%s%s%s", *given ? *given : "", *given ? "\n" : "", text) < 0)
        return -ENOMEM;
    free(*given);
    *given = lines;
    return 0;
}

static int take_long(struct cursor *c, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *attached = equals ? equals + 1 : NULL;
    const struct param *p;
    const struct flag *f;
    char name[64];
    char option[68];

    snprintf(name, sizeof(name), "%.*s",
             equals ? (int)(equals - word) : (int)strlen(word), word);
    snprintf(option, sizeof(option), "--%s", name);
    f = find_flag(c->flags, name, 0);
    if (f)
        return take_flag(c, f, attached, option);
    p = name[0] && name[1] ? param_find(c->family, name) : NULL;
    if (p)
        return take_param(c, p, attached, option, false);
    p = strncmp(name, "no-", 3) == 0 ? param_find(c->family, name + 3) : NULL;
    if (p && p->type == PARAM_FLAG && !attached)
        return take_param(c, p, NULL, option, true);
    return unknown(c, name);
}

static int take_short(struct cursor *c, const char *word)
{
    const char letter[2] = {word[0], '\0'};
    const struct flag *f =
        find_flag(c->flags, strcmp(word, "h") == 0 ? "help" : NULL, word[0]);
    const struct param *p = param_find(c->family, letter);
    const char *attached = word[1] ? word + 1 + (word[1] == '=') : NULL;
    char option[3] = {'-', word[0], '\0'};

    if (f)
        return take_flag(c, f, attached, option);
    if (p)
        return take_param(c, p, attached, option, false);
    return fail_usage(c->fail, "option", "there is no option -%c here; see --help",
                      word[0]);
}

static int take_operand(struct cursor *c, const char *word)
{
    if (c->a->operand_count == OPERANDS_MAX)
        return fail_usage(c->fail, "option", "too many words: '%s'", word);
    c->a->operands[c->a->operand_count++] = word;
    return 0;
}

int arguments_parse(struct arguments *a, int argc, char **argv, unsigned family,
                    const struct flag *flags, struct options *values, struct fail *fail)
{
    struct cursor c = {0, argc, argv, family, flags, values, a, fail};
    bool only_operands = false;
    int rc = 0;

    a->known = flags;
    for (size_t n = 0; flags && flags[n].name; n++)
        assert(n < FLAGS_MAX);

    for (; rc == 0 && c.at < argc; c.at++) {
        const char *word = argv[c.at];

        if (only_operands || word[0] != '-' || !word[1])
            rc = take_operand(&c, word);
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (word[1] == '-')
            rc = take_long(&c, word + 2);
        else
            rc = take_short(&c, word + 1);
    }
    return rc;
}

void arguments_done(struct arguments *a)
{
    for (size_t i = 0; i < FLAGS_MAX; i++)
        free(a->given[i]);
    options_done(&a->typed);
}

const char *arguments_flag(const struct arguments *a, const char *name)
{
    const struct flag *f = find_flag(a->known, name, 0);

    assert(f || !a->known);
    return f ? a->given[f - a->known] : NULL;
}

int arguments_no_more(const struct arguments *a, size_t used, struct fail *fail)
{
    if (a->operand_count <= used)
        return 0;
    return fail_usage(fail, "option", "what is '%s' for? There is one word too many",
                      a->operands[used]);
}

bool arguments_typed(const struct arguments *a, enum option option)
{
    return options_number(&a->typed, option, 0) != 0;
}
