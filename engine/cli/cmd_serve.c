/* plimsoll serve ROLE: one server alone, for other clients, until Ctrl-C. */
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/cli/command.h"
#include "engine/limits.h"
#include "engine/param.h"
#include "engine/signals.h"
#include "engine/units.h"
#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/event.h"
#include "protocols/role.h"
#include "protocols/transport.h"
#include "protocols/utf8.h"
#include "protocols/words.h"

struct service {
    const char *name;
    const char *role;
    const char *other_role;            /* with --size or --file; NULL: the same */
    unsigned port;                     /* by default: the documented one */
    const struct transport *transport; /* of a stream server; NULL: it has its own */
    unsigned family;                   /* here and below: where there is no transport */
    const char *help;
};

/* clang-format off */
static const struct service services[] = {
#define X(kind, id, name, form) \
    {name, "requests-server", "bulk-server", 4000, &transport_##id, 0, NULL},
    ENDPOINT_STREAMS(X)
#undef X
    {"udp", "udp-server", NULL, 8123, NULL, SERVE_UDP, "counts datagrams by label"},
    {"rest", "rest", NULL, 9001, NULL, SERVE_REST, "the REST microservice: POST /sum"},
    {"gateway", "gateway", NULL, 9000, NULL, SERVE_GATEWAY,
     "the API endpoint in front of a microservice"},
    {"topper", "topper", NULL, 4000, NULL, SERVE_TOPPER, "the Topper TCP microservice"},
};
/* clang-format on */

#define SERVICES NUMBER_OF(services)

static unsigned family_of(const struct service *s)
{
    if (!s->transport)
        return s->family;
    return endpoint_has_port(s->transport->kind) ? SERVE_TCP : SERVE_FILE;
}

static const char *help_of(const struct service *s)
{
    return s->transport ? s->transport->help : s->help;
}

#define NOTES_A_SECOND 200

struct serving {
    struct event_base *base;
    struct signals signals;
    struct event *tick;
    const struct role *role;
    struct flow *flow;
    struct flow_env env;
    struct meter *meter;
    struct meter_counters totals;
    enum outcome outcome;
    bool stopping;
    unsigned notes, untold; /* in this second */
    char reason[320];
};

static void stamp(void)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[16];

    localtime_r(&now, &tm);
    strftime(text, sizeof(text), "%H:%M:%S", &tm);
    printf("%s ", text);
}

static void note(struct flow_env *env, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A server of thousands of clients a second must not spend its time on telling. */
static void note(struct flow_env *env, const char *format, ...)
{
    struct serving *s = env->owner;
    char text[1024];
    va_list args;

    if (s->notes == NOTES_A_SECOND) {
        s->untold++;
        return;
    }
    s->notes++;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    utf8_printable(text);
    stamp();
    puts(text);
    fflush(stdout);
}

static void fact(struct flow_env *env, const char *name, const char *text)
{
    note(env, "%s: %s", name, text);
}

static void finished(struct flow_env *env, enum outcome outcome, const char *reason)
{
    struct serving *s = env->owner;

    s->outcome = outcome;
    snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
    event_base_loopexit(s->base, NULL);
}

/* A line a second while anything happens. */
static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct serving *s = arg;
    const struct meter_counters *c = &s->meter->counters;

    (void)fd;
    (void)what;
    if (s->untold)
        printf("... and %u lines more\n", s->untold);
    s->notes = s->untold = 0;
    if (c->received_messages || c->received_bytes || c->sent_bytes) {
        stamp();
        printf("received %" PRIu64 " messages, %" PRIu64 " B; sent %" PRIu64 " B",
               c->received_messages, c->received_bytes, c->sent_bytes);
        for (size_t i = 0; i < s->meter->labels.used; i++)
            if (s->meter->labels.rows[i].count)
                printf("; %s %" PRIu64, s->meter->labels.rows[i].name,
                       s->meter->labels.rows[i].count);
        putchar('\n');
        fflush(stdout);
    }
#define X(name, unit, help) s->totals.name += c->name;
    METER_COUNTERS(X)
#undef X
    meter_reset(s->meter);
}

