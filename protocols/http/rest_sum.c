/*
 * Role rest: the REST microservice. `POST /sum` with {"numbers": [...]} answers
 * {"sum": ...}; a document without numbers is 422. Options: those of listener_open.
 */
#include <errno.h>
#include <stdlib.h>

#include "protocols/http/http_service.h"
#include "protocols/sum.h"
#include "protocols/transport.h"

struct flow {
    struct flow_env *env;
    struct http_service *service;
    bool is_finished;
};

static void on_asked(void *owner, struct http_call *call, const cJSON *document,
                     const char *body, size_t len)
{
    struct sum sum;
    const char *wrong = sum_of(document, &sum);

    (void)owner;
    (void)body;
    (void)len;
    if (wrong)
        http_call_refuse(call, 422, wrong);
    else
        http_call_answer_sum(call, sum.total);
}

static int rest_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    struct flow *f = calloc(1, sizeof(*f));
    int err;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "no memory for the service");
    f->env = env;
    err = http_service_new(&f->service, env, on_asked, f, fail);
    if (err)
        free(f);
    else
        *flow = f;
    return err;
}

static void rest_start(struct flow *f, uint64_t start_ns)
{
    (void)f;
    (void)start_ns;
}

/* Every request has had its answer, so there is nothing to wait for. */
static void rest_stop(struct flow *f)
{
    if (f->is_finished)
        return;
    f->is_finished = true;
    http_service_shut(f->service);
    f->env->finished(f->env, OUTCOME_COMPLETED, NULL);
}

static void rest_free(struct flow *f)
{
    http_service_free(f->service);
    free(f);
}

const struct role role_rest = {
    .name = "rest",
    .check = listener_check,
    .prepare = rest_prepare,
    .start = rest_start,
    .stop = rest_stop,
    .free = rest_free,
};
