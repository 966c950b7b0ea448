#include "engine/cli/against.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/cli/headless.h"
#include "engine/cli/outlet.h"
#include "engine/cli/progress.h"
#include "engine/recording.h"
#include "engine/report/compare_report.h"
#include "engine/rounds.h"
#include "engine/secret.h"
#include "engine/store.h"
#include "engine/threshold.h"
#include "engine/units.h"
#include "protocols/utf8.h"

/* Options of a comparison. */

/* Call `take` for each line of a flag's text. */
static int each_line(const char *text, int (*take)(void *arg, const char *line),
                     void *arg)
{
    char *copy = text ? strdup(text) : NULL;
    char *rest = copy;
    int rc = text && !copy ? -ENOMEM : 0;

    for (char *line; rc == 0 && (line = strsep(&rest, "\n"));)
        rc = take(arg, line);
    free(copy);
    return rc;
}

struct reading {
    struct compare_options *options;
    struct fail *fail;
};

static int take_metric(void *arg, const char *line)
{
    struct reading *r = arg;
    struct compare_options *o = r->options;
    enum metric metric;

    if (threshold_metric(line, &metric, r->fail) < 0)
        return -EINVAL;
    for (size_t i = 0; i < o->metric_count; i++)
        if (o->metrics[i] == metric)
            return 0;
    o->metrics[o->metric_count++] = metric;
    return 0;
}

int compare_read_options(const struct arguments *a, struct compare_options *options,
                         struct fail *fail)
{
    const char *at_least = arguments_flag(a, "at-least");
    const char *fail_on = arguments_flag(a, "fail-on");
    struct reading reading = {options, fail};
    char *end;

    options->at_least = COMPARE_AT_LEAST;
    if (at_least) {
        double percent = strtod(at_least, &end);

        if (end == at_least || strcmp(*end == '%' ? end + 1 : end, "") != 0 ||
            !(percent >= 0 && percent <= 100))
            return fail_usage(fail, "compare",
                              "--at-least cannot be '%.40s': it takes 0..100, per cent",
                              at_least);
        options->at_least = percent / 100;
    }
    if (fail_on && strcmp(fail_on, "worse") != 0)
        return fail_usage(fail, "compare", "--fail-on cannot be '%.40s': it takes worse",
                          fail_on);
    return each_line(arguments_flag(a, "metric"), take_metric, &reading);
}

int compare_exit_code(const struct comparison *c, const struct arguments *a, int code)
{
    if (code == EXIT_OK && arguments_flag(a, "fail-on") &&
        comparison_has(c, EVIDENCE_WORSE))
        return EXIT_THRESHOLD;
    return code;
}

/* The two contestants. */

/* A pair of contestants in the making: [0] is what is compared with, [1] the run. */
struct pair {
    struct contestant *contestants;
    const struct scenario *scenario;
    const struct arguments *arguments;
    struct fail *fail;
};

static const struct param *param_named(const struct scenario *s, const char *line)
{
    const char *equals = strchr(line, '=');
    char name[64];

    if (!equals || (size_t)(equals - line) >= sizeof(name))
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int)(equals - line), line);
    return param_find(s->family->bit, name);
}

/* The contestants are called by what they differ in. */
static int add_names(struct contestant *contestants, const struct param *p)
{
    struct options hidden[2] = {0};
    char numbers[2][PARAM_NUMBER_MAX];
    const char *values[2];
    char texts[2][40];
    int rc = 0;

    for (int i = 0; i < 2; i++) {
        rc = rc ? rc : secrets_hide(&contestants[i].values, &hidden[i]);
        values[i] = options_text(&hidden[i], p->option,
                                 param_value(&contestants[i].values, p, numbers[i]));
    }
    param_contrast(values[0], values[1], texts[0], texts[1], sizeof(texts[0]));
    for (int i = 0; i < 2; i++) {
        struct contestant *c = &contestants[i];
        size_t len = strlen(c->name);

        snprintf(c->name + len, sizeof(c->name) - len, "%s%s=%s", len ? " " : "", p->name,
                 texts[i]);
        utf8_printable(c->name);
        options_done(&hidden[i]);
    }
    return rc;
}

