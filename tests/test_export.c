/*
 * Exports: what each format makes of synthetic runs (tests/golden/export/), on every
 * ending, under a comma locale, and what happens to files. PLIMSOLL_GOLDEN=write
 * makes the golden files anew; look at them before committing them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/json.h"
#include "engine/report/export.h"
#include "engine/report/quote.h"
#include "protocols/array.h"
#include "protocols/utf8.h"
#include "tests/synthetic.h"

static const char *const scenarios[] = {"tcp-bulk", "unix-requests",
                                        "udp-cached-parallel", "rest-topper"};

#define SCENARIOS NUMBER_OF(scenarios)

static struct run *made(const char *scenario, unsigned trials, enum outcome outcome)
{
    struct synthetic how = {.scenario = scenario,
                            .trials = trials,
                            .steps = 21,
                            .seed = 1,
                            .speed = 1,
                            .noise = 0.02,
                            .outcome = outcome};
    struct run *r = synthetic_run(&how);

    assert_non_null(r);
    return r;
}

/* The text that a format makes, NULL when it refuses. The caller frees it. */
static char *text_of(const struct export_format *format, const struct run *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    int rc;

    assert_non_null(f);
    rc = format->write(f, r);
    assert_int_equal(fclose(f), 0);
    if (rc == 0)
        return text;
    assert_int_equal(rc, -ENODATA);
    free(text);
    return NULL;
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "r");
    FILE *copy = open_memstream(&text, &size);

    assert_non_null(copy);
    for (int c; f && (c = fgetc(f)) != EOF;)
        fputc(c, copy);
    if (f)
        fclose(f);
    fclose(copy);
    return text;
}

/* The program's version changes, the golden files do not. */
static char *without_version(const char *text)
{
    char *copy = strdup(text);

    for (char *at; (at = strstr(copy, PLIMSOLL_VERSION));)
        memset(at, '#', strlen(PLIMSOLL_VERSION));
    return copy;
}

static void compare_golden(const char *name, const char *text)
{
    const char *root = getenv("PLIMSOLL_ROOT");
    char *stable = without_version(text);
    char path[400];
    char *golden;

    snprintf(path, sizeof(path), "%s/tests/golden/export/%s", root ? root : ".", name);
    if (getenv("PLIMSOLL_GOLDEN")) {
        FILE *f = fopen(path, "w");

        assert_non_null(f);
        fputs(stable, f);
        fclose(f);
    }
    golden = read_file(path);
    if (strcmp(golden, stable) != 0)
        print_error("%s is not what is made now; if that is meant, "
                    "PLIMSOLL_GOLDEN=write makes it anew\n",
                    path);
    assert_string_equal(stable, golden);
    free(golden);
    free(stable);
}

/* Other tests read the document member by member, the interval log by its encoding
 * (its bytes depend on zlib's version), the page by its elements. */
static bool has_golden(const struct export_format *format)
{
    return strcmp(format->name, "json") != 0 && strcmp(format->name, "hlog") != 0 &&
           strcmp(format->name, "html") != 0;
}

static void each_format_is_as_the_golden_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i++) {
        struct run *r = made(scenarios[i], 2, OUTCOME_COMPLETED);

        for (const struct export_format *const *f = export_table(); *f; f++) {
            char *text = has_golden(*f) ? text_of(*f, r) : NULL;
            char name[96];

            snprintf(name, sizeof(name), "%s%s", scenarios[i], (*f)->extension);
            if (text && (*f)->families & r->scenario->family->bit)
                compare_golden(name, text);
            free(text);
        }
        run_free(r);
    }
}

/* A word of its own: "nan" within "nanoseconds" is none. */
static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = text; (at = strcasestr(at, word)); at++)
        if ((at == text || !isalpha((unsigned char)at[-1])) &&
            !isalpha((unsigned char)at[len]))
            return true;
    return false;
}

static void check_text(const char *format, const char *text)
{
    if (has_word(text, "nan") || has_word(text, "inf"))
        fail_msg("the %s export has a number that is none", format);
    for (const char *at = text; *at;) {
        size_t n = utf8_length((const unsigned char *)at);

        if (!n)
            fail_msg("the %s export is not UTF-8", format);
        at += n;
    }
}

static void check_run(const struct run *r)
{
    for (const struct export_format *const *f = export_table(); *f; f++) {
        char *text = text_of(*f, r);

        if (text)
            check_text((*f)->name, text);
        free(text);
    }
}

