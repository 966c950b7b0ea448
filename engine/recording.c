#include "engine/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/json.h"
#include "engine/line_reader.h"
#include "engine/message.h"
#include "engine/secret.h"
#include "protocols/array.h"
#include "protocols/clock.h"

#define TAIL 65536 /* the end line is far shorter */
#define PROCESSES_MAX 1024
#define ORIGIN_MAX_NS (1ull << 62) /* of the last of 1000 such trials */
#define SECONDS_MAX 4000000        /* of a trial: longer than --duration can be */

struct recording {
    struct line_reader lines;
    cJSON *next; /* the line after those applied; NULL: not read yet, or none */
    bool over;   /* nothing follows */
    bool trial_open;
    struct sample scratch;
    struct run *run;
    char damage[120]; /* "" unless a line could not be read */
};

/* Lines. */

static cJSON *parse(const char *line, size_t len)
{
    cJSON *o = json_parse(line, len);

    if (cJSON_IsObject(o))
        return o;
    cJSON_Delete(o);
    return NULL;
}

static void damaged(struct recording *rec, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Nothing after this line is read. The first cause stays. */
static void damaged(struct recording *rec, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!*rec->damage)
        vsnprintf(rec->damage, sizeof(rec->damage), format, args);
    va_end(args);
    rec->over = true;
}

/* Have the next line parsed in rec->next, or rec->over set. */
static void look_ahead(struct recording *rec)
{
    const char *line;
    size_t len;
    int rc;

    if (rec->next || rec->over)
        return;
    rc = line_reader_next(&rec->lines, &line, &len);
    if (rc < 0)
        damaged(rec, "cannot be read at line %zu: %s", rec->lines.number + 1,
                strerror(-rc));
    if (rc <= 0) {
        rec->over = true;
        return;
    }
    rec->next = parse(line, len);
    if (rec->next)
        return;
    /* Half a line at the very end is what a killed program leaves. */
    if (line_reader_at_end(&rec->lines))
        rec->over = true;
    else
        damaged(rec, "is damaged at line %zu", rec->lines.number);
}

/* The run that is rebuilt. */

static struct run *run_of_header(const cJSON *header, const char *name, struct fail *fail)
{
    const char *scenario = json_text(header, "scenario", "");
    uint64_t trials = json_u64(header, "trials", 0);
    struct run *r;

    if (!scenario_find(scenario)) {
        fail_usage(fail, "recording",
                   "%s is of the scenario '%.40s', which this "
                   "program does not have",
                   name, scenario);
        return NULL;
    }
    if (trials < 1 || trials > 1000) {
        fail_usage(fail, "recording", "%s has no number of trials", name);
        return NULL;
    }
    r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->scenario = scenario_find(scenario);
    r->started = (time_t)json_u64(header, "started", 0);
    snprintf(r->id, sizeof(r->id), "%s", json_text(header, "id", ""));
    environment_read(&r->environment, header);
    r->trial_count = (unsigned)trials;
    r->trials = calloc(r->trial_count, sizeof(*r->trials));
    r->series = series_new();
    if (r->trials && r->series && message_read_values(header, &r->values) == 0 &&
        secrets_hide(&r->values, &r->hidden) == 0)
        return r;
    run_free(r);
    return NULL;
}

/* A recording of ours, and of a version that this program reads. */
static int check_schema(const cJSON *header, const char *name, struct fail *fail)
{
    static const char family[] = "plimsoll.recording/";
    const char *schema = json_text(header, "schema", "");

    if (strcmp(schema, RECORDING_SCHEMA) == 0)
        return 0;
    if (strncmp(schema, family, sizeof(family) - 1) == 0)
        return fail_usage(
            fail, "recording",
            "%s was written by a later version of plimsoll (%.40s; this one "
            "reads %s)",
            name, schema, RECORDING_SCHEMA);
    return fail_usage(fail, "recording", "%s is no recording of plimsoll", name);
}

