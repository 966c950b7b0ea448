/*
 * Recordings: a run that is recorded and loaded is the same run, whatever happened in it;
 * one that was cut anywhere is what it has; played, it is what it was.
 */
#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/recorder.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/store.h"
#include "protocols/array.h"
#include "tests/made.h"
#include "tests/scratch.h"

static void test_everything_comes_back(void **state)
{
    struct fail fail = {0};
    char path[PATH_MAX];
    struct made m;
    struct run *loaded;
    struct trial *t;

    (void)state;
    made_begin(&m, "udp-cached-series", 3);
    made_trial(&m);
    made_samples(&m, 5);
    series_mark(m.run->series, 250 * MS, "rate 7k");
    options_set_number(&m.run->values, OPTION_rate, 7000);
    run_trial(m.run)->rate_changed = true;
    made_samples(&m, 3);
    made_report(&m, 1);
    made_end_trial(&m, OUTCOME_STOPPED, "stopped before its end"); /* no server report */
    made_next(&m);
    t = run_trial(m.run);
    made_samples(&m, 12);
    assert_int_equal(trial_pause(t, t->start_ns + 300 * MS, t->start_ns + 1300 * MS), 0);
    assert_int_equal(trial_pause(t, t->start_ns + 1400 * MS, t->start_ns + 1500 * MS), 0);
    for (int i = 0; i < 100; i++) { /* more than a series keeps */
        series_mark(m.run->series, (uint64_t)i * MS, i % 2 ? "odd \"mark\"" : "even");
        if (i % 30 == 0)
            made_sample(&m, 0, (uint64_t)(1400 + i) * MS);
    }
    made_samples(&m, 2);
    made_report(&m, 0);
    made_report(&m, 1);
    made_end_trial(&m, OUTCOME_COMPLETED, "");
    made_next(&m);
    run_trial(m.run)->processes[1].outcome = OUTCOME_FAILED;
    strcpy(run_trial(m.run)->processes[1].reason, "was killed by signal 9");
    made_end_trial(&m, OUTCOME_FAILED, "the client process was killed");
    made_end(&m);
    assert_null(recorder_warning(m.recorder));
    assert_int_equal(store_find(m.run->id, path, sizeof(path), &fail), 0);
    loaded = made_load(path);
    assert_false(loaded->interrupted);
    assert_int_equal(loaded->state, RUN_DONE);
    assert_int_equal(loaded->outcome, OUTCOME_FAILED);
    assert_int_equal(options_number(&loaded->values, OPTION_rate, 0), 7000);
    assert_string_equal(loaded->id, m.run->id);
    made_assert_same(m.run, loaded);
    run_free(loaded);
    made_free(&m);
}

/*
 * Live and saved are the same in everything that is said of them: with a warm-up, a rate
 * that was changed back before it was recorded, a pause that cuts samples in two, and
 * counters that no double holds.
 */
