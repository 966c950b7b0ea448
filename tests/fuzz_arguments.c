/*
 * libFuzzer entry: the first byte chooses a family or none, the rest is a command line,
 * its words separated by newlines. What is taken is in range; what is refused has a
 * sentence.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/child.h"
#include "engine/cli/arguments.h"
#include "engine/param.h"

#define WORDS_MAX 24

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_number(const struct param *p, uint64_t value)
{
    if (p->type == PARAM_FLAG ? value > 1 : value < p->min || value > p->max)
        abort();
}

/* Every value can be typed again as it is shown. */
static void check_value(const struct param *p, const struct options *values)
{
    struct options again = {0};
    char text[4096];
    char range[128];

    param_text(values, p, text, sizeof(text));
    param_range(p, range, sizeof(range));
    if (p->type != PARAM_TEXT && p->type != PARAM_CHOICE)
        check_number(p, options_number(values, p->option, UINT64_MAX));
    if (p->type != PARAM_TEXT && param_set(&again, p, text, NULL) < 0)
        abort();
    options_done(&again);
}

static void check_launcher(const char *text)
{
    char **words;
    size_t count;

    if (launcher_split(text, &words, &count) < 0)
        return;
    if (words[count])
        abort();
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) > strlen(text))
            abort();
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct flag flags[] = {{"json", 'j', "FILE", "a file"},
                                        {"quick", 0, NULL, "a flag"},
                                        {"help", 'h', NULL, "this text"},
                                        {0}};
    unsigned family = len && bytes[0] % 6 ? 1u << (bytes[0] % 6 - 1) : 0;
    char *line = len ? strndup((const char *)bytes + 1, len - 1) : strdup("");
    struct options values = {0};
    struct arguments a = {0};
    struct fail fail = {0};
    char *argv[WORDS_MAX];
    char *rest = line;
    int argc = 0;
    int rc;

    for (char *word; argc < WORDS_MAX && (word = strsep(&rest, "\n"));)
        argv[argc++] = word;
    for (int i = 0; i < argc; i++)
        check_launcher(argv[i]);
    rc = arguments_parse(&a, argc, argv, family, flags, &values, &fail);
    if ((rc < 0) != (fail.err != 0) || (fail.err && !*fail.sentence))
        abort();
    for (size_t i = 0; i < values.count; i++) {
        const struct param *p = param_of(family, values.values[i].option);

        if (!p || !arguments_typed(&a, p->option))
            abort();
        check_value(p, &values);
    }
    arguments_done(&a);
    options_done(&values);
    free(line);
    return 0;
}
