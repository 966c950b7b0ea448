#include "engine/report/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/array.h"
#include "protocols/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Write one character, or the replacement where it is none; how many bytes it was. */
static size_t put_character(FILE *f, const char *text)
{
    size_t n = utf8_length((const unsigned char *)text);
    unsigned char c = (unsigned char)*text;
    /* U+FFFE and U+FFFF are no characters of XML. */
    int foreign =
        n == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (unsigned char)text[2] >= 0xbe;

    if (n == 0 || foreign || (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
        fputs(REPLACEMENT, f);
    else
        fwrite(text, 1, n, f);
    return n ? n : 1;
}

void quote_xml(FILE *f, const char *text)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {
        {'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},  {'"', "&quot;"},
        {'\'', "&#39;"}, {'\n', "&#10;"}, {'\t', "&#9;"},
    };
    size_t count = NUMBER_OF(entities);

    while (*text) {
        size_t i = 0;

        while (i < count && entities[i].character != *text)
            i++;
        if (i < count) {
            fputs(entities[i].entity, f);
            text++;
        } else {
            text += put_character(f, text);
        }
    }
}

void quote_csv(FILE *f, const char *text)
{
    int quoted = strpbrk(text, ",\"\r\n") != NULL;

    if (quoted)
        fputc('"', f);
    while (*text) {
        if (*text == '"')
            fputc('"', f);
        text += put_character(f, text);
    }
    if (quoted)
        fputc('"', f);
}

void quote_markdown(FILE *f, const char *text)
{
    while (*text) {
        if (*text == '\n' || *text == '\t') {
            fputc(' ', f);
            text++;
            continue;
        }
        if (strchr("\\`*_|[]<>", *text))
            fputc('\\', f);
        text += put_character(f, text);
    }
}

void quote_label(FILE *f, const char *text)
{
    while (*text) {
        if (*text == '\n') {
            fputs("\\n", f);
            text++;
            continue;
        }
        if (*text == '"' || *text == '\\')
            fputc('\\', f);
        text += put_character(f, text);
    }
}

void quote_number_text(double value, char *text, size_t size)
{
    if (!isfinite(value)) {
        snprintf(text, size, "%s", "");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

void quote_number(FILE *f, double value)
{
    char text[40];

    quote_number_text(value, text, sizeof(text));
    fputs(text, f);
}
