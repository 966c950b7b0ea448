/*
 * The percentile distribution of the latency over all trials, as HdrHistogram's
 * outputPercentileDistribution prints it with a scale of 1,000,000: milliseconds. Levels
 * halve the distance to 100 % in five ticks each, as its tools do by default.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "engine/report/export.h"
#include "engine/threshold_verdict.h"

#define TICKS 5
#define MS 1e6

/* The level after `percent`: 5 ticks in each halving of what is left. */
static double next_level(double percent)
{
    double halvings = floor(log2(100 / (100 - percent))) + 1;

    return percent + 100 / (TICKS * exp2(halvings));
}

static double value_ms(const struct hist *h, uint32_t bucket)
{
    uint64_t high = hist_bucket_low(bucket) + hist_bucket_width(bucket) - 1;

    return (double)(high < h->max ? high : h->max) / MS;
}

static void put_rows(FILE *f, const struct hist *h)
{
    double level = 0;
    uint64_t seen = 0;

    for (uint32_t i = h->low; i <= h->high; i++) {
        double percent;

        if (!h->buckets[i])
            continue;
        seen += h->buckets[i];
        percent = 100 * (double)seen / (double)h->count;
        /* Past the last value one line is enough. */
        for (; level <= percent && level < 100; level = next_level(level)) {
            fprintf(f, "%12.6f %2.12f %10" PRIu64 " %14.2f\n", value_ms(h, i),
                    level / 100, seen, 1 / (1 - level / 100));
            if (seen == h->count)
                break;
        }
    }
    fprintf(f, "%12.6f %2.12f %10" PRIu64 "\n", (double)h->max / MS, 1.0, h->count);
}

int export_write_hgrm(FILE *f, const struct run *r)
{
    const struct meter *m = r->pooled[r->scenario->family->latency_place];
    const struct hist *h = m ? m->hists[METER_HIST_latency] : NULL;
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t verdict_count = thresholds_judge(r, verdicts);

    if (!h || !h->count)
        return -ENODATA;
    fprintf(f, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    put_rows(f, h);
    fprintf(f, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", hist_mean(h) / MS,
            hist_stdev(h) / MS);
    fprintf(f, "#[Max     = %12.6f, Total count    = %12" PRIu64 "]\n",
            (double)h->max / MS, h->count);
    fprintf(f, "#[Buckets = %12u, SubBuckets     = %12u]\n", HIST_BUCKETS / HIST_HALF - 1,
            2 * HIST_HALF);
    for (size_t i = 0; i < verdict_count; i++)
        fprintf(f, "#[Threshold %s %s: %s]\n", verdicts[i].threshold.text,
                verdicts[i].ok ? "held" : "was crossed", verdicts[i].detail);
    return 0;
}
