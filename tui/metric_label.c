#include "tui/metric_label.h"

#include <stdio.h>
#include <string.h>

#include "protocols/array.h"

void metric_label(enum metric metric, char *out, size_t size)
{
    static const char *const rewrites[][2] = {
        {"bytes_per_second", "bytes read/s"}, /* with headers: throughput has none */
        {"_per_second", "/s"},
        {"_cpu_us_per_message", " CPU/message"},
        {"_cpu_percent", " CPU %"},
        {"_percent", " %"},
        {"p99_99", "p99.99"},
        {"p99_9", "p99.9"},
        {"_ns", ""},
        {"_", " "},
    };
    const size_t count = NUMBER_OF(rewrites);
    const char *name = metric_row(metric)->name;
    size_t used = 0;

    while (*name != '\0' && used + 16 < size) {
        size_t i = 0;

        while (i < count && strncmp(name, rewrites[i][0], strlen(rewrites[i][0])) != 0)
            i++;
        if (i < count) {
            used += (size_t)snprintf(out + used, size - used, "%s", rewrites[i][1]);
            name += strlen(rewrites[i][0]);
        } else {
            out[used++] = *name++;
        }
    }
    out[used] = '\0';
}
