/*
 * JUnit's XML, as continuous integration servers read it: the outcome of the run, every
 * threshold and every check of every trial is a test case. A run that failed is an
 * error; a threshold that was crossed, and a check that finds the counts wrong, is a
 * failure. A check that only puts the numbers in doubt (too short a run, a busy machine)
 * is skipped with its figures, as one that could not be decided: it is for a person to
 * judge, and says nothing of what was tested.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/json.h"
#include "engine/report/export.h"
#include "engine/report/quote.h"
#include "engine/threshold_verdict.h"
#include "protocols/array.h"

struct counts {
    size_t tests, failures, errors, skipped;
};

static bool ended_well(const struct run *r)
{
    return r->outcome == OUTCOME_COMPLETED ||
           (r->outcome == OUTCOME_EXHAUSTED && r->scenario->exhausted_expected);
}

static enum verdict verdict_of(const struct check *c)
{
    static const char *const doubts[] = {"enough for the percentiles",
                                         "generator not saturated", "loss explained",
                                         "rate kept"};

    for (size_t i = 0; i < NUMBER_OF(doubts); i++)
        if (c->verdict == VERDICT_FAIL && strcmp(c->name, doubts[i]) == 0)
            return VERDICT_UNKNOWN;
    return c->verdict;
}

static struct counts count(const struct run *r)
{
    struct counts c = {.tests = 1, .errors = !ended_well(r)};
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, verdicts);

    c.tests += n;
    for (size_t i = 0; i < n; i++)
        c.failures += !verdicts[i].ok;

    for (size_t i = 0; i < r->trials_begun; i++)
        for (size_t k = 0; k < r->trials[i]->check_count; k++) {
            c.tests++;
            c.failures += verdict_of(&r->trials[i]->checks[k]) == VERDICT_FAIL;
            c.skipped += verdict_of(&r->trials[i]->checks[k]) == VERDICT_UNKNOWN;
        }
    return c;
}

static double seconds(const struct run *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->trials_begun; i++)
        if (isfinite(r->trials[i]->seconds))
            sum += r->trials[i]->seconds;
    return sum;
}

static void put_counts(FILE *f, const struct counts *c, double time_s)
{
    fprintf(f,
            " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
            "time=\"%.3f\"",
            c->tests, c->failures, c->errors, c->skipped, time_s);
}

static void put_properties(FILE *f, const struct run *r)
{
    fputs("    <properties>\n", f);
    for (const struct param *p = param_table(); p->name; p++) {
        char number[PARAM_NUMBER_MAX];

        if (!scenario_has(r->scenario, p))
            continue;
        fprintf(f, "      <property name=\"%s\" value=\"", p->name);
        quote_xml(f, run_value(r, p, number));
        fputs("\"/>\n", f);
    }
    fputs("    </properties>\n", f);
}

/* A case, open; `number` 0 is the run as a whole. */
static void put_case(FILE *f, const struct run *r, const char *name, unsigned number,
                     double time_s)
{
    fputs("    <testcase classname=\"plimsoll.", f);
    quote_xml(f, r->scenario->name);
    fputs("\" name=\"", f);
    if (number)
        fprintf(f, "trial %u: ", number);
    quote_xml(f, name);
    fprintf(f, "\" time=\"%.3f\">", time_s);
}

static void put_verdict(FILE *f, const char *element, const char *message)
{
    fprintf(f, "\n      <%s message=\"", element);
    quote_xml(f, message);
    fputs("\"/>\n    ", f);
}

static void put_check(FILE *f, const struct run *r, const struct trial *t,
                      const struct check *c)
{
    put_case(f, r, c->name, t->number, 0);
    if (verdict_of(c) == VERDICT_FAIL) {
        put_verdict(f, "failure", c->detail);
    } else if (verdict_of(c) == VERDICT_UNKNOWN) {
        put_verdict(f, "skipped", c->detail);
    } else {
        fputs("\n      <system-out>", f);
        quote_xml(f, c->detail);
        fputs("</system-out>\n    ", f);
    }
    fputs("</testcase>\n", f);
}

static void put_thresholds(FILE *f, const struct run *r)
{
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, verdicts);

    for (size_t i = 0; i < n; i++) {
        put_case(f, r, verdicts[i].threshold.text, 0, 0);
        if (!verdicts[i].ok)
            put_verdict(f, "failure", verdicts[i].detail);
        fputs("</testcase>\n", f);
    }
}

int export_write_junit(FILE *f, const struct run *r)
{
    struct counts c = count(r);
    char when[32];

    json_time(r->started, when, sizeof(when));
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll\"", f);
    put_counts(f, &c, seconds(r));
    fputs(">\n  <testsuite name=\"plimsoll.", f);
    quote_xml(f, r->scenario->name);
    fprintf(f, "\" timestamp=\"%.19s\"", when); /* without the Z, as its schema wants */
    put_counts(f, &c, seconds(r));
    fputs(">\n", f);
    put_properties(f, r);
    put_case(f, r, "outcome", 0, seconds(r));
    if (!ended_well(r)) {
        fprintf(f, "\n      <error type=\"%s\" message=\"", outcome_name(r->outcome));
        quote_xml(f, r->reason);
        fputs("\"/>\n    ", f);
    }
    fputs("</testcase>\n", f);
    put_thresholds(f, r);
    for (size_t i = 0; i < r->trials_begun; i++)
        for (size_t k = 0; k < r->trials[i]->check_count; k++)
            put_check(f, r, r->trials[i], &r->trials[i]->checks[k]);
    fputs("  </testsuite>\n</testsuites>\n", f);
    return 0;
}
