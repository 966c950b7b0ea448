#include "tests/scratch.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engine/store.h"

static char scratch[] = "/tmp/plimsoll-store-XXXXXX";

int scratch_begin(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

int scratch_end(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
    return system(command);
}

const char *scratch_directory(void)
{
    return scratch;
}

char *scratch_read(const char *path, size_t *len)
{
    FILE *f = fopen(path, "re");
    struct stat st;
    char *text;

    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    *len = (size_t)st.st_size;
    text = malloc(*len + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *len, f), *len);
    text[*len] = '\0';
    fclose(f);
    return text;
}

void scratch_write(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

void scratch_in_store(char *path, const char *name)
{
    char directory[PATH_MAX];

    assert_int_equal(store_directory(directory, sizeof(directory), NULL), 0);
    assert_true(snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX);
}

int scratch_fresh_store(void **state)
{
    static int number;
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/%d", scratch, number++);
    assert_int_equal(mkdir(path, 0700), 0);
    return setenv("XDG_STATE_HOME", path, 1);
}
