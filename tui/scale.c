#include "tui/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The smallest 1, 2 or 5 times a power of ten that is at least x (x > 0). */
static double scale_round_up(double x)
{
    double power = pow(10, floor(log10(x)));
    double digit = x / power;

    if (digit <= 1 + 1e-9)
        return power;
    if (digit <= 2 + 1e-9)
        return 2 * power;
    if (digit <= 5 + 1e-9)
        return 5 * power;
    return 10 * power;
}

static double scale_round_down(double x)
{
    double power = pow(10, floor(log10(x) + 1e-9));
    double digit = x / power;

    if (digit >= 5 - 1e-9)
        return 5 * power;
    if (digit >= 2 - 1e-9)
        return 2 * power;
    return power;
}

/* Ticks at multiples of `step` from the first one that is at least low. */
static void add_ticks(struct scale *s, double step)
{
    double first = ceil(s->low / step - 1e-9);

    for (size_t i = 0; i < SCALE_TICKS; i++) {
        double tick = (first + (double)i) * step;

        if (tick > s->high + step * 1e-6)
            break;
        s->tick[s->ticks++] = tick;
    }
}

static size_t clamp_ticks(size_t ticks)
{
    return ticks < 2 ? 2 : ticks > SCALE_TICKS ? SCALE_TICKS : ticks;
}

struct scale scale_linear(double high, size_t ticks)
{
    struct scale s = {.low = 0};
    double step;

    if (!(high > 0) || isinf(high))
        high = 1;
    step = scale_round_up(high / (double)(clamp_ticks(ticks) - 1));
    s.high = step * ceil(high / step - 1e-9);
    add_ticks(&s, step);
    return s;
}

struct scale scale_span(double low, double high, size_t ticks)
{
    struct scale s = {.low = low, .high = high > low ? high : low + 1};

    add_ticks(&s, scale_round_up((s.high - s.low) / (double)(clamp_ticks(ticks) - 1)));
    return s;
}

/* Every n-th power of ten, or 1, 2 and 5 of each where there is room for them. */
static void add_log_ticks(struct scale *s, size_t ticks)
{
    static const double digits[] = {1, 2, 5};
    double decades = log10(s->high / s->low), start = log10(s->low);
    double stride = ceil(decades / (double)(ticks - 1) - 1e-9);
    size_t per_decade = decades * 3 <= (double)ticks ? 3 : 1;

    stride = stride < 1 ? 1 : stride;
    start = per_decade > 1 ? floor(start + 1e-9) : ceil(start - 1e-9);
    for (double e = start; s->ticks < SCALE_TICKS; e += stride)
        for (size_t i = 0; i < per_decade && s->ticks < SCALE_TICKS; i++) {
            double tick = digits[i] * pow(10, e);

            if (tick > s->high * (1 + 1e-9))
                return;
            if (tick >= s->low * (1 - 1e-9))
                s->tick[s->ticks++] = tick;
        }
}

struct scale scale_log(double low, double high, size_t ticks)
{
    struct scale s = {.is_log = true};

    if (!(low > 0) || isinf(low))
        low = 1;
    if (!(high >= low) || isinf(high))
        high = low;
    s.low = scale_round_down(low);
    s.high = scale_round_up(high);
    if (s.high < s.low * 10)
        s.high = s.low * 10;
    add_log_ticks(&s, clamp_ticks(ticks));
    return s;
}

double scale_place(const struct scale *s, double value)
{
    if (!s->is_log)
        return (value - s->low) / (s->high - s->low);
    if (value <= 0)
        return -1;
    return log(value / s->low) / log(s->high / s->low);
}

struct scale_unit {
    double size;
    const char *name;
};

static const struct scale_unit counts[] = {
    {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
static const struct scale_unit bytes[] = {
    {1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {1, " B"},
};
static const struct scale_unit durations[] = {
    {1e9, " s"}, {1e6, " ms"}, {1e3, " \xc2\xb5s"}, {1, " ns"}, {1, " ns"},
};

/* Three significant digits without zeros at the end of a fraction. */
static int print_digits(double value, char *out, size_t size)
{
    double big = fabs(value);
    int decimals = big >= 99.95 ? 0 : big >= 9.995 ? 1 : 2;
    int n = snprintf(out, size, "%.*f", decimals, value);

    if (n < 0 || (size_t)n >= size || !strchr(out, '.'))
        return n;
    while (n > 0 && out[n - 1] == '0')
        n--;
    if (n > 0 && out[n - 1] == '.')
        n--;
    out[n] = '\0';
    return n;
}

static void with_unit(const struct scale_unit units[5], double value,
                      char out[SCALE_LABEL])
{
    size_t i = 0;
    int n;

    /* 999.6 rounds to 1000: it belongs to the next unit. */
    while (i < 4 && fabs(value) < units[i].size * 0.9995)
        i++;
    n = print_digits(value / units[i].size, out, SCALE_LABEL);
    if (n >= 0 && n < SCALE_LABEL)
        snprintf(out + n, SCALE_LABEL - (size_t)n, "%s", units[i].name);
}

static void clock_label(double value, char out[SCALE_LABEL])
{
    unsigned whole = fabs(value) < 3e6 ? (unsigned)lround(fabs(value)) : 3000000;
    const char *sign = value < -0.5 ? "-" : "";

    if (whole >= 3600)
        snprintf(out, SCALE_LABEL, "%s%u:%02u:%02u", sign, whole / 3600, whole / 60 % 60,
                 whole % 60);
    else if (whole >= 100)
        snprintf(out, SCALE_LABEL, "%s%u:%02u", sign, whole / 60, whole % 60);
    else
        snprintf(out, SCALE_LABEL, "%.4g s", round(value * 100) / 100);
}

void scale_label(enum quantity q, double value, char out[SCALE_LABEL])
{
    if (isnan(value) || fabs(value) >= 1e16) {
        snprintf(out, SCALE_LABEL, "-");
        return;
    }
    switch (q) {
    case QUANTITY_COUNT:
        with_unit(counts, value, out);
        break;
    case QUANTITY_BYTES:
        with_unit(bytes, value, out);
        break;
    case QUANTITY_DURATION:
        with_unit(durations, value, out);
        break;
    case QUANTITY_SECONDS:
        clock_label(value, out);
        break;
    case QUANTITY_PERCENT:
        print_digits(value, out, SCALE_LABEL - 2);
        strcat(out, " %");
        break;
    }
}
