#include "protocols/lookups.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "protocols/clock.h"
#include "protocols/event.h"

/* Shared by the owner and the threads: whoever lets go of it last frees it. */
struct lookups {
    struct endpoint name;
    struct event *event; /* the owner's */
    void (*ready)(void *arg);
    void *arg;
    int fd; /* an eventfd: there are answers */

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    unsigned users;
    bool is_over;
    uint64_t asked; /* and not begun */
    size_t begun;   /* lookups under way */
    size_t first, count;
    struct answer answers[LOOKUPS_ANSWERS]; /* a ring */
};

/* Called with the lock held, which is gone afterwards. */
static void let_go(struct lookups *r)
{
    bool was_last = --r->users == 0;

    pthread_mutex_unlock(&r->lock);
    if (!was_last)
        return;
    close(r->fd);
    pthread_cond_destroy(&r->work);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/*
 * Why a lookup failed: it needs a descriptor, and does not say that it got none. Returns
 * the error that any socket would have now, or else `err`.
 */
static int lookup_error(int err)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    close(fd);
    return err;
}

static void look_up(const struct endpoint *name, struct answer *a)
{
    uint64_t begin_ns = now_ns();
    struct fail ignored = {0};

    a->err = endpoint_address(name, &a->address, &a->len, &ignored);
    if (a->err < 0)
        a->err = lookup_error(a->err);
    a->span_ns = now_ns() - begin_ns;
}

static void put_answer(struct lookups *r, const struct answer *a)
{
    r->answers[(r->first + r->count) % LOOKUPS_ANSWERS] = *a;
    r->count++;
    if (r->count == 1 && !r->is_over)
        eventfd_write(r->fd, 1);
}

static void *thread_main(void *arg)
{
    struct lookups *r = arg;
    struct answer a;

    pthread_mutex_lock(&r->lock);
    while (!r->is_over) {
        if (!r->asked || r->count + r->begun == LOOKUPS_ANSWERS) {
            pthread_cond_wait(&r->work, &r->lock);
            continue;
        }
        r->asked--;
        r->begun++;
        pthread_mutex_unlock(&r->lock);
        look_up(&r->name, &a);
        pthread_mutex_lock(&r->lock);
        r->begun--;
        put_answer(r, &a);
    }
    let_go(r);
    return NULL;
}

static void on_answers(evutil_socket_t fd, short what, void *arg)
{
    struct lookups *r = arg;
    eventfd_t n;

    (void)what;
    if (eventfd_read(fd, &n) == 0)
        r->ready(r->arg);
}

/* Signals are the loop's, and a thread is no one's to wait for. */
static int start_threads(struct lookups *r)
{
    pthread_attr_t detached;
    sigset_t all, before;
    int err = 0;

    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < LOOKUPS_THREADS && !err; i++) {
        pthread_t thread;

        err = pthread_create(&thread, &detached, thread_main, r);
        r->users += !err;
    }
    pthread_mutex_unlock(&r->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return err;
}

struct lookups *lookups_new(struct event_base *base, const struct endpoint *name,
                            void (*ready)(void *arg), void *arg)
{
    struct lookups *r = calloc(1, sizeof(*r));
    int err = ENOMEM;

    if (!r)
        return NULL;
    *r = (struct lookups){.name = *name, .ready = ready, .arg = arg, .users = 1};
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->fd < 0)
        err = errno;
    else
        r->event = event_new(base, r->fd, EV_READ | EV_PERSIST, on_answers, r);
    if (r->event && event_add(r->event, NULL) == 0)
        err = start_threads(r);
    if (!err)
        return r;
    lookups_free(r);
    errno = err;
    return NULL;
}

void lookups_free(struct lookups *r)
{
    if (!r)
        return;
    event_drop(r->event);
    pthread_mutex_lock(&r->lock);
    r->is_over = true;
    pthread_cond_broadcast(&r->work);
    let_go(r);
}

void lookups_ask(struct lookups *r, uint64_t n)
{
    if (!n)
        return;
    pthread_mutex_lock(&r->lock);
    r->asked += n;
    if (n == 1)
        pthread_cond_signal(&r->work);
    else
        pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
}

size_t lookups_take(struct lookups *r, struct answer *answers, size_t max)
{
    bool was_full;
    size_t n;

    pthread_mutex_lock(&r->lock);
    was_full = r->count + r->begun == LOOKUPS_ANSWERS;
    n = r->count < max ? r->count : max;
    for (size_t i = 0; i < n; i++)
        answers[i] = r->answers[(r->first + i) % LOOKUPS_ANSWERS];
    r->first = (r->first + n) % LOOKUPS_ANSWERS;
    r->count -= n;
    if (r->count)
        eventfd_write(r->fd, 1);
    if (was_full)
        pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    return n;
}
