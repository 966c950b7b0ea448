/*
 * The scenario table: one row for each thing that plimsoll can measure. A row says
 * which roles run where, which values are its documented defaults, and what the
 * documented experiment gave. A scenario that recombines what is there is one row.
 */
#ifndef ENGINE_SCENARIO_H
#define ENGINE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/family.h"
#include "engine/param.h"
#include "engine/place.h"
#include "engine/reference.h"
#include "protocols/fail.h"
#include "protocols/options.h"

#define SCENARIO_REFERENCES 12

struct scenario {
    const char *name;               /* "tcp-bulk" */
    const char *group;              /* "stream", "udp", "service", "own" */
    char letter;                    /* selects it in the console */
    const struct family *family;    /* what it has in common with its like */
    const char *title;              /* one line, no full stop */
    const char *about;              /* what happens and what it shows: a paragraph */
    const char *roles[PLACE_COUNT]; /* role names; NULL: nobody stands there */

    /* "name=value" pairs, separated by ';'. A pair whose name is no parameter of
     * the family is handed to the roles as it is ("transport=tcp"). */
    const char *defaults;

    /*
     * The document's own values where the defaults are others: further pairs. The
     * defaults do the documented work, so each is of a PARAM_NOTED or PARAM_BESIDE.
     * NULL: there is none, or nothing is documented.
     */
    const char *as_documented;

    /* A smaller run of the same, for a first look: further pairs. */
    const char *quick;

    const char *documented; /* what the document reports, in words; "" if nothing */
    struct reference references[SCENARIO_REFERENCES]; /* ended by a NULL metric */
    bool exhausted_expected; /* running into a limit is the documented outcome */
};

/* Whether a parameter is one of the scenario's. */
bool scenario_has(const struct scenario *s, const struct param *p);

/* The scenario's parameter by its name, as param_find; NULL when there is none. */
const struct param *scenario_param(const struct scenario *s, enum option option);

/* All scenarios, in the order of the catalogue; *count is set. */
const struct scenario *scenario_table(size_t *count);

const struct scenario *scenario_find(const char *name); /* NULL when there is none */

/* The same for a name that a person typed, with a sentence when there is none. */
const struct scenario *scenario_named(const char *name, struct fail *fail);

/* The place that clients talk to: the endpoint's, where there is one. */
enum place scenario_facing(const struct scenario *s);

/*
 * Fill `values` with the fallbacks of every parameter of the family, then with the
 * scenario's defaults. 0 or -ENOMEM; values must be empty or hold values of the same
 * scenario. scenario_quick and scenario_as_documented add those pairs on top.
 */
typedef int preset_values(const struct scenario *s, struct options *values);

int scenario_defaults(const struct scenario *s, struct options *values);
int scenario_quick(const struct scenario *s, struct options *values);
int scenario_as_documented(const struct scenario *s, struct options *values);

/*
 * A value that is not the document's. Of another amount or kind of work it departs from
 * the documented experiment, whose figures are then another one's; else it is a note
 * beside them (PARAM_NOTED). Where the servers listen, how often it is repeated and what
 * is checked (PARAM_BESIDE) are no differences.
 */
struct difference {
    const struct param *param; /* borrowed: the table's */
    bool departs;
    char here[128], documented[128]; /* printable, cut to size; "none" if empty */
};

#define DIFFERENCES_MAX 64 /* more parameters than a scenario has */

/* Fill the list, which has room for DIFFERENCES_MAX, and return how many there are. */
size_t scenario_differences(const struct scenario *s, const struct options *values,
                            struct difference *list);

/*
 * Those that depart, "requests 500 (documented 100), client persistent (documented
 * process)", or those that do not, "payload (here: stamped; the document: plain)". Cut
 * to size, "" when there are none.
 */
void differences_text(const struct difference *list, size_t count, bool departs,
                      char *text, size_t size);

/* Names of all scenarios, for "did you mean": fills at most `count`, returns how many. */
size_t scenario_names(const char **names, size_t count);

#endif
