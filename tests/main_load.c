/*
 * One role alone in a process, for benches and by hand:
 *
 *   load ROLE [endpoint=E] [upstream=E] [NAME=VALUE ...]
 *
 * A value of digits is a number, in base units; "text:VALUE" forces a text. Prints
 * "endpoint E" when it is ready and the meter as "NAME VALUE" lines at the end. Ends
 * by itself, on SIGINT and SIGTERM.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <event2/event.h>

#include "protocols/clock.h"
#include "protocols/pacer_timer.h"
#include "protocols/role.h"

struct run {
    struct flow_env env;
    const struct role *role;
    struct flow *flow;
    enum outcome outcome;
};

static void finished(struct flow_env *env, enum outcome outcome, const char *reason)
{
    struct run *r = env->owner;

    r->outcome = outcome;
    printf("outcome %s%s%s\n", outcome_name(outcome), reason ? ": " : "",
           reason ? reason : "");
    event_base_loopbreak(env->base);
}

static __attribute__((format(printf, 2, 3))) void note(struct flow_env *env,
                                                       const char *format, ...)
{
    va_list args;

    (void)env;
    va_start(args, format);
    fputs("note ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void fact(struct flow_env *env, const char *name, const char *text)
{
    (void)env;
    printf("fact %s: %s\n", name, text);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    r->role->stop(r->flow);
}

static int read_options(struct flow_env *env, struct options *o, char **args)
{
    for (; *args; args++) {
        char *value = strchr(*args, '=');

        if (!value)
            return -1;
        *value++ = '\0';
        if (strcmp(*args, "endpoint") == 0)
            snprintf(env->endpoint, sizeof(env->endpoint), "%s", value);
        else if (strcmp(*args, "upstream") == 0)
            snprintf(env->upstream, sizeof(env->upstream), "%s", value);
        else if (option_find(*args) == OPTION_NONE)
            return -1;
        else if (*value && strspn(value, "0123456789") == strlen(value))
            options_set_number(o, option_find(*args), strtoull(value, NULL, 10));
        else
            options_set_text(o, option_find(*args),
                             strncmp(value, "text:", 5) == 0 ? value + 5 : value);
    }
    return 0;
}

static void print_hist(const char *name, const struct hist *h)
{
    static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};
    static const char *const words[] = {"p50", "p90", "p99", "p99.9"};

    if (!h || !h->count)
        return;
    printf("%s_us count %" PRIu64 " mean %.1f", name, h->count, hist_mean(h) / 1e3);
    for (int i = 0; i < 4; i++)
        printf(" %s %.1f", words[i], (double)hist_quantile(h, quantiles[i]) / 1e3);
    printf(" max %.1f\n", (double)h->max / 1e3);
}

static void print_tally(const char *name, const struct tally *t)
{
    for (size_t i = 0; i < t->used; i++)
        printf("%s '%s' %" PRIu64 "\n", name, t->rows[i].name, t->rows[i].count);
}

static void print_meter(const struct meter *m)
{
#define X(name, unit, help) \
    if (m->counters.name)   \
        printf(#name " %" PRIu64 "\n", m->counters.name);
    METER_COUNTERS(X)
#undef X
#define X(name, help) print_tally(#name, &m->name);
    METER_TALLIES(X)
#undef X
#define X(name, help) print_hist(#name, m->hists[METER_HIST_##name]);
    METER_HISTS(X)
#undef X
}

static void print_run(const struct run *r, uint64_t wall_ns, uint64_t cpu_ns)
{
    const struct meter_counters *c = &r->env.meter->counters;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    print_meter(r->env.meter);
    printf("seconds %.3f\n", (double)wall_ns / 1e9);
    if (c->succeeded)
        printf("requests_per_s %.0f\ncpu_us_per_request %.2f\n",
               (double)c->succeeded * 1e9 / (double)wall_ns,
               (double)cpu_ns / 1e3 / (double)c->succeeded);
    printf("max_rss_kib %ld\n", usage.ru_maxrss);
}

static int run(struct run *r)
{
    struct event *interrupt, *terminate;
    struct fail fail = {0};
    uint64_t start_ns, cpu_ns;

    if (r->role->prepare(&r->env, &r->flow, &fail) < 0) {
        fprintf(stderr, "%s: %s\n", fail.step, fail.sentence);
        return 1;
    }
    interrupt = evsignal_new(r->env.base, SIGINT, on_signal, r);
    terminate = evsignal_new(r->env.base, SIGTERM, on_signal, r);
    event_add(interrupt, NULL);
    event_add(terminate, NULL);
    printf("endpoint %s\n", r->env.endpoint);
    fflush(stdout);
    start_ns = now_ns();
    cpu_ns = cpu_time_ns();
    r->role->start(r->flow, start_ns);
    event_base_dispatch(r->env.base);
    print_run(r, now_ns() - start_ns, cpu_time_ns() - cpu_ns);
    r->role->free(r->flow);
    event_free(interrupt);
    event_free(terminate);
    return r->outcome == OUTCOME_FAILED ? 3 : 0;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct run r = {
        .env = {.options = &options,
                .finished = finished,
                .note = note,
                .fact = fact,
                .owner = &r},
    };
    int status;

    r.role = argc > 1 ? role_find(argv[1]) : NULL;
    if (!r.role || read_options(&r.env, &options, argv + 2) < 0) {
        fprintf(stderr, "usage: load ROLE [NAME=VALUE ...]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    r.env.base = pacer_timer_base();
    r.env.meter = meter_new();
    status = run(&r);
    meter_free(r.env.meter);
    event_base_free(r.env.base);
    options_done(&options);
    return status;
}
