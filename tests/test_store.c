/*
 * Recordings and the store: a run that is recorded and loaded is the same run, whatever
 * happened in it; one that was cut anywhere is what it has; what is no recording is
 * named, and never followed or waited for.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/recorder.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/report/document.h"
#include "engine/run.h"
#include "engine/state_dir.h"
#include "engine/store.h"
#include "protocols/array.h"
#include "tests/synthetic.h"

#define MS 1000000ull

static char scratch[] = "/tmp/plimsoll-store-XXXXXX";

/* --- a run by hand, recorded as it goes --- */

struct made {
    struct run *run;
    struct recorder *recorder; /* NULL: not recorded */
    struct sample sample;
    uint64_t random;
};

static void made_begin(struct made *m, const char *scenario, unsigned trials)
{
    struct fail fail = {0};
    struct run *r = calloc(1, sizeof(*r));

    memset(m, 0, sizeof(*m));
    m->random = 7;
    assert_non_null(r);
    m->run = r;
    r->scenario = scenario_find(scenario);
    assert_int_equal(scenario_defaults(r->scenario, &r->values), 0);
    assert_int_equal(options_set_number(&r->values, "rate", 5000), 0);
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

static struct trial *made_trial(struct made *m)
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

static uint64_t pick(struct made *m, uint64_t below)
{
    return (uint64_t)(synthetic_uniform(&m->random) * (double)below);
}

static void made_sample(struct made *m, int process, uint64_t at_ns)
{
    struct trial *t = run_trial(m->run);
    struct process *p = &t->processes[process];
    struct sample *s = &m->sample;
    struct meter_counters *c = &s->meter->counters;

    meter_reset(s->meter);
    s->at_ns = at_ns;
    s->span_ns = 100 * MS;
    s->use =
        (struct process_use){.cpu_user_us = pick(m, 90000), .max_rss_bytes = 3 << 20};
    c->attempted = c->succeeded = c->sent_messages = pick(m, 1000);
    c->unique = c->received_messages = c->sent_messages;
    c->received_bytes = 60 * c->unique;
    s->meter->gauges.open_connections = pick(m, 9);
    tally_add(&s->meter->labels, "CACHED \"LOOP\"\n\xff", c->unique);
    for (uint64_t i = 0; i < c->unique; i += 7)
        meter_record(s->meter, METER_HIST_latency, pick(m, 5 * MS));
    assert_int_equal(trial_sample(t, p, s), 0);
    series_add(m->run->series, p->place, run_origin_ns(m->run, t), s,
               p->place == m->run->scenario->family->latency_place);
    recorder_sampled(m->recorder, m->run, p, s);
}

static void made_samples(struct made *m, unsigned steps)
{
    for (unsigned i = 1; i <= steps; i++) {
        made_sample(m, 1, i * 100 * MS + 31);
        made_sample(m, 0, i * 100 * MS + pick(m, MS));
    }
}

/* What the process says at its end: more histograms than samples have. */
static void made_report(struct made *m, int process)
{
    struct process *p = &run_trial(m->run)->processes[process];

    assert_int_equal(meter_use(p->totals.meter, METER_HIST_jitter), 0);
    for (int i = 0; i < 50; i++)
        meter_record(p->totals.meter, METER_HIST_jitter, pick(m, MS));
    p->totals.meter->counters.late = 3;
    p->reported = true;
    strcpy(p->facts[0].name, "socket");
    strcpy(p->facts[0].text, "cached");
    p->fact_count = 1;
}

static void made_end_trial(struct made *m, enum outcome outcome, const char *reason)
{
    struct trial *t = run_trial(m->run);

    m->run->state = RUN_DRAINING;
    recorder_changed(m->recorder, m->run);
    t->outcome = outcome;
    snprintf(t->reason, sizeof(t->reason), "%s", reason);
    run_account(m->run, t);
}

/* As end_trial of engine/run.c does: the change first, then the memory. */
static void made_next(struct made *m)
{
    struct trial *before = run_trial(m->run);

    made_trial(m);
    trial_drop_hists(before);
}

static void made_end(struct made *m)
{
    m->run->state = RUN_DONE;
    recorder_changed(m->recorder, m->run);
    if (run_trial(m->run))
        trial_drop_hists(run_trial(m->run));
    recorder_free(m->recorder);
    m->recorder = NULL;
}

static void made_free(struct made *m)
{
    recorder_free(m->recorder);
    sample_done(&m->sample);
    run_free(m->run);
}

/* A plain whole run of some trials; the path of its recording. */
static void made_plain(struct made *m, unsigned trials, unsigned steps, char *path)
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

static char *document_text(const struct run *r)
{
    cJSON *document = document_new(r);
    char *text = cJSON_Print(document);

    assert_non_null(text);
    cJSON_Delete(document);
    return text;
}

/* The first line in which two documents differ, so that a failure tells something. */
static void assert_same_document(const struct run *a, const struct run *b)
{
    char *x = document_text(a);
    char *y = document_text(b);
    size_t i = 0;
    size_t line = 0;

    while (x[i] && x[i] == y[i])
        line = x[i++] == '\n' ? i : line;
    if (x[i] != y[i])
        fail_msg("'%.60s' became '%.60s'", x + line, y + line);
    cJSON_free(x);
    cJSON_free(y);
}

static struct run *load(const char *path)
{
    struct fail fail = {0};
    struct run *r = recording_load(path, &fail);

    if (!r)
        fail_msg("%s", fail.sentence);
    return r;
}

/* --- files --- */

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "re");
    struct stat st;
    char *text;

    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    *len = (size_t)st.st_size;
    text = malloc(*len + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *len, f), *len);
    text[*len] = '\0';
    fclose(f);
    return text;
}

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void in_store(char *path, const char *name)
{
    char directory[PATH_MAX];

    assert_int_equal(store_directory(directory, sizeof(directory), NULL), 0);
    assert_true(snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX);
}

