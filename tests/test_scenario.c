/* The scenario table: every row holds together, and holds what was documented. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/scenario.h"
#include "engine/trial.h"
#include "protocols/array.h"
#include "protocols/role.h"

static const struct scenario *row(size_t i)
{
    size_t count;

    return &scenario_table(&count)[i];
}

static size_t rows(void)
{
    size_t count;

    scenario_table(&count);
    return count;
}

static void every_row_is_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < rows(); i++) {
        const struct scenario *s = row(i);

        assert_ptr_equal(scenario_find(s->name), s);
        assert_true(*s->title && s->title[strlen(s->title) - 1] != '.');
        assert_true(strlen(s->about) > 40);
        assert_int_equal(s->about[strlen(s->about) - 1], '.');
        assert_non_null(s->documented);
        for (int place = 0; place < PLACE_COUNT; place++)
            assert_true(!s->roles[place] || role_find(s->roles[place]));
        assert_non_null(s->roles[PLACE_CLIENT]);
        assert_true(s->roles[PLACE_SERVER] || s->family->url);
        assert_true(!s->roles[PLACE_ENDPOINT] || s->family->bit == FAMILY_SERVICE);
        /* One family, and one only: a name in `defaults` means one parameter. */
        assert_int_equal(s->family->bit & (s->family->bit - 1), 0);
    }
    assert_null(scenario_find("nothing"));
    assert_null(scenario_find(""));
}

static void names_and_letters_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < rows(); i++)
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(row(i)->name, row(k)->name);
            assert_int_not_equal(row(i)->letter, row(k)->letter);
        }
}

/* Groups are shown under one heading each, so their rows stand together. */
static void groups_are_not_scattered(void **state)
{
    (void)state;
    for (size_t i = 1; i < rows(); i++)
        for (size_t k = 0; k + 1 < i; k++)
            if (strcmp(row(i)->group, row(k)->group) == 0)
                assert_string_equal(row(i)->group, row(i - 1)->group);
}

static void references_name_metrics(void **state)
{
    (void)state;
    for (size_t i = 0; i < rows(); i++) {
        const struct reference *ref = row(i)->references;
        size_t n = 0;

        for (; n < SCENARIO_REFERENCES && ref[n].metric; n++) {
            assert_int_not_equal(metric_find(ref[n].metric), METRIC_COUNT);
            assert_in_range(ref[n].count, 1, 5);
            for (size_t v = 0; v < ref[n].count; v++)
                assert_true(ref[n].values[v] >= 0);
        }
        assert_true(n < SCENARIO_REFERENCES); /* ended by a NULL metric */
        assert_true(n == 0 || *row(i)->documented);
    }
}

/* Every pair whose name is a parameter of the family was taken and is in range. */
static void check_pairs(const struct scenario *s, const char *pairs,
                        const struct options *values)
{
    char *copy = strdup(pairs);
    char *rest = copy;

    for (char *pair; (pair = strsep(&rest, ";")) && *pair;) {
        char *value = strchr(pair, '=');
        const struct param *p;
        struct options wanted = {0};
        char want[300], have[300];

        assert_non_null(value);
        *value++ = '\0';
        p = param_find(s->family->bit, pair);
        if (!p) {
            assert_string_equal(options_text(values, option_find(pair), ""), value);
            continue;
        }
        assert_int_equal(param_set(&wanted, p, value, NULL), 0);
        param_text(&wanted, p, want, sizeof(want));
        param_text(values, p, have, sizeof(have));
        assert_string_equal(want, have);
        options_done(&wanted);
    }
    free(copy);
}

