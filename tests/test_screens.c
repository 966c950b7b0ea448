/*
 * The screens on a canvas, without a terminal, on runs that nobody carried out: what
 * they say is what the runs say, and every size and glyph set is survived.
 */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>

#include "engine/statistics.h"
#include "protocols/array.h"
#include "tests/frame.h"
#include "tests/synthetic.h"
#include "tui/app.h"
#include "tui/lineedit.h"
#include "tui/run_board.h"
#include "tui/run_chart.h"
#include "tui/run_use.h"
#include "tui/run_view.h"
#include "tui/screens.h"

static struct run *make_run(const char *scenario, double speed, uint64_t seed)
{
    struct synthetic how = {.scenario = scenario,
                            .trials = 5,
                            .steps = 40,
                            .seed = seed,
                            .speed = speed,
                            .noise = 0.01,
                            .outcome = OUTCOME_COMPLETED};
    struct run *run = synthetic_run(&how);

    assert_non_null(run);
    return run;
}

struct fixture {
    struct event_base *base;
    struct app *app;
    struct canvas *canvas;
};

static void open_screen(struct fixture *f, const struct screen *screen,
                        const void *argument, int width, int height)
{
    f->base = event_base_new();
    f->app = app_new(f->base, glyphs_get(GLYPHS_BRAILLE), theme_find("dark"), NULL);
    f->canvas = frame_canvas(GLYPHS_BRAILLE, width, height);
    app_push(f->app, screen, argument);
    assert_true(app_turn(f->app));
    app_draw(f->app, f->canvas);
}

static void close_screen(struct fixture *f)
{
    app_free(f->app);
    event_base_free(f->base);
    frame_free(f->canvas);
}

static bool says(struct fixture *f, const char *text)
{
    char *screen;
    bool found;

    app_turn(f->app);
    app_draw(f->app, f->canvas);
    screen = canvas_to_text(f->canvas);
    found = strstr(screen, text) != NULL;
    if (!found)
        fprintf(stderr, "no \"%s\" in\n%s", text, screen);
    free(screen);
    return found;
}

static void press_text(struct fixture *f, const char *text)
{
    for (; *text != '\0'; text++)
        app_press(f->app, (unsigned char)*text);
}

/* Every size from nothing to large, on every glyph set, with colours and without. */
static void survive_sizes(struct fixture *f)
{
    for (int level = 0; level < GLYPHS_COUNT; level++) {
        f->canvas->glyphs = glyphs_get((enum glyph_level)level);
        f->canvas->colours = level % 2 == 0 ? 256 : 0;
        for (int width = 0; width <= 220; width += width < 60 ? 20 : 13)
            for (int height = 0; height <= 70; height += height < 16 ? 5 : 6) {
                assert_int_equal(canvas_resize(f->canvas, width, height), 0);
                app_draw(f->app, f->canvas);
            }
    }
    f->canvas->glyphs = glyphs_get(GLYPHS_BRAILLE);
    assert_int_equal(canvas_resize(f->canvas, 120, 40), 0);
}

static void scenarios_show_what_is_chosen(void **state)
{
    struct fixture f;

    (void)state;
    open_screen(&f, &screen_scenarios, NULL, 120, 40);
    assert_true(says(&f, "1 t  tcp-bulk"));
    assert_true(says(&f, "1 GiB each way over one TCP connection"));
    press_text(&f, "a");
    assert_true(says(&f, "endpoint"));
    assert_true(says(&f, "Documented elsewhere"));
    press_text(&f, "  ");
    assert_true(says(&f, "2 marked, Enter runs them in sequence"));
    survive_sizes(&f);
    close_screen(&f);
}

static void note_run(void *owner)
{
    *(bool *)owner = true;
}

