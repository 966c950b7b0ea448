#include "protocols/options.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {NULL,
#define X(name) #name,
                                    OPTION_LIST(X)
#undef X
};

const char *option_name(enum option option)
{
    assert(option > OPTION_NONE && option < OPTION_COUNT);
    return names[option];
}

enum option option_find(const char *name)
{
    for (int i = OPTION_NONE + 1; i < OPTION_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return (enum option)i;
    return OPTION_NONE;
}

static struct option_value *find(const struct options *o, enum option option)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->values[i].option == option)
            return &o->values[i];
    return NULL;
}

/* The row of a name, made if need be; NULL when out of memory. */
static struct option_value *place(struct options *o, enum option option)
{
    struct option_value *v = find(o, option);
    struct option_value *grown;

    if (v)
        return v;
    grown = realloc(o->values, (o->count + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    o->values = grown;
    v = &grown[o->count];
    memset(v, 0, sizeof(*v));
    v->option = option;
    o->count++;
    return v;
}

void options_done(struct options *o)
{
    for (size_t i = 0; i < o->count; i++)
        free(o->values[i].text);
    free(o->values);
    memset(o, 0, sizeof(*o));
}

int options_set_number(struct options *o, enum option option, uint64_t number)
{
    struct option_value *v = place(o, option);

    if (!v)
        return -ENOMEM;
    free(v->text);
    v->text = NULL;
    v->number = number;
    return 0;
}

int options_set_text(struct options *o, enum option option, const char *text)
{
    /* Copied first: the text may be the one that is replaced. */
    char *copy = strdup(text);
    struct option_value *v = copy ? place(o, option) : NULL;

    if (!v) {
        free(copy);
        return -ENOMEM;
    }
    free(v->text);
    v->text = copy;
    v->number = 0;
    return 0;
}

int options_copy(struct options *to, const struct options *from)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < from->count; i++) {
        const struct option_value *v = &from->values[i];

        rc = v->text ? options_set_text(to, v->option, v->text)
                     : options_set_number(to, v->option, v->number);
    }
    return rc;
}

uint64_t options_number(const struct options *o, enum option option, uint64_t fallback)
{
    const struct option_value *v = find(o, option);

    return v && !v->text ? v->number : fallback;
}

const char *options_text(const struct options *o, enum option option,
                         const char *fallback)
{
    const struct option_value *v = find(o, option);

    return v && v->text ? v->text : fallback;
}

bool options_is(const struct options *o, enum option option, const char *text)
{
    const char *value = options_text(o, option, NULL);

    return value && strcmp(value, text) == 0;
}