static void every_ending_gives_valid_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i++)
        for (int outcome = OUTCOME_COMPLETED; outcome <= OUTCOME_FAILED; outcome++) {
            struct run *r = made(scenarios[i], 2, (enum outcome)outcome);
            struct synthetic none = {
                .scenario = scenarios[i], .trials = 1, .speed = 1, .outcome = outcome};
            struct run *empty = synthetic_run(&none); /* a trial without a sample */
            struct run *unborn = made(scenarios[i], 0, OUTCOME_COMPLETED);

            check_run(r);
            check_run(empty);
            check_run(unborn);
            run_free(r);
            run_free(empty);
            run_free(unborn);
        }
}

/* The documented hostile text is in what it should be in, and is escaped. */
/* However long the run, whose series then has steps that hold two trials. */
static void iperf3_intervals_are_of_the_last_trial(void **state)
{
    struct synthetic how = {.scenario = "tcp-bulk",
                            .trials = 3,
                            .steps = 1003,
                            .seed = 1,
                            .speed = 1,
                            .warmup_ns = 2000000000};
    struct run *r = synthetic_run(&how);
    const struct trial *t = run_trial(r);
    char *text = text_of(export_find("iperf3"), r);
    cJSON *document = cJSON_Parse(text);
    const cJSON *intervals, *row;
    double bytes = 0, end = -1;

    (void)state;
    assert_true(r->series->step_ns > SAMPLE_STEP_NS);
    intervals = cJSON_GetObjectItemCaseSensitive(document, "intervals");
    assert_int_equal(cJSON_GetArraySize(intervals), 101);
    cJSON_ArrayForEach(row, intervals)
    {
        const cJSON *sum = cJSON_GetObjectItemCaseSensitive(row, "sum");
        double begin = json_number(sum, "start", -1);

        /* The warm-up has a time of its own, and the load's begins at zero again. */
        assert_true(begin == end || begin == 0);
        assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(sum, "omitted")),
                         row == intervals->child || row == intervals->child->next);
        end = json_number(sum, "end", -1);
        bytes += json_number(sum, "bytes", 0);
    }
    assert_true(fabs(end - 98.3) < 1e-9);
    assert_true(fabs(bytes - (double)t->counters[PLACE_SERVER].received_bytes) < 101);
    cJSON_Delete(document);
    free(text);
    run_free(r);
}

static void texts_from_outside_are_escaped(void **state)
{
    struct run *r = made("udp-cached-parallel", 1, OUTCOME_FAILED);
    char *xml = text_of(export_find("junit"), r);
    char *metrics = text_of(export_find("openmetrics"), r);
    char *markdown = text_of(export_find("markdown"), r);

    (void)state;
    assert_non_null(strstr(xml, "the server &quot;x&quot; &lt;gone&gt; &amp; "
                                "&#39;away&#39; | `it` ]]&gt; \xef\xbf\xbd\xef\xbf\xbd"));
    assert_non_null(
        strstr(metrics, "label=\"<i>\\\"A\\\" & 'B'|`\xef\xbf\xbd\"} ")); /* 0xff */
    assert_non_null(strstr(markdown, "\\<gone\\> & 'away' \\| \\`it\\`"));
    free(xml);
    free(metrics);
    free(markdown);
    run_free(r);
}

static void formats_refuse_what_they_cannot_hold(void **state)
{
    struct run *r = made("tcp-bulk", 1, OUTCOME_COMPLETED);

    (void)state;
    for (const struct export_format *const *f = export_table(); *f; f++) {
        struct fail fail = {0};

        if ((*f)->families & FAMILY_BULK)
            continue;
        assert_int_equal(export_check(*f, r->scenario, "-", 0, &fail), -EINVAL);
        assert_non_null(strstr(fail.sentence, (*f)->holds));
        memset(&fail, 0, sizeof(fail));
        assert_int_equal(export_to_file(*f, r, "/dev/full", 0, &fail), -EINVAL);
    }
    run_free(r);
}

/* With a schedule a latency begins when it wanted the operation begun. */
static void a_page_says_what_its_latencies_span(void **state)
{
    static const struct {
        const char *scenario;
        enum option option; /* a rate that is set, or OPTION_NONE */
        const char *said;
    } rows[] = {
        {"unix-requests", OPTION_NONE, "Latency is service time: "},
        {"unix-requests", OPTION_rate, "Latency is response time: "},
        {"rest-topper", OPTION_connection_rate, "Latency is response time: "},
        {"udp-cached-parallel", OPTION_NONE, "Latency is one-way, from the send "},
        {"udp-cached-parallel", OPTION_rate,
         "Latency is one-way, from the moment at which "},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct run *r = made(rows[i].scenario, 1, OUTCOME_COMPLETED);
        char *page;

        if (rows[i].option)
            assert_int_equal(options_set_number(&r->values, rows[i].option, 500), 0);
        page = text_of(export_find("html"), r);
        assert_non_null(strstr(page, rows[i].said));
        free(page);
        run_free(r);
    }
}

