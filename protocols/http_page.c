#include "protocols/http_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#define PAGE_MAX 1024 /* bytes of a page with its header, at most */
#define PAGE_END "</HTML>\n"

/* What is said in place of a page; the phrase on its status line stays. */
static const char *error_text(int status)
{
    switch (status) {
    case 400:
        return "this is no valid HTTP request, or its header is too long";
    case 413:
        return "the body is too long, or its length is not valid";
    case 417:
        return "of expectations only 100-continue is met";
    case 501:
        return "this method is not known";
    default:
        return "the request cannot be answered";
    }
}

/* The last bytes of a buffer as text, at most `size` with the NUL; how many. */
static size_t copy_end(struct evbuffer *buffer, char *text, size_t size)
{
    size_t len = evbuffer_get_length(buffer);
    size_t n = len < size - 1 ? len : size - 1;
    struct evbuffer_ptr at;

    text[0] = '\0';
    if (evbuffer_ptr_set(buffer, &at, len - n, EVBUFFER_PTR_SET) < 0 ||
        evbuffer_copyout_from(buffer, &at, text, n) != (ev_ssize_t)n)
        return 0;
    text[n] = '\0';
    return n;
}

/* The last answer in a text, NULL when there is none. */
static const char *last_answer(const char *text)
{
    const char *found = NULL;

    for (const char *at = text; (at = strstr(at, "HTTP/1.")) != NULL; at++)
        found = at;
    return found;
}

/* Keep the first `keep` bytes of a buffer; what comes behind them is `answer`. */
static void replace_end(struct evbuffer *buffer, size_t keep, const char *answer)
{
    struct evbuffer *kept = evbuffer_new();

    if (!kept)
        return;
    evbuffer_remove_buffer(buffer, kept, keep);
    evbuffer_drain(buffer, evbuffer_get_length(buffer));
    evbuffer_add_buffer(buffer, kept);
    evbuffer_add(buffer, answer, strlen(answer));
    evbuffer_free(kept);
}

static void replace_page(struct evbuffer *buffer, const char *page, size_t page_len)
{
    int status = atoi(page + strcspn(page, " "));
    size_t line_len = strcspn(page, "\r");
    char json[128], answer[512];

    snprintf(json, sizeof(json), "{\"error\":\"%s\"}\n", error_text(status));
    snprintf(answer, sizeof(answer),
             "%.*s\r\nContent-Type: application/json\r\nConnection: close\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             (int)(line_len < 80 ? line_len : 80), page, strlen(json), json);
    replace_end(buffer, evbuffer_get_length(buffer) - page_len, answer);
}

/* evhttp writes a page in pieces: it is whole when its end is there. */
static void look_at_end(struct evbuffer *buffer)
{
    char text[PAGE_MAX + 1];
    size_t n = copy_end(buffer, text, sizeof(text));
    const char *page = last_answer(text);

    if (page && n >= strlen(PAGE_END) &&
        strcmp(text + n - strlen(PAGE_END), PAGE_END) == 0)
        replace_page(buffer, page, n - (size_t)(page - text));
}

static void on_output(struct evbuffer *buffer, const struct evbuffer_cb_info *info,
                      void *arg)
{
    const bool *is_own = arg;

    if (*is_own || info->n_added < strlen(PAGE_END))
        return;
    /* A bufferevent keeps the front of its output frozen, but for its own writing. */
    evbuffer_unfreeze(buffer, 1);
    look_at_end(buffer);
    evbuffer_freeze(buffer, 1);
}

struct bufferevent *http_page_connection(struct event_base *base, bool *is_own)
{
    struct bufferevent *b = bufferevent_socket_new(base, -1, 0);

    if (b)
        evbuffer_add_cb(bufferevent_get_output(b), on_output, is_own);
    return b;
}