static void the_form_refuses_and_keeps(void **state)
{
    const struct scenario *s = scenario_find("tcp-bulk");
    struct options values = {0};
    bool ran = false;
    struct params_request request = {s, &values, note_run, &ran};
    struct fixture f;

    (void)state;
    assert_int_equal(scenario_defaults(s, &values), 0);
    open_screen(&f, &screen_params, &request, 100, 30);
    app_press(f.app, PRESS_ENTER);
    app_press(f.app, PRESS_CTRL('U'));
    press_text(&f, "0");
    assert_true(says(&f, "not allowed"));
    app_press(f.app, PRESS_ENTER);
    assert_int_equal(options_number(&values, OPTION_size, 7), 1 << 30); /* as it was */
    press_text(&f, "MiB");
    app_press(f.app, PRESS_HOME);
    press_text(&f, "3");
    assert_true(says(&f, "allowed; Enter stores it"));
    app_press(f.app, PRESS_ENTER);
    assert_int_equal(options_number(&values, OPTION_size, 7), 30 << 20);
    app_press(f.app, PRESS_DOWN); /* direction, a choice */
    app_press(f.app, ' ');
    assert_true(options_is(&values, OPTION_direction, "up"));
    app_press(f.app, PRESS_LEFT);
    assert_true(options_is(&values, OPTION_direction, "both"));
    press_text(&f, "D");
    assert_int_equal(options_number(&values, OPTION_size, 7), 1 << 30);
    survive_sizes(&f);
    press_text(&f, "r");
    assert_true(ran);
    close_screen(&f);
    options_done(&values);
}

static void the_summary_says_what_the_run_says(void **state)
{
    static const char *const names[] = {"tcp-bulk", "unix-requests",
                                        "udp-cached-parallel", "rest-topper"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(names); i++) {
        struct run *run = make_run(names[i], 1, 3 + i);
        struct summary_request request = {.count = 1, .runs = {&run}};
        struct statistics s;
        char figure[40];
        struct fixture f;

        run_statistics(run, METRIC_seconds, &s);
        metric_format(METRIC_seconds, s.median, figure, sizeof(figure));
        open_screen(&f, &screen_summary, &request, 190, 90);
        assert_null(run); /* the screen owns it now */
        assert_true(says(&f, "completed"));
        assert_true(says(&f, "Beside the documented experiment"));
        assert_true(says(&f, figure));
        assert_true(says(&f, "95 % interval"));
        assert_true(says(&f, "Can these figures be believed?"));
        survive_sizes(&f);
        close_screen(&f);
    }
}

/* Of nothing sent no share can be lost: that is not known, and no number. */
static void no_figure_is_not_a_number(void **state)
{
    struct run *run = make_run("udp-fresh-parallel", 1, 1);
    struct summary_request request = {.count = 1, .runs = {&run}};
    struct trial *last = run->trials[run->trials_begun - 1];
    struct fixture f;

    (void)state;
    last->loss.attempted = last->loss.refused = 5;
    last->loss.accepted = last->loss.received = last->loss.lost = 0;
    last->metrics[METRIC_loss_percent] = (double)NAN;
    open_screen(&f, &screen_summary, &request, 190, 90);
    assert_true(says(&f, "nothing was sent"));
    assert_false(says(&f, "nan"));
    close_screen(&f);
}

/* Only what was documented somewhere is called so; a server of one's own was not. */
static void the_form_names_where_a_default_is_from(void **state)
{
    static const char *const rows[][2] = {{"tcp-bulk", "documented 1GiB"},
                                          {"http", "default none"}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct options values = {0};
        struct params_request request = {scenario_find(rows[i][0]), &values, NULL, NULL};
        struct fixture f;

        assert_int_equal(scenario_defaults(request.scenario, &values), 0);
        open_screen(&f, &screen_params, &request, 100, 30);
        assert_true(says(&f, rows[i][1]));
        close_screen(&f);
        options_done(&values);
    }
}

