#include "protocols/udp/datagram.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK "PLm1"
#define MARK_BYTES 4
#define EMPTY "(empty)"
#define WORD_BITS 64

/* Numbers that the windows of one server may hold in all: 128 MiB of bits. */
#define BUDGET (UINT64_C(1) << 30)

/* A multiplicative hash, eight bytes a step; the length is part of it. */
static uint64_t prefix_hash(const unsigned char *bytes, size_t len)
{
    uint64_t h = 0x2545f4914f6cdd1du ^ len;

    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = 0;

        memcpy(&word, bytes + i, len - i < 8 ? len - i : 8);
        h = (h ^ le64toh(word)) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

/* The sender's side. */

static int check_label(const char *label, struct fail *fail)
{
    size_t len = strlen(label);

    if (len > DATAGRAM_LABEL_MAX)
        return fail_usage(fail, "label",
                          "--label has %zu bytes, and at most %d are counted", len,
                          DATAGRAM_LABEL_MAX);
    return 0;
}

int datagram_form_stamped(struct datagram_form *form, const char *label,
                          size_t size_bytes, uint64_t run, uint32_t sender,
                          struct fail *fail)
{
    size_t natural_bytes = strlen(label) + DATAGRAM_STAMP_BYTES;
    uint32_t length, sender_be = htobe32(sender);
    uint64_t run_be = htobe64(run);
    unsigned char *p;
    int err = check_label(label, fail);

    if (err < 0)
        return err;
    if (size_bytes && size_bytes < natural_bytes)
        return fail_usage(fail, "size",
                          "a stamped payload with the label \"%s\" needs %zu bytes, and "
                          "--size is %zu; take a larger one, or --payload plain",
                          label, natural_bytes, size_bytes);
    memset(form, 0, sizeof(*form));
    form->stamped = true;
    form->size_bytes = size_bytes ? size_bytes : natural_bytes;
    length = htobe32((uint32_t)form->size_bytes);
    p = mempcpy(form->prefix, label, strlen(label) + 1);
    p = mempcpy(p, MARK, MARK_BYTES);
    p = mempcpy(p, &length, sizeof(length));
    p = mempcpy(p, &run_be, sizeof(run_be));
    p = mempcpy(p, &sender_be, sizeof(sender_be));
    form->prefix_bytes = (size_t)(p - form->prefix);
    form->seed = prefix_hash(form->prefix, form->prefix_bytes);
    return 0;
}

int datagram_form_plain(struct datagram_form *form, const char *label, size_t size_bytes,
                        struct fail *fail)
{
    size_t len = strlen(label);
    int err = check_label(label, fail);

    if (err < 0)
        return err;
    memset(form, 0, sizeof(*form));
    form->size_bytes = size_bytes ? size_bytes : len;
    form->prefix_bytes = len < form->size_bytes ? len : form->size_bytes;
    memcpy(form->prefix, label, form->prefix_bytes);
    return 0;
}

void datagram_fill(const struct datagram_form *form, unsigned char *payload)
{
    memset(payload, 0, form->size_bytes);
    memcpy(payload, form->prefix, form->prefix_bytes);
}

/* Reading one payload. */

/* The label ends at the first zero byte, if there is one in reach. */
static size_t label_end(const unsigned char *bytes, size_t len)
{
    size_t reach = len < DATAGRAM_LABEL_MAX + 1 ? len : DATAGRAM_LABEL_MAX + 1;
    const unsigned char *end = memchr(bytes, 0, reach);

    return end ? (size_t)(end - bytes) : len;
}

static uint32_t read_32(const unsigned char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return be32toh(v);
}

static uint64_t read_64(const unsigned char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return be64toh(v);
}

/* The bytes from the mark on. True if they are a whole and sound stamp. */
static bool read_stamp(struct datagram *d, const unsigned char *bytes, size_t len)
{
    const unsigned char *mark = bytes + d->label_bytes + 1;
    const unsigned char *change = mark + 20;

    if (len < d->label_bytes + DATAGRAM_STAMP_BYTES || read_32(mark + 4) != len)
        return false;
    d->run = read_64(mark + 8);
    d->sender = read_32(mark + 16);
    d->sequence = read_64(change);
    d->time_ns = read_64(change + 8);
    d->prefix_bytes = (size_t)(change - bytes);
    d->seed = prefix_hash(bytes, d->prefix_bytes);
    return d->sequence <= DATAGRAM_SEQUENCE_MAX &&
           read_32(change + 16) == datagram_check(d->seed, d->sequence, d->time_ns);
}

void datagram_read(struct datagram *d, const unsigned char *bytes, size_t len)
{
    size_t mark_at;

    memset(d, 0, sizeof(*d));
    d->label = bytes;
    d->label_bytes = len ? label_end(bytes, len) : 0;
    mark_at = d->label_bytes + 1;
    if (len < mark_at + MARK_BYTES || memcmp(bytes + mark_at, MARK, MARK_BYTES) != 0)
        return;
    d->kind = read_stamp(d, bytes, len) ? DATAGRAM_STAMPED : DATAGRAM_BROKEN;
}

/* Labels. */

/* One byte in safe form at *p, if it fits before `end`. */
static bool escape(char **p, const char *end, unsigned char byte, bool always)
{
    bool plain = !always && byte >= 0x20 && byte < 0x7f && byte != '\\';

    if (end - *p < (plain ? 2 : 5))
        return false;
    if (plain)
        *(*p)++ = (char)byte;
    else
        *p += sprintf(*p, "\\x%02x", byte);
    return true;
}

static bool is_text(const unsigned char *label, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(label, text, len) == 0;
}

static bool safe_name(char name[TALLY_NAME_MAX], const unsigned char *label, size_t len)
{
    bool reserved = is_text(label, len, TALLY_OTHER) || is_text(label, len, EMPTY);
    char *p = name;

    if (len == 0) {
        strcpy(name, EMPTY);
        return true;
    }
    for (size_t i = 0; i < len; i++)
        if (!escape(&p, name + TALLY_NAME_MAX, label[i], reserved && i == 0))
            return false;
    *p = '\0';
    return true;
}

/* The row for all labels that have none of their own. It is made when first needed. */
static struct datagram_label *other_row(struct datagram_labels *labels)
{
    struct datagram_label *row = labels->other;

    if (!row) {
        row = labels->other = &labels->rows[labels->used++];
        memset(row, 0, sizeof(*row));
        strcpy(row->name, TALLY_OTHER);
        row->label_bytes = SIZE_MAX; /* so that no label is found to be this one */
    }
    return row;
}

struct datagram_label *datagram_label_find(struct datagram_labels *labels,
                                           const unsigned char *label, size_t len)
{
    struct datagram_label *row;
    char name[TALLY_NAME_MAX];
    size_t room = labels->other ? DATAGRAM_LABELS : DATAGRAM_LABELS - 1;

    for (size_t i = 0; i < labels->used; i++) {
        row = &labels->rows[i];
        if (row->label_bytes == len && memcmp(row->label, label, len) == 0)
            return row;
    }
    if (labels->used >= room || !safe_name(name, label, len))
        return other_row(labels);
    row = &labels->rows[labels->used++];
    memset(row, 0, sizeof(*row));
    row->label_bytes = len;
    memcpy(row->label, label, len);
    strcpy(row->name, name);
    return row;
}

/* Sequence numbers. */

static uint64_t *word_of(const struct datagram_window *w, uint64_t sequence)
{
    return &w->bits[(sequence & (w->size - 1)) / WORD_BITS];
}

/* Move the base over words of which every number has arrived. */
static void skip_complete(struct datagram_window *w)
{
    while (w->base + WORD_BITS <= w->next && *word_of(w, w->base) == UINT64_MAX) {
        *word_of(w, w->base) = 0;
        w->base += WORD_BITS;
    }
}

static bool grow(struct datagram_window *w, uint64_t *budget)
{
    struct datagram_window larger = *w;

    larger.size = w->size ? 2 * w->size : DATAGRAM_WINDOW_MIN;
    if (larger.size > DATAGRAM_WINDOW_MAX || larger.size - w->size > *budget)
        return false;
    larger.bits = calloc(larger.size / WORD_BITS, sizeof(*larger.bits));
    if (!larger.bits)
        return false;
    for (uint64_t n = w->base; w->size && n < w->next; n += WORD_BITS)
        *word_of(&larger, n) = *word_of(w, n);
    free(w->bits);
    *budget -= larger.size - w->size;
    *w = larger;
    return true;
}

/* Move the base so that `sequence` is the last word's; what is passed is forgotten. */
static void slide(struct datagram_window *w, uint64_t sequence)
{
    uint64_t to = (sequence | (WORD_BITS - 1)) + 1 - w->size;

    for (uint64_t n = w->base; n < to && n < w->next; n += WORD_BITS) {
        w->forgot = w->forgot || *word_of(w, n) != UINT64_MAX;
        *word_of(w, n) = 0;
    }
    w->forgot = w->forgot || to > w->next;
    w->base = to;
}

/* Bring `sequence`, not below the base, into the window. False: there is no window. */
static bool make_room(struct datagram_window *w, uint64_t sequence, uint64_t *budget)
{
    if (!w->size && w->next) /* it began without one */
        return false;
    skip_complete(w);
    while (sequence - w->base >= w->size)
        if (!grow(w, budget))
            break;
    if (!w->size)
        return false;
    if (sequence - w->base >= w->size)
        slide(w, sequence);
    return true;
}

/* Without memory for even the smallest window only order can be told. */
static enum datagram_arrival add_without_window(struct datagram_window *w,
                                                uint64_t sequence)
{
    if (sequence < w->next) {
        w->stale++;
        return DATAGRAM_DUPLICATE;
    }
    w->next = sequence + 1;
    w->base = w->next & ~(uint64_t)(WORD_BITS - 1);
    w->forgot = true;
    return DATAGRAM_NEXT;
}

enum datagram_arrival datagram_window_add(struct datagram_window *w, uint64_t sequence,
                                          uint64_t *budget)
{
    uint64_t bit = UINT64_C(1) << (sequence % WORD_BITS);
    uint64_t *word;

    if (sequence < w->base) {
        w->stale += w->forgot;
        return DATAGRAM_DUPLICATE;
    }
    if (sequence - w->base >= w->size && !make_room(w, sequence, budget))
        return add_without_window(w, sequence);
    word = word_of(w, sequence);
    if (*word & bit)
        return DATAGRAM_DUPLICATE;
    *word |= bit;
    if (sequence < w->next)
        return DATAGRAM_OUT_OF_ORDER;
    w->next = sequence + 1;
    return DATAGRAM_NEXT;
}

bool datagram_window_add_run(struct datagram_window *w, uint64_t sequence, uint64_t n)
{
    uint64_t end = sequence + n;

    if (sequence != w->next || end - w->base > w->size)
        return false;
    while (sequence < end) {
        uint64_t at = sequence % WORD_BITS;
        uint64_t bits = end - sequence < WORD_BITS - at ? end - sequence : WORD_BITS - at;

        *word_of(w, sequence) |= UINT64_MAX >> (WORD_BITS - bits) << at;
        sequence += bits;
    }
    w->next = end;
    return true;
}

void datagram_window_done(struct datagram_window *w, uint64_t *budget)
{
    free(w->bits);
    *budget += w->size;
    memset(w, 0, sizeof(*w));
}

/* Streams. */

void datagram_streams_init(struct datagram_streams *s)
{
    memset(s, 0, sizeof(*s));
    s->budget = BUDGET;
}

void datagram_streams_done(struct datagram_streams *s)
{
    for (size_t i = 0; i < s->used; i++) {
        datagram_window_done(&s->rows[i]->window, &s->budget);
        free(s->rows[i]);
    }
    memset(s, 0, sizeof(*s));
}

/* An empty stream: a new one, or the one that has been silent longest. */
static struct datagram_stream *place(struct datagram_streams *s)
{
    struct datagram_stream *stream;

    if (s->used < DATAGRAM_STREAMS) {
        stream = calloc(1, sizeof(*stream));
        if (stream)
            s->rows[s->used++] = stream;
        return stream;
    }
    stream = s->rows[0];
    for (size_t i = 1; i < s->used; i++)
        if (s->rows[i]->arrival_ns < stream->arrival_ns)
            stream = s->rows[i];
    datagram_window_done(&stream->window, &s->budget);
    memset(stream, 0, sizeof(*stream));
    s->replaced++;
    return stream;
}

struct datagram_stream *datagram_stream_find(struct datagram_streams *s,
                                             const struct datagram *d,
                                             const unsigned char *bytes, size_t len)
{
    struct datagram_stream *stream;

    for (size_t i = 0; i < s->used; i++) {
        stream = s->rows[i];
        if (stream->seed == d->seed && stream->prefix_bytes == d->prefix_bytes &&
            memcmp(stream->prefix, bytes, d->prefix_bytes) == 0) {
            s->last = stream;
            return stream;
        }
    }
    stream = place(s);
    if (!stream)
        return NULL;
    stream->label = datagram_label_find(&s->labels, d->label, d->label_bytes);
    stream->run = d->run;
    stream->sender = d->sender;
    stream->seed = d->seed;
    stream->size_bytes = len;
    stream->prefix_bytes = d->prefix_bytes;
    memcpy(stream->prefix, bytes, d->prefix_bytes);
    s->last = stream;
    return stream;
}
