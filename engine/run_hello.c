/* What a worker is sent first: which role with which values. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/message.h"
#include "engine/run_parts.h"
#include "protocols/random.h"

/* An amount that `workers` processes share: the first ones take the remainder. */
uint64_t run_share(uint64_t amount, unsigned index, unsigned workers)
{
    return amount / workers + (index < amount % workers);
}

static const char *server_endpoint(const struct run *r, enum place place)
{
    const struct run_private *p = r->private;

    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].process->place == place)
            return p->links[i].process->endpoint;
    return options_text(&r->values, OPTION_target, "");
}

/* Values that are set one after the other; the first failure stays. */
struct setting {
    struct options *values;
    int rc;
};

static void set_number(struct setting *s, enum option option, uint64_t number)
{
    if (s->rc == 0)
        s->rc = options_set_number(s->values, option, number);
}

static void set_text(struct setting *s, enum option option, const char *text)
{
    if (s->rc == 0)
        s->rc = options_set_text(s->values, option, text);
}

/* The run's own values, each client's share of those that are shared out. */
static void set_values(struct setting *s, const struct run *r,
                       const struct process *process)
{
    for (size_t i = 0; i < r->values.count; i++) {
        const struct option_value *v = &r->values.values[i];
        const struct param *row = scenario_param(r->scenario, v->option);
        uint64_t number = v->number;

        if (row && row->flags & PARAM_RUN)
            continue;
        if (row && row->flags & PARAM_SPLIT && process->place == PLACE_CLIENT)
            number = run_share(number, process->index, r->private->workers);
        if (v->text)
            set_text(s, v->option, v->text);
        else
            set_number(s, v->option, number);
    }
}

/* Each client process, and each trial, draws arrivals of its own from the run's seed. */
static uint64_t arrivals_seed(const struct run *r, const struct process *process)
{
    uint64_t state = options_number(&r->values, OPTION_arrivals_seed, 0);

    state = random_next(&state) + run_current(r)->number;
    state = random_next(&state) + process->index;
    return random_next(&state) >> 11; /* a message carries 53 bits of a number */
}

static int hello_values(const struct run *r, const struct process *process,
                        struct options *values)
{
    const struct run_private *p = r->private;
    struct setting s = {values, 0};
    char content[64];

    set_values(&s, r, process);
    /* The port is the one that clients use; what stands behind takes any. */
    if (process->place != PLACE_CLIENT && process->place != scenario_facing(r->scenario))
        set_number(&s, OPTION_port, 0);
    /* What is loaded is the run's own, wherever a launcher has put it. */
    if (r->scenario->family->load && !r->scenario->family->url)
        set_number(&s, OPTION_remote_target, 1);
    if (p->content_fd >= 0) {
        snprintf(content, sizeof(content), "/proc/%ld/fd/%d", (long)getpid(),
                 p->content_fd);
        set_text(&s, OPTION_content, content);
    }
    set_text(&s, OPTION_oneshot_program, p->oneshot_program);
    set_number(&s, OPTION_persistent,
               options_is(&r->values, OPTION_client, "persistent"));
    /* A server of somebody else's need not send what ours would. */
    set_number(&s, OPTION_foreign, *options_text(&r->values, OPTION_target, "") != '\0');
    set_number(&s, OPTION_sender, process->index);
    set_number(&s, OPTION_senders, p->workers);
    set_number(&s, OPTION_arrivals_seed, arrivals_seed(r, process));
    set_number(&s, OPTION_run_id,
               ((uint64_t)getpid() << 16 | run_current(r)->number) & UINT32_MAX);
    /* Until the workers say otherwise: see tell_clocks. */
    set_number(&s, OPTION_shared_clock, process->place == PLACE_SERVER);
    return s.rc;
}

void run_pin(const struct run *r, enum place place, char *pin, size_t size)
{
    const char *text = options_text(&r->values, OPTION_pin, "");
    const char *slash = strchr(text, '/');

    if (place == PLACE_CLIENT)
        snprintf(pin, size, "%s", slash ? slash + 1 : text);
    else
        snprintf(pin, size, "%.*s", slash ? (int)(slash - text) : (int)strlen(text),
                 text);
}

int run_say_hello(struct run *r, struct link *l)
{
    struct hello hello = {.index = l->process->index};
    enum place place = l->process->place;
    int rc = hello_values(r, l->process, &hello.values);

    snprintf(hello.role, sizeof(hello.role), "%s", r->scenario->roles[place]);
    if (place == PLACE_CLIENT)
        snprintf(hello.endpoint, sizeof(hello.endpoint), "%s",
                 server_endpoint(r, scenario_facing(r->scenario)));
    if (place == PLACE_ENDPOINT)
        snprintf(hello.upstream, sizeof(hello.upstream), "%s",
                 server_endpoint(r, PLACE_SERVER));
    run_pin(r, place, hello.pin, sizeof(hello.pin));
    if (rc == 0)
        rc = child_send(l->child, message_hello(&hello));
    options_done(&hello.values);
    return rc;
}
