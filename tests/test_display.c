/*
 * What a canvas shows is what stands in the terminal after it, whatever stood there
 * before: this program, started anew with "draw" in a terminal of the tests, shows
 * canvases of random characters, and each is compared with the screen's model.
 */
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
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

static int draw(void)
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
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        struct pollfd key = {.fd = STDIN_FILENO, .events = POLLIN};

        scribble(&c, frame);
        display_show(d, &c, theme);
        if (poll(&key, 1, TERMINAL_WAIT_MS) != 1)
            break;
        while (display_read(d).kind != INPUT_NONE)
            continue;
    }
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

static void every_frame_is_shown_as_drawn(void **state)
{
    const char *const argv[] = {"/proc/self/exe", "draw", NULL};
    struct terminal *t = terminal_start(argv, WIDTH, HEIGHT, NULL);
    struct canvas c;

    (void)state;
    canvas_init(&c, glyphs_get(GLYPHS_BRAILLE));
    canvas_resize(&c, WIDTH, HEIGHT);
    for (unsigned frame = 0; frame < FRAMES; frame++) {
        scribble(&c, frame);
        await_frame(t, frame);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                uint32_t drawn = canvas_at(&c, x, y)->code;
                uint32_t seen = terminal_cell(t, x, y).code;

                if ((seen == 0 || seen == ' ') && (drawn == 0 || drawn == ' '))
                    continue;
                if (seen != drawn)
                    fail_msg("frame %u, column %d, row %d: U+%04X drawn, U+%04X seen",
                             frame, x, y, drawn, seen);
            }
        terminal_type(t, "x");
    }
    assert_int_equal(terminal_wait_end(t, TERMINAL_WAIT_MS), 0);
    terminal_free(t);
    canvas_done(&c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_is_shown_as_drawn),
    };

    setlocale(LC_ALL, "C.UTF-8");
    if (argc > 1 && strcmp(argv[1], "draw") == 0)
        return draw();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
