#include "protocols/tally.h"

#include <stdio.h>
#include <string.h>

static struct tally_row *find(const struct tally *t, const char *name)
{
    for (size_t i = 0; i < t->used; i++)
        if (strcmp(t->rows[i].name, name) == 0)
            return (struct tally_row *)&t->rows[i];
    return NULL;
}

struct tally_row *tally_add(struct tally *t, const char *name, uint64_t n)
{
    struct tally_row *row = find(t, name);

    if (!row) {
        /* The last place is kept for TALLY_OTHER. */
        if (strlen(name) >= TALLY_NAME_MAX || t->used >= TALLY_MAX - 1)
            name = TALLY_OTHER;
        row = find(t, name);
    }
    if (!row) {
        row = &t->rows[t->used++];
        snprintf(row->name, sizeof(row->name), "%s", name);
        row->count = 0;
    }
    row->count += n;
    return row;
}

uint64_t tally_get(const struct tally *t, const char *name)
{
    const struct tally_row *row = find(t, name);

    return row ? row->count : 0;
}

uint64_t tally_sum(const struct tally *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->used; i++)
        sum += t->rows[i].count;
    return sum;
}

void tally_merge(struct tally *into, const struct tally *from)
{
    for (size_t i = 0; i < from->used; i++)
        if (from->rows[i].count)
            tally_add(into, from->rows[i].name, from->rows[i].count);
}

void tally_zero(struct tally *t)
{
    for (size_t i = 0; i < t->used; i++)
        t->rows[i].count = 0;
}

void tally_errno(struct tally *t, const char *phase, int err)
{
    char name[TALLY_NAME_MAX];
    const char *word = strerrorname_np(err);

    if (word)
        snprintf(name, sizeof(name), "%s %s", phase, word);
    else
        snprintf(name, sizeof(name), "%s errno %d", phase, err);
    tally_add(t, name, 1);
}
