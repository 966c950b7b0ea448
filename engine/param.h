/*
 * The parameters: one description each, from which the command line, the form in the
 * console, the JSON of a run, `list` and the manual are made. Values live in a
 * `struct options` (protocols/options.h) in base units; what a person types goes
 * through param_set, so a value in a set is always in range.
 *
 * Scenarios come in families, and a parameter says to which families it belongs: that
 * is the whole of "which parameters has this scenario". Two families may use one name
 * for different things (`size`, `method`); within a family a name is unique.
 */
#ifndef ENGINE_PARAM_H
#define ENGINE_PARAM_H

#include <stddef.h>
#include <stdint.h>

#include "protocols/fail.h"
#include "protocols/options.h"

enum {
    FAMILY_BULK = 1,     /* a file each way over a stream */
    FAMILY_REQUESTS = 2, /* short requests over a stream */
    FAMILY_UDP = 4,
    FAMILY_SERVICE = 8, /* HTTP load on services that plimsoll spawns */
    FAMILY_HTTP = 16,   /* HTTP load on a server that is there */
    FAMILY_STREAM = FAMILY_BULK | FAMILY_REQUESTS,
    FAMILY_WEB = FAMILY_SERVICE | FAMILY_HTTP,
    FAMILY_ALL = 31,
    FAMILY_OPERATIONS = FAMILY_ALL & ~FAMILY_BULK, /* see engine/family.h */

    /* Servers alone (plimsoll serve): such a one has what its role reads. */
    SERVE_TCP = 32,  /* a stream server that has a port */
    SERVE_FILE = 64, /* one that has a path */
    SERVE_UDP = 128,
    SERVE_REST = 256,
    SERVE_GATEWAY = 512,
    SERVE_TOPPER = 1024,
    SERVE_STREAM = SERVE_TCP | SERVE_FILE,
    SERVE_HTTP = SERVE_REST | SERVE_GATEWAY,
    SERVE_PORT = SERVE_TCP | SERVE_UDP | SERVE_HTTP | SERVE_TOPPER,
};

enum param_type {
    PARAM_COUNT,    /* units_parse UNIT_COUNT */
    PARAM_SIZE,     /* bytes */
    PARAM_DURATION, /* ns */
    PARAM_FLAG,     /* 0 or 1; on the command line --name, --no-name or --name=off */
    PARAM_CHOICE,   /* one of `choices` */
    PARAM_TEXT,
};

enum {
    PARAM_SPLIT = 1,         /* an amount that several client processes share */
    PARAM_LIVE = 2,          /* can be changed while the run goes on */
    PARAM_REPEAT = 4,        /* may be given several times: a text of lines */
    PARAM_RUN = 8,           /* read by the engine, not sent to the workers */
    PARAM_FILE = 16,         /* the name of a file */
    PARAM_SIZING = 32,       /* how large a run is: shown though it is the default */
    PARAM_BESIDE = 64,       /* leaves the documented experiment the same one */
    PARAM_INDIFFERENT = 128, /* leaves two runs as comparable as they are */
    PARAM_NOTED = 256,       /* the documented work, measured more closely, done more
                              * cheaply or placed otherwise: said beside its figures */
};

struct param {
    unsigned families;
    enum option option;
    const char *name; /* "send_buffer"; the long option is --send-buffer */
    char letter;      /* the short option, or 0 */
    enum param_type type;
    const char *unit; /* what a number counts, for people; "" for texts */
    uint64_t min, max;
    const char *zero;     /* what 0 means ("no limit"), or NULL: 0 is just 0 */
    const char *choices;  /* PARAM_CHOICE: "both|up|down" */
    const char *fallback; /* the default where the scenario states none, as typed */
    unsigned flags;
    const char *help; /* one line, lower case, no full stop */
};

/* The whole table, ended by a row without a name. */
const struct param *param_table(void);

/*
 * A parameter of a family by its name as typed (with - or _, without leading
 * dashes) or by its letter (a text of one character). NULL when there is none.
 */
const struct param *param_find(unsigned family, const char *name);

/* The same for one that the program names itself. */
const struct param *param_of(unsigned family, enum option option);

/*
 * Check a typed text and store its value. 0, or -EINVAL with a sentence that names
 * the parameter, what was typed and what is allowed. A PARAM_REPEAT text is added as
 * a further line, others are replaced.
 */
int param_set(struct options *values, const struct param *p, const char *text,
              struct fail *fail);

/*
 * The value as text that param_set reads back, whole; "" when it is not set. It is the
 * values' own, valid until they change, or has been written to `number`.
 */
#define PARAM_NUMBER_MAX 48
const char *param_value(const struct options *values, const struct param *p,
                        char number[PARAM_NUMBER_MAX]);

/* The same, cut to what there is room for. */
void param_text(const struct options *values, const struct param *p, char *text,
                size_t size);

/*
 * Two values that are not the same, each in less than `size` bytes and so that one sees
 * where they differ: what is left out is "...".
 */
void param_contrast(const char *a, const char *b, char *a_text, char *b_text,
                    size_t size);

/* "1..1PiB", "both|up|down", "on|off", "text": for the form and the manual. */
void param_range(const struct param *p, char *text, size_t size);

/* "send-buffer": the name as the command line spells it. */
void param_option(const struct param *p, char *text, size_t size);

/*
 * The nearest of `count` words to what was typed, for "did you mean"; NULL when none
 * is near (more than a third of the letters differ).
 */
const char *nearest_word(const char *typed, const char *const *words, size_t count);

#endif
