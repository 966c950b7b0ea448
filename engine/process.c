#include "engine/process.h"

#include <stdlib.h>
#include <string.h>

const char *process_fact(const struct process *p, const char *name)
{
    for (size_t i = 0; i < p->fact_count; i++)
        if (strcmp(p->facts[i].name, name) == 0)
            return p->facts[i].text;
    return NULL;
}

uint64_t process_number(const struct process *p, const char *name)
{
    const char *text = process_fact(p, name);

    return text ? strtoull(text, NULL, 10) : 0;
}
