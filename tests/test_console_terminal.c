/*
 * The real console and its terminal: every size, every ending, every kind of terminal,
 * what is typed and what is drawn.
 */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
#include "tests/session.h"

/* Sizes --------------------------------------------------------------------------- */

static void small_terminals_are_told(void **state)
{
    struct terminal *t = session_start(40, 10, NULL);

    (void)state;
    assert_true(terminal_sees(t, "plimsoll needs 60 x 16"));
    terminal_resize(t, 60, 16);
    assert_true(terminal_sees(t, "tcp-bulk"));
    terminal_resize(t, 1, 1);
    assert_true(terminal_settle(t));
    terminal_resize(t, 80, 24);
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

static void a_thousand_sizes_are_survived(void **state)
{
    struct terminal *t = session_start_long_run(100, 30);

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
    session_quit(t);
}

/* Endings ------------------------------------------------------------------------- */

static void every_signal_restores_the_terminal(void **state)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT,
                                  SIGSEGV, SIGBUS, SIGFPE};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(numbers); i++) {
        struct terminal *t = session_start_ready();
        int status;

        kill(terminal_pid(t), numbers[i]);
        status = terminal_wait_end(t, ENDS_WITHIN_MS);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
        session_expect_restored(t);
        terminal_free(t);
    }
}

static void a_lost_terminal_ends_it(void **state)
{
    struct terminal *t = session_start_long_run(100, 30);
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
    const char *const env[] = {session_state_entry(), NULL};
    struct terminal *t;
    const char *why;

    (void)state;
    snprintf(script, sizeof(script),
             "set -m; %s; echo was-stopped; read line; fg; echo code-$?",
             session_program());
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
        struct terminal *t = session_start(80, 24, env);

        assert_true(terminal_sees(t, READY));
        terminal_type(t, "5Q");
        assert_true(terminal_sees(t, "completed"));
        terminal_type(t, "q");
        assert_true(terminal_sees(t, READY));
        session_quit(t);
    }
}

static void an_unknown_terminal_is_driven_with_advice(void **state)
{
    const char *const env[] = {"TERM=no-such-terminal", NULL};
    struct terminal *t = session_start(100, 30, env);

    (void)state;
    assert_true(terminal_sees(t, "does not know your terminal"));
    session_quit(t);
}

static void a_dumb_terminal_gets_advice(void **state)
{
    static const char *const terms[] = {"TERM=dumb", "TERM="};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *const env[] = {terms[i], NULL};
        struct terminal *t = session_start(80, 24, env);
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
    snprintf(command, sizeof(command), "%s < /dev/null 2>&1", session_program());
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
    struct terminal *t = session_start(100, 30, env);

    (void)state;
    assert_true(terminal_sees(t, READY));
    assert_true(is_ascii(t));
    terminal_type(t, "5Q");
    assert_true(terminal_sees(t, "completed"));
    assert_true(is_ascii(t));
    terminal_type(t, "q");
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

static void no_color_means_none(void **state)
{
    const char *const env[] = {"NO_COLOR=1", NULL};
    struct terminal *t = session_start(100, 30, env);
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
    session_quit(t);
}

static void colours_are_those_of_the_theme(void **state)
{
    struct terminal *t = session_start_ready();
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
    session_quit(t);
}

/* Input --------------------------------------------------------------------------- */

static void a_paste_is_not_keys(void **state)
{
    struct terminal *t = session_start_ready();

    (void)state;
    terminal_type(t, "\033[200~q\rq\033[201~");
    terminal_type(t, "3");
    assert_true(terminal_sees(t, "over a named pipe"));
    terminal_type(t, "/\033[200~unix\r\033[201~");
    assert_true(terminal_sees(t, "filter: unix"));
    assert_true(terminal_lost(t, "tcp-bulk"));
    terminal_type(t, TYPE_ESC);
    assert_true(terminal_sees(t, READY));
    session_quit(t);
}

/* What the terminal sends by itself, or a key of another one, is neither Esc nor text. */
static void unknown_sequences_are_no_keys(void **state)
{
    struct terminal *t = session_start_ready();

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
    session_quit(t);
}

static void the_mouse_chooses(void **state)
{
    struct terminal *t = session_start_ready();
    char click[96];
    int column, row = terminal_find(t, "pipe-bulk", &column);

    (void)state;
    snprintf(click, sizeof(click), "\033[<0;%d;%dM\033[<0;%d;%dm", column + 1, row + 1,
             column + 1, row + 1);
    terminal_type(t, click);
    assert_true(terminal_sees(t, "over a named pipe"));
    terminal_type(t, "\033[<65;10;10M"); /* the wheel, down */
    assert_true(terminal_sees(t, "one after the other, over TCP"));
    session_quit(t);
}

/* The one file of a kind that was saved in the test's state directory. */
static FILE *open_saved(const char *extension)
{
    char path[1024];
    FILE *f = NULL;
    DIR *d;

    snprintf(path, sizeof(path), "%s/plimsoll/screens", session_state_home());
    d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (strstr(e->d_name, extension) == NULL)
            continue;
        snprintf(path, sizeof(path), "%s/plimsoll/screens/%s", session_state_home(),
                 e->d_name);
        f = fopen(path, "r");
    }
    closedir(d);
    return f;
}

static unsigned mode_of_screens(void)
{
    char path[1024];
    struct stat st;

    snprintf(path, sizeof(path), "%s/plimsoll/screens", session_state_home());
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void the_screen_is_saved_as_it_is(void **state)
{
    struct terminal *t = session_start_ready();
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
    session_quit(t);
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
    t = session_start(80, 24, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
    assert_true(terminal_sees(t, READY));
    terminal_type(t, "S");
    assert_true(terminal_sees(t, "The picture was not saved as"));
    assert_null(open_saved(".svg"));
    assert_null(open_saved(".txt"));
    session_quit(t);
}

static void nothing_is_drawn_when_nothing_changes(void **state)
{
    struct terminal *t = session_start_ready();
    size_t written = terminal_written(t);
    uint64_t end = now_ns() + 500 * NS_PER_MS;

    (void)state;
    while (now_ns() < end)
        terminal_pump(t, 50);
    assert_int_equal(terminal_written(t), written);
    session_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
        cmocka_unit_test(the_mouse_chooses),
        cmocka_unit_test(no_half_picture_is_left), /* before there is a whole one */
        cmocka_unit_test(the_screen_is_saved_as_it_is),
        cmocka_unit_test(nothing_is_drawn_when_nothing_changes),
    };

    return cmocka_run_group_tests(tests, session_begin, session_end);
}
