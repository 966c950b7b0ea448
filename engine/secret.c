#include "engine/secret.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "protocols/array.h"

/* How much of a header's line may be shown: all, or up to and with the ':' or '='. */
static size_t shown_len(const char *line, size_t len)
{
    static const char *const names[] = {"Authorization", "Cookie", "Proxy-Authorization"};
    size_t name = strcspn(line, ":=");

    for (size_t i = 0; name < len && i < NUMBER_OF(names); i++)
        if (strlen(names[i]) == name && strncasecmp(names[i], line, name) == 0)
            return name + 1;
    return len;
}

int secrets_hide(const struct options *values, struct options *hidden)
{
    const char *lines = options_text(values, OPTION_headers, "");
    bool any = false;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    int rc;

    if (!f)
        return -ENOMEM;
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        size_t shown = shown_len(lines, len);

        fprintf(f, "%.*s%s", (int)shown, lines, shown < len ? " (hidden)" : "");
        any |= shown < len;
        lines += len;
        if (*lines == '\n')
            putc(*lines++, f);
    }
    rc = fclose(f) == EOF ? -ENOMEM : 0;
    if (rc == 0 && any)
        rc = options_set_text(hidden, OPTION_headers, text);
    free(text);
    return rc;
}
