#include "engine/cli/manual.h"

#include <string.h>

#include "engine/report/export.h"
#include "engine/threshold.h"
#include "protocols/role.h"

static void add_word(struct value *v, const char *word)
{
    size_t len = strlen(v->words);

    snprintf(v->words + len, sizeof(v->words) - len, "%s%s", len ? " " : "", word);
}

/* "both|up|down" as words. */
static void add_choices(struct value *v, const char *choices)
{
    snprintf(v->words, sizeof(v->words), "%s", choices);
    for (char *c = v->words; *c; c++)
        if (*c == '|')
            *c = ' ';
}

static void add_named_words(struct value *v, const char *name)
{
    size_t count = 0;

    if (strcmp(name, "SCENARIO") == 0) {
        const struct scenario *table = scenario_table(&count);

        for (size_t i = 0; i < count; i++)
            add_word(v, table[i].name);
    } else if (strcmp(name, "FORMAT") == 0) {
        for (const struct export_format *const *f = export_table(); *f; f++)
            add_word(v, (*f)->name);
    } else if (strcmp(name, "OUTCOME") == 0) {
        for (int o = OUTCOME_COMPLETED; o <= OUTCOME_FAILED; o++)
            add_word(v, outcome_name((enum outcome)o));
        add_word(v, "interrupted");
        add_word(v, "running");
    } else if (strchr(name, '|')) {
        add_choices(v, name);
    }
}

void value_of_flag(const struct flag *flag, struct value *value)
{
    memset(value, 0, sizeof(*value));
    value->name = flag->value;
    if (!flag->value)
        return;
    add_named_words(value, flag->value);
    value->kind = *value->words                         ? VALUE_WORDS
                  : strcmp(flag->value, "FILE") == 0    ? VALUE_FILE
                  : strncmp(flag->value, "RUN", 3) == 0 ? VALUE_RUN
                                                        : VALUE_TEXT;
}

/* A threshold begins with a metric's short name; what follows is for its user. */
static void add_metrics(struct value *v)
{
    const char *words[64];
    size_t n = threshold_words(words, 64);

    for (size_t i = 0; i + METRIC_COUNT < n; i++)
        add_word(v, words[i]);
}

void value_of_param(const struct param *p, struct value *value)
{
    memset(value, 0, sizeof(*value));
    value->name = *p->unit ? p->unit : "text";
    switch (p->type) {
    case PARAM_FLAG:
        value->kind = VALUE_NONE;
        break;
    case PARAM_CHOICE:
        value->kind = VALUE_WORDS;
        value->name = "choice";
        add_choices(value, p->choices);
        break;
    case PARAM_TEXT:
        value->kind = p->flags & PARAM_FILE ? VALUE_FILE : VALUE_TEXT;
        if (p->flags & PARAM_FILE)
            value->name = "file";
        if (strcmp(p->name, "threshold") == 0) {
            value->kind = VALUE_WORDS;
            value->name = "threshold";
            add_metrics(value);
        }
        break;
    case PARAM_COUNT:
    case PARAM_SIZE:
    case PARAM_DURATION:
        value->kind = VALUE_TEXT;
        break;
    }
}

void family_text(unsigned families, char *text, size_t size)
{
    bool all = (families & FAMILY_ALL) == FAMILY_ALL;
    size_t len = 0;

    snprintf(text, size, "%s", all ? "all scenarios" : "");
    for (const struct family *const *f = family_table(); !all && *f && len < size; f++)
        if (families & (*f)->bit)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
                                    (*f)->name);
}

static size_t add_set(unsigned *sets, size_t n, size_t room, unsigned set)
{
    for (size_t i = 0; i < n; i++)
        if (sets[i] == set)
            return n;
    if (set && n < room)
        sets[n++] = set;
    return n;
}

size_t family_sets(unsigned *sets, size_t room)
{
    struct command_word word;
    size_t n = 0;

    for (const struct command *const *c = command_table(); *c; c++) {
        n = add_set(sets, n, room, (*c)->family);
        for (size_t i = 0; (*c)->word && (*c)->word(i, &word); i++)
            n = add_set(sets, n, room, word.family);
    }
    return n;
}

bool family_has(unsigned set, const struct param *p)
{
    return p->families & set && param_find(set, p->name) == p;
}
