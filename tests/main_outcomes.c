/*
 * A cmocka program whose tests end as its environment says: OUTCOMES holds one letter a
 * test, p(ass) f(ail) s(kip) e(rror in the set-up) v(iolation of memory) a(bort) h(ang).
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

static int refuse_set_up(void **state)
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

int main(void)
{
    const char *outcomes = getenv("OUTCOMES");
    struct CMUnitTest tests[MAX_TESTS] = {{0}};
    size_t count = outcomes ? strlen(outcomes) : 0;

    if (count > MAX_TESTS)
        return 2;
    for (size_t i = 0; i < count; i++) {
        tests[i].name = "outcome";
        tests[i].test_func = end_as_told;
        tests[i].initial_state = (void *)&outcomes[i];
        if (outcomes[i] == 'e')
            tests[i].setup_func = refuse_set_up;
    }
    return _cmocka_run_group_tests("outcomes", tests, count, NULL, NULL);
}
