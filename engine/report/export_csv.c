/*
 * The summary as CSV (RFC 4180, lines ended by LF): a row for each trial and metric. A
 * metric that no trial measured has no rows; one that this trial did not measure has an
 * empty value. `bound` is >= where the metric is at least the value
 * (protocols/survival.h), else empty. A threshold is a row without a trial, its value 1
 * if it held and 0 if not.
 */
#include <math.h>

#include "engine/json.h"
#include "engine/report/export.h"
#include "engine/report/quote.h"
#include "engine/threshold_verdict.h"

static bool was_measured(const struct run *r, enum metric metric)
{
    for (size_t i = 0; i < r->trials_begun; i++)
        if (isfinite(r->trials[i]->metrics[metric]))
            return true;
    return false;
}

static void put_thresholds(FILE *f, const struct run *r)
{
    struct threshold_verdict verdicts[THRESHOLDS_MAX];
    size_t n = thresholds_judge(r, verdicts);
    char when[32];

    json_time(r->started, when, sizeof(when));
    for (size_t i = 0; i < n; i++) {
        char name[96];

        snprintf(name, sizeof(name), "threshold %.64s", verdicts[i].threshold.text);
        quote_csv(f, r->scenario->name);
        fprintf(f, ",%s,,%s,", when, outcome_name(r->outcome));
        quote_csv(f, name);
        fprintf(f, ",held,%d,\n", verdicts[i].ok);
    }
}

int export_write_csv(FILE *f, const struct run *r)
{
    char when[32];

    fputs("scenario,started,trial,outcome,metric,unit,value,bound\n", f);
    for (size_t i = 0; i < r->trials_begun; i++) {
        const struct trial *t = r->trials[i];

        json_time(t->started, when, sizeof(when));
        for (int m = 0; m < METRIC_COUNT; m++) {
            const struct metric_row *row = metric_row((enum metric)m);

            if (!was_measured(r, (enum metric)m))
                continue;
            quote_csv(f, r->scenario->name);
            fprintf(f, ",%s,%u,%s,%s,%s,", when, t->number, outcome_name(t->outcome),
                    row->name, row->unit);
            quote_number(f, t->metrics[m]);
            fputs(t->is_bound[m] ? ",>=\n" : ",\n", f);
        }
    }
    put_thresholds(f, r);
    return 0;
}