static void on_signal(void *arg)
{
    struct serving *s = arg;

    if (s->stopping)
        event_base_loopbreak(s->base);
    s->stopping = true;
    s->role->stop(s->flow);
}

static int set_up(struct serving *s, const struct options *values, struct fail *fail)
{
    struct timeval second = {1, 0};

    s->base = event_base_new();
    s->meter = meter_new();
    if (!s->base || !s->meter)
        return fail_set(fail, ENOMEM, "serve", "starting a server");
    s->tick = event_new(s->base, -1, EV_PERSIST, on_tick, s);
    if (!s->tick)
        return fail_set(fail, ENOMEM, "serve", "starting a server");
    s->env.base = s->base;
    s->env.meter = s->meter;
    s->env.options = values;
    s->env.note = note;
    s->env.fact = fact;
    s->env.finished = finished;
    s->env.owner = s;
    snprintf(s->env.upstream, sizeof(s->env.upstream), "%s",
             options_text(values, OPTION_upstream_endpoint, ""));
    limits_raise_files();
    if (s->role->prepare(&s->env, &s->flow, fail) < 0)
        return -EIO;
    if (signals_catch(&s->signals, s->base, on_signal, s) < 0 ||
        event_add(s->tick, &second) < 0)
        return fail_set(fail, ENOMEM, "serve", "starting a server");
    return 0;
}

static void tear_down(struct serving *s)
{
    signals_hold(&s->signals);
    if (s->flow)
        s->role->free(s->flow);
    event_drop(s->tick);
    meter_free(s->meter);
    if (s->base)
        event_base_free(s->base);
}

static int serve_until_stopped(const struct service *service, const char *role_name,
                               const struct options *values)
{
    struct serving s = {.role = role_find(role_name)};
    struct fail fail = {0};
    int code = EXIT_OK;

    assert(s.role);
    if (set_up(&s, values, &fail) < 0) {
        code = command_fails(&fail);
    } else {
        note(&s.env, "serving %s at %s; Ctrl-C ends it", service->name, s.env.endpoint);
        s.role->start(s.flow, now_ns());
        event_base_dispatch(s.base);
        on_tick(-1, 0, &s);
        note(&s.env,
             "served %" PRIu64 " connections; received %" PRIu64 " messages, %" PRIu64
             " B; sent %" PRIu64 " B",
             s.totals.connections, s.totals.received_messages, s.totals.received_bytes,
             s.totals.sent_bytes);
        if (s.outcome == OUTCOME_FAILED) {
            fail_say(&fail, EIO, "serve", "%s", s.reason);
            code = command_fails(&fail);
        }
    }
    tear_down(&s);
    return code;
}

/* The first ones are the gateway's. */
#define GATEWAY_FLAGS 2

static const struct flag flags[] = {
    {"upstream-endpoint", 0, "ENDPOINT",
     "gateway: the microservice, tcp:HOST:PORT; by default where serve rest, or serve "
     "topper, listens by default"},
    {"upstream-kind", 0, "rest|topper",
     "gateway: what the microservice speaks; rest by default"},
    {"help", 0, NULL, "this text"},
    {0},
};

static const struct flag *flags_of(const struct service *service)
{
    return family_of(service) == SERVE_GATEWAY ? flags : flags + GATEWAY_FLAGS;
}

static void print_help(const struct command *command, const struct service *service,
                       const struct options *values)
{
    struct command own = *command;
    char usage[48];

    snprintf(usage, sizeof(usage), "serve %s [options]", service->name);
    own.usage = usage;
    own.help = help_of(service);
    own.flags = flags_of(service);
    command_help(&own, family_of(service), values);
}

static void names_of_all(const char *names[SERVICES])
{
    for (size_t i = 0; i < SERVICES; i++)
        names[i] = services[i].name;
}

static const struct service *find_service(const char *name, struct fail *fail)
{
    const char *names[SERVICES];
    const char *near;
    char list[120];

    for (size_t i = 0; i < SERVICES; i++)
        if (strcmp(services[i].name, name) == 0)
            return &services[i];
    names_of_all(names);
    near = nearest_word(name, names, SERVICES);
    words_or(names, SERVICES, list, sizeof(list));
    if (near)
        fail_usage(fail, "serve", "there is no server '%.40s'; did you mean '%s'?", name,
                   near);
    else
        fail_usage(fail, "serve", "there is no server '%.40s': %s", name, list);
    return NULL;
}

