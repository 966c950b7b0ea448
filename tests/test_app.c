/*
 * The console without its terminal: the frame around a screen, the stack, keys and
 * messages, with a screen that only notes what happens to it.
 */
#include "tui/app.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/frame.h"

/* What happened, in a word each; the screens of a test share it. */
struct journal {
    char text[512];
    bool typing; /* the screen has a text field */
    struct app *app;
};

static void note(struct journal *j, const char *word)
{
    size_t used = strlen(j->text);

    snprintf(j->text + used, sizeof(j->text) - used, "%s%s", used > 0 ? " " : "", word);
}

static void *probe_init(struct app *app, const void *argument)
{
    struct journal *j = (struct journal *)(uintptr_t)argument;

    j->app = app;
    note(j, "init");
    return j;
}

static void probe_draw(void *self, struct canvas *c, struct area a)
{
    (void)self;
    canvas_box(c, a, "probe", true);
}

static void probe_shown(void *self)
{
    note(self, "shown");
}

static void probe_free(void *self)
{
    note(self, "free");
}

static bool probe_type(void *self, uint32_t press)
{
    struct journal *j = self;
    char word[16];

    if (!j->typing)
        return false;
    snprintf(word, sizeof(word), "typed-%c", (int)press);
    note(j, word);
    return true;
}

static bool probe_interrupt(void *self)
{
    struct journal *j = self;

    note(j, "interrupt");
    return strstr(j->text, "interrupt interrupt") == NULL;
}

static void act(void *self, uint32_t press)
{
    char word[16];

    snprintf(word, sizeof(word), "key-%c", (int)press);
    note(self, word);
}

static void act_pop(void *self, uint32_t press)
{
    struct journal *j = self;

    (void)press;
    app_pop(j->app);
}

static bool never(const void *self)
{
    (void)self;
    return false;
}

static bool takes_digit(const void *self, uint32_t press)
{
    (void)self;
    return press >= '0' && press <= '9';
}

/* clang-format off */
static const struct key keys[] = {
    {{'a', PRESS_ENTER}, "a", "act", "Act", act, NULL, NULL},
    {{'b'}, "b", "hidden", "Does not work now", act, never, NULL},
    {{'t'}, "t", NULL, "This screen's own t", act, NULL, NULL},
    {{0}, "0 to 9", NULL, "A digit", act, NULL, takes_digit},
    {{'q'}, "q", "back", "Go back", act_pop, NULL, NULL},
    {.label = NULL},
};
/* clang-format on */

static const struct screen probe = {
    .name = "probe",
    .keys = keys,
    .init = probe_init,
    .draw = probe_draw,
    .type = probe_type,
    .shown = probe_shown,
    .interrupt = probe_interrupt,
    .free = probe_free,
};

static struct app *start(struct journal *j)
{
    struct app *app = app_new(NULL, glyphs_get(GLYPHS_BRAILLE), theme_find("dark"), NULL);

    assert_non_null(app);
    app_push(app, &probe, j);
    assert_true(app_turn(app));
    return app;
}

static void the_frame_has_header_and_keys(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 60, 16);
    char *text;

    (void)state;
    app_draw(app, c);
    text = canvas_to_text(c);
    assert_int_equal(strncmp(text, " plimsoll · probe\n╭─ probe ─", 30), 0);
    assert_non_null(strstr(text, "╯\n a act  q back  ? help\n"));
    assert_null(strstr(text, "hidden"));
    free(text);
    app_free(app);
    frame_free(c);
}

static void too_small_says_what_is_needed(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 30, 5);

    (void)state;
    app_draw(app, c);
    frame_expect(c, "\n"
                    "   plimsoll needs 60 x 16,\n"
                    "       this is 30 x 5.\n"
                    "       Make it larger.\n"
                    "\n");
    for (int width = 0; width < 70; width += 3)
        for (int height = 0; height < 20; height++) {
            assert_int_equal(canvas_resize(c, width, height), 0);
            app_draw(app, c);
        }
    app_free(app);
    frame_free(c);
}

static void keys_go_to_the_screen_first(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    const struct theme *before = app_theme(app);

    (void)state;
    app_press(app, 'a');
    app_press(app, PRESS_ENTER);
    app_press(app, 'b'); /* does not work now */
    app_press(app, '7');
    app_press(app, 't'); /* the screen's, not the theme */
    assert_ptr_equal(app_theme(app), before);
    app_press(app, 'T');
    assert_ptr_not_equal(app_theme(app), before);
    assert_string_equal(j.text, "init key-a key-\r key-7 key-t");
    app_free(app);
}

static void a_text_field_takes_all(void **state)
{
    struct journal j = {.text = "", .typing = true};
    struct app *app = start(&j);

    (void)state;
    app_press(app, 'a');
    app_press(app, '?');
    app_paste(app, 'x');
    app_paste(app, PRESS_ENTER); /* a paste cannot submit */
    j.typing = false;
    app_paste(app, 'a'); /* nor press keys */
    assert_string_equal(j.text, "init typed-a typed-? typed-x");
    app_free(app);
}

