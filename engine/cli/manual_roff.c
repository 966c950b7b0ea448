/* plimsoll(1) in man(7) macros. */
#include <ctype.h>
#include <string.h>

#include "engine/cli/manual.h"
#include "engine/report/export.h"
#include "engine/trial.h"
#include "protocols/array.h"

/*
 * Text for roff: no line of it may read as a request, a hyphen stays one, and an option
 * is not parted at the end of a line.
 */
static void put_text(FILE *f, const char *text)
{
    char before = ' ';

    if (*text == '.' || *text == '\'')
        fputs("\\&", f);
    for (; *text; before = *text++) {
        if (text[0] == '-' && text[1] == '-' && strchr(" ([", before))
            fputs("\\%", f);
        switch (*text) {
        case '\\':
            fputs("\\e", f);
            break;
        case '-':
            fputs("\\-", f);
            break;
        case '^':
            fputs("\\(ha", f);
            break;
        case '~':
            fputs("\\(ti", f);
            break;
        case '\'':
            fputs("\\(aq", f);
            break;
        case '"':
            fputs("\\(dq", f);
            break;
        default:
            fputc(*text, f);
        }
    }
}

/* The help texts of the tables begin small and have no full stop. */
static void put_sentence(FILE *f, const char *text)
{
    fputc(toupper((unsigned char)*text), f);
    put_text(f, text + 1);
    fputs(".\n", f);
}

static void section(FILE *f, const char *title)
{
    fprintf(f, ".SH %s\n", title);
}

static void paragraph(FILE *f, const char *text)
{
    fputs(".PP\n", f);
    put_text(f, text);
    fputc('\n', f);
}

/* A term and what it means. */
static void entry(FILE *f, const char *term, const char *text)
{
    fputs(".TP\n.B ", f);
    put_text(f, term);
    fputc('\n', f);
    put_sentence(f, text);
}

static void print_synopsis(FILE *f)
{
    section(f, "SYNOPSIS");
    fputs(".B plimsoll\n", f);
    for (const struct command *const *c = command_table(); *c; c++) {
        fputs(".br\n.B plimsoll\n", f);
        put_text(f, (*c)->usage);
        fputc('\n', f);
    }
}

static void print_flag(FILE *f, const struct flag *flag)
{
    fputs(".TP\n.B ", f);
    if (flag->letter)
        fprintf(f, "\\-%c\\fR, \\fB", flag->letter);
    fputs("\\-\\-", f);
    put_text(f, flag->name);
    if (flag->value) {
        fputs(" \\fI", f);
        put_text(f, flag->value);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    put_sentence(f, flag->help);
}

static void print_flags(FILE *f, const struct command *c)
{
    for (const struct flag *flag = c->flags; flag && flag->name; flag++)
        if (strcmp(flag->name, "help") != 0)
            print_flag(f, flag);
}

static void print_commands(FILE *f)
{
    const struct command *before = NULL;

    section(f, "COMMANDS");
    for (const struct command *const *c = command_table(); *c; c++) {
        struct command_word word;

        fputs(".SS ", f);
        put_text(f, (*c)->usage);
        fputs("\n", f);
        put_sentence(f, (*c)->help);
        for (size_t i = 0; (*c)->word && !(*c)->family && (*c)->word(i, &word); i++)
            if (!scenario_find(word.name))
                entry(f, word.name, word.help);
        if (before && before->flags == (*c)->flags)
            fprintf(f, "Its options are those of %s.\n", before->name);
        else
            print_flags(f, *c);
        before = *c;
    }
}

static void print_scenario(FILE *f, const struct scenario *s)
{
    entry(f, s->name, s->title);
    fputs(".IP\n", f);
    put_text(f, s->about);
    fputc('\n', f);
    if (*s->documented) {
        fputs(".IP\nDocumented elsewhere: ", f);
        put_text(f, s->documented);
        fputs(".\n", f);
    }
}

static void print_scenarios(FILE *f)
{
    const char *group = "";
    size_t count;
    const struct scenario *table = scenario_table(&count);

    section(f, "SCENARIOS");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(group, table[i].group) != 0) {
            fputs(".SS ", f);
            put_text(f, table[i].group);
            fputc('\n', f);
        }
        group = table[i].group;
        print_scenario(f, &table[i]);
    }
}