/* The document's own values stand beside the defaults, and one key sets them all. */
static void the_form_restores_what_the_document_did(void **state)
{
    const struct scenario *s = scenario_find("udp-cached-parallel");
    struct options values = {0};
    struct params_request request = {s, &values, NULL, NULL};
    struct difference list[DIFFERENCES_MAX];
    struct fixture f;

    (void)state;
    assert_int_equal(scenario_defaults(s, &values), 0);
    assert_int_equal(options_set_text(&values, OPTION_resolve, "once"), 0);
    open_screen(&f, &screen_params, &request, 100, 40);
    for (int i = 0; i < 3; i++)
        app_press(f.app, PRESS_DOWN);
    assert_true(says(&f, "default 1024, documented 1 "));
    press_text(&f, "D");
    assert_true(says(&f, "The documented values are set."));
    assert_int_equal(scenario_differences(s, &values, list), 0);
    assert_true(options_is(&values, OPTION_payload, "plain"));
    press_text(&f, "a");
    assert_int_equal(options_number(&values, OPTION_batch, 0), 1024);
    assert_true(options_is(&values, OPTION_resolve, "each"));
    close_screen(&f);
    options_done(&values);
}

/* How often a text stands on the screen. */
static int count_of(struct fixture *f, const char *text)
{
    char *screen = canvas_to_text(f->canvas);
    int n = 0;

    for (const char *at = screen; (at = strstr(at, text)) != NULL; at++)
        n++;
    free(screen);
    return n;
}

static void open_summary(struct fixture *f, const char *scenario, unsigned trials)
{
    struct synthetic how = {.scenario = scenario,
                            .trials = trials,
                            .steps = 40,
                            .seed = 3,
                            .speed = 1,
                            .noise = 0.01};
    struct run *run = synthetic_run(&how);
    struct summary_request request = {.count = 1, .runs = {&run}};

    assert_non_null(run);
    open_screen(f, &screen_summary, &request, 190, 90);
}

static void figures_of_the_load_are_shown_once(void **state)
{
    struct fixture f;

    (void)state;
    open_summary(&f, "rest-rest", 1);
    assert_true(says(&f, "Req/Sec"));
    assert_true(says(&f, "  documented"));
    assert_int_equal(count_of(&f, "250/s"), 1); /* the documented average */
    assert_int_equal(count_of(&f, "requests/s"), 0);
    assert_int_equal(count_of(&f, "latency mean"), 0);
    close_screen(&f);
    /* Over several trials the spread is told as well. */
    open_summary(&f, "rest-rest", 3);
    assert_true(says(&f, "requests/s stdev"));
    close_screen(&f);
    /* Where no table shows them, the documented figures are in a list. */
    open_summary(&f, "udp-cached-series", 1);
    assert_true(says(&f, "6300/s"));
    close_screen(&f);
}

static void the_summary_has_the_micro_sign(void **state)
{
    struct fixture f;

    (void)state;
    open_summary(&f, "unix-requests", 2);
    assert_true(says(&f, " \xc2\xb5s "));
    assert_int_equal(count_of(&f, " us "), 0);
    f.canvas->glyphs = glyphs_get(GLYPHS_ASCII);
    app_draw(f.app, f.canvas);
    assert_int_equal(count_of(&f, " \xc2\xb5s "), 0);
    assert_true(count_of(&f, " us ") > 0);
    close_screen(&f);
}

static void the_summary_has_the_parts_between_marks(void **state)
{
    struct fixture f;

    (void)state;
    open_summary(&f, "unix-requests", 2);
    assert_true(says(&f, "Between the marks"));
    assert_true(says(&f, "0.0 \xe2\x80\x93 0.5 s"));
    assert_true(says(&f, "rate 10k, \"up\""));
    close_screen(&f);
}

