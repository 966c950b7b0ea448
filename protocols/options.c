#include "protocols/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct option_value *find(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->values[i].name, name) == 0)
            return &o->values[i];
    return NULL;
}

/* The row of a name, made if need be; NULL when out of memory. */
static struct option_value *place(struct options *o, const char *name)
{
    struct option_value *v = find(o, name);
    struct option_value *grown;

    if (v)
        return v;
    grown = realloc(o->values, (o->count + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    o->values = grown;
    v = &grown[o->count];
    memset(v, 0, sizeof(*v));
    v->name = strdup(name);
    if (!v->name)
        return NULL;
    o->count++;
    return v;
}

void options_done(struct options *o)
{
    for (size_t i = 0; i < o->count; i++) {
        free(o->values[i].name);
        free(o->values[i].text);
    }
    free(o->values);
    memset(o, 0, sizeof(*o));
}

int options_set_number(struct options *o, const char *name, uint64_t number)
{
    struct option_value *v = place(o, name);

    if (!v)
        return -ENOMEM;
    free(v->text);
    v->text = NULL;
    v->number = number;
    return 0;
}

int options_set_text(struct options *o, const char *name, const char *text)
{
    /* Copied first: the text may be the one that is replaced. */
    char *copy = strdup(text);
    struct option_value *v = copy ? place(o, name) : NULL;

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

        rc = v->text ? options_set_text(to, v->name, v->text)
                     : options_set_number(to, v->name, v->number);
    }
    return rc;
}

uint64_t options_number(const struct options *o, const char *name, uint64_t fallback)
{
    const struct option_value *v = find(o, name);

    return v && !v->text ? v->number : fallback;
}

const char *options_text(const struct options *o, const char *name, const char *fallback)
{
    const struct option_value *v = find(o, name);

    return v && v->text ? v->text : fallback;
}

bool options_is(const struct options *o, const char *name, const char *text)
{
    const char *value = options_text(o, name, NULL);

    return value && strcmp(value, text) == 0;
}