static struct run *read_header(struct recording *rec, const char *name, struct fail *fail)
{
    const char *line = "";
    size_t len = 0;
    int rc = line_reader_next(&rec->lines, &line, &len);
    struct run *r = NULL;
    cJSON *header;

    if (rc < 0) {
        fail_set(fail, -rc, "recording", "%s cannot be read", name);
        return NULL;
    }
    header = parse(line, len);
    if (!len) {
        fail_usage(fail, "recording", "%s is empty", name);
    } else if (check_schema(header, name, fail) == 0) {
        r = run_of_header(header, name, fail);
        if (!r)
            fail_set(fail, ENOMEM, "recording", "reading %s", name);
    }
    cJSON_Delete(header);
    return r;
}

static int find_place(const char *name)
{
    for (int i = 0; i < PLACE_COUNT; i++)
        if (strcmp(place_name((enum place)i), name) == 0)
            return i;
    return -1;
}

static void read_facts(struct process *p, const cJSON *line)
{
    const cJSON *row;

    p->fact_count = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(line, "facts"))
    {
        struct fact *f = &p->facts[p->fact_count];

        if (p->fact_count == PROCESS_FACTS)
            break;
        snprintf(f->name, sizeof(f->name), "%s", json_text(row, "name", ""));
        snprintf(f->text, sizeof(f->text), "%s", json_text(row, "text", ""));
        p->fact_count++;
    }
}

static void read_ending(struct process *p, const cJSON *line)
{
    p->outcome = message_read_outcome(line);
    snprintf(p->reason, sizeof(p->reason), "%s", json_text(line, "reason", ""));
    read_facts(p, line);
}

static int read_processes(struct trial *t, const cJSON *line)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(line, "processes");
    const cJSON *row;
    size_t i = 0;

    if ((size_t)cJSON_GetArraySize(array) != t->process_count)
        return -EINVAL;
    cJSON_ArrayForEach(row, array)
    {
        struct process *p = &t->processes[i++];
        int place = find_place(json_text(row, "place", ""));

        if (place < 0)
            return -EINVAL;
        p->place = (enum place)place;
        p->index = (unsigned)json_u64(row, "index", 0);
        p->pid = (pid_t)json_u64(row, "pid", 0);
        snprintf(p->endpoint, sizeof(p->endpoint), "%s", json_text(row, "endpoint", ""));
        snprintf(p->boot, sizeof(p->boot), "%s", json_text(row, "boot", ""));
        p->start_ns = json_u64(row, "start_ns", 0);
        p->ready = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "ready"));
        p->reported = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "reported"));
        read_ending(p, row);
    }
    return 0;
}

static struct trial *open_trial(const struct recording *rec)
{
    return rec->trial_open ? run_trial(rec->run) : NULL;
}

static struct process *process_of(const struct recording *rec, const cJSON *line)
{
    struct trial *t = open_trial(rec);
    uint64_t i = json_u64(line, "process", UINT64_MAX);

    return t && i < t->process_count ? &t->processes[i] : NULL;
}

static uint64_t origin_ns(const struct run *r)
{
    return run_trial(r) ? run_origin_ns(r, run_trial(r)) : 0;
}

/* Memory goes with the seconds of a trial: no file may ask for all of it. */
static bool is_possible(const struct sample *s)
{
    return s->at_ns / NS_PER_S <= SECONDS_MAX;
}

/* Each: 0, or a negative errno for a line that a recorder cannot have written. */

static int apply_trial(struct recording *rec, const cJSON *line,
                       struct recording_event *event)
{
    struct run *r = rec->run;
    int count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(line, "processes"));
    uint64_t origin = json_u64(line, "origin_ns", UINT64_MAX);
    struct trial *t;

    if (rec->trial_open || r->trials_begun == r->trial_count || count < 1 ||
        count > PROCESSES_MAX || (origin != UINT64_MAX && origin > ORIGIN_MAX_NS))
        return -EINVAL;
    t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    r->trials[r->trials_begun] = t;
    if (trial_init(t, r->scenario, (unsigned)json_u64(line, "number", 0), (size_t)count) <
            0 ||
        read_processes(t, line) < 0) {
        trial_done(t);
        free(t);
        return -EINVAL;
    }
    r->trials_begun++;
    rec->trial_open = true;
    t->started = (time_t)json_u64(line, "started", 0);
    if (origin < UINT64_MAX) {
        r->first_ns = 1; /* any instant will do: only differences to it are known */
        t->start_ns = r->first_ns + origin;
    }
    r->state = RUN_RUNNING;
    event->kind = RECORDING_CHANGED;
    return 0;
}

