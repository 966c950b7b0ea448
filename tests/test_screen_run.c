/*
 * The screen of a run whose workers do as a script says (tests/scripted.h), on a canvas:
 * what a person is told of what the workers answered.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/array.h"
#include "tests/frame.h"
#include "tests/pair.h"
#include "tests/scratch.h"
#include "tests/scripted.h"
#include "tui/app.h"
#include "tui/screens.h"

#define TAKES CLIENT "obey 0 0; done stopped 1; wait end"
#define REFUSES CLIENT "obey 24 0; done stopped 1; wait end"

static bool is_seen(struct app *app, struct canvas *c, const char *text)
{
    char *screen;
    bool found;

    app_turn(app);
    app_draw(app, c);
    screen = canvas_to_text(c);
    found = strstr(screen, text) != NULL;
    free(screen);
    return found;
}

static void turn_until_seen(struct scripted *s, struct app *app, struct canvas *c,
                            const char *text)
{
    for (int n = 0; n < 4000 && !is_seen(app, c, text); n++)
        pair_turn(s->base, NULL, 5);
    if (!is_seen(app, c, text))
        fail_msg("there is no \"%s\" in\n%s", text, canvas_to_text(c));
}

/* The clients have the last word: what is said to be in force is what they took. */
static void a_live_change_is_what_the_clients_took(void **state)
{
    static const struct {
        const char *client, *rate;
        char key;
        const char *said;
    } rows[] = {
        {TAKES, "30", '+', "The rate is now 38 a second, all clients together."},
        {TAKES, "30", '-', "The rate is now 24 a second, all clients together."},
        {TAKES, "1", '+', "The rate is now 2 a second, all clients together."},
        {TAKES, "2", '-', "The rate is now 1 a second, all clients together."},
        {REFUSES, "30", '+',
         "The rate is still 30 a second, all clients together: 38 was refused (Too many "
         "open files)."},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 140, 40);
        struct run_request request = {.count = 1};
        struct scripted s;
        struct app *app;

        scripted_init(&s, GOOD_SERVER, rows[i].client);
        scripted_set(&s, "rate", rows[i].rate);
        request.runs[0].scenario = scenario_find("tcp-requests");
        request.runs[0].values = &s.values;
        app = app_new(s.base, glyphs_get(GLYPHS_BRAILLE), theme_find("dark"), NULL);
        app_push(app, &screen_run, &request);
        turn_until_seen(&s, app, c, "RUNNING");
        app_press(app, (unsigned char)rows[i].key);
        turn_until_seen(&s, app, c, rows[i].said);
        app_press(app, 'q');
        turn_until_seen(&s, app, c, "stopped");
        app_free(app);
        frame_free(c);
        scripted_done(&s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_live_change_is_what_the_clients_took,
                               scratch_fresh_store),
    };
    const char *build = getenv("PLIMSOLL_BUILD");

    setlocale(LC_ALL, "C.UTF-8");
    setenv("PLIMSOLL_LIBEXEC", build ? build : "build", 1);
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