/* A run that could not begin has no figures, and no headings over none. */
static void what_did_not_begin_has_no_figures(void **state)
{
    struct run *run = make_run("rest-rest", 1, 3);
    struct summary_request request = {.count = 1, .runs = {&run}};
    struct fixture f;

    (void)state;
    run->first_ns = 0;
    run->outcome = OUTCOME_FAILED;
    snprintf(run->reason, sizeof(run->reason), "Address already in use");
    open_screen(&f, &screen_summary, &request, 120, 36);
    assert_true(says(&f, "failed: Address already in use"));
    assert_true(says(&f, "Nothing was measured."));
    assert_int_equal(count_of(&f, "documented"), 0);
    assert_int_equal(count_of(&f, "Measured"), 0);
    assert_int_equal(count_of(&f, "Counts"), 0);
    close_screen(&f);
}

/* A handful of transfers has no 99th percentile. */
static void transfers_have_no_spectrum(void **state)
{
    struct fixture f;

    (void)state;
    open_summary(&f, "pipe-bulk", 5);
    assert_int_equal(count_of(&f, "p99.9"), 0);
    close_screen(&f);
    open_summary(&f, "udp-cached-series", 1);
    assert_true(says(&f, "Latency, from sending to arrival"));
    assert_true(says(&f, "p99.9 "));
    close_screen(&f);
}

static void the_summary_says_how_to_lose_less(void **state)
{
    struct run *run = make_run("udp-cached-parallel", 1, 1);
    struct summary_request request = {.count = 1, .runs = {&run}};
    struct trial *last = run->trials[run->trials_begun - 1];
    struct fixture f;

    (void)state;
    last->loss.overflow = 7;
    open_screen(&f, &screen_summary, &request, 190, 90);
    assert_true(says(&f, "To lose less: a larger receive buffer"));
    close_screen(&f);
}

/* All scenarios are seen at 80x24; where they are not, the frame says so. */
static void no_scenario_is_out_of_sight_unsaid(void **state)
{
    struct fixture f;

    (void)state;
    open_screen(&f, &screen_scenarios, NULL, 80, 24);
    assert_true(says(&f, "1 t  tcp-bulk"));
    assert_true(says(&f, "h  http"));
    assert_true(says(&f, "Streams: TCP, Unix, named pipes"));
    assert_int_equal(count_of(&f, " more "), 0);
    close_screen(&f);
    open_screen(&f, &screen_scenarios, NULL, 80, 16);
    assert_int_equal(count_of(&f, "\xe2\x86\x93 more"), 1);
    app_press(f.app, PRESS_END);
    assert_true(says(&f, "h  http"));
    assert_int_equal(count_of(&f, "\xe2\x86\x93 more"), 0);
    assert_int_equal(count_of(&f, "\xe2\x86\x91 more"), 1);
    close_screen(&f);
}

static void what_is_longer_than_its_frame_says_so(void **state)
{
    struct options values = {0};
    struct params_request request = {scenario_find("http"), &values, NULL, NULL};
    struct run *run = make_run("rest-rest", 1, 3);
    struct summary_request summary = {.count = 1, .runs = {&run}};
    struct fixture f;

    (void)state;
    assert_int_equal(scenario_defaults(request.scenario, &values), 0);
    open_screen(&f, &screen_params, &request, 80, 24);
    assert_int_equal(count_of(&f, "\xe2\x86\x93 more"), 1);
    app_press(f.app, PRESS_END);
    assert_true(says(&f, "client_launch"));
    assert_int_equal(count_of(&f, "\xe2\x86\x93 more"), 0);
    close_screen(&f);
    options_done(&values);
    open_screen(&f, &screen_summary, &summary, 80, 24);
    assert_int_equal(count_of(&f, "\xe2\x86\x93 more"), 1);
    assert_int_equal(count_of(&f, "\xe2\x86\x91 more"), 0);
    app_press(f.app, PRESS_END);
    assert_true(says(&f, "\xe2\x86\x91 more"));
    assert_int_equal(count_of(&f, "\xe2\x86\x93 more"), 0);
    close_screen(&f);
}