static int apply_sample(struct recording *rec, const cJSON *line,
                        struct recording_event *event)
{
    struct process *p = process_of(rec, line);
    struct run *r = rec->run;

    if (!p || sample_decode(&rec->scratch, line) < 0 || !is_possible(&rec->scratch))
        return -EINVAL;
    if (trial_sample(run_trial(r), p, &rec->scratch) < 0)
        return -ENOMEM;
    series_add(r->series, p->place, origin_ns(r), &rec->scratch,
               p->place == r->scenario->family->latency_place);
    event->kind = RECORDING_SAMPLED;
    event->process = p;
    event->sample = &rec->scratch;
    return 0;
}

static int apply_mark(struct recording *rec, const cJSON *line,
                      struct recording_event *event)
{
    (void)event;
    series_mark(rec->run->series, json_u64(line, "at_ns", 0),
                json_text(line, "text", ""));
    return 0;
}

static int apply_set(struct recording *rec, const cJSON *line,
                     struct recording_event *event)
{
    const char *name = json_text(line, "name", "");
    enum option option = option_find(name);

    (void)event;
    if (!*name)
        return -EINVAL;
    if (option == OPTION_NONE)
        return 0; /* of another version */
    if (rec->trial_open)
        run_trial(rec->run)->rate_changed |= run_option_is_rate(option);
    return options_set_number(&rec->run->values, option, json_u64(line, "value", 0));
}

static int apply_paused(struct recording *rec, const cJSON *line,
                        struct recording_event *event)
{
    struct trial *t = open_trial(rec);
    const cJSON *row;
    uint64_t second;

    (void)event;
    if (!t)
        return -EINVAL;
    t->paused_ns = json_u64(line, "paused_ns", 0);
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(line, "seconds"))
    {
        if (!json_is_u64(row, &second) || second > SECONDS_MAX)
            return -EINVAL;
        if (trial_pause_second(t, second) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int apply_done(struct recording *rec, const cJSON *line,
                      struct recording_event *event)
{
    struct process *p = process_of(rec, line);
    struct sample sums;

    (void)event;
    /* What cannot be read must not spoil the sums of the samples. */
    if (!p || sample_decode(&rec->scratch, line) < 0 || !is_possible(&rec->scratch))
        return -EINVAL;
    sums = p->totals;
    p->totals = rec->scratch;
    rec->scratch = sums;
    p->reported = true;
    read_ending(p, line);
    return 0;
}

static void close_trial(struct recording *rec, enum outcome outcome, const char *reason)
{
    struct trial *t = run_trial(rec->run);

    t->outcome = outcome;
    snprintf(t->reason, sizeof(t->reason), "%s", reason);
    run_account(rec->run, t);
    trial_drop_hists(t);
    rec->trial_open = false;
    rec->run->state = RUN_DRAINING;
}

static int apply_trial_end(struct recording *rec, const cJSON *line,
                           struct recording_event *event)
{
    struct trial *t = open_trial(rec);

    if (!t || read_processes(t, line) < 0)
        return -EINVAL;
    t->rate_changed |=
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "rate_changed"));
    close_trial(rec, message_read_outcome(line), json_text(line, "reason", ""));
    event->kind = RECORDING_CHANGED;
    return 0;
}

static int apply_end(struct recording *rec, const cJSON *line,
                     struct recording_event *event)
{
    struct run *r = rec->run;

