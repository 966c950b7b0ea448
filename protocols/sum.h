/*
 * The work of the documented microservices: add the numbers of
 * {"numbers": [1, 2, ...]}. The REST and the Topper service share it, so that a
 * scenario compares transports and not two ways to add.
 */
#ifndef PROTOCOLS_SUM_H
#define PROTOCOLS_SUM_H

#include <stddef.h>

#include <cjson/cJSON.h>

struct sum {
    size_t count; /* at least 1 */
    double total; /* finite */
};

/*
 * Add up. NULL when it went well, otherwise a static sentence without a full stop
 * that says what is wrong with the document: it is no object, `numbers` is missing,
 * empty or holds something else, or a number or the sum is beyond a double.
 */
const char *sum_of(const cJSON *document, struct sum *sum);

/* Room for any number and the final NUL. */
#define SUM_TEXT_MAX 32

/* The shortest usual form: 15, 7.5, 1e+300. The decimal point is '.' in any locale. */
void sum_format(double value, char text[SUM_TEXT_MAX]);

/*
 * The whole of a text as JSON; NULL when it is not JSON or something follows it. The
 * caller frees it with cJSON_Delete.
 */
cJSON *sum_parse(const char *text, size_t len);

/*
 * A text that is JSON in one line and without spaces, its numbers digit by digit as they
 * were written, which no reading and writing anew would keep. The caller frees it; NULL
 * when out of memory.
 */
char *sum_compact(const char *text, size_t len);

#endif
