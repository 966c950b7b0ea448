/*
 * The real console in a pseudo terminal: keys sent as a person would, and the screen
 * looked at. What depends on the terminal stands in test_console_terminal.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/session.h"

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
    struct terminal *t = session_start_ready();

    (void)state;
    assert_true(terminal_find(t, "tcp-bulk", NULL) >= 0);
    assert_true(terminal_find(t, "Documented elsewhere", NULL) >= 0);
    session_quit(t);
}

static void numbers_letters_and_arrows_choose(void **state)
{
    struct terminal *t = session_start_ready();

    (void)state;
    terminal_type(t, "3");
    assert_true(terminal_sees(t, "1 GiB each way over a named pipe"));
    terminal_type(t, "u");
    assert_true(terminal_sees(t, "1 GiB each way over a Unix socket"));
    terminal_type(t, TYPE_DOWN TYPE_DOWN);
    assert_true(terminal_sees(t, "one after the other, over TCP"));
    terminal_type(t, "k");
    assert_true(terminal_sees(t, "1 GiB each way over a named pipe"));
    session_quit(t);
}

static void the_filter_narrows_the_list(void **state)
{
    struct terminal *t = session_start_ready();

    (void)state;
    terminal_type(t, "/unix-r");
    assert_true(terminal_lost(t, "tcp-bulk"));
    assert_true(terminal_find(t, "unix-requests", NULL) >= 0);
    terminal_type(t, "zzz\r");
    assert_true(terminal_sees(t, "no scenario has this text"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, "tcp-bulk"));
    session_quit(t);
}

/* At 80x24 the figures and the way out are there; the prose gives way. */
static void the_essential_fits_80x24(void **state)
{
    struct terminal *t = session_start(80, 24, NULL);

    (void)state;
    assert_true(terminal_sees(t, READY));
    assert_true(terminal_find(t, "size 1GiB", NULL) >= 0);
    assert_true(terminal_find(t, "seconds Linux 2.948 2.394", NULL) >= 0);
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
    session_quit(t);
}