    if (rec->trial_open)
        return -EINVAL;
    r->outcome = message_read_outcome(line);
    snprintf(r->reason, sizeof(r->reason), "%s", json_text(line, "reason", ""));
    r->state = RUN_DONE;
    rec->over = true;
    event->kind = RECORDING_CHANGED;
    return 0;
}

static const struct line_type {
    const char *name;
    int (*apply)(struct recording *rec, const cJSON *line, struct recording_event *event);
} line_types[] = {
    {"sample", apply_sample},       {"trial", apply_trial},
    {"mark", apply_mark},           {"set", apply_set},
    {"paused", apply_paused},       {"done", apply_done},
    {"trial_end", apply_trial_end}, {"end", apply_end},
};

/* The series' time of a line: that of the last one where it has none of its own. */
static uint64_t time_of(const struct recording *rec, const cJSON *line)
{
    const char *type = json_text(line, "type", "");
    uint64_t at = rec->run->replayed_ns;

    if (strcmp(type, "sample") == 0)
        at = origin_ns(rec->run) + json_u64(line, "at_ns", 0);
    else if (strcmp(type, "mark") == 0)
        at = json_u64(line, "at_ns", 0);
    else if (strcmp(type, "trial") == 0)
        at = json_u64(line, "origin_ns", at);
    return at > rec->run->replayed_ns ? at : rec->run->replayed_ns;
}

/* Reading. */

/* What is there is the result, whatever way the recording ended. */
static void finish(struct recording *rec)
{
    struct run *r = rec->run;
    char reason[200];

    if (r->state == RUN_DONE)
        return;
    snprintf(reason, sizeof(reason), "interrupted: the recording %s",
             *rec->damage ? rec->damage : "ends before the run did");
    if (rec->trial_open)
        close_trial(rec, OUTCOME_STOPPED, reason);
    if (r->outcome <= OUTCOME_STOPPED) {
        r->outcome = OUTCOME_STOPPED;
        snprintf(r->reason, sizeof(r->reason), "%s", reason);
    }
    r->interrupted = true;
    r->state = RUN_DONE;
}

bool recording_peek(struct recording *rec, uint64_t *at_ns)
{
    look_ahead(rec);
    if (!rec->next)
        return false;
    *at_ns = time_of(rec, rec->next);
    return true;
}

/* An unknown type is a later version's: passed over. */
static int apply(struct recording *rec, const cJSON *line, struct recording_event *event)
{
    const char *type = json_text(line, "type", "");

    for (size_t i = 0; i < NUMBER_OF(line_types); i++)
        if (strcmp(line_types[i].name, type) == 0)
            return line_types[i].apply(rec, line, event);
    return 0;
}

bool recording_step(struct recording *rec, struct recording_event *event)
{
    struct recording_event ignored;
    uint64_t at;
    int rc;

    if (!event)
        event = &ignored;
    memset(event, 0, sizeof(*event));
    event->kind = RECORDING_OTHER;
    if (!recording_peek(rec, &at)) {
        finish(rec);
        event->at_ns = rec->run->replayed_ns;
        return false;
    }
    rc = apply(rec, rec->next, event);
    rec->run->replayed_ns = at;
    event->at_ns = at;
    cJSON_Delete(rec->next);
    rec->next = NULL;
    if (rc < 0)
        damaged(rec, "is damaged at line %zu", rec->lines.number);
    return true;
}

static int rewind_to_begin(struct recording *rec)
{
    struct run *fresh;
    struct run old;
    int rc = line_reader_rewind(&rec->lines);

    if (rc < 0)
        return rc;
    cJSON_Delete(rec->next);
    rec->next = NULL;
    rec->over = rec->trial_open = false;
    rec->damage[0] = '\0';
    fresh = read_header(rec, "", NULL);
    if (!fresh)
        return -EIO;
    /* Others hold the address of the run: its contents change places. */
    old = *rec->run;
    *rec->run = *fresh;
    *fresh = old;
    run_free(fresh);
    return 0;
}

