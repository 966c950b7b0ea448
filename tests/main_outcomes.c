/*
 * A cmocka program whose tests end as its environment says: OUTCOMES holds one letter a
 * test, p(ass) f(ail) s(kip) e(rror in the set-up) t(ear-down fails) v(iolation of
 * memory) a(bort) h(ang), and a slash between two groups. A group that begins with E
 * fails in its own set-up, one that begins with T in its own tear-down.
 * tests/test_runner.sh shows with it that tests/run.sh counts right.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_TESTS 16

static int refuse(void **state)
{
    (void)state;
    return -1;
}

static void end_as_told(void **state)
{
    switch (*(const char *)*state) {
    case 'f':
        fail();
        break;
    case 's':
        skip();
        break;
    case 'v':
        raise(SIGSEGV);
        break;
    case 'a':
        abort();
    case 'h':
        for (;;)
            pause();
    }
}

static int run_group(const char *outcomes, size_t count)
{
    struct CMUnitTest tests[MAX_TESTS] = {{0}};
    CMFixtureFunction set_up = count && *outcomes == 'E' ? refuse : NULL;
    CMFixtureFunction tear_down = count && *outcomes == 'T' ? refuse : NULL;

    if (set_up || tear_down) {
        outcomes++;
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        tests[i].name = "outcome";
        tests[i].test_func = end_as_told;
        tests[i].initial_state = (void *)&outcomes[i];
        if (outcomes[i] == 'e')
            tests[i].setup_func = refuse;
        if (outcomes[i] == 't')
            tests[i].teardown_func = refuse;
    }
    return _cmocka_run_group_tests("outcomes", tests, count, set_up, tear_down);
}

int main(void)
{
    const char *outcomes = getenv("OUTCOMES");
    int failed = 0;

    if (!outcomes || strlen(outcomes) > MAX_TESTS)
        return 2;
    for (;;) {
        size_t count = strcspn(outcomes, "/");

        failed += run_group(outcomes, count);
        if (outcomes[count] == '\0')
            return failed;
        outcomes += count + 1;
    }
}