static void test_saved_equals_live(void **state)
{
    enum verdict kept = VERDICT_FAIL;
    struct series_segment paused;
    char path[PATH_MAX];
    struct run *loaded;
    struct trial *t;
    struct made m;

    (void)state;
    made_begin(&m, "udp-cached-series", 2);
    options_set_number(&m.run->values, OPTION_warmup, 200 * MS);
    t = made_trial(&m);
    made_samples(&m, 8);
    t->rate_changed = true; /* to 7k and to 5k again */
    made_report(&m, 1);
    t->processes[1].totals.meter->counters.sent_bytes = (1ull << 53) + 1;
    t->processes[0].totals.meter->counters.received_bytes = UINT64_MAX - 1;
    made_report(&m, 0);
    made_end_trial(&m, OUTCOME_COMPLETED, "");
    made_next(&m);
    t = run_trial(m.run);
    made_samples(&m, 3);
    series_mark(m.run->series, run_origin_ns(m.run, t) + 350 * MS, "paused");
    for (unsigned i = 4; i <= 20; i++) {
        if (i == 17)
            series_mark(m.run->series, run_origin_ns(m.run, t) + 1650 * MS, "resumed");
        if (i == 4 || i >= 17)
            made_sample(&m, 1, i * 100 * MS);
        else
            made_idle(&m, 1, i * 100 * MS);
    }
    assert_int_equal(trial_pause(t, t->start_ns + 350 * MS, t->start_ns + 1650 * MS), 0);
    made_report(&m, 0);
    made_report(&m, 1);
    made_end_trial(&m, OUTCOME_COMPLETED, "");
    made_end(&m);
    assert_int_equal(store_find(m.run->id, path, sizeof(path), NULL), 0);
    loaded = made_load(path);
    made_assert_same(m.run, loaded);
    t = loaded->trials[0];
    for (size_t i = 0; i < t->check_count; i++)
        if (strcmp(t->checks[i].name, "rate kept") == 0)
            kept = t->checks[i].verdict;
    assert_int_equal(kept, VERDICT_UNKNOWN);
    assert_false(loaded->trials[1]->rate_changed);
    assert_int_equal(t->counters[PLACE_CLIENT].sent_bytes, (1ull << 53) + 1);
    assert_int_equal(t->counters[PLACE_SERVER].received_bytes, UINT64_MAX - 1);
    series_segment(loaded->series, 1, &paused);
    assert_true(paused.sum.places[PLACE_CLIENT].samples > 0);
    assert_int_equal(paused.sum.places[PLACE_CLIENT].counters.attempted, 0);
    run_free(loaded);
    made_free(&m);
}

/* A trial that never got its processes together has no start and no samples. */
static void test_a_trial_that_did_not_begin(void **state)
{
    char path[PATH_MAX];
    struct made m;
    struct run *loaded;
    struct trial *t = calloc(1, sizeof(*t));

    (void)state;
    made_begin(&m, "udp-cached-series", 2);
    assert_int_equal(trial_init(t, m.run->scenario, 1, 2), 0);
    m.run->trials[m.run->trials_begun++] = t;
    t->processes[1].place = PLACE_CLIENT;
    m.run->state = RUN_SPAWNING;
    recorder_changed(m.recorder, m.run);
    made_end_trial(&m, OUTCOME_FAILED, "the address is in use");
    made_end(&m);
    assert_int_equal(store_find("last", path, sizeof(path), NULL), 0);
    loaded = made_load(path);
    assert_int_equal(loaded->trials_begun, 1);
    made_assert_same(m.run, loaded);
    run_free(loaded);
    made_free(&m);
}

/* Cut at every byte, header to end: it is refused, or it is what it has. */
static void test_cut_anywhere(void **state)
{
    char path[PATH_MAX];
    size_t header_len, len, last_line;
    struct made m;
    char *text;

    (void)state;
    made_plain(&m, 2, 2, path);
    text = scratch_read(path, &len);
    header_len = strcspn(text, "\n");
    last_line = (size_t)((char *)memrchr(text, '\n', len - 1) - text) + 1;
    for (size_t cut = 0; cut < len; cut++) {
        struct fail fail = {0};
        struct run *r;

        /* Every byte of the first line and the last, some between. */
        if (cut > header_len && cut < last_line && cut % 31)
            continue;
        assert_int_equal(truncate(path, 0), 0);
        scratch_write(path, text, cut);
        r = recording_load(path, &fail);
        if (!r) {
            assert_true(cut < header_len);
            assert_non_null(strstr(fail.sentence, path));
            continue;
        }
        assert_true(cut >= header_len);
        assert_int_equal(r->state, RUN_DONE);
        if (cut == len - 1) { /* but for the newline it is whole */
            assert_false(r->interrupted);
            made_assert_same(m.run, r);
        } else {
            assert_true(r->interrupted);
            assert_int_equal(r->outcome, OUTCOME_STOPPED);
            assert_non_null(strstr(r->reason, "interrupted"));
        }
        if (cut >= last_line) /* both trials are there, as they were */
            for (int i = 0; i < 2; i++)
                assert_memory_equal(r->trials[i]->metrics, m.run->trials[i]->metrics,
                                    sizeof(r->trials[i]->metrics));
        run_free(r);
    }
    free(text);
    made_free(&m);
}

