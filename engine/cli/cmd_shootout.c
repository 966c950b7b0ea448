/* plimsoll shootout: one of the documents as one table. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/cli/headless.h"
#include "engine/cli/outlet.h"
#include "engine/cli/progress.h"
#include "engine/report/shootout_report.h"
#include "engine/units.h"

#define NS_PER_MINUTE 60000000000ull

static const struct flag flags[] = {
    {"rounds", 0, "N", "how often each contestant is carried out; default 7, quick 6"},
    {"each", 0, "TIME", "of a trial at one message size; default 300ms, quick 100ms"},
    {"time-limit", 0, "TIME", "begin nothing after this time; default 15m, quick 2m"},
    {"seed", 0, "N", "of the order of the rounds; default 1"},
    {"quick", 0, NULL, "smaller than documented and fewer sizes, for a first look"},
    {"save", 0, NULL, "keep every run among the saved ones"},
    OUTLET_FLAGS,
    {"quiet", 'q', NULL, "no progress and no text"},
    {"verbose", 'v', NULL, "print what the workers say"},
    {"help", 0, NULL, "this text"},
    {0},
};

/* A number or a time within bounds; untouched when the flag was not given. */
static int read_number(const struct arguments *a, const char *flag, enum unit_kind kind,
                       uint64_t low, uint64_t high, uint64_t *value, struct fail *fail)
{
    const char *text = arguments_flag(a, flag);
    char from[32], to[32];

    if (!text)
        return 0;
    if (units_parse(kind, text, value) == 0 && *value >= low && *value <= high)
        return 0;
    units_format_exact(kind, low, from, sizeof(from));
    units_format_exact(kind, high, to, sizeof(to));
    return fail_usage(fail, "shootout", "--%s cannot be '%.40s': it takes %s..%s", flag,
                      text, from, to);
}

static int read_flags(const struct arguments *a, struct shootout *s, struct fail *fail)
{
    uint64_t rounds = s->rounds.rounds, seed = 1;

    s->rounds.limit_ns = (s->quick ? 2 : 15) * NS_PER_MINUTE;
    if (read_number(a, "rounds", UNIT_COUNT, 1, ROUNDS_MAX, &rounds, fail) < 0 ||
        read_number(a, "seed", UNIT_COUNT, 0, UINT64_MAX, &seed, fail) < 0 ||
        read_number(a, "time-limit", UNIT_DURATION, 1, 24 * 60 * NS_PER_MINUTE,
                    &s->rounds.limit_ns, fail) < 0)
        return -EINVAL;
    s->rounds.rounds = (unsigned)rounds;
    s->rounds.seed = seed;
    s->rounds.save = arguments_flag(a, "save") != NULL;
    return outlets_check(shootout_formats, NULL, a, fail);
}

/* The time of a trial at one size belongs to the contestants that have sizes. */
static int read_each(const struct arguments *a, struct shootout *s, struct fail *fail)
{
    uint64_t each = s->each_ns;

    if (read_number(a, "each", UNIT_DURATION, 10000000, NS_PER_MINUTE, &each, fail) < 0)
        return -EINVAL;
    s->each_ns = each;
    for (size_t i = 0; i < s->rounds.count; i++)
        if (shootout_has_size(s, i) &&
            options_set_number(&s->contestants[i].values, OPTION_duration, each) < 0)
            return fail_set(fail, ENOMEM, "shootout", "a shoot-out");
    return 0;
}

static int carry_out(const struct arguments *a, const struct options *typed,
                     struct fail *fail)
{
    struct progress progress;
    struct shootout s = {0};
    int code = EXIT_OK;
    int rc = shootout_make(&s, a->operands[0], arguments_flag(a, "quick") != NULL, typed,
                           fail);

    progress_init(&progress, a);
    progress.verbose = arguments_flag(a, "verbose") != NULL;
    s.rounds.ops = &progress_of_rounds;
    s.rounds.arg = &progress;
    if (rc == 0 && read_flags(a, &s, fail) == 0 && read_each(a, &s, fail) == 0 &&
        shootout_carry_out(&s, fail) == 0)
        code = outlets_write(shootout_formats, shootout_write_text, &s, a,
                             headless_rounds_code(&s.rounds));
    shootout_done(&s);
    return code;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct options typed = {0};
    struct arguments a = {0};
    struct fail fail = {0};
    int code = EXIT_OK;
    unsigned families = argc > 0 ? shootout_families(argv[0]) : 0;

    if (arguments_parse(&a, argc, argv, families, flags, &typed, &fail) == 0) {
        if (arguments_flag(&a, "help"))
            command_help(command, 0, NULL);
        else if (a.operand_count != 1)
            fail_usage(&fail, "shootout",
                       "which shoot-out? plimsoll shootout stream, udp or services");
        else if (arguments_typed(&a, OPTION_trials))
            fail_usage(&fail, "shootout",
                       "each round is one trial: --rounds says how many");
        else
            code = carry_out(&a, &typed, &fail);
    }
    arguments_done(&a);
    options_done(&typed);
    return fail.err ? command_fails(&fail) : code;
}

const struct command command_shootout = {
    .name = "shootout",
    .usage = "shootout stream|udp|services [options]",
    .help = "one of the documents as one table: who is fastest, and where",
    .flags = flags,
    .run = run,
};