static void defaults_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < rows(); i++) {
        struct options values = {0};

        assert_int_equal(scenario_defaults(row(i), &values), 0);
        check_pairs(row(i), row(i)->defaults, &values);
        for (const struct param *p = param_table(); p->name; p++) {
            char text[300];

            if (!scenario_has(row(i), p))
                continue;
            param_text(&values, p, text, sizeof(text));
            assert_true(*text || p->type == PARAM_TEXT);
        }
        /* Again is the same: a repeated text is not doubled. */
        assert_int_equal(scenario_defaults(row(i), &values), 0);
        check_pairs(row(i), row(i)->defaults, &values);
        assert_int_equal(scenario_quick(row(i), &values), 0);
        check_pairs(row(i), row(i)->quick, &values);
        options_done(&values);
    }
}

/* A misspelt parameter in a row would be handed to the roles as a value of its own. */
static void other_pairs_are_those_that_roles_know(void **state)
{
    static const char *const known[] = {"transport", "socket", "dispatch",
                                        "upstream_kind", "path"};

    (void)state;
    for (size_t i = 0; i < rows(); i++) {
        struct options values = {0};

        assert_int_equal(scenario_defaults(row(i), &values), 0);
        assert_int_equal(scenario_quick(row(i), &values), 0);
        for (size_t v = 0; v < values.count; v++) {
            bool found = scenario_param(row(i), values.values[v].option) != NULL;
            const char *name = option_name(values.values[v].option);

            for (size_t k = 0; k < NUMBER_OF(known); k++)
                found |= strcmp(known[k], name) == 0;
            if (!found)
                print_error("%s: %s\n", row(i)->name, name);
            assert_true(found);
        }
        options_done(&values);
    }
}

static uint64_t default_number(const char *scenario, enum option option)
{
    struct options values = {0};
    uint64_t number;

    assert_int_equal(scenario_defaults(scenario_find(scenario), &values), 0);
    number = options_number(&values, option, UINT64_MAX);
    options_done(&values);
    return number;
}

static void assert_default(const char *scenario, enum option option, const char *text)
{
    struct options values = {0};

    assert_int_equal(scenario_defaults(scenario_find(scenario), &values), 0);
    assert_string_equal(options_text(&values, option, ""), text);
    options_done(&values);
}

static double reference(const char *scenario, const char *metric, const char *where,
                        size_t i)
{
    const struct reference *ref = scenario_find(scenario)->references;

    while (ref->metric &&
           (strcmp(ref->metric, metric) != 0 || strcmp(ref->where, where) != 0))
        ref++;
    assert_non_null(ref->metric);
    assert_true(i < ref->count);
    return ref->values[i];
}

static void the_documented_experiments_are_there(void **state)
{
    static const char *const names[] = {"tcp-bulk",          "unix-bulk",
                                        "pipe-bulk",         "tcp-requests",
                                        "unix-requests",     "pipe-requests",
                                        "udp-fresh-series",  "udp-fresh-parallel",
                                        "udp-cached-series", "udp-cached-parallel",
                                        "rest-rest",         "rest-topper",
                                        "rest-direct",       "topper-direct"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(names); i++)
        assert_non_null(scenario_find(names[i]));
    assert_int_equal(default_number("tcp-bulk", OPTION_size), 1024ull * 1048576);
    assert_int_equal(default_number("pipe-bulk", OPTION_trials), 5);
    assert_int_equal(default_number("tcp-requests", OPTION_requests), 100);
    assert_int_equal(default_number("tcp-requests", OPTION_port), 4000);
    assert_int_equal(default_number("udp-fresh-series", OPTION_messages), 100000);
    assert_int_equal(default_number("udp-fresh-series", OPTION_port), 8123);
    assert_int_equal(default_number("rest-topper", OPTION_connections), 20);
    assert_int_equal(default_number("rest-topper", OPTION_amount), 5000);
    assert_int_equal(default_number("rest-topper", OPTION_port), 9000);
    assert_default("tcp-requests", OPTION_message,
                   "The quick brown fox jumps over the lazy dog.");
    assert_default("rest-rest", OPTION_headers, "Content-Type:Application/json");
    assert_default("rest-rest", OPTION_body,
                   "{\"numbers\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}");
    assert_float_equal(reference("tcp-bulk", "seconds", "Linux", 4), 2.496, 1e-9);
    assert_float_equal(reference("tcp-bulk", "seconds", "Windows", 0), 4.857, 1e-9);
    assert_float_equal(reference("pipe-requests", "seconds", "Windows", 2), 20.049, 1e-9);
    assert_float_equal(reference("udp-cached-parallel", "loss_percent", "", 0), 3.9,
                       1e-9);
    assert_float_equal(reference("rest-topper", "latency_mean_ns", "", 0), 24.16e6, 1);
    assert_true(scenario_find("udp-fresh-parallel")->exhausted_expected);
}