static int take_change(void *arg, const char *line)
{
    struct pair *pair = arg;
    const struct param *p = param_named(pair->scenario, line);
    struct contestant *a = &pair->contestants[0];
    int rc;

    if (!p)
        return fail_usage(pair->fail, "against",
                          "--against '%.60s': %s has no such parameter", line,
                          pair->scenario->name);
    if (p->flags & PARAM_REPEAT && options_set_text(&a->values, p->option, "") < 0)
        return -ENOMEM;
    rc = param_set(&a->values, p, strchr(line, '=') + 1, pair->fail);
    return rc ? rc : add_names(pair->contestants, p);
}

/* The scenario's defaults, with what was typed for the other. */
static int take_scenario(struct pair *pair, const struct scenario *other)
{
    struct contestant *a = &pair->contestants[0];
    const struct contestant *b = &pair->contestants[1];
    int rc;

    if (other->family != pair->scenario->family)
        return fail_usage(pair->fail, "against", "%s and %s do not measure the same",
                          pair->scenario->name, other->name);
    options_done(&a->values);
    a->values = (struct options){0};
    a->scenario = other;
    rc = scenario_defaults(other, &a->values);
    if (rc == 0 && arguments_flag(pair->arguments, "as-documented"))
        rc = scenario_as_documented(other, &a->values);
    if (rc == 0 && arguments_flag(pair->arguments, "quick"))
        rc = scenario_quick(other, &a->values);
    for (const struct param *p = param_table(); rc == 0 && p->name; p++) {
        if (!scenario_has(other, p) || !arguments_typed(pair->arguments, p->option))
            continue;
        rc = p->type == PARAM_TEXT || p->type == PARAM_CHOICE
                 ? options_set_text(&a->values, p->option,
                                    options_text(&b->values, p->option, ""))
                 : options_set_number(&a->values, p->option,
                                      options_number(&b->values, p->option, 0));
    }
    snprintf(a->name, sizeof(a->name), "%s", other->name);
    snprintf(pair->contestants[1].name, sizeof(a->name), "%s", pair->scenario->name);
    return rc;
}

static int take_saved(struct pair *pair, const char *word)
{
    struct contestant *a = &pair->contestants[0];
    char path[PATH_MAX];
    struct run *r;
    int rc;

    if (store_find(word, path, sizeof(path), pair->fail) < 0)
        return -pair->fail->err;
    r = recording_load(path, pair->fail);
    if (!r)
        return -pair->fail->err;
    options_done(&a->values);
    a->values = (struct options){0};
    a->scenario = r->scenario;
    rc = options_copy(&a->values, &r->values);
    if (rc == 0 && r->scenario->family != pair->scenario->family)
        rc = fail_usage(pair->fail, "against",
                        "run %s is of %s, which does not measure what %s does", r->id,
                        r->scenario->name, pair->scenario->name);
    snprintf(a->name, sizeof(a->name), "as in %s", r->id);
    snprintf(pair->contestants[1].name, sizeof(a->name), "now");
    run_free(r);
    return rc;
}

static int take_changes(struct pair *pair, const char *lines)
{
    struct contestant *c = pair->contestants;
    int rc = each_line(lines, take_change, pair);

    if (strcmp(c[0].name, c[1].name) == 0) {
        snprintf(c[0].name, sizeof(c[0].name), "changed");
        snprintf(c[1].name, sizeof(c[1].name), "as given");
    }
    return rc;
}

static int make_pair(struct pair *pair, const struct options *values)
{
    const char *other = arguments_flag(pair->arguments, "against");
    int rc = 0;

    for (int i = 0; rc == 0 && i < 2; i++) {
        pair->contestants[i].scenario = pair->scenario;
        rc = options_copy(&pair->contestants[i].values, values);
    }
    if (rc < 0)
        return rc;
    if (other[strcspn(other, "=/")] == '=') /* the value may hold anything */
        rc = take_changes(pair, other);
    else if (strchr(other, '\n'))
        rc = fail_usage(pair->fail, "against",
                        "--against may be repeated with PARAM=VALUE alone");
    else if (scenario_find(other))
        rc = take_scenario(pair, scenario_find(other));
    else
        rc = take_saved(pair, other);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = options_set_number(&pair->contestants[i].values, OPTION_trials, 1);
    return rc;
}

