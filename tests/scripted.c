#include "tests/scripted.h"

#include <errno.h>
#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "engine/report/document.h"
#include "engine/report/report.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "tests/pair.h"

static void on_changed(void *arg, struct run *r)
{
    struct scripted *s = arg;

    assert_ptr_equal(r, s->run);
    assert_false(s->finished); /* DONE is the last call of all */
    if (s->seen_count < NUMBER_OF(s->seen))
        s->seen[s->seen_count++] = r->state;
    if (s->stops && r->state == s->stop_in)
        event_active(s->poke, EV_TIMEOUT, 0);
    if (r->state == RUN_DONE) {
        s->finished = true;
        s->ended_ns = now_ns();
        event_base_loopbreak(s->base);
    }
}

static void on_sampled(void *arg, struct run *r, const struct process *process,
                       const struct sample *sample)
{
    struct scripted *s = arg;

    (void)r;
    assert_false(s->finished);
    assert_non_null(process);
    assert_true(sample->span_ns > 0);
    s->samples++;
}

static void on_line(void *arg, struct run *r, const char *text)
{
    struct scripted *s = arg;

    (void)r;
    s->lines++;
    snprintf(s->line, sizeof(s->line), "%s", text);
}

static void on_set(void *arg, struct run *r, const struct param *param, uint64_t value,
                   int err)
{
    struct scripted *s = arg;
    bool in_force = options_number(&r->values, param->option, value + 1) == value;

    assert_false(s->finished);
    assert_int_equal(in_force, err == 0);
    s->settled++;
    s->set_err = err;
}

static void on_poke(evutil_socket_t fd, short what, void *arg)
{
    struct scripted *s = arg;

    (void)fd;
    (void)what;
    for (; s->stops && !s->finished; s->stops--)
        run_stop(s->run);
}

void scripted_set(struct scripted *s, const char *name, const char *text)
{
    const struct param *p = param_find(FAMILY_REQUESTS, name);

    assert_non_null(p);
    if (param_set(&s->values, p, text, &s->fail) < 0)
        print_error("%s\n", s->fail.sentence);
    assert_int_equal(s->fail.err, 0);
}

void scripted_set_script(struct scripted *s, const char *name, const char *script)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    char launcher[1500];

    snprintf(launcher, sizeof(launcher), "%s/tests/fakeworker '%s'",
             build ? build : "build", script);
    scripted_set(s, name, launcher);
}

void scripted_init(struct scripted *s, const char *server, const char *client)
{
    memset(s, 0, sizeof(*s));
    s->descriptors = open_descriptors();
    s->base = pair_base();
    s->poke = event_new(s->base, -1, 0, on_poke, s);
    assert_int_equal(scenario_defaults(scenario_find("tcp-requests"), &s->values), 0);
    scripted_set(s, "client", "connection");
    scripted_set(s, "port", "0");
    scripted_set(s, "trials", "1");
    scripted_set(s, "concurrency", "8");
    scripted_set_script(s, "server_launch", server);
    scripted_set_script(s, "client_launch", client);
}

const struct run_ops scripted_ops = {on_changed, on_sampled, on_line, on_set};

void scripted_create(struct scripted *s)
{
    s->run = run_new(s->base, scenario_find("tcp-requests"), &s->values, &scripted_ops, s,
                     &s->fail);
    if (!s->run)
        print_error("%s\n", s->fail.sentence);
    assert_non_null(s->run);
    assert_int_equal(s->run->state, RUN_NEW);
    s->run->patience = s->is_impatient ? (struct run_patience){2000, 400, 800, 100}
                                       : (struct run_patience){20000, 20000, 20000, 100};
}

void scripted_begin(struct scripted *s)
{
    scripted_create(s);
    s->began_ns = now_ns();
    run_start(s->run);
}

void scripted_turn_to_end(struct scripted *s)
{
    pair_turn(s->base, &s->finished, 15000);
    if (!s->finished)
        print_error("state %d, outcome %d: %s\n", s->run->state, s->run->outcome,
                    s->run->reason);
    assert_true(s->finished);
    assert_int_equal(s->run->state, RUN_DONE);
}

void scripted_done(struct scripted *s)
{
    cJSON *document;
    FILE *null = fopen("/dev/null", "we");

    if (s->run) {
        document = document_new(s->run);
        assert_non_null(document);
        cJSON_Delete(document);
        report_print(null, s->run);
    }
    fclose(null);
    run_free(s->run);
    event_free(s->poke);
    options_done(&s->values);
    event_base_free(s->base);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(open_descriptors(), s->descriptors);
}

void scripted_run(struct scripted *s, const char *server, const char *client)
{
    scripted_init(s, server, client);
    scripted_begin(s);
    scripted_turn_to_end(s);
}

void scripted_assert_states(const struct scripted *s, const enum run_state *wanted)
{
    size_t i = 0;

    do {
        assert_true(i < s->seen_count);
        assert_int_equal(s->seen[i], wanted[i]);
    } while (wanted[i++] != RUN_DONE);
    assert_int_equal(i, s->seen_count);
}

void scripted_assert_failed(const struct scripted *s, const char *said)
{
    assert_int_equal(s->run->outcome, OUTCOME_FAILED);
    if (!strstr(s->run->reason, said))
        print_error("'%s', not '%s'\n", s->run->reason, said);
    assert_non_null(strstr(s->run->reason, said));
    assert_string_equal(run_trial(s->run)->reason, s->run->reason);
}