/* On the smallest screen, too, nothing is to be found in help alone. */
static void keys_of_the_scenarios_are_shown(void **state)
{
    static const char *const hints[] = {
        "Enter run", "e edit", "Q quick", "Space mark", "H history",
        "L limits",  "q quit", "? help",  "/ filters",  "D runs it so"};
    struct fixture f;

    (void)state;
    open_screen(&f, &screen_scenarios, NULL, 80, 24);
    for (size_t i = 0; i < NUMBER_OF(hints); i++)
        assert_true(says(&f, hints[i]));
    close_screen(&f);
}

/* The verdict on requests per second between a run and one of another speed. */
static void comparison(double speed, uint64_t seed, const char *verdict)
{
    struct compare_request request = {make_run("unix-requests", 1, 1),
                                      make_run("unix-requests", speed, seed)};
    struct fixture f;
    char *screen, *row, *end;

    open_screen(&f, &screen_compare, &request, 140, 50);
    assert_null(request.base);
    screen = canvas_to_text(f.canvas);
    row = strstr(screen, "requests/s ");
    assert_non_null(row);
    end = strchr(row, '\n');
    *end = '\0';
    if (strstr(row, verdict) == NULL)
        fprintf(stderr, "not \"%s\": %s\n", verdict, row);
    assert_non_null(strstr(row, verdict));
    free(screen);
    app_press(f.app, 'x');
    survive_sizes(&f);
    close_screen(&f);
}

static void comparisons_claim_only_what_is_shown(void **state)
{
    (void)state;
    comparison(1.5, 2, "better");
    comparison(0.6, 2, "worse");
    comparison(1, 2, "no evidence"); /* the same speed, other noise */
    comparison(1, 1, "no evidence"); /* the very same run */
}

static void limits_and_help_survive(void **state)
{
    const struct scenario *s = scenario_find("udp-fresh-parallel");
    struct options values = {0};
    struct limits_request request = {s, &values};
    struct help_subject subject = {&screen_params, NULL};
    struct fixture f;

    (void)state;
    assert_int_equal(scenario_defaults(s, &values), 0);
    open_screen(&f, &screen_limits, &request, 100, 30);
    assert_true(says(&f, "open files"));
    survive_sizes(&f);
    close_screen(&f);
    options_done(&values);
    open_screen(&f, &screen_help, &subject, 100, 40);
    assert_true(says(&f, "What the figures mean"));
    survive_sizes(&f);
    close_screen(&f);
}

static void every_chart_draws_every_run(void **state)
{
    static const char *const names[] = {"tcp-bulk", "unix-requests",
                                        "udp-cached-parallel", "rest-rest"};
    struct run_view *v = run_view_new();

    (void)state;
    assert_non_null(v);
    for (size_t i = 0; i < NUMBER_OF(names); i++) {
        struct run *run = make_run(names[i], 1, i);

        run_view_set_run(v, run);
        for (int level = 0; level < GLYPHS_COUNT; level++)
            for (int width = 0; width < 120; width += 17)
                for (int height = 0; height < 40; height += 7) {
                    struct canvas *c =
                        frame_canvas((enum glyph_level)level, width, height);

                    run_view_set_span(v, run_view_end_s(v) - width / 40, width % 3 * 2.0);
                    for (size_t k = 0; k < RUN_CHART_COUNT; k++)
                        run_chart(k)->draw(v, c, canvas_area(c), k % 2 == 0);
                    frame_free(c);
                }
        run_view_set_run(v, NULL);
        run_free(run);
    }
    run_view_free(v);
}