/* Where the requests went, whether the endpoint or the microservice itself was loaded. */
static void autocannon_names_what_was_loaded(void **state)
{
    static const struct {
        const char *scenario;
        enum place place; /* of the one process besides the client */
        const char *endpoint, *said;
    } rows[] = {
        {"rest-direct", PLACE_SERVER, "tcp:127.0.0.1:9001",
         "\"url\":\t\"http://127.0.0.1:9001/sum\""},
        {"rest-rest", PLACE_ENDPOINT, "tcp:[::1]:9000",
         "\"url\":\t\"http://[::1]:9000/sum\""},
        {"rest-rest", PLACE_SERVER, "tcp:127.0.0.1:9001", "\"url\":\tnull"},
        {"rest-direct", PLACE_SERVER, "unix:/run/x", "\"socketPath\":\t\"/run/x\""},
        {"topper-direct", PLACE_SERVER, "tcp:127.0.0.1:4000", "\"url\":\tnull"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct run *r = made(rows[i].scenario, 1, OUTCOME_COMPLETED);
        struct process *p = &run_trial(r)->processes[0];
        char *text;

        p->place = rows[i].place;
        snprintf(p->endpoint, sizeof(p->endpoint), "%s", rows[i].endpoint);
        text = text_of(export_find("autocannon"), r);
        if (!strstr(text, rows[i].said))
            fail_msg("no %s of %s in %.300s", rows[i].said, rows[i].scenario, text);
        free(text);
        run_free(r);
    }
}

static void numbers_read_back(void **state)
{
    static const double values[] = {0,
                                    1,
                                    0.1,
                                    1.0 / 3,
                                    1e300,
                                    5e-324,
                                    2.948,
                                    1e15,
                                    9007199254740991,
                                    -0.5,
                                    123456.7,
                                    1e-9 * 3,
                                    1e21 / 7,
                                    0x1.fffffffffffffp+1023};
    char text[40];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(values); i++) {
        quote_number_text(values[i], text, sizeof(text));
        assert_true(strtod(text, NULL) == values[i]);
    }
    quote_number_text(0.1, text, sizeof(text));
    assert_string_equal(text, "0.1");
    quote_number_text((double)NAN, text, sizeof(text));
    assert_string_equal(text, "");
    quote_number_text((double)INFINITY, text, sizeof(text));
    assert_string_equal(text, "");
}

/* Files. */

struct scratch {
    char directory[64];
    char path[96];
    struct run *run;
};

static int set_up(void **state)
{
    struct scratch *s = calloc(1, sizeof(*s));

    strcpy(s->directory, "/tmp/plimsoll-export.XXXXXX");
    if (!mkdtemp(s->directory))
        return -1;
    snprintf(s->path, sizeof(s->path), "%s/out", s->directory);
    s->run = made("tcp-bulk", 1, OUTCOME_COMPLETED);
    *state = s;
    return 0;
}