static void print_param(FILE *f, const struct param *p)
{
    char option[40], range[80], families[120];
    struct value value;

    param_option(p, option, sizeof(option));
    param_range(p, range, sizeof(range));
    family_text(p->families, families, sizeof(families));
    value_of_param(p, &value);
    fputs(".TP\n.B ", f);
    if (p->letter)
        fprintf(f, "\\-%c\\fR, \\fB", p->letter);
    fputs("\\-\\-", f);
    put_text(f, option);
    if (value.kind != VALUE_NONE) {
        fputs(" \\fI", f);
        put_text(f, p->type == PARAM_COUNT || p->type == PARAM_TEXT ? value.name : range);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    fputc(toupper((unsigned char)*p->help), f);
    put_text(f, p->help + 1);
    fputs(" (", f);
    put_text(f, families);
    fputs(").\n", f);
    if (p->type == PARAM_COUNT)
        fprintf(f, "%s.\n", range);
    if (p->zero) {
        fputs("0 means: ", f);
        put_text(f, p->zero);
        fputs(".\n", f);
    }
    if (*p->fallback && strcmp(p->fallback, "0") != 0) {
        fputs("The default is ", f);
        put_text(f, p->fallback);
        fputs(".\n", f);
    }
}

static void print_params(FILE *f)
{
    section(f, "PARAMETERS");
    paragraph(f, "Parameters are options of run, http and serve. plimsoll run SCENARIO "
                 "--help lists those of a scenario and their defaults. Times are "
                 "500ms, 10s, 2m, 1h; counts 10k, 1m; sizes 64KiB, 10MB, 1GiB. A "
                 "switch is --name, --no-name or --name=off.");
    for (const struct param *p = param_table(); p->name; p++)
        print_param(f, p);
}

static void print_metrics(FILE *f)
{
    section(f, "THRESHOLDS");
    paragraph(f,
              "A threshold is a metric, one of < <= > >=, and a limit with its unit: "
              "p99<5ms, loss<=0.1%, throughput>500MB/s, rps>10k/s. It is judged on the "
              "median over the trials. A metric that was not measured fails. Short "
              "names are p50, p75, p90, p95, p99, p99.9, p99.99, max, mean, loss, "
              "errors, throughput, rps, received and seconds; the metrics are:");
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *row = metric_row((enum metric)i);
        char text[160];

        snprintf(text, sizeof(text), "%s, in %s", row->help, row->unit);
        entry(f, row->name, text);
    }
}

static void print_exit_codes(FILE *f)
{
    section(f, "EXIT STATUS");
#define X(name, code, help) entry(f, #code, help);
    EXIT_CODES(X)
#undef X
}

static void print_surroundings(FILE *f)
{
    section(f, "SAVED RUNS");
    paragraph(f,
              "Every run is recorded while it goes on, unless --no-save is given. RUN "
              "is the id of a saved run or any part of its beginning that no other has, "
              "last for the newest, last~1 for the one before it, or the path of a "
              "recording. A program that is killed loses the last tenth of a second; "
              "the run is then marked as interrupted.");
    section(f, "FILES");
    entry(
        f, "$XDG_STATE_HOME/plimsoll/runs/",
        "the saved runs, one file each; ~/.local/state/plimsoll/runs/ if the variable is "
        "not set");
    entry(f, "$XDG_RUNTIME_DIR/plimsoll-UID/",
          "sockets and FIFOs of servers that were given no path; $TMPDIR, else /tmp, if "
          "the variable is not set");
    section(f, "ENVIRONMENT");
    entry(f, "PLIMSOLL_LIBEXEC",
          "the directory in which plimsoll-engine and plimsoll-once are looked for");
    entry(f, "NO_COLOR", "the console draws without colours");
    entry(f, "TERM, LC_ALL",
          "what the console's terminal can show; files never depend on "
          "the locale");
}

static void print_examples(FILE *f)
{
    static const struct {
        const char *line, *text;
    } rows[] = {
        {"plimsoll run tcp-bulk --size 256MiB --trials 3",
         "how fast a file goes both ways over one TCP connection"},
        {"plimsoll http http://127.0.0.1:8080/ -c 50 -d 10s -R 2000 --threshold p99<20ms",
         "2000 requests a second for ten seconds; exit status 1 if p99 is not below 20 "
         "ms"},
        {"plimsoll run udp-cached-parallel --json result.json --markdown -",
         "the result as a document, and as a table on standard output"},
        {"plimsoll show last", "the report of the newest saved run"},
    };

    section(f, "EXAMPLES");
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        entry(f, rows[i].line, rows[i].text);
}

void manual_roff(FILE *f)
{
    fputs(".TH PLIMSOLL 1 \"\" \"plimsoll " PLIMSOLL_VERSION "\" \"User Commands\"\n", f);
    section(f, "NAME");
    fputs("plimsoll \\- how much load a transport, a way of sending or a service can "
          "carry\n",
          f);
    print_synopsis(f);
    section(f, "DESCRIPTION");
    paragraph(f,
              "plimsoll starts the servers and the clients of a scenario, drives them, "
              "and shows throughput, latency, messages received and packet loss while "
              "they run. Without a command it is a console in the terminal; the "
              "commands do the same without a screen. plimsoll-engine has the commands "
              "alone, for machines without a terminal library.");
    paragraph(f,
              "What it starts listens on this machine only, and it loads other machines "
              "only with --remote-target.");
    print_commands(f);
    print_scenarios(f);
    print_params(f);
    print_metrics(f);
    print_surroundings(f);
    print_exit_codes(f);
    print_examples(f);
}
