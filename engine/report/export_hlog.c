/*
 * An interval log of HdrHistogram, version 1.3: a line for each second of the run in
 * which latencies were recorded, with the whole histogram in the V2 compressed encoding.
 * Our buckets are HdrHistogram's own for 1 ns to 1 h and 3 digits (protocols/hist.h), so
 * the counts are written as they are; values are nanoseconds, the maxima of the lines
 * milliseconds, as its log writer has them.
 *
 *   line      START,LENGTH,MAX,BASE64     seconds since the base time; seconds; ms
 *   BASE64    of: compressed cookie, length, zlib's deflate of the payload
 *   payload   cookie, length of the counts, offset 0, digits, lowest, highest, ratio 1.0
 *             (all big-endian), then the counts up to that of the maximum as ZigZag
 *             LEB128 of 64 bits in at most 9 bytes, a run of zeros as one negative count
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "engine/report/export.h"
#include "engine/threshold_verdict.h"

#define COOKIE 0x1c849303u
#define COMPRESSED_COOKIE 0x1c849304u
#define WORD_SIZE 0x10u /* in both cookies */
#define HEAD 40         /* bytes of the payload before the counts */
#define DIGITS 3

static unsigned char *put_big_endian(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *at++ = (unsigned char)(value >> (8 * i));
    return at;
}

/* The ninth byte is whole, so that 64 bits fit into nine. */
static unsigned char *put_count(unsigned char *at, int64_t count)
{
    uint64_t v = (uint64_t)count << 1 ^ (count < 0 ? UINT64_MAX : 0);

    for (int i = 0; i < 8; i++) {
        if (v < 0x80) {
            *at++ = (unsigned char)v;
            return at;
        }
        *at++ = (unsigned char)((v & 0x7f) | 0x80);
        v >>= 7;
    }
    *at++ = (unsigned char)v;
    return at;
}

static unsigned char *put_counts(unsigned char *at, const struct hist *h)
{
    for (uint32_t i = 0; i <= h->high;) {
        int64_t zeros = 0;

        while (i <= h->high && !h->buckets[i]) {
            zeros++;
            i++;
        }
        if (zeros == 1)
            at = put_count(at, 0);
        else if (zeros)
            at = put_count(at, -zeros);
        if (i <= h->high)
            at = put_count(at, (int64_t)h->buckets[i++]);
    }
    return at;
}

/* The payload and its length; NULL when out of memory. */
static unsigned char *make_payload(const struct hist *h, size_t *len)
{
    unsigned char *payload = malloc(HEAD + 9 * ((size_t)h->high + 1));
    const double ratio = 1;
    unsigned char *at, *end;
    uint64_t bits;

    if (!payload)
        return NULL;
    end = put_counts(payload + HEAD, h);
    memcpy(&bits, &ratio, sizeof(bits));
    at = put_big_endian(payload, COOKIE | WORD_SIZE, 4);
    at = put_big_endian(at, (uint64_t)(end - payload - HEAD), 4);
    at = put_big_endian(at, 0, 4);
    at = put_big_endian(at, DIGITS, 4);
    at = put_big_endian(at, 1, 8);
    at = put_big_endian(at, HIST_MAX_NS, 8);
    put_big_endian(at, bits, 8);
    *len = (size_t)(end - payload);
    return payload;
}

/* The compressed encoding and its length; NULL when out of memory. */
static unsigned char *compress_hist(const struct hist *h, size_t *len)
{
    size_t payload_len = 0;
    unsigned char *payload = make_payload(h, &payload_len);
    uLongf room = compressBound((uLong)payload_len);
    unsigned char *out = payload ? malloc(8 + room) : NULL;

    if (out && compress(out + 8, &room, payload, (uLong)payload_len) != Z_OK) {
        free(out);
        out = NULL;
    }
    free(payload);
    if (!out)
        return NULL;
    put_big_endian(put_big_endian(out, COMPRESSED_COOKIE | WORD_SIZE, 4), room, 4);
    *len = 8 + room;
    return out;
}

static void put_base64(FILE *f, const unsigned char *bytes, size_t len)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t three = (uint32_t)bytes[i] << 16;

        if (n > 1)
            three |= (uint32_t)bytes[i + 1] << 8;
        if (n > 2)
            three |= bytes[i + 2];
        fputc(digits[three >> 18], f);
        fputc(digits[three >> 12 & 63], f);
        fputc(n > 1 ? digits[three >> 6 & 63] : '=', f);
        fputc(n > 2 ? digits[three & 63] : '=', f);
    }
}

static int put_line(FILE *f, uint64_t begin_ns, uint64_t step_ns, const struct hist *h)
{
    size_t len = 0;
    unsigned char *bytes = compress_hist(h, &len);

    if (!bytes)
        return -ENOMEM;
    fprintf(f, "%.3f,%.3f,%.6f,", (double)begin_ns / 1e9, (double)step_ns / 1e9,
            (double)h->max / 1e6);
    put_base64(f, bytes, len);
    fputc('\n', f);
    free(bytes);
    return 0;
}

static void put_head(FILE *f, const struct run *r)
{
    char when[64];
    struct tm tm;

    gmtime_r(&r->started, &tm);
    strftime(when, sizeof(when), "%a %b %d %H:%M:%S UTC %Y", &tm);
    fprintf(f,
            "#[%s, %s: latencies in nanoseconds]\n"
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: %lld.000 (seconds since epoch), %s]\n"
            "#[BaseTime: %lld.000 (seconds since epoch)]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n",
            r->environment.program, r->scenario->name, (long long)r->started, when,
            (long long)r->started);
}

int export_write_hlog(FILE *f, const struct run *r)
{
    const struct intervals *x = r->series->intervals;
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t verdict_count = thresholds_judge(r, verdicts);
    struct hist *h = hist_new();
    int rc = h ? 0 : -ENOMEM;

    if (rc == 0 && !x->used)
        rc = -ENODATA;
    if (rc == 0)
        put_head(f, r);
    for (size_t i = 0; rc == 0 && i < x->used; i++) {
        hist_reset(h);
        intervals_read(x, i, h);
        if (h->count)
            rc = put_line(f, i * x->step_ns, x->step_ns, h);
    }
    for (size_t i = 0; rc == 0 && i < verdict_count; i++)
        fprintf(f, "#[Threshold %s %s: %s]\n", verdicts[i].threshold.text,
                verdicts[i].ok ? "held" : "was crossed", verdicts[i].detail);
    hist_free(h);
    return rc;
}
