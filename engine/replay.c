#include "engine/replay.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "engine/recording.h"
#include "protocols/clock.h"

#define TICK_NS (20 * NS_PER_MS)  /* the clock goes on also where there are no lines */
#define SLICE_NS (10 * NS_PER_MS) /* work at one go: keys and drawing come between */

struct replay {
    const struct run_ops *ops; /* borrowed */
    void *arg;                 /* borrowed */
    struct event *timer;
    struct recording *recording;
    uint64_t length_ns;
    double speed;
    bool playing;
    uint64_t from_ns;  /* position when .. */
    uint64_t since_ns; /* .. the clock said this */
};

static uint64_t target_ns(const struct replay *p)
{
    double passed = (double)(now_ns() - p->since_ns) * p->speed;
    double left = (double)(p->length_ns > p->from_ns ? p->length_ns - p->from_ns : 0);

    /* One more than the end, so that what stands at the very end is played too. */
    return p->from_ns + (uint64_t)(passed < left ? passed : left + 1);
}

/* The clock begins anew at the present position. */
static void mark_time(struct replay *p)
{
    p->from_ns = replay_at_ns(p);
    p->since_ns = now_ns();
}

static void report_change(const struct replay *p)
{
    if (p->ops->changed)
        p->ops->changed(p->arg, recording_run(p->recording));
}

static void report_event(const struct replay *p, const struct recording_event *e)
{
    if (e->kind == RECORDING_CHANGED)
        report_change(p);
    else if (e->kind == RECORDING_SAMPLED && p->ops->sampled)
        p->ops->sampled(p->arg, recording_run(p->recording), e->process, e->sample);
}

/* Everything up to the position, as far as one slice of time allows. */
static void play_until(struct replay *p, uint64_t until_ns)
{
    struct run *r = recording_run(p->recording);
    uint64_t began = now_ns();
    struct recording_event e;
    uint64_t at;

    while (r->state != RUN_DONE && now_ns() - began < SLICE_NS) {
        if (recording_peek(p->recording, &at) && at > until_ns) {
            if (until_ns > r->replayed_ns)
                r->replayed_ns = until_ns;
            return;
        }
        if (!recording_step(p->recording, &e))
            e.kind = RECORDING_CHANGED; /* it is over */
        report_event(p, &e);
    }
}

static void arm(struct replay *p)
{
    struct timeval tv = timeval_from_ns(TICK_NS);

    event_add(p->timer, &tv);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct replay *p = arg;
    const struct run *r = recording_run(p->recording);
    uint64_t until = target_ns(p);

    (void)fd;
    (void)what;
    play_until(p, until);
    if (r->state == RUN_DONE)
        p->playing = false;
    else if (p->playing)
        arm(p);
}

static int read_length(struct replay *p, const char *path, struct fail *fail)
{
    struct run *r = recording_load(path, fail);

    if (!r)
        return -EINVAL;
    p->length_ns = r->replayed_ns;
    run_free(r);
    return 0;
}

struct replay *replay_new(struct event_base *base, const char *path,
                          const struct run_ops *ops, void *arg, struct fail *fail)
{
    struct replay *p = calloc(1, sizeof(*p));

    if (p)
        p->timer = evtimer_new(base, on_timer, p);
    if (!p || !p->timer) {
        free(p);
        fail_set(fail, ENOMEM, "replay", "playing %s", path);
        return NULL;
    }
    p->ops = ops;
    p->arg = arg;
    p->speed = 1;
    if (read_length(p, path, fail) == 0)
        p->recording = recording_open(path, fail);
    if (p->recording)
        return p;
    replay_free(p);
    return NULL;
}

void replay_free(struct replay *p)
{
    if (!p)
        return;
    event_free(p->timer);
    recording_free(p->recording);
    free(p);
}

struct run *replay_run(const struct replay *p)
{
    return recording_run(p->recording);
}

uint64_t replay_length_ns(const struct replay *p)
{
    return p->length_ns;
}

uint64_t replay_at_ns(const struct replay *p)
{
    return recording_run(p->recording)->replayed_ns;
}

void replay_play(struct replay *p)
{
    if (p->playing || recording_run(p->recording)->state == RUN_DONE)
        return;
    mark_time(p);
    p->playing = true;
    arm(p);
}

void replay_hold(struct replay *p)
{
    p->playing = false;
    event_del(p->timer);
}

bool replay_is_playing(const struct replay *p)
{
    return p->playing;
}

void replay_set_speed(struct replay *p, double speed)
{
    mark_time(p);
    if (!(speed >= REPLAY_SPEED_MIN))
        speed = REPLAY_SPEED_MIN;
    p->speed = speed < REPLAY_SPEED_MAX ? speed : REPLAY_SPEED_MAX;
}

double replay_speed(const struct replay *p)
{
    return p->speed;
}

int replay_seek(struct replay *p, uint64_t at_ns)
{
    int rc = recording_seek(p->recording, at_ns);

    mark_time(p);
    if (rc < 0 || recording_run(p->recording)->state == RUN_DONE)
        replay_hold(p);
    report_change(p);
    return rc;
}
