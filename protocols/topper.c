#include "protocols/topper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <event2/buffer.h>

#include "protocols/array.h"
#include "protocols/sum.h"

struct call {
    const struct topper_message *message;
    const cJSON *json; /* the payload; NULL where it is a string or absent */
};

/* A task appends its reply and returns NULL, or returns what is wrong. */
typedef const char *task_fn(const struct call *call, struct evbuffer *reply);

static task_fn ping, add, average, echo, greet;

/* One row a task. The single-task modes have one row each, whose name is not sent. */
static const struct task {
    enum topper_mode mode;
    const char *name;
    task_fn *run;
} tasks[] = {
    {TOPPER_MULTI, "Ping", ping},         {TOPPER_MULTI, "Sum", add},
    {TOPPER_MULTI, "Avg", average},       {TOPPER_ECHO, "echo", echo},
    {TOPPER_GREETING, "greeting", greet},
};

#define TASK_COUNT NUMBER_OF(tasks)

static const char *ping(const struct call *call, struct evbuffer *reply)
{
    (void)call;
    evbuffer_add_printf(reply, "Pong\n");
    return NULL;
}

static const char *add(const struct call *call, struct evbuffer *reply)
{
    struct sum sum;
    char total[SUM_TEXT_MAX];
    const char *wrong = sum_of(call->json, &sum);

    if (wrong)
        return wrong;
    sum_format(sum.total, total);
    evbuffer_add_printf(reply, "The sum is: %s \n", total);
    return NULL;
}

static const char *average(const struct call *call, struct evbuffer *reply)
{
    struct sum sum;
    char total[SUM_TEXT_MAX];
    char mean[SUM_TEXT_MAX];
    const char *wrong = sum_of(call->json, &sum);

    if (wrong)
        return wrong;
    sum_format(sum.total, total);
    sum_format(sum.total / (double)sum.count, mean);
    evbuffer_add_printf(reply, "The sum of numbers is: %s \nThe average is: %s \n", total,
                        mean);
    return NULL;
}

/* The reply ends as the message did, so it is a line for nc and exact for a program. */
static const char *echo(const struct call *call, struct evbuffer *reply)
{
    evbuffer_add_printf(reply, "Message payload: ");
    evbuffer_add(reply, call->message->text, call->message->len);
    if (call->message->has_newline)
        evbuffer_add(reply, "\n", 1);
    return NULL;
}

/* A string or a number as text; false for anything else. */
static bool as_text(const cJSON *value, const char **text, char number[SUM_TEXT_MAX])
{
    *text = number;
    if (cJSON_IsString(value))
        *text = value->valuestring;
    else if (cJSON_IsNumber(value))
        sum_format(value->valuedouble, number);
    else
        return false;
    return true;
}

static const char *greet(const struct call *call, struct evbuffer *reply)
{
    char name_number[SUM_TEXT_MAX], age_number[SUM_TEXT_MAX];
    const char *name, *age;

    if (!as_text(cJSON_GetObjectItemCaseSensitive(call->json, "name"), &name,
                 name_number) ||
        !as_text(cJSON_GetObjectItemCaseSensitive(call->json, "age"), &age, age_number))
        return "the payload must be an object such as {\"name\": \"Ada\", \"age\": 36}";
    evbuffer_add_printf(reply, "hello, my name is %s and i'm %s old\n", name, age);
    return NULL;
}

int topper_mode_find(const char *name, enum topper_mode *mode)
{
    if (strcmp(name, "multi") == 0) {
        *mode = TOPPER_MULTI;
        return 0;
    }
    for (size_t i = 0; i < TASK_COUNT; i++) {
        if (tasks[i].mode == TOPPER_MULTI || strcmp(tasks[i].name, name) != 0)
            continue;
        *mode = tasks[i].mode;
        return 0;
    }
    return -ENOENT;
}

/* Splitting. */

enum phase {
    PHASE_BEFORE, /* blanks and line ends before a message */
    PHASE_WORD,   /* in the task's name */
    PHASE_GAP,    /* blanks behind it */
    PHASE_TEXT,   /* in a payload that only a line end closes */
    PHASE_JSON,   /* in a payload that its last bracket closes */
    PHASE_SKIP,   /* in the rest of a message that was too long */
};