int recording_seek(struct recording *rec, uint64_t at_ns)
{
    uint64_t at;
    int rc = 0;

    if (at_ns < rec->run->replayed_ns || rec->run->state == RUN_DONE)
        rc = rewind_to_begin(rec);
    if (rc < 0)
        return rc;
    while (recording_peek(rec, &at) && at <= at_ns)
        recording_step(rec, NULL);
    if (!recording_peek(rec, &at))
        recording_step(rec, NULL); /* the end */
    else if (at_ns > rec->run->replayed_ns)
        rec->run->replayed_ns = at_ns;
    return 0;
}

int recording_open_file(const char *path, struct fail *fail)
{
    struct stat st;
    int fd;

    if (lstat(path, &st) < 0)
        return fail_set(fail, errno, "recording", "%s", path);
    if (S_ISLNK(st.st_mode))
        return fail_usage(fail, "recording",
                          "%s is a symbolic link, which is not followed", path);
    if (!S_ISREG(st.st_mode))
        return fail_usage(fail, "recording", "%s is not a regular file", path);
    /* It may have been exchanged since: a FIFO must not make us wait. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail_set(fail, errno, "recording", "%s", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return fail_usage(fail, "recording", "%s is not a regular file", path);
    }
    return fd;
}

struct recording *recording_open(const char *path, struct fail *fail)
{
    struct recording *rec = calloc(1, sizeof(*rec));

    if (!rec || sample_init(&rec->scratch) < 0) {
        free(rec);
        fail_set(fail, ENOMEM, "recording", "reading %s", path);
        return NULL;
    }
    rec->lines.fd = recording_open_file(path, fail);
    if (rec->lines.fd >= 0)
        rec->run = read_header(rec, path, fail);
    if (rec->run)
        return rec;
    recording_free(rec);
    return NULL;
}

void recording_free(struct recording *rec)
{
    if (!rec)
        return;
    if (rec->lines.fd >= 0)
        close(rec->lines.fd);
    line_reader_done(&rec->lines);
    cJSON_Delete(rec->next);
    sample_done(&rec->scratch);
    run_free(rec->run);
    free(rec);
}

struct run *recording_run(const struct recording *rec)
{
    return rec->run;
}

struct run *recording_load(const char *path, struct fail *fail)
{
    struct recording *rec = recording_open(path, fail);
    struct run *r;

    if (!rec)
        return NULL;
    while (recording_step(rec, NULL))
        continue;
    r = rec->run;
    rec->run = NULL;
    recording_free(rec);
    return r;
}

/* The last line, if it is an end; NULL otherwise. */
static cJSON *read_end(int fd)
{
    struct stat st;
    char *text = malloc(TAIL);
    cJSON *o = NULL;
    ssize_t n = -1;

    if (text && fstat(fd, &st) == 0)
        n = pread(fd, text, TAIL, st.st_size > TAIL ? st.st_size - TAIL : 0);
    if (n > 0) {
        const char *begin;

        if (text[n - 1] == '\n')
            n--;
        begin = memrchr(text, '\n', (size_t)n);
        if (begin)
            o = parse(begin + 1, (size_t)(text + n - begin - 1));
    }
    free(text);
    if (strcmp(json_text(o, "type", ""), "end") == 0)
        return o;
    cJSON_Delete(o);
    return NULL;
}

int recording_ends(int fd, const char *path, cJSON **header, cJSON **end,
                   struct fail *fail)
{
    struct line_reader lines = {.fd = fd};
    const char *line = "";
    size_t len = 0;
    int rc = line_reader_next(&lines, &line, &len);

    *header = *end = NULL;
    if (rc < 0)
        fail_set(fail, -rc, "recording", "%s cannot be read", path);
    else
        *header = parse(line, len);
    line_reader_done(&lines);
    if (rc < 0 || check_schema(*header, path, fail) < 0) {
        cJSON_Delete(*header);
        *header = NULL;
        return -EINVAL;
    }
    *end = read_end(fd);
    return 0;
}
