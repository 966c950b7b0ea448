/*
 * Shoot-outs with planted figures: who is found the fastest at which size, where one
 * overtakes another, and that equals are not told apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/report/shootout_report.h"
#include "tests/synthetic.h"

enum { TCP, UNIX, PIPE };

/* Requests a second at a size; `member` is a transport. */
typedef double (*rate_of)(size_t member, double size);

static double crossing_rate(size_t member, double size)
{
    double unix_rate = 40000 / (1 + size / 50000);

    return member == PIPE  ? 60000 / (1 + size / 1000)
           : member == TCP ? unix_rate / 2
                           : unix_rate;
}

static double equal_rate(size_t member, double size)
{
    (void)member;
    return 30000 / (1 + size / 10000);
}

/* One completed run whose metric is `value`. */
static struct run *planted(const char *scenario, enum metric metric, double value)
{
    struct synthetic how = {.scenario = scenario, .trials = 1, .steps = 1, .speed = 1};
    struct run *r = synthetic_run(&how);

    r->trials[0]->metrics[metric] = value;
    return r;
}

static void make(struct shootout *s, const char *name, bool quick)
{
    struct options typed = {0};
    struct fail fail = {0};

    if (shootout_make(s, name, quick, &typed, &fail) < 0)
        fail_msg("%s", fail.sentence);
}

/* Rounds in which every contestant has its rate, with 2 % of noise. */
static void fill(struct shootout *s, rate_of rate, unsigned rounds)
{
    uint64_t seed = 11;

    s->rounds.rounds = rounds;
    for (size_t i = 0; i < s->group_count; i++) {
        const struct shootout_group *g = &s->groups[i];

        for (size_t m = 0; m < g->count; m++)
            for (unsigned k = 0; k < rounds; k++) {
                struct contestant *c = &s->contestants[g->members[m]];
                double noise = 1 + 0.02 * synthetic_normal(&seed);
                double value = rate(m, (double)g->size_bytes) * noise;

                if (g->metric == METRIC_seconds)
                    value = 1e5 / value;
                c->runs[c->count++] = planted(c->scenario->name, g->metric, value);
            }
    }
    shootout_judge(s);
}

static const struct shootout_group *group_at(const struct shootout *s, const char *title)
{
    for (size_t i = 0; i < s->group_count; i++)
        if (strcmp(s->groups[i].title, title) == 0)
            return &s->groups[i];
    fail_msg("no group %s", title);
    abort();
}

static void assert_fastest(const struct shootout *s, const char *title,
                           const char *wanted)
{
    char text[320];

    shootout_fastest(s, group_at(s, title), text, sizeof(text));
    if (strncmp(text, wanted, strlen(wanted)) != 0)
        fail_msg("%s: '%s' and not '%s'", title, text, wanted);
}

static void assert_crossing(const struct shootout *s, size_t below, size_t above,
                            double size)
{
    for (size_t i = 0; i < s->crossing_count; i++) {
        const struct shootout_crossing *c = &s->crossings[i];

        if (c->below != below || c->above != above)
            continue;
        /* Between sizes four apart the line is not the curve. */
        if (!(c->size_bytes > size / 1.6 && c->size_bytes < size * 1.6))
            fail_msg("a crossing at %g and not at %g", c->size_bytes, size);
        assert_true(c->low <= c->size_bytes && c->size_bytes <= c->high);
        assert_true(c->high < 4 * c->low);
        return;
    }
    fail_msg("no crossing of %zu over %zu", above, below);
}

/* 60000 / (1 + s / 1000) falls below 40000 / (1 + s / 50000) at s = 515, and below half
 * of that at 2128. */
static void crossings_are_found(void **state)
{
    struct shootout s;
    char text[200];

    (void)state;
    make(&s, "stream", false);
    fill(&s, crossing_rate, 7);
    assert_fastest(&s, "1 B", "pipe, by ");
    assert_fastest(&s, "64 B", "pipe, by ");
    assert_fastest(&s, "4 KiB", "unix, by ");
    assert_fastest(&s, "1 MiB", "unix, by ");
    assert_fastest(&s, "bulk", "pipe-bulk, by 3"); /* a third of the time is saved */
    assert_int_equal(s.crossing_count, 2);
    assert_crossing(&s, PIPE, UNIX, 515);
    assert_crossing(&s, PIPE, TCP, 2128);
    shootout_crossing_text(&s, &s.crossings[0], text, sizeof(text));
    assert_non_null(strstr(text, " overtakes pipe at about "));
    shootout_done(&s);
}

static void equals_are_tied(void **state)
{
    struct shootout s;

    (void)state;
    make(&s, "stream", true);
    fill(&s, equal_rate, 6);
    assert_int_equal(s.crossing_count, 0);
    for (size_t i = 0; i < s.group_count; i++) {
        char text[320];

        shootout_fastest(&s, &s.groups[i], text, sizeof(text));
        assert_non_null(strstr(text, "no evidence which"));
        for (size_t m = 0; m < s.groups[i].count; m++)
            assert_true(s.groups[i].is_near[m]);
    }
    shootout_done(&s);
}

/* One round is a table of values and evidence of nothing. */
static void one_round_tells_no_winner(void **state)
{
    struct shootout s;

    (void)state;
    make(&s, "stream", true);
    fill(&s, crossing_rate, 1);
    assert_int_equal(s.crossing_count, 0);
    assert_fastest(&s, "1 B", "pipe or ");
    shootout_done(&s);
}

