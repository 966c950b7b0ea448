#include "tui/last_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int last_runs_read(struct last_runs *l, struct fail *fail)
{
    int rc;

    last_runs_done(l);
    rc = store_list(&l->entries, &l->count, fail);
    if (rc < 0)
        *l = (struct last_runs){0};
    return rc;
}

void last_runs_done(struct last_runs *l)
{
    free(l->entries);
    *l = (struct last_runs){0};
}

size_t last_runs_values(const struct last_runs *l, const struct scenario *s,
                        double *values, size_t room)
{
    enum metric m = s->family->headlines[0];
    size_t n = 0;

    for (size_t i = 0; i < l->count && n < room; i++) {
        const struct store_entry *e = &l->entries[i];

        if (e->problem[0] == '\0' && e->state == STORE_ENDED &&
            strcmp(e->scenario, s->name) == 0 && isfinite(e->medians[m]))
            values[n++] = e->medians[m];
    }
    for (size_t i = 0; i < n / 2; i++) {
        double value = values[i];

        values[i] = values[n - 1 - i];
        values[n - 1 - i] = value;
    }
    return n;
}

void last_runs_age(time_t then, time_t now, char *out, size_t size)
{
    double seconds = difftime(now, then);
    struct tm local;

    if (seconds < 0 || seconds >= 2 * 86400)
        strftime(out, size, "%Y-%m-%d", localtime_r(&then, &local));
    else if (seconds < 90)
        snprintf(out, size, "%.0f s ago", seconds);
    else if (seconds < 5400)
        snprintf(out, size, "%.0f min ago", seconds / 60);
    else
        snprintf(out, size, "%.0f h ago", seconds / 3600);
}
