/*
 * What a canvas shows is what stands in the terminal after it, whatever stood there
 * before: this program, started anew with "draw" in a terminal of the tests, shows
 * canvases of random characters, one a key, and each is compared with the screen's model.
 * With "flood" it shows a dozen without waiting, and writes a byte to a pipe then.
 */
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/terminal.h"
#include "tui/display.h"

#define WIDTH 37
#define HEIGHT 9
#define FRAMES 200
#define FLOOD 12 /* frames: more than 4095 bytes, and not more than a queue holds */

/* Cells of one and of two columns, in some places only, so that much stays the same. */
static void scribble(struct canvas *c, unsigned frame)
{
    static const uint32_t narrow[] = {' ', 'a', 'Z', 0x2500, 0x28ff, 0x2580, 0xe4};
    static const uint32_t wide[] = {0x65e5, 0x672c, 0xac00};
    unsigned state = frame * 2654435761u + 1;

    for (int i = 0; i < 40; i++) {
        int x, y;
        struct style s;

        state = state * 1103515245u + 12345u;
        x = (int)(state >> 8) % WIDTH, y = (int)(state >> 20) % HEIGHT;
        s = style_on(state % 3 ? PAINT_TEXT : PAINT_GOOD, PAINT_GROUND);
        if (state >> 31 && x + 1 < WIDTH) {
            char text[8];
            uint32_t code = wide[(state >> 16) % 3];

            snprintf(text, sizeof(text), "%c%c%c", (char)(0xe0 | code >> 12),
                     (char)(0x80 | (code >> 6 & 0x3f)), (char)(0x80 | (code & 0x3f)));
            canvas_text(c, x, y, 2, s, text);
        } else {
            canvas_put(c, x, y, narrow[(state >> 16) % 7], s);
        }
    }
    /* The last cell stands for the frame, so that it is known to have come. */
    canvas_put(c, WIDTH - 1, HEIGHT - 1, 'A' + frame % 26, style(PAINT_TEXT));
}

/* A key, or 10 s; whatever was typed is taken. */
static bool await_key(struct display *d)
{
    struct pollfd key = {.fd = STDIN_FILENO, .events = POLLIN};

    if (poll(&key, 1, TERMINAL_WAIT_MS) != 1)
        return false;
    while (display_read(d).kind != INPUT_NONE)
        continue;
    return true;
}

/* `drawn` is where to tell that the flood has been drawn, or -1: no flood. */
static int draw(int drawn)
{
    const struct theme *theme = theme_find("dark");
    struct display *d;
    struct canvas c;
    struct fail fail;
    const char *advice;

    if (display_open(&d, &advice, &fail) < 0)
        return 1;
    canvas_init(&c, glyphs_get(GLYPHS_BRAILLE));
    canvas_resize(&c, WIDTH, HEIGHT);
    for (unsigned frame = 0; frame < (drawn < 0 ? FRAMES : FLOOD); frame++) {
        scribble(&c, frame);
        display_show(d, &c, theme);
        if (drawn < 0 && !await_key(d))
            break;
    }
    if (drawn >= 0 && write(drawn, "", 1) == 1)
        await_key(d);
    canvas_done(&c);
    display_close(d);
    return 0;
}

static void await_frame(struct terminal *t, unsigned frame)
{
    for (int waits = 0; waits < TERMINAL_WAIT_MS / 10; waits++) {
        if (terminal_cell(t, WIDTH - 1, HEIGHT - 1).code == 'A' + frame % 26)
            return;
        terminal_pump(t, 10);
    }
    fail_msg("frame %u did not come", frame);
}

/* Whether the canvas is what the screen shows; where not, in `where`. */
static bool is_shown(struct terminal *t, const struct canvas *c, char *where, size_t size)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            uint32_t drawn = canvas_at(c, x, y)->code;
            uint32_t seen = terminal_cell(t, x, y).code;

            if ((seen == 0 || seen == ' ') && (drawn == 0 || drawn == ' '))
                continue;
            snprintf(where, size, "column %d, row %d: U+%04X drawn, U+%04X seen", x, y,
                     drawn, seen);
            if (seen != drawn)
                return false;
        }
    return true;
}

static void every_frame_is_shown_as_drawn(void **state)
{
    char where[80];
    const char *const argv[] = {"/proc/self/exe", "draw", NULL};
    struct terminal *t = terminal_start(argv, WIDTH, HEIGHT, NULL);
    struct canvas c;

    (void)state;
    canvas_init(&c, glyphs_get(GLYPHS_BRAILLE));
    canvas_resize(&c, WIDTH, HEIGHT);
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        scribble(&c, frame);
        await_frame(t, frame);
        if (!is_shown(t, &c, where, sizeof(where)))
            fail_msg("frame %u, %s", frame, where);
        terminal_type(t, "x");
    }
    assert_int_equal(terminal_wait_end(t, TERMINAL_WAIT_MS), 0);
    terminal_free(t);
    canvas_done(&c);
}

/*
 * Ctrl-C empties the queues of a terminal unless that is switched off: then what is on
 * its way to the screen would be lost, and the screen not what curses takes it for.
 */
static void an_interrupt_throws_nothing_away(void **state)
{
    char number[12], where[80] = "";
    const char *const argv[] = {"/proc/self/exe", "flood", number, NULL};
    struct terminal *t;
    struct canvas c;
    int drawn[2];
    bool same = false;

    (void)state;
    assert_int_equal(pipe(drawn), 0);
    snprintf(number, sizeof(number), "%d", drawn[1]);
    t = terminal_start(argv, WIDTH, HEIGHT, NULL);
    canvas_init(&c, glyphs_get(GLYPHS_BRAILLE));
    canvas_resize(&c, WIDTH, HEIGHT);
    for (unsigned frame = 0; frame < FLOOD; frame++)
        scribble(&c, frame);
    /* Of what is drawn 4095 bytes are handed out at once; the rest is in the queue. */
    assert_int_equal(
        poll(&(struct pollfd){.fd = drawn[0], .events = POLLIN}, 1, TERMINAL_WAIT_MS), 1);
    terminal_type(t, "\003");
    for (int i = 0; i < TERMINAL_WAIT_MS / 10 && !same; i++) {
        terminal_pump(t, 10);
        same = is_shown(t, &c, where, sizeof(where));
    }
    if (!same)
        fail_msg("%s", where);
    terminal_type(t, "x");
    assert_int_equal(terminal_wait_end(t, TERMINAL_WAIT_MS), 0);
    terminal_free(t);
    canvas_done(&c);
    close(drawn[0]);
    close(drawn[1]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_is_shown_as_drawn),
        cmocka_unit_test(an_interrupt_throws_nothing_away),
    };

    setlocale(LC_ALL, "C.UTF-8");
    if (argc > 1 && strcmp(argv[1], "draw") == 0)
        return draw(-1);
    if (argc > 2 && strcmp(argv[1], "flood") == 0) {
        signal(SIGINT, SIG_IGN);
        return draw(atoi(argv[2]));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