/* A document's figures stay as it writes them: 4.010, not 4.01. */
static void documented_figures_keep_their_digits(void **state)
{
    static const struct {
        const char *scenario, *metric, *text, *list;
    } figures[] = {
        {"pipe-bulk", "seconds", "3.998 s", "4.010 3.998 3.918 4.003 3.796 s"},
        {"tcp-requests", "seconds", "4.925 s", "5.140 4.900 4.925 4.842 5.059 s"},
        {"rest-topper", "latency_stdev_ns", "6.4 ms", ""},
        {"rest-topper", "requests_per_second", "714.29/s", ""},
        {"rest-rest", "bytes_per_second_stdev", "23 kB/s", ""},
        {"rest-rest", "read_bytes", "2.25 MB", ""},
        {"udp-cached-parallel", "loss_percent", "3.9 %", ""},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(figures); i++) {
        const struct reference *ref = reference_find(
            scenario_find(figures[i].scenario)->references, figures[i].metric);
        char text[80];

        assert_non_null(ref);
        reference_text(ref, text, sizeof(text));
        assert_string_equal(text, figures[i].text);
        reference_list(ref, text, sizeof(text));
        assert_string_equal(text, figures[i].list);
    }
    assert_null(reference_find(scenario_find("rest-direct")->references, "seconds"));
}

static void names_fill_what_there_is_room_for(void **state)
{
    const char *names[64];
    size_t count;

    (void)state;
    scenario_table(&count);
    assert_int_equal(scenario_names(names, 64), count);
    assert_string_equal(names[0], row(0)->name);
    assert_int_equal(scenario_names(names, 2), 2);
}

/* The differences of one kind, as they are said. */
static const char *said(const char *scenario, const struct options *values, bool departs,
                        char *text, size_t size)
{
    struct difference list[DIFFERENCES_MAX];

    differences_text(list, scenario_differences(scenario_find(scenario), values, list),
                     departs, text, size);
    return text;
}

static void set(const char *scenario, struct options *values, const char *pair)
{
    char name[32];
    const char *value = strchr(pair, '=') + 1;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(pair, "="), pair);
    assert_int_equal(param_set(values,
                               param_find(scenario_find(scenario)->family->bit, name),
                               value, NULL),
                     0);
}

static void departures_from_the_experiment_are_told(void **state)
{
    const char *s = "tcp-requests";
    struct options values = {0};
    char text[256], cut[16];

    (void)state;
    assert_int_equal(scenario_defaults(scenario_find(s), &values), 0);
    assert_string_equal(said(s, &values, true, text, sizeof(text)), "");
    /* The same experiment, elsewhere and more often. */
    set(s, &values, "port=4711");
    set(s, &values, "trials=9");
    assert_string_equal(said(s, &values, true, text, sizeof(text)), "");
    set(s, &values, "requests=500");
    set(s, &values, "client=persistent");
    assert_string_equal(said(s, &values, true, text, sizeof(text)),
                        "requests 500 (documented 100), client persistent "
                        "(documented process)");
    assert_string_equal(said(s, &values, true, cut, sizeof(cut)), "requests 500 (d");
    options_done(&values);
}