static void help_lists_the_keys(void **state)
{
    struct terminal *t = session_start_ready();

    (void)state;
    terminal_type(t, "?");
    assert_true(terminal_sees(t, "Keys of this screen"));
    assert_true(terminal_find(t, "Edit the parameters of the scenario", NULL) >= 0);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

static void wrong_values_are_refused_as_typed(void **state)
{
    struct terminal *t = session_start_ready();

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
    session_quit(t);
}

/* Running ------------------------------------------------------------------------- */

static void a_run_ends_in_its_summary(void **state)
{
    struct terminal *t = session_start(120, 40, NULL);

    (void)state;
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "5Q");
    assert_true(terminal_sees(t, "completed"));
    assert_true(terminal_find(t, "Beside the documented experiment", NULL) >= 0);
    assert_true(terminal_find(t, "process start", NULL) >= 0);
    assert_true(terminal_find(t, "Can these figures be believed?", NULL) >= 0);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

static void the_run_is_shown_live(void **state)
{
    struct terminal *t = session_start_long_run(120, 40);

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
    session_quit(t);
}

static void connections_are_opened_and_closed_live(void **state)
{
    struct terminal *t = session_start(120, 40, NULL);

    (void)state;
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "be");
    assert_true(terminal_sees(t, "connections open at once"));
    terminal_type(t, TYPE_DOWN "\r\0251000000000\rr");
    assert_true(terminal_sees_within(t, "RUNNING", TERMINAL_WAIT_MS));
    terminal_type(t, "]");
    assert_true(terminal_sees_within(t, "The connections are now 25", TERMINAL_WAIT_MS));
    terminal_type(t, "[");
    assert_true(terminal_sees_within(t, "The connections are now 20", TERMINAL_WAIT_MS));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

/* Pressed by habit, to save or to hold: the console goes on. */
static void ctrl_s_does_not_hold_it_up(void **state)
{
    struct terminal *t = session_start_long_run(100, 30);

    (void)state;
    terminal_type(t, "\023m");
    assert_true(terminal_sees_within(t, "Marked as m1", TERMINAL_WAIT_MS));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

static void interrupts_stop_then_end(void **state)
{
    struct terminal *t = session_start_long_run(100, 30);
    int status;

    (void)state;
    terminal_type(t, "\003");
    assert_true(terminal_sees(t, "stopped"));
    terminal_type(t, "\003");
    status = terminal_wait_end(t, ENDS_WITHIN_MS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    session_expect_restored(t);
    terminal_free(t);
}

/* Help lies over a run that ends meanwhile: it stays, the summary follows it. */
static void help_over_a_run_that_ends(void **state)
{
    struct terminal *t = session_start_long_run(100, 30);

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
    session_quit(t);
}

/* A load on one's own server cannot be begun before its address is known. */
static void an_own_server_is_asked_for(void **state)
{
    struct terminal *t = session_start_ready();

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
    session_quit(t);
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
    struct terminal *t = session_start(120, 40, NULL);
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
    terminal_type(t, TYPE_DELETE TYPE_DELETE);
    snprintf(after, sizeof(after), " %d run", before - 2);
    assert_true(terminal_sees(t, after));
    terminal_type(t, TYPE_ESC TYPE_ESC);
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

static void a_saved_run_is_played(void **state)
{
    struct terminal *t = session_start_long_run(120, 40);

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
    session_quit(t);
}

static void a_result_is_exported(void **state)
{
    struct terminal *t = session_start(120, 40, NULL);
    char path[128], text[64] = "";
    FILE *f;

    (void)state;
    assert_true(terminal_sees(t, READY));
    run_quick(t, "6");
    terminal_type(t, "x");
    assert_true(terminal_sees(t, "export as json"));
    assert_true(terminal_find(t, "Enter write  Tab format  Esc leave it", NULL) >= 0);
    assert_true(terminal_find(t, "? help", NULL) < 0); /* a letter of the name */
    snprintf(path, sizeof(path), "%s/result.json", session_state_home());
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
    session_quit(t);
}

static void limits_are_told_with_their_cure(void **state)
{
    struct terminal *t = session_start_ready();

    (void)state;
    terminal_type(t, "xL");
    assert_true(terminal_sees(t, "limits for udp-fresh-parallel"));
    assert_true(terminal_find(t, "open files", NULL) >= 0);
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

static void marked_scenarios_run_in_sequence(void **state)
{
    struct terminal *t = session_start(120, 40, NULL);

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
    session_quit(t);
}

/* Start, look around, run, stop, edit, run, compare, export, quit: by keys shown alone.
 */
static void the_first_five_minutes(void **state)
{
    struct terminal *t = session_start(100, 30, NULL);
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
    snprintf(path, sizeof(path), "%s/five.json", session_state_home());
    terminal_type(t, "x\025");
    terminal_type(t, path);
    terminal_type(t, "\r");
    assert_true(terminal_sees(t, "Exported to"));
    assert_int_equal(access(path, R_OK), 0);
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

/* `replay RUN` at a terminal opens the player, and leaving it ends the program. */
static void a_saved_run_is_replayed_on_the_screen(void **state)
{
    char script[1200];
    const char *const argv[] = {"bash", "-c", script, NULL};
    const char *const env[] = {session_state_entry(), NULL};
    struct terminal *t;

    (void)state;
    snprintf(script, sizeof(script),
             "%s run unix-requests --quick --client connection -q > /dev/null && "
             "%s replay last; echo code-$?",
             session_program(), session_program());
    t = terminal_start(argv, 100, 30, env);
    assert_true(terminal_sees(t, "replay"));
    assert_true(terminal_sees(t, "unix-requests"));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, "code-0"));
    terminal_free(t);
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
        cmocka_unit_test(connections_are_opened_and_closed_live),
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
        cmocka_unit_test(a_saved_run_is_replayed_on_the_screen),
    };

    return cmocka_run_group_tests(tests, session_begin, session_end);
}