static void test_a_cut_trial_counts_its_samples(void **state)
{
    char path[PATH_MAX];
    struct run *r;
    size_t len;
    struct made m;
    const char *at;
    char *text;

    (void)state;
    made_plain(&m, 1, 10, path);
    text = scratch_read(path, &len);
    at = strstr(text, "{\"type\":\"done\"");
    assert_non_null(at);
    scratch_write(path, text, (size_t)(at - text));
    r = made_load(path);
    assert_true(r->interrupted);
    assert_int_equal(r->trials_begun, 1);
    assert_true(r->trials[0]->counters[PLACE_CLIENT].attempted > 0);
    assert_int_equal(r->trials[0]->counters[PLACE_CLIENT].attempted,
                     m.run->trials[0]->counters[PLACE_CLIENT].attempted);
    assert_int_equal(r->series->used, m.run->series->used);
    assert_int_equal(r->trials[0]->loss.lost, -1); /* the receiver did not report */
    run_free(r);
    free(text);
    made_free(&m);
}

/* One byte changed at a time: nothing may crash, hang or claim to be whole in vain. */
static void test_damaged_bytes(void **state)
{
    char path[PATH_MAX];
    struct made m;
    size_t len;
    char *text;

    (void)state;
    made_plain(&m, 1, 2, path);
    text = scratch_read(path, &len);
    for (int i = 0; i < 1000; i++) {
        size_t at = made_pick(&m, len);
        char before = text[at];
        struct run *r;

        text[at] = (char)made_pick(&m, 256);
        scratch_write(path, text, len);
        r = recording_load(path, NULL);
        if (r)
            assert_int_equal(r->state, RUN_DONE);
        run_free(r);
        text[at] = before;
    }
    free(text);
    made_free(&m);
}

/* Put a line behind the first `lines` of a recording, and the rest after it. */
static void insert_line(const char *path, const char *text, size_t lines,
                        const char *line)
{
    const char *at = text;
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    while (lines--)
        at = strchr(at, '\n') + 1;
    fwrite(text, 1, (size_t)(at - text), f);
    fprintf(f, "%s\n%s", line, at);
    assert_int_equal(fclose(f), 0);
}

static void test_lines_that_cannot_be(void **state)
{
    static const char *const lines[] = {
        "not JSON",
        "",
        "[]",
        "{\"type\":\"sample\"}",
        "{\"type\":\"sample\",\"process\":99,\"at_ns\":1,\"span_ns\":1}",
        "{\"type\":\"sample\",\"process\":-1,\"at_ns\":1,\"span_ns\":1}",
        "{\"type\":\"sample\",\"process\":0,\"at_ns\":1e18,\"span_ns\":1}",
        ("{\"type\":\"sample\",\"process\":0,\"at_ns\":1,\"span_ns\":1,"
         "\"hists\":{\"latency\":\"1 2 3\"}}"),
        "{\"type\":\"trial\",\"number\":2,\"processes\":[{}]}",
        "{\"type\":\"done\",\"process\":0}",
        "{\"type\":\"paused\",\"seconds\":[1e15]}",
        "{\"type\":\"set\"}",
        "{\"type\":\"end\",\"outcome\":\"completed\"}",
        "{\"type\":\"trial_end\",\"processes\":[]}",
    };
    char path[PATH_MAX];
    struct made m;
    size_t len;
    char *text;

    (void)state;
    made_plain(&m, 1, 3, path);
    text = scratch_read(path, &len);
    for (size_t i = 0; i < NUMBER_OF(lines); i++) {
        struct run *r;

        insert_line(path, text, 4, lines[i]); /* header, trial, two samples */
        r = made_load(path);
        if (!r->interrupted || !strstr(r->reason, "damaged at line 5"))
            fail_msg("after '%s': %s", lines[i], r->reason);
        /* What stands before it is there. */
        assert_int_equal(r->trials_begun, 1);
        assert_true(r->trials[0]->counters[PLACE_CLIENT].attempted > 0);
        run_free(r);
    }
    free(text);
    made_free(&m);
}

