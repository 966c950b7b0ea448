#include "engine/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *suffix;
    uint64_t factor;
};

/* Largest first, for the way out, which ends at factor 1; synonyms follow. */
static const struct unit count_units[] = {
    {"g", 1000000000}, {"m", 1000000}, {"k", 1000}, {"", 1}, {NULL, 0},
};

static const struct unit size_units[] = {
    {"PiB", 1ull << 50},
    {"PB", 1000000000000000},
    {"TiB", 1ull << 40},
    {"TB", 1000000000000},
    {"GiB", 1ull << 30},
    {"GB", 1000000000},
    {"MiB", 1ull << 20},
    {"MB", 1000000},
    {"KiB", 1ull << 10},
    {"kB", 1000},
    {"", 1},
    {"B", 1},
    {"Pi", 1ull << 50},
    {"P", 1000000000000000},
    {"Ti", 1ull << 40},
    {"T", 1000000000000},
    {"Gi", 1ull << 30},
    {"G", 1000000000},
    {"Mi", 1ull << 20},
    {"M", 1000000},
    {"Ki", 1ull << 10},
    {"k", 1000},
    {NULL, 0},
};

static const struct unit duration_units[] = {
    {"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000}, {"ms", 1000000},
    {"us", 1000},         {"ns", 1},          {"", 1000000000},  {"min", 60000000000},
    {"sec", 1000000000},  {NULL, 0},
};

static const struct unit *units_of(enum unit_kind kind)
{
    switch (kind) {
    case UNIT_SIZE:
        return size_units;
    case UNIT_DURATION:
        return duration_units;
    case UNIT_COUNT:
        break;
    }
    return count_units;
}

static const struct unit *find(const struct unit *u, const char *suffix)
{
    for (; u->suffix; u++)
        if (strcasecmp(u->suffix, suffix) == 0)
            return u;
    return NULL;
}

int units_parse(enum unit_kind kind, const char *text, uint64_t *value)
{
    const struct unit *u;
    __extension__ unsigned __int128 number = 0;
    uint64_t scale = 1; /* 10^digits after the point */
    int digits = 0;
    int in_fraction = 0;

    while (isspace((unsigned char)*text))
        text++;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !in_fraction); text++) {
        if (*text == '.') {
            in_fraction = 1;
            continue;
        }
        if (++digits > 24 || (in_fraction && scale >= 1000000000000))
            return -ERANGE;
        number = number * 10 + (unsigned)(*text - '0');
        if (in_fraction)
            scale *= 10;
    }
    if (!digits)
        return -EINVAL;
    while (isspace((unsigned char)*text))
        text++;
    u = find(units_of(kind), text);
    if (!u)
        return -EINVAL;
    number *= u->factor; /* below 10^24 * 3.6 * 10^12: fits 128 bits */
    if (number % scale || number / scale > UINT64_MAX)
        return -ERANGE;
    *value = (uint64_t)(number / scale);
    return 0;
}

void units_format_exact(enum unit_kind kind, uint64_t value, char *text, size_t size)
{
    const struct unit *u = units_of(kind);

    /* Counts in full: a port of "4k" helps nobody. */
    if (value == 0 || kind == UNIT_COUNT) {
        snprintf(text, size, "%llu", (unsigned long long)value);
        return;
    }
    while (value % u->factor)
        u++;
    snprintf(text, size, "%llu%s", (unsigned long long)(value / u->factor), u->suffix);
}

void units_format_fixed(double value, int decimals, char *text, size_t size)
{
    double least = pow(10, -decimals);
    char *comma;

    if (value != 0 && fabs(value) < least / 2)
        snprintf(text, size, "%s%.*f", value < 0 ? "> -" : "< ", decimals, least);
    else
        snprintf(text, size, "%.*f", decimals, value);
    comma = strchr(text, ','); /* the locale's decimal point */
    if (comma)
        *comma = '.';
}

static int decimals_of(double magnitude)
{
    return magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
}

static void scaled(double value, const char *const *suffixes, const char *space,
                   char *text, size_t size)
{
    char number[64];

    if (isnan(value)) {
        snprintf(text, size, "-");
        return;
    }
    while (fabs(value) >= 999.5 && suffixes[1]) {
        value /= 1000;
        suffixes++;
    }
    units_format_fixed(value, decimals_of(fabs(value)), number, sizeof(number));
    snprintf(text, size, "%s%s%s", number, **suffixes ? space : "", *suffixes);
}

void units_format_bytes(double bytes, char *text, size_t size)
{
    static const char *const suffixes[] = {"B", "kB", "MB", "GB", "TB", NULL};

    if (bytes >= 0 && bytes < 1000 && bytes == floor(bytes))
        snprintf(text, size, "%.0f B", bytes);
    else
        scaled(bytes, suffixes, " ", text, size);
}

void units_format_binary(double bytes, char *text, size_t size)
{
    static const char *const suffixes[] = {"B", "KiB", "MiB"};
    unsigned i = 0;

    if (!isfinite(bytes)) {
        snprintf(text, size, "-");
        return;
    }
    for (; i < 2 && bytes >= 1023.5; i++)
        bytes /= 1024;
    /* Three digits, and four from 1000 on, which %g would write as 1e+03. */
    snprintf(text, size, bytes >= 999.5 ? "%.0f %s" : "%.3g %s", bytes, suffixes[i]);
}

void units_format_count(double count, char *text, size_t size)
{
    static const char *const suffixes[] = {"", "k", "M", "G", "T", NULL};

    if (fabs(count) < 10000 && count == floor(count))
        snprintf(text, size, "%.0f", count);
    else
        scaled(count, suffixes, "", text, size);
}

void units_format_rate(double per_s, char *text, size_t size)
{
    units_format_count(fabs(per_s) >= 10 ? round(per_s) : per_s, text, size);
}

void units_format_duration(double ns, char *text, size_t size)
{
    static const char *const suffixes[] = {"ns", "us", "ms", "s", NULL};

    if (ns >= 0 && ns < 1000 && ns == floor(ns))
        snprintf(text, size, "%.0f ns", ns);
    else
        scaled(ns, suffixes, " ", text, size);
}