/* Every test has a store of its own. */
static int fresh_store(void **state)
{
    static int number;
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/%d", scratch, number++);
    assert_int_equal(mkdir(path, 0700), 0);
    return setenv("XDG_STATE_HOME", path, 1);
}

/* --- tests --- */

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
    options_set_number(&m.run->values, "rate", 7000);
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
    loaded = load(path);
    assert_false(loaded->interrupted);
    assert_int_equal(loaded->state, RUN_DONE);
    assert_int_equal(loaded->outcome, OUTCOME_FAILED);
    assert_int_equal(options_number(&loaded->values, "rate", 0), 7000);
    assert_string_equal(loaded->id, m.run->id);
    assert_same_document(m.run, loaded);
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
    loaded = load(path);
    assert_int_equal(loaded->trials_begun, 1);
    assert_same_document(m.run, loaded);
    run_free(loaded);
    made_free(&m);
}

static void set_or_unset(const char *name, const char *value)
{
    assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* Never below /tmp, where others may read and write. */
static void test_the_directory_is_the_users_own(void **state)
{
    const struct passwd *user = getpwuid(getuid());
    const char *known = user && *user->pw_dir == '/' ? user->pw_dir : NULL;
    const struct {
        const char *xdg_state_home, *home, *below, *rest;
    } rows[] = {
        {"/state", "/home/x", "/state", "/plimsoll/screens"},
        {"relative", "/home/x", "/home/x", "/.local/state/plimsoll/screens"},
        {NULL, "/home/x", "/home/x", "/.local/state/plimsoll/screens"},
        {NULL, NULL, known, "/.local/state/plimsoll/screens"},
        {"", "relative", known, "/.local/state/plimsoll/screens"},
    };
    char *before = getenv("HOME") ? strdup(getenv("HOME")) : NULL;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        char path[PATH_MAX], expected[PATH_MAX];
        struct fail fail = {0};

        set_or_unset("XDG_STATE_HOME", rows[i].xdg_state_home);
        set_or_unset("HOME", rows[i].home);
        if (!rows[i].below) {
            assert_int_equal(state_dir_path("screens", path, sizeof(path), &fail),
                             -ENOENT);
            assert_non_null(strstr(fail.sentence, "says where screens are kept"));
            continue;
        }
        snprintf(expected, sizeof(expected), "%s%s", rows[i].below, rows[i].rest);
        assert_int_equal(state_dir_path("screens", path, sizeof(path), &fail), 0);
        assert_string_equal(path, expected);
    }
    set_or_unset("HOME", before);
    free(before);
}

