#include "protocols/pin.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* "N" or "N-M" at *text, which moves behind it. */
static bool parse_range(const char **text, cpu_set_t *cpus)
{
    char *end;
    unsigned long first, last;

    if (**text < '0' || **text > '9')
        return false;
    first = last = strtoul(*text, &end, 10);
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            return false;
        last = strtoul(end + 1, &end, 10);
    }
    if (last < first || last >= CPU_SETSIZE)
        return false;
    for (unsigned long i = first; i <= last; i++)
        CPU_SET(i, cpus);
    *text = end;
    return true;
}

static bool parse_list(const char *text, cpu_set_t *cpus)
{
    CPU_ZERO(cpus);
    while (parse_range(&text, cpus)) {
        if (!*text)
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

static int read_list(const char *list, cpu_set_t *cpus, struct fail *fail)
{
    if (parse_list(list, cpus))
        return 0;
    return fail_usage(fail, "pin",
                      "--pin: \"%.100s\" is not a list of CPUs such as 0 or 0,2-3", list);
}

int pin_check(const char *list, struct fail *fail)
{
    cpu_set_t cpus;

    return *list ? read_list(list, &cpus, fail) : 0;
}

/* The kernel leaves out what it does not have; a run must not say it had it. */
int pin_to_cpus(const char *list, struct fail *fail)
{
    cpu_set_t cpus, given;
    int err;

    if (!*list)
        return 0;
    err = read_list(list, &cpus, fail);
    if (err)
        return err;
    err = sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ? errno : 0;
    if (err == EINVAL)
        return fail_usage(fail, "pin", "--pin: none of the CPUs %.100s may be used here",
                          list);
    if (!err && sched_getaffinity(0, sizeof(given), &given) == 0 &&
        !CPU_EQUAL(&cpus, &given))
        return fail_usage(fail, "pin",
                          "--pin: not all of the CPUs %.100s may be used here", list);
    if (!err)
        return 0;
    return fail_set(fail, err, "pin", "this process cannot be pinned to CPUs %.100s",
                    list);
}

int pin_check_here(const char *list, struct fail *fail)
{
    cpu_set_t before;
    int err;

    if (!*list || sched_getaffinity(0, sizeof(before), &before) < 0)
        return pin_check(list, fail);
    err = pin_to_cpus(list, fail);
    sched_setaffinity(0, sizeof(before), &before);
    return err;
}