/* The whole board of a run, byte for byte, in braille and in ASCII. */
static void the_board_is_as_it_was(void **state)
{
    static const struct {
        const char *scenario, *golden;
        enum glyph_level level;
    } rows[] = {
        {"unix-requests", "board-requests", GLYPHS_BRAILLE},
        {"udp-cached-parallel", "board-udp", GLYPHS_BRAILLE},
        {"rest-topper", "board-service", GLYPHS_BLOCK},
        {"tcp-bulk", "board-bulk", GLYPHS_ASCII},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct canvas *c = frame_canvas(rows[i].level, 100, 28);
        struct run *run = make_run(rows[i].scenario, 1, 7);
        struct run_board board;

        assert_int_equal(run_board_init(&board), 0);
        run_board_set_run(&board, run);
        run_board_draw(&board, c, canvas_area(c));
        frame_expect_golden(c, rows[i].golden);
        run_board_done(&board);
        run_free(run);
        frame_free(c);
    }
}

/* From whatever is shown: "longer" never shows less, "shorter" never more. */
static void the_span_is_stretched_from_what_is_shown(void **state)
{
    static const struct {
        int step;
        double window_s;
    } rows[] = {{1, 0},  {-1, 10}, {-1, 5}, {-1, 5}, {1, 10},
                {1, 30}, {1, 0},   {1, 0},  {-1, 10}};
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 100, 28);
    struct run *run = make_run("unix-requests", 1, 7);
    struct run_board board;

    (void)state;
    assert_int_equal(run_board_init(&board), 0);
    run_board_set_run(&board, run);
    run_board_draw(&board, c, canvas_area(c));
    assert_true(board.view->to_s > 20 && board.view->to_s <= 30);
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        run_board_stretch(&board, rows[i].step);
        run_board_draw(&board, c, canvas_area(c));
        assert_float_equal(board.window_s, rows[i].window_s, 1e-9);
    }
    run_board_done(&board);
    run_free(run);
    frame_free(c);
}

static void charts_of_no_run_say_so(void **state)
{
    struct run_view *v = run_view_new();
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 60, 10);
    char *text;

    (void)state;
    run_view_set_span(v, 0, 0);
    for (size_t k = 0; k < RUN_CHART_COUNT; k++) {
        canvas_clear(c);
        run_chart(k)->draw(v, c, canvas_area(c), false);
        text = canvas_to_text(c);
        assert_non_null(strstr(text, "no data yet"));
        free(text);
    }
    frame_free(c);
    run_view_free(v);
}

/* No message arrived: none of them, and not "0 B/s". */
static void no_messages_are_a_count(void **state)
{
    struct run *run = make_run("udp-fresh-parallel", 1, 1);
    struct run_view *v = run_view_new();
    struct canvas *c = frame_canvas(GLYPHS_BRAILLE, 80, 12);
    char *text;

    (void)state;
    run->series->label_count = 0;
    for (size_t i = 0; i < run->series->used; i++)
        run->series->slots[i].places[PLACE_SERVER].counters.received_messages = 0;
    run_view_set_run(v, run);
    run_view_set_span(v, run_view_end_s(v), 0);
    run_chart_received.draw(v, c, canvas_area(c), false);
    text = canvas_to_text(c);
    assert_non_null(strstr(text, "server 0/s"));
    assert_null(strstr(text, "B/s"));
    free(text);
    frame_free(c);
    run_view_set_run(v, NULL);
    run_free(run);
    run_view_free(v);
}

static void a_line_is_edited_like_in_a_shell(void **state)
{
    struct lineedit e = {.text = ""};
    static const uint32_t presses[] = {
        'a',       0x6d77, 'c',        PRESS_LEFT, PRESS_BACKSPACE, 'b',
        PRESS_END, 'd',    PRESS_HOME, '0',        PRESS_DELETE};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(presses); i++)
        assert_true(lineedit_press(&e, presses[i]));
    assert_string_equal(e.text, "0bcd");
    assert_false(lineedit_press(&e, PRESS_UP));
    assert_false(lineedit_press(&e, 7));
    assert_true(lineedit_press(&e, PRESS_CTRL('K')));
    assert_string_equal(e.text, "0");
    for (int i = 0; i < 2 * LINEEDIT_BYTES; i++)
        lineedit_press(&e, 'x');
    assert_int_equal(e.len, LINEEDIT_BYTES - 1);
    lineedit_set(&e, "short");
    assert_int_equal(e.cursor, 5);
}