static size_t count_files(const char *directory)
{
    DIR *d = opendir(directory);
    size_t n = 0;

    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static int tear_down(void **state)
{
    struct scratch *s = *state;

    unlink(s->path);
    run_free(s->run);
    rmdir(s->directory);
    free(s);
    return 0;
}

static void a_file_that_exists_is_kept(void **state)
{
    struct scratch *s = *state;
    const struct export_format *csv = export_find("csv");
    struct fail fail = {0};
    FILE *f = fopen(s->path, "w");
    char *text;

    fputs("mine", f);
    fclose(f);
    assert_int_equal(export_check(csv, s->run->scenario, s->path, 0, &fail), -EINVAL);
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(export_to_file(csv, s->run, s->path, 0, &fail), -EEXIST);
    assert_non_null(strstr(fail.sentence, "--force"));
    text = read_file(s->path);
    assert_string_equal(text, "mine");
    free(text);
    assert_int_equal(export_to_file(csv, s->run, s->path, 1, NULL), 0);
    text = read_file(s->path);
    assert_non_null(strstr(text, "throughput"));
    free(text);
    assert_int_equal(count_files(s->directory), 1);
}

static void a_link_that_leads_nowhere_is_kept(void **state)
{
    struct scratch *s = *state;
    struct fail fail = {0};

    assert_int_equal(symlink("/nowhere/at/all", s->path), 0);
    assert_int_equal(export_to_file(export_find("csv"), s->run, s->path, 0, &fail),
                     -EEXIST);
    assert_int_equal(count_files(s->directory), 1);
}

/* Files are as the umask wants them, not as private as the temporary was. */
static void the_mode_follows_the_umask(void **state)
{
    struct scratch *s = *state;
    mode_t before = umask(027);
    struct stat st;

    assert_int_equal(export_to_file(export_find("json"), s->run, s->path, 0, NULL), 0);
    umask(before);
    assert_int_equal(stat(s->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static int always_fails(FILE *f, const void *what)
{
    (void)what;
    fputs("half of it", f);
    return -EIO;
}

static void a_failure_leaves_nothing_behind(void **state)
{
    struct scratch *s = *state;
    struct fail fail = {0};

    assert_int_equal(export_through(always_fails, NULL, "test", s->path, 0, &fail), -EIO);
    assert_int_equal(count_files(s->directory), 0);
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(
        export_to_file(export_find("csv"), s->run, "/nowhere/at/all", 0, &fail), -ENOENT);
    assert_non_null(strstr(fail.sentence, "/nowhere/at/all"));
}

static void no_space_is_said(void **state)
{
    struct scratch *s = *state;
    struct fail fail = {0};

    assert_int_equal(export_to_file(export_find("json"), s->run, "/dev/full", 0, &fail),
                     -ENOSPC);
    assert_non_null(strstr(fail.sentence, "/dev/full"));
}

static void a_fifo_nobody_reads_is_not_waited_for(void **state)
{
    struct scratch *s = *state;
    char text[16] = "";
    int fd;

    assert_int_equal(mkfifo(s->path, 0600), 0);
    assert_int_equal(export_to_file(export_find("csv"), s->run, s->path, 0, NULL),
                     -ENXIO);
    fd = open(s->path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(export_to_file(export_find("csv"), s->run, s->path, 0, NULL), 0);
    assert_int_equal(read(fd, text, 8), 8);
    assert_string_equal(text, "scenario");
    close(fd);
}

static void directories_are_refused_before_the_run(void **state)
{
    struct scratch *s = *state;
    const struct export_format *csv = export_find("csv");
    struct fail fail = {0};

    assert_int_equal(export_check(csv, s->run->scenario, s->directory, 1, &fail),
                     -EINVAL);
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(export_check(csv, s->run->scenario, "/nowhere/out", 0, &fail),
                     -EINVAL);
    assert_int_equal(export_check(csv, s->run->scenario, s->path, 0, NULL), 0);
    assert_int_equal(export_check(csv, s->run->scenario, "/dev/full", 0, NULL), 0);
}

/* A locale whose decimal point is a comma, made for this test; false without localedef.
 */
static bool use_comma_locale(const char *directory)
{
    char command[200];

    snprintf(command, sizeof(command),
             "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > /dev/null 2>&1", directory);
    if (system(command) != 0)
        return false;
    setenv("LOCPATH", directory, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void a_comma_locale_changes_nothing(void **state)
{
    struct scratch *s = *state;
    struct run *r = made("rest-topper", 2, OUTCOME_COMPLETED);
    char command[200];
    char comma[8];

    if (!use_comma_locale(s->directory)) {
        print_message("no localedef or no de_DE\n");
        run_free(r);
        skip();
    }
    snprintf(comma, sizeof(comma), "%.1f", 0.5);
    assert_string_equal(comma, "0,5");
    for (const struct export_format *const *f = export_table(); *f; f++) {
        char *under_comma, *under_c;

        if (!((*f)->families & r->scenario->family->bit))
            continue;
        setlocale(LC_ALL, "de_DE.UTF-8");
        assert_int_equal(export_to_file(*f, r, s->path, 1, NULL), 0);
        under_comma = read_file(s->path);
        setlocale(LC_ALL, "C");
        assert_int_equal(export_to_file(*f, r, s->path, 1, NULL), 0);
        under_c = read_file(s->path);
        assert_string_equal(under_comma, under_c);
        free(under_comma);
        free(under_c);
    }
    snprintf(command, sizeof(command), "rm -r %s/de_DE.UTF-8", s->directory);
    assert_int_equal(system(command), 0);
    run_free(r);
}

#define FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_is_as_the_golden_file),
        cmocka_unit_test(every_ending_gives_valid_files),
        cmocka_unit_test(iperf3_intervals_are_of_the_last_trial),
        cmocka_unit_test(texts_from_outside_are_escaped),
        cmocka_unit_test(formats_refuse_what_they_cannot_hold),
        cmocka_unit_test(a_page_says_what_its_latencies_span),
        cmocka_unit_test(autocannon_names_what_was_loaded),
        cmocka_unit_test(numbers_read_back),
        FILES(a_file_that_exists_is_kept),
        FILES(a_link_that_leads_nowhere_is_kept),
        FILES(the_mode_follows_the_umask),
        FILES(a_failure_leaves_nothing_behind),
        FILES(no_space_is_said),
        FILES(a_fifo_nobody_reads_is_not_waited_for),
        FILES(directories_are_refused_before_the_run),
        FILES(a_comma_locale_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
