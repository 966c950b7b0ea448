#include "engine/process.h"

#include <string.h>

const char *process_fact(const struct process *p, const char *name)
{
    for (size_t i = 0; i < p->fact_count; i++)
        if (strcmp(p->facts[i].name, name) == 0)
            return p->facts[i].text;
    return NULL;
}
