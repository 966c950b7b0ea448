/*
 * The series as CSV: a row for each step of the run's time, with every counter and gauge
 * of each place that had a process. Counters are what was counted within the step; the
 * fields of a step that no sample fell into are empty. `mark` names what happened in the
 * step: a live change, a pause, a user's mark.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "engine/report/export.h"
#include "engine/report/quote.h"
#include "protocols/array.h"

static bool has_place(const struct series *s, enum place place)
{
    for (size_t i = 0; i < s->used; i++)
        if (s->slots[i].places[place].samples)
            return true;
    return false;
}

static void put_titles(FILE *f, const char *place)
{
    fprintf(f, ",%s_span_s", place);
#define X(name, unit, help) fprintf(f, ",%s_" #name, place);
    METER_COUNTERS(X)
    METER_GAUGES(X)
    PROCESS_COUNTERS(X)
    PROCESS_GAUGES(X)
#undef X
}

static void put_u64(FILE *f, uint64_t value, bool known)
{
    if (known)
        fprintf(f, ",%" PRIu64, value);
    else
        fputc(',', f);
}

static void put_place(FILE *f, const struct series_place *p)
{
    bool known = p->samples != 0;

    fputc(',', f);
    if (known)
        quote_number(f, (double)p->span_ns / 1e9);
#define X(name, unit, help) put_u64(f, p->counters.name, known);
    METER_COUNTERS(X)
#undef X
#define X(name, unit, help) put_u64(f, p->gauges.name, known);
    METER_GAUGES(X)
#undef X
#define X(name, unit, help) put_u64(f, p->use.name, known);
    PROCESS_COUNTERS(X)
    PROCESS_GAUGES(X)
#undef X
}

static void put_latency(FILE *f, const struct series_slot *slot)
{
    static const double quantiles[] = {0.5, 0.9, 0.99, 0.999, 1};

    fprintf(f, ",%" PRIu32, slot->latency_count);
    for (size_t i = 0; i < NUMBER_OF(quantiles); i++) {
        fputc(',', f);
        quote_number(f, series_latency_ns(slot, quantiles[i]));
    }
}

/* The marks of a step in one field, separated by ';'. */
static void put_marks(FILE *f, const struct series *s, size_t slot)
{
    uint64_t begin = slot * s->step_ns;
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);

    fputc(',', f);
    if (!line)
        return;
    for (size_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].at_ns >= begin && s->marks[i].at_ns - begin < s->step_ns)
            fprintf(line, "%s%s", ftell(line) > 0 ? "; " : "", s->marks[i].text);
    if (fclose(line) == 0)
        quote_csv(f, text);
    free(text);
}

int export_write_series(FILE *f, const struct run *r)
{
    const struct series *s = r->series;

    fputs("t_s,step_s", f);
    for (int p = 0; p < PLACE_COUNT; p++)
        if (has_place(s, (enum place)p))
            put_titles(f, place_name((enum place)p));
    fputs(",latency_count,latency_p50_ns,latency_p90_ns,latency_p99_ns,latency_p99_9_ns,"
          "latency_max_ns,mark\n",
          f);
    for (size_t i = 0; i < s->used; i++) {
        quote_number(f, (double)(i * s->step_ns) / 1e9);
        fputc(',', f);
        quote_number(f, (double)s->step_ns / 1e9);
        for (int p = 0; p < PLACE_COUNT; p++)
            if (has_place(s, (enum place)p))
                put_place(f, &s->slots[i].places[p]);
        put_latency(f, &s->slots[i]);
        put_marks(f, s, i);
        fputc('\n', f);
    }
    return 0;
}
