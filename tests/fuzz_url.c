/* libFuzzer entry: any text as a URL; what is accepted can stand in a request. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);
    struct fail fail = {0};
    struct url u;

    memcpy(text, bytes, len);
    text[len] = '\0';
    if (url_parse(&u, text, &fail) == 0) {
        if (u.port < 1 || u.port > 65535 || !u.host[0] || u.target[0] != '/')
            abort();
        if (strpbrk(u.target, " \r\n") || strpbrk(u.authority, " \r\n"))
            abort();
        free(u.target);
    } else if (!fail.sentence[0]) {
        abort();
    }
    free(text);
    return 0;
}
