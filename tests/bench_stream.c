/*
 * Run a server role and a client role once, each in a process of its own, and print
 * how long it took: what tests/bench_stream.sh compares with the yardsticks.
 *
 *   bench_stream SERVER CLIENT OPTION...    an option is name=text or name:number
 *
 * Besides the roles' own options, pin_server and pin_client are lists of CPUs. It
 * prints "sec=S cpu=S", from the start of the client to its end, and the CPU time of
 * both processes and their children; exit status 1 when the client did not complete.
 */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/endpoint.h"
#include "protocols/pacer_timer.h"
#include "protocols/pin.h"
#include "protocols/role.h"

struct ending {
    enum outcome outcome;
    uint64_t span_ns;
    char reason[200];
};

struct host {
    struct flow_env env;
    struct options options;
    struct ending ending;
};

static void on_finished(struct flow_env *env, enum outcome outcome, const char *reason)
{
    struct host *h = env->owner;

    h->ending.outcome = outcome;
    snprintf(h->ending.reason, sizeof(h->ending.reason), "%s", reason ? reason : "");
    event_base_loopbreak(env->base);
}

static void on_note(struct flow_env *env, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void on_note(struct flow_env *env, const char *format, ...)
{
    (void)env;
    (void)format;
}

static void on_fact(struct flow_env *env, const char *name, const char *text)
{
    (void)env;
    (void)name;
    (void)text;
}

/* `pin` is the name of this end's list of CPUs; the other end's is passed over. */
static void host_options(struct host *h, char **words, const char *pin)
{
    struct fail fail = {0};
    char name[64];

    for (; *words; words++) {
        size_t len = strcspn(*words, "=:");
        const char *value = *words + len + 1;

        snprintf(name, sizeof(name), "%.*s", (int)len, *words);
        if (strcmp(name, pin) == 0)
            pin_to_cpus(value, &fail);
        else if (strncmp(name, "pin_", 4) == 0)
            continue;
        else if ((*words)[len] == ':')
            options_set_number(&h->options, option_find(name), strtoull(value, NULL, 10));
        else
            options_set_text(&h->options, option_find(name), value);
    }
}

static struct flow *host_prepare(struct host *h, const struct role *role, char **words,
                                 const char *pin)
{
    struct fail fail = {0};
    struct flow *flow;

    signal(SIGPIPE, SIG_IGN);
    h->env.base = pacer_timer_base();
    h->env.meter = meter_new();
    h->env.options = &h->options;
    h->env.finished = on_finished;
    h->env.note = on_note;
    h->env.fact = on_fact;
    h->env.owner = h;
    host_options(h, words, pin);
    if (role->prepare(&h->env, &flow, &fail) == 0)
        return flow;
    fprintf(stderr, "%s: %s\n", role->name, fail.sentence);
    _exit(1);
}

static void run_server(const char *role_name, char **words, int report)
    __attribute__((noreturn));

/* Serve until killed. */
static void run_server(const char *role_name, char **words, int report)
{
    const struct role *role = role_find(role_name);
    struct host h = {0};
    struct flow *flow = host_prepare(&h, role, words, "pin_server");

    if (write(report, h.env.endpoint, sizeof(h.env.endpoint)) < 0)
        _exit(1);
    signal(SIGTERM, SIG_DFL);
    event_base_dispatch(h.env.base);
    role->free(flow);
    _exit(0);
}

static void run_client(const char *role_name, char **words, const char *endpoint,
                       int report) __attribute__((noreturn));

static void run_client(const char *role_name, char **words, const char *endpoint,
                       int report)
{
    const struct role *role = role_find(role_name);
    struct host h = {0};
    struct flow *flow;
    uint64_t begun_ns;

    snprintf(h.env.endpoint, sizeof(h.env.endpoint), "%s", endpoint);
    flow = host_prepare(&h, role, words, "pin_client");
    begun_ns = now_ns();
    role->start(flow, begun_ns);
    event_base_dispatch(h.env.base);
    h.ending.span_ns = now_ns() - begun_ns;
    role->free(flow);
    if (write(report, &h.ending, sizeof(h.ending)) < 0)
        _exit(1);
    _exit(0);
}

static double rusage_seconds(const struct rusage *r)
{
    return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
           (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
    struct ending ending = {0};
    struct rusage used[2];
    struct endpoint left;
    char endpoint[256];
    int ends[2];
    pid_t server, client;

    if (argc < 3 || pipe(ends) < 0) {
        fprintf(stderr, "usage: bench_stream SERVER CLIENT OPTION...\n");
        return 2;
    }
    server = fork();
    if (server == 0)
        run_server(argv[1], argv + 3, ends[1]);
    if (read(ends[0], endpoint, sizeof(endpoint)) != sizeof(endpoint))
        return 1;
    client = fork();
    if (client == 0)
        run_client(argv[2], argv + 3, endpoint, ends[1]);
    wait4(client, NULL, 0, &used[1]);
    close(ends[1]);
    if (read(ends[0], &ending, sizeof(ending)) != sizeof(ending))
        ending.outcome = OUTCOME_FAILED;
    kill(server, SIGTERM);
    wait4(server, NULL, 0, &used[0]);
    if (endpoint_parse(&left, endpoint, NULL) == 0)
        endpoint_remove(&left);
    printf("sec=%.6f cpu=%.6f\n", (double)ending.span_ns / 1e9,
           rusage_seconds(&used[0]) + rusage_seconds(&used[1]));
    if (ending.outcome != OUTCOME_COMPLETED)
        fprintf(stderr, "%s: %s\n", argv[2], ending.reason);
    return ending.outcome != OUTCOME_COMPLETED;
}
