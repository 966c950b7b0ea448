#include "engine/store.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/json.h"
#include "engine/message.h"
#include "engine/recording.h"
#include "engine/state_dir.h"

#define EXTENSION ".jsonl"
#define NAME_TIME_LEN 19 /* YYYYMMDD-HHMMSS-mmm */

/* No letters that are read as others: no i, l, o, u. */
static const char id_letters[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* The lock of a recorder. It goes with its descriptor, however the program ends. */
static const struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

/* The directory. */

int store_directory(char *path, size_t size, struct fail *fail)
{
    return state_dir_path("runs", path, size, fail);
}

/* Names. */

/* Take a file's name apart: the id, or false when it is not one of ours. */
static bool parse_name(const char *name, char *id)
{
    size_t len = strlen(name);
    size_t tail = STORE_ID_LEN + sizeof(EXTENSION) - 1;
    const char *at;

    if (len < NAME_TIME_LEN + 2 + tail ||
        strcmp(name + len - (sizeof(EXTENSION) - 1), EXTENSION) != 0)
        return false;
    for (size_t i = 0; i < NAME_TIME_LEN; i++)
        if (i == 8 || i == 15 ? name[i] != '-' : !isdigit((unsigned char)name[i]))
            return false;
    at = name + len - tail;
    if (name[NAME_TIME_LEN] != '_' || at[-1] != '_' ||
        strspn(at, id_letters) != STORE_ID_LEN)
        return false;
    memcpy(id, at, STORE_ID_LEN);
    id[STORE_ID_LEN] = '\0';
    return true;
}

static int newest_first(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

struct names {
    char **rows;
    size_t count, room;
};

static void names_done(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->rows[i]);
    free(n->rows);
}

static int names_add(struct names *n, const char *name)
{
    char **grown;

    if (n->count == n->room) {
        grown = realloc(n->rows, (2 * n->room + 64) * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        n->rows = grown;
        n->room = 2 * n->room + 64;
    }
    n->rows[n->count] = strdup(name);
    if (!n->rows[n->count])
        return -ENOMEM;
    n->count++;
    return 0;
}

/* Every name in the directory, newest first. */
static int read_names(const char *directory, struct names *names, struct fail *fail)
{
    DIR *d = opendir(directory);
    const struct dirent *e;
    int rc = 0;

    memset(names, 0, sizeof(*names));
    if (!d)
        return errno == ENOENT ? 0 : fail_set(fail, errno, "store", "%s", directory);
    while (rc == 0 && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = names_add(names, e->d_name);
    closedir(d);
    if (rc < 0) {
        names_done(names);
        return fail_set(fail, ENOMEM, "store", "reading %s", directory);
    }
    if (names->count)
        qsort(names->rows, names->count, sizeof(*names->rows), newest_first);
    return 0;
}

static bool prefix_taken(const struct names *names, const char *id)
{
    char other[STORE_ID_LEN + 1];

    for (size_t i = 0; i < names->count; i++)
        if (parse_name(names->rows[i], other) &&
            strncmp(other, id, STORE_PREFIX_MIN) == 0)
            return true;
    return false;
}

/* A fresh id, if possible one that its first letters already distinguish from all others.
 */
static void make_id(const struct names *names, char *id)
{
    for (int attempt = 0; attempt < 16; attempt++) {
        unsigned char bytes[STORE_ID_LEN];
        bool letter = false;

        if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
            for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (unsigned char)((size_t)clock() >> i ^ (size_t)getpid() * i);
        for (size_t i = 0; i < STORE_ID_LEN; i++)
            id[i] = id_letters[bytes[i] % 32];
        id[STORE_ID_LEN] = '\0';
        for (size_t i = 0; i < STORE_PREFIX_MIN; i++)
            letter |= isalpha((unsigned char)id[i]) != 0;
        /* Digits alone would read as a number. */
        if (letter && !prefix_taken(names, id))
            return;
    }
}

static void format_name(const char *scenario, const char *id, char *name, size_t size)
{
    struct timespec now;
    struct tm tm;
    char when[20];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
    snprintf(name, size, "%s-%03d_%s_%s" EXTENSION, when, (int)(now.tv_nsec / 1000000),
             scenario, id);
}

int store_create(const char *scenario, char *id, char *path, size_t size,
                 struct fail *fail)
{
    char directory[PATH_MAX];
    struct names names;
    char name[256];
    int fd = -1;

    if (store_directory(directory, sizeof(directory), fail) < 0 ||
        state_dir_make(directory, fail) < 0 || read_names(directory, &names, fail) < 0)
        return -EIO;
    for (int attempt = 0; fd < 0 && attempt < 4; attempt++) {
        make_id(&names, id);
        format_name(scenario, id, name, sizeof(name));
        if (snprintf(path, size, "%s/%s", directory, name) >= (int)size)
            break;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                  0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    names_done(&names);
    if (fd < 0)
        return fail_set(fail, errno ? errno : ENAMETOOLONG, "store", "%s", path);
    /* Where there are no locks a running recording only looks interrupted. */
    fcntl(fd, F_OFD_SETLK, &whole_file);
    return fd;
}

/* Listing. */

/* Whether somebody writes it: asked without taking the lock. */
static bool is_locked(int fd)
{
    struct flock lock = whole_file;

    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void read_medians(struct store_entry *e, const cJSON *end)
{
    const cJSON *medians = cJSON_GetObjectItemCaseSensitive(end, "medians");

    for (int i = 0; i < METRIC_COUNT; i++)
        e->medians[i] =
            json_number(medians, metric_row((enum metric)i)->name, (double)NAN);
}

static void describe(struct store_entry *e, const cJSON *header, const cJSON *end)
{
    snprintf(e->scenario, sizeof(e->scenario), "%s", json_text(header, "scenario", ""));
    e->started = (time_t)json_u64(header, "started", 0);
    e->trials = (unsigned)json_u64(end ? end : header, "trials", 0);
    read_medians(e, end);
    if (!end)
        return;
    e->state = STORE_ENDED;
    e->outcome = message_read_outcome(end);
    snprintf(e->reason, sizeof(e->reason), "%s", json_text(end, "reason", ""));
}

static void read_entry(const char *directory, struct store_entry *e)
{
    char path[PATH_MAX + sizeof(e->name)];
    struct fail fail = {0};
    cJSON *header = NULL;
    cJSON *end = NULL;
    struct stat st;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", directory, e->name);
    fd = recording_open_file(path, &fail);
    if (fd >= 0 && fstat(fd, &st) == 0)
        e->size_bytes = (uint64_t)st.st_size;
    if (fd >= 0 && !parse_name(e->name, e->id))
        fail_usage(&fail, "store", "%s does not have the name of a recording", path);
    e->state = fd >= 0 && is_locked(fd) ? STORE_RUNNING : STORE_INTERRUPTED;
    if (!fail.err && recording_ends(fd, path, &header, &end, &fail) == 0)
        describe(e, header, end);
    if (fail.err) {
        snprintf(e->problem, sizeof(e->problem), "%s", fail.sentence);
        e->id[0] = '\0';
    }
    cJSON_Delete(header);
    cJSON_Delete(end);
    if (fd >= 0)
        close(fd);
}

static size_t common_length(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* How much of each id distinguishes it from all others. */
static void shorten_ids(struct store_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = STORE_PREFIX_MIN;

        for (size_t k = 0; k < count; k++)
            if (k != i && common_length(entries[i].id, entries[k].id) >= len)
                len = common_length(entries[i].id, entries[k].id) + 1;
        snprintf(entries[i].shown, sizeof(entries[i].shown), "%.*s", (int)len,
                 entries[i].id);
    }
}

/* Newest first already; what is not a recording goes to the end. */
static int recordings_first(const void *a, const void *b)
{
    const struct store_entry *x = a;
    const struct store_entry *y = b;
    int foreign = (*x->problem != '\0') - (*y->problem != '\0');

    return foreign ? foreign : strcmp(y->name, x->name);
}

int store_list(struct store_entry **entries, size_t *count, struct fail *fail)
{
    char directory[PATH_MAX];
    struct names names;

    *entries = NULL;
    *count = 0;
    if (store_directory(directory, sizeof(directory), fail) < 0 ||
        read_names(directory, &names, fail) < 0)
        return -fail->err;
    *entries = calloc(names.count + 1, sizeof(**entries));
    for (size_t i = 0; *entries && i < names.count; i++) {
        struct store_entry *e = &(*entries)[(*count)++];

        snprintf(e->name, sizeof(e->name), "%s", names.rows[i]);
        read_entry(directory, e);
    }
    names_done(&names);
    if (!*entries)
        return fail_set(fail, ENOMEM, "store", "listing the runs");
    qsort(*entries, *count, sizeof(**entries), recordings_first);
    shorten_ids(*entries, *count);
    return 0;
}

const char *store_outcome(const struct store_entry *entry)
{
    switch (entry->state) {
    case STORE_RUNNING:
        return "running";
    case STORE_INTERRUPTED:
        return "interrupted";
    case STORE_ENDED:
        break;
    }
    return outcome_name(entry->outcome);
}

/* Finding. */

/* "last" is 0, "last~2" is 2; -1 when it is neither. */
static long how_far_back(const char *word)
{
    char *end;
    long n;

    if (strncmp(word, "last", 4) != 0)
        return -1;
    if (!word[4])
        return 0;
    if (word[4] != '~' || !isdigit((unsigned char)word[5]))
        return -1;
    n = strtol(word + 5, &end, 10);
    return *end ? -1 : n;
}

static bool is_regular(const char *directory, const char *name)
{
    char path[2 * PATH_MAX];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int find_back(const struct names *names, const char *directory, long back,
                     const char **found, struct fail *fail)
{
    char id[STORE_ID_LEN + 1];
    long seen = 0;

    for (size_t i = 0; i < names->count; i++)
        if (parse_name(names->rows[i], id) && is_regular(directory, names->rows[i]) &&
            seen++ == back) {
            *found = names->rows[i];
            return 0;
        }
    if (seen == 0)
        return fail_usage(fail, "store", "there are no saved runs");
    return fail_usage(fail, "store", "there %s only %ld saved run%s",
                      seen == 1 ? "is" : "are", seen, seen == 1 ? "" : "s");
}

static int find_prefix(const struct names *names, const char *word, const char **found,
                       struct fail *fail)
{
    char id[STORE_ID_LEN + 1];
    size_t len = strlen(word);

    for (size_t i = 0; i < names->count; i++) {
        bool ours = parse_name(names->rows[i], id);

        if (strcmp(names->rows[i], word) == 0) {
            *found = names->rows[i];
            return 0;
        }
        if (!ours || strncasecmp(id, word, len) != 0)
            continue;
        if (*found)
            return fail_usage(fail, "store",
                              "more than one run's id begins with '%s'; give more of it",
                              word);
        *found = names->rows[i];
    }
    return *found ? 0
                  : fail_usage(fail, "store",
                               "there is no run '%s'; plimsoll runs lists them", word);
}

int store_find(const char *word, char *path, size_t size, struct fail *fail)
{
    char directory[PATH_MAX];
    const char *found = NULL;
    struct names names;
    int rc;

    if (strchr(word, '/')) {
        snprintf(path, size, "%s", word);
        return access(path, F_OK) == 0 ? 0 : fail_set(fail, errno, "store", "%s", word);
    }
    if (!*word)
        return fail_usage(fail, "store", "which run? plimsoll runs lists them");
    if (store_directory(directory, sizeof(directory), fail) < 0 ||
        read_names(directory, &names, fail) < 0)
        return -ENOENT;
    rc = how_far_back(word) >= 0
             ? find_back(&names, directory, how_far_back(word), &found, fail)
             : find_prefix(&names, word, &found, fail);
    if (rc == 0 && snprintf(path, size, "%s/%s", directory, found) >= (int)size)
        rc = fail_set(fail, ENAMETOOLONG, "store", "%s", found);
    names_done(&names);
    return rc;
}

int store_delete(const char *path, struct fail *fail)
{
    int fd = recording_open_file(path, fail);
    cJSON *header = NULL;
    cJSON *end = NULL;
    int rc;

    if (fd < 0)
        return fd;
    if (is_locked(fd)) {
        close(fd);
        fail_usage(fail, "store", "%s is being recorded now", path);
        return -EBUSY;
    }
    rc = recording_ends(fd, path, &header, &end, fail);
    cJSON_Delete(header);
    cJSON_Delete(end);
    if (rc == 0 && unlink(path) < 0)
        rc = fail_set(fail, errno, "store", "deleting %s", path);
    close(fd);
    return rc;
}
