/*
 * The real console in a pseudo terminal: keys sent as a person would, the screen looked
 * at, every ending, every kind of terminal.
 */
#include "tests/terminal.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "protocols/clock.h"

#define READY "Enter run"
#define ENDS_WITHIN_MS 5000

static char program[512];
static char state_home[64] = "/tmp/plimsoll-test-XXXXXX";
static char state_entry[96];

/* The console at 100x30 unless a test wants another size. */
static struct terminal *start(int width, int height, const char *const more[])
{
    const char *const argv[] = {program, NULL};
    const char *env[12] = {state_entry};

    for (size_t i = 0; more != NULL && more[i] != NULL; i++)
        env[i + 1] = more[i];
    return terminal_start(argv, width, height, env);
}

static struct terminal *start_ready(void)
{
    struct terminal *t = start(100, 30, NULL);

    assert_true(terminal_sees(t, READY));
    return t;
}

static void expect_restored(struct terminal *t)
{
    const char *why;

    if (!terminal_is_restored(t, &why))
        fail_msg("%s", why);
}

static void quit(struct terminal *t)
{
    int status;

    terminal_type(t, "q");
    status = terminal_wait_end(t, ENDS_WITHIN_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_restored(t);
    terminal_free(t);
}

/* A row of the screen as text, good until the next call. */
static const char *terminal_row(struct terminal *t, int row)
{
    static char copy[2048];
    char *text = terminal_text(t), *line = text, *end;

    for (int y = 0; y < row && line != NULL; y++) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    assert_non_null(line);
    end = strchr(line, '\n');
    snprintf(copy, sizeof(copy), "%.*s", end != NULL ? (int)(end - line) : -1, line);
    free(text);
    return copy;
}

/* Looking around ------------------------------------------------------------------ */

static void starts_and_quits(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    assert_true(terminal_find(t, "tcp-bulk", NULL) >= 0);
    assert_true(terminal_find(t, "Documented elsewhere", NULL) >= 0);
    quit(t);
}

static void numbers_letters_and_arrows_choose(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "3");
    assert_true(terminal_sees(t, "1 GiB each way over a named pipe"));
    terminal_type(t, "u");
    assert_true(terminal_sees(t, "1 GiB each way over a Unix socket"));
    terminal_type(t, TYPE_DOWN TYPE_DOWN);
    assert_true(terminal_sees(t, "one after the other, over TCP"));
    terminal_type(t, "k");
    assert_true(terminal_sees(t, "1 GiB each way over a named pipe"));
    quit(t);
}

static void the_filter_narrows_the_list(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "/unix-r");
    assert_true(terminal_lost(t, "tcp-bulk"));
    assert_true(terminal_find(t, "unix-requests", NULL) >= 0);
    terminal_type(t, "zzz\r");
    assert_true(terminal_sees(t, "no scenario has this text"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, "tcp-bulk"));
    quit(t);
}

