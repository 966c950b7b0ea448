#include "protocols/schedule.h"

bool schedule_is_poisson(const struct options *o)
{
    return options_is(o, OPTION_arrivals, "poisson");
}

int schedule_use(struct meter *m)
{
    int err = meter_use(m, METER_HIST_pacing);

    return err ? err : meter_use(m, METER_HIST_generator);
}

void schedule_end(struct pacer *p, uint64_t end_ns, uint64_t max, struct meter *m)
{
    uint64_t due_ns;

    if (pacer_gap_ns(p) == 0 || end_ns == 0)
        return;
    for (; max && pacer_take(p, end_ns - 1, &due_ns, 1); max--) {
        m->counters.never_begun++;
        meter_record(m, METER_HIST_unfinished, end_ns - due_ns);
    }
}

void schedule_start(struct pacer *p, uint64_t start_ns, uint64_t messages,
                    uint64_t per_ns, const struct options *o)
{
    if (schedule_is_poisson(o)) {
        pacer_start(p, start_ns, messages, per_ns);
        pacer_poisson(p, options_number(o, OPTION_arrivals_seed, 0));
    } else {
        uint64_t phase_ns =
            pacer_phase_ns(messages, per_ns, options_number(o, OPTION_sender, 0),
                           options_number(o, OPTION_senders, 1));

        pacer_start(p, start_ns + phase_ns, messages, per_ns);
    }
}
