#include "tests/made.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/recorder.h"
#include "engine/recording.h"
#include "engine/report/export.h"
#include "engine/report/report.h"
#include "engine/store.h"
#include "tests/synthetic.h"

void made_begin(struct made *m, const char *scenario, unsigned trials)
{
    struct fail fail = {0};
    struct run *r = calloc(1, sizeof(*r));

    memset(m, 0, sizeof(*m));
    m->random = 7;
    assert_non_null(r);
    m->run = r;
    r->scenario = scenario_find(scenario);
    assert_int_equal(scenario_defaults(r->scenario, &r->values), 0);
    assert_int_equal(options_set_number(&r->values, OPTION_rate, 5000), 0);
    environment_capture(&r->environment, r->scenario, &r->values);
    r->started = time(NULL);
    r->trial_count = trials;
    r->trials = calloc(trials, sizeof(*r->trials));
    r->series = series_new();
    assert_int_equal(sample_init(&m->sample), 0);
    m->recorder = recorder_new(r, &fail);
    if (!m->recorder)
        fail_msg("%s", fail.sentence);
}

struct trial *made_trial(struct made *m)
{
    struct run *r = m->run;
    struct trial *t = calloc(1, sizeof(*t));

    assert_int_equal(trial_init(t, r->scenario, (unsigned)r->trials_begun + 1, 2), 0);
    r->trials[r->trials_begun++] = t;
    t->processes[0].place = PLACE_SERVER;
    t->processes[1].place = PLACE_CLIENT;
    r->state = RUN_SPAWNING;
    recorder_changed(m->recorder, r);
    for (int i = 0; i < 2; i++) {
        t->processes[i].ready = true;
        t->processes[i].pid = 4711 + i;
    }
    strcpy(t->processes[0].endpoint, "udp:127.0.0.1:8123");
    t->start_ns = 123456789012345ull + r->trials_begun * 1234567891ull;
    if (!r->first_ns)
        r->first_ns = t->start_ns;
    r->state = RUN_RUNNING;
    recorder_changed(m->recorder, r);
    return t;
}

uint64_t made_pick(struct made *m, uint64_t below)
{
    return (uint64_t)(synthetic_uniform(&m->random) * (double)below);
}

/* The sample goes to its trial, to the series and into the recording. */
static void take(struct made *m, int process, uint64_t at_ns)
{
    struct trial *t = run_trial(m->run);
    struct process *p = &t->processes[process];
    struct sample *s = &m->sample;

    s->at_ns = at_ns;
    s->span_ns = 100 * MS;
    assert_int_equal(trial_sample(t, p, s), 0);
    series_add(m->run->series, p->place, run_origin_ns(m->run, t), s,
               p->place == m->run->scenario->family->latency_place);
    recorder_sampled(m->recorder, m->run, p, s);
}

void made_sample(struct made *m, int process, uint64_t at_ns)
{
    struct sample *s = &m->sample;
    struct meter_counters *c = &s->meter->counters;

    meter_reset(s->meter);
    s->use = (struct process_use){.cpu_user_us = made_pick(m, 90000),
                                  .max_rss_bytes = 3 << 20};
    c->attempted = c->succeeded = c->sent_messages = made_pick(m, 1000);
    c->unique = c->received_messages = c->sent_messages;
    c->received_bytes = 60 * c->unique;
    s->meter->gauges.open_connections = made_pick(m, 9);
    tally_add(&s->meter->labels, "CACHED \"LOOP\"\n\xff", c->unique);
    for (uint64_t i = 0; i < c->unique; i += 7)
        meter_record(s->meter, METER_HIST_latency, made_pick(m, 5 * MS));
    take(m, process, at_ns);
}

void made_idle(struct made *m, int process, uint64_t at_ns)
{
    meter_reset(m->sample.meter);
    m->sample.use = (struct process_use){0};
    take(m, process, at_ns);
}

void made_samples(struct made *m, unsigned steps)
{
    for (unsigned i = 1; i <= steps; i++) {
        made_sample(m, 1, i * 100 * MS + 31);
        made_sample(m, 0, i * 100 * MS + made_pick(m, MS));
    }
}

void made_report(struct made *m, int process)
{
    struct process *p = &run_trial(m->run)->processes[process];

    assert_int_equal(meter_use(p->totals.meter, METER_HIST_jitter), 0);
    for (int i = 0; i < 50; i++)
        meter_record(p->totals.meter, METER_HIST_jitter, made_pick(m, MS));
    p->totals.meter->counters.late = 3;
    p->reported = true;
    strcpy(p->facts[0].name, "socket");
    strcpy(p->facts[0].text, "cached");
    p->fact_count = 1;
}

void made_end_trial(struct made *m, enum outcome outcome, const char *reason)
{
    struct trial *t = run_trial(m->run);

    m->run->state = RUN_DRAINING;
    recorder_changed(m->recorder, m->run);
    t->outcome = outcome;
    snprintf(t->reason, sizeof(t->reason), "%s", reason);
    run_account(m->run, t);
}

/* As end_trial of engine/run.c does: the change first, then the memory. */
void made_next(struct made *m)
{
    struct trial *before = run_trial(m->run);

    made_trial(m);
    trial_drop_hists(before);
}

void made_end(struct made *m)
{
    m->run->state = RUN_DONE;
    recorder_changed(m->recorder, m->run);
    if (run_trial(m->run))
        trial_drop_hists(run_trial(m->run));
    recorder_free(m->recorder);
    m->recorder = NULL;
}

void made_free(struct made *m)
{
    recorder_free(m->recorder);
    sample_done(&m->sample);
    run_free(m->run);
}

void made_plain(struct made *m, unsigned trials, unsigned steps, char *path)
{
    struct fail fail = {0};

    made_begin(m, "udp-cached-series", trials);
    for (unsigned i = 0; i < trials; i++) {
        if (i)
            made_next(m);
        else
            made_trial(m);
        made_samples(m, steps);
        made_report(m, 1);
        made_report(m, 0);
        made_end_trial(m, OUTCOME_COMPLETED, "");
    }
    made_end(m);
    if (store_find(m->run->id, path, PATH_MAX, &fail) < 0)
        fail_msg("%s", fail.sentence);
}

static char *text_of(int (*write)(FILE *f, const void *what), const struct run *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    int rc;

    assert_non_null(f);
    rc = write(f, r);
    assert_true(rc == 0 || rc == -ENODATA);
    assert_int_equal(fclose(f), 0);
    return text;
}

static int write_report(FILE *f, const void *what)
{
    return report_print(f, what);
}

static void assert_same_text(const char *name, int (*write)(FILE *f, const void *what),
                             const struct run *a, const struct run *b)
{
    char *x = text_of(write, a);
    char *y = text_of(write, b);
    size_t i = 0;
    size_t line = 0;

    while (x[i] && x[i] == y[i])
        line = x[i++] == '\n' ? i : line;
    if (x[i] != y[i])
        fail_msg("%s: '%.60s' became '%.60s'", name, x + line, y + line);
    free(x);
    free(y);
}

void made_assert_same(const struct run *a, const struct run *b)
{
    assert_same_text("report", write_report, a, b);
    for (const struct export_format *const *f = export_table(); *f; f++)
        if ((*f)->families & a->scenario->family->bit)
            assert_same_text((*f)->name, (*f)->write, a, b);
}

struct run *made_load(const char *path)
{
    struct fail fail = {0};
    struct run *r = recording_load(path, &fail);

    if (!r)
        fail_msg("%s", fail.sentence);
    return r;
}
