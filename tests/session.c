#include "tests/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char program[512];
static char state_home[64] = "/tmp/plimsoll-test-XXXXXX";
static char state_entry[96];

const char *session_program(void)
{
    return program;
}

const char *session_state_home(void)
{
    return state_home;
}

const char *session_state_entry(void)
{
    return state_entry;
}

struct terminal *session_start(int width, int height, const char *const more[])
{
    const char *const argv[] = {program, NULL};
    const char *env[12] = {state_entry};

    for (size_t i = 0; more != NULL && more[i] != NULL; i++)
        env[i + 1] = more[i];
    return terminal_start(argv, width, height, env);
}

struct terminal *session_start_ready(void)
{
    struct terminal *t = session_start(100, 30, NULL);

    assert_true(terminal_sees(t, READY));
    return t;
}

void session_expect_restored(struct terminal *t)
{
    const char *why;

    if (!terminal_is_restored(t, &why))
        fail_msg("%s", why);
}

void session_quit(struct terminal *t)
{
    int status;

    terminal_type(t, "q");
    status = terminal_wait_end(t, ENDS_WITHIN_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    session_expect_restored(t);
    terminal_free(t);
}

struct terminal *session_start_long_run(int width, int height)
{
    struct terminal *t = session_start(width, height, NULL);

    assert_true(terminal_sees(t, READY));
    terminal_type(t, "5e");
    assert_true(terminal_sees(t, "requests in all"));
    terminal_type(t, "\r\0251000000\r");
    terminal_type(t,
                  TYPE_DOWN TYPE_DOWN "  " TYPE_DOWN TYPE_DOWN TYPE_DOWN "\r\025500\r");
    assert_true(terminal_sees(t, "persistent"));
    terminal_type(t, "r");
    assert_true(terminal_sees_within(t, "RUNNING", TERMINAL_WAIT_MS));
    return t;
}

int session_begin(void **state)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    char here[256];

    (void)state;
    if (build == NULL)
        build = "build";
    if (build[0] == '/' || getcwd(here, sizeof(here)) == NULL)
        here[0] = '\0';
    snprintf(program, sizeof(program), "%s%s%s/plimsoll", here,
             here[0] != '\0' ? "/" : "", build);
    if (mkdtemp(state_home) == NULL)
        return -1;
    snprintf(state_entry, sizeof(state_entry), "XDG_STATE_HOME=%s", state_home);
    return 0;
}

int session_end(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", state_home);
    return system(command);
}
