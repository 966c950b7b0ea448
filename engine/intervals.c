#include "engine/intervals.h"

#include <stdlib.h>

#define FIRST_STEP_NS 1000000000u

struct intervals *intervals_new(void)
{
    struct intervals *x = calloc(1, sizeof(*x));

    if (!x)
        return NULL;
    x->step_ns = FIRST_STEP_NS;
    x->open = hist_new();
    if (x->open)
        return x;
    free(x);
    return NULL;
}

void intervals_free(struct intervals *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < INTERVALS_MAX; i++)
        free(x->texts[i]);
    hist_free(x->open);
    free(x);
}

/* Encode the open interval into its text, over what is there. */
static void close_open(struct intervals *x)
{
    size_t size = hist_encode(x->open, NULL, 0) + 1;
    char *text = x->open->count ? malloc(size) : NULL;

    if (text) {
        hist_encode(x->open, text, size);
        free(x->texts[x->open_index]);
        x->texts[x->open_index] = text;
    }
    hist_reset(x->open);
}

/* Make interval i the open one, with what it holds already. */
static void open_interval(struct intervals *x, size_t i)
{
    if (i == x->open_index)
        return;
    close_open(x);
    x->open_index = i;
    if (x->texts[i])
        hist_decode(x->open, x->texts[i]);
}

/* Pairs become one; the open histogram, empty then, is where they are added. */
static void double_step(struct intervals *x)
{
    close_open(x);
    for (size_t i = 0; i < INTERVALS_MAX / 2; i++) {
        char *pair[2] = {x->texts[2 * i], x->texts[2 * i + 1]};

        x->texts[2 * i] = x->texts[2 * i + 1] = NULL;
        x->open_index = i;
        for (int k = 0; k < 2; k++) {
            if (pair[k])
                hist_decode(x->open, pair[k]);
            free(pair[k]);
        }
        close_open(x);
    }
    x->used = (x->used + 1) / 2;
    x->step_ns *= 2;
}

void intervals_add(struct intervals *x, uint64_t at_ns, const struct hist *h)
{
    size_t i;

    if (!h || !h->count)
        return;
    while (at_ns / x->step_ns >= INTERVALS_MAX)
        double_step(x);
    i = (size_t)(at_ns / x->step_ns);
    open_interval(x, i);
    hist_merge(x->open, h);
    if (i >= x->used)
        x->used = i + 1;
}

void intervals_read(const struct intervals *x, size_t i, struct hist *h)
{
    if (i == x->open_index && x->open->count)
        hist_merge(h, x->open);
    else if (i < INTERVALS_MAX && x->texts[i])
        hist_decode(h, x->texts[i]);
}
