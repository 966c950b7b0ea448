#include "protocols/role.h"

#include <string.h>

#include "protocols/array.h"

static const struct role *const roles[] = {
#define X(id) &role_##id,
    ROLE_LIST(X)
#undef X
};

const struct role *role_find(const char *name)
{
    for (size_t i = 0; i < NUMBER_OF(roles); i++)
        if (strcmp(roles[i]->name, name) == 0)
            return roles[i];
    return NULL;
}

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {"completed", "stopped", "exhausted", "failed"};

    return names[outcome];
}
