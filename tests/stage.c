#include "tests/stage.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/endpoint.h"

const char *const stage_transports[3] = {"tcp", "unix", "pipe"};

void stage_init(struct stage *s, const char *server, const char *client)
{
    memset(s, 0, sizeof(*s));
    /* In memory where that is: some disks are slow at making and removing FIFOs. */
    snprintf(s->directory, sizeof(s->directory), "%s/plimsoll-test-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(s->directory));
    setenv("XDG_RUNTIME_DIR", s->directory, 1);
    s->descriptors = open_descriptors();
    s->base = pair_base();
    actor_init(&s->server, server, s->base);
    actor_init(&s->client, client, s->base);
}

void stage_done(struct stage *s)
{
    actor_done(&s->client);
    actor_done(&s->server);
    event_base_free(s->base);
    assert_int_equal(open_descriptors(), s->descriptors);
    assert_int_equal(rmdir(s->directory), 0);
}

void stage_transport(struct stage *s, const char *transport)
{
    char word[32];

    snprintf(word, sizeof(word), "transport=%s", transport);
    actor_options(&s->server, word, "port:0", NULL);
    actor_options(&s->client, "timeout:5000000000", NULL);
}

void stage_both(struct stage *s, const char *word)
{
    actor_options(&s->server, word, NULL);
    actor_options(&s->client, word, NULL);
}

void stage_oneshot_program(struct actor *client)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    char word[512];

    snprintf(word, sizeof(word), "oneshot_program=%s/plimsoll-once",
             build ? build : "build");
    actor_options(client, word, NULL);
}

void stage_assert_identity(const struct actor *client)
{
    const struct meter_counters *c = actor_counters(client);
    struct hist *const *hists = client->env.meter->hists;

    assert_int_equal(c->attempted,
                     c->succeeded + c->failed + c->timed_out + c->unfinished);
    if (hists[METER_HIST_failure])
        assert_int_equal(hists[METER_HIST_failure]->count, c->failed + c->timed_out);
    assert_int_equal(c->failed, tally_sum(&client->env.meter->errors));
    assert_int_equal(hists[METER_HIST_latency]->count, c->succeeded);
}

static void child_serve(int report, const char *role, const char *transport,
                        const char *option) __attribute__((noreturn));

static void child_serve(int report, const char *role, const char *transport,
                        const char *option)
{
    struct event_base *base = pair_base();
    struct actor server;

    actor_init(&server, role, base);
    actor_options(&server, transport, "port:0", option, NULL);
    if (actor_prepare(&server) < 0)
        _exit(1);
    if (write(report, server.env.endpoint, sizeof(server.env.endpoint)) < 0)
        _exit(1);
    pair_turn(base, NULL, 30000);
    _exit(0);
}

void stage_child_start(struct stage_child *c, const char *role, const char *transport,
                       const char *option)
{
    char word[32];
    int ends[2];

    snprintf(word, sizeof(word), "transport=%s", transport);
    assert_int_equal(pipe(ends), 0);
    c->pid = fork();
    if (c->pid == 0) {
        close(ends[0]);
        child_serve(ends[1], role, word, option);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], c->endpoint, sizeof(c->endpoint)),
                     sizeof(c->endpoint));
    close(ends[0]);
}

void stage_child_end(struct stage_child *c)
{
    struct endpoint e;

    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    assert_int_equal(endpoint_parse(&e, c->endpoint, NULL), 0);
    endpoint_remove(&e);
}

void stage_expect_refusal(struct stage *s, const char *words)
{
    assert_true(actor_prepare(&s->server) < 0);
    assert_null(s->server.flow);
    assert_non_null(strstr(s->server.fail.sentence, words));
}

void stage_run_alone(struct stage *s, const char *endpoint)
{
    snprintf(s->client.env.endpoint, sizeof(s->client.env.endpoint), "%s", endpoint);
    assert_int_equal(actor_prepare(&s->client), 0);
    assert_true(actor_run(&s->client));
    stage_assert_identity(&s->client);
}

int stage_connect(const char *endpoint)
{
    struct endpoint e;
    struct sockaddr_storage address;
    socklen_t len;
    int fd;

    assert_int_equal(endpoint_parse(&e, endpoint, NULL), 0);
    assert_int_equal(endpoint_address(&e, &address, &len, NULL), 0);
    fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (void *)&address, len), 0);
    return fd;
}