static void what_failed_is_out_of_the_race(void **state)
{
    struct shootout s;
    struct run *r;

    (void)state;
    make(&s, "udp", false);
    fill(&s, crossing_rate, 7);
    for (size_t i = 0; i < s.contestants[1].count; i++) {
        r = s.contestants[1].runs[i];
        r->outcome = r->trials[0]->outcome = OUTCOME_EXHAUSTED;
        strcpy(r->reason, "out of file handles");
    }
    shootout_judge(&s);
    assert_string_equal(shootout_problem(&s.contestants[1]), "out of file handles");
    assert_false(s.groups[0].is_near[1]);
    assert_true(s.groups[0].any);
    shootout_done(&s);
}

/* The steps of UDP are of the whole amount; only what is at a size is cut by time. */
static void sizes_are_those_of_the_stream_alone(void **state)
{
    struct shootout s;
    size_t sized = 0;

    (void)state;
    make(&s, "udp", false);
    for (size_t i = 0; i < s.rounds.count; i++) {
        assert_false(shootout_has_size(&s, i));
        assert_int_equal(options_number(&s.contestants[i].values, OPTION_duration, 1), 0);
        assert_int_equal(options_number(&s.contestants[i].values, OPTION_messages, 1),
                         100000);
    }
    shootout_done(&s);
    make(&s, "stream", false);
    for (size_t i = 0; i < s.rounds.count; i++)
        sized += shootout_has_size(&s, i);
    assert_int_equal(sized, s.rounds.count - s.documented_count);
    shootout_done(&s);
}

/* Ten seconds in series and two in parallel, in 2 turns a message and in 0.01. */
static void steps_have_their_factors(void **state)
{
    struct shootout s;
    char text[400];

    (void)state;
    make(&s, "udp", false);
    for (size_t i = 0; i < s.rounds.count; i++)
        for (int k = 0; k < 5; k++) {
            struct contestant *c = &s.contestants[i];
            double seconds = i == 3 ? 2 + 0.01 * k : 10 + 0.05 * k;
            struct run *r = planted(c->scenario->name, METRIC_seconds, seconds);
            struct meter_counters *sent = &r->trials[0]->counters[PLACE_CLIENT];

            sent->attempted = 1000;
            sent->turns = i == 3 ? 10 : 2000;
            sent->send_calls = 1000;
            c->runs[c->count++] = r;
        }
    shootout_judge(&s);
    assert_true(s.step_count > 2);
    assert_int_equal(s.steps[2].from, 2);
    assert_int_equal(s.steps[2].to, 3);
    shootout_step_text(&s, &s.steps[2], text, sizeof(text));
    if (strncmp(text, "in parallel: udp-cached-parallel in 2.02 s is 5 x faster (", 58) !=
            0 ||
        !strstr(text, " x) than udp-cached-series in 10.1 s (documented: 2.04 x); turns "
                      "of the event loop: 0.01 a message, not 2"))
        fail_msg("%s", text);
    shootout_step_text(&s, &s.steps[4], text, sizeof(text));
    if (!strstr(text, " x the time of udp-cached-series") || strstr(text, "turns"))
        fail_msg("%s", text);
    shootout_done(&s);
}

/* Whatever is there, also nothing at all, every form of the report is valid text. */
static void every_report_can_be_written(void **state)
{
    static const char *const names[] = {"stream", "udp", "services"};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (unsigned rounds = 0; rounds < 3; rounds++) {
            int (*const writers[])(FILE *, const void *) = {
                shootout_write_text, shootout_write_json, shootout_write_markdown,
                shootout_write_html};
            struct shootout s;

            make(&s, names[i], true);
            fill(&s, crossing_rate, rounds);
            for (size_t w = 0; w < 4; w++) {
                char *text = NULL;
                size_t size = 0;
                FILE *f = open_memstream(&text, &size);

                assert_int_equal(writers[w](f, &s), 0);
                fclose(f);
                assert_true(size > 200);
                assert_null(strstr(text, "nan"));
                free(text);
            }
            shootout_done(&s);
        }
}

static void wrong_names_and_values_are_refused(void **state)
{
    struct options typed = {0};
    struct fail fail = {0};
    struct shootout s;

    (void)state;
    assert_int_equal(shootout_make(&s, "pigeons", false, &typed, &fail), -22);
    assert_non_null(strstr(fail.sentence, "stream, udp, services"));
    shootout_done(&s);
    options_set_number(&typed, OPTION_workers, 2);
    memset(&fail, 0, sizeof(fail));
    assert_int_equal(shootout_make(&s, "udp", true, &typed, &fail), 0);
    for (size_t i = 0; i < s.rounds.count; i++)
        assert_int_equal(options_number(&s.contestants[i].values, OPTION_workers, 0), 2);
    shootout_done(&s);
    options_done(&typed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings_are_found),
        cmocka_unit_test(equals_are_tied),
        cmocka_unit_test(one_round_tells_no_winner),
        cmocka_unit_test(what_failed_is_out_of_the_race),
        cmocka_unit_test(sizes_are_those_of_the_stream_alone),
        cmocka_unit_test(steps_have_their_factors),
        cmocka_unit_test(every_report_can_be_written),
        cmocka_unit_test(wrong_names_and_values_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
