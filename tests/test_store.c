/*
 * The store: how runs are found, listed and deleted; what is no recording is named, and
 * never followed or waited for; what cannot be saved costs the run nothing.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/recorder.h"
#include "engine/recording.h"
#include "engine/state_dir.h"
#include "engine/store.h"
#include "protocols/array.h"
#include "tests/made.h"
#include "tests/scratch.h"

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
    text = scratch_read(path, &len);
    snprintf(name, sizeof(name), "%saaaaaaaa.jsonl", good);
    scratch_in_store(fifo, name);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    refuses(fifo, "not a regular file");
    snprintf(name, sizeof(name), "%sbbbbbbbb.jsonl", good);
    scratch_in_store(link_path, name);
    assert_int_equal(symlink(path, link_path), 0);
    refuses(link_path, "symbolic link");
    snprintf(name, sizeof(name), "%scccccccc.jsonl", good);
    scratch_in_store(path, name);
    assert_int_equal(mkdir(path, 0700), 0);
    refuses(path, "not a regular file");
    snprintf(name, sizeof(name), "%sdddddddd.jsonl", good);
    scratch_in_store(path, name);
    scratch_write(path, "", 0);
    refuses(path, "empty");
    snprintf(name, sizeof(name), "%seeeeeeee.jsonl", good);
    scratch_in_store(path, name);
    scratch_write(path, "{\"schema\":\"other/1\"}\n", 21);
    refuses(path, "no recording");
    snprintf(name, sizeof(name), "%sffffffff.jsonl", good);
    scratch_in_store(path, name);
    *strstr(text, "recording/1") = 'R';
    memcpy(strstr(text, "Recording/1"), "recording/2", 11);
    scratch_write(path, text, len);
    refuses(path, "later version");
    scratch_in_store(path, "notes.txt");
    scratch_write(path, "mine\n", 5);
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
    assert_int_equal(store_find("last", path, sizeof(path), &fail), -EINVAL);
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
    text = scratch_read(path, &len);
    for (int i = 0; i < 2; i++) {
        scratch_in_store(copy, names[i]);
        scratch_write(copy, text, len);
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
    scratch_in_store(path, "mine.txt");
    scratch_write(path, "mine\n", 5);
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
    r = made_load(path);
    assert_true(r->interrupted);
    assert_int_equal(r->trials_begun, 1);
    run_free(r);

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    made_report(&m, 0);
    made_report(&m, 1);
    made_end_trial(&m, OUTCOME_COMPLETED, "");
    made_end(&m);
    r = made_load(path);
    assert_false(r->interrupted);
    made_assert_same(m.run, r);
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
    r = made_load(path);
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
    snprintf(path, sizeof(path), "%s/file", scratch_directory());
    scratch_write(path, "", 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_directory_is_the_users_own, scratch_fresh_store),
        cmocka_unit_test_setup(test_files_are_private, scratch_fresh_store),
        cmocka_unit_test_setup(test_what_is_no_recording, scratch_fresh_store),
        cmocka_unit_test_setup(test_finding, scratch_fresh_store),
        cmocka_unit_test_setup(test_ambiguous_prefixes_are_refused, scratch_fresh_store),
        cmocka_unit_test_setup(test_listing_tells_how_it_ended, scratch_fresh_store),
        cmocka_unit_test_setup(test_only_recordings_are_deleted, scratch_fresh_store),
        cmocka_unit_test_setup(test_full_and_room_again, scratch_fresh_store),
        cmocka_unit_test_setup(test_full_for_ever, scratch_fresh_store),
        cmocka_unit_test_setup(test_no_place_to_save, scratch_fresh_store),
    };

    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