static int ask_which(void)
{
    const char *names[SERVICES];
    struct fail fail = {0};
    char list[120];

    names_of_all(names);
    words_or(names, SERVICES, list, sizeof(list));
    fail_usage(&fail, "serve", "which server? %s", list);
    return command_fails(&fail);
}

/* Fallbacks of the parameter table; a server alone has the documented port. */
static int fill_defaults(const struct service *service, struct options *values)
{
    int rc = 0;

    for (const struct param *p = param_table(); p->name && rc == 0; p++)
        if (p->families & family_of(service))
            rc = p->flags & PARAM_REPEAT ? options_set_text(values, p->option, "")
                                         : param_set(values, p, p->fallback, NULL);
    if (rc == 0 && service->transport)
        rc = options_set_text(values, OPTION_transport, service->name);
    if (rc == 0)
        rc = options_set_number(values, OPTION_port, service->port);
    return rc;
}

/* Where nothing is said, the microservice is the one that serve starts by default. */
static void set_upstream(struct options *values, const struct arguments *a)
{
    const char *kind = arguments_flag(a, "upstream-kind");
    const char *endpoint = arguments_flag(a, "upstream-endpoint");

    kind = kind ? kind : "rest";
    if (!endpoint)
        endpoint =
            strcmp(kind, "topper") == 0 ? "tcp:127.0.0.1:4000" : "tcp:127.0.0.1:9001";
    options_set_text(values, OPTION_upstream_kind, kind);
    options_set_text(values, OPTION_upstream_endpoint, endpoint);
}

static int start_service(const struct command *command, const struct service *service,
                         int argc, char **argv)
{
    struct options values = {0};
    struct arguments a = {0};
    struct fail fail = {0};
    const char *role = service->role;
    int code;

    if (fill_defaults(service, &values) < 0)
        fail_set(&fail, ENOMEM, "serve", "starting a server");
    else
        arguments_parse(&a, argc, argv, family_of(service), flags_of(service), &values,
                        &fail);
    if (!fail.err)
        arguments_no_more(&a, 0, &fail);
    if (service->other_role &&
        (arguments_typed(&a, OPTION_size) || arguments_typed(&a, OPTION_file)))
        role = service->other_role;
    if (service->family == SERVE_GATEWAY)
        set_upstream(&values, &a);
    options_set_number(&values, OPTION_persistent,
                       options_is(&values, OPTION_client, "persistent"));
    /* Its clients are anybody's: they owe it nothing. */
    options_set_number(&values, OPTION_foreign, 1);
    if (fail.err) {
        code = command_fails(&fail);
    } else if (arguments_flag(&a, "help")) {
        print_help(command, service, &values);
        code = EXIT_OK;
    } else {
        code = serve_until_stopped(service, role, &values);
    }
    arguments_done(&a);
    options_done(&values);
    return code;
}

static int serve(const struct command *command, int argc, char **argv)
{
    const struct service *service;
    struct fail fail = {0};

    if (argc > 0 && command_is_help(argv[0])) {
        command_help(command, 0, NULL);
        puts("\nroles:");
        for (size_t i = 0; i < SERVICES; i++)
            printf("  %-8s %s\n", services[i].name, help_of(&services[i]));
        return EXIT_OK;
    }
    if (argc < 1 || argv[0][0] == '-')
        return ask_which();
    service = find_service(argv[0], &fail);
    return service ? start_service(command, service, argc - 1, argv + 1)
                   : command_fails(&fail);
}

static bool serve_word(size_t i, struct command_word *word)
{
    if (i >= SERVICES)
        return false;
    *word = (struct command_word){services[i].name, help_of(&services[i]),
                                  family_of(&services[i])};
    return true;
}

const struct command command_serve = {
    .name = "serve",
    .usage = "serve ROLE [options]",
    .help = "one server alone, for other clients, until Ctrl-C",
    .flags = flags,
    .operand = OPERAND_WORD,
    .word = serve_word,
    .run = serve,
};
