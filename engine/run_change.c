/*
 * A value that is changed while the clients run: they are asked, and it is in force, and
 * recorded, when all of them have taken it. When one refuses, it is taken back from the
 * others.
 */
#include <errno.h>
#include <stdio.h>

#include "engine/json.h"
#include "engine/message.h"
#include "engine/run_parts.h"
#include "engine/units.h"

#define ERRNO_MAX 4095 /* of Linux */

static bool is_running_client(const struct link *l)
{
    return l->process->place == PLACE_CLIENT && l->child && !l->done;
}

static void ask(struct run *r, struct link *l, uint64_t value)
{
    const struct run_private *p = r->private;
    const struct param *row = p->change.param;

    run_send_value(l, row->option,
                   row->flags & PARAM_SPLIT
                       ? run_share(value, l->process->index, p->workers)
                       : value);
    l->asked = true;
}

int run_set(struct run *r, enum option option, uint64_t value)
{
    struct run_private *p = r->private;
    const struct param *row = scenario_param(r->scenario, option);

    if (!p || !row || !(row->flags & PARAM_LIVE) || r->state != RUN_RUNNING ||
        value < row->min || value > row->max)
        return -EINVAL;
    if (row->flags & PARAM_SPLIT && value && value < p->workers)
        return -EINVAL;
    if (p->change.param)
        return -EBUSY;
    p->change = (struct change){.param = row, .value = value};
    for (size_t i = 0; i < p->link_count; i++) {
        p->links[i].took = false;
        if (is_running_client(&p->links[i]))
            ask(r, &p->links[i], value);
    }
    run_go_on(r);
    return 0;
}

void run_answered(struct run *r, struct link *l, const cJSON *object)
{
    struct change *c = &r->private->change;
    uint64_t err = json_u64(object, "errno", 0);

    if (!l->asked || l->done)
        return; /* servers are sent values too, which nobody waits for */
    l->asked = false;
    l->took = err == 0;
    if (err && !c->err)
        c->err = err <= ERRNO_MAX ? (int)err : EPROTO;
    if (l->took && run_option_is_rate(c->param->option))
        run_current(r)->rate_changed = true;
    run_go_on(r);
}

/* Whoever took it goes back to the value before. */
static void take_back(struct run *r)
{
    struct run_private *p = r->private;

    p->change.is_taken_back = true;
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].took && is_running_client(&p->links[i]))
            ask(r, &p->links[i], options_number(&r->values, p->change.param->option, 0));
}

static bool is_awaited(const struct run_private *p)
{
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].asked && is_running_client(&p->links[i]))
            return true;
    return false;
}

static bool is_taken(const struct run_private *p)
{
    for (size_t i = 0; i < p->link_count; i++)
        if (p->links[i].took)
            return true;
    return false;
}

static void mark(struct run *r, const struct change *c)
{
    char number[24];
    char text[48];

    units_format_count((double)c->value, number, sizeof(number));
    snprintf(text, sizeof(text), "%s %s", c->param->name, number);
    run_mark(r, text);
}

void run_settle_change(struct run *r)
{
    struct run_private *p = r->private;
    struct change c;

    if (p->change.param && p->change.err && !p->change.is_taken_back && !is_awaited(p))
        take_back(r);
    if (!p->change.param || is_awaited(p))
        return;
    c = p->change;
    p->change.param = NULL;
    if (!c.err && !is_taken(p))
        c.err = ECANCELED; /* the clients ended before they heard of it */
    if (!c.err && options_set_number(&r->values, c.param->option, c.value) < 0)
        run_fails(r, "out of memory");
    if (!c.err)
        mark(r, &c);
    if (p->ops->was_set)
        p->ops->was_set(p->arg, r, c.param, c.value, -c.err);
}