void topper_split_init(struct topper_split *s, enum topper_mode mode)
{
    memset(s, 0, sizeof(*s));
    s->mode = mode;
    s->phase = PHASE_BEFORE;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_line_end(char c)
{
    return c == '\r' || c == '\n';
}

static bool opens_json(char c)
{
    return c == '{' || c == '[';
}

/* One byte of a JSON payload; true when it closes the outermost bracket. */
static bool closes_json(struct topper_split *s, char c)
{
    if (s->in_string) {
        if (s->escaped)
            s->escaped = false;
        else if (c == '\\')
            s->escaped = true;
        else if (c == '"')
            s->in_string = false;
        return false;
    }
    if (c == '"')
        s->in_string = true;
    else if (opens_json(c))
        s->depth++;
    else if (c == '}' || c == ']')
        return --s->depth == 0;
    return false;
}

/* The phase that a byte, which is no line end, begins or continues. */
static enum phase next_phase(const struct topper_split *s, char c)
{
    switch (s->phase) {
    case PHASE_BEFORE:
        if (s->mode == TOPPER_ECHO)
            return PHASE_TEXT;
        return opens_json(c) ? PHASE_JSON : PHASE_WORD;
    case PHASE_WORD:
        return is_blank(c) ? PHASE_GAP : PHASE_WORD;
    case PHASE_GAP:
        if (is_blank(c))
            return PHASE_GAP;
        return opens_json(c) ? PHASE_JSON : PHASE_TEXT;
    default:
        return (enum phase)s->phase;
    }
}

/* The bytes before a message; how many. */
static size_t skip_before(const struct topper_split *s, const char *bytes, size_t len)
{
    size_t n = 0;

    while (n < len &&
           (is_line_end(bytes[n]) || (s->mode != TOPPER_ECHO && is_blank(bytes[n]))))
        n++;
    return n;
}

/* bytes[0..len) is a message without its '\n'. */
static enum topper_step cut(struct topper_split *s, struct topper_message *m,
                            const char *bytes, size_t len, bool has_newline)
{
    while (len && bytes[len - 1] == '\r')
        len--;
    m->text = bytes;
    m->len = len;
    m->has_newline = has_newline;
    topper_split_init(s, s->mode);
    return TOPPER_MESSAGE;
}

/* Drop what is left of a message that was too long. */
static bool skip_long(struct topper_split *s, const char *bytes, size_t len, size_t *used)
{
    const char *end = len ? memchr(bytes, '\n', len) : NULL;

    *used = end ? (size_t)(end - bytes) + 1 : len;
    if (!end)
        return false;
    topper_split_init(s, s->mode);
    return true;
}

/* `text` begins with a message; what was scanned before is not scanned again. */
static enum topper_step scan(struct topper_split *s, const char *text, size_t len,
                             size_t *used, struct topper_message *m)
{
    for (size_t i = s->scanned; i < len; i++) {
        if (text[i] == '\n') {
            *used = i + 1;
            return cut(s, m, text, i, true);
        }
        if (i == TOPPER_MESSAGE_MAX)
            break;
        s->phase = next_phase(s, text[i]);
        if (s->phase == PHASE_JSON && closes_json(s, text[i])) {
            *used = i + 1;
            return cut(s, m, text, i + 1, false);
        }
        s->scanned = i + 1;
    }
    *used = 0;
    if (len <= TOPPER_MESSAGE_MAX)
        return TOPPER_MORE;
    *used = TOPPER_MESSAGE_MAX;
    topper_split_init(s, s->mode);
    s->phase = PHASE_SKIP;
    return TOPPER_TOO_LONG;
}

enum topper_step topper_split_next(struct topper_split *s, const char *bytes, size_t len,
                                   size_t *used, struct topper_message *m)
{
    size_t before = 0;
    enum topper_step step;

    if (s->phase == PHASE_SKIP && !skip_long(s, bytes, len, &before)) {
        *used = before;
        return TOPPER_MORE;
    }
    if (s->phase == PHASE_BEFORE)
        before += skip_before(s, bytes + before, len - before);
    step = scan(s, bytes + before, len - before, used, m);
    *used += before;
    return step;
}

bool topper_split_is_between(const struct topper_split *s)
{
    return s->phase == PHASE_BEFORE;
}

bool topper_split_rest(const struct topper_split *s, const char *bytes, size_t len,
                       struct topper_message *m)
{
    while (len && is_line_end(bytes[len - 1]))
        len--;
    if (s->phase == PHASE_SKIP || len == 0)
        return false;
    m->text = bytes;
    m->len = len;
    m->has_newline = false;
    return true;
}

/* Answering. */

static size_t word_len(const struct topper_message *m)
{
    size_t n = 0;

    while (n < m->len && !is_blank(m->text[n]))
        n++;
    return n;
}

/* Names come from the network: shortened, and with '?' for what may not be printed. */
static void add_name(struct evbuffer *reply, const char *name, size_t len)
{
    char shown[41];
    size_t n = len < sizeof(shown) - 1 ? len : sizeof(shown) - 1;

    for (size_t i = 0; i < n; i++)
        shown[i] = (char)(name[i] > ' ' && name[i] < 0x7f ? name[i] : '?');
    shown[n] = '\0';
    evbuffer_add_printf(reply, "'%s%s'", shown, n < len ? "..." : "");
}

static int unknown_task(const struct topper_message *m, struct evbuffer *reply)
{
    const char *between = "; known are ";

    evbuffer_add_printf(reply, TOPPER_ERROR "unknown task ");
    add_name(reply, m->text, word_len(m));
    for (size_t i = 0; i < TASK_COUNT; i++) {
        if (tasks[i].mode != TOPPER_MULTI)
            continue;
        evbuffer_add_printf(reply, "%s%s", between, tasks[i].name);
        between = ", ";
    }
    evbuffer_add(reply, "\n", 1);
    return -EINVAL;
}

static const struct task *find_task(enum topper_mode mode, const struct topper_message *m)
{
    size_t len = word_len(m);

    for (size_t i = 0; i < TASK_COUNT; i++) {
        const struct task *t = &tasks[i];

        if (t->mode != mode)
            continue;
        if (mode != TOPPER_MULTI ||
            (strlen(t->name) == len && memcmp(t->name, m->text, len) == 0))
            return t;
    }
    return NULL;
}

/*
 * The payload: what follows the first word. A program that knows only `TASK {json}`
 * may talk to a single-task server too, so there a word before the JSON is skipped.
 */
static const char *payload_of(enum topper_mode mode, const struct topper_message *m,
                              size_t *len)
{
    size_t at = word_len(m);

    if (mode != TOPPER_MULTI && m->len && opens_json(m->text[0]))
        at = 0;
    while (at < m->len && is_blank(m->text[at]))
        at++;
    *len = m->len - at;
    return m->text + at;
}

int topper_answer(enum topper_mode mode, const struct topper_message *m,
                  struct evbuffer *reply)
{
    const struct task *task = find_task(mode, m);
    struct call call = {.message = m};
    size_t before = evbuffer_get_length(reply);
    const char *wrong = NULL;
    const char *payload;
    cJSON *json = NULL;
    size_t len;

    if (!task)
        return unknown_task(m, reply);
    payload = payload_of(mode, m, &len);
    if (mode != TOPPER_ECHO && len) {
        json = sum_parse(payload, len);
        if (!json && opens_json(payload[0]))
            wrong = "the payload is not valid JSON";
    }
    call.json = json;
    if (!wrong)
        wrong = task->run(&call, reply);
    cJSON_Delete(json);
    if (!wrong)
        return evbuffer_get_length(reply) > before ? 0 : -ENOMEM;
    evbuffer_add_printf(reply, TOPPER_ERROR "%s: %s\n", task->name, wrong);
    return -EINVAL;
}

void topper_answer_too_long(struct evbuffer *reply)
{
    evbuffer_add_printf(reply, TOPPER_ERROR "the message is longer than %u bytes\n",
                        TOPPER_MESSAGE_MAX);
}

size_t topper_reply_feed(struct topper_reply *r, const char *bytes, size_t len)
{
    const char *end = len ? memchr(bytes, '\n', len) : NULL;
    size_t n = end ? (size_t)(end - bytes) : len;

    for (size_t i = 0; i < n && r->matched == r->len + i; i++)
        if (r->matched < strlen(TOPPER_ERROR) && bytes[i] == TOPPER_ERROR[r->matched])
            r->matched++;
    r->len += n;
    r->is_complete = end != NULL;
    return end ? n + 1 : n;
}

bool topper_reply_is_error(const struct topper_reply *r)
{
    return r->matched == strlen(TOPPER_ERROR);
}