/* A drop is counted when it happens, its gap is seen by a later message. */
static void late_gaps_are_not_unexplained(void **state)
{
    static const struct {
        uint64_t expected, unique, overflow;
        double unexplained;
    } slots[] = {
        {100, 90, 15, 0}, /* five of the drops show no gap yet */
        {100, 95, 0, 0},  /* here they do */
        {100, 80, 12, 3}, /* 8 more than were dropped; 5 are counted below */
        {100, 98, 7, 0},  {100, 99, 0, 1},
    };
    struct series *s = series_new();
    double out[SERIES_SLOTS];

    (void)state;
    assert_non_null(s);
    for (s->used = 0; s->used < 5; s->used++) {
        struct meter_counters *n = &s->slots[s->used].places[PLACE_SERVER].counters;

        n->expected = slots[s->used].expected;
        n->unique = slots[s->used].unique;
        n->overflow = slots[s->used].overflow;
    }
    run_view_unexplained(s, out);
    for (size_t i = 0; i < 5; i++)
        assert_float_equal(out[i], slots[i].unexplained, 1e-9);
    series_free(s);
}

/* A state is the newest one, however it was a second ago; what is counted adds up. */
static void open_files_are_those_of_now(void **state)
{
    struct run *run = make_run("tcp-requests", 1, 3);
    struct run_view v = {.run = run};
    struct run_use use;
    struct series *s = run->series;

    (void)state;
    for (size_t i = 0; i < s->used; i++) {
        struct series_place *p = &s->slots[i].places[PLACE_CLIENT];

        p->use.open_descriptors = 10 * i;
        p->gauges.in_flight = i;
        p->use.max_rss_bytes = 1000 + i;
    }
    run_use_of(&v, PLACE_CLIENT, &use);
    assert_true(use.known);
    assert_int_equal(use.open_descriptors, 10 * (s->used - 1));
    assert_int_equal(use.in_flight, s->used - 1);
    assert_int_equal(use.max_rss_bytes, 1000 + s->used - 1);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_files_are_those_of_now),
        cmocka_unit_test(scenarios_show_what_is_chosen),
        cmocka_unit_test(the_form_refuses_and_keeps),
        cmocka_unit_test(the_form_names_where_a_default_is_from),
        cmocka_unit_test(the_form_restores_what_the_document_did),
        cmocka_unit_test(the_summary_says_what_the_run_says),
        cmocka_unit_test(no_figure_is_not_a_number),
        cmocka_unit_test(figures_of_the_load_are_shown_once),
        cmocka_unit_test(the_summary_has_the_micro_sign),
        cmocka_unit_test(the_summary_has_the_parts_between_marks),
        cmocka_unit_test(what_did_not_begin_has_no_figures),
        cmocka_unit_test(transfers_have_no_spectrum),
        cmocka_unit_test(the_summary_says_how_to_lose_less),
        cmocka_unit_test(keys_of_the_scenarios_are_shown),
        cmocka_unit_test(no_scenario_is_out_of_sight_unsaid),
        cmocka_unit_test(what_is_longer_than_its_frame_says_so),
        cmocka_unit_test(comparisons_claim_only_what_is_shown),
        cmocka_unit_test(limits_and_help_survive),
        cmocka_unit_test(every_chart_draws_every_run),
        cmocka_unit_test(the_board_is_as_it_was),
        cmocka_unit_test(the_span_is_stretched_from_what_is_shown),
        cmocka_unit_test(charts_of_no_run_say_so),
        cmocka_unit_test(no_messages_are_a_count),
        cmocka_unit_test(a_line_is_edited_like_in_a_shell),
        cmocka_unit_test(late_gaps_are_not_unexplained),
    };

    setlocale(LC_ALL, "C.UTF-8");
    setenv("XDG_STATE_HOME", "/nonexistent", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
