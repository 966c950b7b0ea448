#include "protocols/http/header.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* RFC 9110 section 5.6.2. */
bool header_is_tchar(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static size_t token_len(const char *text)
{
    size_t n = 0;

    while (header_is_tchar(text[n]))
        n++;
    return n;
}

bool header_is_token(const char *text)
{
    size_t n = token_len(text);

    return n > 0 && text[n] == '\0';
}

void headers_done(struct headers *h)
{
    for (size_t i = 0; i < h->count; i++) {
        free(h->list[i].name);
        free(h->list[i].value);
    }
    free(h->list);
    memset(h, 0, sizeof(*h));
}

const char *headers_get(const struct headers *h, const char *name)
{
    for (size_t i = 0; i < h->count; i++)
        if (strcasecmp(h->list[i].name, name) == 0)
            return h->list[i].value;
    return NULL;
}

static bool has_control(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (iscntrl((unsigned char)value[i]) && value[i] != '\t')
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int append(struct headers *h, const char *name, size_t name_len, const char *value,
                  size_t value_len)
{
    struct header *grown = realloc(h->list, (h->count + 1) * sizeof(*grown));
    struct header field;

    if (!grown)
        return -ENOMEM;
    h->list = grown;
    field.name = strndup(name, name_len);
    field.value = strndup(value, value_len);
    if (!field.name || !field.value) {
        free(field.name);
        free(field.value);
        return -ENOMEM;
    }
    h->list[h->count++] = field;
    return 0;
}

int headers_add(struct headers *h, const char *line, struct fail *fail)
{
    size_t name_len = token_len(line);
    const char *value = line + name_len;
    size_t len;

    if (has_control(line, strlen(line)))
        return fail_usage(fail, "header",
                          "the header '%.120s' has a line end or another control "
                          "character in it",
                          line);
    if (name_len == 0 || (*value != ':' && *value != '='))
        return fail_usage(fail, "header",
                          "the header '%.120s' is not of the form 'Name: value'", line);
    value++;
    while (is_blank(*value))
        value++;
    len = strlen(value);
    while (len && is_blank(value[len - 1]))
        len--;
    if (name_len == 4 && strncasecmp(line, "Host", 4) == 0 && headers_get(h, "Host"))
        return fail_usage(fail, "header",
                          "there are two Host headers; a request has exactly one");
    if (append(h, line, name_len, value, len) < 0)
        return fail_set(fail, ENOMEM, "header", "no memory for a header");
    return 0;
}

int headers_add_lines(struct headers *h, const char *lines, struct fail *fail)
{
    int err = 0;

    while (*lines && !err) {
        size_t len = strcspn(lines, "\n");
        char *line = strndup(lines, len);

        if (!line)
            return fail_set(fail, ENOMEM, "header", "no memory for a header");
        err = len ? headers_add(h, line, fail) : 0;
        free(line);
        lines += len + (lines[len] == '\n');
    }
    return err;
}