/* Nothing of ours has lines of 16 MiB: the reader gives up, and takes no more memory. */
static void test_a_line_without_an_end(void **state)
{
    char path[PATH_MAX];
    char block[65536];
    struct made m;
    struct run *r;
    FILE *f;

    (void)state;
    made_plain(&m, 1, 3, path);
    f = fopen(path, "ae");
    assert_non_null(f);
    memset(block, 'x', sizeof(block));
    assert_int_equal(ftruncate(fileno(f), 0), 0);
    fputs(
        "{\"schema\":\"plimsoll.recording/1\",\"scenario\":\"tcp-bulk\",\"trials\":1}\n",
        f);
    for (int i = 0; i < 600; i++)
        fwrite(block, 1, sizeof(block), f);
    assert_int_equal(fclose(f), 0);
    r = made_load(path);
    assert_true(r->interrupted);
    assert_non_null(strstr(r->reason, "cannot be read at line 2"));
    run_free(r);
    made_free(&m);
}

/* In an array limits have no names, so they are none; the rest is read all the same. */
static void test_limits_without_names(void **state)
{
    cJSON *header = cJSON_Parse("{\"environment\":{\"host\":\"here\",\"limits\":"
                                "[{\"need\":1,\"have\":2,\"enough\":true},\"x\"]}}");
    struct environment e;

    (void)state;
    environment_read(&e, header);
    assert_string_equal(e.host, "here");
    assert_int_equal(e.limit_count, 0);
    cJSON_Delete(header);
}

static void test_a_later_version_may_add(void **state)
{
    char path[PATH_MAX];
    struct made m;
    struct run *r;
    size_t len;
    char *text;

    (void)state;
    made_plain(&m, 1, 3, path);
    text = scratch_read(path, &len);
    insert_line(path, text, 3, "{\"type\":\"weather\",\"rain\":true}");
    r = made_load(path);
    assert_false(r->interrupted);
    made_assert_same(m.run, r);
    run_free(r);
    free(text);
    made_free(&m);
}

/* Playing. */

static void test_steps_and_seeks(void **state)
{
    struct recording_event e;
    struct recording *rec;
    struct made m;
    char path[PATH_MAX];
    uint64_t at, before = 0;
    unsigned samples = 0;
    size_t used;

    (void)state;
    made_plain(&m, 2, 10, path);
    rec = recording_open(path, NULL);
    assert_non_null(rec);
    assert_int_equal(recording_run(rec)->state, RUN_NEW);
    while (recording_peek(rec, &at)) {
        assert_true(at >= before);
        before = at;
        assert_int_equal(recording_step(rec, &e), 1);
        assert_int_equal(e.at_ns, at);
        if (e.kind == RECORDING_SAMPLED) {
            samples++;
            assert_non_null(e.process);
            assert_true(e.sample->span_ns == 100 * MS);
        }
    }
    assert_int_equal(recording_step(rec, &e), 0);
    assert_int_equal(samples, 40);
    made_assert_same(m.run, recording_run(rec));

    /* Back to the middle of the first trial: half of it, then on to the end again. */
    assert_int_equal(recording_seek(rec, 550 * MS), 0);
    assert_int_equal(recording_run(rec)->state, RUN_RUNNING);
    assert_int_equal(recording_run(rec)->replayed_ns, 550 * MS);
    used = recording_run(rec)->series->used;
    assert_true(used >= 5 && used <= 6);
    assert_int_equal(recording_seek(rec, 700 * MS), 0);
    assert_int_equal(recording_seek(rec, 0), 0);
    assert_int_equal(recording_run(rec)->series->used, 0);
    assert_int_equal(recording_seek(rec, UINT64_MAX), 0);
    assert_int_equal(recording_run(rec)->state, RUN_DONE);
    made_assert_same(m.run, recording_run(rec));
    recording_free(rec);
    made_free(&m);
}