/* The whole. */

static int read_rounds(const struct arguments *a, unsigned *rounds, struct fail *fail)
{
    const char *text = arguments_flag(a, "rounds");
    uint64_t n = AGAINST_ROUNDS;

    if (text && (units_parse(UNIT_COUNT, text, &n) < 0 || n < 1 || n > ROUNDS_MAX))
        return fail_usage(fail, "rounds", "--rounds cannot be '%.40s': it takes 1..%d",
                          text, ROUNDS_MAX);
    *rounds = (unsigned)n;
    return 0;
}

/* What says something of one run, and what is written of one, has no place here. */
static int check_flags(const struct arguments *a, struct fail *fail)
{
    if (arguments_typed(a, OPTION_trials))
        return fail_usage(
            fail, "against",
            "with --against each round is one trial: --rounds says how many");
    if (arguments_typed(a, OPTION_threshold))
        return fail_usage(
            fail, "against",
            "thresholds are for one run: with --against use --fail-on worse");
    for (const struct export_format *const *f = export_table(); *f; f++) {
        bool is_for_both = false;

        for (const struct export_format *const *c = compare_formats; *c; c++)
            is_for_both |= strcmp((*c)->name, (*f)->name) == 0;
        if (!is_for_both && arguments_flag(a, (*f)->name))
            return fail_usage(fail, "against",
                              "--%s is for one run; a comparison is written as --json, "
                              "--markdown or --html",
                              (*f)->name);
    }
    return outlets_check(compare_formats, NULL, a, fail);
}

static int tell(const struct rounds *r, const struct compare_options *options,
                const struct arguments *a)
{
    const struct contestant *c = r->contestants;
    size_t pairs = c[0].count < c[1].count ? c[0].count : c[1].count;
    struct compare_side sides[2];
    struct comparison *comparison;
    struct fail fail = {0};
    int code = headless_rounds_code(r);

    for (int i = 0; i < 2; i++) {
        sides[i] = (struct compare_side){c[i].name, pairs, c[i].runs};
        outlets_secrets(a, c[i].runs, pairs);
    }
    comparison = comparison_new(&sides[0], &sides[1], options, &fail);
    if (comparison) {
        code = outlets_write(compare_formats, compare_write_text, comparison, a, code);
        code = compare_exit_code(comparison, a, code);
    } else if (code == EXIT_OK || code == EXIT_INTERRUPTED) {
        /* Nothing to compare is no news after an interrupt, nor of the wrong usage. */
        fprintf(stderr, "plimsoll: %s.\n", fail.sentence);
        code = code == EXIT_OK ? EXIT_FAILED : code;
    }
    comparison_free(comparison);
    if (r->end == ROUNDS_FAILED)
        fprintf(stderr, "plimsoll: failed: %s.\n", r->reason);
    return code;
}

int against_run(const struct scenario *s, const struct options *values,
                const struct arguments *a)
{
    struct contestant contestants[2] = {0};
    struct progress progress;
    struct rounds rounds = {.count = 2,
                            .contestants = contestants,
                            .save = !arguments_flag(a, "no-save"),
                            .ops = &progress_of_rounds,
                            .arg = &progress};
    struct compare_options options = {.paired = true};
    struct fail fail = {0};
    struct pair pair = {contestants, s, a, &fail};
    int code;

    progress_init(&progress, a);
    progress.verbose = arguments_flag(a, "verbose") != NULL;
    if (check_flags(a, &fail) == 0 && read_rounds(a, &rounds.rounds, &fail) == 0 &&
        compare_read_options(a, &options, &fail) == 0 && make_pair(&pair, values) < 0)
        fail_set(&fail, ENOMEM, "against", "making the contestants");
    if (!fail.err)
        rounds_carry_out(&rounds, &fail);
    code = fail.err ? command_fails(&fail) : tell(&rounds, &options, a);
    rounds_done(&rounds);
    return code;
}
