#include "tui/param_view.h"

#include <stdio.h>
#include <string.h>

void param_view_text(const struct options *values, const struct param *p, char *out,
                     size_t size)
{
    char text[4096];
    size_t used = 0;

    param_text(values, p, text, sizeof(text));
    for (const char *t = text; *t != '\0' && used + sizeof(PARAM_VIEW_BREAK) < size;
         t++) {
        if (*t != '\n')
            out[used++] = *t;
        else if (t[1] != '\0')
            used += (size_t)snprintf(out + used, size - used, PARAM_VIEW_BREAK);
    }
    out[used] = '\0';
}