/* A value is compared whole, though what is said of it is cut. */
static void values_that_differ_late_differ(void **state)
{
    struct options values = {0};
    char header[400], text[512];

    (void)state;
    assert_int_equal(scenario_defaults(scenario_find("rest-rest"), &values), 0);
    memset(header, 'x', sizeof(header));
    snprintf(header + 300, sizeof(header) - 300, "y");
    assert_int_equal(options_set_text(&values, OPTION_body, header), 0);
    assert_string_not_equal(said("rest-rest", &values, true, text, sizeof(text)), "");
    options_done(&values);
}

/*
 * What only instruments, or moves the same bytes more cheaply, is a note; the document's
 * own values are neither note nor departure, nor is a file of the user's.
 */
static void what_measures_more_or_moves_cheaper_is_noted(void **state)
{
    static const struct {
        const char *scenario, *pair, *notes, *departures;
    } rows[] = {
        {"udp-cached-series", NULL, "payload (here: stamped; the document: plain)", ""},
        {"udp-cached-series", "payload=plain", "", ""},
        {"udp-cached-series", "resolve=once",
         "payload (here: stamped; the document: plain)",
         "resolve once (documented each)"},
        {"udp-cached-parallel", NULL,
         "batch (here: 1024; the document: 1), "
         "payload (here: stamped; the document: plain)",
         ""},
        {"tcp-bulk", NULL,
         "block (here: 256KiB; the document: 64KiB), "
         "method (here: auto; the document: copy), "
         "congestion (here: auto; the document: system)",
         ""},
        {"unix-bulk", "file=/dev/null",
         "block (here: 256KiB; the document: 64KiB), "
         "method (here: auto; the document: copy)",
         ""},
        {"tcp-requests", "congestion=system", "", ""},
        {"tcp-requests", "pin=0/1",
         "congestion (here: auto; the document: system), "
         "pin (here: 0/1; the document: none)",
         ""},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct options values = {0};
        char text[512];

        assert_int_equal(scenario_defaults(scenario_find(rows[i].scenario), &values), 0);
        if (rows[i].pair)
            set(rows[i].scenario, &values, rows[i].pair);
        assert_string_equal(said(rows[i].scenario, &values, false, text, sizeof(text)),
                            rows[i].notes);
        assert_string_equal(said(rows[i].scenario, &values, true, text, sizeof(text)),
                            rows[i].departures);
        options_done(&values);
    }
}

/* With the document's values there is nothing to be said, and they are taken. */
static void the_documents_values_differ_in_nothing(void **state)
{
    struct difference list[DIFFERENCES_MAX];

    (void)state;
    for (size_t i = 0; i < rows(); i++) {
        struct options values = {0};

        assert_int_equal(scenario_defaults(row(i), &values), 0);
        for (size_t k = scenario_differences(row(i), &values, list); k-- > 0;)
            assert_false(list[k].departs); /* the defaults do the documented work */
        assert_int_equal(scenario_as_documented(row(i), &values), 0);
        if (row(i)->as_documented)
            check_pairs(row(i), row(i)->as_documented, &values);
        assert_int_equal(scenario_differences(row(i), &values, list), 0);
        options_done(&values);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(names_and_letters_are_unique),
        cmocka_unit_test(groups_are_not_scattered),
        cmocka_unit_test(references_name_metrics),
        cmocka_unit_test(defaults_are_taken),
        cmocka_unit_test(other_pairs_are_those_that_roles_know),
        cmocka_unit_test(the_documented_experiments_are_there),
        cmocka_unit_test(documented_figures_keep_their_digits),
        cmocka_unit_test(names_fill_what_there_is_room_for),
        cmocka_unit_test(departures_from_the_experiment_are_told),
        cmocka_unit_test(values_that_differ_late_differ),
        cmocka_unit_test(what_measures_more_or_moves_cheaper_is_noted),
        cmocka_unit_test(the_documents_values_differ_in_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
