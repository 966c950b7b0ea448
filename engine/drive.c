#include "engine/drive.h"

static void pass_warning(const struct drive *d)
{
    const char *sentence = recorder_warning(d->recorder);

    if (sentence && d->ops->warning)
        d->ops->warning(d->arg, sentence);
}

static void on_changed(void *arg, struct run *run)
{
    const struct drive *d = arg;

    recorder_changed(d->recorder, run);
    pass_warning(d);
    if (d->ops->changed)
        d->ops->changed(d->arg, run);
}

static void on_sampled(void *arg, struct run *run, const struct process *process,
                       const struct sample *sample)
{
    const struct drive *d = arg;

    recorder_sampled(d->recorder, run, process, sample);
    pass_warning(d);
}

static void on_line(void *arg, struct run *run, const char *text)
{
    const struct drive *d = arg;

    if (d->ops->line)
        d->ops->line(d->arg, run, text);
}

static void on_set(void *arg, struct run *run, const struct param *param, uint64_t value,
                   int err)
{
    const struct drive *d = arg;

    if (d->ops->was_set)
        d->ops->was_set(d->arg, run, param, value, err);
}

struct run *drive_make(struct drive *d, struct event_base *base,
                       const struct scenario *scenario, const struct options *values,
                       struct fail *fail)
{
    static const struct run_ops ops = {on_changed, on_sampled, on_line, on_set};

    return run_new(base, scenario, values, &ops, d, fail);
}

int drive_record(struct drive *d, struct run *run, struct fail *fail)
{
    d->recorder = recorder_new(run, fail);
    return d->recorder ? 0 : -fail->err;
}

void drive_end(struct drive *d)
{
    recorder_free(d->recorder);
    d->recorder = NULL;
}