struct listener {
    struct event_base *base;
    unsigned samples, changes;
};

static void on_changed(void *arg, struct run *r)
{
    struct listener *l = arg;

    l->changes++;
    if (r->state == RUN_DONE)
        event_base_loopbreak(l->base);
}

static void on_sampled(void *arg, struct run *r, const struct process *process,
                       const struct sample *sample)
{
    struct listener *l = arg;

    (void)r;
    assert_non_null(process);
    assert_non_null(sample);
    l->samples++;
}

static void test_plays_by_the_clock(void **state)
{
    static const struct run_ops ops = {.changed = on_changed, .sampled = on_sampled};
    struct listener l = {event_base_new(), 0, 0};
    struct timeval bound = {10, 0};
    char path[PATH_MAX];
    struct replay *p;
    struct made m;

    (void)state;
    made_plain(&m, 2, 10, path);
    p = replay_new(l.base, path, &ops, &l, NULL);
    assert_non_null(p);
    assert_true(replay_length_ns(p) > 2000 * MS);
    replay_set_speed(p, 1e9);
    assert_true(replay_speed(p) == REPLAY_SPEED_MAX);
    replay_set_speed(p, (double)NAN);
    assert_true(replay_speed(p) == REPLAY_SPEED_MIN);
    replay_set_speed(p, 100);
    event_base_loopexit(l.base, &bound);
    replay_play(p);
    event_base_dispatch(l.base);
    assert_int_equal(l.samples, 40);
    assert_true(l.changes >= 5); /* two trials begin and end, and the end */
    assert_false(replay_is_playing(p));
    made_assert_same(m.run, replay_run(p));

    /* Scrubbed back it plays again, from there. */
    l.samples = 0;
    assert_int_equal(replay_seek(p, 950 * MS), 0);
    assert_false(replay_is_playing(p));
    assert_int_equal(replay_at_ns(p), 950 * MS);
    replay_play(p);
    event_base_dispatch(l.base);
    assert_int_equal(l.samples, 22);
    made_assert_same(m.run, replay_run(p));
    replay_free(p);
    event_base_free(l.base);
    made_free(&m);
}

/* A recorded run has no processes: what steers those does nothing to it. */
static void test_a_loaded_run_cannot_be_steered(void **state)
{
    char path[PATH_MAX];
    struct made m;
    struct run *r;

    (void)state;
    made_plain(&m, 1, 5, path);
    r = made_load(path);
    run_stop(r);
    run_pause(r, true);
    run_mark(r, "here");
    assert_int_equal(run_set(r, OPTION_rate, 1), -EINVAL);
    assert_true(run_clock_ns(r) > 0);
    assert_true(run_progress(r) >= 0);
    made_assert_same(m.run, r);
    run_free(r);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_everything_comes_back, scratch_fresh_store),
        cmocka_unit_test_setup(test_saved_equals_live, scratch_fresh_store),
        cmocka_unit_test_setup(test_a_trial_that_did_not_begin, scratch_fresh_store),
        cmocka_unit_test_setup(test_cut_anywhere, scratch_fresh_store),
        cmocka_unit_test_setup(test_a_cut_trial_counts_its_samples, scratch_fresh_store),
        cmocka_unit_test_setup(test_damaged_bytes, scratch_fresh_store),
        cmocka_unit_test_setup(test_lines_that_cannot_be, scratch_fresh_store),
        cmocka_unit_test_setup(test_a_line_without_an_end, scratch_fresh_store),
        cmocka_unit_test(test_limits_without_names),
        cmocka_unit_test_setup(test_a_later_version_may_add, scratch_fresh_store),
        cmocka_unit_test_setup(test_steps_and_seeks, scratch_fresh_store),
        cmocka_unit_test_setup(test_plays_by_the_clock, scratch_fresh_store),
        cmocka_unit_test_setup(test_a_loaded_run_cannot_be_steered, scratch_fresh_store),
    };

    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