static void test_files_are_private(void **state)
{
    char path[PATH_MAX];
    struct stat st;
    struct made m;

    (void)state;
    umask(0);
    made_plain(&m, 1, 2, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
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
    text = read_file(path, &len);
    header_len = strcspn(text, "\n");
    last_line = (size_t)((char *)memrchr(text, '\n', len - 1) - text) + 1;
    for (size_t cut = 0; cut < len; cut++) {
        struct fail fail = {0};
        struct run *r;

        /* Every byte of the first line and the last, some between. */
        if (cut > header_len && cut < last_line && cut % 31)
            continue;
        assert_int_equal(truncate(path, 0), 0);
        write_file(path, text, cut);
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
            assert_same_document(m.run, r);
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
    text = read_file(path, &len);
    at = strstr(text, "{\"type\":\"done\"");
    assert_non_null(at);
    write_file(path, text, (size_t)(at - text));
    r = load(path);
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
    text = read_file(path, &len);
    for (int i = 0; i < 1000; i++) {
        size_t at = pick(&m, len);
        char before = text[at];
        struct run *r;

        text[at] = (char)pick(&m, 256);
        write_file(path, text, len);
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
    text = read_file(path, &len);
    for (size_t i = 0; i < NUMBER_OF(lines); i++) {
        struct run *r;

        insert_line(path, text, 4, lines[i]); /* header, trial, two samples */
        r = load(path);
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
    r = load(path);
    assert_true(r->interrupted);
    assert_non_null(strstr(r->reason, "cannot be read at line 2"));
    run_free(r);
    made_free(&m);
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
    text = read_file(path, &len);
    insert_line(path, text, 3, "{\"type\":\"weather\",\"rain\":true}");
    r = load(path);
    assert_false(r->interrupted);
    assert_same_document(m.run, r);
    run_free(r);
    free(text);
    made_free(&m);
}

static void refuses(const char *path, const char *says)
{
    struct fail fail = {0};

    assert_null(recording_load(path, &fail));
    assert_int_equal(fail.err, EINVAL);
    if (!strstr(fail.sentence, says))
        fail_msg("'%s' does not say '%s'", fail.sentence, says);
}

/* Where a FIFO would make us wait the alarm ends the test. */
static void test_what_is_no_recording(void **state)
{
    static const char *const good = "20261130-120000-000_tcp-bulk_";
    char path[PATH_MAX], fifo[PATH_MAX], link_path[PATH_MAX], name[64];
    struct store_entry *entries;
    size_t count, len, problems = 0;
    struct made m;
    char *text;

    (void)state;
    alarm(20);
    made_plain(&m, 1, 1, path);
    text = read_file(path, &len);
    snprintf(name, sizeof(name), "%saaaaaaaa.jsonl", good);
    in_store(fifo, name);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    refuses(fifo, "not a regular file");
    snprintf(name, sizeof(name), "%sbbbbbbbb.jsonl", good);
    in_store(link_path, name);
    assert_int_equal(symlink(path, link_path), 0);
    refuses(link_path, "symbolic link");
    snprintf(name, sizeof(name), "%scccccccc.jsonl", good);
    in_store(path, name);
    assert_int_equal(mkdir(path, 0700), 0);
    refuses(path, "not a regular file");
    snprintf(name, sizeof(name), "%sdddddddd.jsonl", good);
    in_store(path, name);
    write_file(path, "", 0);
    refuses(path, "empty");
    snprintf(name, sizeof(name), "%seeeeeeee.jsonl", good);
    in_store(path, name);
    write_file(path, "{\"schema\":\"other/1\"}\n", 21);
    refuses(path, "no recording");
    snprintf(name, sizeof(name), "%sffffffff.jsonl", good);
    in_store(path, name);
    *strstr(text, "recording/1") = 'R';
    memcpy(strstr(text, "Recording/1"), "recording/2", 11);
    write_file(path, text, len);
    refuses(path, "later version");
    in_store(path, "notes.txt");
    write_file(path, "mine\n", 5);
    refuses(path, "no recording");

    assert_int_equal(store_list(&entries, &count, NULL), 0);
    assert_int_equal(count, 8);
    assert_string_equal(entries[0].problem, ""); /* the one recording, and first */
    assert_string_equal(entries[0].id, m.run->id);
    for (size_t i = 0; i < count; i++)
        problems += *entries[i].problem != '\0' && strstr(entries[i].problem, "/runs/");
    assert_int_equal(problems, 7);
    free(entries);
    alarm(0);
    free(text);
    made_free(&m);
}

static void test_finding(void **state)
{
    char first[PATH_MAX], second[PATH_MAX], path[PATH_MAX], prefix[4];
    struct fail fail = {0};
    struct made a, b;

    (void)state;
    assert_int_equal(store_find("last", path, sizeof(path), &fail), -ENOENT);
    made_plain(&a, 1, 1, first);
    usleep(2000); /* another millisecond: names sort by it */
    made_plain(&b, 1, 1, second);
    assert_int_equal(store_find("last", path, sizeof(path), NULL), 0);
    assert_string_equal(path, second);
    assert_int_equal(store_find("last~1", path, sizeof(path), NULL), 0);
    assert_string_equal(path, first);
    assert_true(store_find("last~2", path, sizeof(path), NULL) < 0);
    snprintf(prefix, sizeof(prefix), "%.3s", a.run->id);
    if (strncmp(a.run->id, b.run->id, 3) != 0) {
        assert_int_equal(store_find(prefix, path, sizeof(path), NULL), 0);
        assert_string_equal(path, first);
    }
    assert_int_equal(store_find(strrchr(first, '/') + 1, path, sizeof(path), NULL), 0);
    assert_string_equal(path, first);
    assert_int_equal(store_find(first, path, sizeof(path), NULL), 0);
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(store_find("zzzzzzzzz", path, sizeof(path), &fail), -EINVAL);
    assert_int_equal(store_find("", path, sizeof(path), NULL), -EINVAL);
    made_free(&a);
    made_free(&b);
}

static void test_ambiguous_prefixes_are_refused(void **state)
{
    static const char *const names[] = {"20261130-120000-000_tcp-bulk_abcd1111.jsonl",
                                        "20261130-120000-001_tcp-bulk_abcd2222.jsonl"};
    char path[PATH_MAX], copy[PATH_MAX];
    struct store_entry *entries;
    struct fail fail = {0};
    struct made m;
    size_t count, len;
    char *text;

    (void)state;
    made_plain(&m, 1, 1, path);
    text = read_file(path, &len);
    for (int i = 0; i < 2; i++) {
        in_store(copy, names[i]);
        write_file(copy, text, len);
    }
    assert_int_equal(store_find("abcd", copy, sizeof(copy), &fail), -EINVAL);
    assert_non_null(strstr(fail.sentence, "more than one"));
    assert_int_equal(store_find("ABCD1", copy, sizeof(copy), NULL), 0);
    assert_int_equal(store_list(&entries, &count, NULL), 0);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(store_find(entries[i].shown, copy, sizeof(copy), NULL), 0);
        assert_string_equal(strrchr(copy, '/') + 1, entries[i].name);
    }
    free(entries);
    free(text);
    made_free(&m);
}

static void test_listing_tells_how_it_ended(void **state)
{
    struct store_entry *entries;
    char path[PATH_MAX];
    struct made whole, running;
    size_t count;

    (void)state;
    made_plain(&whole, 2, 12, path);
    usleep(2000);
    made_begin(&running, "udp-cached-series", 1);
    made_trial(&running);
    made_samples(&running, 2);
    assert_int_equal(store_list(&entries, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_string_equal(store_outcome(&entries[0]), "running");
    assert_string_equal(store_outcome(&entries[1]), "completed");
    assert_int_equal(entries[1].trials, 2);
    assert_true(entries[1].medians[METRIC_seconds] > 1);
    assert_true(isnan(entries[1].medians[METRIC_throughput_down]));
    free(entries);
    assert_int_equal(store_find("last", path, sizeof(path), NULL), 0);
    assert_int_equal(store_delete(path, NULL), -EBUSY);
    recorder_free(running.recorder); /* as a killed program would leave it */
    running.recorder = NULL;
    assert_int_equal(store_list(&entries, &count, NULL), 0);
    assert_string_equal(store_outcome(&entries[0]), "interrupted");
    free(entries);
    assert_int_equal(store_delete(path, NULL), 0);
    assert_int_equal(access(path, F_OK), -1);
    made_free(&running);
    made_free(&whole);
}

static void test_only_recordings_are_deleted(void **state)
{
    char path[PATH_MAX];
    struct fail fail = {0};
    struct made m;

    (void)state;
    made_plain(&m, 1, 1, path);
    in_store(path, "mine.txt");
    write_file(path, "mine\n", 5);
    assert_true(store_delete(path, &fail) < 0);
    assert_int_equal(access(path, F_OK), 0);
    made_free(&m);
}

/*
 * A file system that takes no more, by a limit on file sizes: the run goes on, and what
 * waited is written when there is room again.
 */
static void test_full_and_room_again(void **state)
{
    struct rlimit before, small;
    char path[PATH_MAX];
    const char *warning;
    struct made m;
    struct run *r;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    made_begin(&m, "udp-cached-series", 1);
    made_trial(&m);
    small = (struct rlimit){20000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    made_samples(&m, 20);
    warning = recorder_warning(m.recorder);
    assert_non_null(warning);
    assert_non_null(strstr(warning, "the run goes on"));
    assert_null(recorder_warning(m.recorder)); /* once */
    made_samples(&m, 1);
    assert_null(recorder_warning(m.recorder));

    /* As it is now it loads, with all but what waits. */
    assert_int_equal(store_find("last", path, sizeof(path), NULL), 0);
    r = load(path);
    assert_true(r->interrupted);
    assert_int_equal(r->trials_begun, 1);
    run_free(r);

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    made_report(&m, 0);
    made_report(&m, 1);
    made_end_trial(&m, OUTCOME_COMPLETED, "");
    made_end(&m);
    r = load(path);
    assert_false(r->interrupted);
    assert_same_document(m.run, r);
    run_free(r);
    made_free(&m);
}

/* Stays full, and for long: memory is bounded, and nothing else suffers. */
static void test_full_for_ever(void **state)
{
    struct rlimit before, small;
    char path[PATH_MAX];
    struct made m;
    struct run *r;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    made_begin(&m, "udp-cached-series", 1);
    made_trial(&m);
    small = (struct rlimit){20000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    made_samples(&m, 3000); /* far more than RECORDER_PENDING_MAX */
    made_report(&m, 0);
    made_report(&m, 1);
    made_end_trial(&m, OUTCOME_COMPLETED, "");
    made_end(&m);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(store_find("last", path, sizeof(path), NULL), 0);
    r = load(path);
    assert_true(r->interrupted);
    assert_true(r->trials[0]->counters[PLACE_CLIENT].attempted > 0);
    run_free(r);
    made_free(&m);
}

static void test_no_place_to_save(void **state)
{
    struct fail fail = {0};
    char path[64];
    struct made m;

    (void)state;
    made_begin(&m, "udp-cached-series", 1);
    snprintf(path, sizeof(path), "%s/file", scratch);
    write_file(path, "", 0);
    setenv("XDG_STATE_HOME", path, 1);
    assert_null(recorder_new(m.run, &fail));
    assert_int_equal(fail.err, ENOTDIR);
    assert_string_equal(m.run->id, "");
    /* A null recorder is one that records nothing. */
    recorder_changed(NULL, m.run);
    assert_null(recorder_warning(NULL));
    recorder_free(NULL);
    made_free(&m);
}

/* --- playing --- */

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
    assert_same_document(m.run, recording_run(rec));

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
    assert_same_document(m.run, recording_run(rec));
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
    assert_same_document(m.run, replay_run(p));

    /* Scrubbed back it plays again, from there. */
    l.samples = 0;
    assert_int_equal(replay_seek(p, 950 * MS), 0);
    assert_false(replay_is_playing(p));
    assert_int_equal(replay_at_ns(p), 950 * MS);
    replay_play(p);
    event_base_dispatch(l.base);
    assert_int_equal(l.samples, 22);
    assert_same_document(m.run, replay_run(p));
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
    r = load(path);
    run_stop(r);
    run_pause(r, true);
    run_mark(r, "here");
    assert_int_equal(run_set(r, "rate", 1), -EINVAL);
    assert_true(run_clock_ns(r) > 0);
    assert_true(run_progress(r) >= 0);
    assert_same_document(m.run, r);
    run_free(r);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_everything_comes_back, fresh_store),
        cmocka_unit_test_setup(test_a_trial_that_did_not_begin, fresh_store),
        cmocka_unit_test_setup(test_the_directory_is_the_users_own, fresh_store),
        cmocka_unit_test_setup(test_files_are_private, fresh_store),
        cmocka_unit_test_setup(test_cut_anywhere, fresh_store),
        cmocka_unit_test_setup(test_a_cut_trial_counts_its_samples, fresh_store),
        cmocka_unit_test_setup(test_damaged_bytes, fresh_store),
        cmocka_unit_test_setup(test_lines_that_cannot_be, fresh_store),
        cmocka_unit_test_setup(test_a_line_without_an_end, fresh_store),
        cmocka_unit_test_setup(test_a_later_version_may_add, fresh_store),
        cmocka_unit_test_setup(test_what_is_no_recording, fresh_store),
        cmocka_unit_test_setup(test_finding, fresh_store),
        cmocka_unit_test_setup(test_ambiguous_prefixes_are_refused, fresh_store),
        cmocka_unit_test_setup(test_listing_tells_how_it_ended, fresh_store),
        cmocka_unit_test_setup(test_only_recordings_are_deleted, fresh_store),
        cmocka_unit_test_setup(test_full_and_room_again, fresh_store),
        cmocka_unit_test_setup(test_full_for_ever, fresh_store),
        cmocka_unit_test_setup(test_no_place_to_save, fresh_store),
        cmocka_unit_test_setup(test_steps_and_seeks, fresh_store),
        cmocka_unit_test_setup(test_plays_by_the_clock, fresh_store),
        cmocka_unit_test_setup(test_a_loaded_run_cannot_be_steered, fresh_store),
    };
    char command[64];
    int failed;

    if (!mkdtemp(scratch))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
    return system(command) == 0 ? failed : 1;
}