static void the_stack_changes_between_events(void **state)
{
    struct journal lower = {.text = ""}, upper = {.text = ""}, other = {.text = ""};
    struct app *app = start(&lower);
    int status;

    (void)state;
    app_push(app, &probe, &upper);
    assert_string_equal(upper.text, ""); /* not before the turn */
    app_turn(app);
    app_replace(app, &probe, &other);
    app_turn(app);
    assert_string_equal(upper.text, "init free");
    app_press(app, 'q');
    app_turn(app);
    assert_string_equal(other.text, "init free");
    assert_string_equal(lower.text, "init shown");
    app_press(app, 'q');
    assert_false(app_turn(app)); /* the last screen has gone */
    assert_true(app_has_ended(app, &status));
    assert_int_equal(status, 0);
    app_free(app);
    assert_string_equal(lower.text, "init shown free");
}

static void a_second_interrupt_ends_it(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    int status;

    (void)state;
    app_interrupt(app);
    assert_false(app_has_ended(app, &status));
    app_interrupt(app);
    assert_true(app_has_ended(app, &status));
    assert_int_equal(status, 130);
    app_free(app);
}

static void expect_message(struct app *app, struct canvas *c, const char *message)
{
    char *text;

    app_draw(app, c);
    text = canvas_to_text(c);
    if (strstr(text, message) == NULL)
        fprintf(stderr, "no \"%s\" in\n%s", message, text);
    assert_non_null(strstr(text, message));
    free(text);
}

static void answers_replace_each_other_warnings_wait(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 60, 16);

    (void)state;
    app_say(app, "The first answer.");
    expect_message(app, c, " · The first answer.\n");
    app_say(app, "The second answer.");
    expect_message(app, c, " · The second answer.\n");
    app_warn(app, "Something is wrong.");
    expect_message(app, c, " ! Something is wrong.\n");
    app_say(app, "A third answer.");
    app_press(app, 'a'); /* too early for the warning to have been read */
    expect_message(app, c, " ! Something is wrong.");
    expect_message(app, c, "(1 more)");
    app_free(app);
    frame_free(c);
}

static void a_covered_screen_is_interrupted(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    int status;

    (void)state;
    assert_true(app_is_top(app, &j));
    app_press(app, '?');
    app_turn(app);
    assert_false(app_is_top(app, &j));
    app_interrupt(app);
    assert_string_equal(j.text, "init interrupt");
    assert_false(app_has_ended(app, &status));
    app_free(app);
}

static void long_messages_are_shown_whole(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 60, 24);

    (void)state;
    app_warn(app, "The run needs 1,100 open files, this process may have 1,024 of "
                  "them. Raise the limit by ulimit -n 2048.");
    expect_message(app, c,
                   " ! The run needs 1,100 open files, this process may have\n"
                   "   1,024 of them. Raise the limit by ulimit -n 2048.\n"
                   " a act");
    app_free(app);
    frame_free(c);
}

static void hints_can_be_clicked(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 60, 16);
    const struct mouse on_act = {POINT_CLICK, 2, 15}, beside = {POINT_CLICK, 50, 15};

    (void)state;
    app_draw(app, c);
    app_mouse(app, &on_act);
    app_mouse(app, &beside);
    assert_string_equal(j.text, "init key-a");
    app_free(app);
    frame_free(c);
}

static void help_is_made_from_the_table(void **state)
{
    struct journal j = {.text = ""};
    struct app *app = start(&j);
    struct canvas *c = frame_canvas(GLYPHS_ASCII, 60, 24);
    char *text;

    (void)state;
    app_press(app, '?');
    app_turn(app);
    app_draw(app, c);
    text = canvas_to_text(c);
    for (const struct key *k = keys; k->label != NULL; k++)
        assert_non_null(strstr(text, k->help));
    free(text);
    app_press(app, PRESS_ESC);
    app_turn(app);
    assert_string_equal(j.text, "init shown");
    app_free(app);
    frame_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frame_has_header_and_keys),
        cmocka_unit_test(too_small_says_what_is_needed),
        cmocka_unit_test(keys_go_to_the_screen_first),
        cmocka_unit_test(a_text_field_takes_all),
        cmocka_unit_test(the_stack_changes_between_events),
        cmocka_unit_test(a_second_interrupt_ends_it),
        cmocka_unit_test(answers_replace_each_other_warnings_wait),
        cmocka_unit_test(a_covered_screen_is_interrupted),
        cmocka_unit_test(long_messages_are_shown_whole),
        cmocka_unit_test(hints_can_be_clicked),
        cmocka_unit_test(help_is_made_from_the_table),
    };

    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
