#include "tests/pair.h"

#include <dirent.h>
#include <errno.h>
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
#undef stop /* of cmocka 2; roles have a member of this name */

#include "protocols/clock.h"

static void on_finished(struct flow_env *env, enum outcome outcome, const char *reason)
{
    struct actor *a = env->owner;

    if (a->finished)
        abort(); /* called twice */
    if (outcome >= OUTCOME_EXHAUSTED && (!reason || !*reason))
        abort(); /* a failure without its reason */
    a->finished = true;
    a->outcome = outcome;
    snprintf(a->reason, sizeof(a->reason), "%s", reason ? reason : "");
    event_base_loopbreak(env->base);
}

static void on_note(struct flow_env *env, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void on_note(struct flow_env *env, const char *format, ...)
{
    struct actor *a = env->owner;
    va_list args;

    va_start(args, format);
    vsnprintf(a->note, sizeof(a->note), format, args);
    va_end(args);
    a->notes++;
}

static void on_fact(struct flow_env *env, const char *name, const char *text)
{
    struct actor *a = env->owner;
    size_t i = 0;

    while (i < a->fact_count && strcmp(a->facts[i].name, name) != 0)
        i++;
    if (i == ACTOR_FACTS)
        abort();
    if (i == a->fact_count)
        a->fact_count++;
    snprintf(a->facts[i].name, sizeof(a->facts[i].name), "%s", name);
    snprintf(a->facts[i].text, sizeof(a->facts[i].text), "%s", text);
}

struct event_base *pair_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base;

    signal(SIGPIPE, SIG_IGN);
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

void actor_init(struct actor *a, const char *role, struct event_base *base)
{
    memset(a, 0, sizeof(*a));
    a->role = role_find(role);
    if (!a->role)
        abort();
    a->env.base = base;
    a->env.meter = meter_new();
    a->env.options = &a->options;
    a->env.finished = on_finished;
    a->env.note = on_note;
    a->env.fact = on_fact;
    a->env.owner = a;
}

void actor_done(struct actor *a)
{
    if (a->flow)
        a->role->free(a->flow);
    meter_free(a->env.meter);
    options_done(&a->options);
    memset(a, 0, sizeof(*a));
}

void actor_options(struct actor *a, ...)
{
    va_list args;
    const char *word;
    char name[64];

    va_start(args, a);
    while ((word = va_arg(args, const char *)) != NULL) {
        size_t len = strcspn(word, "=:");

        enum option option;

        snprintf(name, sizeof(name), "%.*s", (int)len, word);
        option = option_find(name);
        if (option == OPTION_NONE)
            fail_msg("there is no option '%s'", name);
        if (word[len] == ':')
            options_set_number(&a->options, option, strtoull(word + len + 1, NULL, 10));
        else
            options_set_text(&a->options, option, word + len + 1);
    }
    va_end(args);
}

int actor_prepare(struct actor *a)
{
    return a->role->prepare(&a->env, &a->flow, &a->fail);
}

void pair_prepare(struct actor *server, struct actor *client)
{
    struct actor *both[] = {server, client};

    for (int i = 0; i < 2; i++) {
        if (i == 1)
            memcpy(client->env.endpoint, server->env.endpoint,
                   sizeof(client->env.endpoint));
        if (actor_prepare(both[i]) == 0)
            continue;
        fprintf(stderr, "%s: %s\n", both[i]->role->name, both[i]->fail.sentence);
        abort();
    }
    server->role->start(server->flow, now_ns());
}

void actor_serve(struct actor *a, const char *role, struct event_base *base,
                 const char *option, const char *other, const struct actor *upstream)
{
    actor_init(a, role, base);
    actor_options(a, "port:0", option, other, NULL);
    if (other)
        actor_options(a, other, NULL);
    if (upstream)
        snprintf(a->env.upstream, sizeof(a->env.upstream), "%s", upstream->env.endpoint);
    if (actor_prepare(a) < 0)
        fail_msg("%s: %s", role, a->fail.sentence);
    a->role->start(a->flow, now_ns());
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    event_base_loopbreak(arg);
}

bool pair_turn(struct event_base *base, const bool *flag, unsigned span_ms)
{
    uint64_t until_ns = now_ns() + span_ms * NS_PER_MS;
    struct event *timer = evtimer_new(base, on_time, base);

    while (!(flag && *flag) && now_ns() < until_ns) {
        struct timeval left = timeval_from_ns(until_ns - now_ns());

        event_add(timer, &left);
        event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    }
    event_free(timer);
    return flag && *flag;
}

bool actor_run(struct actor *a)
{
    a->role->start(a->flow, now_ns());
    return pair_turn(a->env.base, &a->finished, 20000);
}

bool pair_write(struct event_base *base, int fd, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        ssize_t n = write(fd, at, len);

        if (n < 0 && errno != EAGAIN)
            return false;
        if (n < 0)
            pair_turn(base, NULL, 1);
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool actor_stop(struct actor *a)
{
    a->role->stop(a->flow);
    return pair_turn(a->env.base, &a->finished, 20000);
}

const struct meter_counters *actor_counters(const struct actor *a)
{
    return &a->env.meter->counters;
}

const char *actor_fact(const struct actor *a, const char *name)
{
    for (size_t i = 0; i < a->fact_count; i++)
        if (strcmp(a->facts[i].name, name) == 0)
            return a->facts[i].text;
    return "";
}

unsigned end_strays(void)
{
    char path[64];
    unsigned count = 0;
    long pid;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    f = fopen(path, "re");
    if (!f)
        abort();
    for (; fscanf(f, "%ld", &pid) == 1; count++)
        kill((pid_t)pid, SIGKILL);
    fclose(f);
    for (unsigned n = 0; n < count; n++)
        waitpid(-1, NULL, 0);
    return count;
}

unsigned open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}
