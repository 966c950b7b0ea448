#include "tui/figure.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/units.h"

/* Whether " us" follows a digit here and is no begin of a word. */
static bool is_micro(const char *start, const char *at)
{
    return at > start && isdigit((unsigned char)at[-1]) && strncmp(at, " us", 3) == 0 &&
           !isalnum((unsigned char)at[3]);
}

void figure_sentence(const char *text, char *out, size_t size)
{
    static const char micro[] = " \xc2\xb5";
    const char *at = text;
    size_t used = 0;

    while (*at != '\0' && used + sizeof(micro) < size) {
        if (is_micro(text, at)) {
            memcpy(out + used, micro, sizeof(micro) - 1);
            used += sizeof(micro) - 1;
            at += 2;
        } else {
            out[used++] = *at++;
        }
    }
    out[used] = '\0';
}

void figure_bound(enum metric metric, double value, bool is_bound, char *out, size_t size)
{
    char text[FIGURE_BYTES];

    metric_format_bound(metric, value, is_bound, text, sizeof(text));
    figure_sentence(text, out, size);
}

void figure_metric(enum metric metric, double value, char *out, size_t size)
{
    figure_bound(metric, value, false, out, size);
}

void figure_interval(enum metric metric, double low, double high, char *out, size_t size)
{
    char text[2 * FIGURE_BYTES];

    metric_format_interval(metric, low, high, text, sizeof(text));
    figure_sentence(text, out, size);
}

void figure_duration(double ns, char *out, size_t size)
{
    char text[FIGURE_BYTES];

    units_format_duration(ns, text, sizeof(text));
    figure_sentence(text, out, size);
}
