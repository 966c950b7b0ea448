/*
 * plimsoll call SERVER... TASK [JSON]: one task to one or several Topper servers. A
 * server of a single task takes a message without a task: JSON, or a sentence.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/cli/command.h"
#include "engine/json.h"
#include "protocols/topper_client.h"
#include "protocols/utf8.h"

struct call {
    size_t server_count;
    const char *const *servers; /* borrowed: the operands */
    const char *task;           /* NULL: the payload is the whole message */
    const char *payload;        /* NULL: none */
};

/* Servers come first and have a colon, which no task name has; JSON has quotes too. */
static bool is_server(const char *operand)
{
    return strchr(operand, ':') &&
           (!strpbrk(operand, " \t\r\n\"{") || strncmp(operand, "unix:", 5) == 0);
}

/* What cannot be the name of a task: more than a word, or JSON. */
static bool is_message(const char *operand)
{
    return strpbrk(operand, " \t\r\n{[\"") != NULL;
}

static int take_operands(struct call *c, const struct arguments *a, struct fail *fail)
{
    size_t n = 0;

    while (n < a->operand_count && is_server(a->operands[n]))
        n++;
    if (n == 0 || n == a->operand_count)
        return fail_usage(fail, "call",
                          "which %s? plimsoll call HOST:PORT... TASK [JSON]",
                          n ? "task" : "server");
    if (a->operand_count > n + 2)
        return fail_usage(fail, "call",
                          "what is '%s' for? After the task comes one payload, in quotes",
                          a->operands[n + 2]);
    c->servers = a->operands;
    c->server_count = n;
    c->task = a->operands[n];
    c->payload = a->operand_count > n + 1 ? a->operands[n + 1] : NULL;
    if (!c->payload && is_message(c->task)) {
        c->payload = c->task;
        c->task = NULL;
    }
    return 0;
}

/* Line by line: a terminal obeys some of what a server may have put into a reply. */
static void print_reply(char *reply)
{
    for (char *line; (line = strsep(&reply, "\n"));) {
        line[strcspn(line, "\r")] = '\0';
        utf8_printable(line);
        puts(line);
    }
}

static void print_text(const struct call *c, const struct topper_result *results)
{
    for (size_t i = 0; i < c->server_count; i++) {
        const struct topper_result *r = &results[i];
        struct fail fail = {0};

        if (r->err) {
            fail_set(&fail, -r->err, "call", "%s", c->servers[i]);
            command_fails(&fail);
        } else if (c->server_count == 1) {
            print_reply(r->reply);
        } else {
            printf("%s: ", c->servers[i]);
            print_reply(r->reply);
        }
    }
}

static cJSON *result_object(const char *server, const struct topper_result *r)
{
    cJSON *o = cJSON_CreateObject();
    cJSON *reply = r->err ? cJSON_CreateNull() : cJSON_Parse(r->reply);

    if (!o)
        return NULL;
    json_add_text(o, "server", server);
    cJSON_AddBoolToObject(o, "ok", r->err == 0);
    if (r->err)
        json_add_text(o, "error", strerror(-r->err));
    /* A reply that is no JSON is a text. */
    if (reply)
        cJSON_AddItemToObject(o, "reply", reply);
    else
        json_add_text(o, "reply", r->reply);
    json_add_number(o, "seconds", (double)r->elapsed_ns / 1e9);
    return o;
}

static int print_json(const struct call *c, const struct topper_result *results)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; array && i < c->server_count; i++)
        cJSON_AddItemToArray(array, result_object(c->servers[i], &results[i]));
    return json_write(stdout, array);
}

static int carry_out(const struct arguments *a, const struct options *values,
                     struct fail *fail)
{
    struct topper_result results[OPERANDS_MAX];
    struct call c = {0};
    int code = EXIT_OK;

    if (take_operands(&c, a, fail) < 0 ||
        topper_call(c.servers, c.server_count, c.task, c.payload,
                    options_number(values, OPTION_timeout, 0), results, fail) < 0)
        return command_fails(fail);
    if (arguments_flag(a, "json"))
        code = print_json(&c, results) < 0 ? EXIT_FAILED : EXIT_OK;
    else
        print_text(&c, results);
    for (size_t i = 0; i < c.server_count; i++)
        if (results[i].err)
            code = EXIT_FAILED;
    topper_results_done(results, c.server_count);
    return code;
}

static const struct flag flags[] = {
    {"timeout", 't', "TIME", "give up after this time; default 10s"},
    {"json", 'j', NULL, "the replies as JSON, with the time of each"},
    {"help", 0, NULL, "this text"},
    {0},
};

static int call(const struct command *command, int argc, char **argv)
{
    struct options values = {0};
    struct arguments a = {0};
    struct fail fail = {0};
    const char *timeout;
    int code;

    arguments_parse(&a, argc, argv, 0, flags, NULL, &fail);
    timeout = arguments_flag(&a, "timeout");
    if (!fail.err)
        param_set(&values, param_find(FAMILY_WEB, "timeout"), timeout ? timeout : "10s",
                  &fail);
    if (fail.err) {
        code = command_fails(&fail);
    } else if (arguments_flag(&a, "help")) {
        command_help(command, 0, NULL);
        code = EXIT_OK;
    } else {
        code = carry_out(&a, &values, &fail);
    }
    arguments_done(&a);
    options_done(&values);
    return code;
}

const struct command command_call = {
    .name = "call",
    .usage = "call SERVER... TASK [JSON] | MESSAGE",
    .help = "send one task, or a single task's message, to one or several Topper servers",
    .flags = flags,
    .run = call,
};
