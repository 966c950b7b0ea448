#include "engine/rounds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/drive.h"
#include "protocols/clock.h"
#include "protocols/random.h"

static void on_show(void *arg, const struct run *run)
{
    const struct rounds *r = arg;

    if (r->ops->show)
        r->ops->show(r->arg, r, run);
}

static void on_line(void *arg, struct run *run, const char *text)
{
    const struct rounds *r = arg;

    (void)run;
    if (r->ops->line)
        r->ops->line(r->arg, r, text);
}

static void on_warning(void *arg, const char *sentence)
{
    const struct rounds *r = arg;

    if (r->ops->warning)
        r->ops->warning(r->arg, sentence);
}

/* A run that cannot be saved is carried out all the same; it is said once. */
static void begin_recording(struct rounds *r, struct drive *d, struct run *run)
{
    struct fail fail = {0};
    char sentence[sizeof(fail.sentence) + 40];

    if (!r->save || drive_record(d, run, &fail) == 0)
        return;
    r->save = false;
    snprintf(sentence, sizeof(sentence), "these runs will not be saved: %s",
             fail.sentence);
    on_warning(r, sentence);
}

/* Hundreds of runs would hold a gigabyte of what nobody will look at. */
static void make_lean(struct run *r)
{
    series_free(r->series);
    r->series = NULL;
    for (int p = 0; p < PLACE_COUNT; p++) {
        meter_free(r->pooled[p]);
        r->pooled[p] = NULL;
    }
}

/* What a run came to means to the rounds: whether they go on. */
static bool take_run(struct rounds *r, struct contestant *c, struct run *run)
{
    if (r->foreground.interrupted) {
        run_free(run);
        r->end = ROUNDS_INTERRUPTED;
        return false;
    }
    if (r->lean)
        make_lean(run);
    c->runs[c->count++] = run;
    if (run->outcome != OUTCOME_FAILED || r->keep_going)
        return true;
    r->end = ROUNDS_FAILED;
    snprintf(r->reason, sizeof(r->reason), "round %u, %s: %.240s", r->round + 1, c->name,
             run->reason);
    return false;
}

/*
 * 1: go on, 0: the rounds are over, or a negative errno with a sentence. A signal that
 * came between two runs is heard, and stops the next, as soon as that is waited for.
 */
static int take_turn(struct rounds *r, struct contestant *c, struct fail *fail)
{
    static const struct drive_ops ops = {.line = on_line, .warning = on_warning};
    struct drive drive = {.ops = &ops, .arg = r};
    struct run *run;

    r->contestant = c;
    run = drive_make(&drive, r->foreground.base, c->scenario, &c->values, fail);
    if (!run)
        return -fail->err;
    if (run_is_endless(run)) {
        run_free(run);
        return fail_usage(fail, "rounds",
                          "a round has an end: give an --amount or a --duration");
    }
    begin_recording(r, &drive, run);
    run_start(run);
    foreground_wait(&r->foreground, run);
    drive_end(&drive);
    return take_run(r, c, run);
}

#define CONTESTANTS_MAX 64

static void put_in_order(const struct rounds *r, unsigned round, uint64_t *state,
                         size_t order[CONTESTANTS_MAX])
{
    for (size_t i = 0; i < r->count; i++)
        order[i] = r->order == ROUNDS_ALTERNATE && round % 2 ? r->count - 1 - i : i;
    if (r->order == ROUNDS_ALTERNATE)
        return;
    for (size_t i = r->count - 1; i > 0; i--) {
        size_t k = (size_t)(random_next(state) % (i + 1));
        size_t kept = order[i];

        order[i] = order[k];
        order[k] = kept;
    }
}

/*
 * Signals are caught for all rounds and for the report after them: one that came between
 * two runs, or a second one, must not make an ending of its own.
 */
static int begin_rounds(struct rounds *r, struct fail *fail)
{
    r->end = ROUNDS_COMPLETED;
    r->foreground.show = on_show;
    r->foreground.arg = r;
    if (r->count == 0 || r->count > CONTESTANTS_MAX || r->rounds > ROUNDS_MAX ||
        foreground_init(&r->foreground) < 0)
        return fail_set(fail, ENOMEM, "rounds", "starting the rounds");
    return 0;
}

int rounds_carry_out(struct rounds *r, struct fail *fail)
{
    uint64_t begin_ns = now_ns(), state = r->seed;
    size_t order[CONTESTANTS_MAX];

    if (begin_rounds(r, fail) < 0)
        return -fail->err;
    for (r->round = 0; r->round < r->rounds; r->round++) {
        put_in_order(r, r->round, &state, order);
        for (size_t i = 0; i < r->count; i++) {
            int rc;

            if (r->limit_ns && now_ns() - begin_ns > r->limit_ns) {
                r->end = ROUNDS_TIME_UP;
                return 0;
            }
            rc = take_turn(r, &r->contestants[order[i]], fail);
            if (rc <= 0)
                return rc;
        }
    }
    return 0;
}

void rounds_done(struct rounds *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct contestant *c = &r->contestants[i];

        for (size_t k = 0; k < c->count; k++)
            run_free(c->runs[k]);
        c->count = 0;
        options_done(&c->values);
    }
    foreground_done(&r->foreground);
}