/* At 80x24 the figures and the way out are there; the prose gives way. */
static void the_essential_fits_80x24(void **state)
{
    struct terminal *t = start(80, 24, NULL);

    (void)state;
    assert_true(terminal_sees(t, READY));
    assert_true(terminal_find(t, "size 1GiB", NULL) >= 0);
    assert_true(terminal_find(t, "seconds Linux 2.95 s", NULL) >= 0);
    assert_true(terminal_find(t, "q quit", NULL) >= 0);
    terminal_type(t, "  ");
    assert_true(terminal_sees(t, "2 marked, Enter runs them in sequence, Esc unmarks"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_lost(t, "2 marked"));
    terminal_type(t, "e");
    assert_true(terminal_sees(t, "Esc back"));
    terminal_type(t, "\r");
    assert_true(terminal_sees(t, "Enter store  Esc leave it"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_lost(t, "Enter store"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void help_lists_the_keys(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "?");
    assert_true(terminal_sees(t, "Keys of this screen"));
    assert_true(terminal_find(t, "Edit the parameters of the scenario", NULL) >= 0);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void wrong_values_are_refused_as_typed(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "1e");
    assert_true(terminal_sees(t, "bytes that each end sends"));
    terminal_type(t, "\r\025-5");
    assert_true(terminal_sees(t, "not allowed"));
    terminal_type(t, "\r"); /* it cannot be left so */
    assert_true(terminal_sees(t, "not allowed"));
    terminal_type(t, "\0258MiB");
    assert_true(terminal_sees(t, "allowed; Enter stores it"));
    terminal_type(t, "\r");
    assert_true(terminal_sees(t, "* 8MiB"));
    terminal_type(t, "d");
    assert_true(terminal_lost(t, "* 8MiB"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* Running ------------------------------------------------------------------------- */

static void a_run_ends_in_its_summary(void **state)
{
    struct terminal *t = start(120, 40, NULL);

    (void)state;
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "5Q");
    assert_true(terminal_sees(t, "completed"));
    assert_true(terminal_find(t, "Beside the documented experiment", NULL) >= 0);
    assert_true(terminal_find(t, "process start", NULL) >= 0);
    assert_true(terminal_find(t, "Can these figures be believed?", NULL) >= 0);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* Persistent requests at a rate: runs for as long as a test needs. */
static struct terminal *start_long_run(int width, int height)
{
    struct terminal *t = start(width, height, NULL);

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

static void the_run_is_shown_live(void **state)
{
    struct terminal *t = start_long_run(120, 40);

    (void)state;
    assert_true(terminal_sees_within(t, "% CPU", TERMINAL_WAIT_MS));
    assert_true(terminal_sees_within(t, "throughput", 0));
    assert_true(terminal_sees_within(t, "received per second", 0));
    assert_true(terminal_sees_within(t, "trial 1 of 5", 0));
    terminal_type(t, "m");
    assert_true(terminal_sees_within(t, "Marked as m1", TERMINAL_WAIT_MS));
    terminal_type(t, "-");
    assert_true(terminal_sees_within(t, "rate 400", TERMINAL_WAIT_MS));
    terminal_type(t, "z");
    assert_true(terminal_sees_within(t, "Esc grid", TERMINAL_WAIT_MS));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees_within(t, "failed operations", TERMINAL_WAIT_MS));
    terminal_type(t, "p");
    assert_true(terminal_sees_within(t, "PAUSED", TERMINAL_WAIT_MS));
    terminal_type(t, "p");
    assert_true(terminal_sees_within(t, "RUNNING", TERMINAL_WAIT_MS));
    terminal_type(t, "f");
    assert_true(terminal_sees_within(t, "picture frozen", TERMINAL_WAIT_MS));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* Pressed by habit, to save or to hold: the console goes on. */
static void ctrl_s_does_not_hold_it_up(void **state)
{
    struct terminal *t = start_long_run(100, 30);

    (void)state;
    terminal_type(t, "\023m");
    assert_true(terminal_sees_within(t, "Marked as m1", TERMINAL_WAIT_MS));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void interrupts_stop_then_end(void **state)
{
    struct terminal *t = start_long_run(100, 30);
    int status;

    (void)state;
    terminal_type(t, "\003");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "\003");
    status = terminal_wait_end(t, ENDS_WITHIN_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    expect_restored(t);
    terminal_free(t);
}

/* Help lies over a run that ends meanwhile: it stays, the summary follows it. */
static void help_over_a_run_that_ends(void **state)
{
    struct terminal *t = start_long_run(100, 30);

    (void)state;
    terminal_type(t, "?");
    assert_true(terminal_sees_within(t, "Keys of this screen", TERMINAL_WAIT_MS));
    terminal_type(t, "\003");
    assert_true(terminal_sees(t, "its summary comes next"));
    assert_true(terminal_find(t, "Keys of this screen", NULL) >= 0);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* A load on one's own server cannot be begun before its address is known. */
static void an_own_server_is_asked_for(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "h\r");
    assert_true(terminal_sees(t, "First the address of your server"));
    assert_true(terminal_find(t, "Enter change", NULL) >= 0);
    terminal_type(t, "\rhttp://127.0.0.1:9/\r");
    assert_true(terminal_sees(t, "http://127.0.0.1:9/"));
    terminal_type(t, "Q"); /* a preset leaves the address */
    assert_true(terminal_sees(t, "quick first look"));
    assert_true(terminal_find(t, "http://127.0.0.1:9/", NULL) >= 0);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* A quick run of a scenario by its key, to its summary and back. */
static void run_quick(struct terminal *t, const char *key)
{
    terminal_type(t, key);
    terminal_type(t, "Q");
    assert_true(terminal_sees(t, "completed"));
}

static void saved_runs_are_opened_compared_and_deleted(void **state)
{
    struct terminal *t = start(120, 40, NULL);
    char after[32];
    int before;

    (void)state;
    assert_true(terminal_sees(t, READY));
    for (int i = 0; i < 2; i++) {
        run_quick(t, "5");
        terminal_type(t, TYPE_ESC);
        assert_true(terminal_sees(t, "Last runs here"));
    }
    terminal_type(t, "H");
    assert_true(terminal_sees(t, "saved runs"));
    terminal_type(t, "/unix-requests\r\r");
    assert_true(terminal_sees(t, "Beside the documented experiment"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, "saved runs"));
    terminal_type(t, "c");
    assert_true(terminal_sees(t, "Mark one run with Space"));
    terminal_type(t, " " TYPE_DOWN "c");
    assert_true(terminal_sees(t, "metric by metric"));
    assert_true(terminal_find(t, "no evidence", NULL) >= 0); /* of one trial each */
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, "saved runs"));
    assert_int_equal(sscanf(strstr(terminal_row(t, 0), "history") + 7, "%d", &before), 1);
    terminal_type(t, "d");
    assert_true(terminal_sees(t, "d again deletes the run"));
    /* A no, and the question anew: nothing is gone until it is answered by d at once. */
    terminal_type(t, "nd?");
    assert_true(terminal_sees(t, "Keys of this screen"));
    terminal_type(t, TYPE_ESC);
    snprintf(after, sizeof(after), " %d run", before);
    assert_true(terminal_sees(t, after));
    terminal_type(t, "dd");
    snprintf(after, sizeof(after), " %d run", before - 1);
    assert_true(terminal_sees(t, after));
    terminal_type(t, TYPE_ESC TYPE_ESC);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void a_saved_run_is_played(void **state)
{
    struct terminal *t = start_long_run(120, 40);

    (void)state;
    assert_true(terminal_sees_within(t, "00:01.", TERMINAL_WAIT_MS));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "Hp");
    assert_true(terminal_sees_within(t, "PLAYING", TERMINAL_WAIT_MS));
    assert_true(terminal_sees_within(t, "% CPU", TERMINAL_WAIT_MS));
    terminal_type(t, " ");
    assert_true(terminal_sees(t, "HELD"));
    terminal_type(t, "\033OH"); /* Home */
    assert_true(terminal_sees(t, " 0.0 s of "));
    terminal_type(t, "++++ ");
    assert_true(terminal_sees(t, "x 16"));
    assert_true(terminal_sees(t, "HELD")); /* by itself, at the end */
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "saved runs"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void a_result_is_exported(void **state)
{
    struct terminal *t = start(120, 40, NULL);
    char path[128], text[64] = "";
    FILE *f;

    (void)state;
    assert_true(terminal_sees(t, READY));
    run_quick(t, "6");
    terminal_type(t, "x");
    assert_true(terminal_sees(t, "export as json"));
    assert_true(terminal_find(t, "Enter write  Tab format  Esc leave it", NULL) >= 0);
    assert_true(terminal_find(t, "? help", NULL) < 0); /* a letter of the name */
    snprintf(path, sizeof(path), "%s/result.json", state_home);
    terminal_type(t, "\025");
    terminal_type(t, path);
    terminal_type(t, "\r");
    assert_true(terminal_sees(t, "Exported to"));
    f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(text, "plimsoll.run/1"));
    /* The same again is refused: nothing is overwritten unasked. */
    terminal_type(t, "x\025");
    terminal_type(t, path);
    terminal_type(t, "\r");
    assert_true(terminal_sees(t, "Not exported"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_settle(t));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void limits_are_told_with_their_cure(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "xL");
    assert_true(terminal_sees(t, "limits for udp-fresh-parallel"));
    assert_true(terminal_find(t, "open files", NULL) >= 0);
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void marked_scenarios_run_in_sequence(void **state)
{
    struct terminal *t = start(120, 40, NULL);

    (void)state;
    assert_true(terminal_sees(t, READY));
    for (int i = 0; i < 2; i++) { /* the fifth and the sixth, twenty requests once */
        terminal_type(t, i == 0 ? "5e" : "6e");
        assert_true(terminal_sees(t, "requests in all"));
        terminal_type(t, "Q");
        assert_true(terminal_sees(t, "a quick first look are set"));
        terminal_type(t, TYPE_ESC);
        assert_true(terminal_sees(t, READY));
    }
    terminal_type(t, "5  ");
    assert_true(terminal_sees(t, "2 marked, Enter runs them in sequence"));
    terminal_type(t, "\r");
    assert_true(terminal_sees(t, "run 2 of 2: pipe-requests"));
    terminal_type(t, TYPE_LEFT);
    assert_true(terminal_sees(t, "run 1 of 2: unix-requests"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* Start, look around, run, stop, edit, run, compare, export, quit: by keys shown alone.
 */
static void the_first_five_minutes(void **state)
{
    struct terminal *t = start(100, 30, NULL);
    char path[128];

    (void)state;
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "?");
    assert_true(terminal_sees(t, "Keys of this screen"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    terminal_type(t, TYPE_DOWN TYPE_DOWN TYPE_DOWN TYPE_DOWN);
    assert_true(terminal_sees(t, "one after the other, over a Unix socket"));
    terminal_type(t, "e");
    assert_true(terminal_sees(t, "requests in all"));
    terminal_type(t, "\r\0251000000\r");
    terminal_type(t, TYPE_DOWN TYPE_DOWN "  ");
    assert_true(terminal_sees(t, "persistent"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "\r");
    assert_true(terminal_sees_within(t, "RUNNING", TERMINAL_WAIT_MS));
    assert_true(terminal_sees_within(t, "% CPU", TERMINAL_WAIT_MS));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "e");
    assert_true(terminal_sees(t, "requests in all"));
    terminal_type(t, "\r\0252000\r");
    assert_true(terminal_sees(t, "* 2000"));
    terminal_type(t, "r");
    assert_true(terminal_sees(t, "completed"));
    terminal_type(t, "c");
    assert_true(terminal_sees(t, "metric by metric"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, "completed"));
    snprintf(path, sizeof(path), "%s/five.json", state_home);
    terminal_type(t, "x\025");
    terminal_type(t, path);
    terminal_type(t, "\r");
    assert_true(terminal_sees(t, "Exported to"));
    assert_int_equal(access(path, R_OK), 0);
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* Sizes --------------------------------------------------------------------------- */

static void small_terminals_are_told(void **state)
{
    struct terminal *t = start(40, 10, NULL);

    (void)state;
    assert_true(terminal_sees(t, "plimsoll needs 60 x 16"));
    terminal_resize(t, 60, 16);
    assert_true(terminal_sees(t, "tcp-bulk"));
    terminal_resize(t, 1, 1);
    assert_true(terminal_settle(t));
    terminal_resize(t, 80, 24);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void a_thousand_sizes_are_survived(void **state)
{
    struct terminal *t = start_long_run(100, 30);

    (void)state;
    srand(1);
    for (int i = 0; i < 1000; i++) {
        terminal_resize(t, 1 + rand() % (i % 3 == 0 ? 400 : 90),
                        1 + rand() % (i % 3 == 0 ? 120 : 30));
        terminal_pump(t, i % 8 == 0 ? 5 : 0);
    }
    terminal_resize(t, 80, 24);
    assert_true(terminal_sees_within(t, "trial 1 of 5", TERMINAL_WAIT_MS));
    assert_true(terminal_sees_within(t, "q stop", TERMINAL_WAIT_MS));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* Endings ------------------------------------------------------------------------- */

static void every_signal_restores_the_terminal(void **state)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT,
                                  SIGSEGV, SIGBUS, SIGFPE};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(numbers); i++) {
        struct terminal *t = start_ready();
        int status;

        kill(terminal_pid(t), numbers[i]);
        status = terminal_wait_end(t, ENDS_WITHIN_MS);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
        expect_restored(t);
        terminal_free(t);
    }
}

static void a_lost_terminal_ends_it(void **state)
{
    struct terminal *t = start_long_run(100, 30);
    uint64_t begin = now_ns();

    (void)state;
    terminal_hang_up(t);
    assert_int_not_equal(terminal_wait_end(t, ENDS_WITHIN_MS), -1);
    assert_true(now_ns() - begin < 3 * NS_PER_S);
    terminal_free(t);
}

/* A shell with job control is between, as it is for a person. */
static void suspend_and_go_on(void **state)
{
    char script[1024];
    const char *const argv[] = {"bash", "-c", script, NULL};
    const char *const env[] = {state_entry, NULL};
    struct terminal *t;
    const char *why;

    (void)state;
    snprintf(script, sizeof(script),
             "set -m; %s; echo was-stopped; read line; fg; echo code-$?", program);
    t = terminal_start(argv, 100, 30, env);
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "\032");
    assert_true(terminal_sees_within(t, "was-stopped", TERMINAL_WAIT_MS));
    if (!terminal_is_restored(t, &why))
        fail_msg("after Ctrl-Z: %s", why);
    terminal_type(t, "\n");
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "\023"
                     "3");
    assert_true(terminal_sees(t, "over a named pipe"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "code-0"));
    terminal_free(t);
}

/* `replay RUN` at a terminal opens the player, and leaving it ends the program. */
static void a_saved_run_is_replayed_on_the_screen(void **state)
{
    char script[1200];
    const char *const argv[] = {"bash", "-c", script, NULL};
    const char *const env[] = {state_entry, NULL};
    struct terminal *t;

    (void)state;
    snprintf(script, sizeof(script),
             "%s run unix-requests --quick --client connection -q > /dev/null && "
             "%s replay last; echo code-$?",
             program, program);
    t = terminal_start(argv, 100, 30, env);
    assert_true(terminal_sees(t, "replay"));
    assert_true(terminal_sees(t, "unix-requests"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "code-0"));
    terminal_free(t);
}

/* Terminals ----------------------------------------------------------------------- */

static void every_terminal_is_driven(void **state)
{
    static const char *const terms[] = {"TERM=xterm-256color", "TERM=xterm",
                                        "TERM=screen",         "TERM=tmux-256color",
                                        "TERM=linux",          "TERM=vt100"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(terms); i++) {
        /*
         * On a Linux console ncurses asks libgpm for a mouse, and libgpm forgets the name
         * of the console that it has made (ten bytes) where no gpm answers: not asked.
         */
        const char *const env[] = {terms[i], "NCURSES_GPM_TERMS=", NULL};
        struct terminal *t = start(80, 24, env);

        assert_true(terminal_sees(t, READY));
        terminal_type(t, "5Q");
        assert_true(terminal_sees(t, "completed"));
        terminal_type(t, "q");
        assert_true(terminal_sees(t, READY));
        quit(t);
    }
}

static void an_unknown_terminal_is_driven_with_advice(void **state)
{
    const char *const env[] = {"TERM=no-such-terminal", NULL};
    struct terminal *t = start(100, 30, env);

    (void)state;
    assert_true(terminal_sees(t, "does not know your terminal"));
    quit(t);
}

static void a_dumb_terminal_gets_advice(void **state)
{
    static const char *const terms[] = {"TERM=dumb", "TERM="};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *const env[] = {terms[i], NULL};
        struct terminal *t = start(80, 24, env);
        int status = terminal_wait_end(t, ENDS_WITHIN_MS);

        assert_int_equal(WEXITSTATUS(status), 2);
        assert_true(terminal_sees(t, "cannot place its cursor"));
        terminal_free(t);
    }
}

static void without_a_terminal_it_says_what_to_do(void **state)
{
    char command[1024], line[512];
    FILE *out;

    (void)state;
    snprintf(command, sizeof(command), "%s < /dev/null 2>&1", program);
    out = popen(command, "r");
    assert_non_null(out);
    assert_non_null(fgets(line, sizeof(line), out));
    assert_non_null(strstr(line, "plimsoll run SCENARIO"));
    assert_int_equal(WEXITSTATUS(pclose(out)), 2);
}

static bool is_ascii(const struct terminal *t)
{
    char *text = terminal_text(t);
    bool ok = true;

    for (size_t i = 0; text[i] != '\0'; i++)
        ok = ok && (unsigned char)text[i] < 0x80;
    free(text);
    return ok;
}

static void the_c_locale_gets_ascii(void **state)
{
    const char *const env[] = {"LC_ALL=C", NULL};
    struct terminal *t = start(100, 30, env);

    (void)state;
    assert_true(terminal_sees(t, READY));
    assert_true(is_ascii(t));
    terminal_type(t, "5Q");
    assert_true(terminal_sees(t, "completed"));
    assert_true(is_ascii(t));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void no_color_means_none(void **state)
{
    const char *const env[] = {"NO_COLOR=1", NULL};
    struct terminal *t = start(100, 30, env);
    int reversed = 0;

    (void)state;
    assert_true(terminal_sees(t, READY));
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 100; x++) {
            struct terminal_cell cell = terminal_cell(t, x, y);

            assert_int_equal(cell.text, -1);
            assert_int_equal(cell.ground, -1);
            reversed += (cell.attributes & ATTR_REVERSE) != 0;
        }
    assert_true(reversed > 100); /* the header and the selected row */
    quit(t);
}

static void colours_are_those_of_the_theme(void **state)
{
    struct terminal *t = start_ready();
    int column, row = terminal_find(t, "t  tcp-bulk", &column);
    struct terminal_cell cell = terminal_cell(t, column + 3, row);
    uint64_t give_up = now_ns() + TERMINAL_WAIT_MS * NS_PER_MS;

    (void)state;
    assert_int_equal(cell.text,
                     theme_look(theme_find("dark"), PAINT_SELECTED, 256).colour);
    assert_int_equal(cell.ground,
                     theme_look(theme_find("dark"), PAINT_SELECTION, 256).colour);
    terminal_type(t, "TT"); /* light, then without colour */
    while (!(cell.attributes & ATTR_REVERSE) && now_ns() < give_up) {
        terminal_pump(t, 20);
        cell = terminal_cell(t, column + 3, row);
    }
    assert_int_equal(cell.text, -1);
    assert_int_equal(cell.attributes & ATTR_REVERSE, ATTR_REVERSE);
    quit(t);
}

/* Input --------------------------------------------------------------------------- */

static void a_paste_is_not_keys(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "\033[200~q\rq\033[201~");
    terminal_type(t, "3");
    assert_true(terminal_sees(t, "over a named pipe"));
    terminal_type(t, "/\033[200~unix\r\033[201~");
    assert_true(terminal_sees(t, "filter: unix"));
    assert_true(terminal_lost(t, "tcp-bulk"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

/* What the terminal sends by itself, or a key of another one, is neither Esc nor text. */
static void unknown_sequences_are_no_keys(void **state)
{
    struct terminal *t = start_ready();

    (void)state;
    terminal_type(t, "\033[99;5~\033[I\033[?1;2q\033Oq");
    terminal_type(t, "3"); /* this one is a key */
    assert_true(terminal_sees(t, "1 GiB each way over a named pipe"));
    terminal_type(t, "e");
    assert_true(terminal_sees(t, "Esc back"));
    terminal_type(t, "\033[O\033[9;9u");
    terminal_type(t, "j");
    assert_true(terminal_sees(t, "who sends"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    quit(t);
}

static void the_mouse_chooses(void **state)
{
    struct terminal *t = start_ready();
    char click[96];
    int column, row = terminal_find(t, "pipe-bulk", &column);

    (void)state;
    snprintf(click, sizeof(click), "\033[<0;%d;%dM\033[<0;%d;%dm", column + 1, row + 1,
             column + 1, row + 1);
    terminal_type(t, click);
    assert_true(terminal_sees(t, "over a named pipe"));
    terminal_type(t, "\033[<65;10;10M"); /* the wheel, down */
    assert_true(terminal_sees(t, "one after the other, over TCP"));
    quit(t);
}

/* The one file of a kind that was saved in the test's state directory. */
static FILE *open_saved(const char *extension)
{
    char path[1024];
    FILE *f = NULL;
    DIR *d;

    snprintf(path, sizeof(path), "%s/plimsoll/screens", state_home);
    d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (strstr(e->d_name, extension) == NULL)
            continue;
        snprintf(path, sizeof(path), "%s/plimsoll/screens/%s", state_home, e->d_name);
        f = fopen(path, "r");
    }
    closedir(d);
    return f;
}

static unsigned mode_of_screens(void)
{
    char path[1024];
    struct stat st;

    snprintf(path, sizeof(path), "%s/plimsoll/screens", state_home);
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void the_screen_is_saved_as_it_is(void **state)
{
    struct terminal *t = start_ready();
    char *seen = terminal_text(t), saved[32768];
    FILE *f;
    size_t n;

    (void)state;
    terminal_type(t, "S");
    assert_true(terminal_sees(t, "Saved the screen as"));
    assert_int_equal(mode_of_screens(), 0700);
    f = open_saved(".txt");
    assert_non_null(f);
    n = fread(saved, 1, sizeof(saved) - 1, f);
    saved[n] = '\0';
    fclose(f);
    assert_string_equal(saved, seen);
    f = open_saved(".svg");
    assert_non_null(f);
    fclose(f);
    free(seen);
    quit(t);
}

/* No room for the picture: the person is told, and nothing is left that looks like one.
 */
static void no_half_picture_is_left(void **state)
{
    struct rlimit whole, small;
    struct terminal *t;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
    small = whole;
    small.rlim_cur = 4096; /* bytes of a file; what is written beyond is refused */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    t = start(80, 24, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "S");
    assert_true(terminal_sees(t, "The picture was not saved as"));
    assert_null(open_saved(".svg"));
    assert_null(open_saved(".txt"));
    quit(t);
}

static void nothing_is_drawn_when_nothing_changes(void **state)
{
    struct terminal *t = start_ready();
    size_t written = terminal_written(t);
    uint64_t end = now_ns() + 500 * NS_PER_MS;

    (void)state;
    while (now_ns() < end)
        terminal_pump(t, 50);
    assert_int_equal(terminal_written(t), written);
    quit(t);
}

static int make_state(void **state)
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

static int remove_state(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", state_home);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_and_quits),
        cmocka_unit_test(numbers_letters_and_arrows_choose),
        cmocka_unit_test(the_filter_narrows_the_list),
        cmocka_unit_test(the_essential_fits_80x24),
        cmocka_unit_test(help_lists_the_keys),
        cmocka_unit_test(wrong_values_are_refused_as_typed),
        cmocka_unit_test(a_run_ends_in_its_summary),
        cmocka_unit_test(the_run_is_shown_live),
        cmocka_unit_test(ctrl_s_does_not_hold_it_up),
        cmocka_unit_test(interrupts_stop_then_end),
        cmocka_unit_test(help_over_a_run_that_ends),
        cmocka_unit_test(an_own_server_is_asked_for),
        cmocka_unit_test(saved_runs_are_opened_compared_and_deleted),
        cmocka_unit_test(a_saved_run_is_played),
        cmocka_unit_test(a_result_is_exported),
        cmocka_unit_test(limits_are_told_with_their_cure),
        cmocka_unit_test(marked_scenarios_run_in_sequence),
        cmocka_unit_test(the_first_five_minutes),
        cmocka_unit_test(small_terminals_are_told),
        cmocka_unit_test(a_thousand_sizes_are_survived),
        cmocka_unit_test(every_signal_restores_the_terminal),
        cmocka_unit_test(a_lost_terminal_ends_it),
        cmocka_unit_test(suspend_and_go_on),
        cmocka_unit_test(every_terminal_is_driven),
        cmocka_unit_test(an_unknown_terminal_is_driven_with_advice),
        cmocka_unit_test(a_dumb_terminal_gets_advice),
        cmocka_unit_test(without_a_terminal_it_says_what_to_do),
        cmocka_unit_test(the_c_locale_gets_ascii),
        cmocka_unit_test(no_color_means_none),
        cmocka_unit_test(colours_are_those_of_the_theme),
        cmocka_unit_test(a_paste_is_not_keys),
        cmocka_unit_test(unknown_sequences_are_no_keys),
        cmocka_unit_test(a_saved_run_is_replayed_on_the_screen),
        cmocka_unit_test(the_mouse_chooses),
        cmocka_unit_test(no_half_picture_is_left), /* before there is a whole one */
        cmocka_unit_test(the_screen_is_saved_as_it_is),
        cmocka_unit_test(nothing_is_drawn_when_nothing_changes),
    };

    return cmocka_run_group_tests(tests, make_state, remove_state);
}
